// Forwards one request to a server and streams its response back. Bad data from either side fails this request only.
import { once } from 'node:events'
import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Headers of one connection, not of the message (RFC 9110, 7.6.1). Node throws if some of them do not fit the connection. */
const HOP_BY_HOP_HEADERS = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te'],
  ...['trailer', 'transfer-encoding', 'upgrade', 'expect'],
])

export function withoutHopByHopHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || HOP_BY_HOP_HEADERS.has(name) ? [] : [[name, value]],
    ),
  )
}

/** Each connection may take two file descriptors, and the run needs some for itself. */
export const MAX_CONNECTIONS = 256

/** Listens on a free port of loopback until it is disposed. */
export async function listenOnLoopback(server: Server): Promise<AsyncDisposable & { port: number }> {
  server.maxConnections = MAX_CONNECTIONS
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** How a response is passed on: its headers, and the streams that its body goes through. */
export type PassedResponse = { headers: IncomingHttpHeaders; streams: readonly Duplex[] }

/** Rejects if there is no response, or only a part of it. `through` gets the response before its body is read. */
export async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  target: URL,
  headers: Readonly<Record<string, string | string[]>>,
  through: (answer: IncomingMessage) => PassedResponse = ({ headers }) => ({ headers, streams: [] }),
): Promise<void> {
  const abort = new AbortController()
  response.on('close', () => abort.abort())
  const send = target.protocol === 'https:' ? httpsRequest : httpRequest
  // Node does not frame the body of a GET. Unframed, the server would read it as another request, to any host that it names.
  const framed = request.headers['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' }
  const outgoing = send(target, {
    method: request.method,
    headers: { ...headers, ...framed },
    signal: abort.signal,
  })
  const responseArrived = new Promise<IncomingMessage>((resolve, reject) => {
    // It may also fail after the response; without a listener that would end Ralph.
    outgoing.once('response', resolve).on('error', reject)
  })
  // A server may refuse before it has read the whole request. If the client has gone, the request is destroyed.
  pipeline(request, outgoing).catch((error: Error) => outgoing.destroy(error))
  const answer = await responseArrived
  const passed = through(answer)
  response.writeHead(answer.statusCode ?? 502, withoutHopByHopHeaders(passed.headers))
  // Sent at once: the first event of a stream may take minutes.
  response.flushHeaders()
  await pipeline([answer, ...passed.streams, response])
}
