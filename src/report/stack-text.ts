// Title and text of a pull request of the stack, and the list of all of them.
import { characterCount, fitToLimit, joinBlocks, section, truncateLines } from './blocks.ts'
import { bold, code, markdownText, subjectText } from './escape.ts'
import { marker, storyIdMarkdown } from './parts.ts'
import { MAX_CHARACTERS } from './sticky-comment.ts'

/** A pull request of the stack, for the list. `number`: null if it could not be opened. `isCurrent`: the text is in it. */
export type StackEntry = { id: string; name: string; number: number | null; isCurrent: boolean }

/** What the text of one layer is made of. Only `branchPart`, how the name of its branch ends, is safe; nothing else is escaped. */
export type LayerView = {
  feature: string
  branchPart: string
  /** The id and the name of its epic or story. */
  id: string
  name: string
  stories: readonly { id: string; title: string }[]
  /** The whole stack, the lowest first, without the feature's own pull request. */
  entries: readonly StackEntry[]
  /** The feature's own pull request; null without one. */
  top: number | null
}

/** The name under which a layer's text is marked and found again. */
export function layerName({ feature, branchPart }: Pick<LayerView, 'feature' | 'branchPart'>): string {
  return `${feature}+${branchPart}`
}

export function layerTitle({ feature, id, name }: LayerView): string {
  return subjectText(`${feature}: ${id}${name === id ? '' : ` - ${name}`}`, 200)
}

/** At most `limit` characters. */
export function layerBody(view: LayerView, limit = MAX_CHARACTERS): string {
  const { feature, stories, entries, top } = view
  const lines = stories.map((story) => `- ${storyIdMarkdown(story.id)} ${markdownText(story.title, 120)}`)
  const render = (room: number) =>
    joinBlocks([
      `${marker('pull', layerName(view))}\n${introduction(feature, top)}`,
      section('Stories', truncateLines(lines.join('\n'), Math.floor(room * 0.6))),
      stackBlock(entries, top, Math.floor(room * 0.3)),
    ])
  return fitToLimit(render, limit, characterCount)
}

function introduction(feature: string, top: number | null): string {
  const whole = top === null ? '' : ` The final verification is in ${reference(top)}.`
  // Jobs read threads only in the feature's own pull request, and none with `reviews: off`.
  const asking =
    top === null ? '' : ` To ask Ralph for changes, write ${code('/ralph fix')} in ${reference(top)}.`
  return `A part of ${bold(markdownText(feature))}. Ralph committed each of these stories only when its gates passed.${whole} Review it like any other pull request. Ralph does not read its review threads.${asking}`
}

/** The stack, the lowest first. The text is in the feature's own pull request if no entry is the current one. */
export function stackBlock(entries: readonly StackEntry[], top: number | null, room: number): string {
  if (entries.length === 0) return ''
  const isTop = entries.every(({ isCurrent }) => !isCurrent)
  const lines = entries.map(({ id, name, number, isCurrent }, index) => {
    // GitHub shows title and state of a number in a list.
    const shown =
      number === null ? `${code(id)} ${markdownText(name === id ? '' : name, 120)}`.trim() : reference(number)
    return `${index + 1}. ${isCurrent ? `${bold(shown)} (this one)` : shown}`
  })
  const own =
    top === null
      ? []
      : [
          `${entries.length + 1}. ${isTop ? `${bold(reference(top))} (this one)` : reference(top)}: the rest of the feature`,
        ]
  const commands = top === null ? '' : ` Write commands such as ${code('/ralph retry')} in ${reference(top)}.`
  return section(
    'Stack',
    `Merge in this order, beginning with 1.${commands}\n\n${truncateLines([...lines, ...own].join('\n'), room)}`,
  )
}

const BEGIN = '<!-- ralph:stack -->'
const END = '<!-- /ralph:stack -->'

/** `stackBlock` for the feature's own pull request, between marks: if GitHub cannot be read, the next text keeps what is between them. */
export function ownStackBlock(entries: readonly StackEntry[], top: number | null, room: number): string {
  const block = stackBlock(entries, top, room - BEGIN.length - END.length - 2)
  return block === '' ? '' : `${BEGIN}\n${block}\n${END}`
}

/** The list in an earlier text of Ralph, with its marks; empty without one, or if it has more than `room` characters. */
export function earlierStackBlock(text: string, room: number): string {
  const lines = text.replaceAll('\r\n', '\n')
  const [from, to] = [lines.lastIndexOf(BEGIN), lines.lastIndexOf(END)]
  const block = from === -1 || to < from ? '' : lines.slice(from, to + END.length)
  return block.length > room ? '' : block
}

function reference(number: number): string {
  return `#${number}`
}
