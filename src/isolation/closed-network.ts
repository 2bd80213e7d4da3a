// Closes the network, except for loopback, to one user of the machine. The kernel's owner rules (nftables) do this. If there are none,
// the user's programs start in their own network namespace.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { messageOf, UserError } from '../system/errors.ts'
import { MAX_CONNECTIONS } from './forward.ts'

/** The user whose network is closed, the group whose programs keep it, and how to run a command as root. */
export type RestrictedUser = {
  uid: number
  openGid: number
  root(...command: string[]): { file: string; args: string[] }
}

export type ClosedNetwork = AsyncDisposable & {
  /** The command to put before a program that gets no network. Runs as root, before the program becomes the user. */
  enter: readonly string[]
  /** The port at which those programs reach a port of Ralph's loopback. */
  reach(port: number): Promise<number>
  /** Whether those programs share the machine's own loopback, and reach everything that listens there. */
  sharesLoopback: boolean
}

const ENV = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

/** Throws UserError if neither works. It never falls back to an open network. */
export async function closeNetwork(whose: RestrictedUser): Promise<ClosedNetwork> {
  const failures: string[] = []
  for (const method of [ownerRules, namespace]) {
    try {
      return await method(whose)
    } catch (error) {
      failures.push(messageOf(error))
    }
  }
  throw new UserError({
    path: 'network',
    found: `Ralph cannot close the agent's network here, either with firewall rules (${failures[0]}) or with a namespace (${failures[1]}).`,
    expected: '',
    fix: 'install nftables or iproute2 (in a container, also add --cap-add=NET_ADMIN). Or set network: open, which lets the agent reach every server',
  })
}

/** Resolvers of Docker and systemd on loopback. Docker redirects its port 53 to another port, which would answer as well. */
const RESOLVERS = '127.0.0.11, 127.0.0.53, 127.0.0.54'

/**
 * The rules hold for the whole job, as the kernel takes 10 ms and more to switch them. A socket belongs to the user and group that
 * made it, and no program joins a group without privileges. Packets of closed sockets match nothing and pass: they are the rest of
 * what others sent. DNS is closed on loopback as well, since a name that is looked up could carry data out. Each packet is judged
 * twice: as the program addressed it, and as it is delivered. Rules of others may redirect it in between, as a container's resolver does.
 */
const RULES = (uid: number, openGid: number) => `table inet ralph_${uid} {
  chain closed {
    meta l4proto { tcp, udp } th dport 53 reject
    ip daddr { ${RESOLVERS} } reject
    oifname "lo" accept
    reject
  }
  chain addressed {
    type filter hook output priority -300; policy accept;
    meta skuid ${uid} meta skgid != ${openGid} goto closed
  }
  chain delivered {
    type filter hook output priority 0; policy accept;
    meta skuid ${uid} meta skgid != ${openGid} goto closed
  }
}`

async function ownerRules({ uid, openGid, root }: RestrictedUser): Promise<ClosedNetwork> {
  // Also removes the rules of a job that was killed.
  const none = `add table inet ralph_${uid}; delete table inet ralph_${uid}`
  const removeRules = () => run(root('nft', none))
  await run(root('nft', `${none}; ${RULES(uid, openGid)}`))
  return { enter: [], reach: async (port) => port, sharesLoopback: true, [Symbol.asyncDispose]: removeRules }
}

/** A namespace has its own loopback; ours is reached through a socket file. */
async function namespace({ uid, root }: RestrictedUser): Promise<ClosedNetwork> {
  const name = `ralph-${uid}`
  const remove = () => run(root('ip', 'netns', 'delete', name))
  await remove().catch(() => {}) // of a job that was killed
  await run(root('ip', 'netns', 'add', name))
  try {
    await run(root('ip', 'netns', 'exec', name, 'ip', 'link', 'set', 'lo', 'up'))
  } catch (error) {
    await remove().catch(() => {})
    throw error
  }
  const enter = ['nsenter', `--net=/run/netns/${name}`]
  const folder = await mkdtemp(join(tmpdir(), 'ralph-net-'))
  const bridges: AsyncDisposable[] = []
  return {
    enter,
    async reach(port) {
      const bridge = await openBridge(join(folder, `${port}.sock`), port, root, enter)
      bridges.push(bridge)
      return bridge.port
    },
    sharesLoopback: false,
    async [Symbol.asyncDispose]() {
      for (const bridge of bridges) await bridge[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
      await remove()
    },
  }
}

/** Runs in the namespace: listens on its loopback, forwards to the socket file, and exits when its stdin is closed. */
const BRIDGE_PROGRAM = `const net = require('node:net')
const server = net.createServer((one) => {
  const other = net.connect(process.argv[1])
  one.pipe(other).pipe(one)
  one.on('error', () => other.destroy()).on('close', () => other.destroy())
  other.on('error', () => one.destroy()).on('close', () => one.destroy())
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.on('end', () => process.exit()).resume()`

async function openBridge(
  file: string,
  port: number,
  root: RestrictedUser['root'],
  enter: readonly string[],
): Promise<AsyncDisposable & { port: number }> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((inside) => {
    const outside = connect({ host: '127.0.0.1', port })
    for (const [one, other] of [[inside, outside] as const, [outside, inside] as const]) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy()).on('close', () => sockets.delete(one) && other.destroy())
    }
  })
  server.maxConnections = MAX_CONNECTIONS
  server.listen(file)
  await once(server, 'listening')
  const us = [`--reuid=${process.getuid?.() ?? 0}`, `--regid=${process.getgid?.() ?? 0}`, '--clear-groups']
  const { file: program, args } = root(
    ...enter,
    'setpriv',
    ...us,
    process.execPath,
    '-e',
    BRIDGE_PROGRAM,
    file,
  )
  const child = spawn(program, args, { env: ENV, stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = createInterface(child.stdout)
  const first = await Promise.race([once(lines, 'line'), once(child, 'error'), once(child, 'exit')])
  const inner = Number(first[0])
  if (!Number.isInteger(inner) || inner <= 0) throw new Error('Ralph cannot enter the network namespace')
  return {
    port: inner,
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      for (const socket of sockets) socket.destroy()
      server.close()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

function run({ file, args }: { file: string; args: string[] }): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(file, args, { env: ENV, timeout: 10_000 }, (error, _out, stderr) =>
      error === null ? resolve() : reject(new Error((stderr.trim() || error.message).split('\n')[0])),
    )
  })
}
