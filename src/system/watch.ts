// Watches folders for changes, also folders that do not exist yet. Polls only if the system allows no further watch.
import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import timers from 'node:timers/promises'

/** Changes that follow each other within this time are reported once, milliseconds. */
const SETTLE_MS = 60
/** How often to look if the system allows no further watch, milliseconds. */
const POLL_MS = 5000

/**
 * Reports changes in these folders and in their subfolders (one level), and a missing folder that appears. A change is reported by the
 * next call of `next`, also if it happened before the call.
 */
export function watchFolders(folders: readonly string[]) {
  let watchers: FSWatcher[] = []
  let change = new AbortController()
  let isPolling = false
  const onChange = () => change.abort()
  /** Watches a folder. If it does not exist, the nearest parent folder that does. */
  const listen = (folder: string) => {
    for (let existing = folder; ; existing = dirname(existing)) {
      try {
        watchers.push(watch(existing, onChange).on('error', onChange))
        return
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') isPolling = true
        if (dirname(existing) === existing) return
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
    isPolling = false
    for (const folder of folders) {
      // The folder is watched before its entries are read, so that no new entry is missed in between.
      listen(folder)
      for (const subfolder of foldersIn(folder)) listen(join(folder, subfolder))
    }
  }
  start()
  return {
    /** Resolves when something has changed since the last time, after `maxMs`, or when it is aborted. */
    async next(maxMs: number, signal?: AbortSignal): Promise<void> {
      const changeOrAbort = AbortSignal.any(signal ? [signal, change.signal] : [change.signal])
      const ms = isPolling ? Math.min(maxMs, POLL_MS) : maxMs
      await timers.setTimeout(ms, undefined, { signal: changeOrAbort }).catch(() => {})
      if (change.signal.aborted) await timers.setTimeout(SETTLE_MS, undefined, { signal }).catch(() => {})
      // The watches are made again each time, because a folder may have been replaced.
      start()
    },
    [Symbol.dispose]: close,
  }
}

/** The names of the subfolders. Links are not followed. */
function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  } catch {
    return []
  }
}
