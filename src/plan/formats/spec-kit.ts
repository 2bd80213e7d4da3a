// Spec Kit: tasks.md and spec.md of one feature. Each user story is a story; set-up phases come first, polish last.
import { oneLine } from '../../engine/model/text.ts'
import { formatCount } from '../../engine/prd/migrate.ts'
import type { Block, Heading } from '../markdown-lists.ts'
import type { OpenDocument } from '../open-document.ts'
import { isNonWorkHeading } from '../sections.ts'
import { withoutEmphasis } from '../story-words.ts'
import type { DocumentSet, Format, ParsedStory, Reading } from '../types.ts'
import { type Box, flattenBoxes, parseBoxes } from './boxes.ts'
import { storyDependencies } from './spec-kit-order.ts'
import { readTaskList } from './task-list.ts'

const FOLDER = /^(?:\.specify\/)?specs\/\d{3,}[^/]*\/$/
/** A folder without a number is one of a feature only if it has a list of tasks. */
const NAMED_FOLDER = /^(?:\.specify\/)?specs\/[^/._][^/]*\/$/

export const specKit: Format = {
  name: 'Spec Kit',
  rank: 'detailed',
  discoveryPath:
    /^(?:\.specify\/)?specs\/(?:\d{3,}[^/]*\/(?:tasks|spec|plan|research|data-model|quickstart)|[^/._][^/]*\/tasks)\.md$/,
  matches: (document, documents) =>
    isTasks(document) || FOLDER.test(document.folder) || isBesideTasks(document, documents),
  read(document, documents) {
    const { folder, name, blocks } = document
    const unit = { of: 'Spec Kit feature', name: folder.replace(/\/$/, '') }
    if (isTasks(document) && !isNumbered(document)) return { ...readPlainTasks(document), unit }
    const stories = storiesIn(document, documents)
    if (stories !== null) {
      const notes = [`${formatCount(stories.length, 'story')} of this feature read.`]
      return { stories, unit, notes, root: { project: featureOf(document) } }
    }
    const what = `${name.replace('.md', '')} of a Spec Kit feature`
    return { prose: 'background', what, unit, boxes: flattenBoxes(parseBoxes(blocks)).length }
  },
}

/** Whether the tasks have numbers, labels or phases of user stories. */
function isNumbered({ blocks }: OpenDocument): boolean {
  return flattenBoxes(parseBoxes(blocks)).some(
    (box) => TASK.test(box.text) || groupsOf(box).some(({ id }) => isUserStory(id)),
  )
}

/** Tasks without numbers and labels are a check list. */
function readPlainTasks(document: OpenDocument): Partial<Reading> {
  const { project, root, ...reading } = readTaskList(document)
  return { ...reading, root: { ...root, project: featureOf(document) || project } }
}

/** The stories of tasks.md with those of spec.md; only those of spec.md if there is no tasks.md; else null. */
function storiesIn(document: OpenDocument, documents: DocumentSet): ParsedStory[] | null {
  if (isTasks(document)) return withTasks(document, storiesOfSpec(documents.at(`${document.folder}spec.md`)))
  if (document.name !== 'spec.md' || tasksBeside(document, documents) !== null) return null
  const specStory = storiesOfSpec(document)
  return specStory.length === 0 ? null : specStory.map((story) => parseStory(story, []))
}

const LABELS = /\[(?:P|(?:[A-Z][A-Z0-9]*-)?US-?\d+(?:[ \t]*[,/&+][ \t]*(?:US-?)?\d+)*)\][ \t]*/g
const TASK = /^(?:\*\*)?(T\d{1,4}[a-z]?)\b(?:\*\*)?[ \t]*/

function isTasks({ folder, name, blocks }: OpenDocument): boolean {
  if (name !== 'tasks.md') return false
  const boxes = flattenBoxes(parseBoxes(blocks))
  return (
    boxes.length > 0 &&
    (NAMED_FOLDER.test(folder) || boxes.some(({ text }) => TASK.test(text) && labels.test(text)))
  )
}

