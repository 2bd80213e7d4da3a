// Starts git: always the same program, with an environment of Ralph's own.

import { spawn } from 'node:child_process'
import { pathBytes, pathText } from '../system/path-text.ts'
import { findProgram } from '../system/program.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The path of git's program, by PATH. Found before any agent runs and then kept, as an agent may write to a folder of the PATH. */
const programs = new Map<string, string>()

/** The path of git's program, as it was first found on this PATH. */
export function gitProgram(path = ''): string {
  const known = programs.get(path) ?? findProgram('git', path) ?? 'git'
  programs.set(path, known)
  return known
}

/** Uses the program that an earlier process found: the first git on the PATH may be an agent's now. Empty if it is not known. */
export function rememberGitProgram(file: string, path = ''): void {
  if (file !== '') programs.set(path, file)
}

export class GitError extends Error {
  readonly code: number
  readonly stderr: string
  constructor(args: readonly string[], code: number, stderr: string) {
    super(`git ${subcommandOf(args)} failed (exit ${code}): ${stderr.trim()}`)
    this.name = 'GitError'
    this.code = code
    this.stderr = stderr
  }
}

/** The command in git's arguments: `-c <setting>` and other options come before it. */
function subcommandOf(args: readonly string[]): string {
  const at = args.findIndex((arg, index) => !arg.startsWith('-') && args[index - 1] !== '-c')
  return args[at] ?? ''
}

/** git's messages when the remote does not know the token. */
export const UNKNOWN_TOKEN_MESSAGE =
  /(returned error:|HTTP) 401|could not read username|authentication failed|invalid username or/i

/** Whether git failed because the remote does not know the token. */
export function isUnknownToken(error: unknown): boolean {
  return error instanceof GitError && UNKNOWN_TOKEN_MESSAGE.test(error.stderr)
}

/** Ignored files, and folders (ending in `/`) that hold nothing else. */
export const LIST_IGNORED = 'ls-files -z --others --ignored --exclude-standard --directory'.split(' ')

/** The author of Ralph's commits and reflog entries. */
export const RALPH_IDENTITY = { name: 'Ralph', email: 'ralph@localhost' }

export type RunOptions = {
  input?: string | Uint8Array
  env?: Readonly<Record<string, string>>
  /** The working directory; the top of the work tree by default. */
  directory?: string
  /** Exit codes other than 0 that are not error. */
  accept?: readonly number[]
  /** After this time git is killed, with exit code 124. */
  timeoutMs?: number
}

export type GitResult = { code: number; stdout: string; stderr: string }

const INHERITED_VARIABLES = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'TMPDIR',
  'TEMP',
  'SYSTEMROOT',
  'SSH_AUTH_SOCK',
  'XDG_CONFIG_HOME',
]

/** The environment of every git process: none of the runner's variables but a few, no prompts, messages in English. */
export function gitEnv(env: Environment): Record<string, string> {
  const inherited: Record<string, string> = { LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' }
  for (const [name, value] of Object.entries(env)) {
    const isNetwork = /^(https?|all|no)_proxy$|^SSL_CERT_|^GIT_SSL_/i.test(name)
    if (value !== undefined && (isNetwork || INHERITED_VARIABLES.includes(name))) inherited[name] = value
  }
  return inherited
}

/** Variables that switch off the configuration of the system and of the user. */
export const NO_CONFIG = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }

/** Runs git in any folder, without the user's configuration and with `extra` variables. Returns its output. */
export async function runGitIn(
  args: readonly string[],
  directory: string,
  env: Environment,
  extra: Readonly<Record<string, string>>,
): Promise<string> {
  const { stdout } = await execute(args, { directory, env: { ...gitEnv(env), ...NO_CONFIG, ...extra } })
  return stdout
}

/** Milliseconds. A local git that takes longer hangs. */
const LOCAL_TIMEOUT_MS = 15 * 60_000

/** Bytes. An agent may create millions of files for git to list. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024

type Execution = RunOptions & { directory: string; env: Readonly<Record<string, string>> }

/** Throws GitError for an exit code that is not accepted. */
export function execute(args: readonly string[], options: Execution): Promise<GitResult> {
  return new Promise((done, fail) => {
    // In its own process group, so that Ctrl+C in a terminal does not end a git that writes the state.
    const child = spawn(gitProgram(options.env.PATH), args, {
      cwd: options.directory,
      env: options.env,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    })
    const out: Buffer[] = []
    const err: Buffer[] = []
    let bytes = 0
    const take = (into: Buffer[]) => (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= MAX_OUTPUT_BYTES) into.push(chunk)
      else end('git printed more than Ralph can hold in memory')
    }
    child.stdout.on('data', take(out))
    child.stderr.on('data', take(err))
    child.stdin.on('error', () => {}) // EPIPE: git may end before it has read its input; the exit code shows why
    let ended: string | null = null
    const end = (why: string) => {
      ended ??= why
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      } catch {
        // The process has just ended.
      }
    }
    const timer = setTimeout(() => end('git took too long'), options.timeoutMs ?? LOCAL_TIMEOUT_MS)
    child.on('error', (error) => {
      clearTimeout(timer)
      fail(new GitError(args, 127, error.message))
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      const why = ended ?? `ended by ${signal}`
      const stderr = Buffer.concat(err).toString('utf8') + (signal === null ? '' : why)
      const result = {
        code: ended !== null ? 124 : (code ?? 128),
        stdout: textOf(args, Buffer.concat(out)),
        stderr,
      }
      if (result.code === 0 || options.accept?.includes(result.code)) done(result)
      else fail(new GitError(args, result.code, result.stderr))
    })
    const { input } = options
    child.stdin.end(typeof input === 'string' ? pathBytes(input) : input)
  })
}

/** With `-z`, the output has paths, which are bytes. */
function textOf(args: readonly string[], out: Buffer): string {
  return args.includes('-z') ? pathText(out) : out.toString('utf8')
}

/** The NUL-terminated fields that git prints with `-z`. */
export function nulFields({ stdout }: GitResult): string[] {
  return stdout.split('\0').filter(Boolean)
}

/**
 * git's message about a folder or file that it could not read; null without any. git only warns: it skips a folder that it may not
 * open, and keeps the index entry of a file that it cannot read. The message about a file has no prefix.
 */
export function unreadableMessage({ stderr }: GitResult): string | null {
  const closed = /^warning: (could not open directory .*)$/m.exec(stderr)
  const lost = /^(?!warning: |hint: )(.*: (?:Too many levels of symbolic links|Permission denied))$/m.exec(
    stderr,
  )
  return (closed ?? lost)?.[1] ?? null
}
