// A story's notes are people's; Ralph's own word on it stands behind theirs. Pure.

import type { Story } from '../model/feature.ts'
import type { State, StoryRecord } from '../model/state.ts'
import { withoutReopened } from '../prd/merge.ts'

type Noted = Pick<StoryRecord, 'note'> | undefined

/** What people wrote there. */
export function peopleNotes(story: Story, record: Noted): string {
  const note = record?.note ?? ''
  const at = note === '' ? -1 : story.notes.lastIndexOf(note)
  const theirs = at < 0 ? story.notes : story.notes.slice(0, at) + story.notes.slice(at + note.length)
  return withoutReopened(theirs).trim()
}

/** Whether Ralph has put something there. */
export function isNoted({ records }: Pick<State, 'records'>, storyId: string): boolean {
  return (records[storyId]?.note ?? '') !== ''
}

/** The notes with Ralph's newest word in the place of its last one. */
export function notesWith(story: Story, record: Noted, note: string): string {
  return [peopleNotes(story, record), note].filter((text) => text !== '').join('\n')
}

/** How Ralph's word on a story names the command, whose prefix differs where notes are read. */
export const TRY_AGAIN = 'The command retry'
