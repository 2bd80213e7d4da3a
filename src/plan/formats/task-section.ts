// A task below a heading, such as `### Task 2: Name` or `### 1.2 Name`: its boxes are steps of one story.
import { type Block, boxLines, type Heading, type Point, pointLines } from '../markdown-lists.ts'
import { isCriteriaLabel, isDone, withoutEmphasis } from '../story-words.ts'
import type { Mark, ParsedStory } from '../types.ts'
import { isProcessStep, parseTask, plainNumber, stepWords, taskNumbers } from './box-text.ts'
import { boxesOf, bulleted, criterionOf } from './story-section.ts'

/** The number and the title of a heading that names a task. `isNamed`: the word Task is there. */
export type TaskTitle = { number: string; title: string; isNamed: boolean }

const numbered = /^(\d{1,3}(?:\.\d{1,3}){0,2}[a-z]?)[.):]?[ \t]+(\S.*)$/s

/** The task that a heading names; null for any other. `mayBeWhole`: `3. Name` is a task, and not only `3.1 Name`. */
export function taskTitleOf(heading: string, mayBeWhole: boolean): TaskTitle | null {
  const text = withoutEmphasis(heading).replace(/^[^\p{L}\p{N}]+/u, '')
  const named = parseTask(text)
  if (named !== null) return { number: named.number, title: named.rest || text, isNamed: true }
  const [, number, title] = numbered.exec(text) ?? []
  if (number === undefined || title === undefined || !(mayBeWhole || number.includes('.'))) return null
  return { number: plainNumber(number), title, isNamed: false }
}

const CHECKED = '\\u2705|\\u2714\\ufe0f?'
const tickedTitle = new RegExp(`(?:${CHECKED})[ \\t]*(?:\\(?(?:complete|completed|done)\\)?)?[ \\t]*$`, 'iu')
const bold = /^\*\*([^*:\uff1a]{2,60})(?:[:\uff1a]\*\*|\*\*[:\uff1a])[ \t]*(.*)$/s
const plain =
  /^(status|depends on|dependencies|blocked by|verify|verification|acceptance(?: criteria)?)[ \t]*:[ \t]*(.*)$/is
const wholeLabel = /^\*\*([^*]{2,80})\*\*:?$/
const plainStep = /^\*\*step[ \t]+\d{1,3}\b/i
const needed = /^(?:depends on|dependenc(?:y|ies)|prerequisites?|blocked by|requires)\b/i
const checked = /^(?:verify|verification|how to verify)\b/i

/** The story of a task. `needs`: the numbers of tasks that it depends on. */
export type Task = { story: ParsedStory; needs: string[]; notes: string[] }

/** Reads the blocks below the heading of a task. */
export function readTask(heading: Heading, { number, title }: TaskTitle, blocks: readonly Block[]): Task {
  const { parent, inside } = withoutParent(blocks)
  const section = new TaskSection(inside)
  const { criteria, steps, boxes, status } = section
  const name = (parent?.words || title).replace(tickedTitle, '').trim()
  const useful = steps.filter((step) => !isProcessStep(step))
  const isTold = criteria.length > 0 || useful.length < steps.length || section.hasCode
  const isTicked =
    boxes.length > 0 ? boxes.every(({ done }) => done) : status === true || tickedTitle.test(title)
  const passes = isTicked && status !== false
  const notes =
    status === true && !passes
      ? [
          `task ${number} (line ${heading.line}) says that it is done, but has open boxes. Ralph reads it as open.`,
        ]
      : []
  const marks: Mark[] = [...(parent === null ? [] : [parent.line]), ...boxes.map(({ line }) => line)].map(
    (line) => ({
      kind: 'box',
      line,
    }),
  )
  if (section.statusLine !== null) marks.push({ kind: 'words', line: section.statusLine, value: 'complete' })
  const acceptanceCriteria = criteria.length > 0 ? criteria : useful
  const description = isTold ? section.description : section.descriptionWithoutSteps
  return {
    story: {
      line: heading.line,
      raw: { id: number, title: name, description, acceptanceCriteria, passes },
      marks,
    },
    needs: section.needs,
    notes,
  }
}

/** A single numbered box around all other boxes is the task itself, as in Agent OS: `- [ ] 1.0 Complete the store`. */
function withoutParent(blocks: readonly Block[]): {
  parent: { words: string; line: number } | null
  inside: Block[]
} {
  const points = blocks.flatMap((block) => (block.kind === 'points' ? block.points : []))
  const boxed = points.filter(({ done }) => done !== null)
  const [only] = boxed
  const [, , words] = numbered.exec(withoutEmphasis(only?.text ?? '')) ?? []
  if (only === undefined || boxed.length > 1 || words === undefined || boxLines(only).length < 2)
    return { parent: null, inside: [...blocks] }
  const inside = blocks.map((block) =>
    block.kind === 'points'
      ? { ...block, points: block.points.flatMap((one) => (one === only ? one.points : [one])) }
      : block,
  )
  return { parent: { words, line: only.line }, inside }
}

