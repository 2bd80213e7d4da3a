// Performs a step through the ports and returns its event. All effects of the loop begin here.

import { excerpt } from '../system/excerpt.ts'
import { accept, enter, guard, rebase, stashAttempt, work } from './attempts/attempt-steps.ts'
import { undoneBy, withUndone } from './attempts/undone.ts'
import { gateJoin, join, moveBranch, open, publish, pushFailure, sync } from './branch-steps.ts'
import { answerQuestion } from './corrections/answer-question.ts'
import { buildEdit, gateEdit } from './edit-steps.ts'
import { tryExamples, writeExamples } from './examples/examples-steps.ts'
import { runAtBase } from './gating/base-run.ts'
import { addProofs, isRefactoring, runGatesAsItWas } from './gating/further-runs.ts'
import { gatesBeforeJudge } from './gating/gate-memory.ts'
import { gatesOfStory, newGateRun, runGatesOn, withoutSessionFiles } from './gating/gate-run.ts'
import { askExpectation, askJudge, gateWhole, judgeWhole } from './gating/judge.ts'
import { compareWithCleanClone, inCleanClone } from './gating/needed-files.ts'
import { withoutNames } from './gating/proved-tests.ts'
import { openLastStoryRoom, withReuseKeys } from './gating/reuse.ts'
import { type AttemptIn, idOf, isChosen, isInLane } from './model/attempt.ts'
import type { Event, SpentUsage } from './model/event.ts'
import { type GateBaselines, type GateResult, gateFindings } from './model/gate.ts'
import { OUTPUT_BYTES } from './model/gate-output.ts'
import type { Limits } from './model/limit-types.ts'
import type { Mutant } from './model/mutant.ts'
import { attemptName } from './model/paths.ts'
import type { CleanRoom, GateRun, Ports } from './model/ports.ts'
import type { State } from './model/state.ts'
import { STEPS, type Step } from './model/step.ts'
import { mustAskQuestions } from './planning/plan-questions.ts'
import { dependenciesToJudge } from './state/dependencies.ts'
import { endOfWork, RENEWAL_MS } from './state/limits.ts'
import { redGate } from './state/state-updates.ts'
import { type StepContext, type StepResult, sessionBounds } from './state/step-context.ts'

/**
 * Performs one step. Cancellation becomes the event `interrupted`, and the end of the job's time `out-of-time`, so that
 * `reduce` always leaves a consistent state.
 */
export async function perform(
  step: Exclude<Step, { kind: 'stop' }>,
  state: State,
  limits: Limits,
  ports: Ports,
): Promise<Event> {
  const now = ports.clock.now()
  const deadlineSignal = timer((state.job.ending === null ? endOfWork(state.job) : state.job.deadline) - now)
  const signal = AbortSignal.any([ports.signal, deadlineSignal])
  const isCutShort = () => signal.aborted && !isUninterruptible(state, step)
  // A step does not begin after the job's time or a cancel. A `sync` that has begun is finished, because its commands are acknowledged.
  const mayBegin = !isCutShort() && !(ports.signal.aborted && step.kind === 'sync')
  const context = { state, limits, ports: { ...ports, signal }, now }
  const result = mayBegin ? await performKind(step.kind, step, context) : null
  const at = ports.clock.now()
  if (result !== null && !isCutShort()) return { ...result, at }
  return { at, kind: ports.signal.aborted ? 'interrupted' : 'out-of-time', spent: spentOn(result) }
}

/** The usage of a judge or planner, which counts even if the session was cut short. */
function spentOn(result: StepResult | null): SpentUsage | null {
  switch (result?.kind) {
    case 'judged':
      return { storyId: result.storyId, kind: 'judge', usage: result.usage }
    case 'exampled':
      return { storyId: result.storyId, kind: 'examples', usage: result.usage }
    case 'answered':
      return { storyId: result.storyId, kind: 'answer', usage: result.usage }
    case 'tried':
      return { storyId: result.storyId, kind: 'glue', usage: result.usage }
    case 'whole-gated':
    case 'verified':
      return { storyId: null, kind: 'verify', usage: result.usage }
    case 'planned':
      return { storyId: null, kind: result.split === null ? 'plan' : 'split', usage: result.usage }
    default:
      return null
  }
}

