// Gates that no baseline covers yet, such as one with `when`. They run once on the commit that the story began from, so that its change
// can be compared with that.

import { furtherName, type GateBaselines, isService } from '../model/gate.ts'
import type { CleanRoom, GateRun } from '../model/ports.ts'
import type { StepContext } from '../state/step-context.ts'
import { runFurther } from './further-runs.ts'
import { baselinesOf } from './gate-memory.ts'

type Place = Pick<CleanRoom, 'restore' | 'ignored' | 'gates'>

/**
 * Runs on the base those gates of this run that have no baseline, and returns their baselines. Empty if all have one. Also empty if the
 * base could not be prepared: then the next attempt tries again. Afterwards the place has the run's commit again.
 */
export async function runAtBase(
  run: GateRun,
  { limits, ports }: Pick<StepContext, 'limits' | 'ports'>,
  place: Place,
): Promise<GateBaselines> {
  if (limits.weakenedTests === 'off') return {}
  const only = (ports.gates.names?.(run) ?? []).filter((name) => !Object.hasOwn(run.baseline, name))
  if (only.length === 0) return {}
  const { from, what } = run
  const atBase = { ...run, of: 'baseline' as const, further: 'base' as const, commit: from, only }
  try {
    const results = await runFurther({ ...atBase, what: `${what}-before` }, place, ports.signal)
    // A gate says nothing about the base if the run or a service that it needs ended first.
    if (ports.signal.aborted || results.some((one) => isService(one) && !one.ok)) return {}
    const ran = only.flatMap((name) => {
      const found = results.find((one) => one.name === furtherName(name, 'base'))
      return found === undefined ? [] : [{ ...found, name }]
    })
    return baselinesOf(ran)
  } finally {
    await place.restore(run.commit)
    await place.ignored.forGatesAgain()
  }
}
