// A story's notes: those of people, then Ralph's own note. And the entries of progress.txt. Pure.
import type { Story } from '../model/feature.ts'
import type { State, StoryRecord } from '../model/state.ts'
import { oneLine } from '../model/text.ts'
import { withoutReopenedNote } from '../prd/merge-edits.ts'

type Noted = Pick<StoryRecord, 'note'> | undefined

export function peopleNotes(story: Story, record: Noted): string {
  const note = record?.note ?? ''
  const at = note === '' ? -1 : story.notes.lastIndexOf(note)
  const others = at < 0 ? story.notes : story.notes.slice(0, at) + story.notes.slice(at + note.length)
  return withoutReopenedNote(others).trim()
}

export function hasNote({ records }: Pick<State, 'records'>, storyId: string): boolean {
  return (records[storyId]?.note ?? '') !== ''
}

/** The notes with Ralph's new note instead of its last one. */
export function notesWith(story: Story, record: Noted, note: string): string {
  return [peopleNotes(story, record), note].filter((text) => text !== '').join('\n')
}

/** How a note names the command `retry`, whose prefix differs between a comment and a command line. */
export const TRY_AGAIN = 'The command retry'

/** An entry for a prompt, without its end time, and without the learning, which the prompt holds elsewhere. */
export function shortenEntry(entry: string): string {
  const isShown = (line: string) =>
    line !== '' && line !== '---' && !/^\*\*(?:Completed|Learning):\*\*/.test(line)
  return entry.split('\n').filter(isShown).join('\n')
}

/** An iteration in progress.txt. `completedAt` is ISO 8601. */
export type ProgressEntry = {
  iteration: number
  storyId: string
  title: string
  status: 'PASSED' | 'FAILED' | 'SKIPPED' | 'RETURNED' | 'RESET'
  completedAt: string
  /** What the agent wrote of its work; left out if it wrote nothing. */
  done?: string
  learning: string
  next: string
}

/** The beginning of a new progress.txt; entries are appended to it. `startedAt` is ISO 8601. */
export function progressHeader(prd: { project: string }, branch: string, startedAt: string): string {
  return `# Ralph Progress Log
# Project: ${value(prd.project)}
# Feature: ${value(branch)}
# Started: ${value(startedAt)}

---
`
}

/** An entry to append. Each text in it is put on one line, so that none can pose as a heading or a status. */
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

/** An entry for a prompt, without the line on what was done, which the code shows. */
export function withoutDoneLine(entry: string): string {
  const lines = entry.split('\n')
  return lines.filter((line) => !line.startsWith(DONE)).join('\n')
}

/** Marks a text as the agent's own, which no gate and no person has checked. */
export function quoteAgent(text: string): string {
  return `in the agent's words: ${oneLine(text)}`
}

function value(text: string, max = 300): string {
  return oneLine(text, max) || '-'
}

const MAX_LEARNINGS = 50

/** Adds new learnings; one that repeats an earlier one replaces it, and counts as the newest. */
export function withLearnings(known: readonly string[], fresh: readonly string[]): string[] {
  const all = new Map<string, string>()
  for (const learning of [...known, ...fresh]) {
    const key = learningKey(learning)
    if (key === '') continue
    all.delete(key)
    all.set(key, learning)
  }
  return [...all.values()].slice(-MAX_LEARNINGS)
}

/** A key for a learning, by its words alone: learnings with the same key are the same. */
export function learningKey(learning: string): string {
  return (learning.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []).join(' ')
}
