// Which gates a run of them is for, and what they are told of the change.
import ignore from 'ignore'
import type { Gate } from '../engine/model/gate.ts'
import type { GateRun } from '../engine/model/ports.ts'
import { isFor } from '../engine/model/service.ts'
import type { Code } from './gate-evidence.ts'

/** A longer list of files is not handed on: programs are started with so much environment at most. */
const MOST_LISTED_BYTES = 64 * 1024

/** `touches`: whether the change has a file like that; null where it is not looked at. */
export type ChangeSeen = {
  touches: ((patterns: readonly string[]) => boolean) | null
  env: Readonly<Record<string, string>>
}

/** The change that gates look at. The whole, the baseline and what people push are looked at by all of them. */
export async function readChange(
  run: GateRun,
  { gates, code }: { gates: readonly Gate[]; code: Code },
): Promise<ChangeSeen> {
  const { of, from, commit, fork } = run
  // A step before the gates has no commit to look at yet.
  if (commit === '') return { touches: null, env: {} }
  const env = { RALPH_BASE: from }
  if (of !== 'story') return { touches: null, env }
  const paths = await code.changedPaths(from, commit)
  const listed = paths.join('\n')
  const files = Buffer.byteLength(listed) > MOST_LISTED_BYTES ? {} : { RALPH_CHANGED_FILES: listed }
  const hasPaths = gates.some((gate) => gate.paths !== undefined)
  const touches = (patterns: readonly string[]) => {
    const rules = ignore().add([...patterns])
    return paths.some((path) => rules.ignores(path))
  }
  const told = fork === undefined ? { ...env, ...files } : { RALPH_BASE: fork }
  return { touches: hasPaths ? touches : null, env: told }
}

/** Those for the stories' tags and the change. Where none of them would block, all that `paths` leave out run, too. */
export function selectGates(
  gates: readonly Gate[],
  run: GateRun,
  touches: ChangeSeen['touches'],
): readonly Gate[] {
  const { only, tags, also = [] } = run
  if (only !== undefined) return gates.filter(({ name }) => only.includes(name))
  const meant = gates.filter(({ name, when }) => isFor(when, tags) || also.includes(name))
  if (touches === null) return meant
  const touched = meant.filter(
    ({ name, paths }) => paths === undefined || also.includes(name) || touches(paths),
  )
  return touched.some(({ advisory }) => !advisory) ? touched : meant
}
