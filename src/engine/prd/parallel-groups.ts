// ralphy's `parallel_group`: the stories of the lowest number are worked side by side, then those of the next. Pure.
import { isObject } from '../model/json.ts'
import { formatCount, isGiven, type Raw } from './migrate.ts'

/** The maximum number of dependencies. Every reader has to hold them all in memory. */
const MAX_DEPENDENCIES = 10_000

/**
 * The stories, with `dependsOn` set so that each depends on all stories of the next lower group. A story without a group depends on
 * nothing, like one of group 0 in ralphy. If stories of a group have their own `dependsOn`, groups order nothing.
 */
export function orderByGroup(stories: readonly unknown[], notes: string[]): unknown[] {
  const groups = new Map<number, Raw[]>()
  const grouped = stories
    .filter(isObject)
    .filter((one) => isGiven(one.parallel_group) && one.parallel_group !== 0)
  if (grouped.length === 0) return [...stories]
  for (const story of grouped) {
    const { parallel_group: group } = story
    if (isNumber(group)) groups.set(group, [...(groups.get(group) ?? []), story])
  }
  const numbers = [...groups.keys()].sort((one, other) => one - other)
  const before = new Map(numbers.map((group, index) => [group, groups.get(numbers[index - 1] ?? 0) ?? []]))
  const count = numbers.reduce(
    (sum, group) => sum + (groups.get(group)?.length ?? 0) * (before.get(group)?.length ?? 0),
    0,
  )
  const isDecided = grouped.some(({ dependsOn }) => Array.isArray(dependsOn) && dependsOn.length > 0)
  if (isDecided || count > MAX_DEPENDENCIES || grouped.some((story) => !isNumber(story.parallel_group))) {
    notes.push('Ralph does not read parallel_group here. Use dependsOn to say which story needs which.')
    return [...stories]
  }
  const waiting = numbers.slice(1).flatMap((group) => groups.get(group) ?? []).length
  notes.push(
    `Ralph treats parallel_group as a sequence: ${formatCount(waiting, 'story')} ${waiting === 1 ? 'waits' : 'wait'} for the previous group.`,
  )
  return stories.map((story) => {
    if (!isObject(story) || !isNumber(story.parallel_group)) return story
    const { parallel_group: group, ...rest } = story
    const dependsOn = (before.get(group) ?? []).map(({ id }) => id)
    return dependsOn.length > 0 ? { ...rest, dependsOn } : rest
  })
}

function isNumber(group: unknown): group is number {
  return typeof group === 'number' && Number.isSafeInteger(group) && group > 0
}
