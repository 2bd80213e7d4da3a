// The feature that a plan is for: what stands of it already, and what would be written.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { renderPrdMarkdown } from '../documents/index.ts'
import { featureOfFolder } from '../git/features.ts'
import type { Prd } from '../model/feature.ts'
import { branchNameFault } from '../model/names.ts'
import { parsePrd } from '../prd/parse.ts'
import { emptyPrd } from '../prd/schema.ts'
import { serializePrd } from '../prd/serialize.ts'
import { UserError } from '../system/errors.ts'
import { type LocalRun, refuseAtWork } from './local.ts'
import type { Desk } from './plan.ts'
import { type Draft, fromPage } from './plan-draft.ts'
import { type Files, textOf } from './write.ts'

/** What stands of a feature; null for files that are not there. */
export type Standing = {
  folder: string
  isNew: boolean
  prd: Prd | null
  /** What a plan goes on from: prd.json, or what people wrote into prd.md. */
  base: Prd
  markdown: string | null
  context: string | null
}

/** Throws UserError where the feature is somewhere else, is being worked on, or cannot be read. */
export async function standingOf(name: string, { clone: { workTree }, local }: Desk): Promise<Standing> {
  const fault = nameFault(name)
  if (fault !== null) {
    const fix = 'name it in a word, such as ralph plan auth'
    throw new UserError({ path: 'feature', found: name, expected: `a feature's name with ${fault}`, fix })
  }
  const found = await readdir(join(workTree, '.ralph')).catch(() => [])
  const folders = found.filter((folder) => featureOfFolder(folder) === name)
  const newest = folders.sort().at(-1)
  if (local !== null) await refuseElsewhere(name, newest ?? '', local)
  const today = new Date().toISOString().slice(0, 10)
  const folder = `.ralph/${newest ?? `${today}-${name}`}`
  const [json, markdown, context] = await Promise.all(
    ['prd.json', 'prd.md', 'context.md'].map((file) => textOf(workTree, `${folder}/${file}`)),
  )
  const parsed = json == null ? null : parsePrd(json, `${folder}/prd.json`)
  if (parsed !== null && !parsed.ok) throw new UserError(parsed.mistakes)
  const [prd, isNew] = [parsed?.prd ?? null, json == null && markdown == null]
  const sketch = prd === null && markdown != null ? fromPage(markdown, emptyPrd(), `${folder}/prd.md`) : null
  const base = prd ?? sketch ?? emptyPrd()
  return { folder, isNew, prd, base, markdown: markdown ?? null, context: context ?? null }
}

/** What a feature's name must have, and this one has not; null where it can be one. */
export function nameFault(name: string): string | null {
  return /[/\\]/.test(name) ? 'no slash' : branchNameFault(name)
}

/** A run's stories are on its branch: written elsewhere, they would begin it anew, or stand in its way. */
async function refuseElsewhere(name: string, here: string, local: LocalRun): Promise<void> {
  const { store, clone } = local.workspace
  const folders = [...(await store.list()).keys()].filter((folder) => featureOfFolder(folder) === name)
  const newest = folders.sort().at(-1)
  const state = newest === undefined ? null : ((await store.load(newest))?.state ?? null)
  if (newest === undefined || state === null || here > newest) return
  await refuseAtWork(state)
  const { branch, published } = state
  if (here === newest && (published === null || clone.branch === branch)) return
  const isGone = (await store.head(branch)) === null
  const found = isGone ? `${name}, whose branch ${branch} is gone` : `${name}, whose run is on ${branch}`
  const fix = isGone ? 'take another name' : `git switch ${branch}, then plan again; or take another name`
  throw new UserError({ path: 'feature', found, expected: 'a feature of this checkout', fix })
}

/** prd.json comes last: it is what a run goes by. */
export function filesOf(folder: string, draft: Draft): Files {
  return { ...sketchOf(folder, draft), [`${folder}/prd.json`]: serializePrd(draft.prd) }
}

/** What is for people alone: no run begins with it. */
export function sketchOf(folder: string, { prd, context }: Draft): Files {
  const page = { [`${folder}/prd.md`]: renderPrdMarkdown(prd) }
  return context === null || context === '' ? page : { [`${folder}/context.md`]: context, ...page }
}
