// The baseline, and what the state keeps of gate runs to compare later runs with. Pure.

import { excerpt } from '../../system/excerpt.ts'
import type { AttemptIn } from '../model/attempt.ts'
import { isCounterexample } from '../model/counterexample.ts'
import type { EventOf } from '../model/event.ts'
import {
  type GateBaseline,
  type GateBaselines,
  type GateResult,
  type KnownRed,
  remarksOf,
  testsRun,
} from '../model/gate.ts'
import { OUTPUT_BYTES } from '../model/gate-output.ts'
import type { Limits } from '../model/limit-types.ts'
import { CANNOT_START, NOT_READY, PORT_TAKEN } from '../model/service.ts'
import type { State } from '../model/state.ts'
import { picturesIn } from '../state/screenshots.ts'
import { haltWithError, redGate, redService } from '../state/state-updates.ts'

export function baselined(state: State, { gates }: EventOf<'baselined'>, limits: Limits): State {
  const red = limits.baseline ? redGate(gates) : undefined
  const pages = picturesIn(gates)
  const withPages = pages.length === 0 ? state : { ...state, basePages: pages }
  if (red === undefined) {
    const isGreen = redGate(gates) === undefined
    const baseline = isGreen ? ('green' as const) : ('recorded' as const)
    return { ...withPages, baseline, baselineGates: atForkPoint(baselinesOf(gates)) }
  }
  const output = `its output:\n${excerpt(red.output, OUTPUT_BYTES.error)}`
  const service = redService(gates)
  if (service !== undefined) return haltOnService(state, service, output)
  // bash(1): a command that was found and cannot be run, and one that was not found.
  if (/^exit 12[67]$/.test(red.ended)) {
    return haltWithError(
      state,
      `gate ${red.name} cannot run (${red.ended}), because a program that it calls is missing`,
      `install the program that gate ${red.name} calls, or fix its command; ${output}`,
    )
  }
  return haltWithError(
    state,
    `gate ${red.name} fails on the base, before Ralph has changed anything (${red.ended})`,
    `fix ${state.base.branch} first, ${OR_BASELINE_OFF}; ${output}`,
  )
}

/** The baselines for later runs, from the first run of these gates on a commit without any change. */
export function baselinesOf(gates: readonly GateResult[]): GateBaselines {
  return { ...firstRuns({}, gates), ...redAtBase(gates) }
}

/** Marks baselines as those of the commit that the feature started from. */
export function atForkPoint(found: GateBaselines): Record<string, GateBaseline> {
  const entries = Object.entries(found)
  return Object.fromEntries(entries.map(([name, one]) => [name, { ...one, atFork: one.red !== true }]))
}

/**
 * The state with what gates did on the base of an attempt. In the train, the base may be a candidate that never lands. Then nothing is
 * kept.
 */
export function recordBaseRuns(
  state: State,
  { train, base }: Pick<AttemptIn<'guarded'>, 'train' | 'base'>,
  found: GateBaselines = {},
): State {
  const { baselineGates: known = {}, green } = state
  const isNew = Object.keys(found).some((name) => !Object.hasOwn(known, name))
  if (!isNew || (train !== undefined && base !== green)) return state
  return { ...state, baselineGates: { ...found, ...known } }
}

/** The baselines of gates that were red before the change. They show which tests a story makes green, and whether it removes some. */
function redAtBase(gates: readonly GateResult[]): Record<string, GateBaseline> {
  const red = gates.filter(({ ok }) => !ok)
  return Object.fromEntries(
    red.map(({ name, ms, tests, named }) => {
      const failing = named === undefined ? {} : { failing: named.failed.slice(0, MAX_FAILING) }
      return [name, { ms, red: true as const, ...(tests === undefined ? {} : { tests }), ...failing }]
    }),
  )
}

const MAX_FAILING = 100

const OR_BASELINE_OFF = 'or set baseline: off for a project that does not exist yet'

/** Halts the job after a service failed in the baseline. The cause may be the machine, such as a taken port, and not the base. */
function haltOnService(state: State, service: GateResult, output: string): State {
  const { name, ended } = service
  const words = `${name} ${ended}`
  if (ended.startsWith(CANNOT_START)) return haltWithError(state, words, portConflictFix(service))
  if (ended.startsWith(NOT_READY)) {
    const fix = 'read its log, and fix its `start` or `ready`, or give it a longer readyTimeout'
    return haltWithError(state, words, `${fix}; ${output}`)
  }
  const startFix = `read its log, and fix its \`start\` or the code on ${state.base.branch}, ${OR_BASELINE_OFF}`
  return haltWithError(state, `${words}, before Ralph has changed anything`, `${startFix}; ${output}`)
}

