// `ralph status`, `next`, `validate` and `run --dry-run`: look, say, change nothing; and what a run would refuse.
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { missingAgents } from '../app/agents.ts'
import { isAlive, refuseAtWork } from '../app/at-work.ts'
import { refuseNoBrowser } from '../app/browser.ts'
import { withWanted } from '../app/claim.ts'
import { limitsOf, refuseUngated, UNGATED_WARNING } from '../app/limits.ts'
import { unaskedTags } from '../app/tags.ts'
import { sizeRemarks } from '../documents/size.ts'
import { refuseFiltered } from '../git/filters.ts'
import { checkedOutElsewhere } from '../git/open-clone.ts'
import { begunAnew } from '../loop/archive.ts'
import { sayHolder } from '../loop/lease.ts'
import { TRY_AGAIN } from '../loop/notes.ts'
import { shownPlan } from '../loop/planned.ts'
import { outcomeIn, type Situation, stepOfRun } from '../loop/situation.ts'
import { checkTemplates, type TemplateFindings } from '../loop/templates.ts'
import type { Limits } from '../model/limits.ts'
import { agentSteps } from '../model/pipeline.ts'
import type { State } from '../model/state.ts'
import type { Step } from '../model/step.ts'
import { MANY_DONE, withoutDone } from '../prd/done.ts'
import { importedCount } from '../prd/select.ts'
import { terminalText } from '../report/escape.ts'
import { findingLines } from '../report/findings.ts'
import { STANDINGS } from '../report/outcomes.ts'
import { outputsOf, partInJson } from '../report/outputs.ts'
import { inPlain } from '../report/sentence.ts'
import { aboutOf, type PlanView, plansOf, unsplitWords, type View, viewOf } from '../report/view.ts'
import { many, utc } from '../report/words.ts'
import {
  configFileNames,
  describeGates,
  describeServices,
  describeSteps,
  type Settings,
} from '../settings/index.ts'
import { type Mistake, UserError } from '../system/errors.ts'
import { readRegular } from '../system/files.ts'
import { plainBanner } from '../terminal/boxes.ts'
import { lookOf } from '../terminal/line.ts'
import { type Answer, answerOf, type Context, refusal, settingsRead } from './context.ts'
import { editsOf } from './edits.ts'
import { seenNow } from './feature-status.ts'
import { type LocalRun, openFeature, openLocal, prdPathOf } from './local.ts'
import { waitingLines } from './plan-view.ts'

export async function status(context: Context): Promise<Answer> {
  using local = await openFeature(context)
  const limits = limitsOf(local.settings)
  const { state, situation } = await seenNow(local.workspace, await local.look(), limits)
  const other = await otherConfig(local, state)
  if (other !== null) context.warn(other)
  const outcome = outcomeIn(situation)
  const { say } = context
  const view = viewOf(state, { limits, now: Date.now(), surface: 'cli' }, situation)
  say(plainBanner(view))
  for (const [at, { id, title, standing }] of view.stories.entries()) {
    // Notes in prd.json name no surface's command.
    const notes = state.prd.userStories[at]?.notes.replaceAll(TRY_AGAIN, 'ralph retry') ?? ''
    const note = notes === '' ? '' : `  (${terminalText(notes, 120)})`
    say(`  ${STANDINGS[standing].box} ${id}  ${terminalText(title)}${note}`)
  }
  for (const [id, { phase }] of Object.entries(state.splits ?? {}))
    if (phase === 'wanted') say(`${id} is to be split: the next run lets a session propose its parts`)
  for (const { id, unsplit } of view.stories)
    if (unsplit !== '') say(unsplitWords(id, terminalText(unsplit), 'cli'))
  for (const finding of findingLines(view.findings)) say(`! ${terminalText(finding)}`)
  // People may have edited a plan since it was proposed: what they read here is what they approve.
  const plans = plansOf(shownPlan(state, Date.now()))
  const { width } = lookOf(context.out, true)
  for (const plan of plans)
    if (plan.phase === 'proposed') say(['', ...waitingLines(plan, width), ''].join('\n'))
  for (const line of [...outlookLines(view), ...standingLines(view)]) say(line)
  const stories = state.prd.userStories.map(({ id, title, passes, blocked, skipped, retries, notes }) => {
    return { id, title, passes, blocked, skipped, retries, notes }
  })
  const isBlocked = view.stories.some(({ standing }) => standing === 'blocked')
  const fine = !isBlocked && outcome !== 'stuck' && outcome !== 'error'
  const { forecast } = view
  const more = { stories, forecast, plans: plans.map(planInJson), ...inJson(situation), ...partInJson(state) }
  return { code: fine ? 0 : 1, outputs: outputsOf(state, outcome, null), more }
}

