// The reservation of the next iteration, made before people are asked over a network: it is saved in one push with the iteration
// before it, and holds where they have said nothing.

import type { Event, EventOf } from './model/event.ts'
import type { Limits } from './model/limit-types.ts'
import type { Ports } from './model/ports.ts'
import type { State } from './model/state.ts'
import type { Step } from './model/step.ts'
import { nextStep } from './next-step.ts'
import { perform } from './perform.ts'
import { reduce } from './reduce.ts'

/** `state`: the one with the reservation, as it is saved. */
export type AheadReservation = {
  step: Extract<Step, { kind: 'reserve' }>
  event: EventOf<'reserved'>
  state: State
}

/** The reservation that follows `state` where people have said nothing; null where something else follows. */
export async function reserveAhead(
  state: State,
  limits: Limits,
  ports: Ports,
  ours: (step: Step) => boolean,
): Promise<AheadReservation | null> {
  const now = ports.clock.now()
  const heard = reduce(state, { kind: 'synced', commands: [], theirs: null, at: now }, limits)
  const step = nextStep(heard, limits, now)
  if (step.kind !== 'reserve' || !ours(step)) return null
  const event = await perform(step, heard, limits, ports)
  return event.kind === 'reserved' ? { step, event, state: reduce(heard, event, limits) } : null
}

/** Whether it still follows once people were asked: `event` is their answer, and `state` the state after it. */
export function isStillNext(
  { step }: AheadReservation,
  event: Event,
  state: State,
  limits: Limits,
  now: number,
): boolean {
  if (event.kind !== 'synced' || event.commands.length > 0 || event.theirs !== null) return false
  const next = nextStep(state, limits, now)
  return next.kind === 'reserve' && next.storyId === step.storyId
}
