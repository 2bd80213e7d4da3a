// A user without a network, on this kernel: what its programs reach and what not, by either mechanism; and the one way out.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import test from 'node:test'
import fc from 'fast-check'
import { isAllowEntry, isAllowed, NETWORK_PRESETS } from '../../../src/engine/model/network.ts'
import { closeNetwork } from '../../../src/isolation/closed-network.ts'
import { openConnectProxy } from '../../../src/isolation/connect-proxy.ts'
import { UserError } from '../../../src/system/errors.ts'
import { lacks } from '../../machine/needs.ts'
import { openOutside } from '../../standin/outside.ts'

const [UID, OPEN] = [64_321, 64_322]
const root = (file = '', ...args: string[]) => ({ file, args })

async function listening(host: string) {
  const server = createServer((_request, response) => response.end('here'))
  server.listen(0, host)
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port, [Symbol.dispose]: () => void server.close() }
}

/** What a program of the user hears from an address: `here`, or the error's code. */
function heard(
  enter: readonly string[],
  host: string,
  port: number,
  groups: readonly string[] = ['--clear-groups'],
): Promise<string> {
  const script = `require('node:http').get({ host: '${host}', port: ${port}, timeout: 5000 }, (a) => a.on('data', (d) => console.log(String(d))))
    .on('timeout', () => { console.log('silence'); process.exit() }).on('error', (e) => console.log(e.code))`
  const [file = '', ...args] = [
    ...enter,
    'setpriv',
    `--reuid=${UID}`,
    ...groups,
    process.execPath,
    '-e',
    script,
  ]
  const child = spawn(file, args, { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }, cwd: '/' })
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  return once(child, 'close').then(() => out.trim())
}

for (const how of ['owner rules', 'a network namespace']) {
  const skip = lacks('root', 'ip', 'util-linux', how === 'owner rules' ? 'nft' : 'namespaces')
  test(`by ${how}: the network is closed but for loopback and Ralph's own proxies`, { skip }, async () => {
    await using outside = await openOutside()
    using inside = await listening('127.0.0.1')
    const mechanism = (file = '', ...args: string[]) =>
      how !== 'owner rules' && file === 'nft' ? root('false') : root(file, ...args)
    const host = [outside.address, outside.port] as const
    assert.equal(await heard([], ...host), 'outside')
    {
      await using network = await closeNetwork({ uid: UID, openGid: OPEN, root: mechanism })
      assert.equal(network.sharesLoopback, how === 'owner rules')
      assert.equal(await heard(network.enter, '127.0.0.1', await network.reach(inside.port)), 'here')
      assert.match(await heard(network.enter, ...host), /^E(CONNREFUSED|NETUNREACH)/)
      assert.match(await heard(network.enter, 'localhost.example', 80), /^E/)
      assert.equal(
        await heard([], ...host, [`--regid=${OPEN}`, '--clear-groups']),
        'outside',
        'the open group',
      )
      // As a member alone it makes no socket of that group.
      const member = [`--regid=${UID}`, `--groups=${OPEN}`]
      assert.match(await heard(network.enter, ...host, member), /^E(CONNREFUSED|NETUNREACH)/)
      // What has no socket is nobody's: the kernel's answers, and the rest of what others sent before they closed.
      assert.equal(await heard(outside.enter, outside.near, 9), 'ECONNREFUSED')
    }
    assert.equal(await heard([], ...host), 'outside', 'given back')
  })
}

test('network isolation without nft and namespaces is an error with its fix, never weaker isolation', async () => {
  const no = { uid: UID, openGid: OPEN, root: () => root('false') }
  await assert.rejects(closeNetwork(no), (error: unknown) => {
    assert.ok(error instanceof UserError)
    assert.match(error.message, /network: open/)
    return true
  })
})

