// The loop: decide, perform, reduce, make durable. The whole product turns here.
import type { Limits } from './limits.ts'
import { nextStep } from './next-step.ts'
import { perform } from './perform.ts'
import type { Ports } from './ports.ts'
import { durable, reduce } from './reduce.ts'
import type { Conclusion, Event, State, Step } from './state.ts'

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
  /** What happened since the state was last made durable, and is told afterwards. */
  const news: [Event, State][] = []
  for (;;) {
    const step = nextStep(state, limits, ports.clock.now())
    // The end of an iteration and the next reservation are one checkpoint: nothing is done between them.
    if (news.length > 0 && !(step.kind === 'reserve' && ours(step))) {
      await ports.store.save(state)
      for (const [event, after] of news.splice(0)) await ports.reporter.event(event, after)
    }
    if (step.kind === 'stop') return { conclusion: step.conclusion, state }
    if (!ours(step)) return { step, state }
    await ports.reporter.step(step, state)
    const event = await perform(step, state, limits, ports)
    state = reduce(state, event, limits)
    // Once it is published the lease is free, and the state belongs to whoever claims it.
    if (news.length > 0 || (durable(event) && !state.job.published)) news.push([event, state])
    else await ports.reporter.event(event, state)
  }
}
