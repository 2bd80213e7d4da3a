// Why a story is not done: what went wrong last, what was tried, the gate's output, and what would help. Pure.

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

/** `id` null: the story that failed last and is not mended. Null where there is none of it. */
export function whyOf(state: State, id: string | null, surface: Surface) {
  const wanted = id ?? lastFailedStory(state)
  const story = storiesOf(state).find((one) => one.id === wanted)
  if (story === undefined) return null
  return {
    story,
    /** `blocked, 3 attempts`. */
    statusText: `${STORY_STATUSES[story.status].word}, ${describeAttempts(story)}`,
    /** What went wrong last; null where nothing did. */
    last: lastOf(story),
    /** The newest last. */
    attempts: numberedAttempts(state, story.id),
    output: story.status === 'passed' ? null : story.output,
    /** Hints that people gave for its next attempt; the newest last. */
    guidance: state.control.guidance[story.id] ?? [],
    /** What a person can do, the most telling first. */
    help: helpOf(state, story, surface),
  }
}

/** As `ralph log --attempt` counts them: all that ever were, where a retry begins to count anew. */
function numberedAttempts(state: State, id: string) {
  const inWork = attemptsAt(state, id).filter(({ chosen }) => chosen === undefined).length
  let number = (state.records[id]?.attempts ?? 0) - inWork
  const tried = iterationsOf(state).filter(({ storyId }) => storyId === id)
  return tried
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
      // Of what the guard refuses, only this is a setting.
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

/** Every gate was green, and the tests check less than they did before: `weakened-tests: fail` refuses that. */
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

/** So many rejected attempts are a sign that it is no small story. */
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
