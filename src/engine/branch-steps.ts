// The steps that read or move the feature's branch: what people pushed, the first and each later push, and the end of a job.

import { requestsOf } from './corrections/correction-requests.ts'
import { findBreakingStory } from './gating/final-gates.ts'
import { findPortConflict } from './gating/gate-memory.ts'
import { gatesOfJoin, newGateRun, runGatesOn, withoutSessionFiles } from './gating/gate-run.ts'
import { released } from './job-end.ts'
import type { CorrectionRequest, Holds } from './model/correction.ts'
import type { RevertedStory } from './model/joined-branch.ts'
import type { Limits } from './model/limit-types.ts'
import { ownFiles } from './model/paths.ts'
import type { Ports, StorePort } from './model/ports.ts'
import type { Conclusion, State } from './model/state.ts'
import { markRunArchived, withoutPending } from './planning/archive-stories.ts'
import { isWaitingPlan } from './planning/proposed-plan.ts'
import { remaining } from './prd/select.ts'
import { continuesByItself, RENEWAL_MS } from './state/limits.ts'
import { isPushed, redGate, withDocuments } from './state/state-updates.ts'
import type { StepContext, StepResult } from './state/step-context.ts'

export async function open({ state, ports, now }: StepContext): Promise<StepResult> {
  const { repository } = ports
  const isStart = state.published === null || state.control.anew
  const firstCommit = isStart ? await repository.record(state, `chore(ralph): start ${state.feature}`) : null
  const green = firstCommit?.commit ?? state.green
  await repository.checkOut(green, null)
  const context = green === state.green ? {} : await planContext(state, green, ports)
  const begun = markRunArchived({ ...state, green })
  const opened = (github: State['github']): StepResult => ({ kind: 'opened', green, github, ...context })
  // A long preparation has used up a part of the lease; a push renews it.
  const isRecent = now - state.job.startedAt < RENEWAL_MS
  if (!isRecent || !isPushed(begun)) return moveBranch(begun, ports, opened)
  // The state is saved with what the job begins.
  return opened(await ports.pullRequest.opened(begun))
}

/** context.md at a commit, if a plan waits for its approval; otherwise nothing. */
async function planContext(
  { plan, folder }: State,
  commit: string,
  { repository }: Ports,
): Promise<{ context?: string }> {
  if (!isWaitingPlan(plan)) return {}
  return { context: (await repository.read(commit, ownFiles({ folder }).context)) ?? '' }
}

/** Pushes the green commit to the branch. Before that it closes the checks on the old head; after that it updates the pull request. */
export async function moveBranch(
  state: State,
  { store, pullRequest }: Ports,
  moved: (github: State['github']) => StepResult,
): Promise<StepResult> {
  const { green } = state
  const github = await pullRequest.beforePublish(state, green)
  const result = await store.publish(onHead({ ...state, github }), true)
  if (result.kind !== 'published') return pushFailure(result)
  const pushed = onHead({ ...state, github, published: green })
  return moved(await pullRequest.opened(pushed, state.published === null))
}

export async function sync({ state, limits, ports }: StepContext): Promise<StepResult> {
  const commands = await ports.queue.read(state)
  // A person who comments `retry` may have pushed a fix just before, so after a command the remote is read again.
  const theirs = await ports.store.peoplesHead(state, commands.length > 0)
  const context = await planContext(state, state.green, ports)
  const isUpdate = commands.some(({ kind }) => kind === 'update')
  const heard =
    theirs === 'gone'
      ? {}
      : { ...(await hear(state, ports)), ...(await baseHeadOf(state, limits, ports, isUpdate)) }
  if (theirs !== 'gone') return { kind: 'synced', commands, theirs, ...context, ...heard }
  const reason = (await ports.pullRequest.merged(state)) ? 'merged' : 'deleted'
  return { kind: 'synced', commands, theirs: reason, ...context }
}

/** The head of the base branch, if it is to be merged: when nothing is left, or when people ask for it. */
async function baseHeadOf(
  state: State,
  { updateBase }: Limits,
  { store }: Ports,
  isAsked: boolean,
): Promise<{ baseHead?: string }> {
  const isDone = remaining(state.prd, state.control.scope).length === 0
  const isDue = isAsked || state.baseHead?.isAsked === true || (isDone && updateBase !== undefined)
  if (!isDue || state.published === null || store.baseHead === undefined) return {}
  const head = await store.baseHead(state)
  return head === null ? {} : { baseHead: head }
}

/**
 * What reviews and checks ask for. Each reading is a request, so they are read only when a job begins and when no story is left. A review
 * in the middle of a job waits until then.
 */
