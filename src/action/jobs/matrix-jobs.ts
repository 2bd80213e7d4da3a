// `max-parallel` at `isolation: separate-job`: claim begins several stories, one for each worker. The jobs `work` and `gate` are
// matrices, and land takes one candidate after the other. Each gate job runs its gates on top of the candidates of the workers before it.
// If those are green, this tree lands.
import type { Workspace } from '../../app/workspace.ts'
import { refund } from '../../engine/attempts/attempt-events.ts'
import { returnAsLost } from '../../engine/attempts/lost-attempts.ts'
import { type HandedOver, type JobEnd, run, runJob } from '../../engine/driver.ts'
import { inCheckout } from '../../engine/executors/in-checkout.ts'
import { inLanding } from '../../engine/executors/in-landing.ts'
import { byWorker, inTurn, type Turn } from '../../engine/executors/in-turn.ts'
import {
  type Attempt,
  assignedWorker,
  attemptKey,
  hasCandidate,
  idOf,
  slotOf,
} from '../../engine/model/attempt.ts'
import type { Limits } from '../../engine/model/limit-types.ts'
import type { Ports } from '../../engine/model/ports.ts'
import type { State } from '../../engine/model/state.ts'
import { type AttemptStep, type Step, stepsOf } from '../../engine/model/step.ts'
import { landsFirst } from '../../engine/next-step.ts'
import { hasWaiting, withoutWaiting, withWaiting } from '../../engine/parallel/waiting.ts'
import { nextRunStep } from '../../engine/parallel-steps.ts'
import { recordLostSession } from '../../engine/state/record-session.ts'
import { haltWithError, withJob, withoutAttempt, withReady } from '../../engine/state/state-updates.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { type FromGate, type FromWork, workedIn } from './handover.ts'
import { lacksArtifact, NO_ARTIFACT, takeNothing } from './land-iteration.ts'
import { codeDigest, readPack } from './pack.ts'
import { createCleaner, type Take, takeEvents } from './taken-events.ts'
import { type PartResult, type PartRun, runGate } from './work-and-gate.ts'

/** What the jobs of a worker handed over; null for what did not come, or does not fit. `artifact`: the name of its pack's artifact. */
export type OfWorker = { work: FromWork | null; gate: FromGate | null; artifact: string }

type Tools = { workspace: Workspace; settings: Settings; receivedFrom(worker: string): OfWorker }

const isOfClaim = stepsOf('claim')

/** Does every step before the first sessions, takes up the candidates that wait, and begins stories as long as workers are free. */
export async function claimMatrix(start: State, limits: Limits, ports: Ports): Promise<JobEnd | HandedOver> {
  const begins = ({ kind }: Step) => kind === 'reserve' || kind === 'decide'
  const isWaiting = hasWaiting(start)
  const takesUp = (step: Step) =>
    begins(step) || (isWaiting && step.kind === 'conclude' && landsFirst(step.conclusion))
  const first = await runJob(
    start,
    limits,
    inCheckout(limits, ports, (step) => isOfClaim(step) && !takesUp(step)),
  )
  if (!('step' in first)) return first
  if (!takesUp(first.step)) return withWorkers(first)
  const begun = await beginStories(withoutWaiting(first.state), limits, ports)
  const [attempt] = Object.values(begun.attempts).filter(({ phase }) => phase === 'reserved')
  if (attempt?.phase === 'reserved') return withWorkers({ step: { kind: 'agent', attempt }, state: begun })
  const [guarded] = Object.values(begun.attempts)
  if (guarded?.phase === 'guarded')
    return withWorkers({ step: { kind: 'gates', attempt: guarded }, state: begun })
  const ended = await runJob(begun, limits, inCheckout({ ...limits, maxParallel: 1 }, ports, isOfClaim))
  return 'step' in ended ? withWorkers(ended) : ended
}

/** Begins stories until all workers have one, and does whatever else is this job's: rebases candidates, and chooses among several. */
async function beginStories(start: State, limits: Limits, ports: Ports): Promise<State> {
  const turnOf = async (step: AttemptStep): Promise<Turn> => (isOfClaim(step) ? { ports } : 'left')
  // Each session has its own job: neither the batch nor the time of this one limits how many begin.
  const deciding = { ...limits, iterationsPerJob: 0, iterationTimeoutMs: 0 }
  // People were asked before the first story, and are asked again when the stories land.
  const nextOfRun = (state: State) => {
    const step = nextRunStep(withReady(state, { synced: true }), deciding, ports.clock.now())
    return step?.kind === 'reserve' || step?.kind === 'decide' ? step : null
  }
  const { state } = await run(start, limits, inTurn(limits, ports, turnOf, nextOfRun))
  return withReady(state, { synced: false })
}

/** The hand-over of a claim: each attempt has a worker, those first that wait in the train. */
function withWorkers({ step, state }: HandedOver): HandedOver {
  const open = Object.values(state.attempts)
  const order = [...open.filter(hasCandidate), ...open.filter((attempt) => !hasCandidate(attempt))]
  const attempts = Object.fromEntries(
    order.map((attempt, at) => [
      attemptKey(attempt),
      { ...attempt, runner: { at: 'lane' as const, worker: `${at + 1}` } },
    ]),
  )
  const wave = { workers: Math.max(1, order.length), isOver: false }
  return { step, state: withJob({ ...state, attempts }, { wave }) }
}

