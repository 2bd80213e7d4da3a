// Lists of boxes and sections of tasks, as people and agents write them. An outer box is a story. So is a heading such as
// `### Task 2: Name` with the boxes below it. Both may describe the same task.
import { formatCount } from '../../engine/prd/migrate.ts'
import { type Block, boxLines, type Heading, type Point } from '../markdown-lists.ts'
import type { OpenDocument } from '../open-document.ts'
import { isNonWorkHeading } from '../sections.ts'
import {
  findStoryIds,
  isStoryId,
  normalizeWords,
  parseLeadingId,
  urgencyOf,
  withoutEmphasis,
} from '../story-words.ts'
import type { ParsedStory, Reading } from '../types.ts'
import { boxTitle, isCheckpoint, isProcessStep, parseTask, plainNumber } from './box-text.ts'
import { hasBox, readTask, stepsBelow, type TaskTitle, taskTitleOf } from './task-section.ts'

/** `numbers`: the number before a box, or before a heading (`### 2. Name`), is that of a task. */
export type ListOptions = { numbers?: boolean }

type Section = { heading: Heading; title: TaskTitle; blocks: Block[]; above: readonly Heading[] }

/** What is read of a list. `needs`: numbers of tasks that a story depends on. */
type Found = {
  stories: { story: ParsedStory; needs: readonly string[]; isSection: boolean }[]
  left: Map<string, number[]>
  steps: string[]
  learnings: string[]
  notes: string[]
}

/** The stories of a list, with notes on everything that is none. */
export function readTaskList(
  document: OpenDocument,
  options: ListOptions = {},
): Partial<Reading> & { project: string | null } {
  const { blocks, file } = document
  const sections = sectionsOf(blocks, options)
  const found: Found = { stories: [], left: new Map(), steps: [], learnings: [], notes: [] }
  const walk = new ListWalk(blocks, found, options, file.as === 'stories')
  const starts = new Map(sections.map((section) => [section.heading, section]))
  const inSections = new Set<Block>(sections.flatMap((section) => section.blocks))
  for (const block of blocks) {
    const section = block.kind === 'heading' ? starts.get(block) : undefined
    if (section !== undefined) addSection(section, walk, found)
    else if (!inSections.has(block)) walk.take(block)
  }
  const stories = withKnownNeeds(joinSame(found))
  const left = [...found.left.values()].flat().length
  return {
    stories,
    notes: notesOf(stories, sections.length, found),
    boxes: left + found.steps.length,
    root: { run: { learnings: found.learnings } },
    project: walk.title,
    ...(stories.length === 0 ? { prose: 'background' as const } : {}),
  }
}

/** Whether some heading names a task with the word Task. */
export function hasTaskHeading(blocks: readonly Block[]): boolean {
  return blocks.some(
    (block) =>
      block.kind === 'heading' && block.level > 1 && taskTitleOf(block.text, false)?.isNamed === true,
  )
}

/** The sections of tasks. A heading with only a number needs a box below it; one above other tasks is a group. */
function sectionsOf(blocks: readonly Block[], { numbers = false }: ListOptions): Section[] {
  if (areBoxesStories(blocks)) return []
  const sections: Section[] = []
  let above: Heading[] = []
  for (const [index, block] of blocks.entries()) {
    if (block.kind !== 'heading') continue
    above = above.filter(({ level }) => level < block.level)
    const title = block.level > 1 ? taskTitleOf(block.text, numbers) : null
    const below = title === null ? [] : blocksBelow(block, blocks.slice(index + 1))
    const isWork = !above.some(({ level, text }) => level > 1 && isNonWorkHeading(text))
    if (title !== null && isWork && (title.isNamed || below.some(hasBox)) && !isGroup(below, title))
      sections.push({ heading: block, title, blocks: below, above })
    above = [...above, block]
  }
  return sections
}

function isGroup(below: readonly Block[], { number }: TaskTitle): boolean {
  return below.some((block) => {
    const inner = block.kind === 'heading' ? taskTitleOf(block.text, false) : null
    return inner !== null && (inner.isNamed || inner.number.startsWith(`${number}.`))
  })
}

