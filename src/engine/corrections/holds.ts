// What on the pull request keeps a finished run from being complete. Pure.

import type { Limits } from '../model/limit-types.ts'
import type { State } from '../model/state.ts'
import { firstNames } from '../model/text.ts'
import { dependencyHold } from '../state/dependencies.ts'
import { describeApprovals } from './approvals.ts'

/** Why a finished run waits, in words; empty if nothing holds it. */
export function describeHold(state: State, limits: Limits): string {
  const { holds, green, published } = state
  const { changesRequestedBy = [], checks } = holds ?? {}
  if (changesRequestedBy.length > 0)
    return `${firstNames(changesRequestedBy)} requested changes. Each of them must approve, or someone must dismiss the review`
  const packages = dependencyHold(state, limits)
  if (packages !== '') return packages
  const approvals = () => describeApprovals(state, limits.approvals ?? 0)
  if (limits.waitsForChecks !== true) return approvals()
  // Checks of an earlier head say nothing. Those of this one are read after it is pushed.
  if (checks?.head !== green || published !== green) return WAITING
  if (checks.pending.length > 0) return `${WAITING}: ${firstNames(checks.pending)}`
  return checks.red.length > 0 ? `red checks need a person: ${firstNames(checks.red)}` : approvals()
}

const WAITING = 'waiting for checks'
