// Hears of changes in folders, also in one that is not there yet. Nothing is asked by time.
import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import timers from 'node:timers/promises'

/** Changes that come together are told once, so much later. Milliseconds. */
const SETTLE_MS = 60
/** Where the system lets us hear no more, such as at its limit of watches, it is looked so often. Milliseconds. */
const DEAF_MS = 5000

/**
 * Hears when something in one of the folders, or in a folder there, is made, replaced, removed or written to; where one is
 * missing, when it comes. From now on: what changes while its hearer looks is told next time.
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
      // Before what is in it is asked for: what comes after that is heard.
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
      // Anew each time: a folder may be another one by now.
      start()
    },
    [Symbol.dispose]: close,
  }
}

/** Real ones: a link leads elsewhere. */
function foldersIn(folder: string): string[] {
  try {
    const inside = readdirSync(folder, { withFileTypes: true })
    return inside.filter((one) => one.isDirectory()).map(({ name }) => name)
  } catch {
    return []
  }
}
