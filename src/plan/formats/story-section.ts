// The text below a story's heading: fields, description, acceptance criteria.
import { type Block, type Point, pointLines } from '../markdown-lists.ts'
import {
  findStoryIds,
  isCriteriaLabel,
  isDone,
  isRemoved,
  parseEpicId,
  parseField,
  urgencyOf,
  withoutEmphasis,
} from '../story-words.ts'

// BMAD numbers criteria in plain lines: `1: ...`, `AC1: ...`.
const numberedLine = /^(?:AC[ -]?)?\d{1,3}[.:)][ \t]+/i

const dependencies =
  /^(?:depends on|dependencies|prerequisites?(?: stories)?|blocked by|abh\u00e4ngig von|voraussetzung(?:en)?)\b/i

/** Words before stories that wait for this one. */
const outward =
  /^(?:un)?(?:blocks|blocking|enables|required (?:by|for)|needed (?:by|for)|prerequisite (?:of|for)|blockiert|erm\u00f6glicht|bloquea|bloque|blocca|bloqueia|\u0431\u043b\u043e\u043a\u0438\u0440\u0443\u0435\u0442|\u963b\u585e|\u963b\u6b62|\u30d6\u30ed\u30c3\u30af)(?![\p{L}])/iu
/** Words before stories that have nothing to do with the order. */
const unrelated =
  /^(?:(?:does|do|is|are) not\b|doesn'?t\b|not\b|no\b|independent\b|related\b|see also\b|parallel\b|can (?:run|be)\b|unabh\u00e4ngig\b)/i

/**
 * The fields of the story in the blocks. If criteria have a heading or label, other boxes are not criteria. A definition of done is the
 * same for every story, so it counts only if there are no acceptance criteria.
 */
export function storyFields(blocks: readonly Block[], id: string): StorySection {
  const isAccepted = (label: string) => isCriteriaLabel(label) && !/^definition of done\b/i.test(label.trim())
  const accepted = new StorySection(blocks, id, isAccepted, true)
  if (accepted.acceptanceCriteria.length > 0) return accepted
  const labelled = new StorySection(blocks, id, isCriteriaLabel, true)
  return labelled.acceptanceCriteria.length > 0
    ? labelled
    : new StorySection(blocks, id, isCriteriaLabel, false)
}

class StorySection {
  readonly acceptanceCriteria: string[] = []
  readonly dependsOn = new Set<string>()
  /** Stories that depend on this one. */
  readonly blocks = new Set<string>()
  priority: number | null = null
  /** By a priority in words; null without one. */
  urgency: number | null = null
  /** By a status line; null without one. */
  isDone: boolean | null = null
  /** Whether a status line says that the story was removed. */
  isRemoved = false
  epicId: string | null = null
  /** Null without a line of tags. */
  tags: string[] | null = null
  /** For each box of its criteria, whether it is ticked. */
  readonly boxes: boolean[] = []
  readonly #description: string[] = []
  readonly #id: string
  readonly #isCriteria: (label: string) => boolean
  readonly #onlyLabelled: boolean
  #under: 'words' | 'criteria' | 'dependencies' = 'words'

  constructor(
    blocks: readonly Block[],
    id: string,
    isCriteria: (label: string) => boolean,
    onlyLabelled: boolean,
  ) {
    this.#id = id
    this.#isCriteria = isCriteria
    this.#onlyLabelled = onlyLabelled
    for (const block of blocks) {
      if (block.kind === 'heading') this.#label(withoutEmphasis(block.text))
      else if (block.kind === 'verbatim') this.#verbatim(block.text)
      else if (block.kind === 'words') this.#words(block.lines)
      else this.#points(block.points)
    }
  }

  /** The fields with their names in prd.json. */
  get raw() {
    return {
      description: this.#description.filter((part) => part !== '').join('\n\n'),
      acceptanceCriteria: this.acceptanceCriteria,
      dependsOn: [...this.dependsOn],
      priority: this.priority,
      ...(this.tags === null ? {} : { tags: this.tags }),
    }
  }

  get isTicked(): boolean {
    return this.boxes.length > 0 && this.boxes.every(Boolean)
  }

  #status(value: string): void {
    this.isDone = isDone(value)
    this.isRemoved ||= isRemoved(value)
  }

  /** A quotation may hold the status: `> **Status:** REMOVED`. */
  #verbatim(text: string): void {
    for (const line of text.startsWith('>') ? text.split('\n') : []) {
      const field = parseField(line.replace(/^[>\s]+/, ''))
      if (field?.name === 'status') this.isRemoved ||= isRemoved(field.value)
    }
    this.#description.push(text)
  }

  #words(lines: readonly string[]): void {
    let continuesCriterion = false
    const descriptionLines: string[] = []
    const rows = this.#inCriteria() ? tableRows(lines) : null
    if (rows !== null) {
      this.acceptanceCriteria.push(...rows)
      return
    }
    for (const line of lines.flatMap(fieldsOf)) {
      const rest = this.#field(line)
      continuesCriterion &&= rest === null
      const text = rest ?? line
      if (text === '') continue
      if (!this.#inCriteria()) descriptionLines.push(this.#describe(text))
      else {
        const before =
          continuesCriterion && !numberedLine.test(text) ? `${this.acceptanceCriteria.pop()} ` : ''
        this.acceptanceCriteria.push(before + text.replace(numberedLine, ''))
        continuesCriterion = true
      }
    }
    this.#description.push(descriptionLines.join('\n'))
  }

  #points(points: readonly Point[]): void {
    const items: string[] = []
    for (const point of points) {
      const isBox = point.done !== null
      const rest = isBox || this.#inCriteria() ? null : this.#field(point.text)
      if (rest !== null) {
        if (rest !== '') (this.#inCriteria() ? this.acceptanceCriteria : this.#description).push(rest)
        this.#points(point.points)
      } else if (this.#inCriteria() || (isBox && !this.#onlyLabelled)) {
        const text = criterionOf(point)
        if (text !== '') this.acceptanceCriteria.push(text)
        this.boxes.push(...boxesOf(point))
      } else items.push(isBox ? `- ${criterionOf(point)}` : this.#describe(bulleted(point, '')))
    }
    this.#description.push(items.join('\n'))
  }

  #inCriteria(): boolean {
    return this.#under === 'criteria'
  }

  /** Returns text for the description. Below a heading for dependencies, stories that it names are added to `dependsOn`. */
  #describe(text: string): string {
    if (this.#under === 'dependencies') this.#addDependencies(text)
    return text
  }

  /** Adds ids of stories in the words to `dependsOn`. Returns whether there were any. */
  #addDependencies(words: string): boolean {
    const bare = withoutEmphasis(words).replace(/^[-*+][ \t]+/, '')
    const ids = unrelated.test(bare) ? [] : findStoryIds(words, this.#id)
    const found = outward.test(bare) ? this.blocks : this.dependsOn
    for (const id of ids) found.add(id)
    return ids.length > 0
  }

  #label(text: string): void {
    this.#under = this.#isCriteria(text) ? 'criteria' : dependencies.test(text) ? 'dependencies' : 'words'
    if (!this.#inCriteria()) this.#description.push(text.replace(/:$/, ''))
  }

  /** Reads a field such as `**Priority:** 2`. Returns text of the line that is still to be read; null if the line is not a field. */
  #field(line: string): string | null {
    const { name = '', value = '' } = parseField(line) ?? {}
    if (this.#isCriteria(name) || /^(?:description|story|user story)$/.test(name)) {
      this.#under = this.#isCriteria(name) ? 'criteria' : 'words'
      return value
    }
    if (name === 'priority') {
      if (/^\d{1,6}$/.test(value)) this.priority = Number(value)
      else this.urgency = urgencyOf(value)
    } else if (name === 'tags' || name === 'labels') this.tags = tagsOf(value)
    else if (name === 'status') this.#status(value)
    else if (name === 'epic')
      this.epicId = parseEpicId(value) ?? (withoutEmphasis(value).slice(0, 60) || null)
    else if (outward.test(name) && value !== '' && this.#addDependencies(line)) return ''
    else if (dependencies.test(name) && value !== '') {
      // A dependency that is not a story, such as a library's version, stays in the description.
      if (this.#addDependencies(value) || /^(?:none|nothing|n\/a|-|\u2013)\.?$/i.test(value)) return ''
      this.#under = 'words'
      this.#description.push(line)
    } else if (/^\*\*[^*]{1,80}\*\*:?$/.test(line)) this.#label(line.replaceAll('**', ''))
    else return null
    return ''
  }
}

