// The user that a program can run as: what starting and ending a process needs of it. Made by isolation/other-user.ts.

/** The system's own folders: what runs as root comes neither from the caller's PATH nor from `/usr/local`. */
export const SYSTEM_PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
/** The environment of the program that changes the user: nothing in it is secret. */
export const STARTER_ENV: Readonly<Record<string, string>> = { PATH: SYSTEM_PATH, LC_ALL: 'C' }

/** Processes of that user. */
export type UserProcesses = {
  /** Reaches every process of that user, in any group, session or environment, even one that forks. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void
  isRunning(): boolean
  /** Ends all of them, waits until none is left, and returns how many there were. */
  end(): Promise<number>
}

/** Between `grant` and `revoke` the work tree is this user's to write. */
export type ProgramUser = UserProcesses & {
  /** Programs of this user run alongside each other: ending one does not end the others. */
  readonly isShared?: true
  grant(): Promise<void>
  revoke(): Promise<void>
  /** How to start a program as that user; `preamble(env)` has to come first on its stdin. */
  command(file: string, args: readonly string[], cwd?: string): { file: string; args: string[] }
  preamble(env: Readonly<Record<string, string>>): Buffer
  /** The environment without variables that lead into our own home, and with the user's own ones. */
  env(env: Readonly<Record<string, string>>): Record<string, string>
  /** The descendants of this process. */
  descendantsOf(pid: number): UserProcesses
}