function timer(ms: number): AbortSignal {
  return ms > MAX_TIMER_MS ? new AbortController().signal : AbortSignal.timeout(Math.max(0, ms))
}

/** The longest timer that Node supports, milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Whether a step's event counts although the job was cancelled or out of time. */
function isUninterruptible({ job }: State, { kind }: Step): boolean {
  const isEnding = job.ending !== null || job.halted?.kind === 'interrupted'
  return kind !== 'wait' && (isEnding || STEPS[kind].settles)
}

type Steps = { readonly [K in Step['kind']]: Extract<Step, { kind: K }> }
type Performers = {
  readonly [K in Exclude<Step['kind'], 'stop'>]: (step: Steps[K], context: StepContext) => Promise<StepResult>
}

function performKind<K extends keyof Performers>(
  kind: K,
  step: Steps[K],
  context: StepContext,
): Promise<StepResult> {
  return PERFORMERS[kind](step, context)
}

const PERFORMERS: Performers = {
  sync: (_, context) => sync(context),
  restore: async (_, { state, ports }) => {
    const result = await ports.store.restore(state)
    return result.kind === 'published' ? { kind: 'restored' } : pushFailure(result)
  },
  join: ({ theirs }, context) => join(theirs, context),
  'gate-join': ({ branch }, context) => gateJoin(branch, context),
  prepare: (_, context) => prepare(context),
  baseline: (_, context) => baseline(context),
  open: (_, context) => open(context),
  reserve: async ({ storyId }, { ports }) => ({
    kind: 'reserved',
    storyId,
    github: await ports.pullRequest.newIds(ports.signal),
  }),
  agent: async ({ attempt }, context) => (await prepareLane(attempt, context)) ?? work(attempt, context),
  examples: ({ storyId }, context) => writeExamples(storyId, context),
  answer: ({ storyId }, context) => answerQuestion(storyId, context),
  try: ({ attempt }, context) => tryExamples(attempt, context),
  guard: ({ attempt }, context) => guard(attempt, context),
  rebase: ({ attempt }, context) => rebase(attempt, context),
  gates: ({ attempt }, context) => gate(attempt, context),
  judge: ({ attempt }, context) => judge(attempt, context),
  accept: ({ attempt }, context) => accept(attempt, context),
  enter: ({ attempt }, context) => enter(attempt, context),
  decide: async ({ storyId }) => ({ kind: 'decided', storyId }),
  reject: async ({ attempt }, context) => ({ kind: 'rejected', ...(await stashAttempt(attempt, context)) }),
  return: async ({ attempt }, context) => ({ kind: 'returned', ...(await stashAttempt(attempt, context)) }),
  wait: ({ until }, context) => wait(until, context),
  verify: (_, context) => verify(context),
  'judge-whole': (_, context) => judgeFeature(context),
  plan: ({ split }, context) => plan(split, context),
  push: (_, { state, ports }) => moveBranch(state, ports, (github) => ({ kind: 'pushed', github })),
  edit: ({ edit }, context) => buildEdit(edit, context),
  'gate-edit': ({ built }, context) => gateEdit(built, context),
  conclude: async ({ conclusion }) => ({ kind: 'concluded', conclusion }),
  publish: ({ conclusion }, context) => publish(conclusion, context),
  dispatch: (_, context) => dispatch(context),
  report: async ({ conclusion }, { state, ports }) => {
    return { kind: 'reported', github: await ports.pullRequest.finished(state, conclusion) }
  },
}

/** The baseline leaves out gates with `when`: they run on the base of the first story with that tag (`runAtBase`). */
function baselineOf(state: State): GateRun {
  return newGateRun(state, { of: 'baseline', tags: [], stories: state.prd.userStories })
}

async function baseline(context: StepContext): Promise<StepResult> {
  const { state, ports } = context
  await ports.repository.checkOut(state.green, null)
  const run = baselineOf(state)
  const gates = await withoutSessionFiles(ports, () => runGatesOn(run, ports))
  if (redGate(gates) !== undefined) return { kind: 'baselined', gates }
  const compared = await compareWithCleanClone(run, gates, context)
  return 'kind' in compared ? compared : { kind: 'baselined', gates: compared }
}

