// The processes of the other user: which there are, and their end.
import { spawnSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { identityOf, ownerOf, processIds, statOf } from '../process-table.ts'
import type { Account } from './account.ts'
import { BASH, type Root, STARTER_ENV } from './root.ts'
import { become } from './view.ts'

const END_MS = 5000
/** One try at ending them may be stopped by those whom it is to end, milliseconds. */
const SIGNAL_MS = 1000
/** Looks in a row that find none: who forks and goes at once is in no list of processes. */
const QUIET_LOOKS = 5

export class Processes {
  readonly #root: Root
  readonly #account: Account
  /** The kernel ends them with the first of them: none is missed by a look. */
  readonly #isNarrow: boolean
  /** Those of others that were there before any of the user's, most of the machine's. */
  readonly #others = new Map<number, string>()
  /** Only what descends from this process, and which one it is; null: all. */
  readonly #under: { pid: number; identity: string } | null

  constructor(root: Root, account: Account, isNarrow: boolean, under: number | null = null) {
    this.#root = root
    this.#account = account
    this.#isNarrow = isNarrow
    this.#under = under === null ? null : { pid: under, identity: identityOf(under) }
  }

  /** What a program of the user's has started, as long as it runs itself; where its view is its own, that is all of it. */
  under(pid: number): Processes {
    return new Processes(this.#root, this.#account, this.#isNarrow, pid)
  }

  /** Whoever is there now and not the user's never will be. */
  remember(): void {
    for (const pid of processIds()) {
      const identity = identityOf(pid)
      if (ownerOf(pid) !== this.#account.uid && identity !== '') this.#others.set(pid, identity)
    }
  }

  lives(): boolean {
    return this.#all().length > 0
  }

  /** Reaches every process of that user, whatever group, session or environment it has; those that fork, too. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    const name = signal.slice(3)
    // Of their own user: reaches those, too, that no look would find. Then by root, whom none of them can stop.
    const all = this.#root(...become(this.#account), ...BASH, `kill -${name} -1`)
    const found = this.#all().map(String)
    const commands = this.#under === null ? [all] : []
    if (found.length > 0) commands.unshift(this.#root('kill', `-${name}`, ...found))
    for (const { file, args } of commands)
      spawnSync(file, args, {
        env: STARTER_ENV,
        stdio: 'ignore',
        timeout: SIGNAL_MS,
        killSignal: 'SIGKILL',
      })
  }

  /** Ends all of them, waits until none is left, and returns how many there were. */
  async end(): Promise<number> {
    const found = this.#all().length
    if (this.#isNarrow && found === 0) return 0
    const deadline = performance.now() + END_MS
    this.signal('SIGKILL')
    for (let quiet = 0; quiet < QUIET_LOOKS; quiet++) {
      if (performance.now() > deadline) {
        // They are ended with the others.
        if (this.#under !== null) return found
        throw new Error(
          `processes of ${this.#account.name} cannot be ended: the work tree is left as it is, and the job ends`,
        )
      }
      if (this.lives()) {
        quiet = -1
        this.signal('SIGKILL')
      }
      await delay(2)
    }
    return found
  }

  #all(): number[] {
    return processIds().filter(
      (pid) =>
        this.#others.get(pid) !== identityOf(pid) && ownerOf(pid) === this.#account.uid && this.#isMeant(pid),
    )
  }

  #isMeant(pid: number): boolean {
    if (this.#under === null) return true
    let at = pid
    while (at > 1 && at !== this.#under.pid) at = statOf(at)?.parent ?? 0
    return at === this.#under.pid && identityOf(at) === this.#under.identity
  }
}
