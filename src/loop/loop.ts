// The loop: decide, perform, reduce, make durable. The whole product turns here.
import type { Limits } from './limits.ts'
import { nextStep } from './next-step.ts'
import { perform } from './perform.ts'
import type { Ports } from './ports.ts'
import { durable, reduce } from './reduce.ts'
import type { Conclusion, State, Step } from './state.ts'

/** The job's outcome, or the step that another job has to do. */
export type Ended = { conclusion: Conclusion; state: State }
export type HandedOver = { step: Step; state: State }

/** Works until the job's outcome. Throws LeaseLost when somebody else took the feature: then nothing more is moved. */
export async function loop(start: State, limits: Limits, ports: Ports): Promise<Ended>
/** The same, as far as the steps are `ours`. */
export async function loop(
  start: State,
  limits: Limits,
  ports: Ports,
  ours: (step: Step) => boolean,
): Promise<Ended | HandedOver>
export async function loop(
  start: State,
  limits: Limits,
  ports: Ports,
  ours: (step: Step) => boolean = () => true,
): Promise<Ended | HandedOver> {
  let state = start
  for (;;) {
    const step = nextStep(state, limits, ports.clock.now())
    if (step.kind === 'stop') return { conclusion: step.conclusion, state }
    if (!ours(step)) return { step, state }
    await ports.reporter.step(step, state)
    const event = await perform(step, state, limits, ports)
    state = reduce(state, event, limits)
    // Once it is published the lease is free, and the state belongs to whoever claims it.
    if (durable(event) && !state.job.published) await ports.store.save(state)
    await ports.reporter.event(event, state)
  }
}
