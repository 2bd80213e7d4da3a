// Runs one session of an agent: command line, stream, transcript, end.

import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { messageOf } from '../system/errors.ts'
import type { OtherUser } from '../system/other-user.ts'
import { type Exit, runUntrusted } from '../system/process.ts'
import { findProgram } from '../system/program.ts'
import type { Redactor } from '../system/redact.ts'
import { secretsIn } from '../system/untrusted-env.ts'
import { withoutControls } from '../system/workflow-commands.ts'
import type { AgentEvent, AgentVendor, SessionResult, Usage } from './agent.ts'
import { streamMeter } from './cost.ts'
import { oneLine } from './ending.ts'

export type Budget = { costUsd: number | null; tokens: number | null }

export type AgentRequest = {
  vendor: AgentVendor
  /** The command line of a custom agent, run by `bash -c`. */
  commandLine?: string
  /** A command put before the agent, such as a sandbox; a piece of shell, so it may have arguments. */
  wrapper?: string
  extraArgs: readonly string[]
  model?: string
  prompt: string
  cwd: string
  /** The whole environment (untrusted-env.ts); the vendor's quiet variables are added. */
  env: Readonly<Record<string, string>>
  timeoutMs: number
  idleTimeoutMs?: number
  /** What the session may use, null without a bound: when its stream says that it is passed, the session is ended. */
  budget?: Budget
  /** What a usage costs, USD; null where nobody knows. Without it the vendor's own word counts. */
  costOf?: (usage: Usage) => number | null
  signal?: AbortSignal
  onEvent?: (event: AgentEvent) => void
  /** Takes secrets out of what is told and kept: events and transcript. */
  redactor: Redactor
  /** Every line of both streams goes there, at most 64 MB; a file that cannot be written is only reported. */
  transcriptPath?: string
  captureBytes: number
  /** See RunRequest. */
  mark?: string
  /** See RunRequest. */
  as?: OtherUser | null
}

export type Availability =
  | { ok: true; version: string }
  /** `isSlow`: it is there, and nothing is known against it. */
  | ({ ok: false; isSlow: boolean } & Unready)

/** Why an agent cannot work, and what to do. */
export type Unready = { reason: string; fix: string }

const TRANSCRIPT_LIMIT = 64 * 1024 * 1024
/** A program of a megabyte of JavaScript takes its time on a busy machine. */
const VERSION_TIMEOUT_MS = 2 * 60_000
/** A file that a tool wrote stands in an event of one line. */
const LINE_LIMIT = 32 * 1024 * 1024

/** Runs a session to its end. Never rejects for anything that the agent does; every failure is a status. */
export async function runAgent(request: AgentRequest): Promise<SessionResult> {
  const { vendor } = request
  const command = vendor.command({
    env: request.env,
    extraArgs: request.extraArgs,
    root: process.getuid?.() === 0,
    ...(request.commandLine === undefined ? {} : { commandLine: request.commandLine }),
    ...(request.model === undefined ? {} : { model: request.model }),
  })
  const onStdin = command.promptChannel === 'stdin'
  await using used = await openUsageFile(vendor, request.as ?? null)
  const args = [...command.args, ...used.args, ...(onStdin ? [] : [request.prompt])]
  const parser = vendor.parser(Date.now)
  // A private key comes line by line, and what is cut ends within a secret: each hides what another line may complete.
  const [told, errors] = [request.redactor.lines(), request.redactor.lines()]
  const tell = (event: AgentEvent): void => request.onEvent?.(shown(event, request.cwd, told))
  const transcript = openTranscript(request.transcriptPath, request.redactor, tell)

  const cancelled = request.signal?.aborted === true
  const spent = new AbortController()
  const meter = streamMeter(request.prompt.length)
  const run = await runUntrusted({
    ...wrapped(request.wrapper, vendor.program, args),
    cwd: request.cwd,
    env: { ...request.env, ...command.env },
    timeoutMs: request.timeoutMs,
    captureBytes: request.captureBytes,
    ...(onStdin ? { stdin: request.prompt } : {}),
    ...(request.idleTimeoutMs === undefined ? {} : { idleTimeoutMs: request.idleTimeoutMs }),
    signal: request.signal === undefined ? spent.signal : AbortSignal.any([request.signal, spent.signal]),
    ...(request.mark === undefined ? {} : { mark: request.mark }),
    as: request.as ?? null,
    lineLimit: LINE_LIMIT,
    onLine: (stream, line) => {
      // A control sequence in the middle of a key would hide it from the redactor.
      const plain = withoutControls(line)
      transcript.write(stream, plain)
      // stdout is parsed as it is: in a line of JSON a secret may cover more than one field.
      const events = parser.line(stream, stream === 'stderr' ? errors(plain) : line)
      meter.line(stream === 'stdout' ? line.length : 0, events)
      for (const event of events) {
        if (event.kind === 'usage' && isBeyond(request, event.usage)) spent.abort()
        tell(event)
      }
    },
  })
  transcript.close()

  const end = parser.end(run.exit)
  // A person who stops it at the same time comes first: that is not charged.
  if (spent.signal.aborted && run.exit.kind === 'aborted' && request.signal?.aborted !== true) {
    end.status = 'max-turns'
    end.message = 'it was ended: it had used all that the run may still spend'
  }
  const started = end.status !== 'not-started' && !cancelled
  const hidden = secretsIn(request.env)
  return {
    ...end,
    message: withInstall(request.redactor.lines()(hide(end.message, hidden)), run.exit, vendor),
    usage: {
      ...end.usage,
      ...(await used.read()),
      calls: started ? 1 : 0,
      agentSeconds: started ? run.ms / 1000 : 0,
    },
    seen: meter.seen,
    exitCode: run.exit.kind === 'exit' ? run.exit.code : null,
    ms: run.ms,
    output: run.output,
  }
}

