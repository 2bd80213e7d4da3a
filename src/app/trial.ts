// Runs commands once, as gates run, in a copy of the project. The copy is removed afterwards.
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestCounts } from '../engine/model/gate.ts'
import { CAPTURE_BYTES, cleanOutput, formatExit, INTO_ONE_PIPE, SHELL } from '../gates/captured-output.ts'
import { missingCount } from '../gates/count-advice.ts'
import { ranNoTest, testCounts } from '../gates/counts.ts'
import { type NamedFailures, namedFailures } from '../gates/known-red.ts'
import { withToolFolders } from '../gates/tool-folders.ts'
import { execute, gitEnv } from '../git/git-process.ts'
import { type Environment, secretsIn } from '../isolation/untrusted-env.ts'
import { tellingLine } from '../system/excerpt.ts'
import { type Exit, runUntrusted } from '../system/process.ts'
import { gatesEnvironment } from './gate-environment.ts'
import { redactorFor } from './redactor.ts'

/** A command and its result. `missing`: its program, or one that it starts, is not on this machine. `unknown`: it did not end in time. */
export type Trial = {
  name: string
  run: string
  state: 'green' | 'red' | 'missing' | 'unknown'
  ended: string
  ms: number
  /** The line of its output that says best what failed, redacted; empty if the command is green. */
  line: string
  /** The program that is not on this machine, if that is what failed and its name is known. */
  program: string | null
  /** How many tests it says that it ran; null if it says nothing of tests. */
  tests: TestCounts | null
  /** What makes a green test run print that number; null if it does, or if no tests are expected. */
  countAdvice: string | null
  /** The tests that failed, by name, or why they cannot be named. */
  failures: NamedFailures
  /** What it printed, redacted and limited. */
  output: string
}

export type TrialOptions = {
  top: string
  /** The folder in it that commands run in. */
  workingDirectory: string
  isRepository: boolean
  env: Environment
  /** Names of variables that gates get in addition to the allow-list. */
  gateEnv: readonly string[]
  signal: AbortSignal
}

export type TrialRunner = AsyncDisposable & { run(name: string, command: string): Promise<Trial> }

/** How long `prepare`, and one gate, may take, milliseconds. */
const PREPARE_MS = 10 * 60_000
const GATE_MS = 5 * 60_000

/**
 * Copies the project as a clone of its next commit would have it: HEAD and the work tree's changes. It has an ignored file only if git
 * tracks the file.
 */
export async function openTrial(options: TrialOptions): Promise<TrialRunner> {
  const { workingDirectory, env, signal } = options
  const folder = await mkdtemp(join(tmpdir(), 'ralph-try-'))
  const copy = join(folder, 'project')
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 })
  try {
    await copyProject(options, copy)
  } catch (error) {
    await remove()
    throw error
  }
  const gateEnvironment = gatesEnvironment(env, options)
  const cwd = join(copy, workingDirectory)
  const tracked = await trackedFiles(cwd, env)
  const redactor = redactorFor(secretsIn(env))
  return {
    async run(name, command) {
      const timeoutMs = name === 'prepare' ? PREPARE_MS : GATE_MS
      const { exit, output, ms } = await runUntrusted({
        file: 'bash',
        args: [...SHELL, `${INTO_ONE_PIPE}; exec bash ${SHELL.join(' ')} "$1"`, 'bash', command],
        cwd,
        env: withToolFolders(gateEnvironment, cwd, command, tracked),
        timeoutMs,
        signal,
        captureBytes: CAPTURE_BYTES,
      })
      const text = cleanOutput(output, redactor)
      const missing = exit.kind === 'exit' && exit.code !== 0 ? missingProgram(text, exit.code) : null
      const tests = name === 'prepare' ? null : testCounts(text)
      const isEmpty = exit.kind === 'exit' && exit.code === 0 && ranNoTest(tests)
      const isWriter = /^format\b/.test(name) && (await hasChanges(cwd, env))
      const proofless = isEmpty
        ? ', but it ran no test'
        : isWriter
          ? ', but it changes files instead of checking them'
          : ''
      const state = missing === null ? (proofless === '' ? stateByExit(exit) : 'red') : 'missing'
      const isProgramNamed = missing !== null && missing !== ''
      const line = state === 'green' || isProgramNamed || proofless !== '' ? '' : tellingLine(text)
      const ended = isProgramNamed
        ? `needs ${missing}, which is not on this machine`
        : `${formatExit(exit, timeoutMs)}${proofless}`
      const countAdvice =
        state === 'green' && tests === null && name !== 'prepare'
          ? missingCount({ name, run: command })
          : null
      const failures = namedFailures({ ended, output: text, tests })
      const program = isProgramNamed ? missing : null
      return {
        name,
        run: command,
        state,
        ended,
        ms,
        line,
        program,
        tests,
        countAdvice,
        failures,
        output: text,
      }
    },
    [Symbol.asyncDispose]: remove,
  }
}

