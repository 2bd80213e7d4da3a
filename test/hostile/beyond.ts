// What the hostile agent meets beyond the job: a host that is nobody's, a resolver on loopback, and the server of its model.
import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { lacks } from '../machine/needs.ts'
import { hasOutside, openOutside } from '../standin/outside.ts'

type At = { host: string; port: number }

export type Beyond = AsyncDisposable & {
  outside: At
  resolver: At
  /** The same, if rules of the machine redirect questions to another port first, as in a container. */
  redirected: At
  /** A server that `network-allow` names. */
  allowed: At
  /** Sockets of services that take requests of everybody: an abstract one and, if we may make it, one in /run. */
  sockets: readonly string[]
  /** The vendor's server. */
  url: string
  /** Paths that somebody asked the host for, the model, and names the resolver. */
  asked: Record<'outside' | 'model' | 'resolver' | 'redirected' | 'allowed' | 'sockets', readonly string[]>
}

export async function openBeyond(): Promise<Beyond> {
  const outside = hasOutside ? await openOutside() : await openNear()
  const names: string[] = []
  // Without the right to that port it is another one: there nothing is said of it but that it is open.
  const resolver = await listening(53, '127.0.0.77').catch(() => listening(0, '127.0.0.1'))
  resolver.on('message', (name) => names.push(String(name)))
  const redirected = await openRedirected()
  const allowed = await openListener({ host: 'localhost', port: 0 })
  const sockets = [
    `\0hostile-${process.pid}`,
    ...(lacks('root') === false ? [`/run/hostile-${process.pid}`] : []),
  ]
  const services = await Promise.all(sockets.map((path) => openListener({ path })))
  const model = await openNear(echo)
  const { address, port } = resolver.address()
  return {
    outside: { host: outside.address, port: outside.port },
    resolver: { host: address, port },
    redirected: redirected.at,
    allowed: { host: 'localhost', port: allowed.port },
    sockets,
    url: `http://${model.address}:${model.port}`,
    asked: {
      outside: outside.asked,
      model: model.asked,
      resolver: names,
      redirected: redirected.names,
      allowed: allowed.heard,
      get sockets() {
        return services.flatMap(({ heard }) => heard)
      },
    },
    async [Symbol.asyncDispose]() {
      resolver.close()
      for (const service of [allowed, ...services]) service.close()
      redirected[Symbol.dispose]()
      await model[Symbol.asyncDispose]()
      await outside[Symbol.asyncDispose]()
    },
  }
}

/** Without nftables, and the right to use it, questions go to the port itself: there nothing is said of it but that it is open. */
async function openRedirected() {
  const host = '127.0.0.78'
  const socket = await listening(0, host)
  const names: string[] = []
  socket.on('message', (name) => names.push(String(name)))
  const { port } = socket.address()
  const table = `ip hostile_${process.pid}`
  const rule = `ip daddr ${host} udp dport 53 dnat to ${host}:${port}`
  const chain = `chain output { type nat hook output priority -100; ${rule}; }`
  const isRedirected = lacks('root', 'nft') === false
  if (isRedirected) execFileSync('nft', [`table ${table} { ${chain}; }`])
  return {
    names,
    at: { host, port: isRedirected ? 53 : port },
    [Symbol.dispose]() {
      socket.close()
      if (isRedirected) execFileSync('nft', [`delete table ${table}`])
    },
  }
}

/** A server that writes down what it hears. */
async function openListener(where: { host: string; port: number } | { path: string }) {
  const heard: string[] = []
  const server = createTcpServer((socket) => {
    socket.on('error', () => {}).on('data', (bytes) => heard.push(bytes.toString('latin1')))
  })
  server.listen(where)
  await once(server, 'listening')
  if ('path' in where && where.path.startsWith('/')) await chmod(where.path, 0o666)
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  return { heard, port, close: () => void server.close() }
}

async function listening(port: number, host: string) {
  const socket = createSocket('udp4')
  socket.bind(port, host)
  await once(socket, 'listening')
  return socket
}

/**
 * A vendor that repeats what it was sent, as error pages and gateways do: as one page, byte by byte, packed, in a part that was
 * asked for, or up to a length. Every other path is answered without a word.
 */
async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://vendor.example')
  if (!pathname.startsWith('/echo/')) return void response.end('{}')
  const whole = Buffer.from(`no such page: ${request.url}\n${JSON.stringify(request.headers)}\n`)
  const [, first = 0, last = whole.length] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
  const page = whole.subarray(
    Number(first),
    Math.min(Number(last) + 1, Number(searchParams.get('length') ?? 1e6)),
  )
  const isPacked = searchParams.has('packed')
  const isStream = pathname === '/echo/stream'
  response.writeHead(isStream ? 200 : 404, {
    'content-type': isStream ? 'text/event-stream' : 'text/html',
    'x-asked': String(request.headers['x-api-key']).slice(0, page.length),
    ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
  })
  const bytes = isPacked ? gzipSync(page) : page
  if (!isStream) return void response.end(bytes)
  for (const byte of bytes) {
    response.write(Buffer.of(byte))
    await setImmediate()
  }
  response.end()
}

async function openNear(
  answer: (request: IncomingMessage, response: ServerResponse) => unknown = (_, response) =>
    response.end('{}'),
) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    request.resume()
    answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { address, port } = server.address() as AddressInfo
  return { address, port, asked, [Symbol.asyncDispose]: async () => void server.close() }
}
