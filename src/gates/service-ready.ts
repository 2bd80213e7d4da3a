// Checks whether a service is ready, by its URL, its port or a command, and whether another program already uses its port.
import { once } from 'node:events'
import { request as overHttp } from 'node:http'
import { request as overTls } from 'node:https'
import { connect, isIP } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { describeReady, PORT_TAKEN, type Ready } from '../engine/model/service.ts'
import { messageOf } from '../system/errors.ts'
import { findPortHolder } from '../system/process-table.ts'
import { shellWord } from '../system/shell-word.ts'

/** Checks once, for at most `ms`: null if it is ready, else why it is not. */
export type ReadyCheck = (ms: number, signal: AbortSignal) => Promise<string | null>

/** The longest wait for one answer: a development server builds a page at the first request. */
const CHECK_MS = 10_000
/** The least wait, also for the last check. */
const MIN_CHECK_MS = 1000
const FIRST_PAUSE_MS = 20
const MAX_PAUSE_MS = 500
const NOT_LISTENING = 'no program listens there'

/** `run` runs a command and returns its exit as text, or null for 0. Null for a log line, which cannot be checked on demand. */
export function createReadyCheck(
  ready: Ready,
  run: (command: string, ...bounds: Parameters<ReadyCheck>) => Promise<string | null>,
): ReadyCheck | null {
  if (ready.kind === 'log') return null
  if (ready.kind === 'command') return (...bounds) => run(ready.run, ...bounds)
  const { addresses, port, url } = parseAddress(ready)
  return (...bounds) =>
    firstReady(addresses, (at) =>
      url === null ? checkPort(at, port, ...bounds) : checkUrl(url, at, ...bounds),
    )
}

/** The same check as a command, for programs that have their own loopback. */
export function asCommand(ready: Ready): Ready {
  if (ready.kind !== 'url' && ready.kind !== 'port') return ready
  const { host, addresses, port, url } = parseAddress(ready)
  const request = `GET ${url?.pathname}${url?.search} HTTP/1.0\\r\\nHost: ${host}:${port}\\r\\n\\r\\n`
  const asks = `printf %b ${shellWord(request)} >&3 && read -r _ code _ <&3 && [ "$code" -lt 404 ]`
  const checks = addresses.map(
    (at) => `({ exec 3<>/dev/tcp/${at}/${port}; }${url?.protocol === 'http:' ? ` && ${asks}` : ''})`,
  )
  return { kind: 'command', run: `exec 2>/dev/null; ${checks.join(' || ')}` }
}

/** Checks until the service is ready (null), the time is over or the signal aborts; then gives the last reason. */
export async function waitUntilReady(
  look: ReadyCheck,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string | null> {
  const end = performance.now() + timeoutMs
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    const left = end - performance.now()
    const why = await look(Math.max(MIN_CHECK_MS, Math.min(left, CHECK_MS)), signal)
    if (why === null || signal.aborted || left <= 0) return why
    await delay(Math.min(pause, left), undefined, { signal }).catch(() => {})
  }
}

/** The service's address if a program already listens there; null if none does, or no port is known. */
export async function findTakenPort(ready: Ready): Promise<{ where: string; port: number } | null> {
  if (ready.kind !== 'url' && ready.kind !== 'port') return null
  const { addresses, port } = parseAddress(ready)
  const taken = await firstReady(addresses, (at) => checkPort(at, port, CHECK_MS, NEVER))
  return taken === null ? { where: describeReady(ready), port } : null
}

const NEVER = new AbortController().signal

/** Names the program that uses the port. */
export function formatTakenPort({ where, port }: { where: string; port: number }): string {
  const holder = findPortHolder(port)
  return `${where} ${PORT_TAKEN}${holder === null ? '' : `: ${holder}`}`
}

type ServiceAddress = { host: string; addresses: string[]; port: number; url: URL | null }

function parseAddress(ready: Extract<Ready, { kind: 'url' | 'port' }>): ServiceAddress {
  const url = ready.kind === 'url' ? new URL(ready.url) : null
  const host = ready.kind === 'port' ? ready.host : (url?.hostname ?? '').replace(/^\[|\]$/g, '')
  const usual = url?.protocol === 'https:' ? 443 : 80
  const port = ready.kind === 'port' ? ready.port : Number(url?.port || usual)
  // A program may listen on the IPv4 or on the IPv6 loopback only, depending on its libraries.
  const addresses = /^localhost\.?$/i.test(host) ? ['127.0.0.1', '::1'] : [host]
  return { host, addresses, port, url }
}

/** Null as soon as one address is ready; else the most informative reason. */
async function firstReady(
  addresses: readonly string[],
  look: (address: string) => Promise<string | null>,
): Promise<string | null> {
  const looks = addresses.map(async (address) => {
    const why = await look(address)
    if (why !== null) throw new Error(why)
  })
  return Promise.any(looks).then(
    () => null,
    ({ errors }: AggregateError) =>
      errors.map(messageOf).find((why) => why !== NOT_LISTENING) ?? NOT_LISTENING,
  )
}

async function checkPort(
  address: string,
  port: number,
  ...[ms, stop]: Parameters<ReadyCheck>
): Promise<string | null> {
  const socket = connect({ host: address, port, signal: AbortSignal.any([stop, AbortSignal.timeout(ms)]) })
  try {
    await once(socket, 'connect')
    return null
  } catch (error) {
    return formatError(error, ms)
  } finally {
    socket.destroy()
  }
}

/** Ready is any status below 404: a page, a redirect, or a refused request such as 401. A 404 or a server error is not. */
async function checkUrl(
  url: URL,
  address: string,
  ...[ms, stop]: Parameters<ReadyCheck>
): Promise<string | null> {
  const isLocal = address === '::1' || address.startsWith('127.')
  const request = (url.protocol === 'https:' ? overTls : overHttp)(url, {
    agent: false,
    signal: AbortSignal.any([stop, AbortSignal.timeout(ms)]),
    // Connects to this address, with the host name of the URL in the request.
    lookup: (_name, _options, found) => found(null, [{ address, family: isIP(address) }]),
    ...(isIP(address) > 0 ? {} : { lookup: undefined }),
    // A local server usually has a self-signed certificate.
    ...(isLocal ? { rejectUnauthorized: false } : {}),
  })
  // An error may also come after the response, because the server may send anything.
  request.on('error', () => {}).end()
  try {
    const [{ statusCode }] = await once(request, 'response')
    return statusCode < 404 ? null : `it answered ${statusCode}`
  } catch (error) {
    return formatError(error, ms)
  } finally {
    request.destroy()
  }
}

/** `ms`: how long an answer was waited for. */
function formatError(error: unknown, ms: number): string {
  if (error instanceof Error && /^(?:Abort|Timeout)Error$/.test(error.name))
    return `no answer within ${Math.ceil(ms / 1000)} s`
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  // Without IPv6, nothing listens on its loopback either.
  const isRefused = code === 'ECONNREFUSED' || code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT'
  return isRefused ? NOT_LISTENING : messageOf(error)
}
