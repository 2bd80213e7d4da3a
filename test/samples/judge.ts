// What a person expects of a sample, and where the reader's answer differs from it. Those who write readers do not write here.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { readDocumentFiles } from '../../src/app/find-documents.ts'
import type { Prd, Story } from '../../src/engine/model/feature.ts'
import { epicName } from '../../src/engine/prd/epics.ts'
import { readDocuments } from '../../src/plan/documents.ts'
import type { RequestedUse } from '../../src/plan/types.ts'
import { UserError } from '../../src/system/errors.ts'

const HERE = import.meta.dirname

/** A text, or a regular expression between slashes. */
type Pattern = string

export type ExpectedStory = {
  /** As the document has it; left out where a person has no id in mind. `1-2` and `1.2` are one. */
  id?: string
  title: Pattern
  /** How many, what each of them holds, or `any`: some of the document's own words, the title at least. */
  criteria?: number | string[] | 'any'
  /** Ids or titles of stories that come before it, at any distance; every other one would be wrong. */
  needs?: Pattern[]
  done?: boolean
  /** What the name of its epic holds. */
  epic?: Pattern
  /** What the whole story has to hold, and what it must not. */
  says?: string[]
  silent?: string[]
}

export type Expected = {
  format: string
  /** The public template or project whose kind it is. */
  after?: string
  why: string
  /** Another sample whose files it uses. */
  of?: string
  /** Left out: what is found by itself. */
  from?: string[]
  /** How a file is named with `--as`: path -> use. */
  as?: Record<string, RequestedUse>
  /** The name of the project. */
  project?: string
  /** Links that the files cannot hold: path -> target. */
  links?: Record<string, string>
  stories?: ExpectedStory[]
  /** Instead of a long list: how many stories. */
  count?: number
  /** A session has to plan from prose: no document has stories. */
  session?: boolean
  /** Nothing is found by itself. */
  nothing?: boolean
  /** What context.md holds. */
  background?: string[]
  learnings?: string[]
  /** What context.md and the learnings hold together. */
  known?: string[]
  /** What the notes to the person hold. */
  mentions?: string[]
  /** What the refusal holds. */
  refused?: string[]
  /** Of how many mistakes it tells; left out: any number. */
  mistakes?: number
  /** No story: what the refusal, or the notes where a session may go on from here, hold. */
  told?: string[]
}

export type Answer = {
  /** The plan itself; null where there is none. */
  prd: Prd | null
  stories: readonly Story[]
  context: string
  learnings: readonly string[]
  notes: readonly string[]
  prose: readonly string[]
  found: number
  refused: string | null
  /** How many mistakes the refusal tells of. */
  mistakes: number
}

const NOTHING: Answer = {
  prd: null,
  stories: [],
  context: '',
  learnings: [],
  notes: [],
  prose: [],
  found: 0,
  refused: null,
  mistakes: 0,
}

export function sampleNames(): string[] {
  return readdirSync(HERE, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(HERE, entry.name, 'expected.yaml')))
    .map(({ name }) => name)
    .sort()
}

export function expectedOf(name: string): Expected {
  return parse(readFileSync(join(HERE, name, 'expected.yaml'), 'utf8'))
}

/** Samples that a reader cannot read yet: name -> reason. */
export function openPoints(): Record<string, string> {
  return parse(readFileSync(join(HERE, 'todo.yaml'), 'utf8')) ?? {}
}

