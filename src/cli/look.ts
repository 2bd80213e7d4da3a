// `ralph status`, `next` and `validate`: look, say, change nothing. Exit 0 when fine, 1 when not, 64 on bad input.

import { withWanted } from '../app/claim.ts'
import { limitsOf, UNGATED_WARNING } from '../app/limits.ts'
import { sizeRemarks } from '../documents/size.ts'
import { applyCommand } from '../loop/commands.ts'
import { sayHolder } from '../loop/lease.ts'
import { TRY_AGAIN } from '../loop/notes.ts'
import { shownPlan } from '../loop/planned.ts'
import { decision, outcomeIn, type Situation, situationOf } from '../loop/situation.ts'
import { sayRemark } from '../loop/templates.ts'
import type { State } from '../model/state.ts'
import { MANY_DONE, withoutDone } from '../prd/done.ts'
import { terminalText } from '../report/escape.ts'
import { forecastOf, outlookWords, worstCase } from '../report/forecast.ts'
import { blockedIds, standingWords } from '../report/headline.ts'
import { nextMove } from '../report/next-move.ts'
import { STANDINGS } from '../report/outcomes.ts'
import { outputsOf, partInJson } from '../report/outputs.ts'
import { inPlain } from '../report/sentence.ts'
import { storiesOf } from '../report/stories.ts'
import { aboutOf, headerOf, type PlanView, plansOf, splitAgain } from '../report/view.ts'
import { many } from '../report/words.ts'
import { describeGates, describeServices, describeSteps, type Settings } from '../settings/index.ts'
import { type Mistake, UserError } from '../system/errors.ts'
import { plainBanner } from '../terminal/boxes.ts'
import { type Answer, type Context, refusal, settingsOf, settingsRead, tell } from './context.ts'
import { type LocalRun, openLocal, prdPathOf } from './local.ts'
import { waitingLines } from './plan-view.ts'
import { preflight, templateFindings } from './preflight.ts'
import { sayStep, stepInJson } from './run.ts'

export async function status(context: Context): Promise<Answer> {
  using local = await openQuiet(context)
  const state = await local.look()
  const limits = limitsOf(local.settings)
  const lives = state.lease !== null && (await local.alive(state.lease))
  const situation = situationOf(state, limits, Date.now(), lives)
  const outcome = outcomeIn(situation)
  const say = speaker(context)
  // An attempt that a dead process has left is nobody's work.
  const shown = situation.kind === 'working' ? state : { ...state, attempts: {} }
  say(plainBanner(headerOf(shown, limits)))
  const views = storiesOf(shown)
  for (const [at, { id, title, notes }] of state.prd.userStories.entries()) {
    const note = notes === '' ? '' : `  (${terminalText(asTyped(notes), 120)})`
    say(`  ${STANDINGS[views[at]?.standing ?? 'open'].box} ${id}  ${terminalText(title)}${note}`)
  }
  for (const { id, unsplit } of views)
    if (unsplit !== '') say(`${id} could not be split: ${terminalText(unsplit)}. ${splitAgain(id, 'cli')}`)
  // People may have edited a plan since it was proposed: what they read here is what they approve.
  const plans = plansOf(shownPlan(state, Date.now()))
  const { isTTY, columns } = context.json ? process.stderr : process.stdout
  const width = isTTY ? Math.min(100, columns) : null
  for (const plan of plans)
    if (plan.phase === 'proposed') say(['', ...waitingLines(plan, width), ''].join('\n'))
  const forecast = forecastOf(shown, Date.now())
  const outlook = outlookWords(forecast, worstCase(shown, limits))
  if (outlook !== null) say(`Left: ${outlook}`)
  say(terminalText(standingWords(state, situation)))
  say(`Next: ${inPlain(nextMove(state, situation, 'cli', limits))}`)
  const stories = state.prd.userStories.map(({ id, title, passes, blocked, skipped, retries, notes }) => ({
    id,
    title,
    passes,
    blocked,
    skipped,
    retries,
    notes,
  }))
  const fine = blockedIds(state).length === 0 && outcome !== 'stuck' && outcome !== 'error'
  const more = { stories, forecast, plans: plans.map(planInJson), ...inJson(situation), ...partInJson(state) }
  return { code: fine ? 0 : 1, outputs: outputsOf(state, outcome, null), more }
}

