// Several documents that tell of the same story: it is read once, and what they say of it that cannot both be so is a mistake.
import { shown } from '../model/text.ts'
import { isGiven, type Raw } from '../prd/migrate.ts'
import type { Mistake } from '../system/errors.ts'
import type { Rank, ReadStory } from './types.ts'
import { sameWords } from './words.ts'

/** A story, and every place where it was read; the first has the last word. */
export type Joined = { raw: Raw; from: [ReadStory, ...ReadStory[]] }

/** The stories of all documents, each once, and every contradiction between two of them. */
export function joined(stories: readonly ReadStory[]): { stories: Joined[]; mistakes: Mistake[] } {
  const groups: ReadStory[][] = []
  const byKey = new Map<string, ReadStory[]>()
  for (const story of stories) {
    const keys = keysOf(story)
    const group = keys
      .map((key) => byKey.get(key))
      .find((one) => one?.every(({ path }) => path !== story.path))
    if (group !== undefined) group.push(story)
    else groups.push([story])
    for (const key of keys) if (!byKey.has(key)) byKey.set(key, group ?? groups.at(-1) ?? [])
  }
  const mistakes: Mistake[] = []
  return { stories: groups.map((group) => one(group, mistakes)), mistakes }
}

/** Two stories of different documents are the same where their ids are; one without an id, where its title is. */
function keysOf({ raw: { id, title } }: ReadStory): string[] {
  const byTitle = typeof title === 'string' ? [`title ${sameWords(title)}`] : []
  return isGiven(id) ? [`id ${String(id)}`] : byTitle
}

const ranks: readonly Rank[] = ['detailed', 'planned', 'listed']

function one(group: readonly ReadStory[], mistakes: Mistake[]): Joined {
  const [best, ...others] = group.toSorted((a, b) => ranks.indexOf(a.rank) - ranks.indexOf(b.rank))
  if (best === undefined) throw new Error('a story that no document has')
  let raw = best.raw
  for (const other of others) {
    mistakes.push(...contradictions(best, other))
    raw = withMore(raw, other.raw)
  }
  return { raw, from: [best, ...others] }
}

/** What the other says and this one does not. */
function withMore(raw: Raw, other: Raw): Raw {
  const missing = Object.entries(other).filter(([key, value]) => isSaid(value) && !isSaid(raw[key]))
  return { ...raw, ...Object.fromEntries(missing) }
}

function isSaid(value: unknown): boolean {
  return isGiven(value) && value !== '' && !(Array.isArray(value) && value.length === 0)
}

function contradictions(best: ReadStory, other: ReadStory): Mistake[] {
  const fix = 'say the same in both, or name the one to read: ralph plan --from FILE'
  const isRefined = best.rank !== other.rank
  const mistakes: Mistake[] = []
  const [title, otherTitle] = [String(best.raw.title ?? ''), String(other.raw.title ?? '')]
  const differ = isRefined ? !shareAWord(title, otherTitle) : sameWords(title) !== sameWords(otherTitle)
  if (title !== '' && otherTitle !== '' && differ)
    mistakes.push({
      path: other.place('title'),
      found: shown(otherTitle),
      expected: `the title that ${best.place()} has: ${shown(title)}`,
      fix,
    })
  return mistakes
}

function shareAWord(a: string, b: string): boolean {
  const words = new Set(sameWords(a).split(' '))
  return sameWords(b)
    .split(' ')
    .some((word) => word.length > 3 && words.has(word))
}
