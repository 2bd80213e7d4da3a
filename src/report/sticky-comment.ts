// The sticky comment and the job summary: status, what to do next, and collapsed details.

import { formatCommandLine } from '../engine/commands/command-table.ts'
import type { Story } from '../engine/model/feature.ts'
import { hiddenPart, MAX_PLANNED_LENGTH } from '../engine/planning/shown-stories.ts'
import { utf8Bytes } from '../system/excerpt.ts'
import { characterCount, collapsible, fitToLimit, joinBlocks, list, section, table } from './blocks.ts'
import { code, codeBlock, markdownText, mermaidText } from './escape.ts'
import { pluralize } from './figures.ts'
import { findingsBlock } from './findings.ts'
import { STORY_STATUSES } from './outcomes.ts'
import {
  evidenceBlock,
  footer,
  heading,
  ITERATIONS,
  lanesBlock,
  lastFailure,
  marker,
  nextBlock,
  progressBar,
  sentenceList,
  spendingBlock,
  storyIdMarkdown,
  storyTable,
} from './parts.ts'
import { commandTable } from './replies.ts'
import { dependenciesOf, type StoryView } from './stories.ts'
import { describePlacement, type PlanView, storyTexts, type View } from './view.ts'

/** UTF-16 units that a comment or a pull request's text may have (GitHub takes 65,536). */
export const MAX_CHARACTERS = 65_000
/** Bytes of a job summary; the runner drops the whole summary above 1 MiB. */
export const MAX_SUMMARY_BYTES = 900_000

/** The one comment of a feature, at most 65,000 characters however many stories there are. */
export function stickyComment(view: View): string {
  const render = (room: number) => {
    // When room is short, the graph and the output are left out before stories are.
    const isRich = room >= 30_000
    return joinBlocks([
      `${marker('sticky', view.feature)}\n${heading(view, 3)}`,
      ...openingBlocks(view),
      planBlock(view, Math.floor(room * 0.4)),
      storyTable(view, Math.floor(room * 0.5)),
      isRich ? graphBlock(view) : '',
      spendingBlock(view),
      evidenceBlock(view, Math.floor(room * 0.2)),
      isRich ? lastFailure(view, 8000) : '',
      collapsible('What you can type', commandTable()),
      footer(view),
    ])
  }
  return fitToLimit(render, MAX_CHARACTERS, characterCount)
}

/** The summary on a job's page: the same blocks, and every iteration. At most 900,000 bytes. */
export function jobSummary(view: View): string {
  const render = (room: number) =>
    joinBlocks([
      heading(view, 2),
      ...openingBlocks(view),
      planBlock(view, Math.floor(room / 3)),
      storyTable(view, Math.floor(room / 3)),
      graphBlock(view),
      spendingBlock(view),
      evidenceBlock(view, Math.floor(room / 4)),
      section('Iterations', table(ITERATIONS, view.timeline)),
      lastFailure(view, 30_000),
      footer(view),
    ])
  return fitToLimit(render, MAX_SUMMARY_BYTES, utf8Bytes)
}

/** The first blocks, which every reader should see. */
function openingBlocks(view: View): string[] {
  const errorOutput = view.error === null ? '' : collapsible('Output', codeBlock(view.error, 6000))
  const findingsText = findingsBlock(view.findings, view.links.checks)
  return [
    findingsText,
    progressBar(view),
    nextBlock(view),
    lanesBlock(view),
    sentenceList(view.blocked),
    errorOutput,
    sentenceList(view.notes),
  ]
}

/** Plans that wait for approval; empty without any. At most about `room` characters. */
function planBlock({ plans }: View, room: number): string {
  const waiting = plans.filter(({ phase }) => phase === 'proposed')
  return waiting.map((plan) => renderPlan(plan, room / waiting.length)).join('\n\n')
}

/** A plan's stories with their criteria, what the session had to assume, and the digest that an approval names. */
function renderPlan(plan: PlanView, room: number): string {
  const { storyId: split, stories, questions, digest, remarks, context } = plan
  const title = split === null ? 'The plan' : `${markdownText(split, 64)} in ${stories.length} parts`
  const questionList = list(questions.map((one) => markdownText(one, 300)))
  const answer = code(
    formatCommandLine('comment', `${split === null ? 'plan' : `split ${split}`} -- <answers>`),
  )
  // A story that is too large costs a session or two before it is blocked. Splitting it now is cheap.
  const sizes = remarks
    .slice(0, 10)
    .map((one) => `${storyIdMarkdown(one.storyId)} ${markdownText(one.remark, 300)}`)
  const sizeList = list(sizes)
  const background =
    context === '' ? '' : collapsible('context.md, which every session gets', codeBlock(context, room / 2))
  const blocks = [
    questionList === ''
      ? ''
      : `Open questions, and what the session assumed (answer with ${answer}):\n\n${questionList}`,
    sizeList === '' ? '' : `May be too large for one session:\n\n${sizeList}`,
    collapsible('Read the plan', plannedStories(stories, room - background.length), true),
    background,
    `<sub>An approval covers exactly this text (${code(digest)}). After an edit, Ralph asks for a new approval.</sub>`,
  ]
  return section(title, joinBlocks(blocks).trim())
}

function plannedStories(stories: readonly Story[], room: number): string {
  const items: string[] = []
  let left = room
  for (const story of stories) {
    const { id, title, acceptanceCriteria } = story
    const lines = [...storyTexts(story), describePlacement(story), ...acceptanceCriteria].map(
      (one) => `  - ${markdownText(one, MAX_PLANNED_LENGTH)}${hiddenPart(one)}`,
    )
    const item = [`${storyIdMarkdown(id)} ${markdownText(title, 1000)}`, ...lines].join('\n')
    left -= item.length
    if (left < 0) break
    items.push(item)
  }
  const more = stories.length - items.length
  return list(
    more > 0 ? [...items, `… and ${pluralize(more, 'more story', 'more stories')} in prd.json`] : items,
  )
}

/** The graph of dependencies: not collapsed while it is small and the run is not complete. */
function graphBlock({ stories, outcome }: View): string {
  const isOpen = stories.length <= 12 && outcome !== 'complete'
  return collapsible('What depends on what', dependencyGraph(stories) ?? '', isOpen)
}

const MAX_STORIES = 60
/** GitHub draws at most 500 edges; a graph of that many helps no reader. */
const MAX_EDGES = 200

/** The dependencies as a Mermaid diagram, coloured by status; null without dependencies, or with too many to draw. */
export function dependencyGraph(stories: readonly StoryView[]): string | null {
  if (stories.length > MAX_STORIES) return null
  const { edges, drawn } = dependenciesOf(stories)
  if (edges.length === 0 || edges.length > MAX_EDGES) return null
  const nodes = drawn.map(({ at, story: { id, title, status } }) => {
    const label = `${STORY_STATUSES[status].sign} ${mermaidText(id, 64)}<br/>${mermaidText(title, 48)}`
    // Node ids are never made of people's words: `end` would end the graph.
    return `  s${at}["${label}"]:::${status}`
  })
  const arrows = edges.map(({ from, to }) => `  s${from} --> s${to}`)
  const used = new Set(drawn.map(({ story }) => story.status))
  const classes = [...used].sort().map((status) => {
    const { fill, ink } = STORY_STATUSES[status]
    return `  classDef ${status} fill:${fill},stroke:${ink},color:${ink}`
  })
  return ['```mermaid', 'graph LR', ...nodes, ...arrows, ...classes, '```'].join('\n')
}
