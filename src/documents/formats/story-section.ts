// What stands below a story's heading: fields, description, acceptance criteria.
import type { Block, Point, Words } from '../markdown.ts'
import { epicOf, fieldOf, idsIn, isCriteria, isDone, urgencyOf } from '../words.ts'

/** `labelled`: it stands under a heading or word for criteria. `boxes`: its own and those inside. */
type Criterion = { text: string; inside: string[]; boxes: boolean[]; labelled: boolean }

// BMAD numbers criteria in plain lines: `1: ...`, `AC1: ...`.
const numberedLine = /^(?:AC[ -]?)?\d{1,3}[.:)][ \t]+/i

const dependencies = /^(?:depends on|dependencies|prerequisites?(?: stories)?|blocked by)\b/i

/** Takes the blocks of one story. */
export class StorySection {
  readonly #level: number
  readonly #id: string
  #under: 'words' | 'criteria' | 'dependencies' = 'words'
  /** A criterion stands where it was written, in case that others are labelled and it is not. */
  #description: (string | Criterion)[] = []
  #criteria: Criterion[] = []
  #dependsOn: string[] = []
  #priority: number | null = null
  /** What a priority in words says. */
  urgency: number | null = null
  /** What a line about its status says. */
  isDone: boolean | null = null
  epicId: string | null = null

  constructor(level: number, id: string) {
    this.#level = level
    this.#id = id
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
      if (this.#under !== 'criteria') description.push(this.#said(text))
      else if (words !== null && !numberedLine.test(text)) words.text += ` ${text}`
      else words = this.#criterion(text.replace(numberedLine, ''), null)
    }
    if (description.length > 0) this.#description.push(description.join('\n'))
  }

  #points(points: readonly Point[]): void {
    const items: string[] = []
    for (const point of points) {
      const isBox = point.done !== null
      const rest = isBox || this.#under === 'criteria' ? null : this.#field(point.text)
      if (rest !== null) {
        if (rest !== '' && this.#inCriteria()) this.#criterion(rest, null)
        else if (rest !== '') this.#description.push(rest)
        this.#points(point.points)
      } else if (isBox || this.#inCriteria()) this.#boxed(point)
      else items.push(this.#said(bulleted(point, '')))
    }
    if (items.length > 0) this.#description.push(items.join('\n'))
  }

  /** A field may have changed it. */
  #inCriteria(): boolean {
    return this.#under === 'criteria'
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
    const labelled = this.#under === 'criteria'
    const criterion = { text, inside: [], boxes: done === null ? [] : [done], labelled }
    this.#criteria.push(criterion)
    this.#description.push(criterion)
    return criterion
  }

  /** Words of the description; below a heading for dependencies they also name stories. */
  #said(text: string): string {
    if (this.#under === 'dependencies') this.#dependsOn.push(...idsIn(text, this.#id))
    return text
  }

  #label(text: string): void {
    this.#under = isCriteria(text) ? 'criteria' : dependencies.test(text) ? 'dependencies' : 'words'
    if (this.#under !== 'criteria' && text !== '') this.#description.push(text.replace(/:$/, ''))
  }

  /** A line such as `**Priority:** 2`: what of it is still to be read; null for a line that is no field. */
  #field(line: string): string | null {
    const { name = '', value = '' } = fieldOf(line) ?? {}
    if (isCriteria(name)) {
      this.#under = 'criteria'
      return value
    }
    if (/^(?:description|story|user story)$/.test(name)) {
      this.#under = 'words'
      return value
    }
    if (name === 'priority') {
      if (/^\d{1,6}$/.test(value)) this.#priority = Number(value)
      else this.urgency = urgencyOf(value)
    } else if (name === 'status') this.isDone = isDone(value)
    else if (name === 'epic') this.epicId = epicOf(value)
    else if (dependencies.test(name) && value !== '') this.#needs(line, value)
    else if (/^\*\*[^*]{1,80}\*\*:?$/.test(line)) this.#label(line.replaceAll('**', ''))
    else return null
    return ''
  }

  /** What is no story of the plan, such as a version of a library, stays in the description. */
  #needs(line: string, value: string): void {
    const ids = idsIn(value, this.#id)
    this.#dependsOn.push(...ids)
    if (ids.length > 0 || /^(?:none|nothing|n\/a|-|\u2013)\.?$/i.test(value)) return
    this.#under = 'words'
    this.#description.push(line)
  }

  fields() {
    const labelled = this.#criteria.filter((criterion) => criterion.labelled)
    const criteria = labelled.length > 0 ? labelled : this.#criteria
    const boxes = criteria.flatMap((criterion) => criterion.boxes)
    return {
      description: this.#descriptionBeside(criteria),
      acceptanceCriteria: criteria.map(wordsOf).filter((text) => text !== ''),
      dependsOn: [...new Set(this.#dependsOn)],
      priority: this.#priority,
      beside: this.#criteria.length - criteria.length,
      boxes: boxes.length,
      ticked: boxes.filter(Boolean).length,
    }
  }

  #descriptionBeside(criteria: readonly Criterion[]): string {
    const parts: string[] = []
    let wasBox = false
    for (const part of this.#description) {
      if (typeof part !== 'string' && criteria.includes(part)) continue
      const text = typeof part === 'string' ? part : `- ${wordsOf(part)}`
      const isBox = typeof part !== 'string'
      if (isBox && wasBox) parts.push(`${parts.pop()}\n${text}`)
      else if (text !== '') parts.push(text)
      wasBox = isBox
    }
    return parts.join('\n\n')
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
