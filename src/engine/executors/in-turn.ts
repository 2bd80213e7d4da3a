// The jobs that claim, gate or land several stories of `isolation: separate-job`: the attempts one after the other, in the order of
// their workers. Sessions and gates ran, or will run, in other jobs.

import type { Executor } from '../driver.ts'
import { type Attempt, assignedWorker } from '../model/attempt.ts'
import type { Event } from '../model/event.ts'
import type { Limits } from '../model/limit-types.ts'
import type { Ports } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import type { AttemptStep, Step } from '../model/step.ts'
import { stateForStep } from '../parallel/state-for-step.ts'
import { stepOf } from '../parallel-steps.ts'

/** Who does a step of an attempt: this job with these ports, or another job, from which nothing or an event has come. */
export type Turn = { ports: Ports } | 'left' | { event: Event }

/** The attempts in the order of their workers, which is that of the train. */
export function byWorker({ attempts }: Pick<State, 'attempts'>): Attempt[] {
  return Object.values(attempts).sort(
    (a, b) => Number(assignedWorker(a) ?? 0) - Number(assignedWorker(b) ?? 0),
  )
}

/** `turnOf` decides on each step of an attempt, `nextOfRun` on what follows when no attempt has a step. */
export function inTurn(
  limits: Limits,
  ports: Ports,
  turnOf: (step: AttemptStep, state: State) => Promise<Turn>,
  nextOfRun: (state: State) => Step | null = () => null,
): Executor {
  return {
    ports,
    isOwn: () => true,
    next(state, isFree) {
      for (const attempt of byWorker(state)) {
        const step = stepOf(state, attempt, limits)
        if (step !== null && isFree(step)) return step
      }
      return nextOfRun(state)
    },
    async place(step, state) {
      if (!('attempt' in step)) return { at: 'here', ports, view: state }
      const turn = await turnOf(step, state)
      if (turn === 'left') return { at: 'elsewhere' }
      if ('event' in turn) return { at: 'done', event: turn.event }
      return { at: 'here', ports: turn.ports, view: stateForStep(step, state, step.attempt) }
    },
  }
}
