// Which examples a story has, and whether they have to be written or tried. Pure.

import type { Attempt } from '../model/attempt.ts'
import { type Example, isSameJson, MAX_EXAMPLES } from '../model/example.ts'
import type { Story } from '../model/feature.ts'
import type { Limits } from '../model/limit-types.ts'
import type { State, StoryRecord } from '../model/state.ts'
import { criteriaDigest } from '../planning/proposed-plan.ts'
import { examplesInCriteria } from './from-criteria.ts'

/** Sessions without a usable answer, before the story is worked on without their examples. */
const MAX_FAILED = 2
/** From this mismatch of a story on, the next session sees what was expected. */
export const SHOWN_FROM = 3

type Seen = Pick<State, 'prd' | 'records'>

/** The examples of a story that belong to one of its criteria. */
export function examplesOf({ acceptanceCriteria, examples = [] }: Story): Example[] {
  return examples.filter(({ criterion }) => criterion <= acceptanceCriteria.length)
}

/** People's examples, those of earlier sessions for the same criteria, and those that criteria state themselves. */
export function knownExamples(story: Story, record: StoryRecord | undefined): Example[] {
  const isCurrent = record?.examples?.written === criteriaDigest(story)
  const kept = examplesOf(story).filter(({ from }) => from === undefined || (from === 'session' && isCurrent))
  const covered = new Set(kept.map(({ criterion }) => criterion))
  const stated = examplesInCriteria(story.acceptanceCriteria)
  return [...kept, ...stated.filter(({ criterion }) => !covered.has(criterion))].slice(0, MAX_EXAMPLES)
}

/** The criteria of a story, 1-based, without any of these examples. */
export function uncoveredCriteria(story: Story, examples: readonly Pick<Example, 'criterion'>[]): number[] {
  const covered = new Set(examples.map(({ criterion }) => criterion))
  return story.acceptanceCriteria.map((_, index) => index + 1).filter((number) => !covered.has(number))
}

/** Whether a session has to write examples before the next attempt at the story. */
export function needsExamples({ records }: Seen, story: Story, { sealsExamples }: Limits): boolean {
  if (sealsExamples !== true) return false
  const { written = '', failed = 0 } = records[story.id]?.examples ?? {}
  return written !== criteriaDigest(story) && failed < MAX_FAILED
}

/** Whether the attempt's candidate has to be tried with the story's examples. */
export function needsTrial(
  { storyId, ...attempt }: Pick<Attempt, 'storyId'> & { tried?: unknown },
  { prd }: Pick<Seen, 'prd'>,
  { sealsExamples }: Limits,
): boolean {
  if (sealsExamples !== true || attempt.tried !== undefined) return false
  const story = prd.userStories.find(({ id }) => id === storyId)
  return story !== undefined && examplesOf(story).length > 0
}

/** The first two examples that give the same and expect different values, in words; null without any. */
export function findContradiction(
  examples: readonly { criterion: number; given: unknown; expect: unknown }[],
): string | null {
  for (const [at, one] of examples.entries()) {
    const other = examples
      .slice(0, at)
      .find(
        ({ criterion, given, expect }) =>
          criterion === one.criterion && isSameJson(given, one.given) && !isSameJson(expect, one.expect),
      )
    if (other !== undefined)
      return `criterion ${one.criterion}: two examples give the same input, but expect different values`
  }
  return null
}
