// Every story as plain data for reports, and what is derived from it: the progress bar, the order of urgency, dependencies.

import {
  passedUnchanged,
  passedUngated,
  splitInto,
  UNCHANGED,
  UNGATED,
} from '../engine/attempts/attempt-outcome.ts'
import { formatCommandLine, type Surface } from '../engine/commands/command-table.ts'
import type { ChangeSize, Outcome, Story } from '../engine/model/feature.ts'
import { remarksOf } from '../engine/model/gate.ts'
import { failureOutput } from '../engine/model/gate-output.ts'
import type { State } from '../engine/model/state.ts'
import { attemptsUsage, attemptUsage, type Iteration, storyUsage } from '../engine/model/usage-totals.ts'
import { inScope } from '../engine/prd/select.ts'
import { exampleWords } from './example-words.ts'
import { costOrEmpty, pluralize } from './figures.ts'
import { isStoryInWork } from './headline.ts'
import { STORY_STATUSES, type StoryStatus } from './outcomes.ts'
import { type Sentence, sentence } from './sentence.ts'

export type StoryView = ReturnType<typeof storiesOf>[number]

export type StoryChange = ChangeSize

/** `3 files, +40 -2`; empty if nothing is known. */
export function describeChange(change: StoryChange | null): string {
  return change === null ? '' : `${pluralize(change.files, 'file')}, +${change.added} -${change.removed}`
}

/** All stories, in the order of prd.json. */
export function storiesOf(
  state: State,
  changes: Readonly<Record<string, StoryChange>> = {},
): (ReturnType<typeof storyView> & { change: StoryChange | null })[] {
  const stories = state.prd.userStories
  const doneIds = new Set(stories.filter((story) => story.passes || story.skipped).map(({ id }) => id))
  const isInScope = inScope(state.control.scope)
  return stories.map((story) => ({
    ...storyView(state, story, doneIds, isInScope(story)),
    /** What its commits changed; null if that is not known. */
    change: changes[story.id] ?? state.records[story.id]?.changed ?? null,
  }))
}

function storyView(state: State, story: Story, doneIds: ReadonlySet<string>, isInScope: boolean) {
  const record = state.records[story.id]
  const { id, title, dependsOn, retries, lastResult } = story
  const waitsFor = dependsOn.filter((one) => !doneIds.has(one))
  const ownStatus = statusOfStory(story, isStoryInWork(state, id), waitsFor.length > 0)
  const status = isInScope || ownStatus === 'passed' || ownStatus === 'skipped' ? ownStatus : 'outside'
  const how = howPassed(story)
  const isDone = story.passes || story.skipped
  const parts = splitInto(story)
  const givenBack = record?.givenBack ?? 0
  /** Why it is blocked or was rejected. */
  const why = record?.failure?.summary || story.notes
  const choice = choiceOf(state, id)
  return {
    id,
    title,
    description: story.description,
    dependsOn,
    /** The dependencies that are not done. */
    waitsFor,
    criteria: story.acceptanceCriteria,
    /** By criterion: `example met (3 of 3)`, `mismatch` or `no example: why`; empty if none was tried. */
    examples: exampleWords(story, record),
    status,
    how,
    why,
    /** Why it could not be split; empty if it was not to be, or is no longer. */
    unsplit: isDone || state.splits?.[id] !== undefined ? '' : (record?.unsplit ?? ''),
    /** What the status does not show, as plain text; often empty. */
    aside:
      parts.length > 0
        ? `split into ${parts.join(', ')}`
        : [
            asideOf(status, how, why, waitsFor),
            status === 'passed' && how === 'gates' ? describeChoice(choice) : '',
            splitWords(state, id, status),
            gatesWords(state, id, status),
            status === 'skipped' ? skippedWords(state, id) : '',
          ].join(''),
    /** All its attempts without those given back; `retries` counts the charged ones since its last pass or reset. */
    attempts: Math.max((record?.attempts ?? 0) - givenBack, lastResult?.attempts ?? 0, retries),
    /** Attempts that count for nothing: cancelled, lost, or stopped by a limit. */
    givenBack,
    retries,
    usage: storyUsage(state, id),
    /** How one of several candidates was chosen; null if there was one. */
    choice,
    ms: record?.ms ?? 0,
    commit: story.passes ? (record?.commit ?? lastResult?.commit ?? null) : null,
    passedIn: lastResult?.iteration ?? 0,
    evidence: story.passes ? (lastResult?.evidence ?? []) : [],
    failure: record?.failure ?? null,
    gates: record?.gates ?? [],
    output: failureOutput(record?.failure ?? null, record?.gates ?? []),
    remarks: [...(record?.remarks ?? []), ...remarksOf(record?.gates ?? [])],
  }
}

