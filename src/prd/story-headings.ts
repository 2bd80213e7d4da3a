// Markdown with a heading for each user story (the prd.md and epics.md of several tools): what stands below is the story.

import { headingOf, indentOf, type Line, linesOf, type Point, pointOf, withId } from './markdown-lines.ts'
import { type Draft, many, type Raw } from './migrate.ts'

// What documents number beside stories.
const notStories =
  /^(?:EPIC|FR|NFR|AC|ADR|RFC|TC|UTF|SHA|MD|AES|RSA|ISO|ECMA|HTTP|CVE|WCAG|PHASE|STEP|SPRINT|MILESTONE|WEEK|DAY|PART|MVP)-/

// `US-001: x`, `US-001 - x`, `[US-001] x`, `Story US-001: x`; a number alone is an id only behind the word Story.
const named = /^(?:(?:[Uu]ser[ \t]+)?[Ss]tory[ \t]+)?\[?([A-Z][A-Z0-9]{0,15}-\d{1,6})(?![\w-])\]?(.*)$/
const counted = /^(?:user[ \t]+)?story[ \t]+#?(\d{1,4}(?:\.\d{1,4}){0,2})(?![\w-])(.*)$/i
const epic = /^\[?(EPIC-\d{1,6}|[Ee]pic[ \t]+\d{1,4})(?![\w-])/

type Title = { id: string; title: string; done: boolean | null }

/** The id and title of a story's heading (level 2 to 4), or null. */
function titleOf(line: string): (Title & { level: number }) | null {
  const heading = headingOf(line)
  if (heading === null || heading.level < 2 || heading.level > 4) return null
  const text = plain(heading.text)
  const mark = /^\[([ xX])\][ \t]+/.exec(text)
  const bare = mark === null ? text : text.slice(mark[0].length)
  const [, id, rest = ''] = named.exec(bare) ?? counted.exec(bare) ?? []
  if (id === undefined || notStories.test(id)) return null
  const title = rest.replace(/^[ \t]*[:.)\u2013\u2014-]*/, '').trim()
  return { level: heading.level, id, title, done: mark === null ? null : mark[1] !== ' ' }
}

