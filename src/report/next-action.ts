// What a person can do next, in one sentence, with commands for the surface that it is read on.

import { formatCommandLine, type Surface } from '../engine/commands/command-table.ts'
import { missingApprovals } from '../engine/corrections/approvals.ts'
import { formatHolder } from '../engine/lease.ts'
import { dependencyName } from '../engine/model/dependency.ts'
import { haltError } from '../engine/model/job.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import type { State } from '../engine/model/state.ts'
import type { Step } from '../engine/model/step.ts'
import { runUsage } from '../engine/model/usage-totals.ts'
import { openQuestions } from '../engine/planning/plan-questions.ts'
import { unmetOutOfScope } from '../engine/prd/scope.ts'
import { counts, remaining } from '../engine/prd/select.ts'
import type { EndedSituation, Situation } from '../engine/situation.ts'
import { waitingDependencies } from '../engine/state/dependencies.ts'
import { budgetLeft, exhaustedBudget, iterationsLeft } from '../engine/state/limits.ts'
import { capitalize, pluralize } from './figures.ts'
import { blockedIds, nextJobHeldUntil, willContinue } from './headline.ts'
import { type Sentence, sentence } from './sentence.ts'

/** The reader of the sentence. `limits` show which of several limits was reached. */
type Reader = { state: State; surface: Surface; limits: Limits | null }

/** The sentence. Its commands can be typed on `surface`. */
export function nextAction(
  state: State,
  situation: Situation,
  surface: Surface,
  limits: Limits | null = null,
): Sentence {
  const reader = { state, surface, limits }
  switch (situation.kind) {
    case 'working':
      return whileWorking(reader, situation.lease === null ? null : formatHolder(situation.lease))
    case 'ready':
      return whenReady(reader, situation.step)
    case 'ended':
      return whenEnded(reader, situation)
  }
}

/** A command in the form that the reader can type. */
function typed({ surface }: Reader, command: string) {
  return { code: formatCommandLine(surface, command) }
}

/** Whether the reader cannot comment: Ralph reads comments on the run's pull request only. */
function hasNoThread({ state, surface }: Reader): boolean {
  return surface === 'comment' && state.github.pull === null
}

/** What continues the work: a command, or the button on the workflow's page without a pull request to comment on. */
function run(reader: Reader) {
  return hasNoThread(reader) ? { button: 'Run workflow' } : typed(reader, 'run')
}

/** A request for the run. A comment starts the next job by itself; on a command line a person has to start it. */
function askToContinue(reader: Reader, request: Sentence): Sentence {
  if (reader.surface === 'cli') return sentence`${request}. Then continue with ${run(reader)}.`
  return hasNoThread(reader)
    ? sentence`${openPullRequest(reader)} and comment there. ${request}.`
    : sentence`${request}.`
}

function openPullRequest({ state }: Reader): Sentence {
  return sentence`Open a pull request from ${{ code: state.branch, most: 200 }}`
}

function whileWorking(reader: Reader, holder: string | null): Sentence {
  const who = holder === null ? sentence`` : sentence` (${{ text: holder }})`
  const begin = sentence`Nothing to do: Ralph is at work${who}.`
  return hasNoThread(reader)
    ? begin
    : sentence`${begin} ${typed(reader, 'pause')} pauses it after this iteration, ${typed(reader, 'stop')} ends it immediately.`
}

function whenReady(reader: Reader, step: Step | null): Sentence {
  const begun = reader.state.nonce !== ''
  const go = begun ? sentence`Continue with ${run(reader)}` : sentence`Start with ${run(reader)}`
  switch (step?.kind) {
    case 'reserve':
      return sentence`${go}: ${{ code: step.storyId, most: 64 }} is next.`
    case 'verify':
    case 'judge-whole':
      return sentence`${go}: the final verification is next.`
    case 'wait':
      return whileWaiting(reader, step.until)
    default:
      return sentence`${go}.`
  }
}

function whenEnded(reader: Reader, { conclusion, since }: EndedSituation): Sentence {
  const { state } = reader
  const goOn = sentence`Continue with ${run(reader)}.`
  switch (conclusion.outcome) {
    case 'continued':
      if (willContinue(state)) return sentence`Nothing to do: the next job was started.`
      if (nextJobHeldUntil(state) === null) return goOn
      return sentence`If the hourly ${RESUME_LOST} workflow is set up, it starts the next job. If not, continue with ${run(reader)} after the rate limit has ended.`
    case 'complete':
      return whenComplete(reader, since)
    case 'stuck':
      return whenStuck(reader)
    case 'max-iterations':
      return whenAtLimit(reader)
    case 'budget':
      return whenBudgetSpent(reader)
    case 'paused':
      if (state.control.paused === null && openQuestions(state.plan?.interview) !== null)
        return whenQuestionsOpen(reader)
      if (state.control.paused === null && plansToApprove(state) !== null) return whenPlanProposed(reader)
      if (state.control.paused === null && waitingDependencies(state).length > 0)
        return whenPackagesWait(reader)
      if (state.control.paused === null && whatIsLeft(state) === 'approvals') return whenApprovalsWait(reader)
      if (state.control.paused === null && conclusion.until !== null)
        return whileWaiting(reader, conclusion.until)
      return state.control.paused?.by === 'ralph' ? fixAndContinue(reader) : goOn
    case 'error':
      return whenError(reader)
    case 'interrupted':
      return goOn
  }
}

