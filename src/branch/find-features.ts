// Finds the features of a repository, and the name of each prd.json. Pure.
import type { Prd } from '../engine/model/feature.ts'

/** A prd.json with the name of its feature. `digest`: of its text. `notes`: the parser's remarks on what it changed or left out. */
export type Feature = {
  name: string
  folder: string | null
  path: string
  prd: Prd
  digest: string
  notes: readonly string[]
}

/** Paths where other tools put prd.json. The first commit moves it into `.ralph/<date>-<feature>/`. */
export const LEGACY_PRD_PATHS = ['.ralph/prd.json', 'ralph/prd.json', 'prd.json', 'scripts/ralph/prd.json']

const FOLDER = /^\.ralph\/(\d{4}-\d{2}-\d{2})-([^/]+)$/

/** The name of the feature in a dated folder (`.ralph/2026-01-31-auth`, or without `.ralph/`), or null. */
export function featureOfFolder(folder: string): string | null {
  return FOLDER.exec(folder.startsWith('.ralph/') ? folder : `.ralph/${folder}`)?.[2] ?? null
}

/** Whether a feature's prd.json may be at this path. */
export function isPrdPath(path: string): boolean {
  return (
    LEGACY_PRD_PATHS.includes(path) ||
    (path.endsWith('/prd.json') && FOLDER.test(path.slice(0, -'/prd.json'.length)))
  )
}

/** The dated folder of a prd.json, or null if it is elsewhere. */
export function datedFolderOf(path: string): string | null {
  const folder = path.slice(0, -'/prd.json'.length)
  return FOLDER.test(folder) ? folder : null
}

/**
 * The name of the feature of a prd.json that is not in a dated folder. It is the name of its branch, else of its project, else of its
 * documents.
 */
export function featureNameOf(prd: Prd, branchPrefix: string, documents: string | null = null): string {
  const { branchName, project } = prd
  if (branchName !== '') {
    const bare = branchName.startsWith(branchPrefix)
      ? branchName.slice(branchPrefix.length)
      : (branchName.split('/').at(-1) ?? '')
    if (bare !== '') return slug(bare)
  }
  return slug(project) || slug(documents ?? '') || 'feature'
}

/** The newest feature of each name. A file outside dated folders counts only if no dated folder has its name. */
export function newestByName(found: readonly Feature[]): Feature[] {
  const sorted = [...found].sort((one, other) => (other.folder ?? '').localeCompare(one.folder ?? ''))
  const names = new Map<string, Feature>()
  for (const feature of sorted) if (!names.has(feature.name)) names.set(feature.name, feature)
  return [...names.values()]
}

function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
    .slice(0, 60)
}
