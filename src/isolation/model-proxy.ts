// Keeps the model's key from the agent: a proxy on loopback puts it into the agent's requests, and counts what they use.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { forward, listenOnLoopback, withoutHopByHopHeaders } from './forward.ts'
import { decodeResponse, keyCutter, withoutKey } from './key-cutter.ts'
import { createUsageMeter, type ModelUsage, type UsageMeter } from './usage-meter.ts'

export type ModelProxyOptions = {
  /** The vendor's server with its base path: the only one that the proxy connects to. */
  upstream: URL
  /** The key that the vendor gave, or what gives the one that is valid now. */
  key: string | (() => Promise<string>)
  /** What the agent's program takes for the beginning of a key. */
  keyStart?: string
  /** Further headers of a request, by those that the agent sent. */
  headers?(sent: IncomingHttpHeaders): Record<string, string>
  /** Whether a session runs: at other times the placeholder key is refused. */
  isOpen?(): boolean
  /** Gets why a request failed, without any of its content. */
  warn(message: string): void
}

export type ModelProxy = AsyncDisposable & {
  /** On loopback; the agent uses it as its vendor's server. */
  port: number
  /** The placeholder that the agent uses as its key: of no use anywhere else, or without the proxy. */
  key: string
  /** What all requests so far used by the vendor's responses, also those of a session that died. */
  used(): ModelUsage
  /** Calls the listener after each response, until it is disposed. */
  onChange: UsageMeter['onChange']
}

/**
 * The places in which vendors look for a key: https://docs.anthropic.com/en/api/overview, https://ai.google.dev/api,
 * https://platform.openai.com/docs/api-reference.
 */
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key']
/** An agent may repeat its requests to a missing server for ever. */
const MAX_WARNINGS = 20
/** Without TRACE: a server would answer with the request, and the key in it. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Listens on a free port of loopback until it is disposed. */
export async function openModelProxy(options: ModelProxyOptions): Promise<ModelProxy> {
  const key = `${options.keyStart ?? 'ralph-'}${randomBytes(24).toString('hex')}`
  const meter = createUsageMeter()
  let warned = 0
  const server = createServer((request, response) => {
    proxyRequest(request, response, { ...options, placeholder: key, meter }).catch((error: unknown) => {
      // The agent has closed the connection: no failure.
      if (response.destroyed) return
      if (++warned <= MAX_WARNINGS)
        options.warn(`a request to the model failed: ${error instanceof Error ? error.message : 'unknown'}`)
      if (response.headersSent) response.destroy()
      else refuse(response, 502, "Ralph's proxy could not reach the model")
    })
  })
  // codex tries a web socket first, and falls back to HTTP after this answer.
  server.on('upgrade', (_request, socket) => {
    socket.on('error', () => {})
    socket.end('HTTP/1.1 426 Upgrade Required\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
  })
  // A model may think for minutes before its first word.
  server.requestTimeout = 0
  return { ...(await listenOnLoopback(server)), key, used: meter.used, onChange: meter.onChange }
}

type RequestContext = ModelProxyOptions & { placeholder: string; meter: UsageMeter }

/** Forwards a request with the key in its headers, and masks the key in the response. */
async function proxyRequest(
  request: IncomingMessage,
  response: ServerResponse,
  context: RequestContext,
): Promise<void> {
  if (!METHODS.includes(request.method ?? ''))
    return refuse(response, 405, "Ralph's proxy does not pass on this method")
  const target = targetOf(request.url ?? '', context)
  if (target === null || !hasPlaceholder(request.headers, context)) {
    // Another program on the machine may have found the port.
    return refuse(response, 401, 'this is not the key that Ralph gave the agent')
  }
  if (context.isOpen?.() === false) return refuse(response, 403, 'no session of the agent is running')
  const key = typeof context.key === 'string' ? context.key : await context.key()
  const headers = headersFor(request.headers, key, context)
  await forward(request, response, target, headers, (answer) => {
    const { headers, decoders } = decodeResponse(answer, request.method === 'HEAD')
    const requestBytes = Number(request.headers['content-length'] ?? 0) || 0
    const count = context.meter.response(String(headers['content-type'] ?? ''), requestBytes)
    const cutter = keyCutter(key, count.chunk)
    // Also if the agent has gone or was ended: what arrived is counted.
    cutter.once('close', count.end)
    return { headers: withoutKey(headers, key), streams: [...decoders, cutter] }
  })
}

/** The vendor's URL for a requested path, without a key; null if the path would lead to another server or base path. */
function targetOf(path: string, { upstream, placeholder }: RequestContext): URL | null {
  if (!path.startsWith('/') || path.startsWith('//') || path.includes('\\')) return null
  const base = upstream.pathname.replace(/\/$/, '')
  const target = new URL(base + path, upstream.origin)
  const isBelow = target.pathname.startsWith(`${base}/`)
  if (target.origin !== upstream.origin || !isBelow) return null
  // Gemini also accepts the key in the URL. URLs appear on error pages and in logs, so the key is sent in the header only.
  for (const [name, value] of [...target.searchParams])
    if (value === placeholder) target.searchParams.delete(name, value)
  return target
}

/** Headers of the agent's connection to the proxy, and those that would split a key over several responses. */
const NOT_PASSED_ON = ['cookie', 'host', 'accept-encoding', 'range', 'if-range']

/** Whether one of the headers for a key has the placeholder. */
function hasPlaceholder(received: IncomingHttpHeaders, { placeholder }: RequestContext): boolean {
  return KEY_HEADERS.some((name) => isSame(tokenIn(received[name]).token, placeholder))
}

function tokenIn(value: string | string[] | undefined): { scheme: string; token: string } {
  const [scheme = '', token = ''] = /^(Bearer )?(.*)$/is.exec(String(value ?? ''))?.slice(1) ?? []
  return { scheme, token }
}

/** The headers with the key instead of the placeholder. */
function headersFor(
  received: IncomingHttpHeaders,
  key: string,
  { placeholder, upstream, headers: further }: RequestContext,
): Record<string, string | string[]> {
  // Usage can only be read from uncompressed responses.
  const headers: Record<string, string | string[]> = { host: upstream.host, 'accept-encoding': 'identity' }
  for (const [name, value] of Object.entries(withoutHopByHopHeaders(received))) {
    if (NOT_PASSED_ON.includes(name)) continue
    if (!KEY_HEADERS.includes(name)) {
      headers[name] = value
      continue
    }
    const { scheme, token } = tokenIn(received[name])
    if (isSame(token, placeholder)) headers[name] = `${scheme}${key}`
  }
  return { ...headers, ...further?.(received) }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ error: { type: 'ralph_proxy', message } }))
}