export type AvailableOptions = { as?: OtherUser | null; signal?: AbortSignal; timeoutMs?: number }

/**
 * Whether the agent's program can be started: looked up in `env.PATH`, then asked for its version (within 2 minutes).
 * Gives the version, or the reason and the mend.
 */
export async function available(
  vendor: AgentVendor,
  env: Readonly<Record<string, string>>,
  { as = null, signal, timeoutMs = VERSION_TIMEOUT_MS }: AvailableOptions = {},
): Promise<Availability> {
  const missing = (reason: string): Availability => ({
    ok: false,
    isSlow: false,
    ...unready(vendor, reason),
  })
  const file = findProgram(vendor.program, env.PATH ?? '')
  if (file === null) return missing(notFound(vendor))
  const run = await runUntrusted({
    file,
    args: ['--version'],
    cwd: dirname(file),
    env,
    as,
    timeoutMs,
    captureBytes: 4096,
    ...(signal === undefined ? {} : { signal }),
  })
  const said = run.output.trim()
  if (run.exit.kind === 'exit' && run.exit.code === 0) {
    const version = /\d+\.\d+[\w.+-]*/.exec(said)
    return { ok: true, version: version?.[0] ?? oneLine(said.split('\n')[0] ?? '') }
  }
  if (run.exit.kind === 'timeout') {
    const reason = `${vendor.program} is there, but did not say its version within ${timeoutMs / 1000} seconds`
    return { ok: false, isSlow: true, reason, fix: 'run again when the machine is less busy' }
  }
  return missing(`${vendor.program} --version ${sayExit(run.exit)}${said === '' ? '' : `: ${said}`}`)
}

/** Why the agent's program cannot be started, as far as can be said without starting it; null where it is there. */
export function missingProgram(vendor: AgentVendor, path: string): Unready | null {
  return findProgram(vendor.program, path) === null ? unready(vendor, notFound(vendor)) : null
}

const notFound = ({ program }: AgentVendor) => `${program} is not on the PATH`

function unready({ npm, install }: AgentVendor, reason: string): Unready {
  const fix = npm === null ? install : `set agent-version, and Ralph installs it; or ${install}`
  return { reason: oneLine(reason), fix }
}

function wrapped(
  wrapper: string | undefined,
  file: string,
  args: string[],
): { file: string; args: string[] } {
  const before = wrapper?.trim() ?? ''
  if (before === '') return { file, args }
  return { file: 'bash', args: ['--norc', '-c', `${before} "$@"`, 'agent-wrapper', file, ...args] }
}

function isBeyond({ budget, costOf }: AgentRequest, usage: Usage): boolean {
  if (budget === undefined) return false
  const { costUsd, tokens } = budget
  const cost = costOf === undefined ? usage.costUsd : costOf(usage)
  if (costUsd !== null && (cost ?? 0) > costUsd) return true
  return tokens !== null && usage.inputTokens + usage.outputTokens > tokens
}

/** At most; a session's usage takes some kilobytes. */
const USAGE_LIMIT = 1024 * 1024