function blocksBelow({ level }: Heading, blocks: readonly Block[]): Block[] {
  const end = blocks.findIndex((one) => one.kind === 'heading' && one.level <= level)
  return end < 0 ? [...blocks] : blocks.slice(0, end)
}

/** Whether the boxes have their own ids, so that headings are only groups. */
function areBoxesStories(blocks: readonly Block[]): boolean {
  const points = blocks.flatMap((block) => (block.kind === 'points' ? block.points : []))
  const boxes = points.filter(({ done }) => done !== null)
  const own = boxes.flatMap(({ text }) => parseLeadingId(text) ?? []).filter(({ id }) => isStoryId(id))
  return own.length > 0 && own.length * 2 >= boxes.length
}

function addSection({ heading, title, blocks, above }: Section, walk: ListWalk, found: Found): void {
  const { story, needs, notes } = readTask(heading, title, blocks)
  found.notes.push(...notes)
  const raw = { ...story.raw, epicId: walk.epicOf(above) }
  const whole: ParsedStory = { ...story, rank: 'planned', raw, isNumbered: true }
  found.stories.push({ story: whole, needs, isSection: true })
}

/** Goes through the boxes outside of sections, and remembers the headings above them. */
class ListWalk {
  title: string | null = null
  #above: Heading[] = []
  readonly #repeated: ReadonlySet<string>
  readonly #found: Found
  readonly #options: ListOptions
  readonly #isRequested: boolean

  constructor(blocks: readonly Block[], found: Found, options: ListOptions, isRequested: boolean) {
    this.#found = found
    this.#options = options
    this.#isRequested = isRequested
    const headings = blocks.flatMap((block) =>
      block.kind === 'heading' ? [withoutEmphasis(block.text)] : [],
    )
    this.#repeated = new Set(headings.filter((text, index) => headings.indexOf(text) !== index))
    this.#phasesWithTasks = phasesWithTasks(blocks)
  }

  readonly #phasesWithTasks: ReadonlySet<Heading>

  take(block: Block): void {
    if (block.kind === 'heading') {
      this.title ??= block.text.replace(/^(?:progress|prd):?[ \t]*/i, '').trim()
      this.#above = [...this.#above.filter(({ level }) => level < block.level), block]
    } else if (block.kind === 'points') for (const point of block.points) this.#takePoint(point)
  }

  epicOf(above: readonly Heading[]): string | null {
    return epicOf(above, this.#repeated)
  }

  #takePoint(point: Point): void {
    const boxes = boxLines(point)
    const noWork = this.#isRequested || boxes.length === 0 ? null : this.#noWorkHeading()
    const section = this.#above.at(-1)?.text ?? ''
    if (noWork !== null) this.#found.left.set(noWork, [...(this.#found.left.get(noWork) ?? []), ...boxes])
    else if (point.done !== null) this.#takeBox(point)
    else {
      if (/^(notes|learnings|discoveries)\b/i.test(section) && point.text !== '')
        this.#found.learnings.push(point.text)
      for (const inner of point.points) this.#takePoint(inner)
    }
  }

