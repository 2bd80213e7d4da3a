// Runs one session of an agent: command line, stream, transcript, end.

import { randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { AgentEvent, Usage } from '../engine/model/agent-event.ts'
import type { Redactor } from '../isolation/redact.ts'
import { messageOf } from '../system/errors.ts'
import { type RunRequest, runUntrusted } from '../system/process.ts'
import { findProgram } from '../system/program.ts'
import { withoutControls } from '../system/workflow-commands.ts'
import { type AgentVendor, type CommandOptions, noUsage, type SessionResult } from './agent.ts'
import { atLeastMeasured, type MeasuredTokens, streamMeter } from './cost.ts'
import { transcriptHead } from './readable.ts'
import { lineWithoutKeys } from './session-end.ts'

/** `env` is the whole environment (untrusted-env.ts); the vendor's quiet variables are added. */
export type AgentRequest = Omit<RunRequest, 'file' | 'args' | 'stdin' | 'onLine' | 'lineLimit'> &
  Omit<CommandOptions, 'isRoot'> & {
    vendor: AgentVendor
    /** A command put before the agent, such as a sandbox; a piece of shell, so it may have arguments. */
    wrapper?: string | undefined
    prompt: string
    /** What the vendor's responses to this session took; left out if they do not go through Ralph's proxy. */
    measured?: { tokens(): MeasuredTokens | null; onChange(listener: () => void): Disposable }
    /** The cost of a usage, USD; null if unknown. Without it, the cost that the vendor reports counts. */
    costOf?: (usage: Usage) => number | null
    onEvent?: (event: AgentEvent) => void
    redactor: Redactor
    /** The file that gets every line of both streams, up to a limit. */
    transcriptPath?: string
  }

/** One line can be an event with a whole file that a tool wrote. */
const LINE_LIMIT = 8 * 1024 * 1024
/** The maximum number of UTF-16 units of a session that are shown. The transcript has more. */
const SHOWN_LIMIT = 4 * 1024 * 1024
/** The least that an event counts of that limit. */
const EVENT_SIZE = 100
/** UTF-16 units of an event's text that people are shown; twice as many are looked through for secrets. */
const TEXT_LIMIT = 4096

/** Runs a session to its end. Never rejects for anything that the agent does; every failure is a status. */
export async function runAgent(request: AgentRequest): Promise<SessionResult> {
  const { vendor, redactor, signal } = request
  const options = { ...request, isRoot: process.getuid?.() === 0 }
  const usageFile = usageFileOf(request)
  const parser = vendor.parser(Date.now)
  // A secret may span lines, such as a private key, and a cut may end within one. So each stream is redacted with its own memory.
  const [hideEvent, hideError] = [redactor.lines(), redactor.lines()]
  let shownLeft = SHOWN_LIMIT
  const emit = (event: AgentEvent): void => {
    const isTextOrTool = event.kind === 'text' || event.kind === 'tool'
    if (isTextOrTool && shownLeft <= 0) return
    request.onEvent?.(cleanEvent(event, request.cwd, hideEvent))
    if (!isTextOrTool) return
    shownLeft -= EVENT_SIZE + (event.kind === 'text' ? Math.min(event.text.length, TEXT_LIMIT) : 0)
    if (shownLeft <= 0) request.onEvent?.({ kind: 'text', text: '... the rest is not shown ...' })
  }
  const onError = (message: string) => emit({ kind: 'error', message: lineWithoutKeys(message) })
  const { transcriptPath: path } = request
  const transcript = path === undefined ? null : new Transcript(path, vendor.name, redactor, onError)
  const isCancelled = signal?.aborted === true
  const overBudget = new AbortController()
  const meter = streamMeter(request.prompt.length)
  let reported = noUsage()
  const checkBudget = () => {
    if (isOverBudget(request, reported)) overBudget.abort()
  }
  using _watch = request.measured?.onChange(checkBudget)
  const run = await runUntrusted({
    ...request,
    ...wrapCommand(request.wrapper, vendor.program, [...vendor.args(options), ...usageFile.args]),
    env: { ...request.env, ...vendor.variables?.(options) },
    stdin: request.prompt,
    signal: signal === undefined ? overBudget.signal : AbortSignal.any([signal, overBudget.signal]),
    lineLimit: LINE_LIMIT,
    onLine: (stream, line) => {
      transcript?.write(stream, line)
      // stdout is parsed before redaction: in a line of JSON a secret may cover more than one field.
      const events = parser.line(stream, stream === 'stderr' ? hideError(withoutControls(line)) : line)
      meter.line(stream === 'stdout' ? line.length : 0, events)
      for (const event of events) {
        if (event.kind === 'usage') {
          reported = event.usage
          checkBudget()
        }
        emit(event)
      }
    },
  })
  transcript?.close()

  const end = parser.end(run.exit)
  // If a person stops it at the same time, the stop is the result, which is not charged.
  if (overBudget.signal.aborted && run.exit.kind === 'aborted' && signal?.aborted !== true) {
    end.status = 'max-turns'
    end.message = 'Ralph ended the session, because it had used what was left of the limits'
  }
  // A missing program is reported as EACCES if a folder of the PATH cannot be read.
  const isMissing =
    run.exit.kind === 'not-started' &&
    (run.exit.reason === `spawn ${vendor.program} ENOENT` ||
      (run.exit.reason === `spawn ${vendor.program} EACCES` &&
        findProgram(vendor.program, request.env.PATH ?? '') === null))
  if (isMissing) {
    end.message = lineWithoutKeys(`${vendor.program} is not on your PATH. Install it: ${vendor.install}`)
  }
  const isStarted = end.status !== 'not-started' && !isCancelled
  return {
    ...end,
    message: redactor.lines()(end.message),
    usage: {
      ...end.usage,
      ...(await usageFile.read()),
      calls: isStarted ? 1 : 0,
      agentSeconds: isStarted ? run.ms / 1000 : 0,
    },
    estimate: meter.estimate,
    exitCode: run.exit.kind === 'exit' ? run.exit.code : null,
    ms: run.ms,
    output: run.output,
  }
}

function wrapCommand(wrapper: string | undefined, file: string, args: string[]) {
  const before = wrapper?.trim() ?? ''
  if (before === '') return { file, args }
  return { file: 'bash', args: ['--norc', '-c', `${before} "$@"`, 'agent-wrapper', file, ...args] }
}

function isOverBudget({ budget, costOf, measured }: AgentRequest, reported: Usage): boolean {
  if (budget === undefined) return false
  const { costUsd, tokens } = budget
  const usage = atLeastMeasured(reported, measured?.tokens() ?? null)
  const cost = costOf === undefined ? usage.costUsd : costOf(reported)
  if (costUsd !== null && (cost ?? 0) > costUsd) return true
  return tokens !== null && usage.inputTokens + usage.outputTokens > tokens
}

/** The maximum number of bytes that are read of a usage file, which usually has a few thousand. */
const USAGE_LIMIT = 1024 * 1024
const USAGE_TIMEOUT_MS = 10_000

/** The usage file of a vendor that reports usage only in a file: its arguments, and a reader. */
function usageFileOf({ vendor: { usageFile }, env, as }: AgentRequest) {
  if (usageFile === undefined) return { args: [], read: async () => ({}) }
  const path = join(env.TMPDIR ?? tmpdir(), `ralph-usage-${randomBytes(8).toString('hex')}.json`)
  return {
    args: usageFile.args(path),
    /** Reads the program's own file, which is untrusted, as the user that wrote it: it may be a link. */
    async read() {
      const script = `[ -f "$1" ] && head -c ${USAGE_LIMIT} -- "$1"`
      const { exit, output } = await runUntrusted({
        ...{ file: 'bash', args: ['--norc', '-c', script, 'usage', path], cwd: '/' },
        env: { PATH: '/usr/bin:/bin', SHLVL: '1' },
        ...{ timeoutMs: USAGE_TIMEOUT_MS, captureBytes: USAGE_LIMIT, as: as ?? null },
      })
      return exit.kind === 'exit' && exit.code === 0 ? (usageFile.read(output) ?? {}) : {}
    },
  }
}

/** An event for people: shortened, redacted, and with paths relative to the repository. */
function cleanEvent(event: AgentEvent, cwd: string, hide: (text: string) => string): AgentEvent {
  // Twice as long, so that no secret is cut in two before it is found.
  const cleanText = (text: string) =>
    hide(stripLineControls(text.slice(0, 2 * TEXT_LIMIT))).slice(0, TEXT_LIMIT)
  switch (event.kind) {
    case 'text':
      return { ...event, text: cleanText(event.text) }
    case 'tool':
      return { ...event, target: event.target === null ? null : hide(event.target.replaceAll(`${cwd}/`, '')) }
    case 'error':
      return { ...event, message: cleanText(event.message) }
    default:
      return event
  }
}

/** The maximum number of bytes of a transcript. */
const TRANSCRIPT_LIMIT = 64 * 1024 * 1024
/** The maximum number of UTF-16 units that are written at once. */
const FLUSH_SIZE = 64 * 1024

type Stream = 'stdout' | 'stderr'

/** Writes what a session prints, redacted, to a file on this machine. */
class Transcript {
  readonly #onError: (message: string) => void
  /** One redactor for each stream: a secret of several lines may have lines of the other stream in it. */
  readonly #hide: Record<Stream, (lines: string) => string>
  #file: number | null = null
  #left = TRANSCRIPT_LIMIT
  /** Lines of one stream that are not written yet; `#size` is their length in UTF-16 units. */
  #waiting: string[] = []
  #size = 0
  #from: Stream = 'stdout'

  /** A file that cannot be written is only reported. */
  constructor(path: string, agent: string, redactor: Redactor, onError: (message: string) => void) {
    this.#onError = onError
    this.#hide = { stdout: redactor.lines(), stderr: redactor.lines() }
    this.#try(() => {
      mkdirSync(dirname(path), { recursive: true })
      this.#file = openSync(path, 'w')
      writeFileSync(this.#file, `${transcriptHead(agent)}\n`)
    })
  }

  /** Lines are collected, then redacted and written together, because a session may print millions. */
  write(stream: Stream, line: string): void {
    if (this.#file === null || this.#left <= 0) return
    if (stream !== this.#from || this.#size > FLUSH_SIZE) this.#flush()
    this.#from = stream
    if (this.#waiting.length === 0) setImmediate(() => this.#flush())
    this.#waiting.push(stripLineControls(line))
    this.#size += line.length + 1
  }

  close(): void {
    this.#flush()
    const file = this.#file
    this.#file = null
    if (file !== null) this.#try(() => closeSync(file))
  }

  #flush(): void {
    const [file, lines] = [this.#file, this.#waiting]
    this.#waiting = []
    this.#size = 0
    if (file === null || lines.length === 0) return
    const text = `${this.#hide[this.#from](lines.join('\n'))}\n`
    this.#left -= Buffer.byteLength(text)
    this.#try(() => writeFileSync(file, this.#left > 0 ? text : '... the transcript is cut here ...\n'))
  }

  #try(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.#file = null
      this.#onError(`Ralph cannot write the transcript: ${messageOf(error)}`)
    }
  }
}

/** A control sequence in the middle of a key would hide it from the redactor. Lines of a flood come together. */
function stripLineControls(lines: string): string {
  return /[^\x20-\x7e\t\n]/.test(lines) ? lines.split('\n').map(withoutControls).join('\n') : lines
}
