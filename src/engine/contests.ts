// Stories for which several candidates are made, each by a session of its own from the same base. Pure.

import type { AttemptIn } from './model/attempt.ts'
import type { Story } from './model/feature.ts'
import { attemptsAt } from './model/job.ts'
import type { Limits } from './model/limit-types.ts'
import type { Contest, State } from './model/state.ts'
import { pickStory } from './prd/select.ts'

/** How many candidates the story's next attempt makes: by its first tag with a number, else the run's. */
function candidatesFor({ candidates }: Limits, { tags, retries }: Story): number {
  if (candidates === undefined || retries + 1 < candidates.fromAttempt) return 1
  return candidates.byTag.find(([tag]) => tags.includes(tag))?.[1] ?? candidates.run
}

/** The attempt that may begin at this story now; null where all that it may have are in work or done. */
export function nextSlot(state: State, story: Story, limits: Limits): { of: number; slot?: number } | null {
  const contest = contestOf(state, story.id)
  if (contest !== null && contest.done.length >= contest.of) return null
  const of = contest?.of ?? candidatesFor(limits, story)
  const own = attemptsAt(state, story.id)
  // People discarded the candidates while some were in work: those are over before others begin.
  if (contest === null && own.some(({ slot }) => slot !== undefined)) return null
  if (of === 1) return own.length === 0 ? { of } : null
  // An attempt without a slot is the chosen one, or began before several were asked for.
  if (own.some((attempt) => attempt.slot === undefined)) return null
  const taken = new Set(
    [...own, ...(contest?.done ?? []).map(({ attempt }) => attempt)].map(({ slot }) => slot),
  )
  for (let slot = 1; slot <= of; slot += 1) if (!taken.has(slot)) return { of, slot }
  return null
}

export function contestOf({ contests }: State, storyId: string): Contest | null {
  return contests?.[storyId] ?? null
}

export function withContest(state: State, storyId: string, contest: Contest | null): State {
  const { contests = {}, ...rest } = state
  const { [storyId]: _before, ...others } = contests
  const all = contest === null ? others : { ...contests, [storyId]: contest }
  return Object.keys(all).length === 0 ? rest : { ...rest, contests: all }
}

/** The base of the story's candidates is the green commit when the first of them begins. */
export function beginContest(state: State, storyId: string, of: number): State {
  const isBegun = (contestOf(state, storyId)?.done ?? []).length > 0 || attemptsAt(state, storyId).length > 0
  if (of === 1 || isBegun) return state
  return withContest(state, storyId, { of, base: state.green, done: [] })
}

/** Drops candidates of these stories: people changed what is asked, or discarded the work. */
export function withoutContests(state: State, ids: readonly string[]): State {
  return ids.reduce((after, id) => withContest(after, id, null), state)
}

/** A story with candidates that may get further ones, or null: it comes before every other story. */
export function contestedStory(state: State, isFree: (story: Story) => boolean): Story | null {
  if (state.contests === undefined) return null
  return pickStory(state.prd, (story) => contestOf(state, story.id) !== null && isFree(story))
}

/** Stories with candidates that are done, and none in work. One that people marked passed, or left out, needs none. */
export function undecidedContests(state: State): [id: string, contest: Contest][] {
  const isOpen = (id: string) =>
    state.prd.userStories.some((story) => story.id === id && !story.passes && !story.skipped)
  return Object.entries(state.contests ?? {}).filter(
    ([id, { done }]) => done.length > 0 && attemptsAt(state, id).length === 0 && isOpen(id),
  )
}

/** A story whose candidate has to be chosen before the run ends at a limit; or null. One that was chosen once waits for the next run. */
export function storyToDecide(state: State): string | null {
  return undecidedContests(state).find(([, { of }]) => of > 1)?.[0] ?? null
}

/**
 * A story whose candidate is to be chosen now, or null: all of them are done, or they grew from another commit than the green one
 * where no train would rebase a further one.
 */
export function dueContest(state: State, { maxParallel }: Limits): string | null {
  const isDue = ({ of, base, done }: Contest) =>
    done.length >= of || (maxParallel === 1 && base !== state.green)
  return undecidedContests(state).find(([, contest]) => isDue(contest))?.[0] ?? null
}

/** A chosen candidate that cannot land now waits to be chosen again, alone. */
export function waitToBeChosen(
  state: State,
  { chosen: _chosen, ...attempt }: AttemptIn<'gated' | 'judged'>,
): State {
  const done = [{ attempt: { ...attempt, phase: 'gated' as const }, lines: null, kept: null }]
  return withContest(state, attempt.storyId, { of: 1, base: attempt.base, done })
}
