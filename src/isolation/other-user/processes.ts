// The processes of the other user: which there are, and their end.
import { spawnSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { identityOf, ownerOf, processIds, statOf } from '../../system/process-table.ts'
import { STARTER_ENV, type UserProcesses } from '../../system/program-user.ts'
import type { Account } from './account.ts'
import { become } from './machine-view.ts'
import { BASH, type Root } from './root.ts'

const END_MS = 5000
/** One try at ending them may be stopped by those whom it is to end, milliseconds. */
const SIGNAL_MS = 1000
/** Looks in a row that find none: who forks and goes at once is in no list of processes. */
const QUIET_LOOKS = 5

/**
 * All of them, but none of `others`, by pid and identity. `isNarrow`: the kernel ends them with the first of them, and none
 * is missed by a look. `under`: only what descends from this process, as long as it runs itself; where its view is its own,
 * that is all that it has started.
 */
export function processesOf(
  root: Root,
  account: Account,
  isNarrow: boolean,
  others: ReadonlyMap<number, string> = new Map(),
  under: number | null = null,
): UserProcesses {
  const top = under === null ? '' : identityOf(under)

  const all = () =>
    processIds().filter(
      (pid) => others.get(pid) !== identityOf(pid) && ownerOf(pid) === account.uid && isMeant(pid),
    )

  function isMeant(pid: number): boolean {
    if (under === null) return true
    let at = pid
    while (at > 1 && at !== under) at = statOf(at)?.parent ?? 0
    return at === under && identityOf(at) === top
  }

  function signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    const name = signal.slice(3)
    const found = all().map(String)
    const commands = found.length > 0 ? [root('kill', `-${name}`, ...found)] : []
    // Of their own user: reaches those, too, that no look would find. By root before it, whom none of them can stop.
    if (under === null) commands.push(root(...become(account), ...BASH, `kill -${name} -1`))
    const how = { env: STARTER_ENV, stdio: 'ignore', timeout: SIGNAL_MS, killSignal: 'SIGKILL' } as const
    for (const { file, args } of commands) spawnSync(file, args, how)
  }

  async function end(): Promise<number> {
    const found = all().length
    if (isNarrow && found === 0) return 0
    const deadline = performance.now() + END_MS
    signal('SIGKILL')
    for (let quiet = 0; quiet < QUIET_LOOKS; quiet++) {
      if (performance.now() > deadline) {
        // They are ended with the others.
        if (under !== null) return found
        throw new Error(
          `processes of ${account.name} cannot be ended: the work tree is left as it is, and the job ends`,
        )
      }
      if (all().length > 0) {
        quiet = -1
        signal('SIGKILL')
      }
      await delay(2)
    }
    return found
  }

  return { signal, lives: () => all().length > 0, end }
}

/** Processes that run now as another user stay that user's: most of the machine's. */
export function processesOfOthers({ uid }: Account): ReadonlyMap<number, string> {
  const others = processIds().filter((pid) => ownerOf(pid) !== uid)
  return new Map(
    others.map((pid) => [pid, identityOf(pid)] as const).filter(([, identity]) => identity !== ''),
  )
}
