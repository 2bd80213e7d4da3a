// Another user whom a program can run as, as far as the start and the end of a process need it; isolation/other-user.ts makes one.

/** The system's own folders: neither the caller's PATH nor `/usr/local` has a say in what runs as root. */
export const SYSTEM_PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
/** The environment of the program that changes the user: nothing in it is secret. */
export const STARTER_ENV: Readonly<Record<string, string>> = { PATH: SYSTEM_PATH, LC_ALL: 'C' }

/** Processes of that user. */
export type UserProcesses = {
  /** Reaches every process of that user, whatever group, session or environment it has; those that fork, too. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void
  lives(): boolean
  /** Ends all of them, waits until none is left, and returns how many there were. */
  end(): Promise<number>
}

/** Between `grant` and `revoke` the work tree is this user's to write. */
export type ProgramUser = UserProcesses & {
  /** Programs of this user run beside each other: the end of one is not that of the others. */
  readonly isShared?: true
  grant(): Promise<void>
  revoke(): Promise<void>
  /** How to start a program as that user; `preamble(env)` has to come first on its stdin. */
  command(file: string, args: readonly string[], cwd?: string): { file: string; args: string[] }
  preamble(env: Readonly<Record<string, string>>): Buffer
  /** The environment without what points into our own home, and with the user's own. */
  env(env: Readonly<Record<string, string>>): Record<string, string>
  /** The processes that this process of ours has started. */
  under(pid: number): UserProcesses
}
