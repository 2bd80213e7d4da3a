// Merges documents that are read again into the plan: known stories keep their ids, new ones are added, none is duplicated.
import type { Prd, Story } from '../engine/model/feature.ts'
import { reopenStory } from '../engine/prd/merge-edits.ts'
import { normalizeWords } from './story-words.ts'

/** The field with a digest of the story's text in its documents. It shows whether people have edited the story since. */
export const PLANNED_MARK = 'planned'

/** The story with the digest of its text as it was planned. */
export function markPlanned(story: Story): Story {
  return { ...story, extra: { ...story.extra, [PLANNED_MARK]: digestOf(story) } }
}

/**
 * Merges newly read stories into those of prd.json. Ralph's own fields stay. A text that people have edited stays, too; any other
 * is replaced by that of the documents. A passed story with changed criteria is reopened. A story that no document has any more stays.
 */
export function mergePlanned(before: Prd, planned: Prd): Prd {
  const ids = matchIds(before, planned)
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
  if (isSame(plannedFields(before), plannedFields(planned)))
    return mark === undefined ? markPlanned(before) : before
  if (isEdited || mark === digestOf(planned)) return before
  const { title, description, acceptanceCriteria, tags, dependsOn, epicId } = planned
  const merged = markPlanned({ ...before, title, description, acceptanceCriteria, tags, dependsOn, epicId })
  const isOther = !isSame(
    before.acceptanceCriteria.map(normalizeWords),
    acceptanceCriteria.map(normalizeWords),
  )
  return before.passes && !planned.passes && isOther ? reopenStory(merged) : merged
}

/**
 * The id for each planned story. It is its own, unless an inserted box has shifted the numbers of the documents: then stories are
 * matched by their titles.
 */
function matchIds(before: Prd, planned: Prd): Map<string, string> {
  const titleOf = new Map(before.userStories.map(({ id, title }) => [id, normalizeWords(title)]))
  const byTitle = new Map<string, string[]>()
  for (const [id, title] of titleOf) byTitle.set(title, [...(byTitle.get(title) ?? []), id])
  const stories = planned.userStories.map(({ id, title }) => ({ id, title: normalizeWords(title) }))
  const titles = new Set(stories.map(({ title }) => title))
  const ids = new Map<string, string>()
  const assigned = new Set<string>()
  const assign = (propose: (story: { id: string; title: string }) => string | undefined) => {
    for (const story of stories) {
      const id = ids.has(story.id) ? undefined : propose(story)
      if (id === undefined || assigned.has(id)) continue
      ids.set(story.id, id)
      assigned.add(id)
    }
  }
  assign(({ id, title }) => (titleOf.get(id) === title ? id : undefined))
  assign(({ title }) => byTitle.get(title)?.find((id) => !assigned.has(id)))
  // A known id with a new title, whose old title is gone: the story was reworded.
  assign(({ id }) => (titles.has(titleOf.get(id) ?? '') ? undefined : id))
  let number = stories.length
  assign(() => {
    let id = ''
    do {
      number += 1
      id = `US-${String(number).padStart(3, '0')}`
    } while (titleOf.has(id) || assigned.has(id))
    return id
  })
  return ids
}

function renamed(story: Story, ids: ReadonlyMap<string, string>): Story {
  const dependsOn = story.dependsOn.map((id) => ids.get(id) ?? id)
  return { ...story, id: ids.get(story.id) ?? story.id, dependsOn }
}

function plannedFields({ title, description, acceptanceCriteria, tags, dependsOn, epicId }: Story) {
  return [title, description, acceptanceCriteria, tags, dependsOn, epicId]
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** Eight hexadecimal digits (FNV-1a): enough to detect edits, but no protection against forgery. */
function digestOf(story: Story): string {
  const text = JSON.stringify(plannedFields(story))
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
