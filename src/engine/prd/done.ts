// Finished stories: the list without them, and the file that keeps them.
import type { Prd, Story } from '../model/feature.ts'
import { emptyRun } from './schema.ts'
import { serializePrd } from './serialize.ts'

/** The name of the file in the feature's folder, without its ending. */
export const DONE = 'done'

/** With more finished stories than this, `validate` suggests to archive them. */
export const MANY_DONE = 50

/**
 * The list without the stories that passed or were skipped, and without dependencies on them. Where no other story is left the
 * list stays as it is: that run is finished, and its whole folder goes to the archive.
 */
export function withoutDone(prd: Prd): { prd: Prd; done: Story[] } {
  const done = prd.userStories.filter((story) => story.passes || story.skipped)
  const ids = new Set(done.map(({ id }) => id))
  const open = prd.userStories.filter(({ id }) => !ids.has(id))
  if (done.length === 0 || open.length === 0) return { prd, done: [] }
  const userStories = open.map((story) =>
    story.dependsOn.some((id) => ids.has(id))
      ? { ...story, dependsOn: story.dependsOn.filter((id) => !ids.has(id)) }
      : story,
  )
  return { prd: { ...prd, userStories }, done }
}

/** The text of the file: a separate prd.json, with what passed each story. */
export function doneFile(prd: Prd, done: readonly Story[]): string {
  const ids = new Set(done.map(({ id }) => id))
  const userStories = done.map((story) => ({
    ...story,
    dependsOn: story.dependsOn.filter((id) => ids.has(id)),
  }))
  return serializePrd({ ...prd, run: emptyRun(), userStories })
}
