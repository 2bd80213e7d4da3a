// `ralph plan`: documents, a sentence or an interview become the stories of a feature. Changes no code and passes nothing.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { refuseAtWork, refuseOtherRun } from '../app/at-work.ts'
import { featureOfFolder } from '../branch/find-features.ts'
import type { Prd } from '../engine/model/feature.ts'
import { parsePrd } from '../engine/prd/parse.ts'
import { emptyPrd } from '../engine/prd/schema.ts'
import { serializePrd } from '../engine/prd/serialize.ts'
import { openClone } from '../git/git.ts'
import { renderPrdMarkdown } from '../plan/documents.ts'
import type { RequestedUse } from '../plan/types.ts'
import { terminalText } from '../report/escape.ts'
import { outputsOf } from '../report/outputs.ts'
import { lookOf } from '../report/terminal/terminal-line.ts'
import { CONFIG } from '../setup/init/init-files.ts'
import { UserError } from '../system/errors.ts'
import {
  type CommandResult,
  type Context,
  errorResult,
  interruptedResult,
  refuseFromInside,
  refuseTwoFeatures,
  settingsOf,
} from './command-context.ts'
import { askSettings, chosenScope } from './init-questions.ts'
import { type LocalRun, openLocal } from './local-feature.ts'
import { type Draft, draftMistakes, isEdited, nameFault, parsePage } from './plan-draft.ts'
import { chooseName, firstDraft, type Material, readMaterial, showMaterial } from './plan-material.ts'
import { type Reviewed, reviewPlan, saveDraft, showDraft } from './plan-review.ts'
import { createPlanner } from './plan-session.ts'
import { commitConfig, runContext, startHint } from './plan-start.ts'
import { run } from './run.ts'
import { Cancelled, terminalPrompts } from './terminal-questions.ts'
import { type Files, plannedChanges, readText, writeFiles } from './write-files.ts'

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

/** What the parts of `ralph plan` share. */
export type PlanContext = Awaited<ReturnType<typeof openPlanContext>>

/** The exit code: 0 if the plan is written or exists already, 1 if the person left it, 130 if interrupted, or that of its run. */
export async function plan(context: Context): Promise<CommandResult> {
  refuseFromInside(context)
  const { start, ...answer } = await planOnly(context)
  return start === undefined ? answer : run(runContext(context, start))
}

/** `start`: the feature whose run the person wants to begin now. */
type PlanResult = CommandResult & { start?: string }

async function planOnly(context: Context): Promise<PlanResult> {
  const typed = argumentsOf(context)
  using planContext = await openPlanContext({ ...context, feature: typed.feature }, !typed.yes)
  try {
    return await planFeature(planContext, { ...typed, feature: planContext.settings.feature })
  } catch (error) {
    // What sessions used is reported, even if they made no plan.
    const usage = planContext.planner.usage()
    const isInterrupted = error instanceof Cancelled
    if (isInterrupted) planContext.say(['', 'Interrupted: nothing was written.'])
    const { code, outputs, more } = isInterrupted ? interruptedResult() : errorResult(context, error)
    const withFeature = { ...outputs, feature: typed.feature, costUsd: usage.costUsd }
    return { code, outputs: withFeature, more: { ...more, written: planContext.written, usage } }
  }
}

async function openPlanContext(context: Context, mayAsk: boolean) {
  const { out, print, warn } = context
  const { settings, notes } = await settingsOf(context)
  for (const note of notes) warn(note)
  const clone = await openClone(context.directory, context.env)
  const local = clone.head === null ? null : await openLocal(context, settings)
  return {
    context,
    settings,
    clone,
    /** Null in a repository without a commit. Stories can be planned there, but no session and no run can begin. */
    local,
    planner: createPlanner(context, local),
    /** Null without a terminal, or with `--yes`. */
    ask: mayAsk ? terminalPrompts(context) : null,
    width: lookOf(out, true).width,
    /** The files of the tree that were written so far, by path. */
    written: [] as string[],
    say: (lines: readonly string[]) => print(lines.join('\n')),
    [Symbol.dispose]: () => local?.[Symbol.dispose](),
  }
}

