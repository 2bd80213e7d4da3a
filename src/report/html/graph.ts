// The graph of what depends on what: a column a layer, coloured by how the stories stand.
import { grouped } from '../../model/each.ts'
import { oneLine } from '../../model/text.ts'
import { STANDINGS } from '../outcomes.ts'
import type { StoryView } from '../view.ts'
import { many } from '../words.ts'
import { html, type Markup, nothing } from './markup.ts'

/** Of more nobody sees anything. */
const MOST_STORIES = 200
const MOST_EDGES = 600
const [WIDE, HIGH, ACROSS, DOWN] = [116, 26, 56, 10]

type Edge = { from: number; to: number }

export function dependencyPicture(stories: readonly StoryView[]): Markup {
  const places = new Map(stories.map(({ id }, at) => [id, at]))
  const edges = stories.flatMap(({ dependsOn }, to) =>
    [...new Set(dependsOn)].flatMap((id): Edge[] => {
      const from = places.get(id)
      return from === undefined || from === to ? [] : [{ from, to }]
    }),
  )
  if (edges.length === 0) return nothing
  const drawn = [...new Set(edges.flatMap(({ from, to }) => [from, to]))].sort((one, other) => one - other)
  if (drawn.length > MOST_STORIES || edges.length > MOST_EDGES)
    return html`<p class="aside">${many(drawn.length, 'story', 'stories')} with ${edges.length} dependencies: too many to draw. Each story names its own.</p>`
  const spots = spotsOf(drawn, edges)
  const columns = Math.max(...[...spots.values()].map(({ column }) => column)) + 1
  const rows = Math.max(...[...spots.values()].map(({ row }) => row)) + 1
  const [width, height] = [columns * (WIDE + ACROSS) - ACROSS + 2, rows * (HIGH + DOWN) - DOWN + 2]
  const x = (at: number) => (spots.get(at)?.column ?? 0) * (WIDE + ACROSS) + 1
  const y = (at: number) => (spots.get(at)?.row ?? 0) * (HIGH + DOWN) + 1
  const lines = edges.map(({ from, to }) => {
    const [x1, y1, x2, y2] = [x(from) + WIDE, y(from) + HIGH / 2, x(to), y(to) + HIGH / 2]
    return html`<path d="M${x1} ${y1}C${x1 + ACROSS / 2} ${y1} ${x2 - ACROSS / 2} ${y2} ${x2} ${y2}"/>`
  })
  const nodes = drawn.flatMap((at) => {
    const story = stories[at]
    if (story === undefined) return []
    const { sign, word } = STANDINGS[story.standing]
    return html`<a href="#s${at}"><g class="s-${story.standing}"><title>${oneLine(story.id, 64)}: ${oneLine(story.title, 120)} (${word})</title><rect x="${x(at)}" y="${y(at)}" width="${WIDE}" height="${HIGH}" rx="4"/><text x="${x(at) + 8}" y="${y(at) + 17}">${sign} ${oneLine(story.id, 11)}</text></g></a>`
  })
  return html`<div class="wide"><svg class="graph" role="img" aria-label="what depends on what" width="${width}" height="${height}">${lines}${nodes}</svg></div>`
}

/** The column is the longest way from a story that depends on none; in a column, beside what it depends on. */
function spotsOf(
  drawn: readonly number[],
  edges: readonly Edge[],
): Map<number, { column: number; row: number }> {
  const before = grouped(edges, ({ to }) => to)
  const after = grouped(edges, ({ from }) => from)
  const waits = new Map(drawn.map((at) => [at, before.get(at)?.length ?? 0]))
  const columns = new Map<number, number>()
  const ready = drawn.filter((at) => waits.get(at) === 0)
  for (const at of ready)
    for (const { to } of after.get(at) ?? []) {
      columns.set(to, Math.max(columns.get(to) ?? 0, (columns.get(at) ?? 0) + 1))
      const left = (waits.get(to) ?? 0) - 1
      waits.set(to, left)
      if (left === 0) ready.push(to)
    }
  const spots = new Map<number, { column: number; row: number }>()
  // No state of ours has a circle; one that does is drawn all the same.
  const byColumn = grouped(drawn, (at) => columns.get(at) ?? 0)
  for (const column of [...byColumn.keys()].sort((one, other) => one - other)) {
    const mean = (at: number) => {
      const rows = (before.get(at) ?? []).map(({ from }) => spots.get(from)?.row ?? 0)
      return rows.reduce((sum, row) => sum + row, 0) / Math.max(1, rows.length)
    }
    const inOrder = (byColumn.get(column) ?? []).map((at) => ({ at, mean: mean(at) }))
    inOrder.sort((one, other) => one.mean - other.mean || one.at - other.at)
    let free = 0
    for (const { at, mean: wished } of inOrder) {
      const row = Math.max(free, Math.round(wished))
      spots.set(at, { column, row })
      free = row + 1
    }
  }
  return spots
}
