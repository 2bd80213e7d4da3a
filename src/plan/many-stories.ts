// A plan with too many stories for one run: which parts it has, so that a person can choose one. Pure.
import type { Prd } from '../engine/model/feature.ts'
import { oneLine } from '../engine/model/text.ts'
import { epicName } from '../engine/prd/epics.ts'
import { formatCount } from '../engine/prd/migrate.ts'

/** A plan with more open stories is for several runs. */
const MANY_STORIES = 100
/** Stories of a part, if no epics divide them. */
const PART_SIZE = 50
const MAX_PARTS = 8
const MAX_IDS = 3

/** A part of a plan. `epic`: its epicId; null if `stories` is a stretch of the list. `count`: how many of its stories are open. */
export type PlanPart = { epic: string | null; name: string; stories: readonly string[]; count: number }

export function hasManyStories({ userStories }: Pick<Prd, 'userStories'>): boolean {
  return userStories.filter(({ passes }) => !passes).length > MANY_STORIES
}

/** The open stories by epic; without epics in stretches of the list. Those outside of any epic are in no part. */
export function partsOf(prd: Pick<Prd, 'userStories' | 'extra'>): PlanPart[] {
  const open = prd.userStories.filter(({ passes }) => !passes)
  const epics = new Map<string, PlanPart>()
  for (const story of open) {
    if (story.epicId === null) continue
    const known = epics.get(story.epicId)
    const stories = [...(known?.stories ?? []), story.id]
    const name = known?.name ?? epicName(prd, story)
    epics.set(story.epicId, { epic: story.epicId, name, stories, count: stories.length })
  }
  if (epics.size > 1) return [...epics.values()]
  const ids = open.map(({ id }) => id)
  const starts = ids.flatMap((_, index) => (index % PART_SIZE === 0 ? [index] : []))
  return starts.map((start) => {
    const stories = ids.slice(start, start + PART_SIZE)
    return { epic: null, name: `${stories[0]} to ${stories.at(-1)}`, stories, count: stories.length }
  })
}

/** A note for a plan with many open stories, with the flag for each part; null for any other. */
export function manyStoriesNote(prd: Pick<Prd, 'userStories' | 'extra'>): string | null {
  if (!hasManyStories(prd)) return null
  const parts = partsOf(prd)
  const open = prd.userStories.filter(({ passes }) => !passes).length
  const named = parts.slice(0, MAX_PARTS).map(flagOf)
  const more = parts.length > MAX_PARTS ? `, and ${formatCount(parts.length - MAX_PARTS, 'more part')}` : ''
  return `${open} open stories are a lot for one run. To plan or run only a part of them, add one of these flags: ${named.join(', ')}${more}.`
}

function flagOf({ epic, name, stories, count }: PlanPart): string {
  if (epic === null) {
    const more = stories.length > MAX_IDS ? ',...' : ''
    return `--stories ${stories.slice(0, MAX_IDS).join(',')}${more} (${name}: ${count} open)`
  }
  const title = name === epic ? '' : `${oneLine(name, 60)}, `
  return `--epic ${JSON.stringify(epic)} (${title}${count} open)`
}