async function planFeature(planContext: PlanContext, typed: PlanArguments): Promise<PlanResult> {
  const { ask, clone, planner, settings } = planContext
  const known = typed.feature === null ? null : await readExistingPlan(typed.feature, planContext)
  const material = await readMaterial(planContext, typed, known)
  showMaterial(planContext, material)
  const feature = typed.feature ?? (await chooseName(planContext, material))
  const existing = await withEditedPage(
    planContext,
    typed,
    known ?? (await readExistingPlan(feature, planContext)),
  )
  const documentsPrd = material.documents?.prd ?? null
  const scope = documentsPrd === null ? null : await chosenScope(ask, settings, documentsPrd)
  const answered =
    ask === null || !existing.isNew
      ? { flags: {}, config: null }
      : await askSettings(ask, clone.workTree, planContext.context, material, settings)
  planner.setAnswers(answered.flags)
  const draft = await firstDraft(planContext, typed, material, { feature, scope, existing })
  const branch = `${settings.branchPrefix}${feature}`
  const { branchName } = draft.prd
  if (existing.isNew && ![branch, ''].includes(branchName))
    planContext.say([
      '',
      `A run works on ${terminalText(branchName)}, as the documents say, not on ${branch}.`,
    ])
  const isGated = answered.config !== null || settings.gates.length > 0 || settings.ungated
  const start = isGated ? await startHint(planContext, answered) : null
  const reviewed =
    ask === null
      ? await reviewUnattended(planContext, feature, typed, existing, draft)
      : await reviewPlan(planContext, ask, feature, existing, { first: draft, start })
  if (reviewed.kind === 'left') return resultOf(planContext, feature, reviewed, material, null)
  const { folder } = existing
  const isSketch = reviewed.kind === 'sketch'
  const files = isSketch ? sketchOf(folder, reviewed.draft) : filesOf(folder, reviewed.draft)
  const config = answered.config === null ? {} : { [CONFIG]: answered.config }
  const written = await writeFiles(clone.workTree, { ...config, ...files })
  planContext.written.push(...written)
  if (written.length === 0) planContext.say([`${folder} has all of it already: nothing was changed.`])
  else planContext.say(written.map((path) => `written: ${path}`))
  if (reviewed.kind === 'start') {
    if (answered.config !== null) await commitConfig(clone.workTree, planContext.context.env)
    return { ...resultOf(planContext, feature, reviewed, material, written), start: feature }
  }
  const next = isSketch
    ? [`ralph plan ${feature}`]
    : await nextCommands(planContext, feature, folder, isGated)
  planContext.say(['', 'Next:', ...next.map((line) => `  ${line}`)])
  return resultOf(planContext, feature, reviewed, material, written)
}

/** If prd.md has edits that prd.json lacks, they are taken into the plan, unless the person gives them up. Otherwise they would be lost. */
async function withEditedPage(
  { ask }: PlanContext,
  { from }: PlanArguments,
  existing: ExistingPlan,
): Promise<ExistingPlan> {
  const { folder, prd, markdown } = existing
  if (prd === null || markdown === null || !isEdited(markdown, prd)) return existing
  const path = `${folder}/prd.md`
  const isNamed = from.some((file) => file.endsWith(path))
  if (isNamed || (await ask?.yes(`${path} was edited and differs from prd.json. Take its text?`, true)))
    return { ...existing, base: parsePage(markdown, prd, path) }
  if (ask !== null) return existing
  const found = 'it was edited and no longer matches prd.json.'
  const fix = `take its text (--from ${path}), or remove it: Ralph writes it again from prd.json`
  throw new UserError({ path, found, expected: '', fix })
}

/** For a plan without a person to ask. With `--yes` a plan without mistakes is taken; without it, only a plan that changes nothing. */
async function reviewUnattended(
  planContext: PlanContext,
  feature: string,
  { yes }: PlanArguments,
  existing: ExistingPlan,
  draft: Draft,
): Promise<Reviewed> {
  showDraft(planContext, feature, existing, draft)
  const mistakes = draftMistakes(draft.prd, `${existing.folder}/prd.json`)
  if (mistakes.length > 0) {
    await saveDraft(planContext, feature, draft)
    throw new UserError(mistakes)
  }
  if (yes || (await plannedChanges(planContext.clone.workTree, filesOf(existing.folder, draft))).length === 0)
    return { kind: 'taken', draft }
  const found = existing.isNew
    ? 'there is no terminal to ask on.'
    : 'there is a plan already, and no terminal to ask on.'
  const fix = 'add --yes to take the plan as it is shown'
  throw new UserError({ path: 'ralph plan', found, expected: '', fix })
}

