// Whether a service can be used: by its URL, its port or a command; and whether something is there that should not be.
import { request as overHttp } from 'node:http'
import { request as overTls } from 'node:https'
import { connect, isIP } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Ready } from '../model/service.ts'
import { messageOf } from '../system/errors.ts'
import { holderOf } from '../system/port-holder.ts'
import { shellWord } from '../system/shell-word.ts'

/** Looks once, for at most so long: null where it is ready, else why it is not, in words. */
export type Look = (ms: number, signal: AbortSignal) => Promise<string | null>

/** The longest that one look waits for an answer: the first page of a development server is built when it is asked for. */
const LOOK_MS = 10_000
/** The last look takes its time, too. */
const LEAST_LOOK_MS = 1000
const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 500

/** `run`: the exit of a command in words, null for 0. A line of the log is nothing that can be looked for: null. */
export function lookFor(
  ready: Ready,
  run: (command: string, ...bounds: Parameters<Look>) => Promise<string | null>,
): Look | null {
  switch (ready.kind) {
    case 'url':
      return (...bounds) => anyOf(addressesOf(hostOf(ready.url)), (at) => answers(ready.url, at, ...bounds))
    case 'port':
      return (...bounds) => anyOf(addressesOf(ready.host), (at) => listens(at, ready.port, ...bounds))
    case 'command':
      return (...bounds) => run(ready.run, ...bounds)
    case 'log':
      return null
  }
}

/** The same by a command, for where our loopback is not that of the programs. */
export function fromInside(ready: Ready): Ready {
  if (ready.kind !== 'url' && ready.kind !== 'port') return ready
  const [host, port] =
    ready.kind === 'url' ? [hostOf(ready.url), portOf(ready.url)] : [ready.host, ready.port]
  const { protocol, pathname, search } =
    ready.kind === 'url' ? new URL(ready.url) : { protocol: '', pathname: '', search: '' }
  const request = `GET ${pathname}${search} HTTP/1.0\\r\\nHost: ${host}:${port}\\r\\n\\r\\n`
  const asks = `printf %b ${shellWord(request)} >&3 && read -r _ code _ <&3 && [ "$code" -lt 404 ]`
  const looks = addressesOf(host).map(
    (address) => `{ exec 3<>/dev/tcp/${address}/${port}; }${protocol === 'http:' ? ` && ${asks}` : ''}`,
  )
  return { kind: 'command', run: `exec 2>/dev/null; ${looks.map((one) => `(${one})`).join(' || ')}` }
}

/** Looks until it is ready (null), the time is over, or the signal aborts: then why it was not at last. */
export async function untilReady(look: Look, timeoutMs: number, signal: AbortSignal): Promise<string | null> {
  const end = performance.now() + timeoutMs
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const left = end - performance.now()
    const why = await look(Math.max(LEAST_LOOK_MS, Math.min(left, LOOK_MS)), signal)
    if (why === null || signal.aborted || left <= 0) return why
    await delay(Math.min(pause, left), undefined, { signal }).catch(() => {})
  }
}

/** Where it would be, when somebody listens there already; null where nobody does, or nothing is known of a port. */
export async function takenBy(ready: Ready): Promise<{ where: string; port: number } | null> {
  if (ready.kind !== 'url' && ready.kind !== 'port') return null
  const host = ready.kind === 'url' ? hostOf(ready.url) : ready.host
  const port = ready.kind === 'url' ? portOf(ready.url) : ready.port
  const taken = await anyOf(addressesOf(host), (address) => listens(address, port, LOOK_MS, NEVER))
  return taken === null ? { where: nameOf(ready), port } : null
}

const NEVER = new AbortController().signal

/** What is in the way. */
export function takenWords({ where, port }: { where: string; port: number }): string {
  const holder = holderOf(port)
  return `${where} answers already${holder === null ? '' : `: ${holder}`}`
}

/** As people call it. */
export function nameOf(ready: Ready): string {
  switch (ready.kind) {
    case 'url':
      return ready.url
    case 'port':
      return `port ${ready.port}${ready.host === 'localhost' ? '' : ` of ${ready.host}`}`
    case 'command':
      return ready.run
    case 'log':
      return `a line with ${ready.parts.join(' ... ')}`
  }
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '')
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url)
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

/** Programs listen on one loopback or on the other, as their library has it. */
function addressesOf(host: string): string[] {
  return /^localhost\.?$/i.test(host) ? ['127.0.0.1', '::1'] : [host]
}

/** Null as soon as one is; else the words of the one that says more than that nobody is there. */
async function anyOf(
  addresses: readonly string[],
  look: (address: string) => Promise<string | null>,
): Promise<string | null> {
  const whys: string[] = []
  const looks = addresses.map(async (address) => {
    const why = await look(address)
    if (why !== null) whys.push(why)
    if (why !== null) throw new Error(why)
  })
  const isReady = await Promise.any(looks).then(
    () => true,
    () => false,
  )
  return isReady ? null : (whys.find((why) => why !== NOBODY) ?? NOBODY)
}

const NOBODY = 'nobody listens there'

function sayError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  // Without IPv6 there is nobody on its loopback either.
  return code === 'ECONNREFUSED' || code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT'
    ? NOBODY
    : messageOf(error)
}

function listens(address: string, port: number, ...[ms, stop]: Parameters<Look>): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, signal: AbortSignal.any([stop, AbortSignal.timeout(ms)]) })
    socket.once('connect', () => resolve(null))
    socket.once('error', (error) => resolve(isLate(error) ? late(ms) : sayError(error)))
    socket.once('connect', () => socket.destroy())
  })
}

/** Ready is a page, a redirect, or a request that is not good enough; a server that does not know the page is not. */
function answers(url: string, address: string, ...[ms, stop]: Parameters<Look>): Promise<string | null> {
  const isLocal = address === '::1' || address.startsWith('127.')
  const target = new URL(url)
  return new Promise((resolve) => {
    const request = (target.protocol === 'https:' ? overTls : overHttp)(target, {
      agent: false,
      signal: AbortSignal.any([stop, AbortSignal.timeout(ms)]),
      // By the address, under the name that the URL says.
      lookup: (_name, _options, found) => found(null, [{ address, family: isIP(address) }]),
      ...(isIP(address) > 0 ? {} : { lookup: undefined }),
      // Its certificate is of its own making.
      ...(isLocal ? { rejectUnauthorized: false } : {}),
    })
    request.once('response', ({ statusCode = 0 }) => {
      request.destroy()
      resolve(statusCode < 404 ? null : `it answered ${statusCode}`)
    })
    request.once('error', (error) => resolve(isLate(error) ? late(ms) : sayError(error)))
    request.end()
  })
}

function isLate(error: Error): boolean {
  return error.name === 'AbortError' || error.name === 'TimeoutError'
}

function late(ms: number): string {
  return `no answer within ${Math.ceil(ms / 1000)} s`
}
