// The network of a container with Docker's resolver: a namespace in which questions to 127.0.0.11, port 53, are redirected to another
// port of that address (https://github.com/moby/moby/blob/master/daemon/libnetwork/resolver_unix.go). Needs root, iproute2, nftables.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export const DOCKER_RESOLVER = '127.0.0.11'

/** Answers every question with its transport; prints the ports that it has for UDP and for TCP. */
const RESOLVER = `const [address] = process.argv.slice(1)
const udp = require('node:dgram').createSocket('udp4')
udp.on('message', (_question, { port, address: from }) => udp.send('udp', port, from))
const tcp = require('node:net').createServer((socket) => socket.on('error', () => {}).end('tcp'))
udp.bind(0, address, () => tcp.listen(0, address, () => console.log(udp.address().port, tcp.address().port)))`

/** As a container's `DOCKER_OUTPUT` chain has it. */
const redirects = (udp: number, tcp: number) => `table ip docker {
  chain output {
    type nat hook output priority -100; policy accept;
    ip daddr ${DOCKER_RESOLVER} udp dport 53 dnat to ${DOCKER_RESOLVER}:${udp}
    ip daddr ${DOCKER_RESOLVER} tcp dport 53 dnat to ${DOCKER_RESOLVER}:${tcp}
  }
}`

export type ContainerNetwork = AsyncDisposable & {
  /** What stands before a program that runs in it. */
  enter: readonly string[]
  /** Where its resolver really listens. */
  udp: number
  tcp: number
}

export async function openContainerNetwork(): Promise<ContainerNetwork> {
  const name = `con${process.pid}`
  const enter = ['ip', 'netns', 'exec', name]
  const inside = (...command: string[]) => execFileSync('ip', [...enter.slice(1), ...command])
  execFileSync('ip', ['netns', 'add', name])
  inside('ip', 'link', 'set', 'lo', 'up')
  const resolver = spawn('ip', [...enter.slice(1), process.execPath, '-e', RESOLVER, DOCKER_RESOLVER], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const close = async () => {
    resolver.kill('SIGKILL')
    await once(resolver, 'close')
    execFileSync('ip', ['netns', 'delete', name])
  }
  try {
    const [line] = await once(createInterface(resolver.stdout), 'line')
    const [udp = 0, tcp = 0] = String(line).split(' ').map(Number)
    inside('nft', redirects(udp, tcp))
    return { enter, udp, tcp, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}
