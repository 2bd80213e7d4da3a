// Contests: stories with several candidates, each made by its own session from the same base. Pure.

import { type GreenAttempt, slotOf } from '../model/attempt.ts'
import type { Story } from '../model/feature.ts'
import { attemptsAt } from '../model/job.ts'
import type { Limits } from '../model/limit-types.ts'
import type { Contest, State } from '../model/state.ts'
import { pickStory } from '../prd/select.ts'

/** How many candidates the story's next attempt has: by the story's first tag with a number, else the run's number. */
function candidatesFor({ candidates }: Limits, { tags, retries }: Story): number {
  if (candidates === undefined || retries + 1 < candidates.fromAttempt) return 1
  return candidates.byTag.find(([tag]) => tags.includes(tag))?.[1] ?? candidates.run
}

/** The slot of the attempt that may begin at this story now; null if all its attempts are in progress or done. */
export function nextSlot(state: State, story: Story, limits: Limits): { of: number; slot?: number } | null {
  const contest = contestOf(state, story.id)
  if (contest !== null && contest.done.length >= contest.of) return null
  const of = contest?.of ?? candidatesFor(limits, story)
  const own = attemptsAt(state, story.id)
  // People discarded the candidates while some were in progress. These have to end before others begin.
  if (contest === null && own.some((attempt) => slotOf(attempt) !== undefined)) return null
  if (of === 1) return own.length === 0 ? { of } : null
  // An attempt without a slot is the chosen one, or began before several were configured.
  if (own.some((attempt) => slotOf(attempt) === undefined)) return null
  const taken = new Set([...own, ...(contest?.done ?? []).map(({ attempt }) => attempt)].map(slotOf))
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

/** Begins a contest with the first candidate. The base of all its candidates is the green commit of that moment. */
export function beginContest(state: State, storyId: string, of: number): State {
  const isBegun = (contestOf(state, storyId)?.done ?? []).length > 0 || attemptsAt(state, storyId).length > 0
  if (of === 1 || isBegun) return state
  return withContest(state, storyId, { of, base: state.green, done: [] })
}

/** Drops the candidates of these stories, since people changed the story or discarded the work. */
export function withoutContests(state: State, ids: readonly string[]): State {
  return ids.reduce((after, id) => withContest(after, id, null), state)
}

/** A story in a contest that may get a further candidate, or null. It comes before every other story. */
export function contestedStory(state: State, isFree: (story: Story) => boolean): Story | null {
  if (state.contests === undefined) return null
  return pickStory(state.prd, (story) => contestOf(state, story.id) !== null && isFree(story))
}

/**
 * Contests with candidates that are done and none in progress: a choice is possible now. `storyToDecideNow` says whether it is due, and
 * `storyToDecideAtEnd` does so at the end of the run. Stories that people passed or skipped are left out.
 */
export function undecidedContests(state: State): [id: string, contest: Contest][] {
  const isOpen = (id: string) =>
    state.prd.userStories.some((story) => story.id === id && !story.passes && !story.skipped)
  return Object.entries(state.contests ?? {}).filter(
    ([id, { done }]) => done.length > 0 && attemptsAt(state, id).length === 0 && isOpen(id),
  )
}

/**
 * A story whose candidate has to be chosen before the run ends, or null. A contest of one is a candidate that was chosen before and could
 * not land (`waitToBeChosen`): it waits for the next run.
 */
export function storyToDecideAtEnd(state: State): string | null {
  return undecidedContests(state).find(([, { of }]) => of > 1)?.[0] ?? null
}

/**
 * A story whose candidate has to be chosen now, or null. The choice is due when all its candidates are done. It is also due when its
 * base is no longer the green commit and there is no train that would rebase another candidate.
 */
export function storyToDecideNow(state: State, { maxParallel }: Limits): string | null {
  const isDue = ({ of, base, done }: Contest) => {
    const areAllDone = done.length >= of
    const isBaseOutdated = maxParallel === 1 && base !== state.green
    return areAllDone || isBaseOutdated
  }
  return undecidedContests(state).find(([, contest]) => isDue(contest))?.[0] ?? null
}

/** A chosen candidate that cannot land now waits as the only one in a new contest. */
export function waitToBeChosen(state: State, { contest: _chosen, ...attempt }: GreenAttempt): State {
  const done = [{ attempt: { ...attempt, phase: 'gated' as const }, lines: null, kept: null }]
  return withContest(state, attempt.storyId, { of: 1, base: attempt.base, done })
}