/** What `ralph plan` makes of a sample's files, in a copy of its own. */
export async function answerOf(name: string): Promise<Answer> {
  const { of = name, from = null, as = {}, links = {} } = expectedOf(name)
  const folder = await mkdtemp(join(tmpdir(), 'ralph-sample-'))
  try {
    await cp(join(HERE, of, 'project'), folder, { recursive: true })
    for (const [path, target] of Object.entries(links)) await symlink(target, join(folder, path))
    return await read(folder, from, new Map(Object.entries(as)), join(HERE, of, 'bd.json'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** `beads`: the file with the answer of its program. */
async function read(
  workTree: string,
  from: readonly string[] | null,
  as: ReadonlyMap<string, RequestedUse>,
  beads: string,
): Promise<Answer> {
  try {
    const files = from?.includes('beads')
      ? [{ path: 'beads', text: readFileSync(beads, 'utf8'), isNamed: true }]
      : await readDocumentFiles({ workTree }, from, as)
    if (files.length === 0 && from === null) return NOTHING
    const result = readDocuments(files)
    if (!result.ok) {
      const { mistakes } = result
      const refused = new UserError(mistakes).message
      return { ...NOTHING, found: files.length, refused, mistakes: mistakes.length }
    }
    const { prd, context, notes, prose } = result.documents
    return {
      prd,
      stories: inOrder(prd.userStories),
      context,
      learnings: prd.run.learnings,
      notes,
      prose: prose.map(({ path }) => path),
      found: files.length,
      refused: null,
      mistakes: 0,
    }
  } catch (error) {
    if (error instanceof UserError) return { ...NOTHING, refused: error.message }
    throw error
  }
}

/** As a run takes them: by priority and place, and none before those it waits for. */
export function inOrder(stories: readonly Story[]): Story[] {
  const left = [...stories].sort((one, other) => one.priority - other.priority)
  const ordered: Story[] = []
  while (left.length > 0) {
    const isWaiting = (id: string) => left.some((other) => other.id === id)
    const next = left.findIndex(({ dependsOn }) => !dependsOn.some(isWaiting))
    ordered.push(...left.splice(Math.max(next, 0), 1))
  }
  return ordered
}

/** Every difference, in a line each; none where the answer is what a person expects. */
export function differences(expected: Expected, answer: Answer): string[] {
  const { stories = [], count, refused, told, session = false, nothing = false } = expected
  const { background = [], learnings = [], known = [], mentions = [] } = expected
  if (refused !== undefined) {
    if (answer.refused === null) return [`not refused: ${answer.stories.length} stories`]
    const { mistakes = answer.mistakes } = expected
    const isMany = answer.mistakes !== mistakes
    const many = isMany ? [`${answer.mistakes} mistakes instead of ${mistakes}`] : []
    return [...many, ...missing('refusal', refused, answer.refused)]
  }
  if (told !== undefined)
    return [
      ...answer.stories.map(({ id, title }) => `false story: ${id} ${title}`),
      ...missing('message', told, answer.refused ?? shownOf(answer)),
    ]
  if (answer.refused !== null) return [`refused: ${oneLine(answer.refused)}`]
  const found: string[] = []
  if (session && answer.prose.length === 0) found.push('no prose is left for a session')
  if (nothing && answer.found > 0) found.push(`${answer.found} files are found`)
  if (!nothing && answer.found === 0) found.push('nothing is found')
  const notes = shownOf(answer)
  if (count !== undefined && answer.stories.length !== count)
    found.push(`${answer.stories.length} stories instead of ${count}`)
  return [
    ...found,
    ...(expected.project === undefined || answer.prd?.project === expected.project
      ? []
      : [`project ${answer.prd?.project} instead of ${expected.project}`]),
    ...(count === undefined ? storyDifferences(stories, answer.stories) : []),
    ...epicDifferences(stories, answer),
    ...missing('context.md', background, answer.context),
    ...missing('learnings', learnings, answer.learnings.join('\n')),
    ...missing('context.md and learnings', known, [answer.context, ...answer.learnings].join('\n')),
    ...missing('notes', mentions, notes),
  ]
}

/** What the person sees of files that give no story. */
function shownOf({ notes, prose }: Answer): string {
  return [...notes, ...prose].join('\n')
}

function missing(where: string, patterns: readonly Pattern[], text: string): string[] {
  return patterns.filter((one) => !holds(text, one)).map((one) => `${where} without: ${one}`)
}

export function storyDifferences(expected: readonly ExpectedStory[], got: readonly Story[]): string[] {
  const pairs = pairsOf(expected, got)
  const matched = new Set(pairs.values())
  const lost = expected.filter((one) => !pairs.has(one)).map((one) => `lost: ${one.id ?? ''} ${one.title}`)
  const isFalse = got.filter((one) => !matched.has(one)).map((one) => `false story: ${one.id} ${one.title}`)
  // Where a story stands that is done makes no difference to a run.
  const todo = expected.filter(({ done = false }) => !done).map((one) => pairs.get(one))
  const wanted = todo.filter((one) => one !== undefined).map(({ id }) => id)
  const order = got.map(({ id }) => id).filter((id) => wanted.includes(id))
  const isOrdered = wanted.join(' ') === order.join(' ')
  return [
    ...lost.map((line) => line.replace(/ +/g, ' ')),
    ...isFalse,
    ...(isOrdered ? [] : [`order: ${order.join(' ')} instead of ${wanted.join(' ')}`]),
    ...[...pairs].flatMap(([one, story]) => partDifferences(one, story, pairs, got)),
  ]
}

/** By id and title, else by title, else by id: a story whose title came out wrong is one difference, not two. */
export function pairsOf(
  expected: readonly ExpectedStory[],
  got: readonly Story[],
): Map<ExpectedStory, Story> {
  const pairs = new Map<ExpectedStory, Story>()
  const free = new Set(got)
  const isId = (one: ExpectedStory, story: Story) => one.id !== undefined && sameId(one.id, story.id)
  const isTitle = (one: ExpectedStory, story: Story) => isText(story.title, one.title)
  const rules = [
    (one: ExpectedStory, story: Story) => isId(one, story) && isTitle(one, story),
    isTitle,
    isId,
    (one: ExpectedStory, story: Story) => !isPattern(one.title) && holds(story.title, one.title),
  ]
  for (const rule of rules)
    for (const one of expected) {
      if (pairs.has(one)) continue
      const story = [...free].find((candidate) => rule(one, candidate))
      if (story === undefined) continue
      pairs.set(one, story)
      free.delete(story)
    }
  return pairs
}

function epicDifferences(expected: readonly ExpectedStory[], { prd, stories }: Answer): string[] {
  return [...pairsOf(expected, stories)].flatMap(([{ epic }, story]) => {
    const name = prd === null ? '' : epicName(prd, story)
    return epic === undefined || holds(name, epic)
      ? []
      : [`${story.id} ${story.title}: epic ${name} instead of ${epic}`]
  })
}

function partDifferences(
  one: ExpectedStory,
  story: Story,
  pairs: ReadonlyMap<ExpectedStory, Story>,
  got: readonly Story[],
): string[] {
  const name = `${story.id} ${story.title}`
  const found: string[] = []
  if (one.id !== undefined && !sameId(one.id, story.id)) found.push(`${name}: id instead of ${one.id}`)
  if (!isText(story.title, one.title)) found.push(`${name}: title instead of ${one.title}`)
  if (story.passes !== (one.done ?? false)) found.push(`${name}: ${story.passes ? 'done' : 'open'}`)
  found.push(...criteriaDifferences(one, story).map((text) => `${name}: ${text}`))
  const whole = JSON.stringify([story.title, story.description, story.acceptanceCriteria, story.notes])
  found.push(...missing(`${name}: story`, one.says ?? [], whole))
  const loud = (one.silent ?? []).filter((text) => holds(whole, text))
  found.push(...loud.map((text) => `${name}: holds: ${text}`))
  const needed = [...before(one, pairs)].sort().join(' ')
  const waits = [...ancestors(story, got)].sort().join(' ')
  if (needed !== waits) found.push(`${name}: waits for '${waits}' instead of '${needed}'`)
  return found
}

function criteriaDifferences({ criteria = 'any' }: ExpectedStory, story: Story): string[] {
  const got = story.acceptanceCriteria
  if (criteria === 'any') return got.length > 0 ? [] : ['no criterion']
  const count = typeof criteria === 'number' ? criteria : criteria.length
  if (got.length !== count) return [`${got.length} criteria instead of ${count}: ${oneLine(got.join(' | '))}`]
  if (typeof criteria === 'number') return []
  return criteria.flatMap((text, index) => missing(`criterion ${index + 1}`, [text], got[index] ?? ''))
}

/** The ids of all that a person expects before it, at any distance. */
function before(one: ExpectedStory, pairs: ReadonlyMap<ExpectedStory, Story>): Set<string> {
  const ids = new Set<string>()
  const visit = (story: ExpectedStory) => {
    for (const name of story.needs ?? []) {
      const needed = [...pairs.keys()].find((other) =>
        isPattern(name)
          ? isText(other.title, name) || other.title === name
          : other.id === name || other.title === name,
      )
      const id = needed === undefined ? undefined : pairs.get(needed)?.id
      ids.add(id ?? `(${name})`)
      if (needed !== undefined) visit(needed)
    }
  }
  visit(one)
  return ids
}

function ancestors(story: Story, got: readonly Story[]): Set<string> {
  const ids = new Set<string>()
  const visit = ({ dependsOn }: Story) => {
    for (const id of dependsOn) {
      if (ids.has(id)) continue
      ids.add(id)
      const next = got.find((other) => other.id === id)
      if (next !== undefined) visit(next)
    }
  }
  visit(story)
  return ids
}

function sameId(one: string, other: string): boolean {
  const plain = (id: string) => id.toLowerCase().replaceAll('.', '-')
  return plain(one) === plain(other)
}

function isPattern(text: Pattern): boolean {
  return /^\/.*\/i?$/.test(text)
}

function isText(text: string, pattern: Pattern): boolean {
  return isPattern(pattern) ? expressionOf(pattern).test(text) : oneLine(text) === oneLine(pattern)
}

/** Whether the text holds a text, whatever its case and spaces, or a match of an expression. */
export function holds(text: string, pattern: Pattern): boolean {
  if (isPattern(pattern)) return expressionOf(pattern).test(text)
  return oneLine(text).toLowerCase().includes(oneLine(pattern).toLowerCase())
}

function expressionOf(pattern: Pattern): RegExp {
  const end = pattern.lastIndexOf('/')
  return new RegExp(pattern.slice(1, end), pattern.slice(end + 1))
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
