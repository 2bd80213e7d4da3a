// Finds and ends the processes that a program leaves behind, by a marker variable in their environment.

import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openClosedFolders } from './files.ts'
import { identityOf, isDead, processIds, ps, statOf, threadsLeft } from './process-table.ts'

/** Every process that Ralph starts has this variable; a process that still has it when the program is over is a survivor. */
export const MARK_NAME = 'RALPH_PROCESS_MARK'

/** Ralph stops ending survivors after this time, so that a fork bomb cannot hold it up. */
const SURVIVOR_LIMIT_MS = 2000
/** How long a process without an environment is watched: in the middle of an exec it has none for a moment. */
const EXEC_LIMIT_MS = 250

/** A new, unique value for `MARK_NAME`. */
export function newMark(): string {
  return randomBytes(16).toString('hex')
}

/** The character after a mark in an environment, for a search of processes with exactly this mark: the end of the variable. */
const MARK_ENDS = ['\0']
/** The same for a search that includes all parts of the run: also the `-` that `markOfPart` writes after the run's mark. */
const RUN_MARK_ENDS = ['\0', '-']

/**
 * `<mark>-<part>`, for processes of a run that must outlive programs with the run's own mark, or run alongside them. A service's part is
 * its number, counted from 1. `endOrphans` of the run's mark spares these processes, and `endOrphansOfRun` ends them as well.
 */
export function markOfPart(
  mark: string,
  part: number | `lane${number}` | `gate${number}` | `worker${string}`,
): string {
  return `${mark}-${part}`
}

/** Ends all processes of a run that is over, including those of its parts, and removes its temporary folders. */
export async function endOrphansOfRun(mark: string): Promise<number> {
  const ended = await endOrphans(mark, 0, RUN_MARK_ENDS)
  for (const name of await readdir(tmpdir()).catch(() => []))
    if (name.startsWith(folderOf(mark))) await removeFolder(join(tmpdir(), name))
  return ended
}

/** A new folder for temporary files of a run. Its name has the mark in it, so that a later job can remove it. */
export async function openRunFolder(mark: string): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), folderOf(mark)))
  return { path, [Symbol.asyncDispose]: () => removeFolder(path) }
}

/** Tries again if a program still writes into it. A folder that cannot be removed does no harm: no other run uses it. */
export async function removeFolder(path: string): Promise<void> {
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 3 })
  await remove().catch(async () => {
    await openClosedFolders(path)
    await remove().catch(() => {})
  })
}

/** Short, as some systems allow no socket at a path of more than about 100 characters. */
function folderOf(mark: string): string {
  return `ralph-${mark.slice(0, 12)}-`
}

/**
 * Ends every process whose environment has exactly this mark and returns how many there were. On Linux by
 * /proc/<pid>/environ (own user only, or all as root), elsewhere as well as `ps` can tell. Not found are programs
 * that wiped their environment and left the process group, and those that another user runs. `since` (clock ticks
 * after boot, as in /proc/<pid>/stat) is when the first of them was started, if known. Then they are descendants of this
 * process, and older processes are skipped.
 */
export async function endOrphans(mark: string, since = 0, ends = MARK_ENDS): Promise<number> {
  const search =
    process.platform === 'linux' ? createOrphanSearch(mark, since, ends) : () => endByPs(mark, ends)
  const found = new Set<number>()
  const isOver = createStopCondition()
  for (;;) {
    const result = await search()
    for (const pid of result.ended) found.add(pid)
    if (isOver(result)) return found.size
    await delay(1)
  }
}

/** `endOrphans`, synchronous, for the `exit` event. On Linux only. */
export function endOrphansSync(mark: string, since: number): void {
  if (process.platform !== 'linux') return
  const search = createOrphanSearch(mark, since)
  const isOver = createStopCondition()
  while (!isOver(search()));
}

/** Returns a function that decides after each search whether the search is over. */
function createStopCondition(): (result: SearchResult) => boolean {
  const began = performance.now()
  let lastFound = began
  return ({ ended, isUncertain: unsure }) => {
    const now = performance.now()
    if (ended.length > 0) lastFound = now
    const isQuiet = ended.length === 0 && (!unsure || now - lastFound > EXEC_LIMIT_MS)
    return isQuiet || now - began > SURVIVOR_LIMIT_MS
  }
}

/** When a process was started, in clock ticks after boot; 0 if unknown. */
export function startTicksOf(pid: number): number {
  return statOf(pid)?.startedAt ?? 0
}

/**
 * Whether a process of the group still runs. In a container orphans may never be reaped (`container:` jobs run `tail` as
 * pid 1): they stay as zombies forever, and `kill` still finds them.
 */
export function isGroupAlive(group: number): boolean {
  if (!signalGroup(group, 0)) return false
  if (process.platform !== 'linux') return true
  return processIds().some((pid) => {
    const stat = statOf(pid)
    return stat?.group === group && !isDead(pid, stat)
  })
}

