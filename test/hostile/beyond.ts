// What the hostile agent meets beyond the job: a host that is nobody's, a resolver on loopback, and the server of its model.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hasOutside, openOutside } from '../standin/outside.ts'

type At = { host: string; port: number }

export type Beyond = AsyncDisposable & {
  outside: At
  resolver: At
  /** The vendor's server. */
  url: string
  /** Paths that somebody asked the host for, the model, and names the resolver. */
  asked: { outside: readonly string[]; model: readonly string[]; resolver: readonly string[] }
}

export async function openBeyond(): Promise<Beyond> {
  const outside = hasOutside ? await openOutside() : await openNear()
  const names: string[] = []
  // Without the right to that port it is another one: there nothing is said of it but that it is open.
  const resolver = await listening(53, '127.0.0.77').catch(() => listening(0, '127.0.0.1'))
  resolver.on('message', (name) => names.push(String(name)))
  const model = await openNear()
  const { address, port } = resolver.address()
  return {
    outside: { host: outside.address, port: outside.port },
    resolver: { host: address, port },
    url: `http://${model.address}:${model.port}`,
    asked: { outside: outside.asked, model: model.asked, resolver: names },
    async [Symbol.asyncDispose]() {
      resolver.close()
      await model[Symbol.asyncDispose]()
      await outside[Symbol.asyncDispose]()
    },
  }
}

async function listening(port: number, host: string) {
  const socket = createSocket('udp4')
  socket.bind(port, host)
  await once(socket, 'listening')
  return socket
}

async function openNear() {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    request.resume()
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { address, port } = server.address() as AddressInfo
  return { address, port, asked, [Symbol.asyncDispose]: async () => void server.close() }
}
