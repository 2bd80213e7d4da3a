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
 * Merges newly read stories into those of prd.json. Ralph's own fields stay. A text that people have edited stays as well; any other
 * is replaced by that of the documents. A passed story with changed criteria is reopened. A story that is no longer in any document stays.
 */
export function mergePlanned(before: Prd, planned: Prd): Prd {
  const ids = matchIds(before, planned)
  const plannedStories = planned.userStories.map((story) => withMatchedIds(story, ids))
  const plannedById = new Map(plannedStories.map((story) => [story.id, story]))
  const kept = before.userStories.map((story) => {
    const plannedStory = plannedById.get(story.id)
    return plannedStory === undefined ? story : mergeStory(story, plannedStory)
  })
  const idsBefore = new Set(before.userStories.map(({ id }) => id))
  const added = plannedStories.filter(({ id }) => !idsBefore.has(id)).map(markPlanned)
  return {
    ...before,
    project: before.project || planned.project,
    branchName: before.branchName || planned.branchName,
    description: before.description || planned.description,
    run: { ...before.run, learnings: [...new Set([...before.run.learnings, ...planned.run.learnings])] },
    userStories: [...kept, ...added],
  }
}

function mergeStory(before: Story, planned: Story): Story {
  const mark = before.extra?.[PLANNED_MARK]
  // Without a digest it is unknown whether people wrote the text, so it stays.
  const isEdited = mark === undefined || mark !== digestOf(before)
  if (isSame(plannedFields(before), plannedFields(planned)))
    return mark === undefined ? markPlanned(before) : before
  if (isEdited || mark === digestOf(planned)) return before
  const { title, description, acceptanceCriteria, tags, dependsOn, epicId } = planned
  const merged = markPlanned({ ...before, title, description, acceptanceCriteria, tags, dependsOn, epicId })
  const haveCriteriaChanged = !isSame(
    before.acceptanceCriteria.map(normalizeWords),
    acceptanceCriteria.map(normalizeWords),
  )
  return before.passes && !planned.passes && haveCriteriaChanged ? reopenStory(merged) : merged
}

/**
 * The id for each planned story. Usually a story keeps its id. But if an inserted box has shifted the numbers of the documents, stories
 * are matched by their titles.
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
  // If the id is known, and its old title is gone, the story was reworded.
  assign(({ id }) => (titles.has(titleOf.get(id) ?? '') ? undefined : id))
  // Every other story is new, and gets the next free id.
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

function withMatchedIds(story: Story, ids: ReadonlyMap<string, string>): Story {
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
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