/** Whether the document belongs to a feature whose folder has no number. */
function isBesideTasks(document: OpenDocument, documents: DocumentSet): boolean {
  const isKnown = /^(?:spec|plan|research|data-model|quickstart|requirements|design)\.md$/.test(document.name)
  return isKnown && NAMED_FOLDER.test(document.folder) && tasksBeside(document, documents) !== null
}

function tasksBeside({ folder }: OpenDocument, documents: DocumentSet): OpenDocument | null {
  const tasks = documents.at(`${folder}tasks.md`)
  return tasks !== null && isTasks(tasks) ? tasks : null
}

function featureOf({ title }: OpenDocument): string {
  return title.replace(/^(?:tasks|feature specification|implementation plan)[ \t]*[:\u2013-][ \t]*/i, '')
}

// ---- spec.md

/** `User Story 1`, `US-1`, `US1`; an area may precede it: `AUTH-US1`. */
const STORY_ID =
  '(?:user story[ \\t]*)?(?:([A-Z][A-Z0-9]{0,15})-)?US[ \\t-]?(\\d{1,3})|user story[ \\t]*(\\d{1,3})'
const REST = '\\b[ \\t]*[:.\u2013\u2014-]?[ \\t]*(.*)$'
const userStory = new RegExp(`^(?:phase \\d+[ \\t]*[:.\u2013-][ \\t]*)?(?:${STORY_ID})${REST}`, 'i')
const storyInside = new RegExp(`\\b(?:([A-Z][A-Z0-9]{0,15})-)?US[ \\t]?(\\d{1,3})()${REST}`)
const labels = /\[(?:([A-Z][A-Z0-9]{0,15})-)?US-?(\d{1,3}(?:[ \t]*[,/&+][ \t]*(?:US-?)?\d{1,3})*)\]/
/** `User Story 2 & 3`: further numbers after the first one. */
const furtherStories =
  /^(?:phase \d+[ \t]*[:.\u2013-][ \t]*)?(?:user stor(?:y|ies)|US)[ \t-]*\d{1,3}((?:[ \t]*(?:,|&|\/|\+|and)[ \t]*(?:user story[ \t]*|US-?)?\d{1,3})+)\b[ \t]*[:.\u2013\u2014-]?[ \t]*(.*)$/i

/** The id of a user story and the text after it; null if there is no id. */
function namedIn(words: string, pattern: RegExp): { id: string; rest: string } | null {
  const [, area, short, long, rest = ''] = pattern.exec(words) ?? []
  const number = short ?? long
  if (number === undefined || number === '') return null
  return { id: `${area === undefined ? '' : `${area.toUpperCase()}-`}US${Number(number)}`, rest }
}

type SpecStory = {
  id: string
  title: string
  line: number
  priority: number
  description: string
  criteria: string[]
}

/** The title without `(Priority: P1)` and emoji. */
function titleOf(words: string): string {
  return words
    .replace(/[([][ \t]*priority[^)\]]*[)\]]|\(P\d\)|\u{1f3af}|\bMVP\b[ \t]*$/giu, '')
    .replace(/\s+/g, ' ')
    .replace(/^[ :\u2013\u2014-]+/, '')
    .trim()
}

function priorityOf(words: string): number {
  return Number(/\bP(\d{1,2})\b/.exec(words)?.[1] ?? 9)
}