function outlookLines({ outlook }: View): string[] {
  return outlook === null ? [] : [`Outlook: ${outlook}`]
}

/** How it stands, and what a person can do. */
function standingLines({ headline, next }: View): string[] {
  return [terminalText(headline.text), `Next: ${inPlain(next)}`]
}

/** The feature as a run finds it that would do this next. */
function viewAt(step: Step, state: State, limits: Limits): View {
  const situation: Situation =
    step.kind === 'conclude' ? { kind: 'ended', conclusion: step.conclusion } : { kind: 'ready', step }
  return viewOf(state, { limits, now: Date.now(), surface: 'cli' }, situation)
}

function planInJson({ storyId, phase, digest, questions, stories, context }: PlanView) {
  return {
    storyId,
    phase,
    digest,
    questions,
    context,
    parts: stories.map((story) => {
      const { id, title, dependsOn, acceptanceCriteria } = story
      return { id, title, description: aboutOf(story).join('\n\n'), dependsOn, acceptanceCriteria }
    }),
  }
}

/** Who works, or what comes next, where that is so. */
function inJson(situation: Situation): Record<string, unknown> {
  if (situation.kind === 'working' && situation.lease !== null) return { holder: sayHolder(situation.lease) }
  return situation.kind === 'ready' && situation.step !== null ? { next: stepInJson(situation.step) } : {}
}

export async function next(context: Context): Promise<Answer> {
  using local = await openFeature(context)
  const state = await local.look()
  const mistakes = await preflight(context, local, state)
  if (mistakes.length > 0) throw new UserError(mistakes)
  const asked = withWanted(state, local.settings)
  const limits = limitsOf(local.settings)
  const step = stepOfRun(asked, limits, Date.now())
  const id = step.kind === 'reserve' ? step.storyId : null
  const story = state.prd.userStories.find((one) => one.id === id)
  if (story !== undefined) context.say(`${story.id}  ${terminalText(story.title)}`)
  else for (const line of nextLines(step, asked, viewAt(step, asked, limits))) context.say(line)
  const conclusion = step.kind === 'conclude' ? step.conclusion : null
  const more = {
    next: story === undefined ? null : { id: story.id, title: story.title, attempt: story.retries + 1 },
    reason: conclusion?.reason ?? null,
    ...partInJson(asked),
  }
  const isFine = conclusion === null || conclusion.outcome === 'complete'
  return { code: isFine ? 0 : 1, outputs: outputsOf(state, conclusion?.outcome ?? null, null), more }
}

/** What is wrong with the configuration and with prd.json, and what means something else here: all of it at once. */
export async function validate(context: Context): Promise<Answer> {
  const { say } = context
  const read = await settingsRead(context)
  const mistakes = read.ok ? [] : [...read.mistakes]
  const warnings = [...read.notes]
  const looked = await stories(context, read.settings, (note) => warnings.push(note)).catch(
    (error: unknown) => {
      if (!(error instanceof UserError)) throw error
      mistakes.push(...error.mistakes)
      return null
    },
  )
  // Beside settings that could not be read, or no stories, only of the browser can be said whether it is there.
  if (read.ok && looked !== null) mistakes.push(...looked.mistakes)
  else mistakes.push(...(await mistakesOf([() => refuseNoBrowser(read.settings, context.env)])))
  const state = looked?.state ?? null
  if (state !== null && read.ok) warnings.push(...warningsOf(state, read.settings))
  for (const text of warnings) say(`warning: ${text}`)
  if (state === null || mistakes.length > 0) return refusal(context, new UserError(mistakes), { warnings })
  if (read.settings.steps !== null) say(`steps: ${terminalText(describeSteps(read.settings), 1000)}`)
  if (read.settings.services.length > 0) say(`services: ${describeServices(read.settings)}`)
  say(`gates: ${describeGates(read.settings)}`)
  say(`${prdPathOf(state)}: ${many(state.prd.userStories.length, 'story', 'stories')}, fine`)
  return answerOf(state, { warnings })
}

