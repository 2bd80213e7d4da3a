// A Prd as the text of prd.json, always in the same order, so that a diff shows only what changed.

import { memoizeChunks } from '../model/each-once.ts'
import type { Prd, RunRecord, Story } from '../model/feature.ts'
import { visibleJson } from '../model/text.ts'
import { type Extra, emptyUsage } from '../model/usage.ts'
import { lastResultShape, prdShape, runShape, storyShape, usageShape } from './schema.ts'

/** The file's text: known fields in the schema's order, then unknown ones in theirs; indented by two spaces, invisible characters escaped. */
export function serializePrd(prd: Prd): string {
  const usage: NonNullable<RunRecord['usage']> = prd.run.usage ?? emptyUsage()
  const run = { ...flat(prd.run, runShape), usage: flat(usage, usageShape) }
  const text = visibleJson(JSON.stringify({ ...flat(prd, prdShape), run, userStories: [] }, null, 2))
  if (prd.userStories.length === 0) return `${text}\n`
  const stories = storyTexts(prd.userStories).join(',\n    ')
  // No text of a file can look like it: in there a line feed is escaped, and a nested field is further in.
  return `${text.replace('\n  "userStories": []', () => `\n  "userStories": [\n    ${stories}\n  ]`)}\n`
}

/** Joins in portions: a few long texts are joined far faster than thousands of short ones. */
const storyTexts = memoizeChunks(100, (stories: readonly Story[]) => stories.map(storyText).join(',\n    '))

function storyText(story: Story): string {
  const { lastResult } = story
  const result = lastResult === null ? null : flat(lastResult, lastResultShape)
  const text = visibleJson(JSON.stringify({ ...flat(story, storyShape), lastResult: result }, null, 2))
  // Joined, not replaced: V8 would keep a rope of pieces, and walk it again for every file.
  return text.split('\n').join('\n    ')
}

/** The known fields in order (undefined ones are left out by JSON), then the unknown; a known name wins. */
function flat({ extra, ...known }: { extra?: Extra }, shape: object): Extra {
  const fields: Extra = known
  const flattened: Extra = {}
  for (const key of Object.keys(shape)) flattened[key] = fields[key]
  for (const [key, unknown] of Object.entries(extra ?? {})) {
    if (!Object.hasOwn(flattened, key)) flattened[key] = unknown
  }
  return flattened
}
