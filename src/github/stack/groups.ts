// The groups of stories that get one pull request each: epics, or single stories. Pure.
import type { Prd, Story } from '../../engine/model/feature.ts'
import { epicName } from '../../engine/prd/epics.ts'
import type { Group } from './plan-stack.ts'

/** In the order of the plan. A correction belongs to the group of the story that it corrects; if there is none, to no group. */
export function groupsOf(prd: Prd): Group[] {
  const byId = new Map<string, { name: string; stories: Story[] }>()
  const groupOfStory = new Map<string, string>()
  for (const story of prd.userStories) {
    if (story.corrects !== undefined) continue
    const id = story.epicId ?? story.id
    const group = byId.get(id) ?? {
      name: story.epicId === null ? story.title : epicName(prd, story),
      stories: [],
    }
    group.stories.push(story)
    byId.set(id, group)
    groupOfStory.set(story.id, id)
  }
  for (const story of prd.userStories) {
    const group = groupOfStory.get(story.corrects?.story ?? '')
    if (group !== undefined) byId.get(group)?.stories.push(story)
  }
  return [...byId].map(([id, { name, stories }]) => ({
    id,
    name,
    stories: stories.filter(({ skipped }) => !skipped).map((story) => story.id),
    skipped: stories.filter(({ skipped }) => skipped).map((story) => story.id),
    isFinished:
      stories.every(({ passes, skipped }) => passes || skipped) && stories.some(({ passes }) => passes),
  }))
}