async function prepare({ state, ports }: StepContext): Promise<StepResult> {
  const result = await ports.gates.prepare(state.green, ports.signal)
  if (result !== null) await ports.repository.ignored.afterPrepare()
  if (result === null || result.ok) return { kind: 'prepared' }
  const fix = `fix what its output says:\n${excerpt(result.output, OUTPUT_BYTES.error)}`
  return { kind: 'failed', summary: `prepare failed (${result.ended})`, fix }
}

/** Prepares a lane before its first session, and when a lockfile changed. Returns the failure, or null. */
async function prepareLane(attempt: AttemptIn<'reserved'>, context: StepContext): Promise<StepResult | null> {
  const { base } = attempt
  if (!isInLane(attempt)) return null
  await context.ports.repository.checkOut(base, null)
  const result = await prepare(context)
  // A `prepare` that was cut short is not a failure of the project. The session does not begin after it either.
  if (result.kind !== 'failed' || context.ports.signal.aborted) return null
  return { ...result, attempt: idOf(attempt) }
}

async function gate(attempt: AttemptIn<'guarded'>, context: StepContext): Promise<StepResult> {
  const { state, ports } = context
  const { storyId } = attempt
  const { commit } = attempt.candidate
  const asked = gatesOfStory(state, storyId)
  const what = attemptName(state, storyId)
  const { redTree } = state.records[storyId] ?? {}
  // In a clean room the results count for the final verification as well. Null for every story except the last of the run.
  await using room = await openLastStoryRoom(attempt, context)
  if (room === null && attempt.resumed === true && !isInLane(attempt))
    return {
      kind: 'lost',
      ...idOf(attempt),
      why: 'there is no clean room in which gates could check the work of a killed run',
    }
  const fork = room === null ? {} : { fork: state.base.sha }
  const inCheckout = newGateRun(state, { ...asked, what, commit, ...fork })
  let base: GateBaselines = {}
  let earlierPaths: string[] = []
  let proof: Pick<FoundByFurther, 'unproved' | 'unnoticed'> = { unproved: false, unnoticed: [] }
  const gates = await withoutSessionFiles(ports, async () => {
    const { restore, ignored } = ports.repository
    const place = room ?? { gates: ports.gates, restore, ignored }
    const gatePorts = { gates: place.gates, repository: place, signal: ports.signal }
    // An empty change is the base.
    if (!attempt.candidate.empty) base = await runAtBase(inCheckout, context, place)
    const compared = { ...inCheckout, baseline: { ...inCheckout.baseline, ...base } }
    const run = room === null ? compared : inCleanClone(compared)
    const firstResults = await runGatesOn(run, gatePorts)
    const keys = room === null ? {} : ((await ports.gates.keys?.(commit, state.base.sha)) ?? {})
    const results = withReuseKeys(firstResults, keys, ports.clock.now())
    if (redGate(results) !== undefined) return results
    const further = { run, results, place, redTree, isRefactored: asked.stories.some(isRefactoring) }
    const found = await runFurtherGates(further, context)
    earlierPaths = found.paths
    proof = found
    return found.gates
  })
  const undone =
    redGate(gates) === undefined ? await undoneBy(attempt, { state, repository: ports.repository }) : []
  return {
    kind: 'gated',
    ...idOf(attempt),
    commit,
    gates: withUndone(gates, undone),
    ...(Object.keys(base).length === 0 ? {} : { base }),
    ...(earlierPaths.length === 0 ? {} : { paths: earlierPaths }),
    ...(proof.unproved ? { unproved: true as const } : {}),
    ...(proof.unnoticed.length === 0 ? {} : { unnoticed: proof.unnoticed }),
  }
}

type FurtherGates = {
  run: GateRun
  results: GateResult[]
  place: Pick<CleanRoom, 'gates' | 'restore' | 'ignored'>
  redTree: string | undefined
  isRefactored: boolean
}

type FoundByFurther = { gates: GateResult[]; paths: string[]; unproved: boolean; unnoticed: Mutant[] }

