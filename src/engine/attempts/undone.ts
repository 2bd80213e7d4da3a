// What passed stays: a story that undoes an earlier one has a finding. An earlier story of which nothing is left is open again.

import { displayPath } from '../../system/path-text.ts'
import type { GreenAttempt } from '../model/attempt.ts'
import type { GateResult } from '../model/gate.ts'
import type { Limits } from '../model/limit-types.ts'
import type { RepositoryPort, UndoneStory } from '../model/ports.ts'
import type { State } from '../model/state.ts'
import type { StepContext } from '../state/step-context.ts'
import { revert } from './attempt-outcome.ts'

type Undoing = Pick<GreenAttempt, 'storyId' | 'candidate'>

/** Passed stories that the candidate undoes in whole or in part. */
export async function undoneBy(
  { storyId, candidate }: Undoing,
  { state, repository }: Pick<StepContext, 'state'> & { repository: Pick<RepositoryPort, 'undone'> },
): Promise<UndoneStory[]> {
  const passed = new Set(
    state.prd.userStories.flatMap(({ id, passes }) => (passes && id !== storyId ? [id] : [])),
  )
  if (passed.size === 0 || candidate.empty) return []
  const undone = (await repository.undone?.(state, candidate.commit)) ?? []
  return undone.filter((one) => passed.has(one.storyId))
}

/** The results with a finding on each story that is undone. It is shown, and asked about, like a weakened test. */
export function withUndone(gates: GateResult[], undone: readonly UndoneStory[]): GateResult[] {
  const [first, ...others] = gates
  if (first === undefined || undone.length === 0) return gates
  const findings = undone.map(({ storyId, paths, isAll }) => {
    const named = paths.slice(0, MAX_NAMED).map((path) => displayPath(path))
    const more = paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : ''
    const what = isAll ? `this change undoes ${storyId}` : `this change undoes a part of ${storyId}`
    return `${what}: ${named.join(', ')}${more} ${paths.length === 1 ? 'is' : 'are'} the same as before that story`
  })
  // The job that ran the gates may already have added this finding.
  return [{ ...first, findings: [...new Set([...(first.findings ?? []), ...findings])] }, ...others]
}

const MAX_NAMED = 3

/** Earlier stories that are open again once the attempt is accepted. A judge may have said that the story asks for it. */
export async function storiesToReopen(
  attempt: GreenAttempt,
  { state, ports }: Pick<StepContext, 'state' | 'ports'>,
): Promise<{ undone?: string[] }> {
  if (attempt.phase === 'judged') return {}
  const undone = (await undoneBy(attempt, { state, repository: ports.repository })).filter(
    ({ isAll }) => isAll,
  )
  return undone.length === 0 ? {} : { undone: undone.map(({ storyId }) => storyId) }
}

export function reopen(
  state: State,
  by: string,
  { undone = [], at }: { undone?: readonly string[]; at: number },
  limits: Limits,
): State {
  const summary = `${by} undid the whole change of this story`
  return undone.reduce(
    (after, id) => revert(after, id, { failure: { kind: 'conflict', summary, detail: '' } }, at, limits),
    state,
  )
}
