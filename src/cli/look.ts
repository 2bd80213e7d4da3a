// `ralph status`, `next`, `validate` and `run --dry-run`: they print what they find and change nothing.

import { refuseAtWork } from '../app/at-work.ts'
import { prdPathOf, withRequestedScope } from '../app/claim-feature.ts'
import { readEarlierRuns } from '../app/earlier-runs.ts'
import { limitsOf, UNGATED_WARNING } from '../app/loop-limits.ts'
import { fixedPortWarnings } from '../app/own-port.ts'
import { unusedTagNotes } from '../app/tags.ts'
import { changesByStory } from '../branch/story-changes.ts'
import { formatHolder } from '../engine/lease.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import type { State } from '../engine/model/state.ts'
import type { Step } from '../engine/model/step.ts'
import { restartRun } from '../engine/planning/archive-stories.ts'
import { markPlanShown } from '../engine/planning/plan-events.ts'
import { MANY_DONE, withoutDone } from '../engine/prd/done.ts'
import { importedCount } from '../engine/prd/select.ts'
import { nextStepOfRun, type Situation, situationOutcome } from '../engine/situation.ts'
import { TRY_AGAIN } from '../engine/state/story-notes.ts'
import { sizeRemarks } from '../plan/size.ts'
import { terminalText } from '../report/escape.ts'
import type { EarlierRun } from '../report/expected-cost.ts'
import { formatUtc, pluralize } from '../report/figures.ts'
import { findingLines } from '../report/findings.ts'
import { describeWorker } from '../report/in-work.ts'
import { STORY_STATUSES } from '../report/outcomes.ts'
import { outputsOf, scopeInJson } from '../report/outputs.ts'
import { describeRung } from '../report/rungs.ts'
import { toPlainText } from '../report/sentence.ts'
import { describeChange } from '../report/stories.ts'
import { plainBanner } from '../report/terminal/panels.ts'
import { type Look, lookOf } from '../report/terminal/terminal-line.ts'
import { wrap } from '../report/terminal/width.ts'
import { describeUnsplit, type PlanView, plansOf, storyTexts, type View, viewOf } from '../report/view.ts'
import { describeGates, describeServices, describeSteps, type Settings } from '../settings/read-settings.ts'
import { configDifference, templatesOf } from '../setup/checks/check-repository.ts'
import { findLaneWarnings } from '../setup/checks/machine.ts'
import { UserError } from '../system/errors.ts'
import { checkBeforeRun, openForRun } from './before-run.ts'
import {
  type CommandResult,
  type Context,
  errorResult,
  readSettings,
  resultOfState,
} from './command-context.ts'
import { editsOf } from './edits.ts'
import { readStatus } from './feature-status.ts'
import { type LocalRun, openFeature } from './local-feature.ts'
import { defaultOf } from './origin.ts'
import { proposedPlanLines } from './plan-view.ts'

export async function status(context: Context): Promise<CommandResult> {
  using local = await openFeature(context)
  const limits = limitsOf(local.settings)
  const { state, situation } = await readStatus(local.workspace, await local.look(), limits)
  const other = await configDifference(local.workspace, local.settings, state)
  if (other !== null) context.warn(other)
  const outcome = situationOutcome(situation)
  const { print } = context
  const changes = await changesByStory(local.workspace.git, state).catch(() => ({}))
  const view = viewOf(state, { limits, now: Date.now(), surface: 'cli', changes }, situation)
  print(plainBanner(view))
  const look = lookOf(context.out, context.env.NO_COLOR !== undefined)
  for (const [at, { id, title, status: storyStatus, change }] of view.stories.entries()) {
    // Notes in prd.json name no surface's command.
    const notes = state.prd.userStories[at]?.notes.replaceAll(TRY_AGAIN, 'ralph retry') ?? ''
    const size = change === null ? '' : `  (${describeChange(change)})`
    const note = notes === '' ? '' : `  (${terminalText(notes, 120)})`
    const { box } = STORY_STATUSES[storyStatus]
    for (const line of hangingLines(`  ${box} `, `${id}  ${terminalText(title)}${size}${note}`, look))
      print(line)
  }
  for (const line of legendOf(view)) print(line)
  const blocked = view.stories.find(({ status }) => status === 'blocked')
  if (blocked !== undefined) print(`  Why: ralph why ${blocked.id}`)
  for (const [id, { phase }] of Object.entries(state.splits ?? {}))
    if (phase === 'wanted') print(`${id} will be split: in the next run a session proposes its parts`)
  for (const { id, unsplit } of view.stories)
    if (unsplit !== '') print(describeUnsplit(id, terminalText(unsplit), 'cli'))
  for (const finding of findingLines(view.findings)) print(`! ${terminalText(finding)}`)
  // A plan is shown with the latest edits: people may have edited it, and what they read here is what they approve.
  const plans = plansOf(markPlanShown(state, Date.now()))
  for (const plan of plans)
    if (plan.phase === 'proposed') print(['', ...proposedPlanLines(plan, look.width), ''].join('\n'))
  for (const line of [...rungLines(view), ...outlookLines(view)]) print(line)
  printStatus(context, view)
  const stories = state.prd.userStories.map(({ id, title, passes, blocked, skipped, retries, notes }) => {
    return { id, title, passes, blocked, skipped, retries, notes }
  })
  const fine = blocked === undefined && outcome !== 'stuck' && outcome !== 'error'
  const { forecast, rungs } = view
  const more = {
    stories,
    forecast,
    rungs,
    plans: plans.map(planInJson),
    workers: view.workers.map(({ id, worker, attempt, doing, place, rebased, startedAt }) => {
      return { id, worker, attempt, doing, place, rebased, startedAt }
    }),
    ...inJson(situation),
    ...scopeInJson(state),
  }
  return { code: fine ? 0 : 1, outputs: outputsOf(state, outcome, null), more }
}

