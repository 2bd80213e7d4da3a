// A self-hosted runner whose only way out is a proxy.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect as connectTo } from 'node:net'
import { test } from 'node:test'
import { promisify } from 'node:util'

const ASK = `
const { connect } = await import(${JSON.stringify(new URL('../../../src/github/client.ts', import.meta.url).href)})
const place = { owner: 'acme', repo: 'shop', server: '', api: process.env.GITHUB_API_URL, defaultBranch: 'main' }
const { api } = connect(place, 'secret', console.error)
const { data } = await api.request('GET /rate_limit')
console.log(data.from)
`

test("requests go through the runner's proxy, but not for hosts in no_proxy", async () => {
  const site = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"from":"the site"}')
  })
  await once(site.listen(0, '127.0.0.1'), 'listening')
  const { port } = site.address() as AddressInfo
  const asked: string[] = []
  const proxy = createServer().on('connect', (request, client) => {
    asked.push(request.url ?? '')
    const upstream = connectTo(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      upstream.pipe(client).pipe(upstream)
    })
    client.on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const way = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const ask = async (env: Record<string, string>) => {
    const command = ['--input-type=module', '-e', ASK]
    return (await promisify(execFile)(process.execPath, command, { env, timeout: 30_000 })).stdout.trim()
  }
  try {
    const named = { GITHUB_API_URL: 'http://api.github.test', http_proxy: way }
    assert.equal(await ask(named), 'the site')
    assert.deepEqual(asked, ['api.github.test:80'])
    const local = { GITHUB_API_URL: `http://127.0.0.1:${port}`, http_proxy: way, no_proxy: '127.0.0.1' }
    assert.equal(await ask(local), 'the site')
    assert.equal(asked.length, 1)
  } finally {
    for (const server of [site, proxy]) {
      server.close()
      server.closeAllConnections()
    }
  }
})
