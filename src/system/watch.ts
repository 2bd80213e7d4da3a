// Watches folders for changes, also folders that do not exist yet. Polls only where the system allows no further watch.
import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import timers from 'node:timers/promises'

/** Changes that follow each other within this time are reported once, milliseconds. */
const SETTLE_MS = 60
/** How often to look where the system allows no further watch, milliseconds. */
const POLL_MS = 5000

/**
 * Reports when something in one of the folders, or in a folder there, is created, replaced, removed or written to; and when a
 * missing folder appears. Changes while the caller reads are reported by the next call.
 */
export function watchFolders(folders: readonly string[]) {
  let watchers: FSWatcher[] = []
  let change = new AbortController()
  let isPolling = false
  const onChange = () => change.abort()
  const listen = (folder: string) => {
    for (let at = folder; ; at = dirname(at)) {
      try {
        watchers.push(watch(at, onChange).on('error', onChange))
        return
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') isPolling = true
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
    isPolling = false
    for (const folder of folders) {
      // The folder is watched before its entries are read, so that no new entry is missed in between.
      listen(folder)
      for (const inside of foldersIn(folder)) listen(join(folder, inside))
    }
  }
  start()
  return {
    /** Resolves when something has changed since the last time, after `maxMs`, or when it is aborted. */
    async next(maxMs: number, signal?: AbortSignal): Promise<void> {
      const either = AbortSignal.any(signal ? [signal, change.signal] : [change.signal])
      const ms = isPolling ? Math.min(maxMs, POLL_MS) : maxMs
      await timers.setTimeout(ms, undefined, { signal: either }).catch(() => {})
      if (change.signal.aborted) await timers.setTimeout(SETTLE_MS, undefined, { signal }).catch(() => {})
      // The watches are made anew each time, because a folder may have been replaced.
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
