// A draft of a plan before a person takes it: proposals, documents or the edited page, merged with the existing stories. Pure.

import { splitInto } from '../engine/attempts/attempt-outcome.ts'
import type { Prd, Scope, Story } from '../engine/model/feature.ts'
import { branchNameFault } from '../engine/model/safe-names.ts'
import { parsePrd } from '../engine/prd/parse.ts'
import { unmetOutOfScope } from '../engine/prd/scope.ts'
import { inScope } from '../engine/prd/select.ts'
import { serializePrd } from '../engine/prd/serialize.ts'
import { readDocuments, renderPrdMarkdown } from '../plan/documents.ts'
import { normalizeWords } from '../plan/story-words.ts'
import { type Mistake, UserError } from '../system/errors.ts'
import type { Proposed } from './plan-session.ts'

/** The stories to write, questions that the session left open, and the brief that the stories were made from. */
export type Draft = {
  prd: Prd
  context: string | null
  questions: readonly string[]
  brief: string
  /** What the documents give for context.md. A session's context is added to it. */
  background: string
}

/** The text of context.md: what the documents say, and what the session found. Null if both are empty. */
export function joinContext(background: string, ofSession: string): string | null {
  if (ofSession === '' || background.includes(ofSession.trim())) return background || null
  return background === ''
    ? ofSession
    : `${background.trimEnd()}\n\n## From the planning session\n\n${ofSession.trim()}\n`
}

/** All mistakes of the stories, as a later read of prd.json would report them. */
export function draftMistakes(prd: Prd, source: string): Mistake[] {
  const parsed = parsePrd(serializePrd(prd), source)
  return parsed.ok ? [] : parsed.mistakes
}

/** Replaces the list of stories. A story with a known id keeps Ralph's fields, such as its attempts. */
export function withStories(before: Prd, stories: readonly Story[]): Prd {
  const byId = new Map(before.userStories.map((story) => [story.id, story]))
  return { ...before, userStories: stories.map((story) => withKnownFields(byId.get(story.id), story)) }
}

const UNTRIED = { passes: false, retries: 0, blocked: false, lastResult: null }

/** A story of a plan with Ralph's fields from before. A plan cannot pass a story; one whose criteria change is worked on again. */
function withKnownFields(before: Story | undefined, story: Story): Story {
  if (before === undefined) return { ...story, ...UNTRIED, skipped: false }
  const { passes, retries, blocked, skipped, lastResult } = before
  const wordsOf = (one: Story) => one.acceptanceCriteria.join('\n').replace(/\s+/g, ' ')
  const isSame = wordsOf(before) === wordsOf(story)
  return {
    ...before,
    ...story,
    epicId: story.epicId ?? before.epicId,
    notes: story.notes || before.notes,
    skipped,
    ...(isSame ? { passes, retries, blocked, lastResult } : UNTRIED),
  }
}

type Proposal = Pick<Proposed, 'project' | 'description' | 'stories'>

/**
 * Replaces the open stories by those that a session proposes. Done stories stay; an open story of the same id keeps what Ralph knows of it.
 */
export function withStoriesReplaced(before: Prd, proposed: Proposal): Prd {
  const done = before.userStories.filter(({ passes }) => passes)
  const description = proposed.description || before.description
  const added = onlyNew(done, proposed.stories)
  // A done story must not depend on an open one: with the new list the two could depend on each other.
  const list = [...keepDependencies(done, done), ...keepDependencies(added, [...done, ...added])]
  return { ...withStories(before, list), project: before.project || proposed.project, description }
}

function keepDependencies(stories: readonly Story[], all: readonly Story[]): Story[] {
  const ids = new Set(all.map(({ id }) => id))
  return stories.map((story) => ({ ...story, dependsOn: story.dependsOn.filter((id) => ids.has(id)) }))
}

/** Adds the proposed stories after the existing ones, which do not change. */
export function withStoriesAdded(before: Prd, proposed: Proposal): Prd {
  const last = Math.max(0, ...before.userStories.map(({ priority }) => priority))
  const added = onlyNew(before.userStories, proposed.stories)
  const appended = added.map((story) => ({
    ...withKnownFields(undefined, story),
    priority: last + story.priority,
  }))
  return {
    ...before,
    project: before.project || proposed.project,
    description: before.description || proposed.description,
    userStories: [...before.userStories, ...appended],
  }
}

/**
 * The proposed stories that are new. One with the title of an existing story is that story; an id that is taken is replaced by a free one.
 */
