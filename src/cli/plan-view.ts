// A plan as lines of a terminal: its sources, its stories, and how it differs from the existing one. Pure.

import { formatCommandLine } from '../engine/commands/command-table.ts'
import type { Prd, Story } from '../engine/model/feature.ts'
import { hiddenPart, MAX_PLANNED_LENGTH } from '../engine/planning/shown-stories.ts'
import type { DocumentUse, Source } from '../plan/types.ts'
import { terminalText } from '../report/escape.ts'
import { pluralize } from '../report/figures.ts'
import { fit, wrap } from '../report/terminal/width.ts'
import { describePlacement, type PlanView, storyTexts } from '../report/view.ts'

/** The maximum number of rows of a list that are shown. */
const MAX_ROWS = 60

/** One row for each file: the line of its first story, its format, its stories. `width`: columns. */
export function sourceLines(sources: readonly Source[], width: number): string[] {
  const groups = new Map<string, Source[]>()
  for (const source of sources) {
    const key = `${source.path}\0${source.format}`
    groups.set(key, [...(groups.get(key) ?? []), source])
  }
  return firstRows([...groups.values()]).flatMap((sourcesOfFile) => {
    const { path, format } = sourcesOfFile[0] ?? { path: '', format: '' }
    const line = Math.min(...sourcesOfFile.map((source) => source.line))
    const ids = sourcesOfFile.map(({ storyId }) => storyId)
    const stories = `${pluralize(ids.length, 'story', 'stories')}: ${listIds(ids)}`
    return wrapHanging(`${terminalText(path)}:${line}  ${terminalText(format)}  ${stories}`, '  ', width)
  })
}

/** The maximum number of documents that are listed. The others are counted. */
const MAX_TAKEN = 12

/** A row for each document: what it was read as, and how many of its check boxes are not stories. */
export function takenLines(taken: readonly DocumentUse[], width: number): string[] {
  const rows = taken.slice(0, MAX_TAKEN).flatMap(({ path, what, boxes }) => {
    const words =
      boxes === 0 ? what : `${what}; ${pluralize(boxes, 'check box', 'check boxes')} not read as stories`
    return wrapHanging(`${terminalText(path)}  ${terminalText(words)}`, '  ', width)
  })
  const more = taken.length - MAX_TAKEN
  return more > 0 ? [...rows, `  and ${more} more: --json has all of them`] : rows
}

/** The stories, each with its remarks. */
export function storyLines(prd: Prd, remarks: PlanView['remarks'], width: number): string[] {
  const idColumns = Math.max(0, ...prd.userStories.map(({ id }) => id.length))
  const rows = firstRows(prd.userStories)
  const lines = rows.flatMap((story) => {
    const head = `  ${story.passes ? '[x]' : '[ ]'} ${story.id.padEnd(Math.min(idColumns, 20))}  `
    const done =
      story.lastResult?.imported === true
        ? 'done before: imported, and no gate has checked it'
        : 'passed its gates'
    const facts = [
      pluralize(story.acceptanceCriteria.length, 'criterion', 'criteria'),
      ...(story.dependsOn.length > 0 ? [`after ${listIds(story.dependsOn)}`] : []),
      ...(story.passes ? [done] : []),
    ]
    const remarksOfStory = remarks.filter(({ storyId }) => storyId === story.id).map(({ remark }) => remark)
    return [
      fit(`${head}${terminalText(story.title)}`, width),
      ...wrapHanging(facts.join(', '), ' '.repeat(8), width),
      ...remarksOfStory.flatMap((remark) => wrapHanging(`! ${terminalText(remark)}`, ' '.repeat(8), width)),
    ]
  })
  const more = prd.userStories.length - rows.length
  return more > 0 ? [...lines, `  and ${more} more, all of them in prd.md`] : lines
}

