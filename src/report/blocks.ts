// Markdown from data: the few blocks that every report on GitHub is made of. Arguments are Markdown, so callers escape first.
import { link } from './escape.ts'
import { pluralize, shortCommit } from './figures.ts'
import { type Columns, toMarkdown } from './sentence.ts'

/** A Markdown table; empty without items. */
export function table<T>(columns: Columns<T>, items: readonly T[]): string {
  if (items.length === 0) return ''
  const head = columns.map(([name]) => name)
  const line = columns.map(([, kind]) => (kind === 'figure' ? '--:' : ':--'))
  const rows = items.map((item) =>
    columns.map(([, kind, cell]) => {
      const shown = cell(item)
      const text = toMarkdown([typeof shown === 'number' ? String(shown) : shown])
      return kind === 'text' ? text : text.replaceAll(' ', '&nbsp;')
    }),
  )
  return [head, line, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** A Markdown list; empty without items. */
export function list(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n')
}

/** A heading and its body; empty without a body. */
export function section(title: string, body: string): string {
  return body === '' ? '' : `#### ${title}\n\n${body}`
}

/** A `<details>` block; empty without a body. */
export function collapsible(title: string, body: string, open = false): string {
  if (body === '') return ''
  return `<details${open ? ' open' : ''}><summary>${title}</summary>\n\n${body}\n\n</details>`
}

/** A linked short commit id; empty without a commit. */
export function commitLink(commit: string | null, repository: string): string {
  const short = shortCommit(commit)
  return short === '' ? '' : link(`\`${short}\``, `${repository}/commit/${commit}`)
}

/** The blocks below each other, without the empty ones. */
export function joinBlocks(blocks: readonly string[]): string {
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}

/** The first whole lines that fit into `room` characters, then a line with the number of lines that were cut. */
export function truncateLines(text: string, room: number): string {
  if (text.length <= room) return text
  const end = text.lastIndexOf('\n', Math.max(0, room - 40))
  const shown = end <= 0 ? '' : text.slice(0, end)
  return `${shown}\n\n… and ${pluralize(text.slice(shown.length).trim().split('\n').length, 'line')} more`
}

/** The first result of `render` with a measure of at most `most`: `render` is called with less room until it fits. */
export function fitToLimit(
  render: (room: number) => string,
  most: number,
  measure: (text: string) => number,
): string {
  let room = most
  for (let round = 0; round < 12; round += 1) {
    const text = render(room)
    const size = measure(text)
    if (size <= most) return text
    room = Math.floor(Math.min(room * 0.8, room * (most / size)))
  }
  // No report of Ralph needs this. A report that is cut is still better than one that GitHub refuses.
  return render(0).slice(0, Math.floor(most / 4))
}

export function characterCount(text: string): number {
  return text.length
}
