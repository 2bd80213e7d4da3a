// Why a story is not done: its last failure, its attempts, the gate's output, and what would help. Pure.

import { formatCommandLine, type Surface } from '../engine/commands/command-table.ts'
import type { Failure } from '../engine/model/attempt.ts'
import { gateFindings } from '../engine/model/gate.ts'
import { attemptsAt } from '../engine/model/job.ts'
import type { State } from '../engine/model/state.ts'
import { iterationsOf } from '../engine/model/usage-totals.ts'
import { isTooLarge } from '../engine/planning/plan-events.ts'
import { sizeRemarks } from '../plan/size.ts'
import { describeAttempts, formatUtc } from './figures.ts'
import { STORY_STATUSES } from './outcomes.ts'
import { type Sentence, sentence } from './sentence.ts'
import { lastFailedStory, type StoryView, storiesOf } from './stories.ts'

export type Why = NonNullable<ReturnType<typeof whyOf>>

/** With `id` null: for the story with the newest failure that is not fixed. Null if there is no such story. */
export function whyOf(state: State, id: string | null, surface: Surface) {
  const storyId = id ?? lastFailedStory(state)
  const story = storiesOf(state).find((one) => one.id === storyId)
  if (story === undefined) return null
  return {
    story,
    /** `blocked, 3 attempts`. */
    statusText: `${STORY_STATUSES[story.status].word}, ${describeAttempts(story)}`,
    /** The last failure; null without any. */
    last: lastOf(story),
    /** The newest last. */
    attempts: numberedAttempts(state, story.id),
    output: story.status === 'passed' ? null : story.output,
    /** Hints that people gave for its next attempt; the newest last. */
    guidance: state.control.guidance[story.id] ?? [],
    /** What a person can do, the most helpful first. */
    help: helpOf(state, story, surface),
  }
}

/** Numbered as `ralph log --attempt` does: over all attempts ever made, while the state's own numbers begin anew at a retry. */
function numberedAttempts(state: State, id: string) {
  const inWork = attemptsAt(state, id).filter(({ chosen }) => chosen === undefined).length
  let number = (state.records[id]?.attempts ?? 0) - inWork
  const iterations = iterationsOf(state).filter(({ storyId }) => storyId === id)
  return iterations
    .toReversed()
    .map((entry) => (entry.result === 'reset' ? entry : { ...entry, attempt: number-- }))
    .reverse()
}

const KINDS: Readonly<Record<Failure['kind'], string>> = {
  session: "The agent's session failed",
  stuck: 'The agent gave up',
  'empty-diff': 'The agent changed nothing',
  guard: 'What the agent changed was refused',
  gates: 'What the agent made was not accepted',
  judge: 'The judge did not agree',
  conflict: 'Its work does not go together with what people committed',
}

function lastOf({ status, failure, why }: StoryView): Sentence | null {
  if (status === 'passed' || status === 'skipped') return null
  if (failure !== null) return [KINDS[failure.kind], ': ', { text: failure.summary }]
  return status === 'blocked' && why !== '' ? [{ text: why }] : null
}

function helpOf(state: State, story: StoryView, surface: Surface): Sentence[] {
  const { id, status, waitsFor, failure } = story
  const attempts = story.attempts + story.givenBack
  const typed = (line: string) => ({ code: formatCommandLine(surface, line) })
  switch (status) {
    case 'passed':
    case 'skipped':
      return [sentence`${typed(`redo ${id} -- <why>`)} has it worked on again.`]
    case 'outside':
      return [sentence`${typed(`retry ${id}`)} has it done in this run, too.`]
    case 'waiting':
      return waitsFor.slice(0, 1).map((first) => sentence`${typed(`why ${first}`)} tells what it waits for.`)
  }
  const isBlocked = status === 'blocked'
  const help: (Sentence | false)[] = [
    failure !== null && byKind(state, story, failure),
    resting(state, id),
    attempts > 0 && isBlocked
      ? sentence`${typed(`retry ${id} -- <hint>`)} tries it again with what you say is missing.`
      : attempts > 0 && sentence`${typed(`note ${id} -- <hint>`)} tells the next attempt what is missing.`,
    isBlocked &&
      state.kept[id] !== undefined &&
      sentence`${typed(`retry ${id} --fresh`)} throws away its saved work (what its attempts left), and begins anew.`,
    isLarge(state, story) && sentence`${typed(`split ${id}`)} has smaller stories proposed in its place.`,
    isBlocked && sentence`${typed(`skip ${id}`)} leaves it out.`,
  ]
  return help.filter((one) => one !== false)
}

function byKind({ folder }: State, { id, gates }: StoryView, failure: Failure): Sentence | false {
  switch (failure.kind) {
    case 'guard':
      // Of all that the guard refuses, only protected paths are a setting.
      return failure.detail.includes('protected-paths')
        ? sentence`Say in a hint where it may work; what ${{ code: 'protected-paths' }} holds is changed by people.`
        : sentence`Say in a hint where it may work: what was refused is changed by people.`
    case 'gates':
      return (
        hasWeakenedTests(gates) &&
        sentence`Say in a hint what the tests are to expect; ${{ code: 'weakened-tests: judge' }} has a judge decide it by the criteria.`
      )
    case 'judge':
    case 'empty-diff':
      return sentence`Look at its criteria in ${{ code: `${folder}/prd.json`, most: 200 }}: they may be met already, or ask for something that the code does not show.`
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
  const isGreen = gates.every(({ ok, advisory, asItWas }) => ok || advisory || asItWas === true)
  return isGreen && gateFindings(gates).length > 0
}

function resting({ records }: State, id: string): Sentence | false {
  const breaker = records[id]?.breaker
  if (breaker?.position !== 'open' || breaker.until === null) return false
  const why = { text: breaker.history.at(-1)?.why ?? 'its attempts came to nothing' }
  return sentence`It rests until ${{ text: formatUtc(breaker.until) }} (${why}).`
}

/** This many rejected attempts are a sign that a story is too large. */
const MANY_ATTEMPTS = 3

function isLarge({ timeline, prd }: State, { id, failure }: StoryView): boolean {
  const rejected = timeline.filter((one) => one.storyId === id && one.result === 'rejected')
  const own = prd.userStories.filter((story) => story.id === id)
  return (
    rejected.length >= MANY_ATTEMPTS ||
    sizeRemarks(own).length > 0 ||
    (failure !== null && isTooLarge(failure))
  )
}
