// The folders of a run on this machine, such as `7-auth`, and how long they are kept. There is one for its transcripts, one for the logs of
// its gates, and one for screenshots. An agent can write there: links are removed, never followed.
import { lstat, mkdir, readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../system/errors.ts'
import { clearPathTo } from '../system/files.ts'

/** Folders below `.git/ralph` that are kept by run. */
const FOLDERS = ['transcripts', 'logs', 'screenshots']
const RUN = /^([1-9]\d{0,6})-(.+)$/
/** The maximum number of old runs that are removed at once. */
const MAX_REMOVED = 200

export type RunLogs = AsyncDisposable & {
  /** The folder's name. Null if it could not be made: then files go into the folders above it. */
  name: string | null
  /** Removes the folders of older runs. Called once the lease is taken, so that no other run of the feature is at work. */
  clean(): Promise<void>
}

export type RunFolder = { name: string; number: number; feature: string }

/** Reads a run from its folder's name; null for any other name. */
export function parseRunFolder(name: string): RunFolder | null {
  const [, number, feature = ''] = RUN.exec(name) ?? []
  return number === undefined ? null : { name, number: Number(number), feature }
}

/**
 * Makes the next run's folder in `top` (`.git/ralph`). `keep`: how many runs are kept, with this one; with 0 this run's folders
 * are removed when it ends. Errors are only warnings.
 */
export async function openRunLogs(
  top: string,
  feature: string,
  keep: number,
  warn: (message: string) => void,
): Promise<RunLogs> {
  const warnOnError = <T>(act: Promise<T>): Promise<T | null> =>
    act.catch((error: unknown) => {
      warn(`Ralph could not delete older logs in ${top}: ${messageOf(error)}`)
      return null
    })
  const own = await warnOnError(makeRunFolder(top, feature))
  const folders = own === null ? [] : FOLDERS.map((kind) => join(top, kind, own.name))
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

async function makeRunFolder(top: string, feature: string): Promise<RunFolder> {
  const [first = ''] = FOLDERS
  await clearPathTo(join(top, '..'), join(top, first, 'run'))
  const last = Math.max(0, ...(await runsIn(top)).map(({ number }) => number))
  for (let number = last + 1; ; number++) {
    const name = `${number}-${feature}`
    try {
      await mkdir(join(top, first, name))
      return { name, number, feature }
    } catch (error) {
      // Another run has just taken this number.
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
}

async function runsIn(top: string): Promise<RunFolder[]> {
  const names = await Promise.all(FOLDERS.map((kind) => readdir(join(top, kind)).catch(() => [])))
  const runs = [...new Set(names.flat())].flatMap((name) => parseRunFolder(name) ?? [])
  return runs.sort((one, other) => one.number - other.number)
}

/** Removes old runs, but not the newest `keep`, nor the newest run of a feature, which may be at work in another terminal. */
async function removeOlder(top: string, own: RunFolder, keep: number): Promise<void> {
  const runs = await runsIn(top)
  const keptNames = new Set([own.name, ...runs.slice(-keep).map(({ name }) => name)])
  for (const feature of new Set(runs.map((run) => run.feature)))
    keptNames.add(runs.findLast((run) => run.feature === feature)?.name ?? '')
  const removed = runs.filter(({ name }) => !keptNames.has(name)).slice(0, MAX_REMOVED)
  for (const { name } of removed)
    for (const kind of FOLDERS) await rm(join(top, kind, name), { recursive: true, force: true })
  if (runs.length > keep)
    await removeFilesWithoutRun(top, runs.find(({ name }) => keptNames.has(name)) ?? own)
}

/** Removes files without a run (of a plan, or of `ralph verify`) that are older than the oldest run that is kept. */
async function removeFilesWithoutRun(top: string, oldest: RunFolder): Promise<void> {
  const [first = ''] = FOLDERS
  const since = (await lstat(join(top, first, oldest.name)).catch(() => null))?.birthtimeMs ?? 0
  let remaining = MAX_REMOVED
  for (const kind of FOLDERS)
    for (const name of await readdir(join(top, kind)).catch(() => [])) {
      if (remaining === 0 || parseRunFolder(name) !== null) continue
      const file = join(top, kind, name)
      const found = await lstat(file)
      if (found.isDirectory() || found.mtimeMs >= since) continue
      remaining -= 1
      await rm(file, { force: true })
    }
}
