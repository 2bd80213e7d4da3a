// A worker of a wave: one of several processes that share a state, each with one attempt in progress.

import type { Executor } from '../driver.ts'
import { idOf } from '../model/attempt.ts'
import type { Limits } from '../model/limit-types.ts'
import type { Ports } from '../model/ports.ts'
import { stateForStep } from '../parallel/state-for-step.ts'
import { nextWorkerStep } from '../parallel-steps.ts'
import { TreeOfCandidates } from './tree.ts'

export type Worker = {
  /** Its name in the wave. */
  worker: string
  /** False for a worker that only finishes attempts that others left. */
  begins: boolean
}

/** Works on one story after the other, until there is nothing to do for this worker. */
export function inWave(limits: Limits, ports: Ports, who: Worker): Executor {
  const tree = new TreeOfCandidates(ports.repository)
  /** Its time is over: it finishes its own attempt and takes no other. */
  let isEnding = false
  const assign = (id: Parameters<typeof idOf>[0], worker: string | null) => {
    const at = ports.clock.now()
    return { event: { kind: 'assigned' as const, ...idOf(id), worker, at } }
  }
  return {
    ports,
    sharesState: true,
    // The join job continues after it has finished what the workers left.
    ...(who.begins ? {} : { isFollowed: true }),
    isOwn: () => true,
    next(state) {
      const step = nextWorkerStep(state, limits, ports.clock.now(), who)
      if (step?.kind === 'leave') return assign(step.id, null)
      if (step === null || (isEnding && !('attempt' in step))) return null
      return step.kind === 'take' ? assign(step.id, who.worker) : step
    },
    async place(step, state) {
      await tree.showFor(step)
      return { at: 'here', ports, view: 'attempt' in step ? stateForStep(step, state, step.attempt) : state }
    },
    recorded(step, event) {
      tree.saw(event)
      if (event.kind === 'reserved') return { ...event, worker: who.worker }
      if (event.kind !== 'interrupted' && event.kind !== 'out-of-time') return event
      isEnding = true
      if (!('attempt' in step)) return null
      // Only its own attempt is abandoned; the others continue.
      const why = event.kind === 'interrupted' ? 'cancelled' : 'the job deadline came first'
      return { kind: 'abandoned', ...idOf(step.attempt), why, spent: event.spent, at: event.at }
    },
  }
}