  #noWorkHeading(): string | null {
    const found = this.#above.find(
      (heading) =>
        heading.level > 1 && (isNonWorkHeading(heading.text) || this.#phasesWithTasks.has(heading)),
    )
    return found === undefined ? null : withoutEmphasis(found.text)
  }

  #takeBox(point: Point): void {
    const { stories, steps } = this.#found
    const isStep = !this.#isRequested && (isCheckpoint(point.text) || isProcessStep(point.text))
    if (!isStep) {
      stories.push(boxStory(point, this.#above, this.epicOf(this.#above), this.#options))
      return
    }
    steps.push(`"${withoutEmphasis(point.text).slice(0, 60)}" (line ${point.line})`)
    const last = stories.at(-1)
    if (last === undefined || last.isSection || lastHeading.get(last.story) !== this.#above.at(-1)) return
    const { raw } = last.story
    last.story.raw = { ...raw, description: [raw.description, `- ${point.text}`].filter(Boolean).join('\n') }
  }
}

const MAX_EPIC = 60

/**
 * The name of an epic: the nearest heading that is not only a word such as "Tasks". One of the `repeated` headings comes with the
 * heading above it.
 */
export function epicOf(above: readonly Heading[], repeated: ReadonlySet<string> = new Set()): string | null {
  const named = above
    .filter(({ level, text }) => level > 1 && !generic.test(bareWords(text)))
    .map(({ text }) => withoutEmphasis(text))
  const [own, parent] = named.toReversed()
  if (own === undefined) return null
  const name = parent !== undefined && repeated.has(own) ? `${parent}: ${own}` : own
  return name.replace(/\s+/g, ' ').slice(0, MAX_EPIC).trim()
}

const generic =
  /^(?:(?:implementation|spec|current|all|remaining|open) )?(?:tasks?|task list|task breakdown|to ?dos?|todo list|lists?|backlog|items|work|steps|plan|phases)$|^(?:remaining|completed?|done|in progress|open|pending|next|up next|progress|overview)$/i

function bareWords(text: string): string {
  return withoutEmphasis(text)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** Headings "Tests" alongside a heading "Tasks" below the same phase: their boxes are criteria of the phase. */
function phasesWithTasks(blocks: readonly Block[]): Set<Heading> {
  const found = new Set<Heading>()
  let siblings: Heading[] = []
  for (const block of blocks) {
    if (block.kind !== 'heading') continue
    siblings = siblings.filter(({ level }) => level === block.level)
    const hasTasks = siblings.some(({ text }) =>
      /^(?:tasks|deliverables|implementation|steps)$/i.test(bareWords(text)),
    )
    if (hasTasks && /^tests?$/i.test(bareWords(block.text))) found.add(block)
    siblings.push(block)
  }
  return found
}

/** The heading above the box of a story. */
const lastHeading = new WeakMap<ParsedStory, Heading | undefined>()

const needs = /[([](?:depends on|after|blocked by|requires)[: \t]+([^)\]]{1,200})[)\]]/i

function boxStory(
  { line, text, more, done, points }: Point,
  above: readonly Heading[],
  epicId: string | null,
  { numbers = false }: ListOptions,
): Found['stories'][number] {
  const task = parseTask(text) ?? (numbers ? numberOf(text) : null)
  const named = task === null ? parseLeadingId(text) : { id: task.number, title: task.rest || text }
  const { id, title } = named ?? { id: undefined, title: text }
  const [wholeNeeds, wanted = ''] = needs.exec(title) ?? []
  const dependsOn = findStoryIds(wanted, id ?? '')
  const numbersNeeded = task === null ? [] : taskNumbersIn(wanted)
  const isNeed = dependsOn.length > 0 || numbersNeeded.length > 0
  const whole = isNeed && wholeNeeds !== undefined ? title.replace(wholeNeeds, '').trim() : title
  const name = boxTitle(whole)
  const below = stepsBelow(points)
  const isCut = name !== withoutEmphasis(whole)
  // A cut title is only the beginning of what the story has to bring.
  const isParagraph = isCut && below.criteria.length === 0
  const lines = isParagraph ? more.filter((one) => !one.includes('\n')) : []
  const acceptanceCriteria = isParagraph ? [[whole, ...lines].join(' ')] : below.criteria
  const story: ParsedStory = {
    line,
    raw: {
      ...{ id, title: name, epicId, acceptanceCriteria, passes: done },
      description: [
        isCut && !isParagraph ? whole : '',
        ...more.filter((one) => !lines.includes(one)),
        below.description,
      ]
        .filter(Boolean)
        .join('\n'),
      ...(dependsOn.length > 0 ? { dependsOn } : {}),
    },
    urgency: urgencyOf(above.at(-1)?.text ?? ''),
    isNumbered: task !== null,
    marks: [
      { kind: 'box', line },
      ...(numbers ? points.flatMap(boxLines) : []).map((one) => ({ kind: 'box' as const, line: one })),
    ],
  }
  lastHeading.set(story, above.at(-1))
  return { story, needs: numbersNeeded, isSection: false }
}

