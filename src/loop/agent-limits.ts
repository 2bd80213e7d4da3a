// Vendors' limits: each belongs to the agent that met it, by its name, and holds nobody else up. Pure.
import type { Limits } from '../model/limits.ts'
import type { Attempt, Control, State } from '../model/state.ts'

/** A vendor that says more than a week is asked again after one, milliseconds. */
const LONGEST_RESET_MS = 7 * 24 * 3_600_000
/** Failed attempts on a story after which the other agent has a try. */
const OWN_TRIES = 2

type Which = Attempt['agent']

/** Whom the next session is for: the fallback stands in for an agent at its limit, and after two failed attempts. */
export function agentFor({ control }: State, limits: Limits, now: number, failures = 0): Which {
  const { agent, fallback } = limits
  if (fallback === null || isLimited(control, fallback, now)) return 'first'
  return failures >= OWN_TRIES || isLimited(control, agent, now) ? 'fallback' : 'first'
}

/** When the first agent that may work does so again, where all are at their limits: epoch milliseconds, or null. */
export function agentsRestUntil({ control }: State, limits: Limits, now: number): number | null {
  const names = limits.fallback === null ? [limits.agent] : [limits.agent, limits.fallback]
  if (!names.every((name) => isLimited(control, name, now))) return null
  return Math.min(...names.map((name) => control.agentLimits[name] ?? 0))
}

/**
 * The state after an agent's session that its vendor's limit or overload ended. It is asked again when the vendor said so,
 * but never before a pause that grows from half a minute to half an hour.
 */
export function withLimit(
  state: State,
  which: Which,
  limits: Limits,
  resetsAt: number | null,
  at: number,
): State {
  const { control } = state
  const name = which === 'first' ? limits.agent : (limits.fallback ?? limits.agent)
  const pause = Math.min(30 * 60_000, 30_000 * 2 ** Math.min(10, control.limited))
  const until = Math.max(Math.min(resetsAt ?? 0, at + LONGEST_RESET_MS), at + pause)
  const agentLimits = { ...control.agentLimits, [name]: until }
  return { ...state, control: { ...control, agentLimits, limited: control.limited + 1 } }
}

/** A person asks to go on: every agent is tried once more, and what got nowhere is counted anew. */
export function triedAgain(control: Control): Control {
  return { ...control, notBefore: null, agentLimits: {}, limited: 0, idleJobs: 0 }
}

function isLimited({ agentLimits }: Control, name: string, now: number): boolean {
  return (agentLimits[name] ?? 0) > now
}
