// The model ladder: with which model the next session works on a story, and when it climbs to the next rung. Pure.
import type { Failure } from './model/attempt.ts'
import type { Story } from './model/feature.ts'
import type { Limits } from './model/limit-types.ts'
import type { State } from './model/state.ts'

/** The rungs for a story, the first one first: those of the first tag that has some, else the run's; empty without a ladder. */
export function ladderOf(
  { ladders }: Pick<Limits, 'ladders'>,
  { tags }: Pick<Story, 'tags'>,
): readonly string[] {
  if (ladders === undefined) return []
  const tagged = ladders.byTag.find(([tag]) => tags.includes(tag))
  return tagged?.[1] ?? ladders.run
}

/** The model that the story's next attempt works with; null where no ladder says it. */
export function rungFor({ records }: Pick<State, 'records'>, limits: Limits, story: Story): string | null {
  const ladder = ladderOf(limits, story)
  return ladder[Math.min(records[story.id]?.rung ?? 0, ladder.length - 1)] ?? null
}

/** How far up a story is after a failure: a red gate, and the agent's word that it is stuck, are answered by a stronger model. */
export function climb(
  rung: number | undefined,
  { kind }: Pick<Failure, 'kind'>,
  ladder: readonly string[],
): { rung?: number } {
  const isTop = (rung ?? 0) >= ladder.length - 1
  if (isTop || (kind !== 'gates' && kind !== 'stuck')) return {}
  return { rung: (rung ?? 0) + 1 }
}
