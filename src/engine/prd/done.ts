// Stories that are done, moved out of a long list: what is left of it, and the file that keeps them.
import type { Prd, Story } from '../model/feature.ts'
import { emptyRun } from './schema.ts'
import { serializePrd } from './serialize.ts'

/** The name of the file in the feature's folder, without its ending. */
export const DONE = 'done'

/** More of them than this, and `validate` says how they go out of the way. */
export const MANY_DONE = 50

/**
 * The list without the stories that passed or were skipped; what waited for them waits no more. Where nothing else is left the
 * list stays whole: that run is finished, and its folder goes to the archive as it is.
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

/** The text of the file: a prd.json of its own, with what passed each story. */
export function doneFile(prd: Prd, done: readonly Story[]): string {
  const ids = new Set(done.map(({ id }) => id))
  const userStories = done.map((story) => ({
    ...story,
    dependsOn: story.dependsOn.filter((id) => ids.has(id)),
  }))
  return serializePrd({ ...prd, run: emptyRun(), userStories })
}
