// Boxes of a plan in their order, each with the headings above it and the text indented below it.
import type { Block, Heading, Point } from '../markdown-lists.ts'

/** A box. `details`: text indented below it; `inside`: boxes indented below it. */
export type Box = {
  line: number
  text: string
  done: boolean
  /** `[ ]*` in Kiro (the star may be escaped): an optional task. */
  isOptional: boolean
  details: string[]
  inside: Box[]
  /** From the outermost to the nearest. */
  headings: readonly Heading[]
}

/** The outer boxes of the document. Boxes below another one are in its `inside`, even with plain points in between. */
export function parseBoxes(blocks: readonly Block[]): Box[] {
  const boxes: Box[] = []
  let headings: Heading[] = []
  for (const block of blocks) {
    if (block.kind === 'heading') headings = [...headings.filter(({ level }) => level < block.level), block]
    else if (block.kind === 'points') for (const point of block.points) take(point, headings, null, boxes)
  }
  return boxes
}

/** All boxes in one list, each followed by those inside of it. */
export function flattenBoxes(boxes: readonly Box[]): Box[] {
  return boxes.flatMap((box) => [box, ...flattenBoxes(box.inside)])
}

function take(point: Point, headings: readonly Heading[], parent: Box | null, boxes: Box[]): void {
  const [, mark, words = ''] = /^\[([ xX~/-]?)\]\\?\*(?!\*)[ \t]*(.*)$/s.exec(point.text) ?? []
  const isOptional = mark !== undefined
  if (point.done === null && !isOptional) {
    parent?.details.push([point.text, ...point.more].join(' ').trim())
    for (const inner of point.points) take(inner, headings, parent, boxes)
    return
  }
  const box: Box = {
    line: point.line,
    text: isOptional ? words.trim() : point.text,
    done: isOptional ? mark.toLowerCase() === 'x' : point.done === true,
    isOptional,
    details: point.more.filter((one) => one !== ''),
    inside: [],
    headings,
  }
  for (const inner of point.points) take(inner, headings, box, box.inside)
  boxes.push(box)
}
