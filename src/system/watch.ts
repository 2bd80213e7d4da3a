// Hears of changes in folders, also in one that is not there yet. Nothing is asked by time.
import { type FSWatcher, watch } from 'node:fs'
import { dirname } from 'node:path'

/** Changes that come together are told once, so much later. Milliseconds. */
const SETTLE_MS = 60

/**
 * Calls `changed` when something in one of the folders was made, replaced, removed or written to; not for what lies deeper.
 * Where a folder is missing, its nearest parent is watched until it is there.
 */
export function watchFolders(folders: readonly string[], changed: () => void): Disposable {
  let watchers: FSWatcher[] = []
  let timer: NodeJS.Timeout | null = null
  let isClosed = false
  const close = () => {
    for (const one of watchers) one.close()
    watchers = []
  }
  const heard = () => {
    timer ??= setTimeout(() => {
      timer = null
      if (isClosed) return
      // Anew each time: a folder may be another one by now.
      start()
      changed()
    }, SETTLE_MS)
  }
  const start = () => {
    close()
    watchers = folders.flatMap((folder) => nearest(folder, heard) ?? [])
  }
  start()
  return {
    [Symbol.dispose]() {
      isClosed = true
      if (timer !== null) clearTimeout(timer)
      close()
    },
  }
}

function nearest(folder: string, heard: () => void): FSWatcher | null {
  for (let at = folder; ; at = dirname(at)) {
    try {
      const watcher = watch(at, heard)
      watcher.on('error', heard)
      return watcher
    } catch {
      if (dirname(at) === at) return null
    }
  }
}
