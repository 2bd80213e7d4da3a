// The files that Ralph writes into the feature's folder, such as prd.json and progress.txt, rendered from the state. Pure.

import { memoizeEach } from '../engine/model/each-once.ts'
import type { Prd, Story } from '../engine/model/feature.ts'
import { ownFiles } from '../engine/model/paths.ts'
import type { State } from '../engine/model/state.ts'
import { mapTexts } from '../engine/model/text.ts'
import { runUsage } from '../engine/model/usage-totals.ts'
import { doneFile } from '../engine/prd/done.ts'
import { serializePrd } from '../engine/prd/serialize.ts'
import { progressHeader } from '../engine/state/story-notes.ts'
import { renderPrdMarkdown } from '../plan/render-prd-md.ts'
import { subjectText } from './escape.ts'

type Redact = (text: string) => string

/** The content of prd.json for the next commit. */
export function prdFile(state: State, redact: Redact): string {
  const { nonce, control, prd, branch } = state
  const run = { ...prd.run, usage: runUsage(state), control: { nonce, ...control } }
  const branchName = prd.branchName === '' ? branch : prd.branchName
  const userStories = redactedStories(prd.userStories, redact)
  return serializePrd({
    ...redactedFields({ ...prd, branchName, run, userStories: [] }, redact),
    userStories,
  })
}

/** One cache for each redact function; a run has one such function. */
const redactedStoryCache = new WeakMap<Redact, (stories: readonly Story[]) => Story[]>()

function redactedStories(stories: readonly Story[], redact: Redact): Story[] {
  const each = redactedStoryCache.get(redact) ?? memoizeEach((story: Story) => redactedFields(story, redact))
  redactedStoryCache.set(redact, each)
  return each(stories)
}

/** Redacts each field on its own, since in the joined text a match could reach from one field into another. */
function redactedFields<T extends object>(value: T, redact: Redact): T {
  const text = JSON.stringify(value)
  return redact(text) === text ? value : mapTexts(value, redact)
}

/** The content of prd.md for these stories. */
export function prdMarkdown(prd: Prd): string {
  return renderPrdMarkdown(prd)
}

/** The files next to prd.json while people review a plan: prd.md to read, and the context.md that every session gets. */
export function planFiles(state: State, redact: Redact): Map<string, string> {
  const { plan, prd } = state
  if (plan?.phase !== 'proposed' && plan?.phase !== 'approved') return new Map()
  const files = ownFiles(state)
  const context: [string, string][] =
    plan.context === '' ? [] : [[files.context, `${redact(plan.context).trim()}\n`]]
  return new Map([[files.page, prdMarkdown(redactedFields(prd, redact))], ...context])
}

/** The file with the done stories that leave prd.json now, unchanged; null without any. */
export function archiveFile({ prd, archive }: State, redact: Redact): string | null {
  const done = archive?.pending ?? []
  return done.length === 0
    ? null
    : doneFile(redactedFields({ ...prd, userStories: [] }, redact), redactedStories(done, redact))
}

/** progress.txt with the new entries. `before` is its committed content, which was redacted when it was written. */
export function progressFile(state: State, before: string | null, redact: Redact): string {
  const start = before ?? redact(progressHeader(state.prd, state.branch, state.prd.run.startedAt ?? ''))
  return [start.trimEnd(), ...state.progress.map((entry) => redact(entry.trim()))].join('\n\n').concat('\n')
}

/**
 * The commit message of a story that passed; the trailers link commit, story and run. `redact` takes secrets out of the texts before they
 * are cut. `words`: the agent's text about its work. It is quoted so that no line of it can be a trailer, even in a squash of several
 * commits.
 */
export function storyMessage(
  state: State,
  storyId: string,
  iteration: number,
  redact: Redact = (text) => text,
  words = '',
  template?: string,
): string {
  const story = state.prd.userStories.find((one) => one.id === storyId)
  const title = redact(story?.title ?? '')
  const values: Record<string, string> = {
    id: storyId,
    title,
    subject: asSubject(title),
    feature: state.feature,
  }
  const corrects = story?.corrects
  const isDefault = template === undefined || template === DEFAULT_SUBJECT
  const ownSubject = corrects === undefined ? DEFAULT_SUBJECT : CORRECTION_SUBJECT
  const wanted = isDefault ? ownSubject : template
  const filled = wanted.replace(/\{(id|title|subject|feature)\}/g, (_, name: string) => values[name] ?? '')
  const subject = subjectText(filled)
  const line = subjectText(redact(words), MAX_WORDS_LENGTH)
  const body = line === '' ? '' : `In the agent's words:\n${wrapped(line, '> ')}\n\n`
  const fixes =
    corrects === undefined ? '' : `Ralph-Fixes: ${storyId} ${subjectText(redact(corrects.source), 200)}\n`
  const belongsTo = corrects?.story ?? storyId
  return `${subject}\n\n${body}Ralph-Story: ${belongsTo}\n${fixes}Ralph-Iteration: ${iteration}\nRalph-Run: ${state.nonce}\n`
}

const DEFAULT_SUBJECT = 'feat: {id} - {title}'
const CORRECTION_SUBJECT = 'fix: {id} - {title}'

/** A title as common rules for subjects want it: `API keys` stays, `Sign in.` becomes `sign in`. */
function asSubject(title: string): string {
  const words = title.trim().replace(/\.+$/, '')
  return /^\p{Lu}\p{Ll}/u.test(words) ? `${words.charAt(0).toLowerCase()}${words.slice(1)}` : words
}

const MAX_WORDS_LENGTH = 300
const WIDTH = 72

function wrapped(line: string, prefix: string): string {
  const lines = ['']
  for (const word of line.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && prefix.length + last.length + 1 + word.length > WIDTH) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines.map((one) => prefix + one).join('\n')
}

/** The message of a commit that records state, without code and without a story. */
export function recordMessage(state: State, subject: string): string {
  return `${subject}\n\nRalph-Run: ${state.nonce}\n`
}
