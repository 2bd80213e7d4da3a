// Version 2, checked field by field: a draft in, a Prd or every mistake at once out.

import { type LastResult, outcomes, type Prd, type RunRecord, type Story } from '../model/feature.ts'
import { shown } from '../model/text.ts'
import { emptyUsage, optionalUsageKeys, type Usage } from '../model/usage.ts'
import type { Mistake } from '../system/errors.ts'
import {
  amount,
  type Fields,
  flag,
  isGiven,
  isRaw,
  nullableText,
  number,
  object,
  type Raw,
  text,
  texts,
  withExtra,
} from './fields.ts'
import { graphMistakes } from './graph.ts'
import { type Draft, many } from './migrate.ts'
import { branchNameFault, idFault } from './names.ts'
import {
  emptyRun,
  lastResultKeys,
  markImported,
  newStory,
  prdKeys,
  runKeys,
  storyKeys,
  usageKeys,
} from './schema.ts'

// For what Ralph itself writes: its own state must never be refused for its size.
const unlimited = Number.POSITIVE_INFINITY

/** What reading gives: a feature and what was changed on the way, or all that is wrong. */
export type ParsedPrd = { ok: true; prd: Prd; notes: string[] } | { ok: false; mistakes: Mistake[] }

/** The checked feature. `earlier` are mistakes found before; `gone` are ids that stories may still depend on. */
export function readDraft(draft: Draft, earlier: readonly Mistake[], gone: ReadonlySet<string>): ParsedPrd {
  const mistakes: Mistake[] = [...earlier]
  const notes = [...draft.notes]
  const fields: Fields = { raw: draft.root, path: draft.rootPath, mistakes }
  const project = text(fields, 'project', 500)
  const branchName = readBranchName(fields)
  const description = text(fields, 'description')
  const run = readRun(fields)
  const userStories = readStories(draft, mistakes, notes)
  // Not push(...): a hostile file has more mistakes than a call may have arguments.
  const every = mistakes.concat(graphMistakes(userStories, draft.storyPath, gone))
  if (every.length > 0) return { ok: false, mistakes: every }
  const prd: Prd = { schemaVersion: 2, project, branchName, description, run, userStories }
  return { ok: true, prd: withExtra(prd, draft.root, prdKeys), notes }
}

function readBranchName(fields: Fields): string {
  const branchName = text(fields, 'branchName', 1_000)
  const fault = branchName === '' ? null : branchNameFault(branchName)
  if (fault === null) return branchName
  const fix = 'use a name such as "ralph/auth"'
  const expected = `a branch name with ${fault}`
  fields.mistakes.push({ path: fields.path('branchName'), found: shown(branchName), expected, fix })
  return ''
}

// ---- the run

function readRun(root: Fields): RunRecord {
  const raw = object(root, 'run')
  if (raw === null) return emptyRun()
  const fields = inside(root, 'run', raw)
  const run: RunRecord = {
    startedAt: nullableText(fields, 'startedAt'),
    completedAt: nullableText(fields, 'completedAt'),
    currentStoryId: nullableText(fields, 'currentStoryId'),
    learnings: readLearnings(fields),
    iterations: amount(fields, 'iterations'),
    jobs: amount(fields, 'jobs'),
    outcome: readOutcome(fields),
    usage: readUsage(fields),
    control: object(fields, 'control') ?? {},
  }
  return withExtra(run, raw, runKeys)
}

/** Empty ones are dropped: an agent's blank line must not make the state unreadable. */
function readLearnings(fields: Fields): string[] {
  const { learnings } = fields.raw
  if (!Array.isArray(learnings)) return texts(fields, 'learnings')
  const raw = {
    learnings: learnings.filter((item: unknown) => typeof item !== 'string' || item.trim() !== ''),
  }
  return texts({ ...fields, raw }, 'learnings', unlimited)
}

function readOutcome(fields: Fields): RunRecord['outcome'] {
  const value = fields.raw.outcome
  if (!isGiven(value)) return null
  const known = outcomes.find((outcome) => outcome === value)
  if (known !== undefined) return known
  const path = fields.path('outcome')
  fields.mistakes.push({ path, found: shown(value), expected: outcomes.join(', '), fix: 'write null' })
  return null
}

function readUsage(run: Fields): Usage {
  const raw = object(run, 'usage')
  if (raw === null) return emptyUsage()
  const fields = inside(run, 'usage', raw)
  const usage = emptyUsage()
  for (const key of usageKeys) {
    const value = amount(fields, key)
    const isOptional = optionalUsageKeys.some((one) => one === key)
    if (!isOptional || value > 0) usage[key] = value
  }
  return withExtra(usage, raw, usageKeys)
}

function inside(outer: Fields, key: string, raw: Raw): Fields {
  const place = outer.path(key)
  return { raw, path: (inner) => `${place}.${inner}`, mistakes: outer.mistakes }
}

// ---- the stories

