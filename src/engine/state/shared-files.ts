// Which stories may be in progress together: none that are known to change the same file. Pure.

import type { Story } from '../model/feature.ts'
import type { State, StoryRecord } from '../model/state.ts'
import { coveringPaths, PathMap, plannedPaths } from '../prd/touches.ts'

type Known = Pick<State, 'prd' | 'records'>

/** A test for the stories that may begin while the stories of `beside` are in progress. */
export function canBeginBeside(state: Known, beside: readonly Story[]): (story: Story) => boolean {
  if (beside.length === 0) return () => true
  const { records } = state
  const expected = expectedPathsIn(state)
  const taken = new PathMap<true>()
  for (const path of beside.flatMap(expected)) taken.add(path, true)
  const conflicts = (one: Story, other: Story) => records[one.id]?.conflicts?.includes(other.id) === true
  return (story) =>
    beside.every((other) => story.id !== other.id && !conflicts(story, other) && !conflicts(other, story)) &&
    !expected(story).some((path) => taken.overlapping(path).length > 0)
}

/**
 * The paths that a story is expected to change: those of the plan, and those that its own attempts changed in addition. It also has those
 * that stories with overlapping planned paths changed in addition.
 */
function expectedPathsIn({ prd, records }: Known): (story: Story) => string[] {
  const lessons = new PathMap<readonly string[]>()
  for (const story of prd.userStories) {
    const touched = records[story.id]?.touched
    if (touched !== undefined) for (const path of plannedPaths(story)) lessons.add(path, touched)
  }
  return (story) => {
    const planned = plannedPaths(story)
    const learned = new Set(planned.flatMap((path) => lessons.overlapping(path)))
    return [...planned, ...(records[story.id]?.touched ?? []), ...[...learned].flat()]
  }
}

/** The record of a story after an attempt that changed these files. What the plan names already is not kept. */
export function withTouched(record: StoryRecord, story: Story, paths: readonly string[]): StoryRecord {
  const planned = new PathMap<true>()
  for (const path of plannedPaths(story)) planned.add(path, true)
  const others = paths.filter((path) => planned.covering(path).length === 0)
  return others.length === 0
    ? record
    : { ...record, touched: coveringPaths([...(record.touched ?? []), ...others]) }
}
