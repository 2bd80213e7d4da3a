import { featureOfFolder } from '../branch/find-features.ts'
import type { Repository } from '../branch/repository.ts'
import type { State } from '../engine/model/state.ts'
import { UserError } from '../system/errors.ts'
import { displayPath } from '../system/path-text.ts'

/** Throws UserError with the list of uncommitted changes that are not `allowed`. Gives the paths of those that are. */
export async function checkDirt(
  repository: Repository,
  checkedOut: string,
  allowed: (path: string) => boolean,
): Promise<string[]> {
  const dirt = await repository.uncommitted(checkedOut)
  const foreign = dirt.filter(({ path }) => !allowed(path))
  if (foreign.length === 0) return dirt.map(({ path }) => path)
  const names = foreign.map(({ path }) => path)
  const untracked = foreign.filter(({ isUntracked }) => isUntracked).map(({ path }) => path)
  const mistake = { path: 'work tree', expected: '' }
  if (untracked.length <= MANY_UNTRACKED) {
    const found = `there are uncommitted changes: ${formatPaths(names)}.`
    throw new UserError({ ...mistake, found, fix: 'commit or stash them, then run again' })
  }
  const folders = (await repository.untracked())
    .filter((path) => path.endsWith('/'))
    .map((folder) => ({ folder, count: untracked.filter((path) => path.startsWith(folder)).length }))
    .filter(({ count }) => count > 0)
    .sort((one, other) => other.count - one.count)
  const where =
    folders.length === 0
      ? ''
      : `, in ${formatPaths(folders.map(({ folder, count }) => `${folder} (${count})`))}`
  const found = `there are ${names.length} uncommitted changes. ${untracked.length} of them are files that git neither tracks nor ignores${where}.`
  const fix = `list the files that tools create${folders[0] === undefined ? '' : ` (such as ${folders[0].folder})`} in .gitignore, commit or stash the rest, then run again`
  throw new UserError({ ...mistake, found, fix })
}

/** More untracked files than this are output of tools that .gitignore does not name, not forgotten work. */
const MANY_UNTRACKED = 100

/** The first five paths, and how many more there are. */
export function formatPaths(names: readonly string[]): string {
  return (
    names.slice(0, 5).map(displayPath).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '')
  )
}

/** Whether the feature's first commit writes this path: stories that are not committed yet, or files of a first commit that was cut short. */
export function isOwnFile(state: State, path: string): boolean {
  return (
    path.startsWith(`${state.folder}/`) ||
    path === state.importedFrom ||
    path.startsWith('.ralph/prompts/') ||
    path === '.ralph/.gitattributes' ||
    path.startsWith('.ralph/archive/') ||
    featureOfFolder(path.split('/').slice(0, 2).join('/')) === state.feature
  )
}