const RESUME_LOST = { code: 'resume-lost' }

/** A hint ends the rest of a story at once, and a new run ends the wait for a vendor's limit. */
function whileWaiting(reader: Reader, until: number): Sentence {
  const { state, surface } = reader
  const isVendors = Object.values(state.control.agentLimits).includes(until)
  const resting = state.prd.userStories.find(({ id }) => state.records[id]?.breaker.until === until)
  const atOnce = isVendors
    ? sentence`; ${run(reader)} tries again at once`
    : resting === undefined || hasNoThread(reader)
      ? sentence``
      : sentence`; ${typed(reader, `retry ${resting.id} -- <hint>`)} tries ${{ text: resting.id }} again at once`
  if (surface === 'comment')
    return sentence`Nothing to do if the hourly ${RESUME_LOST} workflow is set up: it continues the run${atOnce}.`
  return isVendors
    ? sentence`${run(reader)} tries again at once, and waits if the limit still holds.`
    : sentence`${run(reader)} waits until then and continues${atOnce}.`
}

function whenComplete(reader: Reader, since: EndedSituation['since']): Sentence {
  const { state, surface } = reader
  const { pull, pullUrl } = state.github
  const isPart = remaining(state.prd).length > 0
  const rest = isPart ? sentence` Or continue with the other stories: ${run(reader)}.` : sentence``
  if (since === 'archived') return sentence`Nothing to do: it is merged, and in the archive.`
  if (since === 'merged' && isPart) return sentence`It is merged.${rest}`
  if (since === 'merged' && surface === 'comment') return sentence`Nothing to do: it is merged.`
  if (since === 'merged')
    return sentence`It is merged: ${typed(reader, `archive ${state.feature}`)} moves it to the archive.`
  if (since === 'auto-merge')
    return sentence`Review this pull request like any other. GitHub merges it automatically.${rest}`
  if (surface === 'comment')
    return pull === null
      ? sentence`${openPullRequest(reader)}, review it like any other, and merge it.${rest}`
      : sentence`Review this pull request like any other, and merge it.${rest}`
  if (pullUrl !== null) return sentence`Review and merge ${{ code: pullUrl, most: 2000 }}${rest}`
  const diff = { code: `git diff ${state.base.branch}...${state.branch}`, most: 300 }
  return sentence`Review it with ${diff}, then merge the branch.${rest}`
}

/** The plan that waits for approval: '' for the feature's, the story's id for a split; null without any. */
function plansToApprove({ plan, splits = {} }: State): string | null {
  if (plan?.phase === 'proposed') return ''
  return Object.entries(splits).find(([, { phase }]) => phase === 'proposed')?.[0] ?? null
}

function whenPlanProposed(reader: Reader): Sentence {
  const { state, surface } = reader
  const id = plansToApprove(state) ?? ''
  const digest = (id === '' ? state.plan : state.splits?.[id])?.digest ?? ''
  const approve = typed(reader, ['approve-plan', id, digest].filter(Boolean).join(' '))
  const prd = { code: `${state.folder}/prd.json`, most: 300 }
  if (id !== '') {
    const whole = typed(reader, `retry ${id}`)
    return askToContinue(
      reader,
      sentence`Read the parts of ${{ code: id, most: 64 }}, then approve them with ${approve}, or keep the story whole with ${whole}`,
    )
  }
  const anew = typed(reader, 'plan -- <what to change>')
  const change =
    surface === 'cli' ? sentence`edit ${prd}` : sentence`edit ${prd} on the branch, or say ${anew}`
  return askToContinue(
    reader,
    sentence`Read the plan, then begin the work with ${approve}. To change it, ${change}`,
  )
}

function whatIsLeft(state: State): 'stories' | 'approvals' | 'nothing' {
  if (remaining(state.prd, state.control.scope).length > 0) return 'stories'
  const isRequested = (state.holds?.changesRequestedBy.length ?? 0) > 0
  return missingApprovals(state) > 0 && !isRequested ? 'approvals' : 'nothing'
}

function whenApprovalsWait({ state }: Reader): Sentence {
  const missing = missingApprovals(state)
  const approvals = { text: pluralize(missing, 'more approval') }
  return sentence`Review this pull request: its newest commit needs ${approvals}.`
}