function planInJson({ storyId, phase, digest, questions, stories }: PlanView) {
  return {
    storyId,
    phase,
    digest,
    questions,
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

/** Notes in prd.json name no surface's command. */
function asTyped(notes: string): string {
  return notes.replaceAll(TRY_AGAIN, 'ralph retry')
}

export async function next(context: Context): Promise<Answer> {
  using local = await openQuiet(context)
  const state = await local.look()
  refuse(await preflight(context, local, state))
  const asked = withWanted(state, local.settings)
  const step = decision(applyCommand(asked, RUN), limitsOf(local.settings), Date.now())
  const id = step.kind === 'reserve' ? step.storyId : null
  const story = state.prd.userStories.find((one) => one.id === id)
  const say = speaker(context)
  say(story === undefined ? `nothing: ${sayStep(step, asked)}` : `${story.id}  ${terminalText(story.title)}`)
  const conclusion = step.kind === 'conclude' ? step.conclusion : null
  const more = {
    next: story === undefined ? null : { id: story.id, title: story.title, attempt: story.retries + 1 },
    reason: conclusion?.reason ?? null,
    ...partInJson(asked),
  }
  const isFine = conclusion === null || conclusion.outcome === 'complete'
  return { code: isFine ? 0 : 1, outputs: outputsOf(state, conclusion?.outcome ?? null, null), more }
}

/** A person's `ralph run`, as the state hears it. */
const RUN = { kind: 'run', id: 0, by: 'you' } as const

function refuse(mistakes: readonly Mistake[]): void {
  if (mistakes.length > 0) throw new UserError(mistakes)
}

/** What is wrong with the configuration and with prd.json, and what means something else here: all of it at once. */
export async function validate(context: Context): Promise<Answer> {
  const say = speaker(context)
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
  // Of settings that could not be read, nothing is said beside that.
  if (read.ok) mistakes.push(...(looked?.mistakes ?? []))
  const state = looked?.state ?? null
  if (state !== null && read.ok) warnings.push(...warningsOf(state, read.settings))
  for (const text of warnings) say(`warning: ${text}`)
  if (state === null || mistakes.length > 0) return refusal(context, new UserError(mistakes), { warnings })
  if (read.settings.steps !== null) say(`steps: ${terminalText(describeSteps(read.settings), 1000)}`)
  if (read.settings.services.length > 0) say(`services: ${describeServices(read.settings)}`)
  say(`gates: ${describeGates(read.settings)}`)
  say(`${prdPathOf(state)}: ${many(state.prd.userStories.length, 'story', 'stories')}, fine`)
  return { code: 0, outputs: outputsOf(state, state.prd.run.outcome, null), more: { warnings } }
}

async function stories(context: Context, settings: Settings, hear: (note: string) => void) {
  using local = await openLocal(context, settings, { warn: hear })
  const state = await local.look(hear)
  const { notes, warnings } = await templateFindings(local, state)
  for (const remark of [...notes, ...warnings]) hear(sayRemark(remark))
  return { state, mistakes: await preflight(context, local, state) }
}

/** Things that are allowed and seldom meant. */
function warningsOf(state: State, settings: Settings): string[] {
  const warnings: string[] = []
  if (settings.ungated) warnings.push(UNGATED_WARNING)
  for (const { storyId, remark } of sizeRemarks(state.prd.userStories)) warnings.push(`${storyId}: ${remark}`)
  const { done } = withoutDone(state.prd)
  if (done.length > MANY_DONE)
    warnings.push(`${done.length} stories are done: ralph archive moves them out of prd.json`)
  return warnings
}

async function openQuiet(context: Context): Promise<LocalRun> {
  const { settings } = await settingsOf(context)
  return openLocal(context, settings, { warn: (text) => tell(process.stderr, `warning: ${text}`) })
}

function speaker(context: Context): (text: string) => void {
  const stream = context.json ? process.stderr : process.stdout
  return (text) => tell(stream, text)
}