async function stories(context: Context, settings: Settings, hear: (note: string) => void) {
  using local = await openLocal(context, settings, { warn: hear })
  const state = await local.look(hear)
  const { notes, warnings } = await templateFindings(local, state)
  for (const remark of [...notes, ...warnings]) hear(remark)
  const other = await otherConfig(local, state)
  if (other !== null) hear(other)
  return { state, mistakes: await preflight(context, local, state) }
}

/** Things that are allowed and seldom meant. */
function warningsOf(state: State, settings: Settings): string[] {
  const warnings: string[] = []
  if (settings.ungated) warnings.push(UNGATED_WARNING)
  for (const { storyId, remark } of sizeRemarks(state.prd.userStories)) warnings.push(`${storyId}: ${remark}`)
  warnings.push(...unaskedTags(settings, state.prd.userStories))
  const { done } = withoutDone(state.prd)
  if (done.length > MANY_DONE)
    warnings.push(`${done.length} stories are done: ralph archive moves them out of prd.json`)
  return warnings
}

/** Prints the decision and touches nothing. */
export async function dryRun(
  { say, flags }: Context,
  local: LocalRun,
  state: State,
  limits: Limits,
): Promise<Answer> {
  await refuseAtWork(state)
  await editsOf(local.workspace, state)
  const asked = withWanted(flags.force === true ? begunAnew(state, state.nonce) : state, local.settings)
  const step = stepOfRun(asked, limits, Date.now())
  const view = viewAt(step, asked, limits)
  for (const line of [...outlookLines(view), ...nextLines(step, asked, view)]) say(line)
  if (local.settings.steps !== null) say(`Steps: ${describeSteps(local.settings)}`)
  const more = { next: stepInJson(step), forecast: view.forecast, ...partInJson(asked) }
  return { code: 0, outputs: outputsOf(state, null, null), more }
}

function stepInJson(step: Step): Record<string, unknown> {
  if (step.kind === 'reserve') return { step: 'work', storyId: step.storyId }
  if (step.kind === 'conclude')
    return { step: 'stop', outcome: step.conclusion.outcome, reason: step.conclusion.reason }
  if (step.kind === 'wait') return { step: 'wait', until: step.until, reason: step.reason }
  return { step: step.kind }
}

/** What a run would do; where it would do nothing, how it stands and what a person can do, as `ralph status` has it. */
function nextLines(step: Step, state: State, view: View): string[] {
  const isOver = step.kind === 'conclude' && step.conclusion.outcome !== 'complete'
  return isOver ? standingLines(view) : [`Next: ${formatStep(step, state)}`]
}

function formatStep(step: Step, state: State): string {
  switch (step.kind) {
    case 'reserve': {
      const story = state.prd.userStories.find((one) => one.id === step.storyId)
      return `work on ${step.storyId} (${terminalText(story?.title ?? '')}), attempt ${(story?.retries ?? 0) + 1}`
    }
    case 'verify': {
      const imported = importedCount(state.prd, state.control.scope)
      const seen = 'imported as passed, not seen by a gate of this run'
      return imported === 0 ? 'the final verification' : `the final verification (${imported} ${seen})`
    }
    case 'wait':
      return `wait until ${utc(step.until)}: ${terminalText(step.reason)}`
    case 'plan':
      return step.split === null
        ? 'a session plans the stories'
        : `a session splits ${step.split} into smaller stories`
    case 'conclude':
      return `nothing is left to do: ${terminalText(step.conclusion.reason)}`
    default:
      return step.kind
  }
}

