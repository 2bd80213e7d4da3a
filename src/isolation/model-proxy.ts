// The model's key stays with us: a proxy on loopback, owned by our user, puts it into the agent's requests and counts them.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { forward, listenOnLoopback, withoutHopByHopHeaders } from './forward.ts'
import { decodeResponse, keyCutter, withoutKey } from './key-cutter.ts'
import { createUsageMeter, type ModelUsage } from './usage-meter.ts'

export type ModelProxyOptions = {
  /** The vendor's server, with the path that stands before every other: the one place that the proxy speaks to. */
  upstream: URL
  /** The key that the vendor gave. */
  key: string
  /** Whether a session is at work: what it has for a key is worth nothing behind it. */
  isOpen?(): boolean
  /** Why a request failed, without anything of it. */
  warn(message: string): void
}

export type ModelProxy = AsyncDisposable & {
  /** Of loopback: the agent takes it for its vendor's server. */
  port: number
  /** What the agent takes for its key: worth nothing anywhere else, and nothing when the proxy is gone. */
  key: string
  /** What the vendor said that all requests so far used, also of a session that died before it could say so. */
  used(): ModelUsage
}

/** Where vendors look for a key: https://docs.anthropic.com/en/api/overview, https://ai.google.dev/api, https://platform.openai.com/docs/api-reference. */
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key']
/** An agent may go on asking a server that is not there. */
const MAX_WARNINGS = 20
/** Not TRACE: a server would answer with what it was sent, the key in it. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Listens on a free port of loopback until it is disposed. */
export async function openModelProxy(options: ModelProxyOptions): Promise<ModelProxy> {
  const key = `ralph-${randomBytes(24).toString('hex')}`
  const meter = createUsageMeter()
  let warned = 0
  const server = createServer((request, response) => {
    proxyRequest(request, response, { ...options, placeholder: key, meter }).catch((error: unknown) => {
      // The agent has gone: nothing failed.
      if (response.destroyed) return
      if (++warned <= MAX_WARNINGS)
        options.warn(`a request to the model failed: ${error instanceof Error ? error.message : 'unknown'}`)
      if (response.headersSent) response.destroy()
      else refuse(response, 502, 'the model could not be reached')
    })
  })
  // codex tries a web socket first: told at once that there is none, it asks by HTTP.
  server.on('upgrade', (_request, socket) => {
    socket.on('error', () => {})
    socket.end('HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
  })
  // A model may think for minutes before its first word.
  server.requestTimeout = 0
  return { ...(await listenOnLoopback(server)), key, used: meter.used }
}

type RequestContext = ModelProxyOptions & { placeholder: string; meter: ReturnType<typeof createUsageMeter> }

/** Hands a request on with the key in its headers. What comes back never holds the key: a vendor may repeat what it was sent. */
async function proxyRequest(
  request: IncomingMessage,
  response: ServerResponse,
  context: RequestContext,
): Promise<void> {
  if (!METHODS.includes(request.method ?? '')) return refuse(response, 405, 'this method is not passed on')
  const target = targetOf(request.url ?? '', context)
  const headers = headersFor(request.headers, context)
  if (target === null || headers === null) {
    // Whoever else finds the port has no business here.
    return refuse(response, 401, 'this is not the key that Ralph gave the agent')
  }
  if (context.isOpen?.() === false) return refuse(response, 403, 'no session of the agent is at work')
  await forward(request, response, target, headers, (answer) => {
    const { headers, decoders } = decodeResponse(answer, request.method === 'HEAD')
    const count = context.meter.response(String(headers['content-type'] ?? ''))
    const cutter = keyCutter(context.key, count.chunk)
    // Where the agent has gone, or was ended, what came is counted.
    cutter.once('close', count.end)
    return { headers: withoutKey(headers, context.key), streams: [...decoders, cutter] }
  })
}

/** The vendor's address for a path of ours, without a key; null where the path would lead elsewhere. */
function targetOf(path: string, { upstream, placeholder }: RequestContext): URL | null {
  if (!path.startsWith('/') || path.startsWith('//') || path.includes('\\')) return null
  const base = upstream.pathname.replace(/\/$/, '')
  const target = new URL(base + path, upstream.origin)
  const isBelow = target.pathname.startsWith(`${base}/`)
  if (target.origin !== upstream.origin || !isBelow) return null
  // Gemini's older way to give it. Addresses are repeated on error pages and kept in logs: the header alone has the key.
  for (const [name, value] of [...target.searchParams])
    if (value === placeholder) target.searchParams.delete(name, value)
  return target
}

/** Headers that belong to the agent's own connection with us, and those by which an answer would come in pieces of a key. */
const NOT_PASSED_ON = ['cookie', 'host', 'accept-encoding', 'range', 'if-range']

/** The headers with the key in the place of ours; null where ours is not in them. */
function headersFor(
  received: IncomingHttpHeaders,
  { placeholder, key, upstream }: RequestContext,
): Record<string, string | string[]> | null {
  let hasPlaceholder = false
  // What is counted must be readable.
  const headers: Record<string, string | string[]> = { host: upstream.host, 'accept-encoding': 'identity' }
  for (const [name, value] of Object.entries(withoutHopByHopHeaders(received))) {
    if (NOT_PASSED_ON.includes(name)) continue
    if (!KEY_HEADERS.includes(name)) {
      headers[name] = value
      continue
    }
    const [scheme, token] = /^(Bearer )?(.*)$/is.exec(String(value))?.slice(1) ?? []
    if (!isSame(token ?? '', placeholder)) continue
    hasPlaceholder = true
    headers[name] = `${scheme ?? ''}${key}`
  }
  return hasPlaceholder ? headers : null
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ error: { type: 'ralph_proxy', message } }))
}
