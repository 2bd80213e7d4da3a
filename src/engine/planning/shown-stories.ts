// What is approved is what is shown: a text that is too long to be shown is cut before a person approves it. Pure.
import type { Prd, Story } from '../model/feature.ts'
import type { Plan } from '../model/plan-state.ts'
import { oneLine } from '../model/text.ts'

/** In UTF-16 units, for a description or one criterion: long, since a person should approve what is shown in whole. */
export const MAX_PLANNED_LENGTH = 4000
/** Room for the sentence on what is hidden. */
const NOTE_LENGTH = 150

/** The stories as a person sees them. A longer text ends with a sentence on how much of it was left out. */
export function asShown(stories: readonly Story[]): Story[] {
  return stories.map((story) => {
    const { description, notes, acceptanceCriteria } = story
    // An unchanged story stays the same object, so that memoized writing and redaction skip it.
    return [description, notes, ...acceptanceCriteria].every((text) => text.length <= MAX_PLANNED_LENGTH)
      ? story
      : {
          ...story,
          description: cut(description),
          notes: cut(notes),
          acceptanceCriteria: acceptanceCriteria.map(cut),
        }
  })
}

/** What people wrote into prd.json, cut to what is shown if a person approves this plan. */
export function withEditsAsShown(prd: Prd, plan: Plan | undefined): Prd {
  const isForPerson = plan?.phase === 'proposed' || (plan?.phase === 'approved' && plan.shownAt !== null)
  return isForPerson ? { ...prd, userStories: asShown(prd.userStories) } : prd
}

/** How much of a stored text is not shown, since documents of the repository are never cut. Empty if all of it is shown. */
export function hiddenPart(text: string): string {
  const hidden = text.length > MAX_PLANNED_LENGTH ? oneLine(text, MAX_TEXT).length - MAX_PLANNED_LENGTH : 0
  return hidden > 0 ? ` (${hidden} more characters are in prd.json, and the approval covers them)` : ''
}

const MAX_TEXT = 1_000_000

function cut(text: string): string {
  if (text.length <= MAX_PLANNED_LENGTH) return text
  const kept = text.slice(0, MAX_PLANNED_LENGTH - NOTE_LENGTH).replace(/[\ud800-\udbff]$/, '')
  const hidden = text.length - kept.length
  return `${kept}\n\n(Cut here: ${hidden} more characters are not part of this story, because an approval covers only what is shown.)`
}