function readStories(draft: Draft, mistakes: Mistake[], notes: string[]): Story[] {
  const ids = storyIds(draft, mistakes, notes)
  let derived = 0
  let passed = 0
  const stories = draft.list.map((raw, index) => {
    if (!isRaw(raw)) {
      const fix = 'write {"id": "US-001", "title": "...", "acceptanceCriteria": ["..."]}'
      mistakes.push({ path: draft.storyPath(index), found: shown(raw), expected: 'a user story', fix })
      // It keeps its place, so that the places of the others are told right.
      return newStory({ id: '', title: '' })
    }
    const fields: Fields = { raw, path: (key) => draft.storyPath(index, key), mistakes }
    const story = readStory(fields, ids[index] ?? '', index + 1)
    if (story.acceptanceCriteria.length === 0 && !isGivenNonEmpty(raw.acceptanceCriteria)) {
      if (draft.mayLackCriteria) {
        story.acceptanceCriteria = [story.description.trim() === '' ? story.title : story.description]
        derived += 1
      } else mistakes.push(noCriteria(fields))
    }
    if (!draft.imported) return story
    const marked = markImported(story)
    if (marked !== story) passed += 1
    return marked
  })
  if (derived > 0) {
    notes.push(
      `${many(derived, 'story')} had no acceptance criteria: the description, or else the title, became the criterion.`,
    )
  }
  if (passed > 0) notes.push(`${many(passed, 'story')} had passed before: still passed, marked as imported.`)
  return stories
}

function isGivenNonEmpty(value: unknown): boolean {
  return isGiven(value) && !(Array.isArray(value) && value.length === 0)
}

function noCriteria(fields: Fields): Mistake {
  return {
    path: fields.path('acceptanceCriteria'),
    found: shown(fields.raw.acceptanceCriteria ?? undefined),
    expected: 'at least one criterion',
    fix: 'say how one can see that the story is done, such as "npm test passes"',
  }
}

/** An id for each place of the list: as written, or the first free US-... from the place's own number on. */
function storyIds(draft: Draft, mistakes: Mistake[], notes: string[]): string[] {
  const written = draft.list.map((raw, index) => {
    if (!isRaw(raw) || !isGiven(raw.id)) return null
    const id = nullableText({ raw, path: (key) => draft.storyPath(index, key), mistakes }, 'id', 1_000)
    const fault = idFault(id ?? '')
    if (fault !== null && (typeof raw.id === 'string' || id !== null)) {
      const path = draft.storyPath(index, 'id')
      mistakes.push({ path, found: shown(raw.id), expected: fault, fix: `call it "${numbered(index + 1)}"` })
    }
    return id ?? ''
  })
  const taken = new Set(written.filter((id) => id !== null))
  let free = draft.list.length
  let missing = 0
  const ids = written.map((id, index) => {
    if (id !== null) return id
    missing += 1
    let own = numbered(index + 1)
    while (taken.has(own)) {
      free += 1
      own = numbered(free)
    }
    taken.add(own)
    return own
  })
  if (missing > 0) notes.push(`${many(missing, 'story')} without an id: numbered as US-...`)
  return ids
}

function numbered(position: number): string {
  return `US-${String(position).padStart(3, '0')}`
}

function readStory(fields: Fields, id: string, position: number): Story {
  const story: Story = {
    id,
    epicId: nullableText(fields, 'epicId'),
    title: readTitle(fields),
    description: text(fields, 'description'),
    acceptanceCriteria: texts(fields, 'acceptanceCriteria'),
    tags: texts(fields, 'tags', 100),
    dependsOn: readDependsOn(fields),
    priority: number(fields, 'priority', position),
    passes: flag(fields, 'passes'),
    retries: amount(fields, 'retries'),
    blocked: flag(fields, 'blocked'),
    skipped: flag(fields, 'skipped'),
    lastResult: readLastResult(fields),
    notes: text(fields, 'notes', unlimited),
  }
  return withExtra(story, fields.raw, storyKeys)
}

function readTitle(fields: Fields): string {
  const before = fields.mistakes.length
  const title = text(fields, 'title', 500)
  if (title.trim() === '' && fields.mistakes.length === before) {
    const path = fields.path('title')
    const found = shown(fields.raw.title ?? undefined)
    fields.mistakes.push({ path, found, expected: 'a title', fix: 'say in one line what the story brings' })
  }
  return title
}

/** Ids written as numbers are read as text, like the ids of the stories themselves. */
function readDependsOn(fields: Fields): string[] {
  const { dependsOn } = fields.raw
  if (!Array.isArray(dependsOn) || dependsOn.every((id) => typeof id === 'string'))
    return texts(fields, 'dependsOn', 1_000)
  const raw = { dependsOn: dependsOn.map((id: unknown) => (Number.isSafeInteger(id) ? String(id) : id)) }
  return texts({ ...fields, raw }, 'dependsOn', 1_000)
}

function readLastResult(story: Fields): LastResult | null {
  const raw = object(story, 'lastResult')
  if (raw === null) return null
  const fields = inside(story, 'lastResult', raw)
  const result: LastResult = {
    completedAt: nullableText(fields, 'completedAt'),
    commit: readCommit(fields),
    summary: text(fields, 'summary', unlimited),
  }
  for (const key of ['iteration', 'attempts', 'costUsd'] as const) {
    if (isGiven(raw[key])) result[key] = amount(fields, key)
  }
  if (isGiven(raw.imported)) result.imported = flag(fields, 'imported')
  return withExtra(result, raw, lastResultKeys)
}

/** A commit's id reaches git's command line: anything but hexadecimal digits could be an option. */
function readCommit(fields: Fields): string | null {
  const commit = nullableText(fields, 'commit')
  if (commit === null || /^[0-9a-f]{4,64}$/i.test(commit)) return commit
  const path = fields.path('commit')
  fields.mistakes.push({ path, found: shown(commit), expected: 'the id of a commit', fix: 'write null' })
  return null
}
