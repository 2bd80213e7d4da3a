// A Prd as the text of prd.json, always in the same order, so that a diff shows only what changed.
import type { Extra, Prd, Story } from '../model/feature.ts'
import { lastResultKeys, prdKeys, runKeys, storyKeys, usageKeys } from './schema.ts'

/** The file's text: known fields in the contract's order, then unknown ones in theirs; two spaces, a newline at the end. */
export function serializePrd(prd: Prd): string {
  const run = { ...flat(prd.run, runKeys), usage: flat(prd.run.usage, usageKeys) }
  const userStories = prd.userStories.map(flatStory)
  return `${JSON.stringify({ ...flat(prd, prdKeys), run, userStories }, null, 2)}\n`
}

function flatStory(story: Story): object {
  const flattened = flat(story, storyKeys)
  return story.lastResult === null
    ? flattened
    : { ...flattened, lastResult: flat(story.lastResult, lastResultKeys) }
}

/** The known fields in order (undefined ones are left out by JSON), then the unknown; a known name wins. */
function flat<K extends string>(
  value: { [key in K]?: unknown } & { extra?: Extra },
  keys: readonly K[],
): Extra {
  const flattened: Extra = {}
  for (const key of keys) flattened[key] = value[key]
  for (const [key, unknown] of Object.entries(value.extra ?? {})) {
    if (!Object.hasOwn(flattened, key)) flattened[key] = unknown
  }
  return flattened
}
