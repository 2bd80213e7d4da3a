// prd.json in every known version, and the task lists in its shape.
import { draftPrd, looksLikeJson } from '../../prd/parse.ts'
import type { Opened } from '../opened.ts'
import { planAt } from '../places.ts'
import { type Format, type Reading, reading } from '../types.ts'
import { readStories } from './drafted.ts'

export const prdJson: Format = {
  name: 'prd.json',
  found: planAt('prd\\.json'),
  // A folder of documents may hold any JSON.
  reads: ({ text, name }) =>
    looksLikeJson(text) && (/prd[^/]*$/i.test(name) || /"(?:userStories|tasks)"\s*:/.test(text)),
  read,
}

/** From one title to the next: what is looked for in the whole rest of a file each time costs minutes. */
const FARTHEST = 100_000

function read({ path, text }: Opened): Reading {
  const { draft, mistakes } = draftPrd(text, path)
  if (draft === null) return reading({ mistakes })
  let at = 0
  let line = 1
  return readStories(draft, mistakes, { path, format: prdJson.name, rank: 'made' }, ({ title, id }) => {
    // Titles stand in the file in the order of the stories.
    const next = at + text.slice(at, at + FARTHEST).indexOf(JSON.stringify(title ?? id))
    for (; at < next; at += 1) if (text[at] === '\n') line += 1
    return line
  })
}
