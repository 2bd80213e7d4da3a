// The steps of several attempts, done by one job one after the other, in the order of their workers: where sessions and gates run in
// jobs of their own (`isolation: separate-job`), a job that claims, gates or lands has no more to do than this.

import { refund } from '../attempt-events.ts'
import { notifyObservers, settleObservers } from '../loop.ts'
import { type Attempt, attemptKey, idOf } from '../model/attempt.ts'
import { EVENTS } from '../model/event.ts'
import type { Limits } from '../model/limit-types.ts'
import type { Ports } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import type { AttemptStep } from '../model/step.ts'
import { perform } from '../perform.ts'
import { reduce } from '../reduce.ts'
import { stateForStep } from './lanes.ts'
import { stepOf } from './parallel-steps.ts'

/** What becomes of a step: performed with these ports, left to another job, or its attempt is given back uncharged. */
export type Turn = { ports: Ports } | 'left' | { lost: string }

/** The attempts in the order of their workers, which is that of the train. */
export function byWorker({ attempts }: Pick<State, 'attempts'>): Attempt[] {
  return Object.values(attempts).sort((a, b) => Number(a.worker ?? 0) - Number(b.worker ?? 0))
}

type TurnOf = (step: AttemptStep, state: State) => Promise<Turn>

/** Does the steps of attempts until all that is left is left to other jobs. `turnOf` decides on each step. Throws as `loop` does. */
export async function inTurn(start: State, limits: Limits, ports: Ports, turnOf: TurnOf): Promise<State> {
  try {
    return await runTurns(start, limits, ports, turnOf)
  } finally {
    await settleObservers(ports)
  }
}

async function runTurns(start: State, limits: Limits, ports: Ports, turnOf: TurnOf): Promise<State> {
  let state = start
  const left = new Set<string>()
  const keyOf = (step: AttemptStep) => `${attemptKey(step.attempt)} ${step.kind}`
  for (;;) {
    const [step] = byWorker(state).flatMap((attempt) => {
      const own = stepOf(state, attempt, limits)
      return own === null || left.has(keyOf(own)) ? [] : [own]
    })
    if (step === undefined) return state
    const turn = await turnOf(step, state)
    if (turn === 'left') left.add(keyOf(step))
    else if ('lost' in turn) state = refund(state, idOf(step.attempt), 'interrupted', turn.lost)
    else {
      const seen = stateForStep(step, state, step.attempt)
      await notifyObservers(ports, (observer) => observer.step?.(step, seen))
      const event = await perform(step, seen, limits, turn.ports)
      const after = reduce(state, event, limits)
      state = after
      if (EVENTS[event.kind].isDurable) await ports.store.save(after)
      await notifyObservers(ports, (observer) => observer.event?.(event, after))
    }
  }
}
