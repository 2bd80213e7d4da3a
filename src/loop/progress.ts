// progress.txt: the append-only log of a feature, in the format of BMAD Ralph.
import { oneLine } from '../model/text.ts'

/** One iteration as progress.txt tells it. `completedAt` is ISO 8601. */
export type ProgressEntry = {
  iteration: number
  storyId: string
  title: string
  status: 'PASSED' | 'FAILED' | 'SKIPPED' | 'RETURNED' | 'RESET'
  completedAt: string
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
**Learning:** ${value(entry.learning, 600)}
**Note for next:** ${value(entry.next)}

---
`
}

function value(text: string, max = 300): string {
  return oneLine(text, max) || '-'
}
