// `baseline: known-red`: the base may fail exactly these named tests. A story may fix one of them, and may not add one. Pure.
import type { GateBaseline, GateResult, KnownRed, TestCounts } from '../engine/model/gate.ts'
import type { GateRun } from '../engine/model/ports.ts'
import { type FailedTests, failedTests } from './failed-tests.ts'

/** With more failed tests the base is broken, and not only a few of its tests. */
const MAX_KNOWN_RED = 50
/** How many names a remark has. */
const MAX_NAMED = 5

/** A red run of a gate with what is known of its tests. `failed`: from its report files; left out: its output is read. */
export type RedRun = Pick<GateResult, 'ended' | 'output'> & {
  tests: TestCounts | null
  failed?: readonly string[]
}

/** Why a red gate counts as green, or, if it stays red, why it does; an empty reason has nothing to add. */
export type Judged = { knownRed: KnownRed; remark: string } | { why: string }

export type NamedFailures = { names: readonly string[] } | { why: string }

/** At the fork point every failed test that has a name is taken; later only those, without the ones that stories have fixed. */
export function judgeRed(red: RedRun, run: GateRun, name: string, isAllowed: boolean): Judged {
  if (run.of === 'baseline') return isAllowed ? judgeBase(red) : { why: '' }
  const before = run.baseline[name]
  return before?.knownRed === undefined ? { why: '' } : judgeLater(red, before, before.knownRed, run)
}

function judgeBase(red: RedRun): Judged {
  const tests = namedFailures(red)
  if ('why' in tests) return { why: `baseline: known-red does not allow it, because ${tests.why}` }
  const { names } = tests
  const are = names.length === 1 ? '1 test fails' : `${names.length} tests fail`
  return {
    knownRed: { ended: red.ended, tests: [...names] },
    remark: `${are} on the base and may keep failing (baseline: known-red): ${formatNames(names)}`,
  }
}

function judgeLater(red: RedRun, before: GateBaseline, known: KnownRed, run: GateRun): Judged {
  const tests = namedFailures(red)
  if ('why' in tests) return tests
  if (known.ended !== red.ended) return { why: `on the base, the gate ended with ${known.ended} instead` }
  const { names } = tests
  const added = names.filter((one) => !known.tests.includes(one))
  if (added.length > 0) return { why: `these tests did not fail on the base: ${formatNames(added)}` }
  // The tests as they were at the fork point may still fail after a story has corrected them.
  const isAtFork = run.of === 'whole' && run.further !== undefined
  const again = names.filter((one) => !isAtFork && before.fixed?.includes(one) === true)
  if (again.length > 0)
    return { why: `these tests fail again, although an earlier story fixed them: ${formatNames(again)}` }
  const are = names.length === 1 ? '1 test fails' : `${names.length} tests fail`
  return {
    knownRed: { ended: red.ended, tests: [...names] },
    remark: `${are}, as on the base: ${formatNames(names)}`,
  }
}

/**
 * The failed tests of a red gate, if they are all that is wrong with it. It has to name as many tests as it counts: else something
 * without a name failed, such as a file that cannot be loaded.
 */
export function namedFailures({ ended, output, tests, failed }: RedRun): NamedFailures {
  if (!/^exit \d+$/.test(ended)) return { why: 'the gate did not end by itself' }
  const found: FailedTests | null =
    failed === undefined
      ? failedTests(output)
      : { names: failed, counted: failed.length, stoppedEarly: failedTests(output)?.stoppedEarly ?? false }
  if (found === null)
    return { why: 'its output is too long: the part that was left out may name a failed test' }
  if (found.names.length === 0) return { why: 'its output names no failed test' }
  const counted = tests?.failed ?? 0
  if (found.counted !== counted)
    return { why: `its output reports ${counted} failed tests, but names ${found.counted}` }
  if (found.stoppedEarly)
    return { why: 'the gate stops at the first failure, so the other tests did not run' }
  if (found.names.length > MAX_KNOWN_RED) return { why: `more than ${MAX_KNOWN_RED} tests fail` }
  return found
}

/** The first names, and how many more there are. */
export function formatNames(names: readonly string[]): string {
  const more = names.length - MAX_NAMED
  return `${names.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
