// The state of the dialogue of `ralph plan`: its place, the feature with its existing plan, and the draft that a person reviews.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { refuseAtWork, refuseOtherRun } from '../app/at-work.ts'
import { featureOfFolder } from '../branch/find-features.ts'
import type { Prd } from '../engine/model/feature.ts'
import type { SessionEntry } from '../engine/model/usage.ts'
import { parsePrd } from '../engine/prd/parse.ts'
import { emptyPrd } from '../engine/prd/schema.ts'
import { serializePrd } from '../engine/prd/serialize.ts'
import { openClone } from '../git/git.ts'
import { renderPrdMarkdown } from '../plan/documents.ts'
import type { RequestedUse } from '../plan/types.ts'
import { lookOf } from '../report/terminal/terminal-line.ts'
import { UserError } from '../system/errors.ts'
import { type Context, settingsOf } from './command-context.ts'
import type { PlanSettings } from './init-questions.ts'
import { type LocalRun, openLocal } from './local-feature.ts'
import { type Draft, nameFault, parsePage } from './plan-draft.ts'
import type { Material } from './plan-material.ts'
import { terminalPrompts } from './terminal-questions.ts'
import { type Files, readText } from './write-files.ts'

/** The command line of `ralph plan`. */
export type PlanArguments = {
  feature: string | null
  sentence: string
  from: readonly string[]
  /** What the person uses files for, by their paths as they were typed. */
  as: ReadonlyMap<string, RequestedUse>
  yes: boolean
  /** Whether stories that were planned from other documents may change. */
  replace: boolean
}

/** What is known before the feature is. */
export type PlanPlace = Awaited<ReturnType<typeof openPlace>>

export type PlanDialogue = PlanPlace & {
  feature: string
  existing: ExistingPlan
  material: Material
  /** The answers about the run. */
  answered: PlanSettings
  /** The current plan. */
  draft: Draft
}

export async function openPlace(context: Context, typed: PlanArguments) {
  const { out, print, warn } = context
  const { settings, notes } = await settingsOf(context)
  for (const note of notes) warn(note)
  const clone = await openClone(context.directory, context.env)
  const local = clone.head === null ? null : await openLocal(context, settings)
  const sessions: SessionEntry[] = []
  const written: readonly string[] = []
  return {
    context,
    settings,
    typed: { ...typed, feature: settings.feature },
    clone,
    /** Null in a repository without a commit. Stories can be planned there, but no session and no run can begin. */
    local,
    /** Null without a terminal, or with `--yes`. */
    ask: typed.yes ? null : terminalPrompts(context),
    width: lookOf(out, true).width,
    /** What sessions used so far. */
    sessions,
    /** The files of the tree that were written so far, by path. */
    written,
    say: (lines: readonly string[]) => print(lines.join('\n')),
    [Symbol.dispose]: () => local?.[Symbol.dispose](),
  }
}

/** Whether gates check the stories, or the person wants none. */
export function isGated({ answered, settings }: PlanDialogue): boolean {
  return answered.config !== null || settings.gates.length > 0 || settings.ungated
}

// ---- the files of the feature: those that exist, and those that the plan would write

/** The existing files of a feature; null for those that do not exist. */
export type ExistingPlan = {
  folder: string
  isNew: boolean
  prd: Prd | null
  /** The stories that the plan starts from: those of prd.json, or of people's text in prd.md. */
  base: Prd
  markdown: string | null
  context: string | null
}

/** Throws UserError if the feature is on another branch, is in work, or cannot be read. */
export async function readExistingPlan(
  name: string,
  { clone: { workTree }, local }: PlanPlace,
): Promise<ExistingPlan> {
  const fault = nameFault(name)
  if (fault !== null) {
    const fix = 'choose a short name, for example: ralph plan auth'
    throw new UserError({ path: 'feature', found: name, expected: `a feature's name with ${fault}`, fix })
  }
  const found = await readdir(join(workTree, '.ralph')).catch(() => [])
  const folders = found.filter((folder) => featureOfFolder(folder) === name)
  const newest = folders.sort().at(-1)
  if (local !== null) await refuseOnOtherBranch(name, newest ?? '', local)
  const today = new Date().toISOString().slice(0, 10)
  const folder = `.ralph/${newest ?? `${today}-${name}`}`
  const [json, markdown, context] = await Promise.all(
    ['prd.json', 'prd.md', 'context.md'].map((file) => readText(workTree, `${folder}/${file}`)),
  )
  const parsed = json == null ? null : parsePrd(json, `${folder}/prd.json`)
  if (parsed !== null && !parsed.ok) throw new UserError(parsed.mistakes)
  const prd = parsed?.prd ?? null
  const isNew = json == null && markdown == null
  const sketch = prd === null && markdown != null ? parsePage(markdown, emptyPrd(), `${folder}/prd.md`) : null
  const base = prd ?? sketch ?? emptyPrd()
  return { folder, isNew, prd, base, markdown: markdown ?? null, context: context ?? null }
}

/**
 * Throws UserError if the feature's run is on another branch: stories that are written here would begin the run again, or conflict with
 * it. `folderHere`: the feature's newest folder in this checkout; empty if there is none.
 */
async function refuseOnOtherBranch(name: string, folderHere: string, local: LocalRun): Promise<void> {
  const { store, clone } = local.workspace
  await refuseOtherRun(local, '')
  const folders = [...(await store.list()).keys()].filter((folder) => featureOfFolder(folder) === name)
  const newest = folders.sort().at(-1)
  const state = newest === undefined ? null : ((await store.load(newest))?.state ?? null)
  if (newest === undefined || state === null || folderHere > newest) return
  await refuseAtWork(state)
  const { branch, published } = state
  if (folderHere === newest && (published === null || clone.branch === branch)) return
  const isMissing = (await store.head(branch)) === null
  const found = isMissing
    ? `the branch of ${name}, ${branch}, is gone.`
    : `${name} already has a run, on the branch ${branch}.`
  const fix = isMissing
    ? 'choose another name'
    : `git switch ${branch}, then plan again; or choose another name`
  throw new UserError({ path: 'feature', found, expected: '', fix })
}

/** The files of the plan. prd.json is written last, because a run begins with it. */
export function filesOf(dialogue: PlanDialogue): Files {
  const { draft, existing } = dialogue
  return { ...sketchOf(dialogue), [`${existing.folder}/prd.json`]: serializePrd(draft.prd) }
}

/** The files for people only: without prd.json no run begins. */
export function sketchOf({ draft: { prd, context }, existing: { folder } }: PlanDialogue): Files {
  const page = { [`${folder}/prd.md`]: renderPrdMarkdown(prd) }
  return context === null || context === '' ? page : { [`${folder}/context.md`]: context, ...page }
}
