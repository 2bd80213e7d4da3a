// What a run on this machine leaves beside the repository: a folder of its own, `7-auth`, for its transcripts and one for
// the logs of its gates; and how long they stay. An agent can write there: links are removed, never followed.
import { lstat, mkdir, readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../system/errors.ts'
import { clearPathTo } from '../system/files.ts'

/** Folders below `.git/ralph` that are kept by run. */
const KINDS = ['transcripts', 'logs', 'screenshots']
const RUN = /^([1-9]\d{0,6})-(.+)$/
/** Of what many runs have left, so much goes at once. */
const MOST_REMOVED = 200

export type RunLogs = AsyncDisposable & {
  /** The folder's name; null where none could be made: then they lie where those of no run do. */
  name: string | null
  /** Removes those of older runs: called when the feature is ours, and so nobody else's run of it is in work. */
  clean(): Promise<void>
}

export type RunFolder = { name: string; number: number; feature: string }

/** The run that a folder's name is of; null for any other name. */
export function parseRunFolder(name: string): RunFolder | null {
  const [, number, feature = ''] = RUN.exec(name) ?? []
  return number === undefined ? null : { name, number: Number(number), feature }
}

/**
 * Makes the next run's folder in `top` (`.git/ralph`). `keep`: runs that are kept, this one among them; 0: none, and what
 * this one leaves goes when it ends. What cannot be done is a warning.
 */
export async function openRunLogs(
  top: string,
  feature: string,
  keep: number,
  warn: (message: string) => void,
): Promise<RunLogs> {
  const warnOnError = <T>(act: Promise<T>): Promise<T | null> =>
    act.catch((error: unknown) => {
      warn(`older logs in ${top} stay: ${messageOf(error)}`)
      return null
    })
  const own = await warnOnError(makeNext(top, feature))
  const folders = own === null ? [] : KINDS.map((kind) => join(top, kind, own.name))
  return {
    name: own?.name ?? null,
    clean: async () => {
      if (own !== null) await warnOnError(removeOlder(top, own, Math.max(1, keep)))
    },
    async [Symbol.asyncDispose]() {
      const remove = (folder: string) =>
        keep === 0 ? rm(folder, { recursive: true, force: true }) : rmdir(folder).catch(() => {})
      for (const folder of folders) await warnOnError(remove(folder))
    },
  }
}

async function makeNext(top: string, feature: string): Promise<RunFolder> {
  const [first = ''] = KINDS
  await clearPathTo(join(top, '..'), join(top, first, 'run'))
  const last = Math.max(0, ...(await runsIn(top)).map(({ number }) => number))
  for (let number = last + 1; ; number++) {
    const name = `${number}-${feature}`
    try {
      await mkdir(join(top, first, name))
      return { name, number, feature }
    } catch (error) {
      // Another one has just taken it.
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
}

async function runsIn(top: string): Promise<RunFolder[]> {
  const names = await Promise.all(KINDS.map((kind) => readdir(join(top, kind)).catch(() => [])))
  const runs = [...new Set(names.flat())].flatMap((name) => parseRunFolder(name) ?? [])
  return runs.sort((one, other) => one.number - other.number)
}

/** The newest `keep` runs stay, and the newest one of every feature: it may be in work, in another terminal. */
async function removeOlder(top: string, own: RunFolder, keep: number): Promise<void> {
  const runs = await runsIn(top)
  const kept = new Set([own.name, ...runs.slice(-keep).map(({ name }) => name)])
  for (const feature of new Set(runs.map((run) => run.feature)))
    kept.add(runs.findLast((run) => run.feature === feature)?.name ?? '')
  const gone = runs.filter(({ name }) => !kept.has(name)).slice(0, MOST_REMOVED)
  for (const { name } of gone)
    for (const kind of KINDS) await rm(join(top, kind, name), { recursive: true, force: true })
  if (runs.length > keep) await removeLoose(top, runs.find(({ name }) => kept.has(name)) ?? own)
}

/** What is of no run (a plan, a `ralph verify`) goes with the runs of its time. */
async function removeLoose(top: string, oldest: RunFolder): Promise<void> {
  const [first = ''] = KINDS
  const since = (await lstat(join(top, first, oldest.name)).catch(() => null))?.birthtimeMs ?? 0
  let left = MOST_REMOVED
  for (const kind of KINDS)
    for (const name of await readdir(join(top, kind)).catch(() => [])) {
      if (left === 0 || parseRunFolder(name) !== null) continue
      const file = join(top, kind, name)
      const found = await lstat(file)
      if (found.isDirectory() || found.mtimeMs >= since) continue
      left -= 1
      await rm(file, { force: true })
    }
}
