// A Chromium of our own, started as the gates' user with an empty profile, that is spoken to over a pipe: no other process
// can attach to it. It ends with the check, with every process that it started.
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
  /** Hosts whose names are looked up; every other is as if it did not exist. */
  hosts: readonly string[]
  env: Readonly<Record<string, string>>
  mark?: string
  as: OtherUser | null
  /** For all that is done with it, milliseconds. */
  timeoutMs: number
  signal: AbortSignal
}

export type Chrome = {
  connection: Connection
  transport: PipeTransport
  /** Why it is not there any more; it comes when it has ended. */
  gone: Promise<string>
  /** Rejects when it has ended, or is cancelled: nothing is to be waited for any more. */
  over: Promise<never>
} & AsyncDisposable

/** It has ended, or never began; the message says why. */
export class ChromeGone extends Error {
  override name = 'ChromeGone'
}

/** For its first answer, milliseconds: a machine may start many programs. */
const START_MS = 30_000
/** For any other. */
const ANSWER_MS = 10_000
/** From the word to end until it is ended. */
const END_MS = 1000
/** Its own words, to say why it ended. */
const OUTPUT_BYTES = 16 * 1024

/**
 * Its profile, and what it may do: nothing that a person would have to answer, and nothing on its own account. WebRTC, whose
 * packets no request stands for, by the names that its switch has in newer and in older browsers.
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
/** Its pipes are descriptors 3 and 4; sudo closes all but three, so that they come as stdin and stdout. */
const PIPED = 'exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>&2'

/** Throws ChromeGone where it cannot be started. */
export async function openChrome(options: ChromeOptions): Promise<Chrome> {
  const isRoot = options.as === null && process.getuid?.() === 0
  // Chromium refuses to run as root with its sandbox, and cannot have one in most containers.
  if (!isRoot) {
    const chrome = await start(options, []).catch((error: unknown) => {
      if (error instanceof ChromeGone && !options.signal.aborted) return null
      throw error
    })
    if (chrome !== null) return chrome
  }
  return start(options, ['--no-sandbox'])
}

async function start(options: ChromeOptions, more: readonly string[]): Promise<Chrome> {
  const { as, env, signal, timeoutMs, hosts } = options
  const profile = await (as === null ? openRunFolder(options.mark ?? newMark()) : as.openHome())
  const stop = new AbortController()
  const ended = AbortSignal.any([signal, stop.signal])
  let talk: (streams: [Writable, Readable]) => void = () => {}
  const started = new Promise<[Writable, Readable]>((resolve) => {
    talk = resolve
  })
  const only = [`MAP * ~NOTFOUND`, ...hosts.map((host) => `EXCLUDE ${host}`)].join(' , ')
  const { XDG_CONFIG_HOME: _config, XDG_CACHE_HOME: _cache, ...others } = env
  const ran = runUntrusted({
    file: 'bash',
    args: [
      ...['--noprofile', '--norc', '-c', PIPED, options.executable, ...FLAGS, ...more],
      ...(options.headless ? ['--headless'] : []),
      `--host-resolver-rules=${only}`,
      `--user-data-dir=${join(profile.path, 'profile')}`,
      'about:blank',
    ],
    cwd: profile.path,
    // By a short name: it has a socket there, whose whole path may have no more than about 100 characters.
    env: { ...others, HOME: profile.path, TMPDIR: '.' },
    timeoutMs,
    signal: ended,
    captureBytes: OUTPUT_BYTES,
    ...(options.mark === undefined ? {} : { mark: options.mark }),
    as,
    talk: (to, from) => talk([to, from]),
  }).finally(() => profile[Symbol.asyncDispose]())
  const gone = ran.then(whyGone)
  const streams = await Promise.race([started, gone])
  if (typeof streams === 'string') throw new ChromeGone(streams)
  const transport = new PipeTransport(...streams)
  const connection = new Connection('', transport, 0, ANSWER_MS)
  const over = Promise.race([gone, aborted(ended)]).then((why) => {
    throw new ChromeGone(why)
  })
  // Whatever is still asked fails at once.
  over.catch(() => connection.dispose())
  const end = async () => {
    const closed = connection.send('Browser.close').catch(() => {})
    await Promise.race([closed.then(() => gone), delay(END_MS)])
    stop.abort()
    await ran
  }
  const first = connection.send('Browser.getVersion', undefined, { timeout: START_MS })
  const isThere = await first.then(
    () => true,
    () => false,
  )
  if (isThere) return { connection, transport, gone, over, [Symbol.asyncDispose]: end }
  stop.abort()
  throw new ChromeGone(await gone)
}

async function aborted(signal: AbortSignal): Promise<string> {
  if (!signal.aborted) await once(signal, 'abort')
  return 'the browser was cancelled'
}

/** Why, on one line, and below it what it said last. */
function whyGone({ exit, output }: RunResult): string {
  // It looks for a desktop, and goes on without one.
  const said = output.split('\n').filter((line) => line.trim() !== '' && !/dbus|to the bus/i.test(line))
  return [
    `the browser ${describeExit(exit)}`,
    ...said.slice(-3).map((line) => `  ${line.slice(0, 300)}`),
  ].join('\n')
}

/** A larger one is dropped: no answer that we ask for is. */
const MOST_BYTES = 8 * 1024 * 1024
/** Events that a page can send without end, and that are not looked at. */
const CONSOLE = /^\{"method":"(?:Runtime\.consoleAPICalled|Runtime\.exceptionThrown|Log\.entryAdded)"/
const NOISE = /^\{"method":"Runtime\.consoleAPICalled","params":\{"type":"(?!error"|assert")/

/** Messages of the DevTools protocol over a pipe, each ended by a NUL; what a page can make of them is bounded. */
class PipeTransport implements ConnectionTransport {
  onmessage?: (message: string) => void
  onclose?: () => void
  /** What came of the console; of those that could be errors only so many are heard as are `left`, and none that is too large. */
  readonly console = { noise: 0, left: 0, lost: 0 }
  readonly #to: Writable
  #chunks: Buffer[] = []
  #bytes = 0

  constructor(to: Writable, from: Readable) {
    this.#to = to
    from.on('data', (chunk: Buffer) => this.#take(chunk))
    // Who hears of the program's end closes us.
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
    // The first one tells what it is.
    if (this.#bytes > MOST_BYTES) this.#chunks.length = Math.min(this.#chunks.length, 1)
    else if (piece.length > 0) this.#chunks.push(piece)
  }

  #deliver(): void {
    const isWhole = this.#bytes <= MOST_BYTES
    const chunks = this.#chunks
    this.#chunks = []
    this.#bytes = 0
    const head = chunks[0]?.toString('latin1', 0, 100) ?? ''
    if (NOISE.test(head)) this.console.noise += 1
    else if (!isWhole || (CONSOLE.test(head) && this.console.left-- <= 0)) this.console.lost += 1
    else this.#hand(Buffer.concat(chunks).toString('utf8'))
  }

  /** A message that cannot be read is ignored: a browser must not be able to end another session. */
  #hand(message: string): void {
    Promise.resolve(message)
      .then((text) => this.onmessage?.(text))
      .catch(() => {})
  }
}
