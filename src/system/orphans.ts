// Finds and ends the processes that a program leaves behind, by a marker variable in their environment.

import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openClosedFolders } from './files.ts'
import { identityOf, isDead, processIds, ps, statOf, threadsLeft } from './process-table.ts'

/** Every process we start carries this variable; whoever still has it when the program is over is a survivor. */
export const MARK_NAME = 'RALPH_PROCESS_MARK'

/** Ending survivors is given up after this, so that a fork bomb cannot hold us. */
const SURVIVOR_LIMIT_MS = 2000
/** How long a process without an environment is watched: in the middle of an exec it has none for a moment. */
const EXEC_LIMIT_MS = 250

/** A value for `MARK_NAME` that nobody else has. */
export function newMark(): string {
  return randomBytes(16).toString('hex')
}

/** What stands behind a mark in an environment: its end, or that of one for a part of the run (`markOfPart`). */
const MARK_ENDS = ['\0']
const RUN_MARK_ENDS = ['\0', '-']

/** The mark of what outlives the programs of a run that have the run's own, or that runs beside them. */
export function markOfPart(
  mark: string,
  part: number | `lane${number}` | `gate${number}` | `worker${string}`,
): string {
  return `${mark}-${part}`
}

/** For a run that is over, however it ended: its mark, and those of its parts. Its folders go, too. */
export async function endOrphansOfRun(mark: string): Promise<number> {
  const ended = await endOrphans(mark, 0, RUN_MARK_ENDS)
  for (const name of await readdir(tmpdir()).catch(() => []))
    if (name.startsWith(folderOf(mark))) await removeFolder(join(tmpdir(), name))
  return ended
}

/** A new folder for temporary files of a run, which whoever ends what is left of the run finds by the mark. */
export async function openRunFolder(mark: string): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), folderOf(mark)))
  return { path, [Symbol.asyncDispose]: () => removeFolder(path) }
}

/** What a program is writing into while it ends is tried once more. What cannot be removed does no harm: no other run gets it. */
export async function removeFolder(path: string): Promise<void> {
  const anew = () => rm(path, { recursive: true, force: true, maxRetries: 3 })
  await anew().catch(async () => {
    await openClosedFolders(path)
    await anew().catch(() => {})
  })
}

/** Short: some systems bear no socket at a path of more than about 100 characters. */
function folderOf(mark: string): string {
  return `ralph-${mark.slice(0, 12)}-`
}

/**
 * Ends every process whose environment has exactly this mark and returns how many there were. On Linux by
 * /proc/<pid>/environ (own user only, or all as root), elsewhere as well as `ps` can tell. Not found are programs
 * that wiped their environment and left the process group, and those that another user runs. `since` (clock ticks
 * after boot, as in /proc/<pid>/stat) is when the first of them was started, if that is known: then they are ours, and
 * who is older than we are is none of them.
 */
export async function endOrphans(mark: string, since = 0, ends = MARK_ENDS): Promise<number> {
  const look =
    process.platform === 'linux' ? createOrphanSearch(mark, since, ends) : () => endByPs(mark, ends)
  const found = new Set<number>()
  const isOver = createStopCondition()
  for (;;) {
    const seen = await look()
    for (const pid of seen.ended) found.add(pid)
    if (isOver(seen)) return found.size
    await delay(1)
  }
}

/** The same for the moment in which we exit ourselves: synchronous, on Linux only. */
export function endOrphansSync(mark: string, since: number): void {
  if (process.platform !== 'linux') return
  const look = createOrphanSearch(mark, since)
  const isOver = createStopCondition()
  while (!isOver(look()));
}

/** Tells, look by look, whether there is to be no other. */
function createStopCondition(): (look: SearchResult) => boolean {
  const began = performance.now()
  let lastSeen = began
  return ({ ended, unsure }) => {
    const now = performance.now()
    if (ended.length > 0) lastSeen = now
    const isQuiet = ended.length === 0 && (!unsure || now - lastSeen > EXEC_LIMIT_MS)
    return isQuiet || now - began > SURVIVOR_LIMIT_MS
  }
}

/** When a process was started, in clock ticks after boot; 0 where that cannot be told. */
export function startTicksOf(pid: number): number {
  return statOf(pid)?.startedAt ?? 0
}

