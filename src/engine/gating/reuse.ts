// Reuse of green results: the gates of the last story run in a clean room, so that their results also count for the final
// verification. docs/adr/0017-a-green-gate-counts-once.md says what is trusted, and why.

import { messageOf } from '../../system/errors.ts'
import { type AttemptIn, isInLane } from '../model/attempt.ts'
import type { GateResult } from '../model/gate.ts'
import type { Limits } from '../model/limit-types.ts'
import type { CleanRoom, GateRun } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import { remaining } from '../prd/select.ts'
import type { StepContext } from '../state/step-context.ts'

/** Milliseconds. An older result is not reused, as programs of the machine may have changed. */
const MAX_AGE_MS = 24 * 3_600_000

/** Whether the final verification follows if this attempt passes. Only for first attempts, as every attempt would need a new room. */
export function isLastStory(
  state: State,
  limits: Limits,
  { storyId, number, runner }: Pick<AttemptIn<'guarded'>, 'storyId' | 'number' | 'runner'>,
): boolean {
  const others = remaining(state.prd, state.control.scope).filter(({ id }) => id !== storyId)
  return limits.finalVerification && runner.at === 'checkout' && number === 1 && others.length === 0
}

/**
 * Opens a clean room for the gates of the last story, since their results also count for the final verification. A candidate of a killed
 * run gets one as well: the checkout may have ignored files of that run's session. Null for other attempts.
 */
export async function openLastStoryRoom(
  attempt: AttemptIn<'guarded'>,
  { state, limits, ports }: StepContext,
): Promise<CleanRoom | null> {
  const { openCleanRoom, gates } = ports
  const { commit } = attempt.candidate
  const isResumed = attempt.resumed === true && !isInLane(attempt)
  if (openCleanRoom === null || !(isResumed || isLastStory(state, limits, attempt))) return null
  if (!isResumed) {
    const keys = Object.values((await gates.keys?.(commit, state.base.sha)) ?? {})
    if (keys.every((key) => key === '')) return null
  }
  // If no clean room can be opened, the gates run in the work tree, so that the session was not paid for nothing.
  const room = await openCleanRoom({ ...state, green: commit }).catch((error: unknown) => {
    ports.warn(messageOf(error))
    return null
  })
  try {
    await room?.checkOut(commit)
    return room
  } catch (error) {
    await room?.[Symbol.asyncDispose]()
    ports.warn(messageOf(error))
    return null
  }
}

/** Adds the digest of all that they depend on to green results. Flaky results and those with findings are never reused. */
export function withReuseKeys(
  results: readonly GateResult[],
  keys: Readonly<Record<string, string>>,
  at: number,
): GateResult[] {
  return results.map((result) => {
    const { name, ok, flaky, findings = [], alone } = result
    const key = keys[name] ?? ''
    const isSteady = ok && flaky === undefined && alone === undefined && findings.length === 0
    return key === '' || !isSteady ? result : { ...result, green: { key, at } }
  })
}

/** The results that can be reused, in the order of the gates, each with its origin in `asAt`. */
export function reusableResults(
  { records, verification }: Pick<State, 'records' | 'verification'>,
  keys: Readonly<Record<string, string>>,
  now: number,
): GateResult[] {
  // A verification that a person asked for runs every gate.
  if (verification.asked) return []
  const known = Object.entries(records).flatMap(([id, { gates }]) => gates.map((gate) => ({ id, gate })))
  return Object.entries(keys).flatMap(([name, key]) => {
    const found = known.find(({ gate }) => {
      const { green } = gate
      const isRecent = green !== undefined && now - green.at <= MAX_AGE_MS && green.at <= now
      return key !== '' && gate.name === name && gate.ok && green?.key === key && isRecent
    })
    if (found?.gate.green === undefined) return []
    const { remarks: _reported, ...gate } = found.gate
    const asAt = `${found.id}, ${formatAge(now - found.gate.green.at)}`
    return [{ ...gate, asAt }]
  })
}

function formatAge(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 1) return 'just now'
  return minutes < 120 ? `${minutes} min ago` : `${Math.round(minutes / 60)} h ago`
}

/** A clean room that is opened only when something runs in it. */
export function openLazily(open: () => Promise<CleanRoom>): CleanRoom {
  let room: CleanRoom | null = null
  let isPrepared = false
  const requireRoom = (): CleanRoom => {
    if (room === null) throw new Error('nothing is checked out in the clean room')
    return room
  }
  const checkOut = async (commit: string) => {
    room ??= await open()
    isPrepared = false
    await room.checkOut(commit)
  }
  return {
    checkOut,
    // Nothing is checked out yet if all results were reused, and only the earlier tests have to run.
    restore: async (commit) =>
      room === null ? await checkOut(commit).then(() => true) : room.restore(commit),
    ignored: {
      afterPrepare: () => requireRoom().ignored.afterPrepare(),
      forGatesAgain: () => requireRoom().ignored.forGatesAgain(),
    },
    gates: {
      async prepare(commit, signal, what) {
        isPrepared = true
        return requireRoom().gates.prepare(commit, signal, what)
      },
      async run(run: GateRun, signal) {
        const { gates, ignored } = requireRoom()
        const prepared = isPrepared ? null : await gates.prepare(run.commit, signal, run.what)
        isPrepared = true
        if (prepared?.ok === false) return [{ ...prepared, advisory: true, further: run.further ?? 'checks' }]
        if (prepared !== null) await ignored.afterPrepare()
        return gates.run(run, signal)
      },
    },
    async [Symbol.asyncDispose]() {
      await room?.[Symbol.asyncDispose]()
    },
  }
}
