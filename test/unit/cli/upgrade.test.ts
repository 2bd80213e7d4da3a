// `ralph upgrade` against the releases of a server on loopback: what it says, what it moves, and what it says without one.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type Clone, openClone } from '../../fakes/clone.ts'
import { COMPILED, MAIN } from './place.ts'

const [OLD, NEW] = ['a'.repeat(40), 'b'.repeat(40)]
const release = (tag: string, body: string, more = {}) => ({
  ...{ tag_name: tag, draft: false, prerelease: false, body, published_at: '2026-03-01T00:00:00Z' },
  ...more,
})
const RELEASES = [
  release('v1.9.0', '### Fixes\n\n* of nine'),
  release('v9.0.0', 'not yet', { draft: true }),
  release('v2.0.0-rc.1', 'a try', { prerelease: true }),
  release('v1.10.0', '### Features\r\n\r\n* of ten\u001b[31m\n::error::no command'),
  release('v1.0.0', 'the first'),
]
const TAGS = RELEASES.map(({ tag_name: name }) => ({ name, commit: { sha: name === 'v1.10.0' ? NEW : OLD } }))

type Asked = { url: string; authorization: string | undefined }

/** A server that answers as GitHub's API does for releases and tags; `status`: it refuses instead. */
async function serverOf(t: TestContext, status = 200, headers: Record<string, string> = {}) {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost')
    asked.push({ url: pathname, authorization: request.headers.authorization })
    const body = pathname.endsWith('/releases') ? RELEASES : TAGS
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(status === 200 ? body : { message: 'no' }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

const WORKFLOW = `jobs:\n  work:\n    steps:\n      - uses: ralph/action@${OLD} # v1.0.0\n`
const PACKAGE = '{ "devDependencies": { "@ralph/action": "1.0.0" } }\n'
const FILES = {
  '.github/workflows/ralph.yml': WORKFLOW,
  '.github/workflows/other.yml': 'jobs: { a: { steps: [ { uses: ralph/action@main } ] } }\n',
  '.github/workflows/broken.yml': 'ralph/action: [',
  'package.json': PACKAGE,
}

async function cloneOf(t: TestContext, api: string, files: Record<string, string> = FILES): Promise<Clone> {
  const clone = await openClone(MAIN, files, { ...COMPILED, GITHUB_API_URL: api })
  t.after(() => clone[Symbol.asyncDispose]())
  return clone
}

test('upgrade prints the newer version and its changes, and --yes changes only the pins', async (t) => {
  const { url, asked } = await serverOf(t)
  const clone = await cloneOf(t, url)
  const shown = await clone.start(['upgrade']).ended
  assert.equal(shown.code, 0, shown.err)
  assert.match(
    shown.out,
    /^Release v1\.10\.0 is from 2026-03-01\. This program is version 1\.0\.0\. To run the new one: npx @ralph\/action@1\.10\.0$/m,
  )
  assert.match(
    shown.out,
    /What changes since v1\.0\.0:\n\nv1\.10\.0 .*\n {2}### Features\n {2}\* of ten.*\n.*no command\n\nv1\.9\.0/,
  )
  assert.doesNotMatch(shown.out, /the first|not yet|a try|^::/m)
  assert.ok(!shown.out.includes('\u001b'))
  assert.match(shown.out, /Nothing was written\. To write these changes: ralph upgrade v1\.10\.0 --yes/)
  assert.match(shown.err, /other\.yml:1 names main, which is not a release/)
  assert.match(shown.err, /broken\.yml cannot be read/)
  assert.equal(clone.git('status', '--porcelain'), '')
  assert.deepEqual(
    asked.map(({ url: path, authorization }) => [path, authorization]),
    [
      ['/repos/ralph/action/releases', undefined],
      ['/repos/ralph/action/tags', undefined],
    ],
  )

  const { out, code } = await clone.start(['upgrade', '--yes']).ended
  assert.equal(code, 0)
  assert.match(out, /Written: \.github\/workflows\/ralph\.yml, package\.json/)
  assert.equal(clone.git('diff', '--name-only'), '.github/workflows/ralph.yml\npackage.json')
  assert.equal(
    await clone.read('.github/workflows/ralph.yml'),
    WORKFLOW.replace(`${OLD} # v1.0.0`, `${NEW} # v1.10.0`),
  )
  assert.equal(await clone.read('package.json'), PACKAGE.replace('1.0.0', '1.10.0'))

  const again = await clone.start(['upgrade', '--yes', '--json']).ended
  const { target, written, changed } = JSON.parse(again.out)
  assert.deepEqual([target, written, changed], ['v1.10.0', false, []])
})

test('upgrade says that a lock file of actions needs the new version too', async (t) => {
  const { url } = await serverOf(t)
  const lock = `workflows:\n  .github/workflows/ralph.yml: ['ralph/action@${OLD}']\n`
  const clone = await cloneOf(t, url, { ...FILES, '.github/workflows/actions.lock': lock })
  const { out } = await clone.start(['upgrade', '--yes']).ended
  assert.match(
    out,
    /actions\.lock still has the older version, so no job would start: run `gh actions-pin`, and commit the file with the workflow/,
  )
  const again = await clone.start(['upgrade', '--yes']).ended
  assert.doesNotMatch(again.out, /actions\.lock/)
})

test('upgrade moves to a named version, and refuses an unknown one with the list', async (t) => {
  const { url, asked } = await serverOf(t)
  const clone = await cloneOf(t, url, { 'package.json': PACKAGE })
  const none = await clone.start(['upgrade', '1.3.0']).ended
  assert.equal(none.code, 64)
  assert.match(none.err, /there is no release v1\.3\.0; the newest are v1\.10\.0, v1\.9\.0, v1\.0\.0\./)
  const before = asked.length
  const odd = await clone.start(['upgrade', 'newest']).ended
  assert.equal(odd.code, 64)
  assert.equal(asked.length, before, 'bad input is said before anything is asked')
  const { code } = await clone.start(['upgrade', '1.9.0', '--yes'], { env: { GH_TOKEN: 'mine' } }).ended
  assert.equal(code, 0)
  assert.equal(await clone.read('package.json'), PACKAGE.replace('1.0.0', '1.9.0'))
  assert.equal(asked.at(-1)?.authorization, 'token mine')
})

test('upgrade in a folder without a pin prints how to begin', async (t) => {
  const { url } = await serverOf(t)
  const clone = await cloneOf(t, url, { 'README.md': 'ralph/action\n' })
  const { out, code } = await clone.start(['upgrade', '--yes']).ended
  assert.equal(code, 0)
  assert.match(out, /This project does not use ralph\/action .*npx @ralph\/action@1\.10\.0 init$/m)
})

test('upgrade without a network, or refused by GitHub, fails at once with one error, and changes nothing', async (t) => {
  const limited = {
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 3600),
  }
  for (const [api, found] of [
    ['http://127.0.0.1:1', /no answer from http:\/\/127\.0\.0\.1:1/],
    [(await serverOf(t, 500)).url, /no answer from http/],
    [(await serverOf(t, 404)).url, /404/],
    [(await serverOf(t, 403, limited)).url, /403.*\n.*GH_TOKEN or `gh auth login`/],
  ] as const) {
    const clone = await cloneOf(t, api)
    const { code, err } = await clone.start(['upgrade', '--yes']).ended
    assert.equal(code, 1, err)
    assert.match(err, found)
    assert.match(
      err,
      /releases of ralph\/action: .*\n {2}fix: .*github\.com\/ralph\/action\/releases\nNothing was changed\./,
    )
    assert.equal(clone.git('status', '--porcelain'), '')
  }
})
