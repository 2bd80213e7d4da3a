// What Ralph writes into the feature's folder: prd.json and progress.txt, rendered from the state. Pure.

import { progressHeader } from '../loop/progress.ts'
import type { Story } from '../model/feature.ts'
import type { State } from '../model/state.ts'
import { serializePrd } from '../prd/serialize.ts'
import { subjectText } from './escape.ts'
import { mapTexts } from './texts.ts'

type Change = (text: string) => string

/** prd.json as it stands in the next commit. */
export function prdFile(state: State, redact: Change): string {
  const { nonce, control, prd, branch } = state
  const run = { ...prd.run, control: { nonce, ...control } }
  const branchName = prd.branchName === '' ? branch : prd.branchName
  const userStories = prd.userStories.map((story) => redactedStory(story, redact))
  return serializePrd({
    ...redactedFields({ ...prd, branchName, run, userStories: [] }, redact),
    userStories,
  })
}

/** Of thousands of stories an iteration changes one: what a redaction makes of the others is remembered. */
const known = new WeakMap<Change, WeakMap<Story, Story>>()

function redactedStory(story: Story, redact: Change): Story {
  const stories = known.get(redact) ?? new WeakMap<Story, Story>()
  known.set(redact, stories)
  const before = stories.get(story)
  if (before !== undefined) return before
  const redacted = redactedFields(story, redact)
  stories.set(story, redacted)
  return redacted
}

/** By fields, where there is something to hide: a key that begins in one would take all up to another's end with it. */
function redactedFields<T extends object>(value: T, redact: Change): T {
  const text = JSON.stringify(value)
  return redact(text) === text ? value : mapTexts(value, redact)
}

/** progress.txt with the entries that no commit holds yet. */
export function progressFile(state: State, before: string | null): string {
  const start = before ?? progressHeader(state.prd, state.branch, state.prd.run.startedAt ?? '')
  return [start.trimEnd(), ...state.progress.map((entry) => entry.trim())].join('\n\n').concat('\n')
}

/**
 * The commit message of a story that passed; the trailers link commit, story and run (design 3). `redact` takes secrets
 * out of the title before it is cut.
 */
export function storyMessage(
  state: State,
  storyId: string,
  iteration: number,
  redact: Change = (text) => text,
): string {
  const title = state.prd.userStories.find((story) => story.id === storyId)?.title ?? ''
  const subject = subjectText(`feat: ${storyId} - ${redact(title)}`)
  return `${subject}\n\nRalph-Story: ${storyId}\nRalph-Iteration: ${iteration}\nRalph-Run: ${state.nonce}\n`
}

/** The commit message of a state commit: no code, no story. */
export function recordMessage(state: State, subject: string): string {
  return `${subject}\n\nRalph-Run: ${state.nonce}\n`
}
