// Gates of the last story run where the final verification would run them, in a clean room; what is green there counts for both.
// docs/adr/0017-a-green-gate-counts-once.md says what is trusted, and why.

import { messageOf } from '../../system/errors.ts'
import type { StepContext } from '../attempt-steps.ts'
import type { AttemptIn } from '../model/attempt.ts'
import type { GateResult } from '../model/gate.ts'
import type { Limits } from '../model/limit-types.ts'
import type { CleanRoom, GateRun } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import { remaining } from '../prd/select.ts'

/** What a machine has may change: an older result counts for nothing, milliseconds. */
const LONGEST_MS = 24 * 3_600_000

/** Whether the final verification follows where this attempt passes. One that failed before would pay for a room each time. */
export function isLastStory(
  state: State,
  limits: Limits,
  { storyId, number, inLane }: Pick<AttemptIn<'guarded'>, 'storyId' | 'number' | 'inLane'>,
): boolean {
  const others = remaining(state.prd, state.control.scope).filter(({ id }) => id !== storyId)
  return limits.finalVerification && inLane === undefined && number === 1 && others.length === 0
}

/** A clean room for the gates of the last story, where their results count for the final verification, too. */
export async function openLastStoryRoom(
  attempt: AttemptIn<'guarded'>,
  { state, limits, ports }: StepContext,
): Promise<CleanRoom | null> {
  const { openCleanRoom, gates } = ports
  const { commit } = attempt.candidate
  if (openCleanRoom === null || gates.keys === undefined || !isLastStory(state, limits, attempt)) return null
  const keys = Object.values(await gates.keys(commit, state.base.sha))
  if (keys.every((key) => key === '')) return null
  // Where there is no room for one, the session that was paid for is judged in the work tree.
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

/** Green results with what they depend on, as `keys` has it by gate. What a person should know of one is told by its own run. */
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

/** The results that count again, in the order of the gates, each with where it is from. */
export function reusableResults(
  { records, verification }: Pick<State, 'records' | 'verification'>,
  keys: Readonly<Record<string, string>>,
  now: number,
): GateResult[] {
  // A person who asks for a verification wants to see it.
  if (verification.asked) return []
  const known = Object.entries(records).flatMap(([id, { gates }]) => gates.map((gate) => ({ id, gate })))
  return Object.entries(keys).flatMap(([name, key]) => {
    const found = known.find(({ gate }) => {
      const { green } = gate
      const isYoung = green !== undefined && now - green.at <= LONGEST_MS && green.at <= now
      return key !== '' && gate.name === name && gate.ok && green?.key === key && isYoung
    })
    if (found?.gate.green === undefined) return []
    const { remarks: _told, ...gate } = found.gate
    const asAt = `${found.id}, ${agoWords(now - found.gate.green.at)}`
    return [{ ...gate, asAt }]
  })
}

function agoWords(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 1) return 'just now'
  return minutes < 120 ? `${minutes} min ago` : `${Math.round(minutes / 60)} h ago`
}

/** A room that is opened only where something runs in it. */
export function openLazily(open: () => Promise<CleanRoom>): CleanRoom {
  let room: CleanRoom | null = null
  let isPrepared = false
  const opened = (): CleanRoom => {
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
    // The tests as they were are run where nothing else had to be.
    restore: async (commit) =>
      room === null ? await checkOut(commit).then(() => true) : room.restore(commit),
    ignored: {
      prepared: () => opened().ignored.prepared(),
      forGatesAgain: () => opened().ignored.forGatesAgain(),
    },
    gates: {
      async prepare(commit, signal, what) {
        isPrepared = true
        return opened().gates.prepare(commit, signal, what)
      },
      async run(run: GateRun, signal) {
        const { gates, ignored } = opened()
        const prepared = isPrepared ? null : await gates.prepare(run.commit, signal, run.what)
        isPrepared = true
        if (prepared?.ok === false) return [{ ...prepared, advisory: true, asItWas: true }]
        if (prepared !== null) await ignored.prepared()
        return gates.run(run, signal)
      },
    },
    async [Symbol.asyncDispose]() {
      await room?.[Symbol.asyncDispose]()
    },
  }
}
