// A tunnel to a host that is allowed carries TLS for that host only: by real clients, split anywhere, and by forged ones.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { connect as connectTls } from 'node:tls'
import fc from 'fast-check'
import { isAllowed } from '../../../src/engine/model/network.ts'
import { checkedTls, UNRECOGNIZED_NAME } from '../../../src/isolation/checked-tls.ts'
import { readClientHello } from '../../../src/isolation/client-hello.ts'
import { openConnectProxy } from '../../../src/isolation/connect-proxy.ts'

const u16 = (value: number) => [value >> 8, value & 255]
const vector = (bytes: readonly number[]) => [...u16(bytes.length), ...bytes]
const extension = (type: number, data: readonly number[]) => [...u16(type), ...vector(data)]
const named = (...names: string[]) =>
  extension(0, vector(names.flatMap((name) => [0, ...vector([...Buffer.from(name)])])))
const ENCRYPTED = extension(0xfe0d, Array(180).fill(7))

/** A hello with these extensions, in records of at most so many bytes. */
function hello(extensions: readonly number[], recordBytes = 16_000): Buffer {
  const body = [3, 3, ...Array(32).fill(9), 0, ...vector([0x13, 1]), 1, 0, ...vector(extensions)]
  const message = [1, 0, ...u16(body.length), ...body]
  const records: number[] = []
  for (let at = 0; at < message.length; at += recordBytes)
    records.push(22, 3, 1, ...vector(message.slice(at, at + recordBytes)))
  return Buffer.from(records)
}

/** The first bytes that Node's client sends. */
async function realHello(servername: string): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const client = connectTls({ host: '127.0.0.1', port, servername }).on('error', () => {})
  const [socket] = (await once(server, 'connection')) as [Socket]
  const [bytes] = await once(socket, 'data')
  client.destroy()
  socket.destroy()
  server.close()
  return bytes
}

/** What is passed on of these pieces, and whether the connection was refused. */
async function passed(pieces: readonly Buffer[], allowsOther = false) {
  const asked: (string | null)[] = []
  const permits = (name: string | null) => asked.push(name) > 0 && name === 'good.example'
  const checked = checkedTls({ permits, allowsOther })
  const failed = once(checked, 'error').then(
    () => true,
    () => true,
  )
  const out: Buffer[] = []
  checked.on('data', (bytes) => out.push(bytes))
  const over = once(checked, 'end').then(() => false)
  for (const piece of pieces) checked.write(piece)
  checked.end()
  const isRefused = await Promise.race([failed, over])
  return { isRefused, bytes: Buffer.concat(out), asked }
}

const cutAt = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const ends = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b)
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

test('the name in a real hello is read, and in one that is split over records, packets or both', async () => {
  const real = await realHello('good.example')
  assert.deepEqual(readClientHello(real), {
    ...{ kind: 'hello', name: 'good.example', isEncrypted: false, length: real.length },
  })
  const data = Buffer.from([23, 3, 3, 0, 1, 5])
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(3000)), fc.integer({ min: 20, max: 300 }), async (cuts, size) => {
      for (const first of [real, hello(named('GOOD.example.'), size)]) {
        const whole = Buffer.concat([first, data])
        const { isRefused, bytes } = await passed(cutAt(whole, cuts))
        assert.ok(!isRefused && bytes.equals(whole))
      }
    }),
    { numRuns: 30 },
  )
})

test('no byte is passed on for another name, no name, several, or one that is encrypted', async () => {
  const twice = [...named('good.example'), ...named('evil.example')]
  for (const extensions of [
    named('evil.example'),
    [],
    named('good.example', 'evil.example'),
    twice,
    [...named('good.example'), ...ENCRYPTED],
  ])
    for (const size of [16_000, 30]) {
      const { isRefused, bytes } = await passed([hello(extensions, size), Buffer.from('more')])
      assert.deepEqual([isRefused, bytes.length], [true, 0])
    }
})

