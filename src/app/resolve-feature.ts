// Finds the features of the repository, and the one that a person means.
import { createHash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  datedFolderOf,
  type Feature,
  featureNameOf,
  featureOfFolder,
  isPrdPath,
  LEGACY_PRD_PATHS,
  newestByName,
} from '../branch/find-features.ts'
import type { Store, StoredState } from '../branch/store.ts'
import type { Prd } from '../engine/model/feature.ts'
import { branchNameFault } from '../engine/model/safe-names.ts'
import { describeValue } from '../engine/model/text.ts'
import { remaining } from '../engine/prd/select.ts'
import type { CatFile } from '../git/cat-file.ts'
import { pathsIn } from '../git/trees.ts'
import type { DocumentFile } from '../plan/types.ts'
import { type Mistake, UserError } from '../system/errors.ts'
import { firstLinkIn, readRegularFileSync } from '../system/files.ts'
import { nearest } from '../system/nearest.ts'
import { parseStories } from './find-documents.ts'

/** Where stories are read: in a commit or, if `workTree` is set, as on a laptop, in the work tree. */
export type StoryPlace = { commit: string; workTree: string | null }

/** Every feature of the place, the newest folder of each name. Mistakes in files are returned, not thrown. */
export async function findFeatures(objects: CatFile, place: StoryPlace, branchPrefix: string) {
  const dated = (await pathsIn(objects, place.commit, '.ralph/')).filter(isPrdPath)
  const paths = new Set([...LEGACY_PRD_PATHS, ...dated])
  if (place.workTree !== null) for (const path of await prdPathsIn(place.workTree)) paths.add(path)
  const features: Feature[] = []
  const mistakes: Mistake[] = []
  for (const path of paths) {
    const link = await linkAt(place, objects, path)
    if (link !== null) {
      const fix = 'replace the link with the file itself, because a link may lead out of the repository'
      mistakes.push({ path: link, found: 'this is a symbolic link.', expected: '', fix })
      continue
    }
    const text = await textAt(place, objects, path)
    if (text === null) continue
    const folder = datedFolderOf(path)
    const parsed = await parseStories(text, path)
    const name =
      (folder === null ? null : featureOfFolder(folder)) ??
      (parsed.ok ? featureNameOf(parsed.prd, branchPrefix) : 'feature')
    // The name becomes part of refs, and of the stream that writes them: there a line feed would begin a command.
    const fault = branchNameFault(name)
    if (fault !== null) {
      const fix = 'rename the folder, such as .ralph/2026-01-31-auth'
      mistakes.push({ path, found: describeValue(name), expected: `a feature's name with ${fault}`, fix })
    } else if (!parsed.ok) mistakes.push(...parsed.mistakes)
    else {
      const { prd, notes } =
        folder === null
          ? await withOlderLearnings({ path, text }, parsed, (file) =>
              textAt(place, objects, file, MAX_LEARNINGS_BYTES),
            )
          : parsed
      features.push({ name, folder, path, prd, digest: digestOf(text), notes })
    }
  }
  return { features: newestByName(features), mistakes }
}

/** The link instead of a file, or of a folder above it. */
async function linkAt(
  { commit, workTree }: StoryPlace,
  objects: CatFile,
  path: string,
): Promise<string | null> {
  if (workTree === null) return LINK.test((await objects.entry(commit, path))?.mode ?? '') ? path : null
  const link = await firstLinkIn(workTree, path)
  if (link === null || link === path) return link
  // `scripts` may lead to a folder that has nothing to do with Ralph.
  return (await stat(join(workTree, path)).catch(() => null)) === null ? null : link
}

/** The largest file of learnings, in bytes. */
const MAX_LEARNINGS_BYTES = 1_000_000
/** Modes of git. */
const REGULAR_FILE = /^100/
const LINK = /^120/

