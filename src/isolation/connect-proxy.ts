// The agent's only way out of a closed network: a proxy on loopback that passes hosts on the allow-list, and counts the refused ones.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { isAllowed } from '../engine/model/network.ts'
import { checkedTls, UNRECOGNIZED_NAME } from './checked-tls.ts'
import { forward, listenOnLoopback, withoutHopByHopHeaders } from './forward.ts'

const MAX_REFUSED = 100
const MAX_NAME = 120
const MAX_HOST = 100
const HTTP_PORT = 80
const HTTPS_PORT = 443

/** Listens on a free port of loopback until it is disposed. */
export async function openConnectProxy(allowed: readonly string[]) {
  const refused = new Map<string, number>()
  const open = new Set<Duplex>()
  const refuse = (target: string): false => {
    const name = target.slice(0, MAX_NAME)
    if (refused.has(name) || refused.size < MAX_REFUSED) refused.set(name, (refused.get(name) ?? 0) + 1)
    return false
  }
  const lets = (host: string, port: number): boolean =>
    isAllowed(allowed, host, port) || refuse(`${host.slice(0, MAX_HOST)}:${port}`)
  const track = (socket: Duplex): void => {
    open.add(socket)
    socket.on('close', () => open.delete(socket)).on('error', () => socket.destroy())
  }

  const server = createServer((request, response) => proxyPlainHttp(request, response, lets))
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    track(client)
    const [, host = '', portText = ''] = /^\[?([^\]]*?)\]?:(\d{1,5})$/.exec(request.url ?? '') ?? []
    const port = Number(portText)
    if (!lets(host, port)) return void client.end(`HTTP/1.1 403 Forbidden\r\n\r\n${refusalText(host)}`)
    if (port === HTTP_PORT) return void tunnelHttp(client, head, host)
    const target = connect({ host, port })
    track(target)
    // The client chooses its server within the tunnel, and many share an address.
    const checked = checkedTls({
      // At an address that the list names, TLS has no name to ask for.
      permits: (name) => {
        if (name !== null) return lets(name, port)
        return isIP(host) !== 0 || refuse(`a TLS connection without a server name to ${host}:${port}`)
      },
      allowsOther: port !== HTTPS_PORT,
    })
    checked.once('error', () => client.end(UNRECOGNIZED_NAME))
    target.once('connect', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      checked.write(head)
      client.pipe(checked).pipe(target).pipe(client)
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

/** A tunnel to a web server without TLS, as some clients open one: each request goes to the host of the tunnel, whatever it says. */
function tunnelHttp(client: Duplex, head: Buffer, host: string): void {
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    if (!path.startsWith('/')) return void response.writeHead(403).end(refusalText(path))
    const headers = { ...withoutHopByHopHeaders(request.headers), host }
    forward(request, response, new URL(`http://${host}${path}`), headers).catch(() => response.destroy())
  })
  client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
  client.unshift(head)
  server.emit('connection', client)
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
  return `Ralph's network setting blocks ${host.slice(0, MAX_HOST)}. A person can add the host to network-allow.\n`
}
