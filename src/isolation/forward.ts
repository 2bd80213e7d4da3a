// Hands one request on to a server, and its answer back as it comes. Whatever either side sends, only this request fails.
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

/** Of one connection, not of the message (RFC 9110, 7.6.1): Node throws where some of them do not fit the connection. */
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

/** Whoever opens more would take the files that the run needs: each may be two of them. */
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

/** What becomes of an answer: its headers, and the streams that its body goes through. */
export type PassedResponse = { headers: IncomingHttpHeaders; streams: readonly Duplex[] }

/** Rejects where no answer came, or not the whole of it. `through` gets the answer before the first of its bytes is read. */
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
  // Node frames no body of a GET by itself: as it is, it would be a request of its own, to whatever host it names.
  const framed = request.headers['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' }
  const outgoing = send(target, {
    method: request.method,
    headers: { ...headers, ...framed },
    signal: abort.signal,
  })
  const responseArrived = new Promise<IncomingMessage>((resolve, reject) => {
    // It may fail behind its answer, too: unheard that would end us.
    outgoing.once('response', resolve).on('error', reject)
  })
  // A server may refuse before it has read all; where the asker has gone, the request is destroyed and no answer comes.
  pipeline(request, outgoing).catch((error: Error) => outgoing.destroy(error))
  const answer = await responseArrived
  const passed = through(answer)
  response.writeHead(answer.statusCode ?? 502, withoutHopByHopHeaders(passed.headers))
  // A stream's first word is as long in coming as the rest: nothing waits for more.
  response.flushHeaders()
  await pipeline([answer, ...passed.streams, response])
}
