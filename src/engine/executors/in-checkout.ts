// Works in the run's own checkout, on one story at a time: one slot, and a train of one candidate.

import type { Executor } from '../driver.ts'
import type { Limits } from '../model/limit-types.ts'
import type { Ports } from '../model/ports.ts'
import { nextAttemptStep, nextRunStep } from '../parallel-steps.ts'
import { ResumedCandidates } from './resumed.ts'
import { TreeOfCandidates } from './tree.ts'

/** `isOwn`: the steps of this job; another one does the others. */
export function inCheckout(limits: Limits, ports: Ports, isOwn: Executor['isOwn'] = () => true): Executor {
  const tree = new TreeOfCandidates(ports.repository)
  const resumed = new ResumedCandidates()
  return {
    ports,
    isOwn,
    next: (state, isFree) =>
      resumed.next(state, ports.clock.now()) ??
      nextAttemptStep(state, limits, isFree) ??
      nextRunStep(state, limits, ports.clock.now()),
    async place(step, view) {
      await tree.showFor(step)
      return { at: 'here', ports, view }
    },
    recorded(_, event) {
      tree.saw(event)
      return event
    },
  }
}
