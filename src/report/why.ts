// Why a story is not done: its last failure, its attempts, the gate's output, and what would help. Or how it passed. Pure.

import { formatCommandLine, type Surface } from '../engine/commands/command-table.ts'
import { type Failure, isChosen } from '../engine/model/attempt.ts'
import { gateFindings } from '../engine/model/gate.ts'
import { attemptsAt } from '../engine/model/job.ts'
import type { State } from '../engine/model/state.ts'
import { iterationsOf } from '../engine/model/usage-totals.ts'
import { isTooLarge } from '../engine/planning/plan-events.ts'
import { sizeRemarks } from '../plan/size.ts'
import { describeAttempts, formatUtc, shortCommit } from './figures.ts'
import { STORY_STATUSES } from './outcomes.ts'
import { type Sentence, sentence } from './sentence.ts'
import { lastFailedStory, type StoryView, storiesOf } from './stories.ts'

export type Why = NonNullable<ReturnType<typeof whyOf>>

/** `id`: a story; null for the story with the newest failure that is not fixed. Null if there is no such story. */
export function whyOf(state: State, id: string | null, surface: Surface) {
  const storyId = id ?? lastFailedStory(state)
  const story = storiesOf(state).find(({ id }) => id === storyId)
  if (story === undefined) return null
  return {
    story,
    /** `blocked, 3 attempts`. */
    statusText: `${STORY_STATUSES[story.status].word}, ${describeAttempts(story)}`,
    /** The last failure, or null. */
    last: failureSentence(story),
    /** How it passed, or null. */
    passed: passSentence(story),
    /** The newest last. */
    attempts: numberedAttempts(state, story.id),
    output: story.status === 'passed' ? null : story.output,
    /** People's hints for the story's next attempt, the newest last. */
    guidance: state.control.guidance[story.id] ?? [],
    helpTitle:
      story.status === 'passed' || story.status === 'skipped' ? 'What you can do' : 'What would help',
    /** What a person can do, the most helpful first. */
    help: helpSentences(state, story, surface),
  }
}

/** The iterations of a story, numbered as in `ralph log --attempt`: over all attempts ever made. The state begins again at a retry. */
function numberedAttempts(state: State, id: string) {
  const inWorkCount = attemptsAt(state, id).filter((attempt) => !isChosen(attempt)).length
  // The newest iteration has the highest number.
  let number = (state.records[id]?.attempts ?? 0) - inWorkCount
  const iterations = iterationsOf(state).filter(({ storyId }) => storyId === id)
  return iterations
    .toReversed()
    .map((entry) => (entry.result === 'reset' ? entry : { ...entry, attempt: number-- }))
    .reverse()
}

const FAILURE_TITLES: Readonly<Record<Failure['kind'], string>> = {
  session: "The agent's session failed",
  stuck: 'The agent gave up',
  'empty-diff': 'The agent changed nothing',
  guard: 'Ralph refused the change',
  gates: 'The change was not accepted',
  judge: 'The judge did not agree',
  conflict: 'The change conflicts with commits by people',
  examples: 'The output differs from what an example expects',
}

function failureSentence({ status, failure, why }: StoryView): Sentence | null {
  if (status === 'passed' || status === 'skipped') return null
  if (failure !== null) return [FAILURE_TITLES[failure.kind], ': ', { text: failure.summary }]
  return status === 'blocked' && why !== '' ? [{ text: why }] : null
}

function passSentence({ status, how, aside, commit }: StoryView): Sentence | null {
  if (status !== 'passed') return null
  if (how !== 'gates') return [{ text: `How it passed: ${aside}` }, '.']
  return commit === null
    ? ['Its gates passed.']
    : sentence`Its gates passed on ${{ code: shortCommit(commit) }}.`
}

