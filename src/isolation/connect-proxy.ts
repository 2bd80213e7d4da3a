// The agent's one way out where its network is closed: a proxy on loopback that lets through what is on the list, and counts the rest.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { isAllowed } from '../engine/model/network.ts'
import { forward, listenOnLoopback, withoutHopByHopHeaders } from './forward.ts'

const MAX_REFUSED = 100
const MAX_NAME = 100

/** Listens on a free port of loopback until it is disposed. */
export async function openConnectProxy(allowed: readonly string[]) {
  const refused = new Map<string, number>()
  const open = new Set<Duplex>()
  const lets = (host: string, port: number): boolean => {
    // An address says nothing of whose it is.
    if (isIP(host) === 0 && isAllowed(allowed, host, port)) return true
    const name = `${host.slice(0, MAX_NAME)}:${port}`
    if (refused.has(name) || refused.size < MAX_REFUSED) refused.set(name, (refused.get(name) ?? 0) + 1)
    return false
  }
  const track = (socket: Duplex): void => {
    open.add(socket)
    socket.on('close', () => open.delete(socket)).on('error', () => socket.destroy())
  }

  const server = createServer((request, response) => proxyPlainHttp(request, response, lets))
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    track(client)
    const [, host = '', port = ''] = /^\[?([^\]]*?)\]?:(\d{1,5})$/.exec(request.url ?? '') ?? []
    if (!lets(host, Number(port)))
      return void client.end(`HTTP/1.1 403 Forbidden\r\n\r\n${refusalText(host)}`)
    const target = connect({ host, port: Number(port) })
    track(target)
    target.once('connect', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      target.write(head)
      client.pipe(target).pipe(client)
    })
    target.once('close', () => client.destroy())
    client.once('close', () => target.destroy())
  })
  const listening = await listenOnLoopback(server)
  return {
    port: listening.port,
    /** `host:port` that was asked for and refused, and how often; the first hundred of them. */
    refused: () => refused,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      await listening[Symbol.asyncDispose]()
    },
  }
}

/** Without TLS, as apt asks: the whole address stands in the request. */
function proxyPlainHttp(
  request: IncomingMessage,
  response: ServerResponse,
  permits: (host: string, port: number) => boolean,
): void {
  const url = request.url ?? ''
  const target = URL.canParse(url) ? new URL(url) : null
  if (target?.protocol !== 'http:' || !permits(target.hostname, Number(target.port || 80))) {
    response.writeHead(403).end(refusalText(target?.hostname ?? ''))
    return
  }
  forward(request, response, target, { ...withoutHopByHopHeaders(request.headers), host: target.host }).catch(
    () => response.destroy(),
  )
}

function refusalText(host: string): string {
  return `Ralph's network setting does not let ${host.slice(0, MAX_NAME)} through (network-allow).\n`
}