type ChoiceView = ReturnType<typeof choiceOf>

function choiceOf(state: State, id: string) {
  const choice = state.records[id]?.choice
  if (choice === undefined) return null
  const candidates = choice.candidates.map(({ slot, startedAt, result }) => {
    const cost = costOrEmpty(attemptUsage(state, id, startedAt))
    return { slot, result, cost, isChosen: slot === choice.slot }
  })
  const others = choice.candidates.filter(({ slot }) => slot !== choice.slot)
  return { ...choice, candidates, othersCost: costOrEmpty(attemptsUsage(state, id, others)) }
}

/** `by candidate 2 of 3: the smallest green change; the others cost $0.81`. */
function describeChoice(choice: ChoiceView): string {
  if (choice === null) return ''
  const { slot, why, candidates, othersCost } = choice
  const cost = othersCost === '' ? '' : `; the others cost ${othersCost}`
  return `by candidate ${slot} of ${candidates.length}: ${why}${cost}`
}

const SPLITS = {
  wanted: 'will be split: a session proposes smaller stories next',
  proposed: 'its parts wait for your approval',
}

/** The note that smaller stories are to replace this one. It follows the text of the status. */
function splitWords({ splits = {} }: State, id: string, status: StoryStatus): string {
  const phase = splits[id]?.phase
  if (phase !== 'wanted' && phase !== 'proposed') return ''
  return status === 'open' ? SPLITS[phase] : `; ${SPLITS[phase]}`
}

/** The note that the story has a candidate already, which the next run's jobs gate. It follows the text of the status. */
function gatesWords({ waiting = {} }: State, id: string, status: StoryStatus): string {
  const isWaiting = Object.values(waiting).some(
    ({ storyId, phase }) => storyId === id && phase !== 'returned',
  )
  if (!isWaiting || (status !== 'open' && status !== 'rejected')) return ''
  return status === 'open' ? WAITS : `; ${WAITS}`
}

const WAITS = 'its change is saved, and its gates run next'

/** The start of Ralph's note on a skipped story, before the person's reason. */
const SKIPPED = 'skipped: '

/** The person's reason, and whether commits of the story stay. It follows the text of the status. */
function skippedWords(state: State, id: string): string {
  const note = state.records[id]?.note ?? ''
  const reason = note.startsWith(SKIPPED) ? `: ${note.slice(SKIPPED.length)}` : ''
  return hadPassed(state, id) ? `${reason}; its commits stay on the branch` : reason
}

function hadPassed({ timeline }: State, id: string): boolean {
  return timeline.some(({ storyId, result }) => storyId === id && result === 'passed')
}

function statusOfStory(story: Story, isWorkedOn: boolean, isWaiting: boolean): StoryStatus {
  if (story.passes) return 'passed'
  if (story.skipped) return 'skipped'
  if (story.blocked) return 'blocked'
  if (isWorkedOn) return 'working'
  if (isWaiting) return 'waiting'
  return story.retries > 0 ? 'rejected' : 'open'
}

/** How a story passed: usually by its gates. Null if it has not passed. */
type How = 'gates' | 'imported' | 'ungated' | 'unchanged' | 'answered' | null

function howPassed(story: Story): How {
  if (!story.passes) return null
  if (story.lastResult?.imported === true) return 'imported'
  if (story.lastResult?.how === 'answered') return 'answered'
  if (passedUngated(story)) return 'ungated'
  return passedUnchanged(story) ? 'unchanged' : 'gates'
}

const HOW = {
  gates: '',
  imported: 'had passed before Ralph began; no gate has checked it',
  ungated: UNGATED,
  unchanged: UNCHANGED,
  answered: 'nothing was changed',
}

function asideOf(status: StoryStatus, how: How, why: string, waitsFor: readonly string[]): string {
  const more = waitsFor.length > 3 ? ` and ${waitsFor.length - 3} more` : ''
  const asides: Readonly<Record<StoryStatus, string>> = {
    passed: HOW[how ?? 'gates'],
    skipped: 'skipped by a person',
    blocked: `blocked: ${why}`,
    working: 'in progress now',
    rejected: `to be tried again: ${why}`,
    waiting: `waits for ${waitsFor.slice(0, 3).join(', ')}${more}`,
    outside: 'not in this run',
    open: '',
  }
  return asides[status]
}