function storiesOfSpec(spec: OpenDocument | null): SpecStory[] {
  const stories: SpecStory[] = []
  let story: { specStories: SpecStory; level: number } | null = null
  for (const block of spec?.blocks ?? []) {
    if (block.kind === 'heading') {
      const words = oneLine(withoutEmphasis(block.text), 500)
      const found = namedIn(words, userStory)
      if (found !== null) {
        const { id, rest } = found
        const specStory = {
          id,
          title: titleOf(rest) || `User story ${id.replace(/^US/, '')}`,
          line: block.line,
          priority: priorityOf(words),
          description: '',
          criteria: [],
        }
        stories.push(specStory)
        story = { specStories: specStory, level: block.level }
      } else if (story !== null && block.level <= story.level) story = null
    } else if (story !== null) addTo(story.specStories, block)
  }
  for (const one of stories)
    one.criteria.sort((a, b) => Number(independentCriterion(a)) - Number(independentCriterion(b)))
  return stories.toSorted((a, b) => a.priority - b.priority)
}

const scenario = /^\**given\b/i
const scenarioGoesOn = /^\**(?:when|then|and|but)\b/i
const independent = /^\**independent test\**[ \t]*:?\**[ \t]*/i

function independentCriterion(text: string): boolean {
  return text.startsWith('Independent test: ')
}

function addTo(specStories: SpecStory, block: Block): void {
  if (block.kind === 'points') {
    for (const { text, more } of block.points) specStories.criteria.push([text, ...more].join(' '))
    return
  }
  if (block.kind !== 'words') return
  const words = block.lines.join('\n')
  if (independent.test(words))
    specStories.criteria.push(`Independent test: ${words.replace(independent, '')}`)
  else if (scenario.test(words)) specStories.criteria.push(block.lines.join(' '))
  else if (scenarioGoesOn.test(words) && scenario.test(specStories.criteria.at(-1) ?? ''))
    specStories.criteria.push(`${specStories.criteria.pop()} ${block.lines.join(' ')}`)
  else if (!/^\**acceptance scenarios?\**:?\**$/i.test(words))
    specStories.description += `${specStories.description && '\n\n'}${words}`
}

// ---- tasks.md

type Group = { id: string; title: string; line: number; boxes: Box[]; words: string[]; phase: number }

const phases: readonly [RegExp, string][] = [
  [/\bset-?up\b/i, 'SETUP'],
  [/\bfoundation/i, 'FOUNDATIONAL'],
  [/\bconvergence\b/i, 'CONVERGENCE'],
  [/\bpolish\b|cross-cutting/i, 'POLISH'],
]

type TaskGroup = { id: string; title: string; heading: Heading | null }

/** The groups of a task: its user stories by label or heading, else its phase. */
function groupsOf({ text, headings }: Box): TaskGroup[] {
  const heading = headings.find(({ level }) => level > 1) ?? null
  const words = oneLine(withoutEmphasis(heading?.text ?? ''), 500)
  const inPhase = storiesInHeading(words)
  const labelled = labelsOf(text)
  // A phase for several stories belongs to all of them, whichever of them its tasks name.
  const isShared = inPhase.length > 1 && labelled.every((id) => inPhase.some((one) => one.id === id))
  const ids = labelled.length === 0 || isShared ? inPhase.map(({ id }) => id) : labelled
  if (ids.length === 0) return [phaseOf(words, headings, heading)]
  return ids.map((id) => ({ id, title: titleOf(inPhase.find((one) => one.id === id)?.rest ?? ''), heading }))
}

function storiesInHeading(words: string): { id: string; rest: string }[] {
  const first = namedIn(words, userStory) ?? namedIn(words, storyInside)
  if (first === null) return []
  const [, further = '', rest = first.rest] = furtherStories.exec(words) ?? []
  const others = (further.match(/\d{1,3}/g) ?? []).map((number) => `US${Number(number)}`)
  return [first.id, ...others].map((id) => ({ id, rest }))
}

/** The stories of all labels: `[US1] [US2]`, `[US1, US2]`, `[US1/2]`. */
function labelsOf(text: string): string[] {
  const found = [...text.matchAll(new RegExp(labels.source, 'g'))].flatMap(([, area, numbers = '']) =>
    (numbers.match(/\d{1,3}/g) ?? []).map(
      (one) => `${area === undefined ? '' : `${area.toUpperCase()}-`}US${Number(one)}`,
    ),
  )
  return [...new Set(found)]
}

