// What is remembered of gates: what later runs are compared with, and which were red and green on one tree. Pure.
import { type GateResult, remarksOf } from '../model/gate.ts'
import type { State } from '../model/state.ts'

/** The first green run of each gate is what its time is compared with: on the base, or where that was not run for it. */
export function withFirstRuns(state: State, gates: readonly GateResult[]): State {
  const known = state.baselineGates ?? {}
  const first = gates.filter(({ name, ok }) => ok && !Object.hasOwn(known, name))
  if (first.length === 0) return state
  const entries = first.map(({ name, ms, tests }) => [name, tests === undefined ? { ms } : { ms, tests }])
  return { ...state, baselineGates: { ...known, ...Object.fromEntries(entries) } }
}

/** Tests are compared with what is green now: a story that adds some must not hide one that takes as many away. */
export function withTests(state: State, gates: readonly GateResult[]): State {
  const known = state.baselineGates ?? {}
  const now = gates.flatMap(({ name, ok, tests }) => {
    const before = known[name]
    return ok && tests !== undefined && before !== undefined ? [[name, { ...before, tests }] as const] : []
  })
  return now.length === 0 ? state : { ...state, baselineGates: { ...known, ...Object.fromEntries(now) } }
}

/** What the gates of a final verification have to tell, those first that were green on the same commit for a story. */
export function verificationRemarks(state: State, gates: readonly GateResult[]): string[] {
  const told = Object.entries(state.records).filter(([, { commit }]) => commit === state.green)
  const contradicted = gates
    .filter(({ ok }) => !ok)
    .flatMap(({ name, ended }) =>
      told
        .filter(([, record]) => record.gates.some((gate) => gate.name === name && gate.ok))
        .map(
          ([id]) =>
            `gate ${name}: green for ${id} and red (${ended}) at the final verification of the same commit`,
        ),
    )
  return [...contradicted, ...remarksOf(gates)].slice(0, MOST_REMARKS)
}

const MOST_REMARKS = 20
