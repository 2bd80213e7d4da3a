// The key proxy beside a vendor's server of our own: whose key goes where, what is refused, what is counted, how it streams.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import fc from 'fast-check'
import { openModelProxy } from '../../../src/proxy/model-proxy.ts'
import { createUsageMeter } from '../../../src/proxy/usage-meter.ts'

const KEY = 'sk-ant-the-real-one-0123456789'

async function openVendor(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen: { url: string; headers: IncomingMessage['headers'] }[] = []
  const server = createServer((request, response) => {
    seen.push({ url: request.url ?? '', headers: request.headers })
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const warnings: string[] = []
  const upstream = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`)
  const proxy = await openModelProxy({ upstream, key: KEY, warn: (text) => warnings.push(text) })
  return {
    seen,
    warnings,
    proxy,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]()
      server.closeAllConnections()
      server.close()
    },
  }
}

const json = (_request: IncomingMessage, response: ServerResponse) => {
  response.setHeader('content-type', 'application/json')
  response.end('{"usage":{"input_tokens":10,"cache_read_input_tokens":3,"output_tokens":4}}')
}

test('the key stands in the place of ours, in whatever header the vendor wants it', async () => {
  await using at = await openVendor(json)
  const { key } = at.proxy
  const url = `http://127.0.0.1:${at.proxy.port}`
  for (const headers of [
    { 'x-api-key': key },
    { authorization: `Bearer ${key}` },
    { 'x-goog-api-key': key, cookie: 'a=b' },
  ])
    assert.equal(
      (await fetch(`${url}/v1/messages?beta=true`, { method: 'POST', headers, body: '{}' })).status,
      200,
    )
  assert.equal(
    (await fetch(`${url}/v1beta/models?key=${key}`, { headers: { 'x-goog-api-key': key } })).status,
    200,
  )
  assert.deepEqual(
    at.seen.map((one) => one.url),
    [
      '/base/v1/messages?beta=true',
      '/base/v1/messages?beta=true',
      '/base/v1/messages?beta=true',
      `/base/v1beta/models?key=${KEY}`,
    ],
  )
  assert.equal(at.seen[0]?.headers['x-api-key'], KEY)
  assert.equal(at.seen[1]?.headers.authorization, `Bearer ${KEY}`)
  assert.equal(at.seen[2]?.headers['x-goog-api-key'], KEY)
  assert.equal(at.seen[2]?.headers.cookie, undefined)
  assert.ok(
    at.seen.every((one) => !JSON.stringify(one).includes(key)),
    'ours leaves for nowhere',
  )
  assert.deepEqual(at.proxy.used(), { requests: 4, inputTokens: 52, outputTokens: 16, cachedTokens: 12 })
})

test('nobody else gets through: another key, none, a path that leads elsewhere', async () => {
  await using at = await openVendor(json)
  const { key } = at.proxy
  const { port } = at.proxy
  const status = (path: string, headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      request({ host: '127.0.0.1', port, path, headers }, (answer) => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      })
        .on('error', reject)
        .end()
    })
  assert.equal(await status('/v1/messages', {}), 401)
  assert.equal(await status('/v1/messages', { 'x-api-key': KEY }), 401)
  assert.equal(await status(`/v1/messages?key=${key}`, {}), 401)
  for (const path of ['http://evil.example/v1', '//evil.example/v1', '/\\evil.example/v1'])
    assert.equal(await status(path, { 'x-api-key': key }), 401, path)
  assert.deepEqual(at.seen, [])
  assert.equal(at.proxy.used().requests, 0)
})

test('a stream goes on word by word, and what it used is counted although its reader dies', async () => {
  let goOn = () => {}
  await using at = await openVendor((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(
      'data: {"type":"message_start","message":{"usage":{"input_tokens":100,"output_tokens":1}}}\n\n',
    )
    goOn = () => response.write('data: {"type":"message_delta","usage":{"output_tokens":50}}\n\n')
  })
  const answer = await fetch(`http://127.0.0.1:${at.proxy.port}`, { headers: { 'x-api-key': at.proxy.key } })
  const reader = answer.body?.getReader()
  const first = await reader?.read()
  assert.match(
    Buffer.from(first?.value ?? []).toString(),
    /message_start/,
    'before the vendor has said the rest',
  )
  goOn()
  assert.match(Buffer.from((await reader?.read())?.value ?? []).toString(), /message_delta/)
  await reader?.cancel()
  while (at.proxy.used().outputTokens === 0) await new Promise(setImmediate)
  assert.deepEqual(at.proxy.used(), { requests: 1, inputTokens: 100, outputTokens: 50, cachedTokens: 0 })
})

test('a vendor that cannot be reached: 502, and a warning without the key, for the first ones', async () => {
  const warnings: string[] = []
  await using proxy = await openModelProxy({
    upstream: new URL('http://127.0.0.1:9'),
    key: KEY,
    warn: (text) => warnings.push(text),
  })
  const headers = { 'x-api-key': proxy.key }
  for (let asked = 1; asked <= 30; asked += 1) {
    const answer = await fetch(`http://127.0.0.1:${proxy.port}/v1`, { method: 'POST', body: '{}', headers })
    assert.equal(answer.status, 502)
    assert.equal(warnings.length, Math.min(asked, 20))
  }
  assert.ok(!warnings.join().includes(KEY))
})

test('usage of the four wire formats, however the stream is cut', () => {
  const samples: [string, string, object][] = [
    [
      'text/event-stream',
      'data: {"response":{"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":2},"output_tokens":5}}}\n\n',
      { inputTokens: 9, outputTokens: 5, cachedTokens: 2 },
    ],
    [
      'text/event-stream',
      'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":1}}}\n\ndata: [DONE]\n\n',
      { inputTokens: 7, outputTokens: 3, cachedTokens: 1 },
    ],
    [
      'text/event-stream',
      'data: {"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":1}}\r\n\r\ndata: {"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":6,"thoughtsTokenCount":4}}\r\n\r\n',
      { inputTokens: 8, outputTokens: 10, cachedTokens: 0 },
    ],
    [
      'application/json',
      '{"usage":{"input_tokens":1,"cache_creation_input_tokens":2,"output_tokens":3}}',
      { inputTokens: 3, outputTokens: 3, cachedTokens: 0 },
    ],
    [
      'application/json',
      '{"usage":{"input_tokens":"1e9","output_tokens":-1}}',
      { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
    ],
    ['application/json', '{"usage":', { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }],
  ]
  fc.assert(
    fc.property(fc.constantFrom(...samples), fc.array(fc.nat(40)), ([type, text, expected], cuts) => {
      const meter = createUsageMeter()
      const { chunk, end } = meter.response(type)
      let rest = Buffer.from(text)
      for (const cut of cuts) {
        chunk(rest.subarray(0, cut))
        rest = rest.subarray(cut)
      }
      chunk(rest)
      end()
      assert.deepEqual(meter.used(), { requests: 1, ...expected })
    }),
  )
})