function stateByExit(exit: Exit): Exclude<Trial['state'], 'missing'> {
  if (exit.kind !== 'exit') return 'unknown'
  return exit.code === 0 ? 'green' : 'red'
}

async function copyProject({ top, isRepository, env }: TrialOptions, copy: string): Promise<void> {
  const git = (...args: string[]) => execute(args, { directory: top, env: gitEnv(env), accept: [1, 128] })
  const hasCommit = isRepository && (await git('rev-parse', '--verify', '--quiet', 'HEAD')).code === 0
  const createRepository = hasCommit
    ? ['clone', '--quiet', '--shared', '--no-checkout', top, copy]
    : ['init', '--quiet', copy]
  const options = { directory: top, env: gitEnv(env) }
  await execute(createRepository, options)
  const inCopy = [
    `--git-dir=${join(copy, '.git')}`,
    ...['-c', 'core.safecrlf=false'],
    ...['-c', 'core.hooksPath=/dev/null'],
  ]
  // Without HEAD in the index, `add` would leave out tracked files that .gitignore matches.
  if (hasCommit) await execute([...inCopy, 'read-tree', 'HEAD'], { ...options, directory: copy })
  // The copy's repository takes the files of the project into its index, and writes them into the copy.
  await execute([...inCopy, `--work-tree=${top}`, 'add', '--all'], options)
  const checkOut = [...inCopy, `--work-tree=${copy}`, 'checkout-index', '--all', '--quiet']
  await execute(checkOut, { ...options, directory: copy })
  await copySubmodules(top, copy, env)
}

/** The submodules that are checked out, each at the commit that the project would record. As in a run, nested ones are left out. */
async function copySubmodules(top: string, copy: string, env: Environment): Promise<void> {
  const safe = ['-c', 'core.hooksPath=/dev/null']
  const git = (directory: string, ...args: string[]) =>
    execute([...safe, ...args], { directory, env: gitEnv(env) })
  const { stdout } = await git(copy, 'ls-files', '-z', '--stage')
  for (const [, commit = '', path = ''] of stdout.matchAll(/(?:^|\0)160000 ([0-9a-f]+) 0\t([^\0]+)/g)) {
    if (!existsSync(join(top, path, '.git'))) continue
    await git(copy, 'clone', '--quiet', '--shared', '--no-checkout', '--', join(top, path), path)
    await git(join(copy, path), 'checkout', '--quiet', '--detach', commit)
  }
}

/** Whether tracked files differ from what was copied. */
async function hasChanges(directory: string, env: Environment): Promise<boolean> {
  const { code } = await execute(['diff', '--quiet'], { directory, env: gitEnv(env), accept: [1, 128, 129] })
  return code === 1
}

/** The paths in the folder that are part of the commit. */
async function trackedFiles(directory: string, env: Environment): Promise<string[]> {
  const { stdout } = await execute(['ls-files', '-z'], { directory, env: gitEnv(env), accept: [128] })
  return stdout.split('\0').filter(Boolean)
}

/** What shells, make, just and task print if a program is missing. */
const NOT_FOUND = [
  // A shell prints "Permission denied" if a folder of the PATH is closed.
  /(?:^|: )([\w@.+/-]+): (?:(?:command )?not found|Permission denied)$/m,
  /^(?:make(?:\[\d+\])?|(?:\/usr\/bin\/)?env): [`'‘"]?([\w@.+/-]+?)['’"]?: No such file or directory$/m,
  /"([\w@.+/-]+)": executable file not found in \$PATH/,
]
/** cargo starts the program `cargo-hack` for `cargo hack` (https://doc.rust-lang.org/cargo/reference/external-tools.html#custom-subcommands). */
const NO_SUBCOMMAND = /^error: no such (?:sub)?command: `([\w-]+)`$/m
/** Output of runners that have their own exit code, but print that the program ended with 127. */
const PASSED_ON = /\bError 127$|\bexit (?:code|status):? 127\b|: executable file not found in \$PATH/m

/** The name of the missing program, or an empty text if the output does not name it. Null if no program is missing. */
function missingProgram(output: string, code: number): string | null {
  const [, subcommand] = NO_SUBCOMMAND.exec(output) ?? []
  if (subcommand !== undefined && code === 101) return `cargo-${subcommand}`
  if (code !== 126 && code !== 127 && !PASSED_ON.test(output)) return null
  if (code === 126) return ''
  return NOT_FOUND.flatMap((pattern) => pattern.exec(output)?.[1] ?? [])[0] ?? ''
}