/** The text of a regular file; null for anything else, such as a link, and for a file of more than `maxBytes`. */
async function textAt(
  { commit, workTree }: StoryPlace,
  objects: CatFile,
  path: string,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<string | null> {
  if (workTree !== null) {
    if ((await firstLinkIn(workTree, path)) !== null) return null
    return readRegularFileSync(join(workTree, path), maxBytes)?.toString('utf8') ?? null
  }
  const entry = await objects.entry(commit, path)
  if (entry === null || !REGULAR_FILE.test(entry.mode)) return null
  const size = (await objects.info(entry.oid))?.size ?? maxBytes + 1
  return size > maxBytes ? null : objects.text(`${commit}:${path}`)
}

/** The stories with the learnings of earlier Ralph tools, which keep them in files next to prd.json. */
async function withOlderLearnings(
  stories: DocumentFile,
  { prd, notes }: { prd: Prd; notes: string[] },
  textAt: (path: string) => Promise<string | null>,
): Promise<{ prd: Prd; notes: string[] }> {
  const files: DocumentFile[] = []
  for (const name of ['learnings.md', 'progress.txt']) {
    const path = stories.path.replace(/[^/]*$/, name)
    const text = await textAt(path)
    if (text !== null) files.push({ path, text, isNamed: true })
  }
  if (files.length === 0) return { prd, notes }
  const { readDocuments } = await import('../plan/documents.ts')
  // Files of learnings without stories do not parse: then nothing is added.
  const result = readDocuments([stories, ...files])
  if (!result.ok) return { prd, notes }
  const { run } = result.documents.prd
  const learnings = [...new Set([...prd.run.learnings, ...run.learnings])]
  const isOnLearnings = (note: string) => files.some(({ path }) => note.startsWith(`${path}:`))
  const added = result.documents.notes.filter(isOnLearnings)
  return { prd: { ...prd, run: { ...prd.run, learnings } }, notes: [...notes, ...added] }
}

/**
 * The feature that a person means, its file at the place, and its state. If the file is in a newer folder than the last run, `found`
 * is null, and `before` is the state of that run. Throws UserError if it is not clear which feature is meant, and for mistakes in its
 * file.
 */
export async function resolveFeature(
  { objects, store }: { objects: CatFile; store: Store },
  place: StoryPlace,
  requested: {
    feature: string | null
    branchPrefix: string
    formatName?: ((name: string) => string) | undefined
    /** The branch that is checked out: it decides between several unfinished features. */
    branch?: string | null
    /** A word that may be the name of a feature. */
    word?: string | undefined
  },
): Promise<{ name: string; file: Feature | null; found: StoredState | null; before: StoredState | null }> {
  const states = [...(await store.list()).keys()].sort()
  const { features, mistakes } = await findFeatures(objects, place, requested.branchPrefix)
  const isFeature = (word: string) =>
    features.some(({ name }) => name === word) || states.some((folder) => featureOfFolder(folder) === word)
  const { word } = requested
  const feature = requested.feature ?? (word !== undefined && isFeature(word) ? word : null)
  const candidates = new Map<string, 'unfinished' | 'finished'>()
  for (const { name, prd } of features)
    candidates.set(name, remaining(prd).length > 0 ? 'unfinished' : 'finished')
  const isArchived = feature === null ? await findArchived(objects, place) : () => false
  for (const folder of states) {
    const name = featureOfFolder(folder)
    if (isArchived(folder)) continue
    if (name === null || (feature !== null && candidates.has(name))) continue
    const prd = feature === null ? (await store.load(folder))?.state.prd : undefined
    const isComplete = prd?.run.outcome === 'complete' && remaining(prd).length === 0
    candidates.set(name, isComplete ? 'finished' : 'unfinished')
  }
  const broken = mistakes.filter(
    ({ path }) => feature === null || !candidates.has(feature) || path.includes(`-${feature}/`),
  )
  if (broken.length > 0) throw new UserError(broken)
  const current = requested.branch?.replace(requested.branchPrefix, '')
  const name = chooseFeature(feature, candidates, requested.formatName, current)
  const file = features.find((feature) => feature.name === name) ?? null
  const lastFolder = states.filter((folder) => featureOfFolder(folder) === name).at(-1) ?? null
  const lastRun = lastFolder === null ? null : await store.load(lastFolder)
  const isReplaced = lastFolder !== null && file?.folder != null && file.folder > `.ralph/${lastFolder}`
  return { name, file, found: isReplaced ? null : lastRun, before: isReplaced ? lastRun : null }
}

/**
 * Returns a function that says whether a run's folder is archived, with no new run in that folder since. An archived run is chosen
 * only if its feature is named, even while its branch exists.
 */
export async function findArchived(
  objects: CatFile,
  { commit, workTree }: StoryPlace,
): Promise<(folder: string) => boolean> {
  const committed = (await pathsIn(objects, commit, '.ralph/')).map((path) => path.slice('.ralph/'.length))
  const namesIn = (folder: string) =>
    workTree === null ? [] : readdir(join(workTree, '.ralph', folder)).catch(() => [])
  const inWorkTree = [...(await namesIn('')), ...(await namesIn('archive')).map((name) => `archive/${name}`)]
  const places = [committed, inWorkTree].map((paths) => new Set(paths.map(runFolderOf)))
  return (folder) => places.some((names) => names.has(`archive/${folder}`) && !names.has(folder))
}

/** The folder of the run, or of the archived run, that a path below `.ralph/` is in. */
function runFolderOf(path: string): string {
  return path.split('/', path.startsWith('archive/') ? 2 : 1).join('/')
}

async function prdPathsIn(workTree: string): Promise<string[]> {
  const folders = await readdir(join(workTree, '.ralph')).catch(() => [])
  return [...LEGACY_PRD_PATHS, ...folders.map((folder) => `.ralph/${folder}/prd.json`).filter(isPrdPath)]
}

/**
 * The name of the requested feature, or of the only unfinished one. If several are unfinished, `current` if it is one of them. Throws
 * UserError otherwise, with the list as `formatName` writes it.
 */
export function chooseFeature(
  requested: string | null,
  candidates: ReadonlyMap<string, 'unfinished' | 'finished'>,
  formatName: (name: string) => string = (name) => name,
  current = '',
): string {
  const names = [...candidates.keys()].sort()
  if (requested !== null) {
    if (candidates.has(requested)) return requested
    const near = nearest(requested, names)
    const suggestion = near === null ? '' : ` (did you mean ${near}?)`
    const fix =
      names.length === 0
        ? `plan it (ralph plan ${requested}), or write .ralph/<yyyy-mm-dd>-${requested}/prd.json`
        : `use one of: ${names.map(formatName).join(', ')}${suggestion}`
    const found = `there is no feature ${requested} here.`
    throw new UserError({ path: 'feature', found, expected: '', fix })
  }
  const open = names.filter((name) => candidates.get(name) === 'unfinished')
  const possible = open.length === 0 ? names : open
  const [only] = possible
  if (only !== undefined && possible.length === 1) return only
  if (possible.includes(current)) return current
  const mistake = { path: 'feature', expected: '' }
  if (only === undefined) {
    const fix =
      'plan a feature (ralph plan; on GitHub, comment /ralph plan on an issue), or write .ralph/<yyyy-mm-dd>-<feature>/prd.json'
    throw new UserError({ ...mistake, found: 'there are no stories here yet: no prd.json exists.', fix })
  }
  const found = `there are ${possible.length} features, so Ralph does not know which one you mean: ${possible.join(', ')}.`
  throw new UserError({ ...mistake, found, fix: `name one: ${possible.map(formatName).join(', ')}` })
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