function phaseOf(words: string, headings: readonly Heading[], heading: Heading | null): TaskGroup {
  const title = words.replace(/^phase [\w.]+[ \t]*[:.\u2013-]?[ \t]*/i, '')
  const [, known] = phases.find(([name]) => name.test(words)) ?? []
  const [, count] = /^phase (\d{1,3})/i.exec(words) ?? []
  return { id: known ?? `PHASE-${count ?? headings[0]?.line ?? 1}`, title: title || words, heading }
}

/** The boxes of tasks, without checklists about the file itself, and without unnumbered boxes if others have numbers. */
function tasksOf(blocks: readonly Block[]): Box[] {
  const boxes = flattenBoxes(parseBoxes(blocks)).filter(
    ({ headings }) => !headings.some(({ level, text }) => level > 1 && isNonWorkHeading(text)),
  )
  const isNumbered = boxes.some(({ text }) => TASK.test(text))
  return boxes.filter(({ text }) => !isNumbered || TASK.test(text))
}

function withTasks({ blocks }: OpenDocument, specStory: readonly SpecStory[]): ParsedStory[] {
  const boxes = tasksOf(blocks)
  const groups = new Map<string, Group>()
  for (const [box, { id, title, heading }] of boxes.flatMap((box) =>
    groupsOf(box).map((group) => [box, group] as const),
  )) {
    const group = groups.get(id) ?? {
      id,
      title,
      line: heading?.line ?? box.line,
      boxes: [],
      words: wordsBelow(blocks, heading),
      phase: groups.size,
    }
    group.boxes.push(box)
    group.title ||= title
    groups.set(id, group)
  }
  if (![...groups.keys()].some(isUserStory) && specStory.length === 0) return boxes.map(taskAlone)
  const rest = specStory
    .filter(({ id }) => !groups.has(id))
    .map(({ id, title, line }) => ({ id, title, line, boxes: [], words: [], phase: groups.size }))
  const all = [...groups.values(), ...rest]
  const before = all
    .filter(({ id }) => id === 'SETUP' || id === 'FOUNDATIONAL')
    .toSorted((a, b) => a.phase - b.phase)
  const after = all.filter((group) => !before.includes(group) && !isUserStory(group.id))
  const stories = all.filter(({ id }) => isUserStory(id))
  const inOrder = [...before, ...stories, ...after]
  const places = new Map(inOrder.map(({ id }, index) => [id, index]))
  const groupOfTask = new Map(
    all.flatMap(({ id, boxes: own }) => own.map(({ text }) => [idOf(text), id] as const)),
  )
  const wanted = storyDependencies(blocks)
  const edges = new Map<string, string[]>()
  return inOrder.map((group, index) => {
    const needs = new Set(
      group.boxes.flatMap((box) => needsOf(wholeText(box))).flatMap((id) => groupOfTask.get(id) ?? []),
    )
    const isLast = after.includes(group)
    for (const one of isLast ? stories : []) needs.add(one.id)
    const base = before.filter((one) => (places.get(one.id) ?? 0) < index).at(-1)
    if (base !== undefined && !(isLast && stories.length > 0)) needs.add(base.id)
    // A group may only depend on earlier groups.
    const dependsOn = [...needs].filter((id) => id !== group.id && (places.get(id) ?? 0) < index)
    // What the document says of stories counts in any order, unless it closes a circle.
    for (const id of wanted.get(group.id) ?? [])
      if (places.has(id) && !dependsOn.includes(id) && !leadsTo(id, group.id, edges)) dependsOn.push(id)
    edges.set(group.id, dependsOn)
    const own = specStory.find(({ id }) => id === group.id) ?? {
      ...{ id: group.id, title: group.title || group.id, line: group.line, priority: 9 },
      description: group.words.filter((one) => !independent.test(one)).join('\n\n'),
      criteria: [],
    }
    // Both spec.md and tasks.md may have an independent test, worded differently.
    const tests = group.words
      .filter((one) => independent.test(one))
      .map((one) => `Independent test: ${one.replace(independent, '')}`)
    const criteria = own.criteria.some(independentCriterion) ? own.criteria : [...own.criteria, ...tests]
    return parseStory({ ...own, criteria, line: group.line }, group.boxes, dependsOn)
  })
}

