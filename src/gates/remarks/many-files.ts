// New folders with very many files, which a tool made and git should ignore.
import type { Change } from '../../engine/model/change.ts'

/** New files of one folder from which on it is named. */
const MANY = 500
/** A folder is named instead of the one above it if it has this share of its new files. */
const SHARE = 0.9

/** Folders of tools, which are named as a whole. */
const OF_TOOLS = /(?:^|\/)(?:\.[^/]+|node_modules|venv|target)$/

type Folder = { path: string; count: number; inside: Map<string, Folder> }

/** A remark for each folder that holds most of many new files, with the line of .gitignore that keeps it out. */
export function manyNewFiles(changes: readonly Change[]): string[] {
  const top: Folder = { path: '', count: 0, inside: new Map() }
  for (const { path, status } of changes) {
    if (status !== 'A') continue
    top.count += 1
    let at = top
    for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
      const folder = path.slice(0, end)
      const next = at.inside.get(folder) ?? { path: folder, count: 0, inside: new Map() }
      at.inside.set(folder, next)
      next.count += 1
      at = next
    }
  }
  return foldersWithMany(top).map(
    ({ path, count }) =>
      `${path}/: ${count} new files. If a tool created them, add the line /${path}/ to .gitignore before you merge`,
  )
}

function foldersWithMany(folder: Folder): Folder[] {
  if (folder.count < MANY) return []
  if (OF_TOOLS.test(folder.path)) return [folder]
  const below = [...folder.inside.values()]
  const most = below.find(({ count }) => count >= SHARE * folder.count)
  if (most !== undefined) return foldersWithMany(most)
  return folder.path === '' ? below.flatMap(foldersWithMany) : [folder]
}
