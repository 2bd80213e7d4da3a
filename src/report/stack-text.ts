// Title and text of a pull request of the stack, and the list of all of them.
import { characterCount, fitToLimit, joinBlocks, section, truncateLines } from './blocks.ts'
import { bold, code, markdownText, subjectText } from './escape.ts'
import { marker, storyIdMarkdown } from './parts.ts'
import { MAX_CHARACTERS } from './sticky-comment.ts'

/** A pull request of the stack, for the list. `number`: null if it could not be opened. */
export type StackEntry = { id: string; name: string; number: number | null }

/** What the text of one layer is made of. Nothing is escaped. */
export type LayerView = {
  feature: string
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
export function layerName({ feature, id }: Pick<LayerView, 'feature' | 'id'>): string {
  return `${feature}+${id}`
}

export function layerTitle({ feature, id, name }: LayerView): string {
  return subjectText(`${feature}: ${id}${name === id ? '' : ` - ${name}`}`, 200)
}

/** At most `limit` characters. */
export function layerBody(view: LayerView, limit = MAX_CHARACTERS): string {
  const { feature, stories, entries, id, top } = view
  const lines = stories.map((story) => `- ${storyIdMarkdown(story.id)} ${markdownText(story.title, 120)}`)
  const render = (room: number) =>
    joinBlocks([
      `${marker('pull', layerName(view))}\n${introduction(feature, top)}`,
      section('Stories', truncateLines(lines.join('\n'), Math.floor(room * 0.6))),
      stackBlock(entries, top, id, Math.floor(room * 0.3)),
    ])
  return fitToLimit(render, limit, characterCount)
}

function introduction(feature: string, top: number | null): string {
  const whole = top === null ? '' : ` The final verification is in ${reference(top)}.`
  return `A part of ${bold(markdownText(feature))}. Ralph committed each of these stories only when its gates passed.${whole} Review it like any other pull request.`
}

/** The stack, the lowest first. `current`: the id of the layer that the text is in; null in the feature's own pull request. */
export function stackBlock(
  entries: readonly StackEntry[],
  top: number | null,
  current: string | null,
  room: number,
): string {
  if (entries.length === 0) return ''
  const lines = entries.map(({ id, name, number }, index) => {
    // GitHub shows title and state of a number in a list.
    const shown =
      number === null ? `${code(id)} ${markdownText(name === id ? '' : name, 120)}`.trim() : reference(number)
    return `${index + 1}. ${id === current ? `${bold(shown)} (this one)` : shown}`
  })
  const own =
    top === null
      ? []
      : [
          `${entries.length + 1}. ${current === null ? `${bold(reference(top))} (this one)` : reference(top)}: the rest of the feature`,
        ]
  const commands = top === null ? '' : ` Write commands such as ${code('/ralph retry')} in ${reference(top)}.`
  return section(
    'Stack',
    `Merge from the bottom, beginning with 1.${commands}\n\n${truncateLines([...lines, ...own].join('\n'), room)}`,
  )
}

function reference(number: number): string {
  return `#${number}`
}
