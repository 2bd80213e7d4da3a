// Finds out whether gates need files that git ignores. Before the first paid session, the baseline is compared with a run in a clean
// clone of the fork point.
import { displayPath } from '../../system/path-text.ts'
import { type GateResult, testsRun } from '../model/gate.ts'
import type { GateRun } from '../model/ports.ts'
import { redGate, redGateReason } from '../state/state-updates.ts'
import type { StepContext, StepResult } from '../state/step-context.ts'
import { NOT_IN_A_CLONE } from './blame.ts'
import { runGatesOn } from './gate-run.ts'

type Failed = Extract<StepResult, { kind: 'failed' }>

/**
 * The green results of the baseline, each with the number of its tests that a clean clone does not run. Fails if a gate is red in a
 * clean clone: the final verification could never be green then.
 */
export async function compareWithCleanClone(
  run: GateRun,
  results: readonly GateResult[],
  context: StepContext,
): Promise<Failed | GateResult[]> {
  const { state, limits, ports } = context
  const { gates, repository, openCleanRoom, signal } = ports
  const only = neededFiles(repository.ignored.fromBefore(), gates.canPrepare)
  const isAsked = limits.finalVerification && openCleanRoom !== null
  if (!isAsked || only.length === 0) return [...results]
  await using room = await openCleanRoom(state)
  await room.checkOut(run.commit)
  const inClone = await runGatesOn(run, { gates: room.gates, repository: room, signal })
  const named = only.slice(0, 3).map((path) => displayPath(path))
  const red = redGate(inClone)
  if (red !== undefined && !signal.aborted) {
    const where = `in a clean clone, but passes in the checkout, which has ${named.join(', ')}`
    return { kind: 'failed', summary: `${redGateReason(red, inClone)} ${where}`, fix: NOT_IN_A_CLONE }
  }
  if (signal.aborted) return [...results]
  return results.map((one) => withNeeds(one, inClone, named, ports.warn))
}

/** Ignored files from before the run. What package managers install does not count if `prepare` installs it again. */
function neededFiles(ignored: readonly string[], canPrepare: boolean): string[] {
  return ignored.filter((path) => !(canPrepare && INSTALLED.test(path)))
}

/** Folders in which package managers install what a project needs. */
const INSTALLED = /(?:^|\/)(?:node_modules|bower_components|\.?venv|vendor|Pods|deps)\/$/

function withNeeds(
  result: GateResult,
  inClone: readonly GateResult[],
  named: readonly string[],
  warn: (message: string) => void,
): GateResult {
  const had = testsRun(result.tests)
  const need = had - testsRun(inClone.find(({ name }) => name === result.name)?.tests)
  if (need <= 0) return result
  const tests = `${need} of ${had} tests ${need === 1 ? 'needs' : 'need'} files that git ignores`
  const remark = `${tests} (${named.join(', ')}), but the final verification runs without these files: let \`prepare\` create them`
  warn(`gate ${result.name}: ${remark}`)
  return { ...result, needIgnored: need, remarks: [...(result.remarks ?? []), remark] }
}

/** The run for a clean clone, which does not miss tests that need ignored files. */
export function inCleanClone(run: GateRun): GateRun {
  const baseline = Object.entries(run.baseline).map(([name, before]) => {
    const { tests, needIgnored = 0 } = before
    if (tests === undefined || needIgnored === 0) return [name, before] as const
    // Some runners count tests that lack their file as skipped.
    const expected = {
      ...tests,
      passed: Math.max(0, tests.passed - needIgnored),
      skipped: tests.skipped + needIgnored,
    }
    return [name, { ...before, tests: expected }] as const
  })
  return { ...run, baseline: Object.fromEntries(baseline) }
}