/** What the signs before the stories mean, if there is one that a check list does not have. */
function legendOf({ stories }: View): string[] {
  const rows = [...new Set(stories.map(({ status }) => STORY_STATUSES[status]))]
  const shown = rows.filter(({ box }) => box !== '[ ]' && box !== '[x]')
  return shown.length === 0 ? [] : [`  Legend: ${shown.map(({ box, word }) => `${box} ${word}`).join(', ')}`]
}

function rungLines({ rungs, unpaid }: View): string[] {
  const lines = [...rungs.map((rung) => `Rung ${describeRung(rung)}`), ...unpaid.map((words) => `! ${words}`)]
  return lines.map((line) => terminalText(line, 300))
}

function outlookLines({ outlook }: View): string[] {
  return outlook === null ? [] : [`Remaining: ${outlook}`]
}

/** The status, what is in work if several stories are, and what a person can do next. */
function statusLines({ headline, next, workers, lanes, now }: View): string[] {
  const beside = lanes === null ? [] : workers.map((one) => `${one.id} · ${describeWorker(one, now)}`)
  return [...[headline.text, ...beside].map((line) => terminalText(line)), `Next: ${toPlainText(next)}`]
}

/** Prints the status and what to do next. On a terminal they are set apart from the list of stories. */
function printStatus({ print, out, env }: Context, view: View): void {
  const look = lookOf(out, env.NO_COLOR !== undefined)
  if (!look.plain) print('')
  for (const line of statusLines(view)) for (const part of hangingLines('', line, look)) print(part)
}

/** A text after a head, in lines as wide as the terminal; further lines are indented to the head's end. */
function hangingLines(head: string, text: string, { width }: Look): string[] {
  return wrap(text, width - head.length).map((part, at) => (at === 0 ? head : ' '.repeat(head.length)) + part)
}

/** The view of a feature whose next step is this one. */
function viewAt(step: Step, state: State, limits: Limits, earlier?: readonly EarlierRun[]): View {
  const situation: Situation =
    step.kind === 'conclude' ? { kind: 'ended', conclusion: step.conclusion } : { kind: 'ready', step }
  const others = earlier === undefined ? {} : { earlier }
  return viewOf(state, { limits, now: Date.now(), surface: 'cli', ...others }, situation)
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
      return { id, title, description: storyTexts(story).join('\n\n'), dependsOn, acceptanceCriteria }
    }),
  }
}

/** For `--json`: the holder of the lease, or the next step; empty if there is neither. */
function inJson(situation: Situation): Record<string, unknown> {
  if (situation.kind === 'working' && situation.lease !== null)
    return { holder: formatHolder(situation.lease) }
  return situation.kind === 'ready' && situation.step !== null ? { next: stepInJson(situation.step) } : {}
}

export async function next(context: Context): Promise<CommandResult> {
  const opened = await openForRun(context, await readSettings(context), context)
  using local = opened.local
  const { state } = opened
  const scoped = withRequestedScope(state, local.settings)
  const limits = limitsOf(local.settings)
  const step = nextStepOfRun(scoped, limits, Date.now())
  const id = step.kind === 'reserve' ? step.storyId : null
  const story = state.prd.userStories.find((each) => each.id === id)
  if (story !== undefined) context.print(`${story.id}  ${terminalText(story.title)}`)
  else for (const line of nextLines(step, scoped, viewAt(step, scoped, limits))) context.print(line)
  const conclusion = step.kind === 'conclude' ? step.conclusion : null
  const more = {
    next: story === undefined ? null : { id: story.id, title: story.title, attempt: story.retries + 1 },
    reason: conclusion?.reason ?? null,
    ...scopeInJson(scoped),
  }
  const isFine = conclusion === null || conclusion.outcome === 'complete'
  return { code: isFine ? 0 : 1, outputs: outputsOf(state, conclusion?.outcome ?? null, null), more }
}