/** Windows has no process groups: there only the program itself is signalled, not its descendants. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  return signalProcess(process.platform === 'win32' ? pid : -pid, signal)
}

/** False if there is no such process, or Ralph may not signal it. */
function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

/** `ended`: processes with the mark, which were killed. `isUncertain`: a process started or ended meanwhile, so search again. */
type SearchResult = { ended: number[]; isUncertain: boolean }

/** The identities of processes that are known to have no mark, by pid. Most processes of the machine are here. */
const unmarked = new Map<number, string>()
/** The identities of processes that are older than this one, by pid. They may have the mark of a killed run. */
const older = new Map<number, string>()

/**
 * Each call searches once. It has to catch processes that live for milliseconds and start each other. So it reads the newest first, kills
 * each with its group as soon as it is found, and reads no process twice.
 */
function createOrphanSearch(mark: string, since: number, ends = MARK_ENDS): () => SearchResult {
  const markEntries = ends.map((end) => Buffer.from(`${MARK_NAME}=${mark}${end}`))
  const unrelated = new Set([process.pid])
  const killed = new Set<number>()
  const { group: ourGroup, startedAt = 0 } = statOf(process.pid) ?? {}
  const oldestStart = since > 0 ? startedAt : 0
  return () => {
    const result: SearchResult = { ended: [], isUncertain: false }
    for (const pid of processIds().sort((a, b) => b - a)) {
      if (unrelated.has(pid)) continue
      const identity = identityOf(pid)
      if (
        identity !== '' &&
        (unmarked.get(pid) === identity || (oldestStart > 0 && older.get(pid) === identity))
      ) {
        unrelated.add(pid)
        continue
      }
      if (oldestStart > 0 && (statOf(pid)?.startedAt ?? oldestStart) < oldestStart) {
        older.set(pid, identity)
        unrelated.add(pid)
        continue
      }
      const environment = environmentOf(pid)
      if (environment !== null && markEntries.some((entry) => hasEntry(environment, entry))) {
        const group = statOf(pid)?.group ?? 0
        // A process with the mark began the group, so all of it is killed. If the process joined Ralph's own group, only it is killed.
        if (group > 1 && group !== ourGroup) signalGroup(group, 'SIGKILL')
        signalProcess(pid, 'SIGKILL')
        result.ended.push(pid)
        killed.add(pid)
      } else if (environment === null ? !killed.has(pid) : environment.length > 0) {
        // Another program's process. (`killed`: of one that still exits, only root may read the environment.)
        unrelated.add(pid)
        if (environment !== null && !hasEntry(environment, ANY_MARK)) unmarked.set(pid, identity)
      } else if (mayComeBack(pid, since)) {
        // A process without an environment is in an exec, is exiting after it was killed, or has ended. After an exec it has one again,
        // and one that has ended may have left a child that was not in the list.
        result.isUncertain = true
      }
    }
    return result
  }
}

const ANY_MARK = Buffer.from(`${MARK_NAME}=`)

function hasEntry(environment: Buffer, entry: Buffer): boolean {
  const at = environment.indexOf(entry)
  return at === 0 || (at > 0 && environment[at - 1] === 0)
}

/** Null for another user's process. Empty for one that is dead, gone, the kernel's, or in the middle of an exec. */
function environmentOf(pid: number): Buffer | null {
  const environment = environmentIn(`/proc/${pid}`)
  if (environment !== null && environment.length > 0) return environment
  // Once the first thread has ended, its environment is empty, and readable by root only. Other threads still show it.
  const environments = threadsLeft(pid).flatMap(
    (thread) => environmentIn(`/proc/${pid}/task/${thread}`) ?? [],
  )
  return environments.find(({ length }) => length > 0) ?? environments[0] ?? environment
}

function environmentIn(folder: string): Buffer | null {
  try {
    return readFileSync(join(folder, 'environ'))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'ENOENT' || code === 'ESRCH' ? Buffer.alloc(0) : null
  }
}

/** The kernel shows no environment between the start of an exec and the new program's first instruction. */
function mayComeBack(pid: number, since: number): boolean {
  const stat = statOf(pid)
  return stat === null || (!isDead(pid, stat) && !stat.ofKernel && stat.startedAt >= since)
}

/** macOS and others: best effort, `ps` shows the environment of our programs, but not of Apple's. */
async function endByPs(mark: string, ends: readonly string[]): Promise<SearchResult> {
  if (process.platform === 'win32') return { ended: [], isUncertain: false }
  const listing = await ps(['-axww', '-E', '-o', 'pid=,command=']).catch(() => '')
  const ended = listing
    .split('\n')
    .filter((line) =>
      ends.some((end) => ` ${line} `.includes(` ${MARK_NAME}=${mark}${end.replace('\0', ' ')}`)),
    )
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
  for (const pid of ended) signalProcess(pid, 'SIGKILL')
  return { ended, isUncertain: false }
}
