// A host beyond this machine: a network namespace with a web server in it, at an address that is nobody's
// (https://www.rfc-editor.org/rfc/rfc5737). Needs root and iproute2.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const SERVER = `require('node:http').createServer((request, response) => {
  console.log(request.url)
  response.end('outside')
}).listen(80, process.argv[1], () => console.log('listening'))`

export type Outside = AsyncDisposable & {
  /** Where it answers every request with `outside`. */
  address: string
  port: number
  /** Where it reaches us, and what stands before a program that runs there. */
  near: string
  enter: readonly string[]
  /** The paths that were asked for. */
  asked: readonly string[]
}

export const hasOutside = process.getuid?.() === 0 && spawnSync('ip', ['-V']).error === undefined

export async function openOutside(): Promise<Outside> {
  const name = `out${process.pid}`
  const ip = (...args: string[]) => execFileSync('ip', args)
  const block = 4 * (process.pid % 60)
  const [near, address] = [`198.51.100.${block + 1}`, `198.51.100.${block + 2}`]
  ip('netns', 'add', name)
  try {
    ip('link', 'add', name, 'type', 'veth', 'peer', 'name', `${name}p`, 'netns', name)
    ip('addr', 'add', `${near}/30`, 'dev', name)
    ip('link', 'set', name, 'up')
    ip('-n', name, 'addr', 'add', `${address}/30`, 'dev', `${name}p`)
    ip('-n', name, 'link', 'set', `${name}p`, 'up')
    const inside = ['netns', 'exec', name, process.execPath, '-e', SERVER, address]
    const child = spawn('ip', inside, { stdio: ['ignore', 'pipe', 'inherit'] })
    const asked: string[] = []
    const lines = createInterface(child.stdout)
    await once(lines, 'line')
    lines.on('line', (path) => asked.push(path))
    return {
      address,
      port: 80,
      near,
      enter: ['ip', 'netns', 'exec', name],
      asked,
      async [Symbol.asyncDispose]() {
        child.kill('SIGKILL')
        await once(child, 'close')
        // By the namespace alone it would go later.
        ip('link', 'delete', name)
        ip('netns', 'delete', name)
      },
    }
  } catch (error) {
    ip('netns', 'delete', name)
    throw error
  }
}