function argumentsOf(context: Context): PlanArguments {
  const { args, flags, feature } = context
  const [word, ...rest] = args?.words ?? []
  refuseTwoFeatures(context, word)
  if (rest.length > 0) {
    const found = `the name of a feature is one word, and this is several: ${[word, ...rest].join(' ')}.`
    const fix = `ralph plan ${word} -- ${rest.join(' ')}`
    throw new UserError({ path: 'ralph plan', found, expected: '', fix })
  }
  const sentence = args?.text.replace(/\s+/g, ' ').trim() ?? ''
  const from: string[] = Array.isArray(flags.from) ? flags.from : []
  const as = kindsOf(Array.isArray(flags.as) ? flags.as : [])
  return {
    feature: word ?? feature,
    sentence,
    from,
    as,
    yes: flags.yes === true,
    replace: flags.replace === true,
  }
}

/** Reads the words of `--as stories A B --as background C`: each file has the use that precedes it. */
function kindsOf(words: readonly string[]): Map<string, RequestedUse> {
  const kinds = new Map<string, RequestedUse>()
  let kind: RequestedUse | null = null
  for (const word of words) {
    if (word === 'stories' || word === 'background') kind = word
    else if (kind !== null) kinds.set(word, kind)
    else break
  }
  if (words.length === 0 || kinds.size > 0) return kinds
  const fix = 'ralph plan --as stories TODO.md --as background docs/prd.md'
  throw new UserError({
    path: '--as',
    found: words.join(' '),
    expected: 'stories or background, and a file',
    fix,
  })
}

/** The commands that a person needs to start the plan's run. */
async function nextCommands(
  { clone, local }: PlanContext,
  feature: string,
  folder: string,
  isGated: boolean,
): Promise<string[]> {
  const dirt = clone.head === null ? null : await local?.workspace.repository.uncommitted(clone.head)
  // A run begins only on a clean tree. Only the plan itself need not be committed: the run takes it up.
  const isDirty = dirt?.some(({ path }) => !path.startsWith('.ralph/')) ?? true
  return [
    `look at ${folder}/prd.md`,
    ...(isGated ? [] : ['ralph init   (no command checks the stories yet)']),
    ...(isDirty ? ['git add -A && git commit   (or stash what else has changed)'] : []),
    `ralph run ${feature}`,
  ]
}

/** `written`: null if the person left the plan. */
function resultOf(
  { planner }: PlanContext,
  feature: string,
  { draft }: Reviewed,
  { documents }: Material,
  written: readonly string[] | null,
): CommandResult {
  const stories = draft.prd.userStories.map(({ id, title, acceptanceCriteria, dependsOn, passes }) => {
    return { id, title, criteria: acceptanceCriteria.length, dependsOn, imported: passes }
  })
  const usage = planner.usage()
  const outputs = {
    ...outputsOf(null, null, null),
    feature,
    storiesTotal: stories.length,
    storiesPassed: stories.filter(({ imported }) => imported).length,
    costUsd: usage.costUsd,
  }
  const { sources = [], taken = [], notes = [] } = documents ?? {}
  const more = { stories, sources, taken, notes, written: written ?? [], usage }
  return { code: written === null ? 1 : 0, outputs, more }
}

// ---- the feature that a plan is for: its existing files, and those that would be written

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
async function readExistingPlan(
  name: string,
  { clone: { workTree }, local }: PlanContext,
): Promise<ExistingPlan> {
  const fault = nameFault(name)
  if (fault !== null) {
    const fix = 'name it in a word, such as ralph plan auth'
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
    : `the run of ${name} is on ${branch}.`
  const fix = isMissing
    ? 'choose another name'
    : `git switch ${branch}, then plan again; or choose another name`
  throw new UserError({ path: 'feature', found, expected: '', fix })
}

/** prd.json is written last, because a run begins with it. */
function filesOf(folder: string, draft: Draft): Files {
  return { ...sketchOf(folder, draft), [`${folder}/prd.json`]: serializePrd(draft.prd) }
}

/** The files for people only: without prd.json no run begins. */
function sketchOf(folder: string, { prd, context }: Draft): Files {
  const page = { [`${folder}/prd.md`]: renderPrdMarkdown(prd) }
  return context === null || context === '' ? page : { [`${folder}/context.md`]: context, ...page }
}
