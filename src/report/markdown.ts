// The sticky comment and the job summary: how it stands, what to do next, and the rest for those who ask.
import type { State } from '../model/state.ts'
import type { Mistake } from '../system/errors.ts'
import { bold, codeBlock, markdownText } from './escape.ts'
import { dependencyGraph } from './graph.ts'
import {
  blockedList,
  type Facts,
  folded,
  footer,
  headingOf,
  jobsTable,
  lastFailure,
  nextBlock,
  notesList,
  progressBar,
  spending,
  stacked,
  storyTable,
  timelineTable,
} from './parts.ts'
import { commandTable } from './replies.ts'
import { outcomeNow } from './words.ts'

/** Characters (UTF-16 units) that a comment or a pull request's text may have (facts/github-actions 5.1). */
export const MOST_CHARACTERS = 65_000
/** Bytes (UTF-8) of a job summary; above 1 MiB the runner drops all of it (facts/github-actions 1.5). */
export const MOST_SUMMARY_BYTES = 900_000

/** The first line of the sticky comment: found again by it and by its author, who must be us. */
export function stickyMarker(feature: string): string {
  return `<!-- ralph:sticky:${feature.replace(/[^\w.+-]/g, '-')} -->`
}

/** The one comment of a feature, at most 65,000 characters however many stories there are. */
export function stickyComment(state: State, facts: Facts): string {
  const graph = dependencyGraph(state)
  const blocks = (room: number, rich: boolean) => [
    `${stickyMarker(state.feature)}\n${headingOf(state, 3)}`,
    progressBar(state),
    nextBlock(state, facts),
    blockedList(state),
    errorBlock(state),
    notesList(facts),
    storyTable(state, facts, room),
    graph === null || !rich ? '' : folded('What depends on what', graph, graphOpen(state)),
    spending(state, facts),
    rich ? lastFailure(state, 8000) : '',
    folded('What you can type', commandTable()),
    footer(state, facts),
  ]
  return fitted(
    (room) => {
      // Where it gets narrow, the graph and the output go before the stories do.
      const rich = room >= 30_000
      return stacked(blocks(Math.floor(room * 0.6), rich))
    },
    MOST_CHARACTERS,
    (text) => text.length,
  )
}

/** The summary of a job's page: the same, and every iteration. At most 900,000 bytes. */
export function jobSummary(state: State, facts: Facts): string {
  const graph = dependencyGraph(state)
  const timeline = timelineTable(state)
  const jobs = jobsTable(state)
  return fitted(
    (room) =>
      stacked([
        headingOf(state, 2),
        progressBar(state),
        nextBlock(state, facts),
        blockedList(state),
        errorBlock(state),
        notesList(facts),
        storyTable(state, facts, Math.floor(room / 3)),
        graph === null ? '' : folded('What depends on what', graph, graphOpen(state)),
        spending(state, facts),
        timeline === '' ? '' : `#### Iterations\n\n${timeline}`,
        jobs === '' ? '' : `#### Jobs\n\n${jobs}`,
        lastFailure(state, 30_000),
        footer(state, facts),
      ]),
    MOST_SUMMARY_BYTES,
    utf8Bytes,
  )
}

/** The summary of a job that could not begin: each mistake with its mend, or what went wrong. */
export function errorSummary(mistakes: readonly Mistake[], message: string): string {
  const told = mistakes
    .slice(0, 50)
    .map(
      ({ path, found, expected, fix }) =>
        `- ${bold(markdownText(path, 300))}: found ${markdownText(found, 2000)}, expected ${markdownText(expected, 1000)}\n  - **Fix:** ${markdownText(fix, 2000)}`,
    )
  return stacked([
    '## ❌ Error: Ralph could not work',
    told.length > 0 ? told.join('\n') : codeBlock(message, 6000),
  ])
}

/** A graph that can be taken in at a glance stands open, as long as something is still to come. */
function graphOpen(state: State): boolean {
  return state.prd.userStories.length <= 12 && outcomeNow(state) !== 'complete'
}

/** What ended the job with an error, where there is more to tell than one line. */
function errorBlock(state: State): string {
  const { conclusion, error } = state.job
  if (conclusion?.outcome !== 'error' || error === null || !error.fix.trim().includes('\n')) return ''
  return folded('What was seen', codeBlock(error.fix, 6000))
}

/** What `render` makes with as much room as fits into `most` by the measure; it gets less until it fits. */
export function fitted(
  render: (room: number) => string,
  most: number,
  measure: (text: string) => number,
): string {
  let room = most
  for (let turn = 0; turn < 12; turn += 1) {
    const text = render(room)
    const size = measure(text)
    if (size <= most) return text
    room = Math.floor(Math.min(room * 0.8, room * (most / size)))
  }
  // Never reached with texts of ours; a cut report is still better than a refused one.
  return render(0).slice(0, Math.floor(most / 4))
}

/** Bytes of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length
}