class TaskSection {
  readonly criteria: string[] = []
  readonly steps: string[] = []
  readonly boxes: { line: number; done: boolean }[] = []
  readonly needs: string[] = []
  status: boolean | null = null
  statusLine: number | null = null
  hasCode = false
  readonly #parts: { text: string; isStep: boolean }[] = []
  #under: 'words' | 'criteria' | 'needs' = 'words'

  constructor(blocks: readonly Block[]) {
    for (const block of blocks) {
      if (block.kind === 'heading') this.#label(withoutEmphasis(block.text))
      else if (block.kind === 'words')
        for (const [index, line] of block.lines.entries()) this.#line(line, block.line + index)
      else if (block.kind === 'points') this.#points(block.points)
      else {
        this.hasCode = true
        this.#describe(block.text)
      }
    }
  }

  get description(): string {
    return this.#parts.map(({ text }) => text).join('\n\n')
  }

  get descriptionWithoutSteps(): string {
    return this.#parts.flatMap(({ text, isStep }) => (isStep ? [] : [text])).join('\n\n')
  }

  #describe(text: string, isStep = false): void {
    if (text !== '') this.#parts.push({ text, isStep })
  }

  #label(label: string): void {
    this.#under =
      isCriteriaLabel(label) || checked.test(label) ? 'criteria' : needed.test(label) ? 'needs' : 'words'
    if (this.#under === 'words') this.#describe(label)
  }

  #line(line: string, at: number): void {
    if (this.#isField(line, at)) return
    if (plainStep.test(line)) {
      this.steps.push(stepWords(line))
      this.#under = 'words'
      this.#describe(line, true)
    } else if (this.#under === 'criteria') this.criteria.push(line)
    else if (this.#under === 'needs') this.needs.push(...taskNumbers(line))
    else this.#describe(line)
  }

  #points(points: readonly Point[]): void {
    for (const point of points) {
      if (this.#under === 'needs') this.needs.push(...taskNumbers(point.text))
      else if (this.#under === 'criteria' || point.done !== null) {
        const isStep = this.#under !== 'criteria'
        if (isStep) {
          this.steps.push(stepWords(criterionOf(point)))
          this.#describe(bulleted(point, ''), true)
        } else this.criteria.push(criterionOf(point))
        const lines = boxLines(point)
        for (const [index, done] of boxesOf(point).entries())
          this.boxes.push({ line: lines[index] ?? point.line, done })
      } else if (!this.#isField(point.text, point.line)) {
        this.#describe(bulleted(point, ''))
      } else this.#points(point.points)
    }
  }

  /** Reads a field such as `**Status:** done`. What follows an unknown field is no longer a criterion. */
  #isField(line: string, at: number): boolean {
    const [, name = '', value = ''] =
      bold.exec(line.slice(0, 2_000)) ?? plain.exec(line.slice(0, 2_000)) ?? []
    if (name === '') {
      const [, label] = wholeLabel.exec(line) ?? []
      if (label === undefined || plainStep.test(line)) return false
      this.#label(label.replace(/:$/, ''))
      return true
    }
    if (/^status$/i.test(name)) {
      this.status = isDone(value)
      this.statusLine = at
      return true
    }
    const isChecked = isCriteriaLabel(name) || checked.test(name)
    if (needed.test(name)) {
      this.needs.push(...taskNumbers(value))
      this.#under = value === '' ? 'needs' : 'words'
    } else if (isChecked) {
      if (value !== '') this.criteria.push(value)
      this.#under = value === '' ? 'criteria' : 'words'
    } else {
      this.#under = 'words'
      this.#describe(line)
    }
    return true
  }
}

/** Whether a block has a box. */
export function hasBox(block: Block): boolean {
  return block.kind === 'points' && block.points.some((point) => boxLines(point).length > 0)
}

/** The texts below a box that are criteria, and all of them as a list if some are none. */
export function stepsBelow(points: readonly Point[]): { criteria: string[]; description: string } {
  const all = points.flatMap(pointLines).filter((one) => one !== '')
  const criteria = all.map(stepWords).filter((one) => !isProcessStep(one))
  const isTold = criteria.length < all.length
  return { criteria, description: isTold ? points.map((one) => bulleted(one, '')).join('\n') : '' }
}