function helpSentences(state: State, story: StoryView, surface: Surface): Sentence[] {
  const { id, status, waitsFor, failure } = story
  const attempts = story.attempts + story.givenBack
  const command = (line: string) => ({ code: formatCommandLine(surface, line) })
  switch (status) {
    case 'passed':
      return [
        sentence`${command(`diff ${id}`)} shows what was changed for it.`,
        sentence`${command(`redo ${id} -- <why>`)} works on it again, if the work is not what you want.`,
      ]
    case 'skipped':
      return [sentence`${command(`redo ${id} -- <why>`)} works on it after all.`]
    case 'outside':
      return [sentence`${command(`retry ${id}`)} adds it to this run.`]
    case 'waiting':
      return waitsFor
        .slice(0, 1)
        .map(
          (first) =>
            sentence`It waits for ${{ text: first }}: ${command(`why ${first}`)} shows what is missing there.`,
        )
  }
  const isBlocked = status === 'blocked'
  const hasAttempts = attempts > 0
  const help: (Sentence | false)[] = [
    failure !== null && helpByKind(state, story, failure),
    !isBlocked && restSentence(state, id),
    hasAttempts && isBlocked && sentence`${command(`retry ${id} -- <hint>`)} tries it again with your hint.`,
    hasAttempts &&
      !isBlocked &&
      sentence`${command(`note ${id} -- <hint>`)} gives your hint to the next attempt.`,
    isBlocked &&
      state.kept[id] !== undefined &&
      sentence`${command(`retry ${id} --fresh`)} discards what its attempts left, and starts over.`,
    mayBeTooLarge(state, story) && sentence`${command(`split ${id}`)} proposes smaller stories instead.`,
    isBlocked && sentence`${command(`skip ${id}`)} leaves it out.`,
  ]
  return help.filter((item) => item !== false)
}

function helpByKind({ folder }: State, { id, gates }: StoryView, failure: Failure): Sentence | false {
  switch (failure.kind) {
    case 'guard':
      // Only the protected paths are a setting. The guard's other rules are fixed.
      return failure.detail.includes('protected-paths')
        ? sentence`Only people can change files that match ${{ code: 'protected-paths' }}. Say in a hint which files to change instead.`
        : sentence`Only people can make the change that Ralph refused. Say in a hint which files to change instead.`
    case 'gates':
      return (
        hasWeakenedTests(gates) &&
        sentence`Say in a hint what the tests should expect now. With ${{ code: 'weakened-tests: judge' }}, a judge decides whether the criteria require the changed tests.`
      )
    case 'judge':
    case 'empty-diff':
      return sentence`Check its criteria in ${{ code: `${folder}/prd.json`, most: 200 }}. They may already be met, or nothing in the files can show it.`
    case 'session':
      return (
        isTooLarge(failure) &&
        sentence`A longer ${{ code: 'iteration-timeout' }} gives ${{ text: id }} more time.`
      )
    default:
      return false
  }
}

/** Whether `weakened-tests: fail` refused the attempt: every gate was green, but the tests check less than before. */
function hasWeakenedTests(gates: StoryView['gates']): boolean {
  const isGreen = gates.every(({ ok, advisory, further }) => ok || advisory || further !== undefined)
  return isGreen && gateFindings(gates).length > 0
}

function restSentence({ records }: State, id: string): Sentence | false {
  const breaker = records[id]?.breaker
  if (breaker?.position !== 'open' || breaker.until === null) return false
  const why = { text: breaker.history.at(-1)?.why ?? 'its attempts made no progress' }
  return sentence`Ralph does not try it again before ${{ text: formatUtc(breaker.until) }} (${why}).`
}

/** After this many rejected attempts, a story may be too large. */
const MANY_ATTEMPTS = 3

function mayBeTooLarge({ timeline, prd }: State, { id, failure }: StoryView): boolean {
  const rejected = timeline.filter(({ storyId, result }) => storyId === id && result === 'rejected')
  if (rejected.length >= MANY_ATTEMPTS) return true
  if (failure !== null && isTooLarge(failure)) return true
  return sizeRemarks(prd.userStories.filter((story) => story.id === id)).length > 0
}