function whenPackagesWait(reader: Reader): Sentence {
  const [first, ...others] = waitingDependencies(reader.state)
  if (first === undefined) return sentence`Continue with ${run(reader)}.`
  const allow = typed(reader, `allow ${dependencyName(first.finding)}`)
  const all = others.length === 0 ? sentence`` : sentence`, or every one with ${typed(reader, 'allow all')}`
  return askToContinue(reader, sentence`Look at the new packages, then allow one with ${allow}${all}`)
}

function whenStuck(reader: Reader): Sentence {
  if (reader.state.plan?.phase === 'wanted') return whenNotPlanned(reader)
  const [first, ...others] = blockedIds(reader.state)
  if (first === undefined) {
    const { prd, control } = reader.state
    const [outside] = control.scope === null ? [] : unmetOutOfScope(prd, control.scope)
    if (outside !== undefined)
      return askToContinue(
        reader,
        sentence`Add the missing dependency to the run with ${typed(reader, `retry ${outside.id}`)}`,
      )
    if (reader.surface === 'cli') return sentence`Ask the judge again with ${typed(reader, 'run')}.`
    return askToContinue(reader, sentence`Ask the judge again with ${typed(reader, 'verify')}`)
  }
  const all = others.length === 0 ? sentence`` : sentence` (all of them: ${typed(reader, 'retry all')})`
  const retry = typed(reader, `retry ${first} -- <hint>`)
  const skip = typed(reader, `skip ${first}`)
  const request = sentence`Give a hint with ${retry}${all}, or leave the story out with ${skip}`
  // On GitHub the summary shows what failed.
  if (reader.surface !== 'cli') return askToContinue(reader, request)
  return sentence`Run ${typed(reader, `why ${first}`)} to see what failed. ${askToContinue(reader, request)}`
}

function whenQuestionsOpen({ state, surface }: Reader): Sentence {
  const issue = { code: `#${state.plan?.issue ?? ''}` }
  if (surface === 'cli') return sentence`Answer the questions in issue ${issue} on GitHub.`
  return sentence`Answer the questions in issue ${issue}: comment ${{ code: '/ralph plan -- 1A, 2C' }} there.`
}

function whenNotPlanned(reader: Reader): Sentence {
  const { issue } = reader.state.plan ?? { issue: null }
  if (issue === null) return sentence`Say more in the documents, then plan again.`
  return sentence`Say more in issue ${{ code: `#${issue}` }}, then comment ${{ code: '/ralph plan' }} there.`
}

function whenAtLimit(reader: Reader): Sentence {
  const { state, limits } = reader
  if (limits === null || limits.maxIterations === 0 || iterationsLeft(state, limits) <= 0) {
    // Two iterations for each story that is left, in fives.
    const more = Math.max(5, Math.ceil((remaining(state.prd, state.control.scope).length * 2) / 5) * 5)
    return allowMore(reader, `limit iterations +${more}`)
  }
  return hasNoThread(reader)
    ? sentence`Raise ${{ code: 'max-jobs' }}, then continue with ${run(reader)}.`
    : sentence`Continue with ${run(reader)}, which counts jobs from zero again.`
}

function whenBudgetSpent(reader: Reader): Sentence {
  const { state, limits } = reader
  const none = { maxCostUsd: null, maxTokens: null, maxAgentTimeMs: null }
  const isSpent = (key: keyof typeof none) =>
    limits !== null && exhaustedBudget(state, { ...limits, ...none, [key]: limits[key] }) !== null
  if (isSpent('maxTokens'))
    return sentence`Raise ${{ code: 'max-tokens' }}, then continue with ${run(reader)}.`
  if (isSpent('maxAgentTimeMs'))
    return sentence`Raise ${{ code: 'max-agent-time' }}, then continue with ${run(reader)}.`
  // In whole dollars: what was spent beyond the limit, and the remaining stories at the average cost of the passed ones.
  const over = limits === null ? 0 : -(budgetLeft(state, limits).costUsd ?? 0)
  const each = runUsage(state).costUsd / Math.max(1, counts(state.prd).passed)
  const left = Math.max(1, remaining(state.prd, state.control.scope).length)
  const more = Math.max(1, Math.ceil(over + each * left))
  return allowMore(reader, `limit cost +${more}`)
}

function allowMore(reader: Reader, command: string): Sentence {
  return askToContinue(reader, sentence`The work so far is kept. Allow more with ${typed(reader, command)}`)
}

function whenError(reader: Reader): Sentence {
  const line = haltError(reader.state)?.fix.split('\n', 1)[0]?.trim() ?? ''
  const fix = line.replace(/(?:; its output)?[.:]$/, '')
  if (fix === '') return fixAndContinue(reader)
  const fixText = { text: capitalize(fix) }
  return /\b(?:run|go on)\b/.test(fix)
    ? sentence`${fixText}.`
    : sentence`${fixText}; then continue with ${run(reader)}.`
}

function fixAndContinue(reader: Reader): Sentence {
  return sentence`Fix the reported problem, then continue with ${run(reader)}.`
}