test('the network proxy lets listed hosts through, by CONNECT and without TLS, and refuses and counts others', async () => {
  using there = await listening('127.0.0.1')
  await using proxy = await openConnectProxy([`localhost:${there.port}`])
  const tunnel = (name: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(proxy.port, '127.0.0.1')
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk
        if (text.includes('200 Connection')) socket.write('GET / HTTP/1.0\r\n\r\n')
      })
      socket.on('close', () => resolve(text)).on('error', reject)
      socket.write(`CONNECT ${name} HTTP/1.1\r\nHost: ${name}\r\n\r\n`)
    })
  const plain = (path: string) =>
    new Promise<number>((resolve, reject) => {
      request({ host: '127.0.0.1', port: proxy.port, path }, (answer) => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      })
        .on('error', reject)
        .end()
    })
  assert.match(await tunnel(`localhost:${there.port}`), /200 Connection Established[\s\S]*here$/)
  assert.equal(await plain(`http://localhost:${there.port}/`), 200)
  assert.match(await tunnel('evil.example:443'), /^HTTP\/1\.1 403/)
  assert.match(await tunnel('evil.example:443'), /^HTTP\/1\.1 403/)
  assert.match(await tunnel(`127.0.0.1:${there.port}`), /^HTTP\/1\.1 403/)
  assert.match(await tunnel('nonsense'), /^HTTP\/1\.1 403/)
  assert.equal(await plain('http://evil.example/'), 403)
  assert.equal(await plain('/'), 403)
  assert.equal(proxy.refused().get('evil.example:443'), 2)
})

test('an address that the list names is let through, also for TLS without a name; no pattern matches one', async () => {
  assert.ok(isAllowed(['10.0.0.5:8000'], '10.0.0.5', 8000))
  assert.ok(!isAllowed(['10.0.0.5:8000'], '10.0.0.6', 8000))
  assert.ok(!isAllowed(['*.0.0.5'], '10.0.0.5', 443))
  using there = await listening('127.0.0.1')
  await using proxy = await openConnectProxy([`127.0.0.1:${there.port}`])
  const ask = (first: Buffer | string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(proxy.port, '127.0.0.1')
      let text = ''
      socket.on('data', (chunk) => {
        const wasOpen = text.includes('200 Connection')
        text += chunk
        if (!wasOpen && text.includes('200 Connection')) socket.end(first)
      })
      socket.on('close', () => resolve(text)).on('error', reject)
      socket.write(`CONNECT 127.0.0.1:${there.port} HTTP/1.1\r\n\r\n`)
    })
  assert.match(await ask('GET / HTTP/1.0\r\n\r\n'), /200 Connection Established[\s\S]*here$/)
  assert.deepEqual([...proxy.refused().keys()], [])
})

test('a listed host matches exactly, or by *., on ports 443 and 80 unless one is given', () => {
  assert.ok(isAllowed(['npm'], 'Registry.NPMJS.org.', 443))
  assert.ok(isAllowed(['*.example.com'], 'a.b.example.com', 80))
  assert.ok(!isAllowed(['*.example.com'], 'example.com', 443))
  assert.ok(!isAllowed(['example.com'], 'evilexample.com', 443))
  assert.ok(!isAllowed(['example.com'], 'example.com.evil.org', 443))
  assert.ok(!isAllowed(['example.com'], 'example.com', 22))
  assert.ok(
    isAllowed(['example.com:22'], 'example.com', 22) && !isAllowed(['example.com:22'], 'example.com', 443),
  )
  for (const entry of ['npm', 'a-b.example.com', '*.x.org:8443']) assert.ok(isAllowEntry(entry), entry)
  for (const entry of ['', 'https://x', 'a b', '*', '*.', 'x/y', '-x', 'constructor_', 'x.org:65536'])
    assert.ok(!isAllowEntry(entry), entry)
  for (const hosts of Object.values(NETWORK_PRESETS))
    for (const host of hosts) assert.ok(isAllowEntry(host), host)
  fc.assert(fc.property(fc.string(), fc.string(), (entry, host) => void isAllowed([entry], host, 443)))
})
