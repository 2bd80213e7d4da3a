// `ralph serve`: the page of a run, for who has its address, on this machine alone.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { GATE, good, openPlace, type Place } from './place.ts'

type Reply = { status: number; headers: Record<string, unknown>; body: string }

function ask(url: string, { method = 'GET', host }: { method?: string; host?: string } = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers: host === undefined ? {} : { host } }, async (response) => {
      let body = ''
      for await (const chunk of response.setEncoding('utf8')) body += chunk
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
    })
    asked.on('error', reject).end()
  })
}

/** A page that follows: each event as it comes. */
async function follow(url: string) {
  const asked = request(`${url}events`).end()
  const [response] = await once(asked, 'response')
  const lines = createInterface({ input: response })[Symbol.asyncIterator]()
  return {
    /** The next event of this name whose data has the words. */
    async until(name: string, words: string): Promise<string> {
      for (let event = ''; ; ) {
        const { value, done } = await lines.next()
        if (done) throw new Error(`it ended before ${name}: ${words}`)
        if (value.startsWith('event: ')) event = value.slice('event: '.length)
        if (value.startsWith('data: ') && event === name && value.includes(words)) return value.slice(6)
      }
    },
    end: () => asked.destroy(),
  }
}

async function served(place: Place, ...args: string[]) {
  const server = place.start(['serve', ...args])
  const [line] = await once(server.stdout ?? server, 'data')
  return { server, url: String(line).split('\n')[0] ?? '' }
}

test("serve answers GET requests only, with the secret address and this machine's host name", async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  const { server, url } = await served(place)
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/$/)
  const { port } = new URL(url)
  const page = await ask(url)
  assert.equal(page.status, 200)
  assert.match(page.body, /US-001/)
  const policy = String(page.headers['content-security-policy'])
  assert.match(
    policy,
    /^default-src 'none'; .*script-src 'nonce-[\w+/=]+'; connect-src 'self'.*frame-ancestors 'none'$/,
  )
  const nonce = /script-src 'nonce-([^']+)'/.exec(policy)?.[1] ?? ''
  assert.ok(page.body.includes(`<script type="module" nonce="${nonce}">`))
  assert.equal(page.headers['referrer-policy'], 'no-referrer')
  assert.notEqual((await ask(url)).headers['content-security-policy'], policy, 'a nonce is for one page')
  const asked: [string, Parameters<typeof ask>[1], number][] = [
    [url, { host: 'evil.example' }, 421],
    [url, { host: `evil.example:${port}` }, 421],
    [url, { host: '127.0.0.1' }, 421],
    [url, { host: `localhost:${port}` }, 200],
    [url, { method: 'POST' }, 405],
    [url, { method: 'HEAD' }, 405],
    [url, { method: 'OPTIONS' }, 405],
    [`http://127.0.0.1:${port}/`, {}, 404],
    [`${url.slice(0, -2)}${url.at(-2) === 'x' ? 'y' : 'x'}/`, {}, 404],
    [`${url}../${'x'.repeat(32)}/`, {}, 404],
    [`${url}f/sample/`, {}, 200],
    [`${url}f/other/`, {}, 404],
    [`${url}f/sample/x`, {}, 404],
  ]
  for (const [address, how, status] of asked)
    assert.equal((await ask(address, how)).status, status, `${JSON.stringify(how)} ${address}`)
  server.kill('SIGINT')
  const { code, err } = await server.ended
  assert.deepEqual([code, err], [0, ''])
})

test('a page of serve gets new output at once, and learns that its report changed', async () => {
  await using place = await openPlace([{ id: 'US-001' }, { id: 'US-002' }])
  const [go, end] = [join(place.folder, 'go'), join(place.folder, 'end')]
  const until = (file: string) => `until [ -e ${file} ]; do sleep 0.1; done`
  const waits = `echo first words; ${until(go)}; echo '<b>later</b> words'; ${until(end)}`
  await place.setScript({ 'US-001': [{ ...good('US-001'), shell: waits }] })
  const { server, url } = await served(place)
  const page = await follow(url)
  await page.until('live', 'No run is working on it.')
  const run = place.start(['run', ...place.agent, ...GATE, '--once'])
  await page.until('report', '{}')
  await page.until('live', 'first words')
  writeFileSync(go, '')
  await page.until('live', '&lt;b&gt;later&lt;/b&gt; words')
  writeFileSync(end, '')
  await run.ended
  await page.until('report', '{}')
  await page.until('live', 'No run is working on it.')
  assert.match((await ask(url)).body, /1 of 2 stories pass/)
  page.end()
  // A page that is still open does not hold it.
  const other = await follow(url)
  server.kill('SIGTERM')
  assert.equal((await server.ended).code, 0)
  other.end()
})

test('serve with several features has a list, and a page for each', async () => {
  await using place = await openPlace([{ id: 'US-001' }], {
    '.ralph/2026-02-01-other/prd.json': JSON.stringify({
      schemaVersion: 2,
      userStories: [{ id: 'US-001', title: '<script>alert(1)</script>', acceptanceCriteria: ['x'] }],
    }),
  })
  const { server, url } = await served(place)
  const list = (await ask(url)).body
  assert.match(list, /href="f\/sample\/"/)
  assert.match(list, /href="f\/other\/"/)
  const other = (await ask(`${url}f/other/`)).body
  assert.ok(other.includes('&lt;script&gt;alert(1)&lt;/script&gt;') && !other.includes('<script>alert'))
  await place.ralph('run', 'other', ...place.agent, ...GATE, '--once')
  assert.equal((await ask(`${url}f/sample/`)).status, 200, 'it stays, when a run begins on another')
  server.kill('SIGINT')
  await server.ended
})

test('serve refuses a port in use, an invalid port and an unknown feature', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  const { server, url } = await served(place)
  const taken = await place.ralph('serve', '--port', new URL(url).port)
  assert.equal(taken.code, 64)
  assert.match(taken.err, /--port: the port cannot be used: .*EADDRINUSE/)
  server.kill('SIGINT')
  await server.ended
  assert.match((await place.ralph('serve', '--port', '99999')).err, /--port: found 99999, expected a number/)
  const unknown = await place.ralph('monitor', 'sampel')
  assert.equal(unknown.code, 64)
  assert.match(unknown.err, /feature: there is no feature sampel here\.\n.*did you mean sample/)
})
