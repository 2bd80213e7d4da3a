// Paths and names of Ralph's own files.
import type { State } from './state.ts'

/** Paths of Ralph's own files, relative to the top of the work tree. */
export function ownFiles(state: Pick<State, 'folder'>): {
  prd: string
  page: string
  progress: string
  context: string
} {
  return {
    prd: `${state.folder}/prd.json`,
    page: `${state.folder}/prd.md`,
    progress: `${state.folder}/progress.txt`,
    context: `${state.folder}/context.md`,
  }
}

/** The name of an attempt's transcript and logs, `US-002-1`: the story's id and its total number of attempts, candidates included. */
export function attemptName(state: State, storyId: string): string {
  const own = Object.values(state.attempts).find((attempt) => attempt.storyId === storyId)
  const ordinal = own?.contest?.stage === 'open' ? own.contest.ordinal : null
  return `${storyId}-${ordinal ?? state.records[storyId]?.attempts ?? 0}`
}