const MAX_BLOCKED = 5

/** The blocked stories with the reason and what to type. */
export function blockedSentences(
  stories: readonly StoryView[],
  surface: Surface,
  outcome: Outcome | null,
): Sentence[] {
  const blocked = stories.filter(({ status }) => status === 'blocked')
  const command = (line: string) => ({ code: formatCommandLine(surface, line) })
  const items = blocked.slice(0, MAX_BLOCKED).map(({ id, retries, why }) => {
    const after = retries === 0 ? '' : ` after ${pluralize(retries, 'attempt')}`
    const reason = why === '' ? sentence`` : sentence`: ${{ text: why, most: 200 }}`
    const how = outcome === 'stuck' ? sentence`` : sentence` → ${command(`retry ${id} -- <hint>`)}`
    return sentence`⛔ ${{ story: id }} is blocked${[after]}${reason}${how}`
  })
  const left = blocked.length - MAX_BLOCKED
  if (left <= 0) return items
  return [
    ...items,
    [`${pluralize(left, 'more blocked story', 'more blocked stories')}: `, command('retry all')],
  ]
}

/** The number of stories of each status, in the order of the bar. */
export function countByStatus(stories: readonly StoryView[]): [StoryStatus, number][] {
  const statuses = Object.keys(STORY_STATUSES) as StoryStatus[]
  return statuses
    .map((one): [StoryStatus, number] => [one, stories.filter(({ status }) => status === one).length])
    .filter(([, count]) => count > 0)
}

/** `3 passed, 1 in work`. */
export function formatStatusCounts(bar: readonly (readonly [StoryStatus, number])[]): string {
  return bar.map(([status, count]) => `${count} ${STORY_STATUSES[status].word}`).join(', ')
}

/** Statuses by urgency; the first need a person's attention most. */
const URGENT: readonly StoryStatus[] = [
  'working',
  'blocked',
  'rejected',
  'open',
  'waiting',
  'passed',
  'skipped',
  'outside',
]

/** Stories by urgency of their status; passed ones the newest first, the others in their order. */
export function sortByUrgency(stories: readonly StoryView[]): StoryView[] {
  const rank = ({ status }: StoryView) => URGENT.indexOf(status)
  return stories.toSorted((one, other) => rank(one) - rank(other) || other.passedIn - one.passedIn)
}

/**
 * The iterations, with attempts numbered among all that the story ever had, as its check counts them. The state counts from one again
 * after a retry. An attempt that was returned has the number of the one that repeats it.
 */
export function numberedIterations(
  state: State,
  stories: readonly StoryView[],
  iterations: readonly Iteration[],
): Iteration[] {
  const next = new Map(
    stories.map(({ id, attempts }) => [id, attempts + 1 - (isStoryInWork(state, id) ? 1 : 0)]),
  )
  const withCandidates = new Set(
    iterations.flatMap(({ storyId, result }) => (result === 'candidate' ? [storyId] : [])),
  )
  const numbered = iterations.toReversed().map((entry) => {
    const after = next.get(entry.storyId)
    if (after === undefined || withCandidates.has(entry.storyId) || entry.result === 'reset') return entry
    if (entry.result === 'returned') return { ...entry, attempt: after }
    next.set(entry.storyId, after - 1)
    return { ...entry, attempt: Math.max(1, after - 1) }
  })
  return numbered.reverse()
}

/** The id of the story with the newest failure that no later attempt has fixed. */
export function lastFailedStory({ timeline, records }: State): string | undefined {
  const failed = timeline.findLast(
    ({ storyId, result }) =>
      (result === 'rejected' || result === 'reset') && (records[storyId]?.failure ?? null) !== null,
  )
  return failed?.storyId
}

export type Edge = { from: number; to: number }

/** Dependencies as pairs of indexes in the list, and the stories that have any. */
export function dependenciesOf(stories: readonly StoryView[]) {
  const places = new Map(stories.map(({ id }, at) => [id, at]))
  const edges = stories.flatMap(({ dependsOn }, to) =>
    [...new Set(dependsOn)].flatMap((id): Edge[] => {
      const from = places.get(id)
      return from === undefined || from === to ? [] : [{ from, to }]
    }),
  )
  const used = new Set(edges.flatMap(({ from, to }) => [from, to]))
  const drawn = stories.map((story, at) => ({ at, story })).filter(({ at }) => used.has(at))
  return { edges, drawn }
}
