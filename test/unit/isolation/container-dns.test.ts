// In a container, DNS goes through a redirect to a port of Docker's own: the closed network closes that way, too.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import test from 'node:test'
import { closeNetwork } from '../../../src/isolation/closed-network.ts'
import { lacks } from '../../machine/needs.ts'
import { DOCKER_RESOLVER, openContainerNetwork } from '../../standin/container.ts'

const [UID, OPEN] = [64_323, 64_324]

/** What a program of a user hears from a resolver: its answer, or the error's code. */
async function ask(
  enter: readonly string[],
  how: 'udp' | 'tcp',
  port: number,
  address = DOCKER_RESOLVER,
  gid = UID,
): Promise<string> {
  const script =
    how === 'udp'
      ? `const socket = require('node:dgram').createSocket('udp4')
socket.on('message', (answer) => { console.log(String(answer)); socket.close() })
socket.on('error', ({ code }) => { console.log(code); socket.close() })
socket.connect(${port}, '${address}', () => socket.send('carried-out.example', (error) => {
  if (error) { console.log(error.code); socket.close() }
}))`
      : `require('node:net').connect(${port}, '${address}')
.on('data', (answer) => console.log(String(answer))).on('error', ({ code }) => console.log(code))`
  const user = ['setpriv', `--reuid=${UID}`, `--regid=${gid}`, '--clear-groups']
  const [file = '', ...args] = [...enter, ...user, process.execPath, '-e', script]
  const child = spawn(file, args, {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    cwd: '/',
    timeout: 20_000,
  })
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  await once(child, 'close')
  return out.trim()
}

const skip = lacks('root', 'ip', 'util-linux', 'nft')
test("in a container, a closed network reaches neither Docker's resolver nor the port behind it", {
  skip,
}, async () => {
  await using container = await openContainerNetwork()
  const { enter, udp, tcp } = container
  const ways = [
    ['udp', 53],
    ['tcp', 53],
    ['udp', udp],
    ['tcp', tcp],
  ] as const
  const answers = (gid?: number) =>
    Promise.all(ways.map(([how, port]) => ask(enter, how, port, DOCKER_RESOLVER, gid)))
  const [file = '', ...args] = enter
  const root = (...command: string[]) => ({ file, args: [...args, ...command] })
  assert.deepEqual(await answers(), ['udp', 'tcp', 'udp', 'tcp'], 'the way is there before it is closed')
  {
    await using network = await closeNetwork({ uid: UID, openGid: OPEN, root })
    assert.ok(network.sharesLoopback, 'by owner rules')
    for (const answer of await answers()) assert.match(answer, /^E(CONNREFUSED|PERM)$/)
    assert.deepEqual(await answers(OPEN), ['udp', 'tcp', 'udp', 'tcp'], 'the open group keeps it')
  }
  assert.deepEqual(await answers(), ['udp', 'tcp', 'udp', 'tcp'], 'given back')
})
