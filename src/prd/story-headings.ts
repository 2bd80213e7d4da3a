// Markdown with a heading for each user story (the prd.md and epics.md of several tools): what stands below is the story.
import {
  draftOf,
  indentOf,
  type Line,
  type Place,
  type Point,
  pointOf,
  urgencyOf,
  withId,
} from './markdown-lines.ts'
import { type Draft, many, type Raw } from './migrate.ts'

// What documents number beside stories.
const notStories =
  /^(?:EPIC|FR|NFR|AC|ADR|RFC|TC|UTF|SHA|MD|AES|RSA|ISO|ECMA|HTTP|CVE|WCAG|PHASE|STEP|SPRINT|MILESTONE|WEEK|DAY|PART|MVP)-/

// `US-001: x`, `US-001 - x`, `[US-001] x`, `Story US-001: x`; a number alone is an id only behind the word Story.
const named = /^(?:(?:[Uu]ser[ \t]+)?[Ss]tory[ \t]+)?\[?([A-Z][A-Z0-9]{0,15}-\d{1,6})(?![\w-])\]?(.*)$/
const counted = /^(?:user[ \t]+)?story[ \t]+#?(\d{1,4}(?:\.\d{1,4}){0,2})(?![\w-])(.*)$/i
const epic = /^\[?(EPIC-\d{1,6}|[Ee]pic[ \t]+\d{1,4})(?![\w-])/

type Title = { line: number; level: number; id: string; title: string; done: boolean | null }

/** The headings (level 2 to 4) that name a story. */
export function storyHeadings(lines: readonly Line[]): Title[] {
  return lines.flatMap((line) => titleOf(line) ?? [])
}

/** Whether the boxes below the headings are the stories, by ids of their own. */
export function headingsOverIds(lines: readonly Line[]): boolean {
  const points = lines.map(({ text, isCode }) => (isCode ? null : pointOf(text)))
  const boxes = points.filter((point) => point !== null && point.done !== null && point.indent === 0)
  const own = boxes.filter((box) => {
    const id = withId(box?.text ?? '')?.id
    return id !== undefined && !notStories.test(id)
  })
  return own.length > 0 && own.length * 2 >= boxes.length
}

function titleOf({ number, heading }: Line): Title | null {
  if (heading === null || heading.level < 2 || heading.level > 4) return null
  const text = plain(heading.text)
  const mark = /^\[([ xX])\][ \t]+/.exec(text)
  const bare = text.slice(mark?.[0].length ?? 0)
  const [, id, rest = ''] = named.exec(bare) ?? counted.exec(bare) ?? []
  if (id === undefined || notStories.test(id)) return null
  const title = rest.replace(/^[ \t]*[:.)\u2013\u2014-]*/, '').trim()
  return { line: number, level: heading.level, id, title, done: mark === null ? null : mark[1] !== ' ' }
}