/** All mistakes in the files, and everything else that would keep a run from beginning. */
export async function validate(context: Context): Promise<CommandResult> {
  const { print } = context
  const read = await readSettings(context)
  const warnings = [...read.notes]
  const onNote = (note: string) => warnings.push(note)
  using opened = await checkBeforeRun(context, read, { warn: onNote }, onNote)
  const { local, state, start, mistakes } = opened
  if (local !== null && state !== null) {
    const { notes, warnings: others } = await templatesOf(start)
    warnings.push(...notes, ...others)
    const other = await configDifference(local.workspace, local.settings, state)
    if (other !== null) warnings.push(other)
    if (read.ok) warnings.push(...warningsOf(state, read.settings))
    for (const { found, fix } of await findLaneWarnings(start)) warnings.push(`${found}; ${fix}`)
  }
  if (local !== null) {
    const { faultsInCi } = await import(/* webpackChunkName: "cli" */ '../setup/checks/diagnose.ts')
    warnings.push(...(await faultsInCi(start, await defaultOf(local.workspace, local.base, context.env))))
  }
  for (const text of warnings) print(`warning: ${text}`)
  if (state === null || mistakes.length > 0)
    return errorResult(context, new UserError(mistakes), { warnings })
  if (read.settings.steps !== null) print(`steps: ${terminalText(describeSteps(read.settings), 1000)}`)
  if (read.settings.services.length > 0) print(`services: ${describeServices(read.settings)}`)
  print(`gates: ${describeGates(read.settings)}`)
  print(`${prdPathOf(state)}: ${pluralize(state.prd.userStories.length, 'story', 'stories')}, fine`)
  return resultOfState(state, { warnings })
}

/** Warnings about things that are allowed, but often a mistake. */
function warningsOf(state: State, settings: Settings): string[] {
  const warnings: string[] = []
  if (settings.ungated) warnings.push(UNGATED_WARNING)
  for (const { storyId, remark } of sizeRemarks(state.prd.userStories)) warnings.push(`${storyId}: ${remark}`)
  warnings.push(...fixedPortWarnings(settings))
  warnings.push(...unusedTagNotes(settings, state.prd.userStories))
  const { done } = withoutDone(state.prd)
  if (done.length > MANY_DONE)
    warnings.push(`${done.length} stories are done: ralph archive moves them out of prd.json`)
  return warnings
}

/** Prints what a run would do next, and changes nothing. */
export async function dryRun(
  { print, flags }: Context,
  local: LocalRun,
  state: State,
  limits: Limits,
): Promise<CommandResult> {
  await refuseAtWork(state)
  await editsOf(local.workspace, state)
  const scoped = withRequestedScope(
    flags.force === true ? restartRun(state, state.nonce) : state,
    local.settings,
  )
  const step = nextStepOfRun(scoped, limits, Date.now())
  const { objects, clone } = local.workspace
  const earlier = await readEarlierRuns(objects, clone.head ?? state.base.sha, state.folder)
  const view = viewAt(step, scoped, limits, earlier)
  const cost = view.expectedCost === null ? [] : [`Estimate: ${view.expectedCost}`]
  for (const line of [...cost, ...outlookLines(view), ...nextLines(step, scoped, view)]) print(line)
  if (local.settings.steps !== null) print(`Steps: ${describeSteps(local.settings)}`)
  const { forecast, expected } = view
  const more = { next: stepInJson(step), forecast, expectedCost: expected, ...scopeInJson(scoped) }
  return { code: 0, outputs: outputsOf(state, null, null), more }
}

function stepInJson(step: Step): Record<string, unknown> {
  if (step.kind === 'reserve') return { step: 'work', storyId: step.storyId }
  if (step.kind === 'conclude')
    return { step: 'stop', outcome: step.conclusion.outcome, reason: step.conclusion.reason }
  if (step.kind === 'wait') return { step: 'wait', until: step.until, reason: step.reason }
  return { step: step.kind }
}

/** What a run would do. Where it would do nothing: the status and what a person can do, as `ralph status` shows it. */
function nextLines(step: Step, state: State, view: View): string[] {
  const isOver = step.kind === 'conclude' && step.conclusion.outcome !== 'complete'
  return isOver ? statusLines(view) : [`Next: ${formatStep(step, state)}`]
}

function formatStep(step: Step, state: State): string {
  switch (step.kind) {
    case 'reserve': {
      const story = state.prd.userStories.find((one) => one.id === step.storyId)
      return `work on ${step.storyId} (${terminalText(story?.title ?? '')}), attempt ${(story?.retries ?? 0) + 1}`
    }
    case 'verify':
    case 'judge-whole': {
      const imported = importedCount(state.prd, state.control.scope)
      const seen = 'imported as passed; no gate of this run has checked them'
      return imported === 0 ? 'the final verification' : `the final verification (${imported} ${seen})`
    }
    case 'wait':
      return `wait until ${formatUtc(step.until)}: ${terminalText(step.reason)}`
    case 'plan':
      return step.split === null
        ? 'a session plans the stories'
        : `a session splits ${step.split} into smaller stories`
    case 'edit':
      return step.edit.kind === 'drop'
        ? `revert the commits of ${step.edit.stories.join(', ')}, and run the gates`
        : 'merge the base branch, and run the gates'
    case 'gate-edit':
      return 'run the gates on the edited branch'
    case 'conclude':
      return `nothing is left to do: ${terminalText(step.conclusion.reason)}`
    default:
      return step.kind
  }
}
