// The feature that a plan is for: what stands of it already, and what would be written.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { featureOfFolder } from '../git/features.ts'
import { sayHolder } from '../loop/lease.ts'
import type { Prd } from '../model/feature.ts'
import { branchNameFault } from '../prd/names.ts'
import { parsePrd } from '../prd/parse.ts'
import { serializePrd } from '../prd/serialize.ts'
import { UserError } from '../system/errors.ts'
import type { LocalRun } from './local.ts'
import type { Desk } from './plan-desk.ts'
import type { Draft } from './plan-draft.ts'
import { renderPrdMarkdown } from './plan-reading.ts'
import { type Files, textOf } from './plan-write.ts'
import { atWork } from './run.ts'

/** What stands of a feature; null for files that are not there. */
export type Standing = { folder: string; prd: Prd | null; markdown: string | null; context: string | null }

/** Throws UserError where the feature is somewhere else, is being worked on, or cannot be read. */
export async function standingOf(
  name: string,
  { clone: { workTree }, local, today }: Pick<Desk, 'clone' | 'local' | 'today'>,
): Promise<Standing> {
  const fault = /[/\\]/.test(name) ? 'no slash' : branchNameFault(name)
  if (fault !== null) {
    const fix = 'name it in a word, such as ralph plan auth'
    throw new UserError({ path: 'feature', found: name, expected: `a feature's name with ${fault}`, fix })
  }
  const folders = await readdir(join(workTree, '.ralph')).catch(() => [])
  const newest = folders
    .filter((folder) => featureOfFolder(folder) === name)
    .sort()
    .at(-1)
  if (local !== null) await refuseElsewhere(name, newest ?? '', local)
  const folder = `.ralph/${newest ?? `${today}-${name}`}`
  const [json, markdown, context] = await Promise.all(
    ['prd.json', 'prd.md', 'context.md'].map((file) => textOf(workTree, `${folder}/${file}`)),
  )
  const parsed = json == null ? null : parsePrd(json, `${folder}/prd.json`)
  if (parsed !== null && !parsed.ok) throw new UserError(parsed.mistakes)
  return { folder, prd: parsed?.prd ?? null, markdown: markdown ?? null, context: context ?? null }
}

/** A run's stories are on its branch: written elsewhere, they would begin it anew. */
async function refuseElsewhere(name: string, here: string, local: LocalRun): Promise<void> {
  const { store } = local.workspace
  const newest = [...(await store.list()).keys()]
    .filter((one) => featureOfFolder(one) === name)
    .sort()
    .at(-1)
  const state = newest === undefined ? null : ((await store.load(newest))?.state ?? null)
  if (state === null) return
  const { lease, branch } = state
  if (lease !== null && (await local.alive(lease)))
    throw atWork({ message: `${sayHolder(lease)} works on ${name}` })
  if (here >= (newest ?? '')) return
  const found = `${name}, whose run is on ${branch}`
  const fix = `git switch ${branch}, then plan again; or take another name`
  throw new UserError({ path: 'feature', found, expected: 'a feature of this checkout', fix })
}

/** prd.json comes last: it is what a run goes by. */
export function filesOf(standing: Pick<Standing, 'folder'>, draft: Pick<Draft, 'prd' | 'context'>): Files {
  return { ...sketchOf(standing.folder, draft), [`${standing.folder}/prd.json`]: serializePrd(draft.prd) }
}

/** What is for people alone: no run begins with it. */
export function sketchOf(folder: string, { prd, context }: Pick<Draft, 'prd' | 'context'>): Files {
  const page = { [`${folder}/prd.md`]: renderPrdMarkdown(prd) }
  return context === null || context === '' ? page : { [`${folder}/context.md`]: context, ...page }
}
