// Corrections in the state: requests become stories that Ralph made. Pure.

import type { CorrectionRequest, CorrectionSource } from '../model/correction.ts'
import type { Prd, Story } from '../model/feature.ts'
import type { Limits } from '../model/limit-types.ts'
import type { State } from '../model/state.ts'
import { newStory } from '../prd/schema.ts'
import { extendScope } from '../prd/scope.ts'
import { mapStory, unapprovedVerification, withNote } from '../state/state-updates.ts'
import { isHandled, kindOf } from './kinds.ts'

/** How often one thread or one check is corrected before people are asked. */
export const MAX_FOR_ONE = 3
/** How many corrections a pull request gets if `max-corrections` says nothing else. */
const MAX_CORRECTIONS = 20

function isCorrection(story: Story): boolean {
  return story.corrects !== undefined
}

/** The stories of the plan, without corrections. */
export function withoutCorrections(prd: Prd): Prd {
  return prd.userStories.some(isCorrection)
    ? { ...prd, userStories: prd.userStories.filter((story) => !isCorrection(story)) }
    : prd
}

/**
 * The state with one more correction. Over a limit it is blocked from the start, so that a person decides. What was
 * handled already changes nothing.
 */
export function addCorrection(
  state: State,
  { story, source, text, kept }: CorrectionRequest,
  limits: Pick<Limits, 'maxCorrections'>,
  at: number,
): State {
  const kind = kindOf(source)
  if (isHandled(state.corrections, source)) return state
  const id = nextCorrectionId(state)
  const known = story !== null && state.prd.userStories.some((one) => one.id === story) ? story : null
  const correction: Story = newStory({
    id,
    title: kind.title(source, text),
    description: kind.description(source, text),
    acceptanceCriteria: kind.criteria(source),
    // Corrections come before all stories, because people wait for them.
    priority: Math.min(1, ...state.prd.userStories.map(({ priority }) => priority)) - 1,
    tags: tagsOf(state, known),
    corrects: { story: known, source: kind.trailer(source) },
  })
  const reason = limitReached(state, source, limits)
  const added: State = {
    ...state,
    prd: { ...state.prd, userStories: [...state.prd.userStories, correction] },
    corrections: { ...state.corrections, [id]: { source, at } },
    // A question changes no code, so the approval stays.
    verification: source.kind === 'question' ? state.verification : unapprovedVerification(state),
    control: { ...state.control, scope: extendScope(state.control.scope, [id]) },
    ...(kept === undefined ? {} : { kept: { ...state.kept, [id]: { ...kept, dropped: [] } } }),
  }
  if (reason === null) return added
  const prd = mapStory(added.prd, id, (one) => ({ ...one, blocked: true }))
  return withNote({ ...added, prd }, id, reason)
}

/** The tags, and so the gates, of the story that is corrected. A correction of the whole feature gets the tags of all stories. */
function tagsOf({ prd }: State, story: string | null): string[] {
  const stories = prd.userStories.filter(({ id }) => story === null || id === story)
  return [...new Set(stories.flatMap(({ tags }) => tags))]
}

function nextCorrectionId({ prd, archive, corrections = {} }: State): string {
  const ids = [...prd.userStories.map(({ id }) => id), ...(archive?.ids ?? []), ...Object.keys(corrections)]
  const numbers = ids.map((id) => Number(/^FIX-(\d{1,9})$/i.exec(id)?.[1] ?? 0))
  return `FIX-${Math.max(0, ...numbers) + 1}`
}

/** Why a further correction of this needs a person, or null. */
function limitReached(
  { corrections = {} }: State,
  source: CorrectionSource,
  { maxCorrections = MAX_CORRECTIONS }: Pick<Limits, 'maxCorrections'>,
): string | null {
  const earlier = Object.values(corrections).map((one) => one.source)
  if (earlier.length >= maxCorrections)
    return `the limit of ${maxCorrections} corrections for this pull request is reached`
  const counts = kindOf(source)
    .keys(source)
    .map((key) => earlier.filter((one) => kindOf(one).keys(one).includes(key)).length)
  if (Math.max(0, ...counts) >= MAX_FOR_ONE)
    return `Ralph has corrected this ${MAX_FOR_ONE} times already, so a person has to decide`
  if (source.kind === 'check' && earlier.some((one) => one.kind === 'check' && hasSameOutput(one, source)))
    return 'the check failed again with the same output after a correction, so a person has to decide'
  return null
}

function hasSameOutput(
  one: Extract<CorrectionSource, { kind: 'check' }>,
  other: Extract<CorrectionSource, { kind: 'check' }>,
): boolean {
  return one.name === other.name && one.digest === other.digest && one.digest !== ''
}

/** What became of a correction, or null while it is open. */
export type CorrectionResult =
  | { kind: 'done'; commit: string; isUnchanged: boolean }
  | { kind: 'answered'; text: string }
  | { kind: 'blocked'; why: string }
  | { kind: 'skipped' }

export function correctionResult(state: State, id: string): CorrectionResult | null {
  const story = state.prd.userStories.find((one) => one.id === id)
  const record = state.records[id]
  // People removed it from prd.json.
  if (story === undefined) return { kind: 'skipped' }
  const { answer } = state.corrections?.[id] ?? {}
  if (story.passes && answer !== undefined) return { kind: 'answered', text: answer }
  if (story.passes) {
    const commit = record?.commit ?? story.lastResult?.commit ?? ''
    return { kind: 'done', commit, isUnchanged: story.lastResult?.how === 'unchanged' }
  }
  if (story.skipped) return { kind: 'skipped' }
  if (!story.blocked) return null
  return { kind: 'blocked', why: record?.failure?.summary || record?.note || story.notes }
}

/** `2 of 3 review threads addressed, 1 needs you`, for each kind that there is; empty without corrections. */
export function describeCorrections(state: Pick<State, 'prd' | 'corrections'>): string {
  const { prd, corrections = {} } = state
  const byKind = new Map<string, { words: string; done: number; blocked: number; total: number }>()
  for (const story of prd.userStories) {
    const source = corrections[story.id]?.source
    if (source === undefined || story.skipped) continue
    const { unit, done: words, count } = kindOf(source)
    const sum = byKind.get(source.kind) ?? { words, done: 0, blocked: 0, total: 0 }
    const units = count(source)
    sum.total += units
    if (story.passes) sum.done += units
    else if (story.blocked) sum.blocked += units
    sum.words = `${unit[sum.total === 1 ? 0 : 1]} ${words}`
    byKind.set(source.kind, sum)
  }
  return [...byKind.values()]
    .map(({ words, done, blocked, total }) => {
      const needs = blocked === 0 ? '' : `, ${blocked} ${blocked === 1 ? 'needs' : 'need'} you`
      return `${done} of ${total} ${words}${needs}`
    })
    .join('; ')
}
