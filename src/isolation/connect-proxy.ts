// The agent's only way out of a closed network: a proxy on loopback that passes hosts on the allow-list, and counts the refused ones.
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
    // The allow-list has names: a bare IP address matches none.
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
    /** The first hundred refused `host:port` pairs, and how often each was refused. */
    refused: () => refused,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      await listening[Symbol.asyncDispose]()
    },
  }
}

/** Plain HTTP requests, as apt sends them: the whole URL is in the request line. */
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