/** Everything that keeps a run from beginning, apart from who is at work now; empty where nothing does. */
export async function preflight(context: Context, local: LocalRun, state: State): Promise<Mistake[]> {
  const { settings, workspace } = local
  const found = await mistakesOf([
    () => refuseUngated(settings),
    () => refuseNoBrowser(settings, context.env),
    () => local.refuseBranch(state),
    () => refuseFiltered(workspace.git, workspace.objects),
    () => refuseElsewhere(context, local, state),
    () => void withWanted(state, settings),
  ])
  return [
    ...missingAgents(settings, context.env),
    ...(await missingFolder(local, state)),
    ...(await templateFindings(local, state)).mistakes,
    ...found,
  ]
}

async function mistakesOf(checks: readonly (() => void | Promise<void>)[]): Promise<Mistake[]> {
  const mistakes: Mistake[] = []
  for (const check of checks) {
    try {
      await check()
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      mistakes.push(...error.mistakes)
    }
  }
  return mistakes
}

/**
 * Throws UserError where another work tree has the branch checked out: a run here would move it under that one. Who only hears
 * that the feature is complete, or in work, may hear it anywhere.
 */
export async function refuseElsewhere({ flags }: Context, local: LocalRun, state: State): Promise<void> {
  const other = checkedOutElsewhere(local.workspace.clone, state.branch)
  if (other === null || (await isAlive(state.lease))) return
  const step = stepOfRun(withWanted(state, local.settings), limitsOf(local.settings), Date.now())
  const isComplete = step.kind === 'conclude' && step.conclusion.outcome === 'complete'
  if (isComplete && flags.force !== true) return
  const found = `${state.branch} is checked out in ${other}`
  const fix = 'run there, or switch that work tree to another branch'
  throw new UserError({ path: 'work tree', found, expected: 'it here or nowhere', fix })
}

/** What is to be said where the feature's branch, which is checked out, has not the configuration that its base has now. */
export async function otherConfig({ settings, workspace }: LocalRun, state: State): Promise<string | null> {
  const { clone, objects, store } = workspace
  const base = state.base.branch
  if (clone.branch !== state.branch || base === state.branch) return null
  const head = await store.head(base)
  if (head === null) return null
  for (const path of settings.configFile === null ? configFileNames : [settings.configFile]) {
    const there = await objects.text(`${head}:${path}`)
    const file = resolve(clone.workTree, path)
    const here = (await readRegular(file))?.toString('utf8') ?? null
    const isLink = here === null && existsSync(file)
    if (there === null && here === null && !isLink) continue
    // A base without one is passed over for nothing, and what a link leads to is in no commit. Line ends are the checkout's.
    if (there === null || isLink || here?.replaceAll('\r\n', '\n') === there.replaceAll('\r\n', '\n'))
      return null
    const used = here === null ? 'without it' : `by the one on ${state.branch}`
    return `${path} is another on ${base}: this run goes ${used}; merge ${base} into it, or switch to ${base}`
  }
  return null
}

/** What is to be said of the prompt templates that a run would use. */
export function templateFindings(local: LocalRun, state: State): Promise<TemplateFindings> {
  return checkTemplates((path) => local.read(state, path), agentSteps(local.settings.steps))
}

/** Agent and gates start there: on disk now, or on the branch that the run goes on from. */
async function missingFolder({ settings, workspace }: LocalRun, state: State): Promise<Mistake[]> {
  const { workingDirectory: folder } = settings
  const found = await stat(resolve(workspace.clone.workTree, folder)).catch(() => null)
  if (found?.isDirectory() === true) return []
  const tree = await workspace.objects.info(`${state.green}:${folder.replace(/^\.\/|\/+$/g, '')}`)
  if (tree?.type === 'tree') return []
  const fix = 'name a folder of this repository, from its root'
  return [{ path: 'working-directory', found: folder, expected: 'a folder that is there', fix }]
}
