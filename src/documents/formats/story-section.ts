// What stands below a story's heading: fields, description, acceptance criteria.
import type { Block, Point, Words } from '../markdown.ts'
import { fieldOf, idsIn, isCriteria, urgencyOf } from '../words.ts'

/** `labelled`: it stands under a heading or word for criteria. `boxes`: its own and those inside. */
type Criterion = { text: string; inside: string[]; boxes: boolean[]; labelled: boolean }

// BMAD numbers criteria in plain lines: `1: ...`, `AC1: ...`.
const numberedLine = /^(?:AC[ -]?)?\d{1,3}[.:)][ \t]+/i

/** Takes the blocks of one story. */
export class StorySection {
  readonly #level: number
  #inCriteria = false
  #description: string[] = []
  #criteria: Criterion[] = []
  #dependsOn: string[] = []
  #priority: number | null = null
  /** What a priority in words says. */
  urgency: number | null = null

  constructor(level: number) {
    this.#level = level
  }

  /** A heading below the story's own, or one for its criteria; false for what ends the story. */
  takesHeading(level: number, text: string): boolean {
    if (level <= this.#level && !isCriteria(text)) return false
    this.#label(text)
    return true
  }

  take(block: Exclude<Block, { kind: 'heading' }>): void {
    if (block.kind === 'verbatim') this.#description.push(block.text)
    else if (block.kind === 'words') this.#words(block)
    else this.#points(block.points)
  }

  #words({ lines }: Words): void {
    let words: Criterion | null = null
    const description: string[] = []
    for (const line of lines) {
      const rest = this.#field(line)
      if (rest !== null) words = null
      const text = rest ?? line
      if (text === '') continue
      if (!this.#inCriteria) description.push(text)
      else if (words !== null && !numberedLine.test(text)) words.text += ` ${text}`
      else words = this.#criterion(text.replace(numberedLine, ''), null)
    }
    if (description.length > 0) this.#description.push(description.join('\n'))
  }

  #points(points: readonly Point[]): void {
    const plainItems: string[] = []
    for (const point of points) {
      const isBox = point.done !== null
      const rest = isBox || this.#inCriteria ? null : this.#field(point.text)
      if (rest !== null) {
        if (rest !== '' && this.#inCriteria) this.#criterion(rest, null)
        else if (rest !== '') this.#description.push(rest)
        this.#points(point.points)
      } else if (isBox || this.#inCriteria) this.#boxed(point)
      else plainItems.push(bulleted(point, ''))
    }
    if (plainItems.length > 0) this.#description.push(plainItems.join('\n'))
  }

  #boxed(point: Point): void {
    const criterion = this.#criterion([point.text, ...point.more].join(' '), point.done)
    const goInside = ({ text, more, done, points }: Point) => {
      criterion.inside.push([text, ...more].join(' '))
      if (done !== null) criterion.boxes.push(done)
      points.forEach(goInside)
    }
    point.points.forEach(goInside)
  }

  #criterion(text: string, done: boolean | null): Criterion {
    const criterion = { text, inside: [], boxes: done === null ? [] : [done], labelled: this.#inCriteria }
    this.#criteria.push(criterion)
    return criterion
  }

  #label(text: string): void {
    this.#inCriteria = isCriteria(text)
    if (!this.#inCriteria) this.#description.push(text.replace(/:$/, ''))
  }

  /** A line such as `**Priority:** 2`: what of it is still to be read; null for a line that is no field. */
  #field(line: string): string | null {
    const { name = '', value = '' } = fieldOf(line) ?? {}
    if (isCriteria(name)) {
      this.#inCriteria = true
      return value
    }
    if (/^(?:description|story|user story)$/.test(name)) {
      this.#inCriteria = false
      return value
    }
    if (name === 'priority') {
      if (/^\d{1,6}$/.test(value)) this.#priority = Number(value)
      else this.urgency = urgencyOf(value)
    } else if (/^(?:depends on|dependencies|prerequisites|blocked by)$/.test(name))
      this.#dependsOn.push(...idsIn(line))
    else if (/^\*\*[^*]{1,80}\*\*:?$/.test(line)) this.#label(line.replaceAll('**', ''))
    else return null
    return ''
  }

  fields() {
    const labelled = this.#criteria.filter((criterion) => criterion.labelled)
    const criteria = labelled.length > 0 ? labelled : this.#criteria
    const beside = this.#criteria.filter((criterion) => !criteria.includes(criterion))
    const boxes = criteria.flatMap((criterion) => criterion.boxes)
    const besideText = beside.map((criterion) => `- ${wordsOf(criterion)}`).join('\n')
    return {
      description: [...this.#description, besideText].filter((part) => part !== '').join('\n\n'),
      acceptanceCriteria: criteria.map(wordsOf).filter((text) => text !== ''),
      dependsOn: [...new Set(this.#dependsOn)],
      priority: this.#priority,
      beside: beside.length,
      boxes: boxes.length,
      ticked: boxes.filter(Boolean).length,
    }
  }
}

function wordsOf({ text, inside }: Criterion): string {
  if (inside.length === 0) return text
  return `${text}${text.endsWith(':') ? '' : ':'} ${inside.join('; ')}`
}

function bulleted({ text, more, points }: Point, indent: string): string {
  const own = [`${indent}- ${text}`, ...more.map((line) => `${indent}  ${line}`)]
  return [...own, ...points.map((point) => bulleted(point, `${indent}  `))].join('\n')
}