/** Runs green gates on what they say about the change's tests: with the checks as they were, and with the product as it was. */
async function runFurtherGates(
  { run, results, place, redTree, isRefactored }: FurtherGates,
  { state, limits, ports }: StepContext,
): Promise<FoundByFurther> {
  const fork = state.base.sha
  const which = redTree === undefined ? { fork } : { fork, red: redTree }
  const earlier =
    limits.weakenedTests === 'off'
      ? { results: [], paths: [] }
      : await runGatesAsItWas(run, results, which, ports, place)
  const gates = [...results, ...earlier.results.map(withoutNames)]
  const asksForProof = limits.needsProof !== 'off'
  // A finding rejects the attempt then, whatever its tests need.
  const isRejected = limits.weakenedTests === 'fail' && gateFindings(gates).length > 0
  if (!asksForProof || isRefactored || isRejected)
    return { gates, paths: earlier.paths, unproved: false, unnoticed: [] }
  const about = { first: results, earlier: earlier.results, fork }
  const proved = await addProofs(run, about, ports, place)
  return {
    gates: [...proved.results, ...earlier.results.map(withoutNames)],
    paths: earlier.paths,
    unproved: proved.unproved,
    unnoticed: proved.unnoticed,
  }
}

async function judge(attempt: AttemptIn<'gated'>, context: StepContext): Promise<StepResult> {
  const { storyId, candidate, gates, base, paths = [] } = attempt
  // Each candidate left the work tree clean.
  if (isChosen(attempt)) await context.ports.repository.checkOut(candidate.commit, null)
  const about = { stories: [storyId], gates }
  const { verdict, usage } = candidate.empty
    ? await askJudge({ ...about, isUnchanged: true }, candidate.commit, context)
    : await askExpectation(
        about,
        {
          from: base,
          to: candidate.commit,
          paths,
          packages: dependenciesToJudge(candidate, context.limits),
        },
        context,
      )
  return { kind: 'judged', ...idOf(attempt), verdict, usage }
}

async function dispatch({ state, ports }: StepContext): Promise<StepResult> {
  try {
    const result = await ports.dispatch.dispatch(state)
    return result.kind === 'limited' ? { ...result, kind: 'dispatch-limited' } : result
  } catch (error) {
    return { kind: 'dispatch-failed', summary: error instanceof Error ? error.message : String(error) }
  }
}

/** Runs a plan session, which may read the whole tree; its writes are discarded. */
async function plan(split: string | null, { state, limits, ports, now }: StepContext): Promise<StepResult> {
  const { repository, agent, signal } = ports
  const { brief = '', message = '' } = (split === null ? state.plan : state.splits?.[split]) ?? {}
  await repository.checkOut(state.green, null)
  const asks = split === null && mustAskQuestions(state.plan?.interview) ? { asks: true as const } : {}
  const task = { brief, message, split, stories: state.prd.userStories, ...asks }
  const planned = await agent.plan(state, task, sessionBounds(state, limits, now), signal)
  await repository.restore(state.green)
  return { kind: 'planned', split, ...planned }
}

async function verify(context: StepContext): Promise<StepResult> {
  const { state, ports } = context
  const { repository, gates } = ports
  const { begun, joins } = state.job.counts
  const isFirst = begun + joins + state.verification.sessions === 0 && state.plan === undefined
  if (isFirst) await repository.checkOut(state.green, null)
  else {
    // Files that a session, or tests of its code, left outside of the diff must not make the gates green.
    await repository.renew(state.green)
    await gates.renew()
  }
  const { gates: results, verdict, usage } = await gateWhole(context)
  return verdict === null
    ? { kind: 'whole-gated', gates: results, usage }
    : { kind: 'verified', gates: results, verdict, usage }
}

async function judgeFeature(context: StepContext): Promise<StepResult> {
  const { state, ports } = context
  const gates = gatesBeforeJudge(state) ?? []
  await ports.repository.checkOut(state.green, null)
  return { kind: 'verified', ...(await judgeWhole(gates, context)) }
}

/** Waits by the wall clock, since timers stop while a laptop sleeps. Ends early to renew the lease, or when a command arrives. */
async function wait(until: number, { state, ports }: StepContext): Promise<StepResult> {
  const { clock, queue, signal } = ports
  const end = Math.min(until, clock.now() + RENEWAL_MS)
  for (;;) {
    const remainingMs = end - clock.now()
    if (remainingMs <= 0 || signal.aborted) break
    await clock.sleep(Math.min(remainingMs, POLL_MS), signal)
    if (await queue.arrived(state)) break
  }
  return { kind: 'waited' }
}

/** How often the wall clock is read while waiting, milliseconds. */
const POLL_MS = 1000