/** Without emphasis and a heading's closing marks. More than a title may have is not looked at. */
function plain(text: string): string {
  return text
    .slice(0, 2_000)
    .replaceAll('**', '')
    .replace(/(?<=[ \t])#+[ \t]*$/, '')
    .trim()
}

/** `inside`: what is indented below it. `labelled`: it stands under a heading or word for criteria. */
type Criterion = { text: string; inside: string[]; boxes: boolean[]; labelled: boolean }

type Item = Title &
  Place & {
    epicId: string | null
    priority: number | null
    dependsOn: string[]
    criteria: Criterion[]
    description: string[]
  }

/** The document as a draft: a story for each heading with an id. */
export function readStoryHeadings(lines: readonly Line[], source: string): Draft {
  const { project, description, items, strays } = readSections(lines)
  const notes = [
    `${many(items.length, 'heading')} with an id read as user stories, the boxes below them as acceptance criteria.`,
  ]
  const root = { project, description: paragraphs(description) }
  const draft = draftOf(source, root, items, (item) => asStory(item, notes), notes)
  if (strays.length > 0) {
    const [were, word] = strays.length === 1 ? ['was', 'line'] : ['were', 'lines']
    const where = `${word} ${strays.slice(0, 10).join(', ')}`
    notes.push(`${many(strays.length, 'box')} outside of the stories ${were} left out (${where}).`)
  }
  return draft
}

type Sheet = {
  project: string
  description: string[]
  items: Item[]
  /** Lines of boxes that belong to no story. */
  strays: number[]
}

function readSections(lines: readonly Line[]): Sheet {
  const sheet: Sheet = { project: '', description: [], items: [], strays: [] }
  let reader: StoryReader | null = null
  let section: string | null = null
  let inEpic: { level: number; id: string } | null = null
  for (const line of lines) {
    const { heading, number, text } = line
    const title = titleOf(line)
    if (title !== null) {
      const item = { ...title, urgency: urgencyOf(section ?? ''), epicId: inEpic?.id ?? null }
      reader = new StoryReader({ ...item, priority: null, dependsOn: [], criteria: [], description: [] })
      sheet.items.push(reader.item)
      section ??= ''
    } else if (heading !== null) {
      const words = plain(heading.text)
      if (reader?.takesHeading(heading.level, words)) continue
      if (section === null) sheet.project = words.replace(/^(?:progress|prd)\b:?[ \t]*/i, '')
      const id = epic.exec(words)?.[1]
      if (id !== undefined) inEpic = { level: heading.level, id }
      else if (inEpic !== null && heading.level <= inEpic.level) inEpic = null
      reader = null
      section = words
    } else if (reader !== null) reader.take(line)
    else if (!line.isCode) {
      if (pointOf(text)?.done != null) sheet.strays.push(number)
      // What stands below the title says what the feature is.
      if (sheet.items.length === 0 && isAbout(section ?? '', sheet.project))
        sheet.description.push(text.trim())
    }
  }
  return sheet
}

function isAbout(section: string, project: string): boolean {
  return /^(?:introduction|overview|summary|description)\b/i.test(section) || section.endsWith(project)
}

/** Takes the lines below a story's heading. */
class StoryReader {
  readonly item: Item
  #inCriteria = false
  /** The criterion that indented lines belong to. */
  #open: { criterion: Criterion; indent: number } | null = null
  /** The criterion in words that the next line goes on with. */
  #words: Criterion | null = null

  constructor(item: Item) {
    this.item = item
  }

  /** A heading below the story's own, or one for its criteria; false for what ends the story. */
  takesHeading(level: number, text: string): boolean {
    this.#open = null
    this.#words = null
    if (level <= this.item.level && !isCriteria(text)) return false
    this.#label(text)
    return true
  }

  take({ text, isCode }: Line): void {
    const { description } = this.item
    if (isCode) description.push(text)
    else if (text.trim() === '') {
      this.#words = null
      if (!this.#inCriteria) description.push('')
    } else if (this.#open !== null && indentOf(text) > this.#open.indent)
      goOn(this.#open.criterion, pointOf(text), text)
    else this.#begin(pointOf(text), text)
  }

  #begin(point: Point | null, text: string): void {
    this.#open = null
    const isBox = point !== null && point.done !== null
    const mayBeField = point === null || (!isBox && !this.#inCriteria)
    if (mayBeField && this.#field(point?.text ?? text.trim())) return
    if (isBox || (point !== null && this.#inCriteria)) {
      this.#words = null
      this.#open = { criterion: this.#criterion(point.text, point.done), indent: point.indent }
    } else if (this.#inCriteria) this.#inOwnWords(text.trim())
    else this.item.description.push(text.trim())
  }

  #criterion(text: string, done: boolean | null): Criterion {
    const boxes = done === null ? [] : [done]
    const criterion = { text, inside: [], boxes, labelled: this.#inCriteria }
    this.item.criteria.push(criterion)
    return criterion
  }

  /** Criteria without bullets: a paragraph each. */
  #inOwnWords(text: string): void {
    if (this.#words === null) this.#words = this.#criterion(text, null)
    else this.#words.text += ` ${text}`
  }

  #label(text: string): void {
    this.#inCriteria = isCriteria(text)
    if (!this.#inCriteria) this.item.description.push('', text.replace(/:$/, ''), '')
  }

  /** A line such as `**Priority:** 2`; false for what is none. */
  #field(line: string): boolean {
    const bare = line.slice(0, 200).replaceAll('**', '')
    const [, name = '', value = ''] = /^([A-Za-z][A-Za-z ]{1,30}):[ \t]*(.*)$/.exec(bare) ?? []
    const rest = line.slice(line.indexOf(':') + 1).replace(/^\**[ \t]*/, '')
    const isDescription = /^(?:description|story|user story)$/i.test(name)
    if (isCriteria(name) || isDescription) {
      this.#inCriteria = !isDescription
      if (rest !== '' && isDescription) this.item.description.push(rest)
      else if (rest !== '') this.#inOwnWords(rest)
    } else if (/^priority$/i.test(name)) {
      if (/^\d{1,6}$/.test(value.trim())) this.item.priority = Number(value)
      else this.item.urgency = urgencyOf(value)
    } else if (/^(?:depends on|dependencies|prerequisites|blocked by)$/i.test(name)) {
      const ids = line.match(/\b[A-Z][A-Z0-9]{0,15}-\d{1,6}\b|\b\d{1,4}(?:\.\d{1,4}){1,2}\b/g)
      this.item.dependsOn.push(...(ids ?? []))
    } else if (/^\*\*[^*]{1,80}\*\*:?$/.test(line)) this.#label(line.replaceAll('**', ''))
    else return false
    return true
  }
}

/** What is indented below a criterion belongs to it. */
function goOn(criterion: Criterion, point: Point | null, line: string): void {
  const { inside, boxes } = criterion
  if (point !== null) inside.push(point.text)
  else if (inside.length === 0) criterion.text += ` ${line.trim()}`
  else inside.push(`${inside.pop()} ${line.trim()}`)
  if (point !== null && point.done !== null) boxes.push(point.done)
}

function isCriteria(text: string): boolean {
  return /^(?:acceptance(?: criteri(?:a|on))?|criteria|definition of done|done when)\b/i.test(text.trim())
}

function paragraphs(lines: readonly string[]): string {
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

function asStory({ criteria: all, ...item }: Item, notes: string[]): Raw {
  const labelled = all.filter((criterion) => criterion.labelled)
  const criteria = labelled.length > 0 ? labelled : all
  const beside = all.filter((criterion) => !criteria.includes(criterion))
  if (beside.length > 0) {
    const were = beside.length === 1 ? 'was' : 'were'
    const boxes = many(beside.length, 'box')
    notes.push(`${item.id}: ${boxes} beside its acceptance criteria ${were} read as description.`)
  }
  const boxes = criteria.flatMap((criterion) => criterion.boxes)
  const ticked = boxes.filter(Boolean).length
  const passes = item.done ?? (ticked > 0 && ticked === boxes.length)
  if (!passes && ticked > 0)
    notes.push(`${item.id}: ${ticked} of ${many(boxes.length, 'box')} are ticked: it is open.`)
  return {
    id: item.id,
    epicId: item.epicId,
    title: item.title,
    description: paragraphs([...item.description, ...beside.map((criterion) => `- ${wordsOf(criterion)}`)]),
    acceptanceCriteria: criteria.map(wordsOf).filter((text) => text !== ''),
    dependsOn: [...new Set(item.dependsOn)],
    priority: item.priority,
    passes,
  }
}

function wordsOf({ text, inside }: Criterion): string {
  if (inside.length === 0) return text
  return `${text}${text.endsWith(':') ? '' : ':'} ${inside.join('; ')}`
}
