// The key proxy beside a vendor's server of our own: whose key goes where, what is refused, what is counted, how it streams.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { keyCutter } from '../../../src/isolation/key-cutter.ts'
import { openModelProxy } from '../../../src/isolation/model-proxy.ts'
import { createUsageMeter } from '../../../src/isolation/usage-meter.ts'

const KEY = 'sk-ant-the-real-one-0123456789'
/** A shorter beginning of it is none that is cut out. */
const LEAST = 16

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

test('the model proxy replaces the session key by the model key, in the header that the vendor expects', async () => {
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
    'an address goes into logs and error pages',
  )
  assert.deepEqual(
    at.seen.map((one) => one.url),
    [
      '/base/v1/messages?beta=true',
      '/base/v1/messages?beta=true',
      '/base/v1/messages?beta=true',
      '/base/v1beta/models',
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

test('other keys in a request are not forwarded with the model key', async () => {
  await using at = await openVendor(json)
  const foreign = {
    authorization: 'Bearer sk-of-somebody-else',
    'x-api-key': 'sk-of-somebody-else',
    'x-goog-api-key': `${at.proxy.key}x`,
  }
  const headers = { ...foreign, 'api-key': at.proxy.key }
  const answer = await fetch(`http://127.0.0.1:${at.proxy.port}/v1`, { headers })
  assert.equal(answer.status, 200)
  const {
    authorization,
    'x-api-key': one,
    'x-goog-api-key': other,
    'api-key': ours,
  } = at.seen[0]?.headers ?? {}
  assert.deepEqual([authorization, one, other, ours], [undefined, undefined, undefined, KEY])
})

/** What came back, with headers, as the agent gets it. */
async function wholeOf(at: { proxy: { port: number; key: string } }, path = '/v1?alt=sse'): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${at.proxy.port}${path}`, {
    headers: { 'x-api-key': at.proxy.key },
  })
  return `${answer.status} ${JSON.stringify([...answer.headers])} ${await answer.text()}`
}

test('a vendor that echoes the request does not reveal the key: headers, pages, streams, compressed', async () => {
  const page = (request: IncomingMessage) =>
    `<p>${request.url} ${JSON.stringify(request.headers)} ${encodeURIComponent(JSON.stringify(request.headers))}</p>`
  const packed = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync }
  for (const encoding of [undefined, 'identity', 'gzip', 'deflate', 'br'] as const) {
    await using at = await openVendor((request, response) => {
      const pack = encoding === undefined || encoding === 'identity' ? Buffer.from : packed[encoding]
      const body = pack(page(request))
      response.writeHead(404, {
        'content-type': 'text/html',
        'content-length': body.length,
        location: `/login?from=${request.headers['x-api-key']}`,
        'set-cookie': [`seen=${request.headers['x-api-key']}`, 'a=b'],
        ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
      })
      for (const byte of body) response.write(Buffer.of(byte))
      response.end()
    })
    const whole = await wholeOf(at)
    assert.match(whole, /^404 .*<p>\/base\/v1\?alt=sse .*<\/p>$/, encoding)
    assert.ok(!whole.includes(KEY), `${encoding}: ${whole}`)
    assert.ok(whole.includes('*'.repeat(KEY.length)))
  }
})

test('an answer in an unknown encoding is not passed on', async () => {
  await using at = await openVendor((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'x-own' })
    response.end('packed')
  })
  assert.match(await wholeOf(at), /^502 /)
  await using empty = await openVendor((_request, response) => {
    response.writeHead(204, { 'content-encoding': 'gzip' })
    response.end()
  })
  assert.match(await wholeOf(empty), /^204 /)
})

/** Without keys, and without beginnings of one that are at least that long. */
function hidden(text: string): string {
  const lengths = Array.from({ length: KEY.length - LEAST + 1 }, (_, at) => KEY.length - at)
  return lengths.reduce((rest, length) => rest.replaceAll(KEY.slice(0, length), '*'.repeat(length)), text)
}

test('range requests are not forwarded, and an answer that ends within the key does not reveal its beginning', async () => {
  await using at = await openVendor((request, response) => {
    const page = `a page with ${request.headers['x-api-key']}`
    response.end(page.slice(0, Number(request.headers['x-length'])))
  })
  const url = `http://127.0.0.1:${at.proxy.port}/v1`
  const longest = 'a page with '.length + LEAST - 1
  for (let length = 0; length <= 12 + KEY.length; length += 1) {
    const headers = {
      'x-api-key': at.proxy.key,
      'x-length': String(length),
      range: 'bytes=0-1',
      'if-range': '"a"',
    }
    const text = await (await fetch(url, { headers })).text()
    assert.equal(text.length, length)
    assert.equal(text, hidden(text), 'what is left is no more than that')
    if (length > longest) assert.match(text, /\*+$/)
  }
  assert.ok(at.seen.every(({ headers }) => headers.range === undefined && headers['if-range'] === undefined))
})

test('the key of a session is invalid after the session', async () => {
  let isOpen = false
  await using at = await openVendor(json)
  const upstream = new URL(`http://127.0.0.1:${at.proxy.port}`)
  await using proxy = await openModelProxy({
    ...{ upstream, key: at.proxy.key, isOpen: () => isOpen, warn: assert.fail },
  })
  const ask = async () =>
    (await fetch(`http://127.0.0.1:${proxy.port}/v1`, { headers: { 'x-api-key': proxy.key } })).status
  assert.equal(await ask(), 403)
  isOpen = true
  assert.equal(await ask(), 200)
  isOpen = false
  assert.equal(await ask(), 403)
  assert.equal(at.seen.length, 1)
})

test('the key is removed from a stream however it is cut, and only a possible beginning of it is delayed', async () => {
  const parts = fc.oneof(
    fc.constantFrom(
      KEY,
      KEY.slice(0, 5),
      KEY.slice(0, -1),
      KEY.slice(0, LEAST),
      KEY.slice(0, LEAST - 1),
      KEY.slice(3),
      's',
      'data: {}\n\n',
      `${KEY}${KEY}`,
    ),
    fc.string({ maxLength: 12 }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(parts), fc.array(fc.nat(24)), async (texts, cuts) => {
      const whole = Buffer.from(texts.join(''))
      const cutter = keyCutter(KEY)
      let out = ''
      cutter.on('data', (chunk: Buffer) => {
        out += chunk.toString('latin1')
      })
      const all = hidden(whole.toString('latin1'))
      let at = 0
      for (const cut of [...cuts, whole.length]) {
        const chunk = whole.subarray(at, at + cut)
        at += chunk.length
        await new Promise((resolve) => cutter.write(chunk, resolve))
        const waiting = whole.toString('latin1', out.length, at)
        assert.ok(all.startsWith(out))
        assert.ok(KEY.startsWith(waiting) && waiting !== KEY, JSON.stringify(waiting))
      }
      await new Promise<void>((resolve) => cutter.end(resolve))
      assert.equal(out, all)
    }),
  )
})

test('a key that is no secret, such as ollama, is not removed from answers', async () => {
  await using at = await openVendor(json)
  await using proxy = await openModelProxy({
    upstream: new URL(`http://127.0.0.1:${at.proxy.port}`),
    key: at.proxy.key,
    warn: assert.fail,
  })
  assert.match(await wholeOf({ proxy }), /"usage"/)
  const cutter = keyCutter('ollama')
  cutter.end('a text on ollama')
  assert.equal(String((await cutter.toArray()).join('')), 'a text on ollama')
})

test('the model proxy refuses a wrong key, a missing key and a path to another host', async () => {
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

test('a stream is passed on piece by piece, and its usage is counted even when the reader ends', async () => {
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

test('a vendor that cannot be reached is 502, with a warning without the key for the first ones', async () => {
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

test('usage is counted in the four wire formats, however the stream is cut', () => {
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

/** What is counted of one response. */
function counted(type: string, parts: readonly string[], requestBytes = 0) {
  const meter = createUsageMeter()
  const { chunk, end } = meter.response(type, requestBytes)
  for (const part of parts) chunk(Buffer.from(part))
  end()
  const { inputTokens, outputTokens, cachedTokens } = meter.used()
  return [inputTokens, outputTokens, cachedTokens]
}

test('usage at the end of a response that is too long to be parsed is counted, words about usage are not', () => {
  const usage =
    '"usage":{"prompt_tokens":70,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":10}}'
  const words = JSON.stringify('"usage":{"prompt_tokens":999}')
  const body = `{"choices":[{"text":${words},"logprobs":"${'x'.repeat(3 * 1024 * 1024)}"}],"said":${words},${usage},"id":"a"}`
  const pieces = body.match(/[\s\S]{1,50000}/g) ?? []
  assert.deepEqual(counted('application/json', pieces), [70, 30, 10])
  assert.deepEqual(counted('text/event-stream', ['data: ', ...pieces, '\n\ndata: [DONE]\n\n']), [70, 30, 10])
  const list = `[{"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":1}},{"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":6}}]`
  assert.deepEqual(counted('application/json', [list]), [8, 6, 0], 'a stream of gemini as one list')
  const open = `{"choices":[],"usage":${'{"a":'.repeat(400_000)}`
  assert.deepEqual(counted('application/json', [open]), [0, 0, 0])
})

test('a stream without usage, or one that is cut before it, counts its pieces and what was sent', () => {
  const piece = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n'
  assert.deepEqual(counted('text/event-stream', Array(40).fill(piece), 4000), [1000, 40, 0])
  const start =
    'data: {"type":"message_start","message":{"usage":{"input_tokens":100,"output_tokens":1}}}\n\n'
  const delta = 'data: {"type":"content_block_delta","delta":{"text":"x"}}\n\n'
  assert.deepEqual(counted('text/event-stream', [start, ...Array(50).fill(delta)], 4000), [100, 50, 0])
  assert.deepEqual(counted('application/json', ['{"data":[]}'], 4000), [0, 0, 0], 'no model answered')
})