/** Builds the candidates of this worker and of those before it, one upon the other, and runs the gates on its own. */
export async function gateInTrain(its: PartRun, worker: string, tools: Tools): Promise<PartResult> {
  const { state: start, limits, ports } = its
  const own = byWorker(start).find((attempt) => assignedWorker(attempt) === worker)
  // One of several candidates for a story is built on no other.
  const isBefore = (attempt: Attempt) =>
    (own === undefined || slotOf(own) === undefined) &&
    slotOf(attempt) === undefined &&
    Number(assignedWorker(attempt)) < Number(worker)
  let state = start
  for (const attempt of byWorker(start)) {
    const isNeeded = assignedWorker(attempt) === worker || isBefore(attempt)
    // What does not come to the land job either falls out of the train there as well.
    if (!isNeeded || (await whyLost(attempt, tools)) !== null) state = withoutAttempt(state, idOf(attempt))
  }
  const taker = takerOf(limits, ports, tools)
  const turnOf = async (step: AttemptStep, now: State): Promise<Turn> => {
    const { attempt } = step
    switch (step.kind) {
      case 'agent':
        return { event: await taker(attempt)(step, now) }
      case 'guard':
      case 'rebase':
        return { ports }
      case 'gates':
        if (assignedWorker(attempt) !== worker) return 'left'
        await ports.repository.checkOut(step.attempt.candidate.commit, null)
        return { ports }
      case 'try':
      case 'judge':
      case 'accept':
      case 'enter':
      case 'reject':
      case 'return':
        return 'left'
    }
  }
  return runGate({ ...its, state }, (say) => ({
    ...inTurn(limits, ports, turnOf),
    recorded(step, event) {
      if (step.kind === 'gates') say(step, event)
      return event
    },
  }))
}

/** Lands what was handed over, one candidate after the other, and ends the job. A candidate whose gates ran on another tree waits. */
export async function landMatrix(
  start: State,
  limits: Limits,
  ports: Ports,
  tools: Tools & { cancelled: boolean; warn(message: string): void },
): Promise<JobEnd | HandedOver> {
  const { workspace, receivedFrom, cancelled, warn } = tools
  const { git, objects, redactor } = workspace
  let state = start
  for (const attempt of byWorker(start)) {
    const { work } = receivedFrom(assignedWorker(attempt) ?? '')
    if (work?.mistake != null && !cancelled) {
      const summary = createCleaner(redactor.redact)(work.mistake)
      const returned = refund(state, attempt, 'limit', summary)
      state = haltWithError(returned, summary, 'fix what it says, then run again')
      continue
    }
    if (
      !cancelled &&
      (await lacksArtifact(git, work, receivedFrom(assignedWorker(attempt) ?? '').artifact))
    ) {
      const paid = lostAttempt(state, attempt, work, 'limit', NO_ARTIFACT.summary)
      state = haltWithError(paid, NO_ARTIFACT.summary, NO_ARTIFACT.fix)
      continue
    }
    const why = cancelled ? 'the run was cancelled' : await whyLost(attempt, tools)
    if (why === null) continue
    if (!cancelled) warn(`${attempt.storyId} is lost: ${why}`)
    state = lostAttempt(state, attempt, work, cancelled ? 'interrupted' : 'lost', why)
  }
  if (cancelled) state = withJob(state, { halted: { kind: 'interrupted' } })
  /** A candidate fell out of the train: those after it are on another tree than their gates saw. */
  let hasChanged = false
  const taker = takerOf(limits, ports, tools)
  const turnOf = async (step: AttemptStep, now: State): Promise<Turn> => {
    const { attempt } = step
    if (slotOf(attempt) === undefined && (step.kind === 'reject' || step.kind === 'return')) hasChanged = true
    if (step.kind === 'agent' || step.kind === 'judge') return { event: await taker(attempt)(step, now) }
    if (step.kind !== 'gates') return { ports }
    const { gate } = receivedFrom(assignedWorker(attempt) ?? '')
    if (gate?.code != null && gate.code === (await codeDigest(git, objects, step.attempt.candidate.commit)))
      return { event: await taker(attempt)(step, now) }
    if (hasChanged) return 'left'
    const lost = gate === null ? 'the gate job gave no result' : 'the gate job ran on other code'
    warn(`${attempt.storyId} is given back: ${lost}`)
    return { event: { kind: 'lost', ...idOf(attempt), why: lost, at: ports.clock.now() } }
  }
  const { state: landed } = await run(state, limits, inTurn(limits, ports, turnOf))
  return runJob(withWaiting(landed), limits, inLanding(limits, ports, 'several', takeNothing))
}

/** Why the session of this attempt cannot be replayed, or null. */
async function whyLost(attempt: Attempt, { workspace, receivedFrom }: Tools): Promise<string | null> {
  if (hasCandidate(attempt)) return null
  const { work, artifact } = receivedFrom(assignedWorker(attempt) ?? '')
  if (work === null || workedIn(work) === null) return 'the work job gave no result of a session'
  return work.sha256 === null ? null : readPack(workspace.git, work.sha256, artifact)
}

/** What the session used is charged; if that is unknown, an estimate is. */
function lostAttempt(
  state: State,
  attempt: Attempt,
  work: FromWork | null,
  reason: 'lost' | 'interrupted' | 'limit',
  why: string,
): State {
  const usage = workedIn(work)?.session.usage
  if (attempt.phase !== 'reserved') return refund(state, attempt, reason, why)
  return usage === undefined
    ? returnAsLost(state, attempt, why)
    : refund(recordLostSession(state, attempt, usage), attempt, reason, why)
}

/** The events of the jobs of an attempt's worker. */
function takerOf(limits: Limits, { repository }: Ports, { workspace, settings, receivedFrom }: Tools) {
  return (attempt: Attempt): Take =>
    takeEvents(receivedFrom(assignedWorker(attempt) ?? ''), { workspace, settings, limits, repository })
}
