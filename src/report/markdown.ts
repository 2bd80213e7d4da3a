// The sticky comment and the job summary: how it stands, what to do next, and the rest for those who ask.
import type { Mistake } from '../system/errors.ts'
import { characters, fitted, folded, section, stacked, utf8Bytes } from './blocks.ts'
import { codeBlock } from './escape.ts'
import { evidenceBlock } from './evidence.ts'
import { dependencyGraph } from './graph.ts'
import {
  blockedList,
  footer,
  heading,
  lastFailure,
  marker,
  nextBlock,
  notesList,
  progressBar,
  spending,
  storyTable,
  timelineTable,
} from './parts.ts'
import { planBlock } from './plan.ts'
import { commandTable, mistakeList } from './replies.ts'
import type { View } from './view.ts'

/** UTF-16 units that a comment or a pull request's text may have (GitHub takes 65,536). */
export const MOST_CHARACTERS = 65_000
/** Bytes of a job summary; above 1 MiB the runner drops all of it. */
export const MOST_SUMMARY_BYTES = 900_000

/** The one comment of a feature, at most 65,000 characters however many stories there are. */
export function stickyComment(view: View): string {
  const render = (room: number) => {
    // Where it gets narrow, the graph and the output go before the stories do.
    const isRich = room >= 30_000
    return stacked([
      `${marker('sticky', view.feature)}\n${heading(view, 3)}`,
      progressBar(view),
      nextBlock(view),
      blockedList(view),
      errorBlock(view),
      notesList(view),
      planBlock(view, Math.floor(room * 0.4)),
      storyTable(view, Math.floor(room * 0.5)),
      isRich ? graphBlock(view) : '',
      spending(view),
      isRich ? lastFailure(view, 8000) : '',
      folded('What you can type', commandTable()),
      footer(view),
    ])
  }
  return fitted(render, MOST_CHARACTERS, characters)
}

/** The summary of a job's page: the same, and every iteration. At most 900,000 bytes. */
export function jobSummary(view: View): string {
  const render = (room: number) =>
    stacked([
      heading(view, 2),
      progressBar(view),
      nextBlock(view),
      blockedList(view),
      errorBlock(view),
      notesList(view),
      planBlock(view, Math.floor(room / 3)),
      storyTable(view, Math.floor(room / 3)),
      graphBlock(view),
      spending(view),
      evidenceBlock(view, Math.floor(room / 4)),
      section('Iterations', timelineTable(view)),
      lastFailure(view, 30_000),
      footer(view),
    ])
  return fitted(render, MOST_SUMMARY_BYTES, utf8Bytes)
}

/** The summary of a job that could not begin: each mistake with its mend, or what went wrong. */
export function errorSummary(mistakes: readonly Mistake[], message: string): string {
  const items = mistakeList(mistakes.slice(0, 50))
  return stacked(['## ❌ Error: Ralph could not work', items || codeBlock(message, 6000)])
}

/** It stands open where it can be taken in at a glance, as long as something is still to come. */
function graphBlock({ stories, outcome }: View): string {
  const isOpen = stories.length <= 12 && outcome !== 'complete'
  return folded('What depends on what', dependencyGraph(stories) ?? '', isOpen)
}

function errorBlock({ error }: View): string {
  return error === null ? '' : folded('What was seen', codeBlock(error, 6000))
}
