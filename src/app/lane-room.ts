// Whether the work trees of lanes fit on the disk. The size of one is estimated from the checkout.
import { statfsSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { nulFields } from '../git/git-process.ts'
import type { Environment } from '../isolation/untrusted-env.ts'
import type { Mistake } from '../system/errors.ts'
import { findStaleLanes } from './lane-work-trees.ts'
import { workTreesFolder } from './work-trees-folder.ts'
import type { Workspace } from './workspace.ts'

/**
 * In bytes on the disk. `place`: the folder of the work trees. `free`: free bytes, together with those of stale work trees, which are
 * removed first. `committed`: the files of the commit. `installed`: the ignored files of the checkout if there is a `prepare`, which makes
 * them again in each work tree; else 0.
 */
export type LaneRoom = { place: string; free: number; committed: number; installed: number }

/** The maximum number of files to measure: a large folder of data would take minutes. */
const MAX_FILES = 100_000
const BLOCK = 4096

/** Measures what a work tree of this commit takes, and what is free where they are made. */
export async function measureLaneRoom(
  { git, clone }: Pick<Workspace, 'git' | 'clone'>,
  commit: string,
  { env, prepare }: { env: Environment; prepare: boolean },
): Promise<LaneRoom> {
  const place = workTreesFolder(env)
  const listed = await git.run(['ls-tree', '-r', '-l', '-z', '--full-tree', commit])
  const sizes = nulFields(listed).map((line) => Number(/^\d+ blob \w+ +(\d+)\t/.exec(line)?.[1] ?? 0))
  const committed = sizes.reduce((sum, size) => sum + Math.ceil(size / BLOCK) * BLOCK, 0)
  const ignored = prepare ? await git.ignored() : []
  const installed = await bytesOnDisk(
    ignored.map((path) => join(clone.workTree, path)),
    MAX_FILES,
  )
  // Without a limit, because removing these files takes longer anyway.
  const stale = await bytesOnDisk(await findStaleLanes(place, clone), Number.POSITIVE_INFINITY)
  return { place, free: freeBytes(place) + stale, committed, installed }
}

/** Why so many work trees do not fit, even with only the committed files; null if they do. */
export function laneRoomMistake(lanes: number, room: LaneRoom): Mistake | null {
  const count = countFitting(room.free, room.committed)
  if (count >= lanes) return null
  return {
    path: 'max-parallel',
    found: `${room.place} has room for ${count} of ${lanes} work trees: ${describeRoom(room)}.`,
    expected: '',
    fix: fixFor(count),
  }
}

function fixFor(count: number): string {
  const fix = 'free up space there, or set XDG_CACHE_HOME to a folder on another disk'
  return count > 1 ? `${fix}, or max-parallel to ${count}` : fix
}

/**
 * The same with what `prepare` installs into the checkout. It is a warning, because not every ignored file comes from `prepare`.
 * Null as well if not even the committed files fit.
 */
export function laneRoomWarning(lanes: number, room: LaneRoom): Omit<Mistake, 'path'> | null {
  const count = countFitting(room.free, room.committed + room.installed)
  if (count >= lanes || laneRoomMistake(lanes, room) !== null) return null
  const found = `${room.place} may have room for only ${count} of ${lanes} work trees: ${describeRoom(room)}.`
  return { found, expected: '', fix: fixFor(count) }
}

/** `each work tree needs 120 MB for committed files, plus what prepare installs (up to 800 MB in this checkout); 2.0 GB are free`. */
function describeRoom({ free, committed, installed }: LaneRoom): string {
  const more =
    installed === 0
      ? ''
      : ` for committed files, plus what prepare installs (up to ${formatBytes(installed)} in this checkout)`
  return `each work tree needs ${formatBytes(committed)}${more}; ${formatBytes(free)} are free`
}

function countFitting(free: number, each: number): number {
  return each === 0 ? Number.POSITIVE_INFINITY : Math.floor(free / each)
}

function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const at = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const value = bytes / 1000 ** at
  return `${at > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[at]}`
}

function freeBytes(place: string): number {
  for (let at = place; ; at = dirname(at)) {
    try {
      const { bavail, blocks, bsize } = statfsSync(at)
      // Some network file systems report no size.
      return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize
    } catch (error) {
      // The folder is made when the first lane opens.
      if (at === dirname(at)) throw error
    }
  }
}

async function bytesOnDisk(paths: readonly string[], most: number): Promise<number> {
  let bytes = 0
  let files = 0
  const waiting = [...paths]
  while (waiting.length > 0 && files < most) {
    const at = waiting.pop() ?? ''
    files += 1
    const found = await lstat(at).catch(() => null)
    if (found === null) continue
    bytes += found.blocks * 512
    if (!found.isDirectory()) continue
    const names = await readdir(at).catch(() => [])
    for (const name of names) waiting.push(join(at, name))
  }
  return bytes
}