/** The words of each row of a table, without its number; null for lines that are not a table. */
function tableRows(lines: readonly string[]): string[] | null {
  const [head, rule, ...rows] = lines.map((line) => line.trim())
  if (head === undefined || rule === undefined) return null
  if (!head.startsWith('|') || !/^\|(?:[ \t]*:?-+:?[ \t]*\|)+$/.test(rule)) return null
  return rows
    .map((row) =>
      row
        .replace(/^\||\|$/g, '')
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim())
        .filter(
          (cell) =>
            cell !== '' &&
            !/^(?:AC[ -]?)?#?\d{1,3}(?:\.\d{1,3})?[.)]?$|^(?:\[[ xX]\]|[\u2610\u2611\u2705\u274c\u2b1c-])$/i.test(
              cell,
            ),
        )
        .join(': '),
    )
    .filter((words) => words !== '')
}

/** The fields of a line, which may have several: `**Priority:** 1 | **Tags:** ui`. */
function fieldsOf(line: string): string[] {
  const parts = line
    .slice(0, MAX_FIELDS_LENGTH)
    .split(/[ \t]*[|\u00b7,;]?[ \t]+(?=\*\*[A-Za-z][A-Za-z ]{1,30}(?::\*\*|\*\*:))/)
  const isAll =
    line.length <= MAX_FIELDS_LENGTH &&
    parts.every((part) => part.startsWith('**') && parseField(part) !== null)
  return isAll ? parts : [line]
}

const MAX_FIELDS_LENGTH = 500

/** Tags, each cut to 100 characters; empty for "none". */
function tagsOf(value: string): string[] {
  const words = value.replaceAll('`', '').split(/[,;]|[ \t]+(?=#)/)
  const tags = words.map((word) => word.trim().replace(/^#/, '').slice(0, 100)).filter((tag) => tag !== '')
  return tags.every((tag) => /^(?:none|n\/a|-|\u2013)$/i.test(tag)) ? [] : [...new Set(tags)]
}

/** A point with the points below it in one line: `text: first point; second point`. */
export function criterionOf({ text, more, points }: Point): string {
  const own = [text, ...more].join(' ')
  const inside = points.flatMap(pointLines)
  return inside.length === 0 ? own : `${own}${own.endsWith(':') ? '' : ':'} ${inside.join('; ')}`
}

export function boxesOf({ done, points }: Point): boolean[] {
  return [...(done === null ? [] : [done]), ...points.flatMap(boxesOf)]
}

export function bulleted({ text, more, points }: Point, indent: string): string {
  const own = [`${indent}- ${text}`, ...more.map((line) => `${indent}  ${line}`)]
  return [...own, ...points.map((point) => bulleted(point, `${indent}  `))].join('\n')
}
