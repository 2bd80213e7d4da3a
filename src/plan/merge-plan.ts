// Merges documents that are read again: known stories keep their identity, new ones are added, none is doubled.
import type { Prd, Story } from '../engine/model/feature.ts'
import { reopened } from '../engine/prd/merge-edits.ts'
import { normalizeWords } from './story-words.ts'

/** Key of a digest of the story's text as its documents had it. It distinguishes people's edits from edits of the documents. */
export const PLANNED_MARK = 'planned'

/** The story with the digest of its text as it was planned. */
export function markPlanned(story: Story): Story {
  return { ...story, extra: { ...story.extra, [PLANNED_MARK]: digestOf(story) } }
}

/**
 * The planned stories over those before. Ralph's fields stay, and so do words that people changed since they were planned;
 * where they did not, the documents' words are taken; a story that had passed is worked on again where its criteria are others.
 * A story that the documents lost stays.
 */
export function mergePlanned(before: Prd, planned: Prd): Prd {
  const ids = idsOver(before, planned)
  const wanted = planned.userStories.map((story) => renamed(story, ids))
  const byId = new Map(wanted.map((story) => [story.id, story]))
  const kept = before.userStories.map((story) => {
    const other = byId.get(story.id)
    return other === undefined ? story : mergedStory(story, other)
  })
  const known = new Set(before.userStories.map(({ id }) => id))
  const fresh = wanted.filter(({ id }) => !known.has(id)).map(markPlanned)
  return {
    ...before,
    project: before.project || planned.project,
    branchName: before.branchName || planned.branchName,
    description: before.description || planned.description,
    run: { ...before.run, learnings: [...new Set([...before.run.learnings, ...planned.run.learnings])] },
    userStories: [...kept, ...fresh],
  }
}

function mergedStory(before: Story, planned: Story): Story {
  const mark = before.extra?.[PLANNED_MARK]
  // Without a digest it is unknown who wrote the text: it stays.
  const isEdited = mark === undefined || mark !== digestOf(before)
  if (isSame(words(before), words(planned))) return mark === undefined ? markPlanned(before) : before
  if (isEdited || mark === digestOf(planned)) return before
  const { title, description, acceptanceCriteria, tags, dependsOn, epicId } = planned
  const merged = markPlanned({ ...before, title, description, acceptanceCriteria, tags, dependsOn, epicId })
  const isOther = !isSame(
    before.acceptanceCriteria.map(normalizeWords),
    acceptanceCriteria.map(normalizeWords),
  )
  return before.passes && !planned.passes && isOther ? reopened(merged) : merged
}

/**
 * The id that each planned story gets: its own, unless the documents were cut anew. A box that was put in between takes its
 * number from a story before; then the title says which is which.
 */
function idsOver(before: Prd, planned: Prd): Map<string, string> {
  const titleOf = new Map(before.userStories.map(({ id, title }) => [id, normalizeWords(title)]))
  const byTitle = new Map<string, string[]>()
  for (const [id, title] of titleOf) byTitle.set(title, [...(byTitle.get(title) ?? []), id])
  const stories = planned.userStories.map(({ id, title }) => ({ id, title: normalizeWords(title) }))
  const titles = new Set(stories.map(({ title }) => title))
  const ids = new Map<string, string>()
  const given = new Set<string>()
  const give = (wish: (story: { id: string; title: string }) => string | undefined) => {
    for (const story of stories) {
      const id = ids.has(story.id) ? undefined : wish(story)
      if (id === undefined || given.has(id)) continue
      ids.set(story.id, id)
      given.add(id)
    }
  }
  give(({ id, title }) => (titleOf.get(id) === title ? id : undefined))
  give(({ title }) => byTitle.get(title)?.find((id) => !given.has(id)))
  // A new title under an id whose old title no planned story has: that story was reworded.
  give(({ id }) => (titles.has(titleOf.get(id) ?? '') ? undefined : id))
  let number = stories.length
  give(() => {
    let id = ''
    do {
      number += 1
      id = `US-${String(number).padStart(3, '0')}`
    } while (titleOf.has(id) || given.has(id))
    return id
  })
  return ids
}

function renamed(story: Story, ids: ReadonlyMap<string, string>): Story {
  const dependsOn = story.dependsOn.map((id) => ids.get(id) ?? id)
  return { ...story, id: ids.get(story.id) ?? story.id, dependsOn }
}

function words({ title, description, acceptanceCriteria, tags, dependsOn, epicId }: Story) {
  return [title, description, acceptanceCriteria, tags, dependsOn, epicId]
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** Eight hexadecimal digits (FNV-1a). It detects edits and protects against nothing. */
function digestOf(story: Story): string {
  const text = JSON.stringify(words(story))
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
