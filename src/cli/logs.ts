// Finds, chooses and reads the logs of a feature's sessions and gates on this machine.
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseRunFolder, type RunFolder } from '../app/run-logs.ts'
import type { Workspace } from '../app/workspace.ts'
import type { Settings } from '../settings/read-settings.ts'
import { watchFolders } from '../system/watch.ts'

/** `kind`: of a session, or of a gate before or after one. `run`: null for a log that belongs to no run, such as a plan's. */
export type Log = {
  path: string
  kind: 'session' | 'gate'
  name: string
  run: RunFolder | null
  at: number
  bytes: number
}

/** How often a run at work is looked for, because one that is killed changes no file. Milliseconds. */
export const ALIVE_MS = 5000

const FOLDERS = [
  ['transcripts', 'session'],
  ['logs', 'gate'],
] as const

/**
 * The logs of a feature's sessions and gates in `top` (`.git/ralph`), in order of time; also those that belong to no run. With
 * `newest`, only those of its newest run.
 */
export async function logsIn(top: string, feature: string, which: 'all' | 'newest' = 'all'): Promise<Log[]> {
  const logs: Log[] = []
  for (const [folder, kind] of FOLDERS) {
    const names = await readdir(join(top, folder)).catch(() => [])
    const runs = names.flatMap((name) => parseRunFolder(name) ?? []).filter((run) => run.feature === feature)
    const newest = runs.sort((one, other) => one.number - other.number).slice(-1)
    for (const run of which === 'newest' && newest.length > 0 ? newest : [null, ...runs]) {
      const inside = run === null ? names : await namesIn(join(top, folder, run.name))
      for (const file of inside.filter((name) => name.endsWith('.log'))) {
        const path = join(top, folder, run?.name ?? '', file)
        const found = await lstat(path).catch(() => null)
        // An agent can write there as well: only regular files are logs, no links or pipes.
        if (found?.isFile() === true)
          logs.push({ path, kind, name: file.slice(0, -4), run, at: found.mtimeMs, bytes: found.size })
      }
    }
  }
  return logs.sort((one, other) => one.at - other.at)
}

/** The names in a real folder: a link is not followed. */
async function namesIn(folder: string): Promise<string[]> {
  return (await lstat(folder).catch(() => null))?.isDirectory() === true ? readdir(folder) : []
}

/** Watches for every state that is saved on this machine, and for new output of sessions. */
export const watchRuns = ({ clone, git }: Workspace, { stateNamespace }: Settings) =>
  watchFolders([join(git.shared, stateNamespace), join(clone.gitDir, 'ralph', 'transcripts')])

/** The number of the newest run with logs; null if no log belongs to a run. */
export function newestRun(logs: readonly Log[]): number | null {
  const numbers = logs.flatMap(({ run }) => run?.number ?? [])
  return numbers.length === 0 ? null : Math.max(...numbers)
}

/** The session that was written to last, in the newest run. */
export function newestSession(logs: readonly Log[]): Log | null {
  const run = newestRun(logs)
  return logs.findLast((log) => log.kind === 'session' && (log.run?.number ?? null) === run) ?? null
}

/** Reads a file that may still grow, in whole lines. */
export class GrowingFile {
  readonly #path: string
  #handle: FileHandle | null = null
  #at: number
  #isCut: boolean
  #rest = Buffer.alloc(0)

  /** `from`: so many bytes are skipped, and the rest of the line that they end in. */
  constructor(path: string, from = 0) {
    this.#path = path
    this.#at = from
    this.#isCut = from > 0
  }

  /** The first line of the file, or the start of one that is long. */
  async head(): Promise<string> {
    const { bytesRead, buffer } = await (await this.#open()).read(Buffer.alloc(100), 0, 100, 0)
    return buffer.toString('utf8', 0, bytesRead).split('\n', 1)[0] ?? ''
  }

  /** The lines since the last call. `isOver`: no more will come, so that the rest without a line break is a line as well. */
  async lines(isOver = false): Promise<string[]> {
    const file = await this.#open()
    const parts = [this.#rest]
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(PORTION), 0, PORTION, this.#at)
      if (bytesRead === 0) break
      this.#at += bytesRead
      parts.push(buffer.subarray(0, bytesRead))
    }
    const all = Buffer.concat(parts)
    const end = isOver ? all.length : all.lastIndexOf(10) + 1
    this.#rest = all.subarray(end)
    const text = all.subarray(0, end).toString('utf8')
    const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
    if (!this.#isCut || lines.length === 0) return lines
    this.#isCut = false
    return lines.slice(1)
  }

  async #open(): Promise<FileHandle> {
    this.#handle ??= await open(this.#path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    return this.#handle
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close()
  }
}

const PORTION = 256 * 1024
