// What is done as root: single commands, and a shell of root's that is kept for those that every session needs.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { type Mistake, messageOf, UserError } from '../../system/errors.ts'
import { STARTER_ENV, SYSTEM_PATH } from '../../system/program-user.ts'
import { shellWord } from '../../system/shell-word.ts'

export type Command = { file: string; args: string[] }
export type Root = (...command: string[]) => Command

export const BASH = ['bash', '--noprofile', '--norc', '-c']

/** What cannot be had is an error with its mend; a step down is taken by name, and never by itself. */
export const STEP_DOWN = 'write isolation: same-user, where the agent can take the tokens of the job'

export type Fault = Omit<Mistake, 'path'>

export function refused(...faults: readonly Fault[]): UserError {
  return new UserError(faults.map((fault) => ({ path: 'isolation: other-user', ...fault })))
}

/** As root, or by a sudo that asks for no password. */
export async function rootCommand(): Promise<Root> {
  if (process.getuid?.() === 0) return (file = '', ...args) => ({ file, args })
  const sudo: Root = (...args) => ({
    file: 'sudo',
    args: ['-n', '--', 'env', `PATH=${SYSTEM_PATH}`, ...args],
  })
  if (await works(sudo('true'))) return sudo
  throw refused({
    found: 'neither root nor a sudo without a password',
    expected: 'the right to start programs as another user',
    fix: `use a GitHub-hosted runner or a container job, allow the runner sudo, use isolation: separate-job, or ${STEP_DOWN}`,
  })
}

/** Whether `rootCommand` would give one. */
export function canBeRoot(): Promise<boolean> {
  return succeeds(rootCommand())
}

export async function run(command: Command): Promise<void> {
  await output(command, '')
}

export function works(command: Command): Promise<boolean> {
  return succeeds(run(command))
}

function succeeds(act: Promise<unknown>): Promise<boolean> {
  return act.then(
    () => true,
    () => false,
  )
}

export function output({ file, args }: Command, input: string | Buffer): Promise<string> {
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

/** Runs scripts, each ended by a NUL, and says of each its exit code and the last line of its errors. It ends with us. */
const LOOP = [
  'echo $$',
  "while IFS= read -r -d '' script",
  // The end alone: of paths that are too long, errors have megabytes, over which the shell would think for hours.
  `do said=$(eval "$script" 2>&1 >/dev/null </dev/null | tail -c 2000; exit "\${PIPESTATUS[0]}")`,
  `echo "$? \${said##*$'\\n'}"; done`,
].join('; ')

/** A shell of root's: to start sudo and what it starts for everything takes longer than the thing itself. */
export class RootShell {
  readonly #child: ChildProcess
  readonly #answers: { resolve(line: string): void; reject(error: Error): void }[] = []
  #ended: Error | null = null
  /** Its number, by which its namespaces are found. */
  pid = 0

  private constructor({ file, args }: Command) {
    this.#child = spawn(file, args, {
      env: STARTER_ENV,
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true, // what interrupts us at a terminal does not end it first
    })
    const end = (why: string) => {
      this.#ended ??= new Error(`the shell of root's has ended: ${why}`)
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

  /** `before` runs in it first; what `command` starts is followed by the script. */
  static async open(command: (script: string) => Command, before = ''): Promise<RootShell> {
    const shell = new RootShell(command(before === '' ? LOOP : `${before}; ${LOOP}`))
    shell.pid = Number(await shell.#answer())
    return shell
  }

  async run(...command: string[]): Promise<void> {
    const answer = this.#answer()
    this.#child.stdin?.write(`${command.map(shellWord).join(' ')}\0`)
    const [, code, said] = /^(\d+) (.*)$/.exec(await answer) ?? []
    if (code !== '0') throw new Error(said || `${command[0]} ended with exit code ${code}`)
  }

  /** Nothing may be started in the namespaces of one that has ended: its number may be another's. */
  check(): void {
    if (this.#ended !== null) throw this.#ended
  }

  close(): void {
    this.#child.stdin?.end()
  }

  /** Only while something is awaited of it are we held by it. */
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
