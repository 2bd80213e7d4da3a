// Runs the final verification without a run: every gate and a judge on a commit. Its cost is in no budget.

import { verifyWhole } from '../engine/gating/judge.ts'
import type { Verdict } from '../engine/model/event.ts'
import type { GateResult } from '../engine/model/gate.ts'
import { newJob } from '../engine/model/job.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import type { Ports } from '../engine/model/ports.ts'
import type { State } from '../engine/model/state.ts'
import type { Usage } from '../engine/model/usage.ts'
import { counts } from '../engine/prd/select.ts'
import { redGate, unapprovedVerification } from '../engine/state/state-updates.ts'
import type { Settings } from '../settings/read-settings.ts'
import { gatedTagsOf } from './loop-limits.ts'

export type VerifyResult = {
  isFine: boolean
  red: string | null
  verdict: Verdict
  gates: readonly GateResult[]
  usage: Usage
}

/** The state to verify: at `head`, and without earlier sessions, so that the limits hold only for this session. */
export function stateToVerify(state: State, head: string, settings: Settings, now: number): State {
  return {
    ...state,
    sessions: [],
    green: head,
    // `asked`: a person asks for it, so no earlier approval counts, and every gate runs.
    verification: { ...unapprovedVerification(state), asked: true },
    attempts: {},
    job: newJob(now, Number.MAX_SAFE_INTEGER, gatedTagsOf(settings)),
  }
}

/** Green gates without a judge are not a verdict, so a workflow that depends on the result must not continue. */
const NOTHING_JUDGED: Verdict = {
  kind: 'none',
  message: 'the gates are green, but no story has passed yet, so there was nothing to judge',
}

/** Verifies the state that `stateToVerify` returned. Its commit must be checked out. `red`: the name of the first red gate, or null. */
export async function verifyNow(
  state: State,
  limits: Limits,
  ports: Ports,
  now: number,
): Promise<VerifyResult> {
  const { gates, verdict: judged, usage } = await verifyWhole({ state, limits, ports, now })
  const verdict = counts(state.prd, state.control.scope).passed > 0 ? judged : NOTHING_JUDGED
  const red = redGate(gates)?.name ?? null
  return { isFine: red === null && verdict.kind === 'verified', red, verdict, gates, usage }
}