/** A plan or a split that waits for approval: everything that a person should read, and the command that approves exactly this text. */
export function proposedPlanLines(plan: PlanView, width: number): string[] {
  const { storyId, digest, stories, questions, remarks, context } = plan
  const title =
    storyId === null
      ? `The plan is waiting for approval: ${pluralize(stories.length, 'story', 'stories')}`
      : `${terminalText(storyId, 64)} is proposed in ${pluralize(stories.length, 'part')}`
  const storyRows = firstRows(stories).flatMap((story) => {
    const head = `${terminalText(story.id, 64)}  ${terminalText(story.title, 1000)}`
    const texts = [...storyTexts(story), describePlacement(story)]
    return [
      ...wrapHanging(head, '  ', width),
      ...texts.flatMap((text) =>
        wrapHanging(`${terminalText(text, MAX_PLANNED_LENGTH)}${hiddenPart(text)}`, '    ', width),
      ),
      ...story.acceptanceCriteria.flatMap((criterion) =>
        wrapHanging(
          `- ${terminalText(criterion, MAX_PLANNED_LENGTH)}${hiddenPart(criterion)}`,
          '    ',
          width,
        ),
      ),
    ]
  })
  const more = stories.length - firstRows(stories).length
  const section = (head: string, rows: readonly string[]) => (rows.length === 0 ? [] : ['', head, ...rows])
  const questionRows = questions.flatMap((question) =>
    wrapHanging(`? ${terminalText(question)}`, '  ', width),
  )
  const remarkRows = firstRows(remarks).flatMap((planRemark) =>
    wrapHanging(`! ${terminalText(`${planRemark.storyId}: ${planRemark.remark}`)}`, '  ', width),
  )
  const howToAnswer =
    storyId === null
      ? 'To answer: /ralph plan -- <answers>, as a comment on its pull request'
      : `To answer: ${formatCommandLine('cli', `split ${storyId} -- <answers>`)}`
  const approval = ['approve-plan', storyId, digest].filter((word) => word !== null).join(' ')
  return [
    ...wrapHanging(title, '', width),
    ...storyRows,
    ...(more > 0 ? wrapHanging(`and ${more} more: ralph status --json has all of them`, '  ', width) : []),
    ...section('Open questions, with assumed answers:', questionRows),
    ...(questionRows.length === 0 ? [] : wrapHanging(terminalText(howToAnswer), '  ', width)),
    ...section('May be too large for one session:', remarkRows),
    ...section(`${CONTEXT_TITLE}:`, textLines(context, width)),
    ...section(
      'To approve exactly this text:',
      wrapHanging(terminalText(formatCommandLine('cli', approval)), '  ', width),
    ),
  ]
}

/** The heading above context.md, wherever a terminal shows a plan. */
export const CONTEXT_TITLE = 'context.md, which every session gets'

/** All lines of a text, wrapped and indented. */
export function textLines(text: string, width: number): string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.flatMap((line) => wrapHanging(terminalText(line, MAX_PLANNED_LENGTH), '  ', width))
}

/** `US-001, US-002, US-003`, or `US-001, US-002 ... US-042` if there are more. */
function listIds(ids: readonly string[]): string {
  if (ids.length <= 3) return ids.join(', ')
  return `${ids.slice(0, 2).join(', ')} ... ${ids.at(-1)}`
}

/** The differences between the existing stories and the plan's; empty if there are none. */
export function differenceLines(before: Prd, after: Prd, width: number): string[] {
  const storiesBefore = new Map(before.userStories.map((story) => [story.id, story]))
  const idsAfter = new Set(after.userStories.map(({ id }) => id))
  const lineOf = (sign: string, { id, title }: Story) => `${sign} ${id}  ${terminalText(title)}`
  const lines = after.userStories.flatMap((story) => {
    const previous = storiesBefore.get(story.id)
    if (previous === undefined) return [lineOf('+', story)]
    return JSON.stringify(previous) === JSON.stringify(story) ? [] : [lineOf('~', story)]
  })
  const removed = before.userStories.filter(({ id }) => !idsAfter.has(id)).map((story) => lineOf('-', story))
  return firstRows([...lines, ...removed]).map((line) => fit(`  ${line}`, width))
}

function firstRows<T>(rows: readonly T[]): T[] {
  return rows.slice(0, MAX_ROWS)
}

/** Wraps a text below its row. After a mark such as `- ` further lines are indented to the text. */
export function wrapHanging(text: string, indent: string, width: number): string[] {
  const mark = /^[-!?] /.test(text) ? '  ' : ''
  const [first = '', ...rest] = wrap(text, width - indent.length - mark.length)
  return [indent + first, ...rest.map((line) => indent + mark + line)]
}
