// The step in which a story is worked on, and what the other steps share with it.
import type { Event } from '../model/event.ts'
import type { Limits } from '../model/limits.ts'
import type { Ports, SessionBounds } from '../model/ports.ts'
import type { AttemptIn, Candidate, Kept, State } from '../model/state.ts'
import { DamagedClone } from '../system/errors.ts'
import { spend } from './change.ts'
import { budgetLeft, estimate, sessionMs, spent } from './limits.ts'
import { failedSetUp, isSetUp, setUpAlone, wentWell, withSetUp } from './set-up.ts'

export type Happening = Event extends infer E ? (E extends { at: number } ? Omit<E, 'at'> : never) : never

/** What a step is done with: the signal aborts with the job's time, too. `now` is when it began, epoch milliseconds. */
export type Context = { state: State; limits: Limits; ports: Ports; now: number }

/** A story's session, behind the one that sets the project up, where there is to be one. */
export async function work(
  attempt: AttemptIn<'reserved'>,
  { state, limits, ports, now }: Context,
): Promise<Happening> {
  const { storyId, base } = attempt
  const { agent, repository, signal, clock } = ports
  const { conflict } = await repository.checkOut(base, state.kept[storyId] ?? null)
  const begin = (from: State, at: number) =>
    agent.work(state, attempt, { ...boundsOf(from, limits, at), conflict }, signal)
  if (isSetUp(state, storyId, conflict)) {
    const session = await begin(state, now)
    const setUp = state.control.setUp === true ? undefined : state.kept[storyId]?.setUp
    return { kind: 'worked', storyId, session: setUp === undefined ? session : { ...session, setUp } }
  }
  const setUp = await agent.setUp(state, attempt, boundsOf(state, limits, now), signal)
  if (setUp === null) return { kind: 'worked', storyId, session: await begin(state, now) }
  if (!wentWell(setUp)) return { kind: 'worked', storyId, session: failedSetUp(setUp) }
  const tree = (await workAsItStands(storyId, state, ports))?.tree ?? ''
  const left = spend(state, storyId, setUp.usage)
  const over = spent(left, limits)
  if (over !== null) return { kind: 'worked', storyId, session: setUpAlone(setUp, over, tree) }
  return { kind: 'worked', storyId, session: withSetUp(setUp, await begin(left, clock.now()), tree) }
}

/** A set-up alone is no work on the story: a session that added nothing to it has changed nothing. */
export async function withoutSetUp(
  candidate: Candidate,
  { storyId, session: { setUp = '' } }: AttemptIn<'worked'>,
  { state, ports }: Context,
): Promise<Candidate> {
  if (setUp === '') return candidate
  const work = await workAsItStands(storyId, state, ports)
  return work?.tree === setUp ? { ...candidate, empty: true } : candidate
}

/** The story's work after the guard's filter; null for none. What cannot be looked at cannot be kept. */
export function workAsItStands(storyId: string, state: State, { repository }: Ports): Promise<Kept | null> {
  return repository.keep(state, storyId).catch((error: unknown) => {
    if (error instanceof DamagedClone) throw error
    return null
  })
}

export function boundsOf(state: State, limits: Limits, now: number): SessionBounds {
  return {
    timeoutMs: sessionMs(state, limits, now),
    budget: budgetLeft(state, limits),
    reserved: estimate(state, limits),
  }
}
