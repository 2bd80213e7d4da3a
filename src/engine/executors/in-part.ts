// A job of `isolation: separate-job`: it does its own steps in its checkout, and takes the events of the others from what they handed over.

import type { Executor } from '../driver.ts'
import type { Event } from '../model/event.ts'
import type { Limits } from '../model/limit-types.ts'
import type { Ports } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import { type Part, STEPS, type Step, stepsOf } from '../model/step.ts'
import { inCheckout } from './in-checkout.ts'

/** `take`: the event of a step that another job does. `say`: called with the event of a step that this job does for the others. */
export type PartOfRun = {
  part: Part
  take(step: Step, state: State): Promise<Event>
  say?(step: Step, event: Event): void
}

export function inPart(limits: Limits, ports: Ports, { part, take, say }: PartOfRun): Executor {
  const own = inCheckout(limits, ports, stepsOf(part))
  return {
    ...own,
    async place(step, state) {
      const { by } = STEPS[step.kind]
      if (by === null || by === part) return own.place(step, state)
      return { at: 'done', event: await take(step, state) }
    },
    recorded(step, event) {
      if (STEPS[step.kind].by === part) say?.(step, event)
      return own.recorded === undefined ? event : own.recorded(step, event)
    },
  }
}
