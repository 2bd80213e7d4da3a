// Where Ralph's own files lie, and what they are called.
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

/** What an attempt's transcript and the logs of its gates are called: the story, and how often it was worked on in all. */
export function attemptName(state: State, storyId: string): string {
  return `${storyId}-${state.records[storyId]?.attempts ?? 0}`
}