/** Whether the dependencies of a group lead to another one. */
function leadsTo(
  from: string,
  to: string,
  edges: ReadonlyMap<string, readonly string[]>,
  seen = new Set<string>(),
): boolean {
  if (from === to) return true
  if (seen.has(from)) return false
  seen.add(from)
  return (edges.get(from) ?? []).some((next) => leadsTo(next, to, edges, seen))
}

function isUserStory(id: string): boolean {
  return /^(?:[A-Z][A-Z0-9]*-)?US\d+$/.test(id)
}

/** The paragraphs with purpose, goal and test below the heading of a phase. */
function wordsBelow(blocks: readonly Block[], heading: Heading | null): string[] {
  const from = heading === null ? -1 : blocks.indexOf(heading)
  const words: string[] = []
  for (const block of from < 0 ? [] : blocks.slice(from + 1)) {
    if (block.kind !== 'words') break
    const text = block.lines.join('\n')
    if (/^\**(?:purpose|goal|independent test)\b/i.test(text)) words.push(text)
  }
  return words
}

function idOf(text: string): string {
  return TASK.exec(text)?.[1] ?? ''
}

function needsOf(text: string): string[] {
  return [...text.matchAll(/\((?:depends on|requires|after|blocked by)[ \t]+([^)]{1,200})\)/gi)].flatMap(
    ([, ids = '']) => ids.match(/\bT\d{1,4}[a-z]?\b/g) ?? [],
  )
}

/** The text with its continuation lines. */
function wholeText({ text, details }: Box): string {
  return [text, ...details].join(' ')
}

/** The text without its id and labels. */
function taskWords({ text }: Box): string {
  return text.replace(TASK, '').replace(LABELS, '')
}

function parseStory(
  specStory: SpecStory,
  boxes: readonly Box[],
  dependsOn: readonly string[] = [],
): ParsedStory {
  const { id, title, line, description, criteria } = specStory
  const tasks = boxes.map((box) => `- [${box.done ? 'x' : ' '}] ${wholeText(box)}`)
  const texts = boxes.map((box) => wholeText(box).replace(LABELS, ''))
  return {
    line,
    raw: {
      ...{ id, title, dependsOn, passes: boxes.length > 0 && boxes.every(({ done }) => done) },
      description: [
        description,
        ...(tasks.length > 0 && criteria.length > 0 ? [`Tasks:\n\n${tasks.join('\n')}`] : []),
      ]
        .filter(Boolean)
        .join('\n\n'),
      acceptanceCriteria: criteria.length > 0 ? criteria : texts,
    },
    // `task` keeps a box that people added later unticked: it does not belong to the passed story, and shifts the ids after it.
    marks: boxes.map((box) => ({ kind: 'box', line: box.line, tick: 'X', task: taskWords(box) })),
  }
}

/** A task as a story, for files whose tasks name no user stories. */
function taskAlone(box: Box): ParsedStory {
  const { line, text, done, details } = box
  const id = idOf(text)
  const title = text.replace(TASK, '').replace(/^\[P\][ \t]*/, '')
  const epicId = withoutEmphasis(box.headings.find(({ level }) => level > 1)?.text ?? '').slice(0, 60) || null
  return {
    line,
    raw: {
      id: id || undefined,
      epicId,
      title: title.replace(/\((?:depends on|requires|after|blocked by)[^()]{0,200}\)/gi, '').trim(),
      description: details.join('\n'),
      dependsOn: needsOf(text).filter((one) => one !== id),
      passes: done,
    },
    marks: [{ kind: 'box', line, tick: 'X' }],
  }
}
