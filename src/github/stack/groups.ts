// The groups of stories that get one pull request each: epics, or single stories. Pure.
import type { Prd, Story } from '../../engine/model/feature.ts'
import { idFault } from '../../engine/model/safe-names.ts'
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
  const parts = branchParts(new Map([...byId].map(([id, { stories }]) => [id, stories[0]?.id ?? ''])))
  return [...byId].map(([id, { name, stories }]) => ({
    id,
    branchPart: parts.get(id) ?? '',
    name,
    stories: stories.filter(({ skipped }) => !skipped).map((story) => story.id),
    skipped: stories.filter(({ skipped }) => skipped).map((story) => story.id),
    isFinished:
      stories.every(({ passes, skipped }) => passes || skipped) && stories.some(({ passes }) => passes),
  }))
}

/** Characters of an unsafe id that are kept in a branch's name. */
const MAX_PART = 40

/**
 * How the branch of each group ends. The id of an epic may be any text, but people's workflows use names of branches in commands. So an id
 * that would not be allowed for a story is cleaned, and the id of the group's first story makes the result unique. A later epic does not
 * change the result, because a layer has to keep its name.
 */
function branchParts(firstStories: ReadonlyMap<string, string>): Map<string, string> {
  const parts = new Map<string, string>()
  const used = new Set<string>()
  const isSafe = (id: string) => idFault(id) === null
  // Safe ids come first, so that no cleaned id takes the name of another group.
  const inOrder = [...firstStories].sort(([one], [other]) => Number(isSafe(other)) - Number(isSafe(one)))
  for (const [id, story] of inOrder) {
    const cleaned = id
      .replace(/[^A-Za-z0-9]+/g, '-')
      .replace(/^-/, '')
      .slice(0, MAX_PART)
      .replace(/-$/, '')
    const unique = cleaned === '' ? story : `${cleaned}-${story}`
    // Not even the case may be the only difference: some file systems cannot have both branches.
    let part = isSafe(id) ? id : unique
    for (let count = 1; used.has(part.toLowerCase()); count += 1)
      part = count === 1 ? unique : `${unique}-${count}`
    used.add(part.toLowerCase())
    parts.set(id, part)
  }
  return parts
}
