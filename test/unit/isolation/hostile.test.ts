// An agent speaks to both proxies as it likes: whatever it sends, they answer or hang up, and the run that holds them goes on.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createRawServer } from 'node:net'
import test from 'node:test'
import { openConnectProxy } from '../../../src/isolation/connect-proxy.ts'
import { MAX_CONNECTIONS } from '../../../src/isolation/forward.ts'
import { openModelProxy } from '../../../src/isolation/model-proxy.ts'

/** Requests, each as it goes over the wire; `KEY` and `HOST` are what would be let through. */
const HEADS = [
  'GET HOST/ HTTP/1.1\r\nTrailer: X',
  'GET HOST/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTrailer: X',
  'GET HOST/ HTTP/1.1\r\nExpect: 100-continue',
  'GET HOST/ HTTP/1.1\r\nExpect: the worst',
  'GET HOST/ HTTP/1.1\r\nContent-Length: 5\r\nConnection: close, X-Api-Key',
  'POST HOST/ HTTP/1.1\r\nContent-Length: 1000000',
  'TRACE HOST/ HTTP/1.1',
  'GET HOST/\u00ff?\u0080=%zz#\u00e4 HTTP/1.1\r\nX: \u00ff',
  'GET HOST/ HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade',
  'GET http://[::1/ HTTP/1.1',
  'GET http:// HTTP/1.1',
  'GET * HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'CONNECT localhost:99999 HTTP/1.1',
  'CONNECT [::1]:443 HTTP/1.1',
  'CONNECT :0 HTTP/1.1',
  'CONNECT __proto__:443 HTTP/1.1',
  'GET HOST/ HTTP/0.9',
  'nonsense',
]

function send(port: number, text: string, isCut: boolean): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let heard = ''
    const end = () => resolve(heard)
    socket.on('data', (chunk) => {
      heard += chunk.toString('latin1')
      // What stays open is left by the agent in the middle.
      if (isCut || heard.includes('\r\n\r\n')) socket.destroy()
    })
    socket.on('error', end).on('close', end)
    socket.setTimeout(300, () => socket.destroy())
    socket.write(Buffer.from(text, 'latin1'))
  })
}

test('no request to the proxies ends the run, whether the server answers, hangs up or does not exist', async () => {
  const there = createServer((request, response) => {
    if (request.url?.includes('hang-up')) return void request.socket.destroy()
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      trailer: 'X',
      'transfer-encoding': 'chunked',
    })
    response.write('data: {}\n\n')
    if (request.url?.includes('middle')) setImmediate(() => request.socket.destroy())
    else response.end()
  })
  there.listen(0, '127.0.0.1')
  await once(there, 'listening')
  const { port } = there.address() as AddressInfo
  for (const upstream of [`http://127.0.0.1:${port}`, 'http://127.0.0.1:9']) {
    await using model = await openModelProxy({ upstream: new URL(upstream), key: 'k', warn: () => {} })
    await using wayOut = await openConnectProxy([`localhost:${port}`, 'localhost:9'])
    const host = `http://localhost:${new URL(upstream).port}`
    for (const head of HEADS)
      for (const path of ['', 'hang-up', 'middle'])
        for (const isCut of [false, true]) {
          const line = head.replace('HOST/', `HOST/${path}`)
          const key = `\r\nHost: x\r\nX-Api-Key: ${model.key}\r\n\r\nbody`
          await send(model.port, line.replace('HOST', '') + key, isCut)
          await send(wayOut.port, line.replace('HOST', host) + key, isCut)
        }
    const answer = await fetch(`http://127.0.0.1:${model.port}/`)
    assert.equal(answer.status, 401, 'it still answers')
    assert.match(await send(wayOut.port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', false), /^HTTP\/1\.1 403/)
  }
  there.closeAllConnections()
  there.close()
})

test('a request body is never read as a second request, and no answer contains the key', async () => {
  const heard: string[] = []
  const raw = createRawServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      heard.push(chunk.toString('latin1'))
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
  })
  raw.listen(0, '127.0.0.1')
  await once(raw, 'listening')
  const upstream = new URL(`http://127.0.0.1:${(raw.address() as AddressInfo).port}/base`)
  await using model = await openModelProxy({ upstream, key: 'the-real-key', warn: assert.fail })
  const body = 'POST /second HTTP/1.1\r\nHost: evil.example\r\n\r\n'
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  for (const [method, framing, sent] of [
    ['GET', 'Transfer-Encoding: chunked', chunked],
    ['DELETE', 'Transfer-Encoding: chunked', chunked],
    ['GET', `Content-Length: ${body.length}`, body],
    ['GET', 'Connection: keep-alive', body],
  ] as const) {
    heard.length = 0
    const head = `${method} /first HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${model.key}\r\n${framing}\r\n\r\n`
    assert.match(await send(model.port, head + sent, false), /200 OK/)
    const [first = '', second = ''] = heard.join('').split(/(?=POST \/second)/)
    const isFramed =
      /transfer-encoding: chunked[\s\S]*\r\n[0-9a-f]+\r\n$/i.test(first) ||
      /content-length: [1-9]/i.test(first)
    assert.ok(second === '' || isFramed, heard.join(''))
  }
  heard.length = 0
  for (const line of ['TRACE /first', 'GET /../other', 'GET /%2e%2e/other', 'GET /./../base/../other'])
    assert.match(
      await send(model.port, `${line} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${model.key}\r\n\r\n`, false),
      /^HTTP\/1\.1 40[15]/,
    )
  assert.deepEqual(heard, [])
  raw.close()
})

test('thousands of open connections do not use up the file descriptors of the run', async () => {
  await using model = await openModelProxy({
    upstream: new URL('http://127.0.0.1:9'),
    key: 'k',
    warn: () => {},
  })
  await using wayOut = await openConnectProxy([])
  for (const { port } of [model, wayOut]) {
    const sockets = Array.from({ length: 2 * MAX_CONNECTIONS }, () => connect(port, '127.0.0.1'))
    let closed = 0
    await new Promise<void>((resolve) => {
      for (const socket of sockets)
        socket.on('error', () => {}).on('close', () => ++closed === MAX_CONNECTIONS && resolve())
    })
    for (const socket of sockets) socket.destroy()
  }
})