/** Without emphasis and a heading's closing marks. More than a title may have is not looked at. */
function plain(text: string): string {
  return text
    .slice(0, 2_000)
    .replaceAll('**', '')
    .replace(/(?<=[ \t])#+[ \t]*$/, '')
    .trim()
}

/** Whether a heading of the text is that of a story. */
export function hasStoryHeadings(text: string): boolean {
  return linesOf(text).some((line) => !line.isCode && titleOf(line.text) !== null)
}

/** Headings that look like stories' where the boxes below are the stories, by ids of their own: `US-100 (line 3)`. */
export function headingsOverIds(text: string): string[] | null {
  const lines = linesOf(text).filter((line) => !line.isCode)
  const boxes = lines.flatMap(({ text: line }) => {
    const point = pointOf(line)
    return point !== null && point.done !== null && point.indent === 0 ? [withId(point.text)] : []
  })
  const own = boxes.filter((box) => box !== null && !notStories.test(box.id))
  if (own.length === 0 || own.length * 2 < boxes.length) return null
  return lines.flatMap(({ text: line, number }) => {
    const title = titleOf(line)
    return title === null ? [] : [`${title.id} (line ${number})`]
  })
}

type Criterion = Point & { labelled: boolean; inside: string[]; boxes: boolean[] }

type Item = Title & {
  line: number
  level: number
  epicId: string | null
  urgency: number
  priority: number | null
  dependsOn: string[]
  points: Criterion[]
  description: string[]
}

type Part = 'criteria' | 'rest'

type Sheet = {
  project: string
  description: string[]
  items: Item[]
  /** Lines of boxes that belong to no story. */
  strays: number[]
}

/** The document as a draft: a story for each heading with an id. */
export function readStoryHeadings(text: string, source: string): Draft {
  const sheet: Sheet = { project: '', description: [], items: [], strays: [] }
  const reader = new Reader(sheet)
  for (const line of linesOf(text)) reader.take(line)
  const notes = [
    `${many(sheet.items.length, 'heading')} with an id read as user stories, the boxes below them as acceptance criteria.`,
  ]
  const byUrgency = sheet.items.toSorted((a, b) => a.urgency - b.urgency)
  const rank = new Map(byUrgency.map((item, index) => [item, index + 1]))
  const list = sheet.items.map((item) => asStory(item, rank.get(item) ?? 1, notes))
  if (sheet.strays.length > 0) {
    const where = sheet.strays.slice(0, 10).join(', ')
    const [were, lines] = sheet.strays.length === 1 ? ['was', 'line'] : ['were', 'lines']
    notes.push(
      `${many(sheet.strays.length, 'box')} outside of the stories ${were} left out (${lines} ${where}).`,
    )
  }
  return {
    root: { project: sheet.project, description: paragraphs(sheet.description) },
    list,
    rootPath: (key) => `${source}: ${key}`,
    storyPath: (index, key) =>
      `${source}: line ${sheet.items[index]?.line}${key === undefined ? '' : ` (${key})`}`,
    mayLackCriteria: true,
    imported: true,
    notes,
  }
}

/** Takes line after line; knows in which story, and in which part of it, it is. */
class Reader {
  readonly #sheet: Sheet
  #item: Item | null = null
  #part: Part = 'rest'
  /** The criterion that indented lines belong to. */
  #open: Criterion | null = null
  /** The criterion in words that the next line goes on with. */
  #words: Criterion | null = null
  #section = ''
  #epic: { level: number; id: string } | null = null
  #begun = false

  constructor(sheet: Sheet) {
    this.#sheet = sheet
  }

  take(line: Line): void {
    const { text, isCode } = line
    if (isCode) this.#item?.description.push(text)
    else if (text.trim() === '') this.#blank()
    else if (headingOf(text) !== null) this.#heading(line)
    else if (this.#item !== null) this.#within(this.#item, text)
    else this.#outside(line)
  }

  #blank(): void {
    this.#words = null
    if (this.#part === 'rest') this.#item?.description.push('')
    if (this.#item === null) this.#sheet.description.push('')
  }

  #heading({ text, number }: Line): void {
    const { level = 1, text: written = '' } = headingOf(text) ?? {}
    const title = titleOf(text)
    this.#open = null
    this.#words = null
    if (title !== null) {
      const urgency = urgencyOf(this.#section)
      const epicId = this.#epic?.id ?? null
      const empty = { priority: null, dependsOn: [], points: [], description: [] }
      this.#item = { ...title, line: number, epicId, urgency, ...empty }
      this.#sheet.items.push(this.#item)
      this.#part = 'rest'
    } else if (this.#item !== null && (level > this.#item.level || isCriteria(plain(written))))
      this.#label(this.#item, plain(written))
    else this.#sectionBegins(level, plain(written))
    this.#begun = true
  }

  #sectionBegins(level: number, text: string): void {
    if (!this.#begun) this.#sheet.project = text.replace(/^(?:progress|prd)\b:?[ \t]*/i, '')
    this.#item = null
    this.#section = text
    const id = epic.exec(text)?.[1]
    if (id !== undefined) this.#epic = { level, id }
    else if (this.#epic !== null && level <= this.#epic.level) this.#epic = null
  }

  #label(item: Item, text: string): void {
    this.#part = isCriteria(text) ? 'criteria' : 'rest'
    if (this.#part === 'rest') item.description.push('', text.replace(/:$/, ''), '')
  }

  #outside({ text, number }: Line): void {
    const point = pointOf(text)
    if (point !== null && point.done !== null) this.#sheet.strays.push(number)
    // What stands below the title says what the feature is.
    if (this.#sheet.items.length === 0 && isAbout(this.#section, this.#sheet.project))
      this.#sheet.description.push(text.trim())
  }

  #within(item: Item, text: string): void {
    const point = pointOf(text)
    if (this.#open !== null && indentOf(text) > this.#open.indent) {
      continued(this.#open, point, text)
      return
    }
    this.#open = null
    const isBox = point !== null && point.done !== null
    const mayBeField = point === null || (!isBox && this.#part === 'rest')
    if (mayBeField && this.#field(item, point?.text ?? text.trim())) return
    if (isBox || (point !== null && this.#part === 'criteria')) {
      const boxes = point.done === null ? [] : [point.done]
      this.#open = { ...point, labelled: this.#part === 'criteria', inside: [], boxes }
      this.#words = null
      item.points.push(this.#open)
    } else if (this.#part === 'criteria') this.#inOwnWords(item, text.trim())
    else item.description.push(text.trim())
  }

  /** Criteria without bullets: a paragraph each. */
  #inOwnWords(item: Item, text: string): void {
    if (this.#words !== null) this.#words.text += ` ${text}`
    else {
      this.#words = { text, done: null, indent: 0, labelled: true, inside: [], boxes: [] }
      item.points.push(this.#words)
    }
  }

  /** A line such as `**Priority:** 2`; false for what is none. */
  #field(item: Item, line: string): boolean {
    const bare = line.slice(0, 200).replaceAll('**', '')
    const [, name = '', value = ''] = /^([A-Za-z][A-Za-z ]{1,30}):[ \t]*(.*)$/.exec(bare) ?? []
    const rest = line.slice(line.indexOf(':') + 1).replace(/^\**[ \t]*/, '')
    if (isCriteria(name)) {
      this.#part = 'criteria'
      if (rest !== '') this.#inOwnWords(item, rest)
    } else if (/^(?:description|story|user story)$/i.test(name)) {
      this.#part = 'rest'
      if (rest !== '') item.description.push(rest)
    } else if (/^priority$/i.test(name)) {
      const number = /^\d{1,6}$/.exec(value.trim())?.[0]
      if (number !== undefined) item.priority = Number(number)
      else item.urgency = urgencyOf(value)
    } else if (/^(?:depends on|dependencies|prerequisites|blocked by)$/i.test(name)) {
      const ids = line.match(/\b[A-Z][A-Z0-9]{0,15}-\d{1,6}\b|\b\d{1,4}(?:\.\d{1,4}){1,2}\b/g) ?? []
      item.dependsOn.push(...ids)
    } else if (/^\*\*[^*]{1,80}\*\*:?$/.test(line)) this.#label(item, line.replaceAll('**', ''))
    else return false
    return true
  }
}

/** What is indented below a criterion belongs to it. */
function continued(last: Criterion, point: Point | null, line: string): void {
  const before = last.inside.pop()
  if (point === null && before === undefined) last.text += ` ${line.trim()}`
  else if (point === null) last.inside.push(`${before} ${line.trim()}`)
  else last.inside.push(...(before === undefined ? [] : [before]), point.text)
  if (point !== null && point.done !== null) last.boxes.push(point.done)
}

function isCriteria(text: string): boolean {
  return /^(?:acceptance(?: criteri(?:a|on))?|criteria|definition of done|done when)\b/i.test(text.trim())
}

function isAbout(section: string, project: string): boolean {
  return /^(?:introduction|overview|summary|description)\b/i.test(section) || section.endsWith(project)
}

/** Sections and priorities in words: what is urgent comes first. */
export function urgencyOf(text: string): number {
  if (/^(?:critical|high|urgent|must|p0)\b/i.test(text)) return 0
  return /^(?:low|could|p[23])\b/i.test(text) ? 2 : 1
}

function paragraphs(lines: readonly string[]): string {
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

function asStory(item: Item, rank: number, notes: string[]): Raw {
  const labelled = item.points.filter((point) => point.labelled)
  const criteria = labelled.length > 0 ? labelled : item.points
  const beside = item.points.filter((point) => !criteria.includes(point))
  if (beside.length > 0) {
    const were = beside.length === 1 ? 'was' : 'were'
    notes.push(
      `${item.id}: ${many(beside.length, 'box')} beside its acceptance criteria ${were} read as description.`,
    )
  }
  const boxes = criteria.flatMap((point) => point.boxes)
  const ticked = boxes.filter(Boolean).length
  const passes = item.done ?? (ticked > 0 && ticked === boxes.length)
  if (!passes && ticked > 0)
    notes.push(`${item.id}: ${ticked} of ${many(boxes.length, 'box')} are ticked: it is open.`)
  return {
    id: item.id,
    epicId: item.epicId,
    title: item.title,
    description: paragraphs([...item.description, ...beside.map((point) => `- ${wordsOf(point)}`)]),
    acceptanceCriteria: criteria.map(wordsOf).filter((text) => text !== ''),
    dependsOn: [...new Set(item.dependsOn)],
    priority: item.priority ?? rank,
    passes,
  }
}

function wordsOf({ text, inside }: Criterion): string {
  if (inside.length === 0) return text
  return `${text}${text.endsWith(':') ? '' : ':'} ${inside.join('; ')}`
}
