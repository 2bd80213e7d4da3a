// What every step is given, and how long and for how much a session may run.

import type { Event } from '../model/event.ts'
import type { Limits } from '../model/limit-types.ts'
import type { Ports, SessionBounds } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import { budgetLeft, estimateSession, sessionMs } from './limits.ts'

/** The event of a step, before `perform` adds its time. */
export type StepResult = Event extends infer E ? (E extends { at: number } ? Omit<E, 'at'> : never) : never

/** The inputs of a step. `ports.signal` also aborts at the end of the job's time. `now`: when the step began, epoch milliseconds. */
export type StepContext = { state: State; limits: Limits; ports: Ports; now: number }

export function sessionBounds(state: State, limits: Limits, now: number): SessionBounds {
  return {
    timeoutMs: sessionMs(state, limits, now),
    budget: budgetLeft(state, limits),
    reserved: estimateSession(state, limits),
  }
}
