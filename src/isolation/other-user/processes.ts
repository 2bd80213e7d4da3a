// Finds and ends the processes of the other user.
import { spawnSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { identityOf, ownerOf, processIds, statOf } from '../../system/process-table.ts'
import { STARTER_ENV, type UserProcesses } from '../../system/program-user.ts'
import type { Account } from './account.ts'
import { asUserCommand } from './machine-view.ts'
import { BASH, type Root } from './root.ts'

const END_MS = 5000
/** For one `kill`, milliseconds: processes of the same user can stop it. */
const SIGNAL_MS = 1000
/** How many lists in a row must be empty: a process that forks and exits at once may be in none of them. */
const QUIET_LOOKS = 5

/**
 * The processes of the account, without `others` (pid to identity). `isNarrow`: the kernel ends them with the first process of
 * their namespace, so that an empty list is certain. `under`: only descendants of this process, while it runs; with a narrow view
 * these are all that it has started.
 */
export function processesOf(
  root: Root,
  account: Account,
  isNarrow: boolean,
  others: ReadonlyMap<number, string> = new Map(),
  under: number | null = null,
): UserProcesses {
  const top = under === null ? '' : identityOf(under)

  const list = () =>
    processIds().filter(
      (pid) => others.get(pid) !== identityOf(pid) && ownerOf(pid) === account.uid && isInScope(pid),
    )

  function isInScope(pid: number): boolean {
    if (under === null) return true
    let at = pid
    while (at > 1 && at !== under) at = statOf(at)?.parent ?? 0
    return at === under && identityOf(at) === top
  }

  function signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    const name = signal.slice(3)
    const found = list().map(String)
    const commands = found.length > 0 ? [root('kill', `-${name}`, ...found)] : []
    // `kill -1` as the user also reaches processes that no list shows. Root's kill comes first, because they cannot stop that one.
    if (under === null) commands.push(root(...asUserCommand(account), ...BASH, `kill -${name} -1`))
    const how = { env: STARTER_ENV, stdio: 'ignore', timeout: SIGNAL_MS, killSignal: 'SIGKILL' } as const
    for (const { file, args } of commands) spawnSync(file, args, how)
  }

  async function end(): Promise<number> {
    const found = list().length
    if (isNarrow && found === 0) return 0
    const deadline = performance.now() + END_MS
    signal('SIGKILL')
    for (let quiet = 0; quiet < QUIET_LOOKS; quiet++) {
      if (performance.now() > deadline) {
        // The end of the whole user, later, reaches them as well.
        if (under !== null) return found
        throw new Error(
          `Ralph cannot end the processes of ${account.name}, so it leaves the work tree unchanged and ends the job`,
        )
      }
      if (list().length > 0) {
        quiet = -1
        signal('SIGKILL')
      }
      await delay(2)
    }
    return found
  }

  return { signal, isRunning: () => list().length > 0, end }
}

/** Identity by pid of the processes that run as other users now. They are never ended, and need not be looked at again. */
export function processesOfOthers({ uid }: Account): ReadonlyMap<number, string> {
  const others = processIds().filter((pid) => ownerOf(pid) !== uid)
  return new Map(
    others.map((pid) => [pid, identityOf(pid)] as const).filter(([, identity]) => identity !== ''),
  )
}
