// How a story passed, as prd.json keeps it. Pure.
import type { Story } from '../model/feature.ts'

/** How a story passed whose session had nothing to change. */
export const UNCHANGED = "without a change, by a judge's word"

/** How a story passed that no blocking gate runs for. */
export const UNGATED = 'without a gate'

/** Whether no gate saw the change that the story passed with. */
export function passedUngated({ passes, lastResult }: Story): boolean {
  return passes && lastResult?.imported !== true && lastResult?.summary === UNGATED
}

/** Whether a judge's word, and no change that gates could see, passed the story in this run. */
export function passedUnchanged(story: Story): boolean {
  const { passes, lastResult } = story
  return passes && lastResult?.imported !== true && lastResult?.summary === UNCHANGED
}
