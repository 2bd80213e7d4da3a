// `max-parallel` in CI: the claim job hands over to workers, a job each, and the join job ends the wave. All of them can run the agent and
// the gates. They share the state, and only the state decides what a worker does.
import { randomUUID } from 'node:crypto'
import { limitsOf } from '../../app/loop-limits.ts'
import { refundAll } from '../../engine/attempts/attempt-events.ts'
import { withoutWorkers } from '../../engine/attempts/lost-attempts.ts'
import { type HandedOver, type JobEnd, run, runJob, runToEnd } from '../../engine/driver.ts'
import { inCheckout } from '../../engine/executors/in-checkout.ts'
import { inWave } from '../../engine/executors/in-wave.ts'
import { withTimeOf } from '../../engine/journal.ts'
import type { Limits } from '../../engine/model/limit-types.ts'
import { LeaseLost, type Ports } from '../../engine/model/ports.ts'
import type { State } from '../../engine/model/state.ts'
import type { Step } from '../../engine/model/step.ts'
import { nextRunStep } from '../../engine/parallel-steps.ts'
import { reduce } from '../../engine/reduce.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { UserError } from '../../system/errors.ts'

export const PARALLEL_EXAMPLE = 'examples/ralph-parallel.yml'

export type WaveJob =
  | { kind: 'claim' }
  | { kind: 'worker'; name: string }
  | { kind: 'join'; isCancelled: boolean }

/** Workers publish nothing: the branch moves when the join job ends the wave. */
export function waveLimits(settings: Settings): Limits {
  return { ...limitsOf(settings), maxParallel: settings.maxParallel, publishEach: false }
}

/** Throws UserError if the workflow's jobs and the settings do not fit together. */
export function refuseNoWave({ maxParallel, isolation }: Settings): void {
  const fix = `copy ${PARALLEL_EXAMPLE}, and write max-parallel into the configuration file`
  if (isolation === 'separate-job')
    throw new UserError({
      path: 'isolation',
      found:
        'this workflow works on several stories at a time, which needs isolation: same-user or other-user.',
      expected: '',
      fix: 'change isolation, or copy the workflow examples/ralph-separate.yml',
    })
  if (maxParallel < 2)
    throw new UserError({ path: 'max-parallel', found: `${maxParallel}`, expected: '2 or more', fix })
}

/** Does every step before the first story. Gives the state that the workers begin with. */
async function claimWave(start: State, limits: Limits, ports: Ports): Promise<JobEnd | HandedOver> {
  // `prepare` runs here for the gates of the base only: each worker prepares its own machine, and so do the gates of the join job.
  const ready = {
    ...start.job.ready,
    prepared: !(limits.baseline || limits.recordsBaseline) || start.baseline !== 'pending',
  }
  const startOfWave = { ...start, job: { ...start.job, ready } }
  const isOwn = ({ kind }: Step) => kind !== 'reserve' && kind !== 'decide'
  const result = await runJob(startOfWave, limits, inCheckout(limits, ports, isOwn))
  if (!('step' in result)) return result
  const { state, step } = result
  const wave = { workers: limits.maxParallel, isOver: false }
  const job = { ...state.job, ready: { ...state.job.ready, prepared: true }, wave }
  const workers = Math.max(1, readyStories({ ...state, job }, limits, ports.clock.now()))
  return { step, state: { ...state, job: { ...job, wave: { ...wave, workers } } } }
}

/** How many stories could begin side by side now, at most `maxParallel`. */
function readyStories(start: State, limits: Limits, at: number): number {
  let state = start
  for (let count = 0; ; count += 1) {
    const step = count < limits.maxParallel ? nextRunStep(state, limits, at) : null
    if (step?.kind !== 'reserve' && step?.kind !== 'decide') return count
    const kind = step.kind === 'reserve' ? 'reserved' : 'decided'
    const reduced = reduce(state, { kind, storyId: step.storyId, at }, limits)
    state = { ...reduced, job: { ...reduced.job, ready: state.job.ready } }
  }
}

/** Runs a job of a wave. Gives null for a worker: the join job reports its story. */
export async function runWaveJob(
  start: State,
  limits: Limits,
  ports: Ports,
  job: WaveJob,
): Promise<JobEnd | HandedOver | null> {
  switch (job.kind) {
    case 'claim':
      return claimWave(start, limits, ports)
    case 'join':
      return join(start, limits, ports, job.isCancelled)
    case 'worker':
      await run(start, limits, inWave(limits, ports, { worker: job.name, begins: true }))
      return null
  }
}

/** Ends the wave: lands the stories in the merge train, gives lost attempts back, then runs the loop without beginning a story. */
async function join(start: State, limits: Limits, ports: Ports, isCancelled: boolean): Promise<JobEnd> {
  const alone = await withoutOtherWorkers(start, ports)
  const executor = inWave(limits, ports, { worker: 'join', begins: false })
  const { state: landed } = isCancelled ? { state: alone } : await run(alone, limits, executor)
  const state = refundAll(landed, 'interrupted', isCancelled ? 'cancelled' : 'the wave is over')
  const { workers = 1 } = state.job.wave ?? {}
  const halted = isCancelled ? { kind: 'interrupted' as const } : state.job.halted
  const ready = { synced: false, prepared: false, opened: true }
  const job = { ...state.job, halted, ready, wave: { workers, isOver: true } }
  return runToEnd({ ...state, job }, limits, inCheckout(limits, ports))
}

/** The state without workers, and with a new lease: a worker that was taken for lost and comes back can no longer save. */
async function withoutOtherWorkers(start: State, { store }: Ports): Promise<State> {
  let found = start
  for (let tries = 1; ; tries += 1) {
    const { lease } = found
    const state = {
      ...withoutWorkers(found),
      lease: lease === null ? null : { ...lease, nonce: randomUUID() },
    }
    try {
      await store.save(state)
      return state
    } catch (error) {
      if (!(error instanceof LeaseLost) || store.loadNewest === undefined || tries === MAX_SAVES) throw error
      found = withTimeOf(await store.loadNewest(found), start.job)
    }
  }
}

/** A worker that comes back saves rarely, so that a few tries are enough. */
const MAX_SAVES = 20
