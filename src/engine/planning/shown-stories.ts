// What is approved is what is shown: a text that is too long to be shown is cut before a person approves it. Pure.
import type { Story } from '../model/feature.ts'

/** In UTF-16 units, for a description or one criterion: long, since a person should approve what is shown in whole. */
export const MAX_PLANNED_LENGTH = 4000
/** Room for the sentence on what is hidden. */
const NOTE_LENGTH = 150

/** The stories as a person sees them. A longer text ends with a sentence on how much of it was left out. */
export function asShown(stories: readonly Story[]): Story[] {
  return stories.map((story) => ({
    ...story,
    description: cut(story.description),
    notes: cut(story.notes),
    acceptanceCriteria: story.acceptanceCriteria.map(cut),
  }))
}

function cut(text: string): string {
  if (text.length <= MAX_PLANNED_LENGTH) return text
  const kept = text.slice(0, MAX_PLANNED_LENGTH - NOTE_LENGTH).replace(/[\ud800-\udbff]$/, '')
  const hidden = text.length - kept.length
  return `${kept}\n\n(Cut here: ${hidden} more characters are not part of this story, because an approval covers only what is shown.)`
}
