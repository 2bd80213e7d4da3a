// Sets of paths: those that a plan expects a story to change, and those that its attempts changed. Pure.
import type { Story } from '../model/feature.ts'

/** The maximum number of paths kept for a story, and their longest, in UTF-16 units: a state holds thousands of stories. */
const MAX_PATHS = 50
const MAX_PATH_LENGTH = 300

/** The whole tree. */
const ROOT = ''

/** The paths that a story is expected to change, as the plan has them: files, or folders for all below them. */
export function plannedPaths({ extra }: Story): string[] {
  const touches = extra?.touches
  const paths = typeof touches === 'string' ? [touches] : Array.isArray(touches) ? touches : []
  return paths.filter((path) => typeof path === 'string').map(withoutGlob)
}

/** The folder above the first segment with a `*`; a path without one is returned unchanged. */
function withoutGlob(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  const star = segments.findIndex((segment) => segment.includes('*'))
  return (star === -1 ? segments : segments.slice(0, star)).join('/')
}

/**
 * At most 50 paths that all of these are, or are in. If there are more files, their folders stand for them: none of the files
 * is forgotten.
 */
export function coveringPaths(paths: Iterable<string>): string[] {
  const whole = outermost([...paths].map(shortened))
  if (whole.length <= MAX_PATHS) return whole
  // A greater depth never has fewer paths: the greatest with few enough is found by halving.
  let covering = [ROOT]
  let deepest = whole.reduce((most, path) => Math.max(most, depthOf(path)), 0)
  for (let known = 0; known < deepest; ) {
    const depth = Math.ceil((known + deepest) / 2)
    const finer = outermost(whole.map((path) => path.split('/').slice(0, depth).join('/')))
    if (finer.length > MAX_PATHS) deepest = depth - 1
    else {
      known = depth
      covering = finer
    }
  }
  return covering
}

/** The paths that are in no other one of them, sorted. */
function outermost(paths: readonly string[]): string[] {
  // Sorted by this key, everything in a folder follows the folder.
  const keys = [...new Set(paths)].map((path) => path.replaceAll('/', '\0')).sort()
  const found: string[] = []
  for (const key of keys) {
    const above = found.at(-1)
    if (above === ROOT || (above !== undefined && key.startsWith(`${above}\0`))) continue
    found.push(key)
  }
  return found.map((key) => key.replaceAll('\0', '/')).sort()
}

function shortened(path: string): string {
  let short = path
  while (short.length > MAX_PATH_LENGTH) short = parentOf(short)
  return short
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

function depthOf(path: string): number {
  return path === ROOT ? 0 : path.split('/').length
}

/** Files and folders, each with values. */
export class PathMap<T> {
  readonly #values = new Map<string, T[]>()
  /** Of all paths below a folder. */
  readonly #below = new Map<string, T[]>()

  add(path: string, value: T): void {
    push(this.#values, path, value)
    for (const folder of foldersOf(path)) push(this.#below, folder, value)
  }

  /** The values of the path, of folders above it and of what is below it. */
  overlapping(path: string): T[] {
    return [...this.covering(path), ...(this.#below.get(path) ?? [])]
  }

  /** The values of the path and of folders above it. */
  covering(path: string): T[] {
    return [path, ...foldersOf(path)].flatMap((above) => this.#values.get(above) ?? [])
  }
}

function push<T>(all: Map<string, T[]>, key: string, value: T): void {
  const known = all.get(key)
  if (known === undefined) all.set(key, [value])
  else known.push(value)
}

/** All folders above a path, the root at last. */
function foldersOf(path: string): string[] {
  const folders: string[] = []
  for (let at = path; at !== ROOT; ) {
    at = parentOf(at)
    folders.push(at)
  }
  return folders
}
