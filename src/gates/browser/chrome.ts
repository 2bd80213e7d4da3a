// Starts a Chromium as the gates' user, with an empty profile. It is controlled over a pipe, so that no other process can attach to
// it. It ends with the check, with every process that it started.
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { Connection } from 'puppeteer-core/internal/cdp/Connection.js'
import type { ConnectionTransport } from 'puppeteer-core/internal/common/ConnectionTransport.js'
import type { OtherUser } from '../../isolation/other-user.ts'
import { describeExit, newMark, openRunFolder, type RunResult, runUntrusted } from '../../system/process.ts'

export type ChromeOptions = {
  executable: string
  headless: boolean
  /** Hosts whose names it may look up; every other name fails. */
  hosts: readonly string[]
  env: Readonly<Record<string, string>>
  mark?: string
  as: OtherUser | null
  /** For the whole check, milliseconds. */
  timeoutMs: number
  signal: AbortSignal
}

export type Chrome = {
  connection: Connection
  transport: PipeTransport
  /** Resolves when the browser has ended, with the reason. */
  endReason: Promise<string>
  /** Rejects with ChromeGone when the browser has ended, or is cancelled; never resolves. */
  browserEnd: Promise<never>
} & AsyncDisposable

/** The browser has ended, or could not be started; the message gives the reason. */
export class ChromeGone extends Error {
  override name = 'ChromeGone'
}

/** For its first answer, milliseconds: it may start on a busy machine. */
const START_MS = 30_000
/** For any other answer, milliseconds. */
const ANSWER_MS = 10_000
/** From the request to close until it is killed, milliseconds. */
const END_MS = 1000
/** How much of its output is captured, to show why it ended. */
const OUTPUT_BYTES = 16 * 1024

/**
 * No dialogs that a person would have to answer, and no requests of the browser's own. WebRTC is limited to proxied connections,
 * because request interception does not see its packets; the two flags are its names in newer and older browsers.
 */
const FLAGS = `
  --remote-debugging-pipe --no-first-run --no-default-browser-check --no-pings --deny-permission-prompts
  --disable-background-networking --disable-breakpad --disable-client-side-phishing-detection
  --disable-component-update --disable-default-apps --disable-dev-shm-usage --disable-domain-reliability
  --disable-extensions
  --disable-features=AutofillServerCommunication,DialMediaRouteProvider,MediaRouter,OptimizationHints,Translate,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable
  --disable-gpu --disable-sync --force-color-profile=srgb
  --webrtc-ip-handling-policy=disable_non_proxied_udp
  --force-webrtc-ip-handling-policy=disable_non_proxied_udp --hide-scrollbars --metrics-recording-only
  --mute-audio --password-store=basic --use-mock-keychain
`
  .trim()
  .split(/\s+/)
/** Chromium speaks over descriptors 3 and 4, but sudo closes all above 2: they come as stdin and stdout, and bash moves them. */
const PIPE_SCRIPT = 'exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>&2'

/** Throws ChromeGone if it cannot be started. */
export async function openChrome(options: ChromeOptions): Promise<Chrome> {
  const isRoot = options.as === null && process.getuid?.() === 0
  // Chromium refuses to run as root with its sandbox, and cannot have one in most containers.
  if (!isRoot) {
    const chrome = await startChrome(options, []).catch((error: unknown) => {
      if (error instanceof ChromeGone && !options.signal.aborted) return null
      throw error
    })
    if (chrome !== null) return chrome
  }
  return startChrome(options, ['--no-sandbox'])
}

