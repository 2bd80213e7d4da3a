// The commits that a state refers to. Other jobs need them, so they are parents of the state commit, or are fetched. Pure.
import { type Attempt, hasCandidate, isChosen } from '../engine/model/attempt.ts'
import type { State } from '../engine/model/state.ts'
import { mergedCommit } from './merge-candidate.ts'

/** Parents of a state commit, the green commit first. The others are there so that other jobs can fetch them. */
export function stateParents(state: State): string[] {
  const candidates = state.job.wave === undefined ? doneCandidates(state) : candidateCommits(state)
  const waiting = commitsOf(Object.values(state.waiting ?? {}))
  const bases = Object.values(state.contests ?? {}).map(({ base }) => base)
  return [...new Set([state.green, ...candidates, ...waiting, ...bases, ...commitsToMerge(state)])]
}

/** Heads of the base branch that an open correction merges. The base branch may be rewritten before that. */
function commitsToMerge(state: State): string[] {
  const open = state.prd.userStories.filter(({ passes, skipped }) => !passes && !skipped)
  return open.flatMap(({ id }) => mergedCommit(state, id) ?? [])
}

/** The candidates of attempts and contests. */
export function candidateCommits(state: State): string[] {
  return [...commitsOf(Object.values(state.attempts)), ...doneCandidates(state)]
}

function commitsOf(attempts: readonly Attempt[]): string[] {
  return attempts.filter(hasCandidate).map(({ candidate }) => candidate.commit)
}

/** The commits that attempts and contests are based on, and the fork point. */
export function baseCommits({ base: fork, attempts, waiting = {}, contests = {} }: State): string[] {
  const all = [...Object.values(attempts), ...Object.values(waiting), ...Object.values(contests)]
  return [...new Set([fork.sha, ...all.map(({ base }) => base)])]
}

/** Candidates of contests: those that are done, and a chosen one until it has landed. */
function doneCandidates({ attempts, contests = {} }: State): string[] {
  const done = Object.values(contests).flatMap((contest) => contest.done.map(({ attempt }) => attempt))
  const chosen = Object.values(attempts).filter(isChosen)
  return [...done, ...chosen].flatMap((attempt) => ('candidate' in attempt ? [attempt.candidate.commit] : []))
}
