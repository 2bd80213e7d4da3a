// Watches folders for changes, also folders that do not exist yet. Does not poll.
import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import timers from 'node:timers/promises'

/** Changes that follow each other within this time are reported once, milliseconds. */
const SETTLE_MS = 60
/** How often to look if the system allows no further watch, milliseconds. */
const DEAF_MS = 5000

/**
 * Reports when something in one of the folders, or in a folder there, is created, replaced, removed or written to; and when a
 * missing folder appears. Changes while the caller reads are reported by the next call.
 */
export function watchFolders(folders: readonly string[]) {
  let watchers: FSWatcher[] = []
  let change = new AbortController()
  let isDeaf = false
  const heard = () => change.abort()
  const listen = (folder: string) => {
    for (let at = folder; ; at = dirname(at)) {
      try {
        watchers.push(watch(at, heard).on('error', heard))
        return
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') isDeaf = true
        if (dirname(at) === at) return
      }
    }
  }
  const close = () => {
    for (const watcher of watchers) watcher.close()
    watchers = []
  }
  const start = () => {
    close()
    change = new AbortController()
    isDeaf = false
    for (const folder of folders) {
      // Before its entries are read, so that nothing is missed in between.
      listen(folder)
      for (const inside of foldersIn(folder)) listen(join(folder, inside))
    }
  }
  start()
  return {
    /** Resolves when something has changed since the last time, after `mostMs`, or when it is aborted. */
    async next(mostMs: number, signal?: AbortSignal): Promise<void> {
      const either = AbortSignal.any(signal ? [signal, change.signal] : [change.signal])
      const ms = isDeaf ? Math.min(mostMs, DEAF_MS) : mostMs
      await timers.setTimeout(ms, undefined, { signal: either }).catch(() => {})
      if (change.signal.aborted) await timers.setTimeout(SETTLE_MS, undefined, { signal }).catch(() => {})
      // Each time: a folder may have been replaced.
      start()
    },
    [Symbol.dispose]: close,
  }
}

/** Real folders only, no links. */
function foldersIn(folder: string): string[] {
  try {
    const inside = readdirSync(folder, { withFileTypes: true })
    return inside.filter((one) => one.isDirectory()).map(({ name }) => name)
  } catch {
    return []
  }
}