async function startChrome(options: ChromeOptions, more: readonly string[]): Promise<Chrome> {
  const { as, env, signal, timeoutMs, hosts } = options
  const profile = await (as === null ? openRunFolder(options.mark ?? newMark()) : as.openHome())
  const stop = new AbortController()
  const ended = AbortSignal.any([signal, stop.signal])
  let talk: (streams: [Writable, Readable]) => void = () => {}
  const started = new Promise<[Writable, Readable]>((resolve) => {
    talk = resolve
  })
  const resolverRules = [`MAP * ~NOTFOUND`, ...hosts.map((host) => `EXCLUDE ${host}`)].join(' , ')
  const { XDG_CONFIG_HOME: _config, XDG_CACHE_HOME: _cache, ...others } = env
  const ran = runUntrusted({
    file: 'bash',
    args: [
      ...['--noprofile', '--norc', '-c', PIPE_SCRIPT, options.executable, ...FLAGS, ...more],
      ...(options.headless ? ['--headless'] : []),
      `--host-resolver-rules=${resolverRules}`,
      `--user-data-dir=${join(profile.path, 'profile')}`,
      'about:blank',
    ],
    cwd: profile.path,
    // TMPDIR is relative because Chromium makes a socket there, and a socket's path may have only about 100 characters.
    env: { ...others, HOME: profile.path, TMPDIR: '.' },
    timeoutMs,
    signal: ended,
    captureBytes: OUTPUT_BYTES,
    ...(options.mark === undefined ? {} : { mark: options.mark }),
    as,
    dialogue: (to, from) => talk([to, from]),
  }).finally(() => profile[Symbol.asyncDispose]())
  const endReason = ran.then(describeEnd)
  const streams = await Promise.race([started, endReason])
  if (typeof streams === 'string') throw new ChromeGone(streams)
  const transport = new PipeTransport(...streams)
  const connection = new Connection('', transport, 0, ANSWER_MS)
  const browserEnd = Promise.race([endReason, cancelled(ended)]).then((why) => {
    throw new ChromeGone(why)
  })
  // Calls that still wait for an answer fail at once.
  browserEnd.catch(() => connection.dispose())
  const end = async () => {
    const closed = connection.send('Browser.close').catch(() => {})
    await Promise.race([closed.then(() => endReason), delay(END_MS)])
    stop.abort()
    await ran
  }
  const first = connection.send('Browser.getVersion', undefined, { timeout: START_MS })
  const isThere = await first.then(
    () => true,
    () => false,
  )
  if (isThere) return { connection, transport, endReason, browserEnd, [Symbol.asyncDispose]: end }
  stop.abort()
  throw new ChromeGone(await endReason)
}

async function cancelled(signal: AbortSignal): Promise<string> {
  if (!signal.aborted) await once(signal, 'abort')
  return 'the browser was stopped'
}

/** The reason on one line, and below it the last lines of the browser's output. */
function describeEnd({ exit, output }: RunResult): string {
  // Chromium complains about a missing desktop (D-Bus), which is not why it ends.
  const lastLines = output.split('\n').filter((line) => line.trim() !== '' && !/dbus|to the bus/i.test(line))
  return [
    `the browser ${describeExit(exit)}`,
    ...lastLines.slice(-3).map((line) => `  ${line.slice(0, 300)}`),
  ].join('\n')
}

/** A larger message is dropped: no answer to a call of ours is as large. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024
/** Events that a page can send without end: at most `left` of them are read. */
const CONSOLE = /^\{"method":"(?:Runtime\.consoleAPICalled|Runtime\.exceptionThrown|Log\.entryAdded)"/
/** Console messages that are not errors: they are only counted. */
const NOISE = /^\{"method":"Runtime\.consoleAPICalled","params":\{"type":"(?!error"|assert")/

/** Messages of the DevTools protocol over a pipe, each ended by a NUL. Limits how many console events a page can send, and how large. */
class PipeTransport implements ConnectionTransport {
  onmessage?: (message: string) => void
  onclose?: () => void
  /** Console events: `noise` counts those that are not errors, `left` is how many more may be read, `lost` counts those that were dropped. */
  readonly console = { noise: 0, left: 0, lost: 0 }
  readonly #to: Writable
  #chunks: Buffer[] = []
  #bytes = 0

  constructor(to: Writable, from: Readable) {
    this.#to = to
    from.on('data', (chunk: Buffer) => this.#take(chunk))
    // Errors of the pipes are ignored: the program's end is what disposes of the connection.
    from.on('error', () => {})
    to.on('error', () => {})
  }

  send(message: string): void {
    this.#to.write(`${message}\0`)
  }

  close(): void {
    this.onclose?.()
  }

  #take(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      this.#keep(chunk.subarray(start, end))
      this.#deliver()
      start = end + 1
    }
    this.#keep(chunk.subarray(start))
  }

  #keep(piece: Buffer): void {
    this.#bytes += piece.length
    // Of a message that is too large only the first chunk is kept: it shows which event it was.
    if (this.#bytes > MAX_MESSAGE_BYTES) this.#chunks.length = Math.min(this.#chunks.length, 1)
    else if (piece.length > 0) this.#chunks.push(piece)
  }

  #deliver(): void {
    const isWhole = this.#bytes <= MAX_MESSAGE_BYTES
    const chunks = this.#chunks
    this.#chunks = []
    this.#bytes = 0
    const head = chunks[0]?.toString('latin1', 0, 100) ?? ''
    if (NOISE.test(head)) this.console.noise += 1
    else if (!isWhole || (CONSOLE.test(head) && this.console.left-- <= 0)) this.console.lost += 1
    else this.#dispatch(Buffer.concat(chunks).toString('utf8'))
  }

  /** A message that cannot be read is ignored: the browser must not be able to make this program fail. */
  #dispatch(message: string): void {
    Promise.resolve(message)
      .then((text) => this.onmessage?.(text))
      .catch(() => {})
  }
}
