// A step's process: its lines, the cancel ladder of the runner, and what is left of it afterwards.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'

/** Everything in milliseconds, so that a test can shorten it. The defaults are those of the real runner (facts 2). */
export interface Times {
  /** What `timeout-minutes: 1` means. */
  minute: number
  /** From SIGINT to SIGTERM. */
  interrupt: number
  /** From SIGTERM to SIGKILL. */
  terminate: number
  /** How long the streams may stay open after the process has ended. */
  streams: number
}
export const realTimes: Times = { minute: 60_000, interrupt: 7_500, terminate: 2_500, streams: 5_000 }

export interface Command {
  file: string
  args: string[]
  cwd: string
  env: Record<string, string>
  line: (line: string) => void
}
export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

export class StepProcess {
  readonly exit: Promise<Exit>
  readonly #child
  readonly #times: Times
  readonly #timers: NodeJS.Timeout[] = []
  #isOver = false

  constructor(command: Command, times: Times) {
    this.#times = times
    this.#child = spawn(command.file, command.args, {
      cwd: command.cwd,
      env: command.env,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.exit = this.#watch(command.line)
    // The runner closes a step's standard input at once.
    this.#child.stdin.on('error', () => {})
    this.#child.stdin.end()
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  #watch(line: (line: string) => void): Promise<Exit> {
    const child = this.#child
    const readers = [child.stdout, child.stderr].map((stream) => readLines(stream, line))
    return new Promise((resolve) => {
      const over = (exit: Exit): void => {
        this.#isOver = true
        for (const timer of this.#timers) clearTimeout(timer)
        resolve(exit)
      }
      child.on('error', (error) => {
        line(`Error: ${error.message}`)
        over({ code: 127, signal: null })
      })
      child.on('exit', (code, signal) => {
        this.#isOver = true
        const closed = Promise.all(readers).then(() => 'closed')
        // A child that keeps the streams open is waited for only so long.
        const patience = setTimeout(() => {
          child.stdout.destroy()
          child.stderr.destroy()
          over({ code, signal })
        }, this.#times.streams)
        void closed.then(() => {
          clearTimeout(patience)
          over({ code, signal })
        })
      })
    })
  }

  /** SIGINT, SIGTERM, SIGKILL: to this one process, never to its children. */
  cancel(): void {
    if (this.#isOver || this.#timers.length > 0) return
    const { interrupt, terminate } = this.#times
    this.#child.kill('SIGINT')
    this.#timers.push(
      setTimeout(() => this.#child.kill('SIGTERM'), interrupt),
      setTimeout(() => this.#child.kill('SIGKILL'), interrupt + terminate),
    )
  }

  /** The machine is gone: the process and all that descend from it die at once. */
  destroy(): void {
    const { pid } = this.#child
    const below = pid === undefined ? [] : descendants(pid)
    this.#child.kill('SIGKILL')
    for (const one of below) killQuietly(one)
    this.#child.stdout.destroy()
    this.#child.stderr.destroy()
  }
}

/** Lines end as .NET has it: at \n, \r or both, and nowhere else (node:readline also ends them at U+2028). */
function readLines(stream: Readable, line: (line: string) => void): Promise<void> {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    // A carriage return at the very end may be half of a pair.
    const parts = (rest + chunk).split(/\r\n|\n|\r(?!$)/)
    rest = parts.pop() ?? ''
    for (const part of parts) line(part)
  })
  return new Promise((resolve) => {
    stream.on('close', () => {
      if (rest !== '') line(rest.replace(/\r$/, ''))
      resolve()
    })
  })
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

function processes(): { pid: number; parent: number }[] {
  if (!existsSync('/proc/self/stat')) return []
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid)) return []
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      return [{ pid, parent: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) }]
    } catch {
      return []
    }
  })
}
function descendants(of: number): number[] {
  const all = processes()
  const found = [of]
  for (const pid of found) found.push(...all.filter(({ parent }) => parent === pid).map((one) => one.pid))
  return found.slice(1)
}

/** Ends what still carries the job's tracking id (facts 2.1.7); returns their ids. Linux only. */
export function killOrphans(trackingId: string): number[] {
  const found = processes().flatMap(({ pid }) => {
    try {
      const env = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
      return env.includes(`RUNNER_TRACKING_ID=${trackingId}`) ? [pid] : []
    } catch {
      return []
    }
  })
  for (const pid of found) killQuietly(pid)
  return found
}
