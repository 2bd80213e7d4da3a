// Runs commands as root: single ones, or in a root shell that stays open for those that every session needs.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { type Mistake, messageOf, UserError } from '../../system/errors.ts'
import { STARTER_ENV, SYSTEM_PATH } from '../../system/program-user.ts'
import { shellWord } from '../../system/shell-word.ts'

export type Command = { file: string; args: string[] }
export type Root = (...command: string[]) => Command

export const BASH = ['bash', '--noprofile', '--norc', '-c']

/** Ends the `fix` of errors: weaker isolation is only used if the user chooses it. */
export const STEP_DOWN = "set isolation: same-user (then the agent can read the job's tokens)"

export type Fault = Omit<Mistake, 'path'>

export function isolationError(...faults: readonly Fault[]): UserError {
  return new UserError(faults.map((fault) => ({ path: 'isolation: other-user', ...fault })))
}

/** How to run a command as root: directly, or by a sudo without a password. Throws UserError if neither is possible. */
export async function rootCommand(): Promise<Root> {
  if (process.getuid?.() === 0) return (file = '', ...args) => ({ file, args })
  const sudo: Root = (...args) => ({
    file: 'sudo',
    args: ['-n', '--', 'env', `PATH=${SYSTEM_PATH}`, ...args],
  })
  if (await isSuccessful(sudo('true'))) return sudo
  throw isolationError({
    found: 'the user of the runner is not root, and cannot use sudo without a password.',
    expected: '',
    fix: `use a GitHub-hosted runner or a container job, or let the runner use sudo. Otherwise, set isolation: separate-job, or ${STEP_DOWN}`,
  })
}

/** Whether `rootCommand` would succeed. */
export function canBeRoot(): Promise<boolean> {
  return succeeds(rootCommand())
}

export async function run(command: Command): Promise<void> {
  await runForOutput(command, '')
}

export function isSuccessful(command: Command): Promise<boolean> {
  return succeeds(run(command))
}

function succeeds(act: Promise<unknown>): Promise<boolean> {
  return act.then(
    () => true,
    () => false,
  )
}

export function runForOutput({ file, args }: Command, input: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      file,
      args,
      { env: STARTER_ENV, maxBuffer: 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout)
        else reject(new Error(stderr.trim().split('\n').at(-1) || error.message))
      },
    )
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

/** Runs scripts from stdin, each ended by a NUL, and prints one line for each: exit code and last line of output. Ends with stdin. */
const RUN_SCRIPTS = [
  'echo $$',
  "while IFS= read -r -d '' script",
  // Only the end is kept: errors on very long paths have megabytes, which would take the shell hours.
  `do said=$(eval "$script" 2>&1 >/dev/null </dev/null | tail -c 2000; exit "\${PIPESTATUS[0]}")`,
  `echo "$? \${said##*$'\\n'}"; done`,
].join('; ')

/** A shell that runs as root and stays open: starting sudo for each command takes longer than the command. */
export class RootShell {
  readonly #child: ChildProcess
  readonly #answers: { resolve(line: string): void; reject(error: Error): void }[] = []
  #ended: Error | null = null
  /** Process id of the shell, by which its namespaces are entered. */
  pid = 0

  private constructor({ file, args }: Command) {
    this.#child = spawn(file, args, {
      env: STARTER_ENV,
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true, // else Ctrl-C at a terminal would end it before Ralph has cleaned up
    })
    const end = (why: string) => {
      this.#ended ??= new Error(`the shell that Ralph runs as root has ended: ${why}`)
      for (const { reject } of this.#answers.splice(0)) reject(this.#ended)
    }
    this.#child.once('error', (error) => end(messageOf(error)))
    this.#child.once('close', (code) => end(`exit ${code}`))
    this.#child.stdin?.on('error', () => {})
    if (this.#child.stdout !== null)
      createInterface({ input: this.#child.stdout }).on('line', (line) =>
        this.#answers.shift()?.resolve(line),
      )
  }

  /** Opens a shell: `command` gives the command that runs a script as root; `before` is a script that runs in it first. */
  static async open(command: (script: string) => Command, before = ''): Promise<RootShell> {
    const shell = new RootShell(command(before === '' ? RUN_SCRIPTS : `${before}; ${RUN_SCRIPTS}`))
    shell.pid = Number(await shell.#answer())
    return shell
  }

  async run(...command: string[]): Promise<void> {
    const answer = this.#answer()
    this.#child.stdin?.write(`${command.map(shellWord).join(' ')}\0`)
    const [, code, message] = /^(\d+) (.*)$/.exec(await answer) ?? []
    if (code !== '0') throw new Error(message || `${command[0]} ended with exit code ${code}`)
  }

  /** Throws if the shell has ended: its pid may belong to another process, so its namespaces must not be entered by it. */
  check(): void {
    if (this.#ended !== null) throw this.#ended
  }

  close(): void {
    this.#child.stdin?.end()
  }

  /** The next line that it prints. The shell keeps Ralph's process alive only while an answer is awaited. */
  async #answer(): Promise<string> {
    this.check()
    const { stdin, stdout } = this.#child
    const handles = [this.#child, ...[stdin, stdout].filter((one) => one instanceof Socket)]
    for (const handle of handles) handle.ref()
    try {
      return await new Promise((resolve, reject) => this.#answers.push({ resolve, reject }))
    } finally {
      if (this.#answers.length === 0) for (const handle of handles) handle.unref()
    }
  }
}
