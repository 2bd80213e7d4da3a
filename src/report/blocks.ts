// Markdown from data: the few blocks that every report on GitHub is made of. Their arguments are markdown already: callers escape.
import { link } from './escape.ts'
import { pluralize, shortCommit } from './figures.ts'
import { type Columns, toMarkdown } from './sentence.ts'

/** Empty without items. */
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

/** Empty without items. */
export function list(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n')
}

/** Empty without a body. */
export function section(title: string, body: string): string {
  return body === '' ? '' : `#### ${title}\n\n${body}`
}

/** Empty without a body. */
export function collapsible(title: string, body: string, open = false): string {
  if (body === '') return ''
  return `<details${open ? ' open' : ''}><summary>${title}</summary>\n\n${body}\n\n</details>`
}

/** A linked short commit id, or nothing where there is none. */
export function commitLink(commit: string | null, repository: string): string {
  const short = shortCommit(commit)
  return short === '' ? '' : link(`\`${short}\``, `${repository}/commit/${commit}`)
}

/** The blocks one below the other; those that are empty are left out. */
export function joinBlocks(blocks: readonly string[]): string {
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}

/** Whole lines from the start, in at most `room` characters, with a last line that says when some are missing. */
export function truncateLines(text: string, room: number): string {
  if (text.length <= room) return text
  const end = text.lastIndexOf('\n', Math.max(0, room - 40))
  const shown = end <= 0 ? '' : text.slice(0, end)
  return `${shown}\n\n… and ${pluralize(text.slice(shown.length).trim().split('\n').length, 'line')} more`
}

/** The result of `render` that measures at most `most`: `render` is called with less room until its result fits. */
export function fitToLimit(
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

export function characterCount(text: string): number {
  return text.length
}