function onlyNew(existing: readonly Story[], proposed: readonly Story[]): Story[] {
  const titles = new Map(existing.map(({ id, title }) => [normalizeWords(title), id]))
  const ids = new Set(existing.map(({ id }) => id))
  const taken = new Set([...ids, ...proposed.map(({ id }) => id)])
  const renamed = new Map<string, string>()
  for (const { id, title } of proposed) {
    const known = titles.get(normalizeWords(title))
    if (known !== undefined) renamed.set(id, known)
    else if (ids.has(id)) renamed.set(id, freeId(taken))
  }
  return proposed
    .filter(({ title }) => !titles.has(normalizeWords(title)))
    .map((story) => ({
      ...story,
      id: renamed.get(story.id) ?? story.id,
      dependsOn: [...new Set(story.dependsOn.map((id) => renamed.get(id) ?? id))],
    }))
}

function freeId(taken: Set<string>): string {
  for (let number = 1; ; number += 1) {
    const id = `US-${String(number).padStart(3, '0')}`
    if (taken.has(id)) continue
    taken.add(id)
    return id
  }
}

/** The stories in scope, and `along`: the ids of those outside that they depend on. */
export function withinScope(prd: Prd, scope: Scope | null): { prd: Prd; along: string[] } {
  if (scope === null) return { prd, along: [] }
  const isRequested = inScope(scope)
  const along = new Set(unmetOutOfScope(prd, scope).map(({ id }) => id))
  const userStories = prd.userStories.filter((story) => isRequested(story) || along.has(story.id))
  const there = new Set(userStories.map(({ id }) => id))
  // A dependency that is left out has passed already.
  const part = userStories.map((story) => ({
    ...story,
    dependsOn: story.dependsOn.filter((id) => there.has(id)),
  }))
  return { prd: { ...prd, userStories: part }, along: [...along] }
}

/** The rule for feature names that this name breaks, such as 'no slash'; null for a valid name. */
export function nameFault(name: string): string | null {
  return /[/\\]/.test(name) ? 'no slash' : branchNameFault(name)
}

/** A feature's name, made of the sentence's first words. */
export function nameOfSentence(sentence: string): string {
  const words = sentence.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return words.slice(0, 4).join('-').slice(0, 40) || 'feature'
}

/**
 * The plan with the text and stories of the page. Fields that the page does not show, such as tags, stay. Throws UserError with every
 * mistake.
 */
export function parsePage(text: string, before: Prd, path = 'prd.md'): Prd {
  const result = readDocuments([{ path, text }], { isStrict: true })
  if (!result.ok) throw new UserError(result.mistakes)
  const { project, description, userStories } = result.documents.prd
  if (userStories.length === 0) {
    const fix = 'write a heading such as "### US-001: Sign in", and a list of criteria below it'
    throw new UserError({ path, found: 'this file has no story.', expected: '', fix })
  }
  const byId = new Map(before.userStories.map((story) => [story.id, story]))
  let priority = 1
  const stories = userStories.map((story): Story => {
    const known = byId.get(story.id)
    priority = known?.priority ?? priority
    const { title, description, acceptanceCriteria, dependsOn } = story
    return { ...(known ?? story), title, description, acceptanceCriteria, dependsOn, priority }
  })
  return { ...withStories(before, stories), project: project || before.project, description }
}

/** Whether prd.md of these stories can be read back. It cannot if an id is not one that a heading may have. */
export function isReadBack(prd: Prd): boolean {
  const result = readDocuments([{ path: 'prd.md', text: renderPrdMarkdown(prd) }], { isStrict: true })
  const idsOf = ({ userStories }: Prd) => userStories.map(({ id }) => id).join()
  return result.ok && idsOf(result.documents.prd) === idsOf(prd)
}

/** Whether people have changed the page since it was written. A changed status, or a split of a story, is not an edit. */
export function isEdited(page: string, prd: Prd): boolean {
  return differs(page, prd) && differs(page, unsplit(prd))
}

/** The stories as they were before some of them were split. */
function unsplit(prd: Prd): Prd {
  const wholes = prd.userStories.map((story) => ({ id: story.id, parts: splitInto(story) }))
  const parts = new Set(wholes.flatMap((whole) => whole.parts))
  const wholeOf = new Map(wholes.map(({ id, parts: each }) => [each.at(-1), id]))
  // A part may have been split again.
  const unsplitId = (id: string) => wholes.reduce((one) => wholeOf.get(one) ?? one, id)
  const userStories = prd.userStories
    .filter(({ id }) => !parts.has(id))
    .map((story) => ({ ...story, dependsOn: story.dependsOn.map(unsplitId) }))
  return { ...prd, userStories }
}

function differs(page: string, prd: Prd): boolean {
  if (page === renderPrdMarkdown(prd) || !isReadBack(prd)) return false
  const unstarted = (story: Story) => ({ ...story, passes: false })
  const wordsOf = (one: Prd) => renderPrdMarkdown(withStories(one, one.userStories.map(unstarted)))
  try {
    return wordsOf(parsePage(page, prd)) !== wordsOf(parsePage(renderPrdMarkdown(prd), prd))
  } catch (error) {
    if (error instanceof UserError) return true
    throw error
  }
}