function taskNumbersIn(words: string): string[] {
  return words.match(/\d{1,3}(?:\.\d{1,3}){0,2}/g)?.map(plainNumber) ?? []
}

function numberOf(text: string): { number: string; rest: string } | null {
  const [, number, rest] = /^\*{0,2}(\d{1,3}(?:\.\d{1,3}){0,2})[.)]?[ \t]+(\S.*)$/s.exec(text) ?? []
  if (number === undefined || rest === undefined) return null
  return {
    number: plainNumber(number),
    rest: text.startsWith('**') ? `**${rest.replace(/^\*\*/, '')}` : rest,
  }
}

/** A box and a section with the same number or title become one story. The section says more, so its state counts. */
function joinSame({ stories, notes }: Found): Found['stories'] {
  const sections = stories.filter(({ isSection }) => isSection)
  const joined = new Map<ParsedStory, ParsedStory>()
  const rest = stories.filter((one) => {
    if (one.isSection) return true
    const title = normalizeWords(String(one.story.raw.title))
    const same = sections.find(
      ({ story }) =>
        !joined.has(story) &&
        (one.story.raw.id === undefined
          ? false
          : story.raw.id === one.story.raw.id || normalizeWords(String(story.raw.title)) === title),
    )
    if (same === undefined) return true
    joined.set(same.story, one.story)
    return false
  })
  return rest.map((one) => {
    const box = joined.get(one.story)
    if (box === undefined) return one
    const { story } = one
    const hasOwnState = (story.marks ?? []).length > 0
    if (hasOwnState && box.raw.passes !== story.raw.passes)
      notes.push(
        `task ${String(story.raw.id)} is ${box.raw.passes === true ? 'done' : 'open'} in line ${box.line} but ${story.raw.passes === true ? 'done' : 'open'} in line ${story.line}. Ralph uses line ${story.line}, because it has more detail.`,
      )
    const passes = hasOwnState ? story.raw.passes : box.raw.passes
    const epicId = box.raw.epicId ?? story.raw.epicId
    return {
      ...one,
      story: {
        ...story,
        raw: { ...story.raw, epicId, passes },
        marks: [...(box.marks ?? []), ...(story.marks ?? [])],
      },
    }
  })
}

/** The stories with their dependencies, as far as these are stories of the document. */
function withKnownNeeds(stories: Found['stories']): ParsedStory[] {
  const ids = new Set(stories.map(({ story }) => String(story.raw.id)))
  return stories.map(({ story, needs: wanted }) => {
    const known = wanted.filter((one) => ids.has(one) && one !== story.raw.id)
    if (known.length === 0) return story
    const before = Array.isArray(story.raw.dependsOn) ? story.raw.dependsOn : []
    return { ...story, raw: { ...story.raw, dependsOn: [...before, ...known] } }
  })
}

function notesOf(stories: readonly ParsedStory[], sections: number, { left, steps, notes }: Found): string[] {
  const boxes = stories.length - sections
  const read = [
    ...(sections > 0 ? [`${formatCount(sections, 'task')} below headings`] : []),
    ...(boxes > 0 ? [`${formatCount(boxes, 'box')} of the check list`] : []),
  ]
  const all = [...(read.length > 0 ? [`${read.join(' and ')} read as user stories.`] : []), ...notes]
  for (const [heading, lines] of left)
    all.push(
      `left out: ${formatCount(lines.length, 'box')} below "${heading}" (line ${lines.slice(0, 5).join(', ')}${lines.length > 5 ? ' ...' : ''}).`,
    )
  if (steps.length > 0) {
    const named = `${steps.slice(0, 10).join(', ')}${steps.length > 10 ? ' ...' : ''}`
    all.push(
      `these boxes ask for no change that a gate could check, so Ralph reads them as steps and not as stories: ${named}.`,
    )
  }
  return all
}
