// The scope of a run: a part of a feature, requested by ids of stories and of an epic (`--stories`, `--epic`).

import type { Mistake } from '../../system/errors.ts'
import type { Prd, Scope, Story } from '../model/feature.ts'
import { describeValue, oneLine } from '../model/text.ts'
import { nearestId } from './known-ids.ts'
import { inScope, remaining } from './select.ts'

/** The scope that a person asked for, as it was written. */
export type ScopeRequest = { stories: readonly string[]; epic: string | null }

/** The maximum number of ids that a message names; it only counts the others. */
const MAX_NAMED = 5

/**
 * Resolves a request to a scope; null is the whole feature. Ids match in any case. If a story depends on one that has not passed and is
 * out of scope, Ralph could never work on it. This mistake is reported before the run begins.
 */
export function resolveScope(
  prd: Prd,
  { stories, epic }: ScopeRequest,
  job: number,
): { scope: Scope | null; mistakes: Mistake[] } {
  if (stories.length === 0 && epic === null) return { scope: null, mistakes: [] }
  const ids = prd.userStories.map(({ id }) => id)
  const epics = [...new Set(prd.userStories.flatMap(({ epicId }) => epicId ?? []))]
  const mistakes: Mistake[] = []
  const named = stories.flatMap((word) => resolveId('stories', word, 'a story', ids, mistakes))
  const whole = epic === null ? [] : resolveId('epic', epic, 'an epic', epics, mistakes)
  const scope = { stories: [...new Set(named)], epic: whole[0] ?? null, job }
  if (mistakes.length === 0) mistakes.push(...unmetMistakes(prd, scope))
  return { scope, mistakes }
}

function resolveId(
  path: 'stories' | 'epic',
  word: string,
  what: string,
  all: readonly string[],
  mistakes: Mistake[],
): string[] {
  const found = all.find((one) => one === word) ?? all.find((one) => one.toLowerCase() === word.toLowerCase())
  if (found !== undefined) return [found]
  const near = nearestId(word, all)
  const listed = all.length === 0 ? `leave ${path} out: no story has an epicId` : `use ${formatIds(all)}`
  const fix = near === null ? listed : `did you mean ${oneLine(near, 64)}?`
  mistakes.push({ path, found: describeValue(word), expected: `${what} of this feature`, fix })
  return []
}

function unmetMistakes(prd: Prd, scope: Scope): Mistake[] {
  const outside = unmetOutOfScope(prd, scope)
  if (outside.length === 0) return []
  const missing = outside.map(({ id }) => id)
  const waiting = remaining(prd, scope).filter(({ dependsOn }) =>
    dependsOn.some((id) => missing.includes(id)),
  )
  const wait = waiting.length === 1 ? 'waits' : 'wait'
  const [have, were, them] = missing.length === 1 ? ['has', 'was', 'it'] : ['have', 'were', 'them']
  return [
    {
      path: scope.epic === null ? 'stories' : 'epic',
      found: `${formatIds(waiting.map(({ id }) => id))} ${wait} for ${formatIds(missing)}, which ${have} not passed and ${were} not asked for`,
      expected: 'stories whose dependencies have passed, or are asked for as well',
      fix: `ask for ${them} as well (stories: ${[...scope.stories, ...missing].join(',')}), or skip ${them}`,
    },
  ]
}

/** The stories out of scope that must pass before all stories within it can, in the file's order. */
export function unmetOutOfScope(prd: Prd, scope: Scope): Story[] {
  const isInScope = inScope(scope)
  const byId = new Map(prd.userStories.map((story) => [story.id, story]))
  const seen = new Set<string>()
  const next = remaining(prd, scope)
  for (let story = next.pop(); story !== undefined; story = next.pop()) {
    for (const id of story.dependsOn) {
      const dependency = byId.get(id)
      if (dependency === undefined || dependency.passes || dependency.skipped || seen.has(id)) continue
      seen.add(id)
      next.push(dependency)
    }
  }
  return prd.userStories.filter((story) => seen.has(story.id) && !isInScope(story))
}

/** The number of stories out of scope. */
export function countOutOfScope({ userStories }: Prd, scope: Scope | null): number {
  const isInScope = inScope(scope)
  return userStories.filter((story) => !isInScope(story)).length
}

/** `5 others were not asked for`, or empty. */
export function describeOutOfScope(prd: Prd, scope: Scope | null): string {
  const others = countOutOfScope(prd, scope)
  if (others === 0) return ''
  return others === 1 ? '1 other is not in this run' : `${others} others are not in this run`
}

/** `of epic 2`, `asked for (US-001 and US-002)`: follows the word for stories. Plain text, not escaped. */
export function describeScope({ stories, epic }: Scope): string {
  const named = formatIds(stories)
  if (epic === null) return `in this run (${named})`
  return `of epic ${oneLine(epic, 64)}${named === '' ? '' : ` and ${named}`}`
}

/** The scope extended by stories that a person named during the run. */
export function extendScope(scope: Scope | null, ids: readonly string[]): Scope | null {
  return scope === null ? null : { ...scope, stories: [...new Set([...scope.stories, ...ids])] }
}

function formatIds(all: readonly string[]): string {
  const named = all.slice(0, MAX_NAMED).map((one) => oneLine(one, 64))
  if (all.length > MAX_NAMED) named.push(`${all.length - MAX_NAMED} more`)
  const last = named.pop() ?? ''
  return named.length === 0 ? last : `${named.join(', ')} and ${last}`
}
