// Keeps between jobs what `prepare` made: the folders that `prepare-paths` names. Within a job `prepare` runs again only where a lockfile
// changed; with this cache the same holds for a chain of jobs. A clean room never uses it, so the final verification does not depend on it.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { CacheEntry, FileCache } from '../engine/model/ports.ts'
import { oneLine } from '../engine/model/text.ts'
import { packFolders, unpackFolders, withCacheFile } from '../system/cache-archive.ts'
import { firstLinkIn, isFolderSync } from '../system/files.ts'
import { type RunRequest, runUntrusted } from '../system/process.ts'

export type PrepareCache = {
  /** Restores the folders, so that `prepare` does not need to run for this commit. To be called before its first run in a job. */
  restore(commit: string, signal: AbortSignal): Promise<boolean>
  /** Saves the folders where `restore` found none. To be called when that `prepare` has ended, and before anything else runs. */
  save(signal: AbortSignal): Promise<void>
}

export type PrepareCacheOptions = Pick<RunRequest, 'env' | 'as'> & {
  files: FileCache
  /** The only commit for which folders are saved: one of the default branch, so that no session wrote what `prepare` runs. Null: none. */
  trusted: string | null
  /** False where `prepare` has to run, as in a clean room: then the folders are saved, and never restored. */
  restores: boolean
  /** Folders of the checkout, by their paths from its root. */
  paths: readonly string[]
  /** What the folders depend on beside the lockfiles: the command, where it runs, and the machine. */
  identity: readonly unknown[]
  /** The lockfiles of a commit, each with its content's id. */
  lockfiles(commit: string): Promise<readonly string[]>
  /** What git ignores in the checkout: files, and folders that end in `/`. */
  ignored(): Promise<readonly string[]>
  top: string
  /** Ralph's own folder, for the archive. */
  own: string
  report(line: string): void
}

/** Milliseconds. Both are short beside the ten minutes that a lease holds longer than an iteration. */
const TIMEOUT_MS = 3 * 60_000
/** Part of the cache key, so that entries of another format are not found. */
const FORMAT_VERSION = 1

export function openPrepareCache(options: PrepareCacheOptions): PrepareCache {
  const { files, trusted, restores, paths, top, own, env, as } = options
  const report = (line: string) => options.report(`prepare-paths: ${line}`)
  /** What the cache lacks, where `prepare` began in a checkout as git makes it; null where nothing may be saved. */
  let entryToSave: CacheEntry | null = null

  const limits = (signal: AbortSignal) => ({ env, as: as ?? null, signal, timeoutMs: TIMEOUT_MS })
  const archived = (signal: AbortSignal) => ({ folder: top, paths, ...limits(signal) })

  async function inCacheFile(
    action: string,
    signal: AbortSignal,
    work: (file: string, signal: AbortSignal) => Promise<boolean>,
  ): Promise<boolean> {
    await mkdir(own, { recursive: true })
    return withCacheFile(own, { action, timeoutMs: TIMEOUT_MS, signal, report }, work)
  }

  const missing = () => paths.filter((path) => !isFolderSync(join(top, path)))

  /** A partly unpacked folder must not be taken for one that `prepare` made. */
  async function removeFolders(): Promise<void> {
    const command = { file: 'rm', args: ['-rf', '--', ...paths], cwd: top, captureBytes: 4096 }
    await runUntrusted({ ...command, ...limits(AbortSignal.timeout(TIMEOUT_MS)) })
  }

  return {
    async restore(commit, signal) {
      for (const path of paths) {
        // A link of the commit could lead out of the checkout.
        if ((await firstLinkIn(top, path)) !== null || existsSync(join(top, path))) {
          report(`${path} is in the checkout already, so the cache is not used`)
          return false
        }
      }
      const entry = await entryOf(commit, options)
      if (entry === null) {
        report('the commit has no lockfile, so the cache is not used')
        return false
      }
      let isMissing = false
      const isRestored = await inCacheFile('restoring', signal, async (file, either) => {
        isMissing = !(await (restores ? files.get(entry, file, either) : files.has(entry, either)))
        if (isMissing || !restores) return false
        await unpackFolders(file, archived(either))
        const absent = missing()
        if (absent.length > 0) throw new Error(`the entry has no folder ${oneLine(absent.join(', '))}`)
        return true
      })
      if (restores && !isMissing && !isRestored) await removeFolders()
      if (isMissing && commit === trusted && isCheckedOut(await options.ignored(), report))
        entryToSave = entry
      return isRestored
    },

    async save(signal) {
      const entry = entryToSave
      if (entry === null) return
      const isNamed = (made: string) => paths.some((path) => made.startsWith(`${path}/`))
      const unnamed = (await options.ignored()).filter((made) => !isNamed(made))
      if (unnamed.length > 0) {
        const names = oneLine(unnamed.join(', '))
        return report(`not saved, for prepare also made ${names}: name that, too, or have it made elsewhere`)
      }
      const absent = missing()
      if (absent.length > 0) return report(`not saved, for prepare made no folder ${absent.join(', ')}`)
      await inCacheFile('saving', signal, async (file, either) => {
        await packFolders(file, archived(either))
        await files.put(entry, file, either)
        return true
      })
    },
  }
}

/** Whether nothing lies in the checkout that git ignores: an earlier job's sessions could have left it, and `prepare` would use it. */
function isCheckedOut(ignored: readonly string[], report: (line: string) => void): boolean {
  if (ignored.length === 0) return true
  report(`nothing is saved, for git ignores ${oneLine(ignored.join(', '))} before prepare has run`)
  return false
}

/** Null where the commit has no lockfile: then nothing says when the folders are out of date. */
async function entryOf(
  commit: string,
  { lockfiles, paths, identity, top }: PrepareCacheOptions,
): Promise<CacheEntry | null> {
  const found = await lockfiles(commit)
  if (found.length === 0) return null
  const text = JSON.stringify([FORMAT_VERSION, identity, top, paths, found])
  const version = createHash('sha256').update(text).digest('hex')
  return { key: `ralph-prepare-${process.platform}-${process.arch}-${version.slice(0, 16)}`, version }
}
