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

/** The name of an attempt's transcript and gate logs: the story's id and its number of attempts ever, `US-002-1`; each candidate counts. */
export function attemptName(state: State, storyId: string): string {
  const own = Object.values(state.attempts).find((attempt) => attempt.storyId === storyId)
  return `${storyId}-${own?.ordinal ?? state.records[storyId]?.attempts ?? 0}`
}