/**
 * Whether anybody of the group still runs. In a container nobody may reap orphans (`container:` jobs run `tail` as
 * pid 1): they stay for ever, dead, and still answer to `kill`.
 */
export function isGroupAlive(group: number): boolean {
  if (!signalGroup(group, 0)) return false
  if (process.platform !== 'linux') return true
  return processIds().some((pid) => {
    const stat = statOf(pid)
    return stat?.group === group && !isDead(pid, stat)
  })
}

/** Windows has no groups: there the program alone is ended, and its descendants are not. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  return signalProcess(process.platform === 'win32' ? pid : -pid, signal)
}

/** False when there is nothing (left) to signal, or it is not ours. */
function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

/** Processes with this mark, which were told to end; `unsure` when one came or went meanwhile: look once more. */
type SearchResult = { ended: number[]; unsure: boolean }

/** Processes without any mark: most of a machine's, and there before. */
const unmarked = new Map<number, string>()

/**
 * Each call looks once. A chain of processes that live for milliseconds has to be met in the middle: the newest come
 * first, are ended where they are found and with their group at once, and nobody is asked twice for the mark.
 */
function createOrphanSearch(mark: string, since: number, ends = MARK_ENDS): () => SearchResult {
  const wanted = ends.map((end) => Buffer.from(`${MARK_NAME}=${mark}${end}`))
  const others = new Set([process.pid])
  const { group: ourGroup, startedAt = 0 } = statOf(process.pid) ?? {}
  const oldest = since > 0 ? startedAt : 0
  return () => {
    const look: SearchResult = { ended: [], unsure: false }
    for (const pid of processIds().sort((a, b) => b - a)) {
      if (others.has(pid)) continue
      const identity = identityOf(pid)
      const isOlder = () => oldest > 0 && (statOf(pid)?.startedAt ?? oldest) < oldest
      if ((identity !== '' && unmarked.get(pid) === identity) || isOlder()) {
        unmarked.set(pid, identity)
        others.add(pid)
        continue
      }
      const environment = environmentOf(pid)
      if (environment !== null && wanted.some((entry) => holds(environment, entry))) {
        const group = statOf(pid)?.group ?? 0
        // Their group is of a session that one of them began. Of ours, which somebody may have joined, it is the one alone.
        if (group > 1 && group !== ourGroup) signalGroup(group, 'SIGKILL')
        signalProcess(pid, 'SIGKILL')
        look.ended.push(pid)
      } else if (environment?.length !== 0) {
        others.add(pid)
        if (environment !== null && !holds(environment, ANY_MARK)) unmarked.set(pid, identity)
      } else if (mayComeBack(pid, since)) {
        // Gone meanwhile, it may have left a child that was not in the list; in an exec, it will have one in a moment.
        look.unsure = true
      }
    }
    return look
  }
}

const ANY_MARK = Buffer.from(`${MARK_NAME}=`)

function holds(environment: Buffer, entry: Buffer): boolean {
  const at = environment.indexOf(entry)
  return at === 0 || (at > 0 && environment[at - 1] === 0)
}

/** Null for another user's; empty without one: dead, gone, the kernel's, or in the middle of an exec. */
function environmentOf(pid: number): Buffer | null {
  const environment = environmentIn(`/proc/${pid}`)
  if (environment !== null && environment.length > 0) return environment
  // Of a first thread that has ended it is empty, and closed to all but root; those that run on still show it.
  const left = threadsLeft(pid).flatMap((thread) => environmentIn(`/proc/${pid}/task/${thread}`) ?? [])
  return left.find(({ length }) => length > 0) ?? left[0] ?? environment
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

/** macOS and others: best effort, `ps` shows the environment of our own programs only, and not of Apple's. */
async function endByPs(mark: string, ends: readonly string[]): Promise<SearchResult> {
  if (process.platform === 'win32') return { ended: [], unsure: false }
  const listing = await ps(['-axww', '-E', '-o', 'pid=,command=']).catch(() => '')
  const ended = listing
    .split('\n')
    .filter((line) =>
      ends.some((end) => ` ${line} `.includes(` ${MARK_NAME}=${mark}${end.replace('\0', ' ')}`)),
    )
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
  for (const pid of ended) signalProcess(pid, 'SIGKILL')
  return { ended, unsure: false }
}
