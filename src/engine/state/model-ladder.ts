// The model ladder: which model the next session on a story uses, and when the story climbs to the next rung. Pure.
import type { Failure } from '../model/attempt.ts'
import type { Story } from '../model/feature.ts'
import type { Limits } from '../model/limit-types.ts'
import type { State } from '../model/state.ts'

/** The models of a story's ladder, from the first rung on: by its first tag with a ladder, else the run's; empty without a ladder. */
export function ladderOf(
  { ladders }: Pick<Limits, 'ladders'>,
  { tags }: Pick<Story, 'tags'>,
): readonly string[] {
  if (ladders === undefined) return []
  const tagged = ladders.byTag.find(([tag]) => tags.includes(tag))
  return tagged?.[1] ?? ladders.run
}

/** The model for the story's next attempt; null without a ladder. */
export function rungFor({ records }: Pick<State, 'records'>, limits: Limits, story: Story): string | null {
  const ladder = ladderOf(limits, story)
  return ladder[Math.min(records[story.id]?.rung ?? 0, ladder.length - 1)] ?? null
}

/** The story's rung after a failure: after a red gate, or an agent that is stuck, the next model is a stronger one. */
export function climb(
  rung: number | undefined,
  { kind }: Pick<Failure, 'kind'>,
  ladder: readonly string[],
): { rung?: number } {
  const isTop = (rung ?? 0) >= ladder.length - 1
  if (isTop || (kind !== 'gates' && kind !== 'stuck')) return {}
  return { rung: (rung ?? 0) + 1 }
}
