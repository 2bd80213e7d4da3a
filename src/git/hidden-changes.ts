// Changes that gates would see but no diff shows: `.git` folders, files that a new rule ignores, bytes that git stores differently.

import { lstat, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Change } from '../engine/model/change.ts'
import { entriesOf, removeSync, resolveInTree } from '../system/files.ts'
import { fsPath } from '../system/path-text.ts'
import type { CatFile } from './cat-file.ts'
import type { Git } from './git.ts'
import { objectId } from './objects.ts'
import { pathsIn } from './trees.ts'

/** Folders that may contain a `.git` which git does not show: those with tracked files, and those without any. */
export type Folders = { tracked: Iterable<string>; untracked: readonly string[] }

/** Folders without any tracked file, as git lists them. */
export async function untrackedFolders(git: Git): Promise<string[]> {
  const { paths } = await git.untracked('folders')
  return paths.flatMap((name) => (name.endsWith('/') ? [name.slice(0, -1)] : []))
}

/** Paths of all entries named `.git` below the top, without those of checked-out submodules. */
export async function nestedGits(git: Git, { tracked, untracked }: Folders): Promise<string[]> {
  const found: string[] = []
  const seen = new Map<string, Promise<boolean>>()
  const look = async (folder: string): Promise<void> => {
    // A damaged index may name the top itself, whose `.git` is the clone.
    if (folder.split('/').some((name) => name === '' || name === '.' || name === '..')) return
    const place = await resolveInTree(git.clone.workTree, `${folder}/.git`, seen)
    if (place !== null && (await lstat(fsPath(place)).catch(() => null)) !== null)
      found.push(`${folder}/.git`)
  }
  await Promise.all([...tracked].map(look))
  // git lists a folder, and not what is in it.
  const walk = async (folder: string): Promise<void> => {
    await look(folder)
    const inside = await entriesOf(join(git.clone.workTree, folder))
    for (const one of inside) if (one.isFolder && one.name !== '.git') await walk(`${folder}/${one.name}`)
  }
  for (const folder of untracked) await walk(folder)
  return [...new Set(found)].sort()
}

/** Uncommitted entries of a checkout: repositories, and all others as git lists them. */
export async function findUncommitted(git: Git): Promise<{ repositories: string[]; others: string[] }> {
  // With the clone's own index, since Ralph's may be that of another branch.
  const index = { GIT_INDEX_FILE: join(git.clone.gitDir, 'index') }
  const { paths: names } = await git.untracked('filled folders', index)
  const repositories: string[] = []
  const walk = async (folder: string): Promise<void> => {
    const inside = await entriesOf(join(git.clone.workTree, folder))
    if (inside.some((one) => one.name === '.git')) repositories.push(folder)
    else for (const one of inside) if (one.isFolder) await walk(`${folder}/${one.name}`)
  }
  for (const name of names) if (name.endsWith('/')) await walk(name.slice(0, -1))
  return { repositories, others: names.filter((name) => !repositories.includes(name.slice(0, -1))) }
}

/** Whether `git.ignored` listed the path, a folder above it, or something in it. */
export function isListed(listed: readonly string[], path: string): boolean {
  const contains = (folder: string, inside: string) => folder.endsWith('/') && inside.startsWith(folder)
  return listed.some((one) => one === path || contains(one, path) || contains(path, one))
}

/** Removes ignored files that are not in `before`, a list from `git.ignored`. */
export async function removeIgnored(git: Git, before: readonly string[]): Promise<void> {
  for (const path of await git.ignored()) {
    if (isListed(before, path)) continue
    const there = await resolveInTree(git.clone.workTree, path)
    if (there === null) continue
    removeSync(there)
  }
}

/**
 * Files and folders that are ignored now but were not by the rules of `green`: gates see them, but the commit does not have them.
 * Output of tools is left out. Does not run git if no rule has changed.
 */
export async function newlyIgnored(
  git: Git,
  objects: CatFile,
  green: string,
  changes: readonly Change[],
): Promise<string[]> {
  if (!changes.some(({ path }) => isIgnoreFile(path))) return []
  const paths = (await git.ignored()).filter((path) => !isToolOutput(path))
  if (paths.length === 0) return []
  const before = await mkdtemp(join(tmpdir(), 'ralph-rules-'))
  try {
    for (const path of (await pathsIn(objects, green)).filter(isIgnoreFile)) {
      await mkdir(fsPath(join(before, dirname(path))), { recursive: true })
      await writeFile(fsPath(join(before, path)), (await objects.contents(`${green}:${path}`)) ?? '')
    }
    const old = await git.checkIgnore(paths, before)
    return paths.filter((path) => !old.has(path))
  } finally {
    await rm(before, { recursive: true, force: true })
  }
}

function isIgnoreFile(path: string): boolean {
  return /(?:^|\/)\.gitignore$/i.test(path)
}

/** Folders and files that tools write and that projects usually ignore. */
const TOOL_FOLDERS =
  /^(?:node_modules|bower_components|jspm_packages|dist|build|out|output|target|bin|obj|coverage|htmlcov|vendor|venv|env|tmp|temp|logs|__pycache__|site-packages|wheels|eggs|sdist|test-results|playwright-report|storybook-static|Pods|DerivedData|\.(?!git|ralph)[\w-]+|.+\.egg-info|.+\.xcodeproj)$/
const TOOL_FILES =
  /^(?:\.(?!git).*|.*\.(?:log|pyc|pyo|class|jar|o|a|so|dylib|dll|exe|wasm|tsbuildinfo|tgz|tar|gz|zip|whl|pid|lock|tmp|temp|bak|swp|orig|rej|cache|map|db|sqlite3?|prof|out|test|cov|lcov|env|pem|key)|.*~|Thumbs\.db|Desktop\.ini|coverage\.\w+|junit.*\.xml|Cargo\.lock|npm-debug.*)$/i

/** Whether tools write files at such a path. */
export function isToolOutput(path: string): boolean {
  const names = path.split('/')
  const file = names.pop() ?? ''
  return names.some((name) => TOOL_FOLDERS.test(name)) || (file !== '' && TOOL_FILES.test(file))
}

/** The files that have other bytes on the disk than git stores, such as other line ends. */
export async function storedDifferently(
  git: Git,
  files: readonly { path: string; mode: string; oid: string }[],
): Promise<string[]> {
  const found: string[] = []
  for (const { path, mode, oid } of files) {
    if (!mode.startsWith('100')) continue
    const file = fsPath(join(git.clone.workTree, path))
    if ((await lstat(file).catch(() => null))?.isFile() !== true) continue
    const bytes = await readFile(file).catch(() => null)
    if (bytes !== null && objectId('blob', bytes, oid.length) !== oid) found.push(path)
  }
  return found
}
