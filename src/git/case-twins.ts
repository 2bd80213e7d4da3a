// New paths that differ from another path only in case. On macOS and Windows both are one file.
import type { Change } from '../engine/model/change.ts'
import type { IndexListing } from './git-index.ts'

/** A new path, and the file or folder that it collides with. */
export type CaseTwin = { path: string; twin: string }

/** `listing`: the entries before the changes. */
export function caseTwins(listing: IndexListing, changes: readonly Change[]): CaseTwin[] {
  const added = changes.filter(({ status }) => status === 'A')
  if (added.length === 0) return []
  const known = new Map([...listing.folders, ...listing.paths].map((path) => [fold(path), path]))
  const removed = new Set(changes.flatMap(({ status, path }) => (status === 'D' ? [path] : [])))
  // After a change of case, the old file or folder no longer exists.
  const isLeft = (twin: string) =>
    listing.folders.has(twin)
      ? listing.paths.some((path) => path.startsWith(`${twin}/`) && !removed.has(path))
      : !removed.has(twin)
  const found: CaseTwin[] = []
  for (const { path } of added) {
    const twin = withParents(path)
      .map((one) => ({ one, other: known.get(fold(one)) }))
      .find(({ one, other }) => other !== undefined && other !== one && isLeft(other))?.other
    if (twin !== undefined) found.push({ path, twin })
    else for (const one of withParents(path)) known.set(fold(one), one)
  }
  return found
}

/** The folders above a path, and the path. */
function withParents(path: string): string[] {
  const all: string[] = []
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) all.push(path.slice(0, end))
  return [...all, path]
}

function fold(path: string): string {
  return path.normalize('NFC').toLowerCase()
}
