// Links to other sites: gone is what the site says is gone, or what gives no answer.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'

const { deadLinks }: { deadLinks: (addresses: string[]) => Promise<string[]> } = await import(
  new URL('../../../scripts/site-links.mjs', import.meta.url).href
)

test('a dead link is named; a moved, refusing or slow page is not', async (t) => {
  let failures = 0
  const server = createServer((request, response) => {
    if (request.url === '/broken' || (request.url === '/late' && failures++ === 0)) {
      request.socket.destroy()
      return
    }
    const status = Number(request.url?.slice(1)) || 200
    response.writeHead(status, status === 301 ? { location: '/200' } : {}).end('text')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const paths = ['200', '301', '403', '404', '410', '429', '500', 'broken', 'late']
  const dead = await deadLinks(paths.map((path) => `${site}/${path}`))
  assert.deepEqual(
    dead.map((line) => line.replace(`${site}/`, '').replace(/\(.*/, '')),
    ['404: HTTP 404', '410: HTTP 410', 'broken: no answer '],
  )
})