test('a second hello for another name is refused, whatever harmless comes before it', async () => {
  const [good, evil] = [hello(named('good.example')), hello(named('evil.example'))]
  const noEffect = Buffer.from([20, 3, 3, 0, 1, 1])
  const early = Buffer.from([23, 3, 3, 0, 4, 22, 3, 1, 1])
  const other = Buffer.from([22, 3, 3, 0, 4, 16, 0, 0, 0])
  const halves = [noEffect.subarray(0, 2), noEffect.subarray(2)]
  for (const between of [[], [noEffect], halves, [noEffect, noEffect], [early, noEffect, early], [other]]) {
    const { isRefused, bytes } = await passed([good, ...between, evil])
    assert.ok(isRefused)
    assert.ok(!bytes.includes('evil'))
    assert.equal((await passed([good, ...between, good])).isRefused, false)
  }
})

test('what is not TLS passes only where it may, at once and unchanged', async () => {
  for (const words of [
    'SSH-2.0-x',
    'GET / HTTP/1.1\r\n\r\n',
    '\x16',
    '\x16\x03\x01\x00\x00',
    '\x16\x03\x01\xff\xff',
  ]) {
    const bytes = Buffer.from(words, 'latin1')
    const isIncomplete = readClientHello(bytes).kind === 'more'
    const other = await passed([bytes], true)
    assert.equal(other.bytes.length, isIncomplete ? 0 : bytes.length, words)
    const only = await passed([bytes])
    assert.deepEqual([only.isRefused, only.bytes.length], [!isIncomplete, 0], words)
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void readClientHello(Buffer.from(bytes))),
  )
  const endless = Buffer.concat(Array(40).fill(Buffer.from([22, 3, 1, 0, 1, 1])))
  assert.equal(readClientHello(endless).kind, 'other')
})

test('the proxy checks the name in a tunnel, counts refusals, and answers in TLS', async () => {
  const received: Buffer[] = []
  const server = createServer((socket) => {
    socket.on('data', (bytes) => received.push(bytes)).on('error', () => {})
    socket.once('data', () => socket.end('there'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await using proxy = await openConnectProxy([`localhost:${port}`])
  const tunnel = async (first: Buffer) => {
    const socket = connect(proxy.port, '127.0.0.1')
    socket.write(`CONNECT localhost:${port} HTTP/1.1\r\n\r\n`)
    const [head] = await once(socket, 'data')
    assert.match(String(head), /^HTTP\/1\.1 200/)
    socket.write(first)
    return text(socket.setEncoding('latin1'))
  }
  assert.equal(await tunnel(hello(named('localhost'))), 'there')
  assert.equal(received.length, 1)
  assert.equal(await tunnel(hello(named('evil.example'))), UNRECOGNIZED_NAME.toString('latin1'))
  assert.equal(
    await tunnel(hello([...named('localhost'), ...ENCRYPTED])),
    UNRECOGNIZED_NAME.toString('latin1'),
  )
  assert.equal(received.length, 1, 'nothing of it reached the server')
  assert.deepEqual(Object.fromEntries(proxy.refused()), {
    [`evil.example:${port}`]: 1,
    [`a TLS connection without a server name to localhost:${port}`]: 1,
  })
  server.close()
})

test('no preset has a host where anyone can own a bucket, or one for publishing', () => {
  for (const host of ['storage.googleapis.com', 'crates.io', 'upload.pypi.org', 'central.sonatype.com'])
    for (const preset of ['npm', 'pypi', 'crates', 'go', 'maven', 'apt'])
      assert.ok(!isAllowed([preset], host, 443), `${preset}: ${host}`)
  for (const [preset, host] of [
    ['crates', 'index.crates.io'],
    ['crates', 'static.crates.io'],
    ['go', 'proxy.golang.org'],
  ] as const)
    assert.ok(isAllowed([preset], host, 443))
})
