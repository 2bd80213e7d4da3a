// Candidates of a killed run: people are asked before their gates run, since they may have skipped or changed a story meanwhile.

import { isStillWanted } from '../attempts/lost-attempts.ts'
import { hasCandidate, idOf } from '../model/attempt.ts'
import type { Event } from '../model/event.ts'
import type { State } from '../model/state.ts'
import type { Step } from '../model/step.ts'

export class ResumedCandidates {
  #hasAsked = false

  /** What comes before the steps of resumed candidates; null for nothing. `at`: epoch milliseconds. */
  next(state: State, at: number): Step | { event: Event } | null {
    const candidates = Object.values(state.attempts).filter(
      (attempt) => hasCandidate(attempt) && attempt.resumed === true,
    )
    if (candidates.length === 0) return null
    if (!this.#hasAsked) {
      this.#hasAsked = true
      return { kind: 'sync' }
    }
    const unwanted = candidates.find((attempt) => !isStillWanted(state, attempt))
    if (unwanted === undefined) return null
    return { event: { kind: 'lost', ...idOf(unwanted), why: 'it is no longer asked for', at } }
  }
}
