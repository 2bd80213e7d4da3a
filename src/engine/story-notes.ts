// A story's notes are people's; Ralph's own word on it stands behind theirs. Pure.
import type { Story } from './model/feature.ts'
import type { State, StoryRecord } from './model/state.ts'
import { oneLine } from './model/text.ts'
import { withoutReopened } from './prd/merge-edits.ts'

type Noted = Pick<StoryRecord, 'note'> | undefined

export function peopleNotes(story: Story, record: Noted): string {
  const note = record?.note ?? ''
  const at = note === '' ? -1 : story.notes.lastIndexOf(note)
  const theirs = at < 0 ? story.notes : story.notes.slice(0, at) + story.notes.slice(at + note.length)
  return withoutReopened(theirs).trim()
}

export function hasNote({ records }: Pick<State, 'records'>, storyId: string): boolean {
  return (records[storyId]?.note ?? '') !== ''
}

/** The notes with Ralph's newest word in the place of its last one. */
export function notesWith(story: Story, record: Noted, note: string): string {
  return [peopleNotes(story, record), note].filter((text) => text !== '').join('\n')
}

/** How Ralph's word on a story names the command, whose prefix differs where notes are read. */
export const TRY_AGAIN = 'The command retry'

/** An entry for a prompt: when it was ended helps nobody there, and what was learned stands there already. */
export function shortenEntry(entry: string): string {
  const isShown = (line: string) =>
    line !== '' && line !== '---' && !/^\*\*(?:Completed|Learning):\*\*/.test(line)
  return entry.split('\n').filter(isShown).join('\n')
}

/** One iteration as progress.txt tells it. `completedAt` is ISO 8601. */
export type ProgressEntry = {
  iteration: number
  storyId: string
  title: string
  status: 'PASSED' | 'FAILED' | 'SKIPPED' | 'RETURNED' | 'RESET'
  completedAt: string
  /** What the agent wrote of its work; left out where it wrote nothing. */
  done?: string
  learning: string
  next: string
}

/** How a new progress.txt begins; entries are appended to it. `startedAt` is ISO 8601. */
export function progressHeader(prd: { project: string }, branch: string, startedAt: string): string {
  return `# Ralph Progress Log
# Project: ${value(prd.project)}
# Feature: ${value(branch)}
# Started: ${value(startedAt)}

---
`
}

/** An entry to append. Every text of it is one line, so that none can pass itself off as a heading or a status. */
export function progressEntry(entry: ProgressEntry): string {
  return `
## Iteration ${entry.iteration} - ${value(entry.storyId)}: ${value(entry.title)}
**Status:** ${entry.status}
**Completed:** ${value(entry.completedAt)}
${entry.done === undefined || oneLine(entry.done) === '' ? '' : `${DONE} ${quoteAgent(value(entry.done))}\n`}**Learning:** ${value(entry.learning, 600)}
**Note for next:** ${value(entry.next)}

---
`
}

const DONE = '**What was done:**'

/** An entry for a prompt: what the code shows is not written there again. */
export function withoutDoneLine(entry: string): string {
  const lines = entry.split('\n')
  return lines.filter((line) => !line.startsWith(DONE)).join('\n')
}

/** Marks a text as the agent's own: no gate and no person has looked at it. */
export function quoteAgent(text: string): string {
  return `in the agent's words: ${oneLine(text)}`
}

function value(text: string, max = 300): string {
  return oneLine(text, max) || '-'
}

const MOST = 50

/** The learnings with new ones; one that says the same as before is said anew, so that it counts as the newest. */
export function withLearnings(known: readonly string[], fresh: readonly string[]): string[] {
  const all = new Map<string, string>()
  for (const learning of [...known, ...fresh]) {
    const key = sameLearning(learning)
    if (key === '') continue
    all.delete(key)
    all.set(key, learning)
  }
  return [...all.values()].slice(-MOST)
}

/** A learning without what does not change its meaning: the same text is the same learning. */
export function sameLearning(learning: string): string {
  return (learning.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []).join(' ')
}