async function hear(
  state: State,
  { corrections, repository }: Ports,
): Promise<{ requests?: CorrectionRequest[]; holds?: Partial<Holds> }> {
  if (corrections === undefined) return {}
  const { begun, joins } = state.job.counts
  const isDue = begun + joins === 0 || remaining(state.prd, state.control.scope).length === 0
  if (!isDue) return {}
  const { reports, changesRequestedBy, approvals, checks } = await corrections.read(state)
  const asked = await requestsOf(state, reports, (place) => repository.storyAt(state, place))
  const requests = await Promise.all(asked.map((one) => withSuggestions(one, state, repository)))
  const holds = {
    ...(changesRequestedBy === undefined ? {} : { changesRequestedBy: [...changesRequestedBy] }),
    ...(approvals === undefined ? {} : { approvals }),
    ...(checks === undefined
      ? {}
      : { checks: { ...checks, pending: [...checks.pending], red: [...checks.red] } }),
  }
  return {
    ...(requests.length === 0 ? {} : { requests }),
    ...(Object.keys(holds).length === 0 ? {} : { holds }),
  }
}

/** The request with its suggestions applied, as far as they fit: its session begins with them. */
async function withSuggestions(
  { suggestions = [], ...request }: CorrectionRequest,
  state: State,
  repository: Ports['repository'],
): Promise<CorrectionRequest> {
  if (suggestions.length === 0) return request
  const applied = await repository.suggested?.(state, suggestions)
  if (applied == null) return request
  const { count, base, tree } = applied
  const what = count === 1 ? 'One suggestion is' : `${count} suggestions are`
  const text = `${request.text}\n\n${what} applied in your work tree already. Keep them as they are, unless a gate is red with them.`
  return { ...request, kept: { base, tree }, text }
}

export async function join(theirs: string, { state, ports }: StepContext): Promise<StepResult> {
  const joined = await ports.repository.join(state, theirs)
  if ('refused' in joined) return { kind: 'join-failed', summary: joined.refused }
  const { code, ...rest } = joined
  return code ? { kind: 'join-built', theirs, ...rest } : { kind: 'joined', theirs, ...rest }
}

/** Runs the gates on what people committed, and finds the story that makes one red. */
export async function gateJoin(
  { head, joined }: Extract<State['job']['branch'], { kind: 'joining' }>,
  context: StepContext,
): Promise<StepResult> {
  const { state, ports } = context
  await ports.repository.checkOut(joined.green, null)
  const what = `join-${head.slice(0, 7)}`
  const run = newGateRun(state, { ...gatesOfJoin(state), what, commit: joined.green })
  const found: { broken: RevertedStory | null } = { broken: null }
  const gates = await withoutSessionFiles(ports, async () => {
    const results = await runGatesOn(run, ports)
    const red = findPortConflict(results) === null ? redGate(results) : undefined
    if (red !== undefined) found.broken = await findBreakingStory(red, run, results, context)
    return results
  })
  return { kind: 'join-gated', gates, broken: found.broken }
}

export async function publish(
  conclusion: Conclusion,
  { state, limits, ports }: StepContext,
): Promise<StepResult> {
  const { repository, store, queue } = ports
  const { branch } = state.job
  // The step `open` makes the first push of the branch, so a run that ends before it leaves no branch. A branch that people moved is
  // joined first.
  const withBranch = branch.kind === 'ours' && state.published !== null
  const releasedState = released(state, limits)
  // Between the jobs of a chain the state's ref is enough: the next story's commit updates prd.json and progress.txt.
  const recorded =
    withBranch && !continuesByItself(conclusion, limits)
      ? await repository.record(releasedState, `chore(ralph): ${state.feature} ${conclusion.outcome}`)
      : null
  const { documents = [], unmarked } = recorded ?? {}
  const isCommitted = typeof recorded?.commit === 'string'
  const green = recorded?.commit ?? state.green
  if (withBranch) await repository.checkOut(green, null)
  await repository.ignored.restoreAll()
  const github = await ports.pullRequest.beforePublish(state, green)
  const hasMarks = unmarked !== undefined && (unmarked.length > 0 || state.unmarked !== undefined)
  const marked = { ...(documents.length === 0 ? {} : { documents }), ...(hasMarks ? { unmarked } : {}) }
  const finalState = withDocuments({ ...releasedState, github, green }, marked)
  const saved = isCommitted ? withoutPending({ ...finalState, progress: [] }) : finalState
  const result = await store.publish(withBranch ? onHead(saved) : saved, withBranch)
  if (result.kind !== 'published') return pushFailure(result)
  // While this job held the lease, commands (except `stop`) dispatched no other job. So commands since the last read are looked for.
  const context = isCommitted ? await planContext(state, green, ports) : {}
  const more = await queue.waiting(state)
  return { kind: 'published', green, withBranch, more, ...context, ...marked }
}

/** The state with the green commit as the head that checks are on. */
function onHead(state: State): State {
  return { ...state, github: { ...state.github, head: state.green } }
}

/** The event of a push that did not succeed. */
export function pushFailure(
  result: Exclude<Awaited<ReturnType<StorePort['publish']>>, { kind: 'published' }>,
): StepResult {
  if (result.kind === 'diverged') return { kind: 'diverged', theirs: result.theirs }
  return { kind: result.kind === 'expired' ? 'push-expired' : 'push-refused', summary: result.reason }
}