function portConflictFix({ name, ended }: GateResult): string {
  const pid = /\(process (\d+)\)$/.exec(ended)?.[1]
  return pid === undefined
    ? `end the other program that answers instead of ${name}, or give ${name} another port`
    : `end process ${pid}, or give ${name} another port`
}

/** A port that another program has taken, which ends the run without a failed attempt; null if there is none. */
export function findPortConflict(gates: readonly GateResult[]): { summary: string; fix: string } | null {
  const service = redService(gates)
  if (!service?.ended.startsWith(CANNOT_START) || !service.ended.includes(PORT_TAKEN)) return null
  return { summary: `${service.name} ${service.ended}`, fix: portConflictFix(service) }
}

export function haltOnPortConflict(state: State, gates: readonly GateResult[]): State | null {
  const conflict = findPortConflict(gates)
  return conflict === null ? null : haltWithError(state, conflict.summary, conflict.fix)
}

/** The gates of the final verification that were green on this commit, if only their judge is missing. */
export function gatesBeforeJudge({ verification: { gated }, green }: State): GateResult[] | null {
  return gated?.commit === green ? gated.gates : null
}

/** Records time and tests of each gate's first green run, on the base or later. */
export function recordFirstRuns(state: State, gates: readonly GateResult[]): State {
  const known = state.baselineGates ?? {}
  const first = firstRuns(known, gates)
  return Object.keys(first).length === 0 ? state : { ...state, baselineGates: { ...known, ...first } }
}

function firstRuns(known: GateBaselines, gates: readonly GateResult[]): Record<string, GateBaseline> {
  const green = gates.filter((one) => one.ok && (one.further ?? 'base') === 'base' && !isCounterexample(one))
  const entries = green.flatMap(({ name, ms, tests, alone, needIgnored, knownRed }) => {
    const before = Object.hasOwn(known, name) ? known[name] : undefined
    if (before !== undefined && (alone === undefined || before.alone === true)) return []
    const first = before ?? {
      ms,
      ...(tests === undefined ? {} : { tests }),
      ...(needIgnored === undefined ? {} : { needIgnored }),
      ...(knownRed === undefined ? {} : { knownRed }),
    }
    return [[name, { ...first, ...(alone === undefined ? {} : { alone }) }] as const]
  })
  return Object.fromEntries(entries)
}

/** The base's record of a gate after a story passed: failed tests that no longer fail are fixed. */
function withFixed(before: GateBaseline, now: KnownRed | undefined): GateBaseline {
  const fixed = (before.knownRed?.tests ?? []).filter((name) => now?.tests.includes(name) !== true)
  if (fixed.length === 0) return before
  return { ...before, fixed: [...new Set([...(before.fixed ?? []), ...fixed])] }
}

/**
 * Updates the test counts after each pass, so that a story that adds tests does not hide a later one that removes as many. It also
 * records which of the base's failed tests are fixed.
 */
export function updateTestCounts(state: State, gates: readonly GateResult[]): State {
  const known = state.baselineGates ?? {}
  const now = gates.flatMap(({ name, ok, ms, tests, knownRed }) => {
    const first = known[name]
    if (!ok || first === undefined) return []
    // The gate was red and is green now, so from now on every story has to keep it green.
    if (first.red === true) {
      const { atFork } = first
      const at = atFork === undefined ? {} : { atFork }
      return [[name, { ms, ...at, ...(tests === undefined ? {} : { tests }) }] as const]
    }
    const before = withFixed(first, knownRed)
    if (tests === undefined) return before === first ? [] : [[name, before] as const]
    // A clean clone, in which the last story's gates run, has fewer tests although nothing was removed.
    if (before.needIgnored !== undefined && testsRun(tests) < testsRun(before.tests))
      return before === first ? [] : [[name, before] as const]
    return [[name, { ...before, tests }] as const]
  })
  return now.length === 0 ? state : { ...state, baselineGates: { ...known, ...Object.fromEntries(now) } }
}

/** The remarks of the final verification's gates. First: red gates that were green for a story on the same commit. */
export function verificationRemarks(state: State, gates: readonly GateResult[]): string[] {
  const records = Object.entries(state.records).filter(([, { commit }]) => commit === state.green)
  const contradicted = gates
    .filter(({ ok }) => !ok)
    .flatMap(({ name, ended }) =>
      records
        .filter(([, record]) => record.gates.some((gate) => gate.name === name && gate.ok))
        .map(
          ([id]) =>
            `gate ${name} passed for ${id}, but failed (${ended}) in the final verification of the same commit`,
        ),
    )
  return [...contradicted, ...remarksOf(gates)].slice(0, MAX_REMARKS)
}

const MAX_REMARKS = 20