/** The file for a vendor that says what it used in a file alone, and what stands in it; gone when disposed. */
async function openUsageFile(vendor: AgentVendor, as: OtherUser | null) {
  const { usageFile } = vendor
  if (usageFile === undefined) {
    return { args: [], read: async () => ({}), [Symbol.asyncDispose]: async () => {} }
  }
  const folder = await mkdtemp(join(tmpdir(), 'ralph-usage-'))
  if (as !== null) await chmod(folder, 0o777)
  const path = join(folder, 'usage.json')
  return {
    args: usageFile.args(path),
    /** The program's own file: whatever stands in it, or nothing, does no harm. */
    async read() {
      try {
        const file = await stat(path)
        return !file.isFile() || file.size > USAGE_LIMIT
          ? {}
          : (usageFile.read(await readFile(path, 'utf8')) ?? {})
      } catch {
        return {}
      }
    },
    // Another user may have left a closed folder in it, which is no reason to lose the session.
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }).catch(() => {}),
  }
}

/** What two streams say, in whole lines and without secrets; a secret of one may have lines of the other in it. */
function redactedLines(redactor: Redactor, give: (text: string) => void) {
  const streams = { stdout: redactor.stream(), stderr: redactor.stream() }
  const held = { stdout: '', stderr: '' }
  return {
    line(name: 'stdout' | 'stderr', text: string): void {
      held[name] += streams[name].write(`${text}\n`)
      const end = held[name].lastIndexOf('\n') + 1
      if (end > 0) give(held[name].slice(0, end))
      held[name] = held[name].slice(end)
    },
    end(): void {
      for (const name of ['stdout', 'stderr'] as const) {
        const rest = held[name] + streams[name].end()
        if (rest !== '') give(rest.endsWith('\n') ? rest : `${rest}\n`)
      }
    },
  }
}

type Transcript = { write(stream: 'stdout' | 'stderr', line: string): void; close(): void }

/** So many UTF-16 units are written at once. */
const PORTION = 64 * 1024

function openTranscript(
  path: string | undefined,
  redactor: Redactor,
  tell: (event: AgentEvent) => void,
): Transcript {
  if (path === undefined) return { write: () => {}, close: () => {} }
  let file: number | null = null
  let left = TRANSCRIPT_LIMIT
  let waiting = ''
  const orTell = (act: () => void): void => {
    try {
      act()
    } catch (error) {
      file = null
      tell({ kind: 'error', message: oneLine(`the transcript cannot be written: ${messageOf(error)}`) })
    }
  }
  orTell(() => {
    mkdirSync(dirname(path), { recursive: true })
    file = openSync(path, 'w')
  })
  // Written at once, and not by a stream: what waits there takes a hundred times its size where lines are short.
  const flush = (): void => {
    const [open, text] = [file, waiting]
    waiting = ''
    if (open !== null && text !== '') orTell(() => writeFileSync(open, text))
  }
  const put = (text: string): void => {
    if (file === null || left <= 0) return
    left -= Buffer.byteLength(text)
    if (waiting === '') setImmediate(flush)
    waiting += left > 0 ? text : '... the transcript is cut here ...\n'
    if (waiting.length > PORTION) flush()
  }
  const hidden = redactedLines(redactor, put)
  return {
    write: hidden.line,
    close() {
      hidden.end()
      flush()
      const open = file
      file = null
      if (open !== null) orTell(() => closeSync(open))
    },
  }
}

/** An event for people: without secrets, and with paths as the repository has them. */
function shown(event: AgentEvent, cwd: string, redact: (text: string) => string): AgentEvent {
  switch (event.kind) {
    case 'text':
      return { ...event, text: redact(event.text.split('\n').map(withoutControls).join('\n')) }
    case 'tool':
      return {
        ...event,
        target: event.target === null ? null : redact(event.target.replaceAll(`${cwd}/`, '')),
      }
    case 'error':
      return { ...event, message: redact(event.message) }
    default:
      return event
  }
}

function withInstall(message: string, exit: Exit, vendor: AgentVendor): string {
  return exit.kind === 'not-started' && exit.reason === `spawn ${vendor.program} ENOENT`
    ? oneLine(`${vendor.program} is not on the PATH; ${vendor.install}`)
    : message
}

function hide(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
}

function sayExit(exit: Exit): string {
  switch (exit.kind) {
    case 'exit':
      return `ended with exit code ${exit.code}`
    case 'signal':
      return `was killed by ${exit.signal}`
    case 'not-started':
      return `could not be started (${exit.reason})`
    default:
      return 'did not answer in time'
  }
}
