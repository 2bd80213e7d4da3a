// Why a story is not done: what went wrong last, what was tried, what the gate said, and what would help. Decided from the state. Pure.
import { sizeRemarks } from '../documents/size.ts'
import { type Surface, typedOn } from '../loop/command-table.ts'
import { iterationsLeft } from '../loop/limits.ts'
import { isTooLarge } from '../loop/planned.ts'
import { isService } from '../model/gate.ts'
import type { Limits } from '../model/limits.ts'
import type { Failure, State, TimelineEntry } from '../model/state.ts'
import { type Sentence, says } from './sentence.ts'
import { lastFailed, type StoryView, storiesOf } from './view.ts'
import { many, utc } from './words.ts'

export type Why = {
  story: StoryView
  /** How it stands, in a sentence. */
  stands: Sentence
  /** What went wrong last, in plain words; null where nothing did. */
  last: Sentence | null
  /** Its attempts, the newest last. */
  attempts: readonly TimelineEntry[]
  /** What was seen of the last failure: the output of a gate, or more words; empty where there is none. */
  seen: { of: string; output: string } | null
  /** The last rejected attempt of a story that passed since: what was seen of it is in its logs alone. */
  inLogs: TimelineEntry | null
  /** What a person can do, the most telling first. */
  help: readonly Sentence[]
}

const MOST_HELP = 5
/** So many rejected attempts are a sign that it is no small story. */
const MANY_ATTEMPTS = 3

/** `id` null: the story that failed last, one that is not mended before the others. Null where there is none of it. */
export function whyOf(
  state: State,
  id: string | null,
  surface: Surface,
  limits: Limits | null = null,
): Why | null {
  const wanted = id ?? lastFailed(state) ?? lastRejected(state)
  const story = storiesOf(state).find((one) => one.id === wanted)
  if (story === undefined) return null
  const { failure, gates } = story
  const red = gates.find((gate) => !gate.ok && !gate.advisory)
  const output = (red?.output.trim() ? red.output : failure?.detail)?.trim() ?? ''
  const attempts = state.timeline.filter(({ storyId }) => storyId === story.id)
  const rejected = attempts.filter(({ result }) => result === 'rejected')
  const typed = (line: string) => ({ code: typedOn(surface, line) })
  return {
    story,
    stands: standsAs(story),
    last: lastOf(story),
    attempts,
    seen: story.standing === 'passed' || output === '' ? null : { of: red?.name ?? '', output },
    inLogs: story.standing === 'passed' ? (rejected.at(-1) ?? null) : null,
    help: helpOf({ state, story, limits, rejected, typed }).slice(0, MOST_HELP),
  }
}

function lastRejected({ timeline }: State): string | undefined {
  return timeline.findLast(({ result }) => result === 'rejected' || result === 'reset')?.storyId
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

function lastOf({ standing, failure, why }: StoryView): Sentence | null {
  if (standing === 'passed' || standing === 'skipped') return null
  if (failure !== null) return [KINDS[failure.kind], ': ', { text: failure.summary }]
  return standing === 'blocked' && why !== '' ? [{ text: why }] : null
}

function standsAs({ standing, attempts, retries, aside }: StoryView): Sentence {
  const tries = many(standing === 'blocked' ? retries : attempts, 'attempt')
  switch (standing) {
    case 'passed':
      return says`It passes, after ${{ text: `${tries} ${aside}`.trim() }}.`
    case 'blocked':
      return says`It is blocked after ${{ text: tries }}: nothing more is tried until a person says so.`
    case 'working':
      return says`It is in work now.`
    case 'rejected':
      return says`It was rejected, and is tried again: ${{ text: tries }} so far.`
    case 'open':
      return attempts === 0 ? says`It was not tried yet.` : says`It is to be tried again.`
    default:
      return says`It is not worked on: ${{ text: aside }}.`
  }
}

type Case = {
  state: State
  story: StoryView
  limits: Limits | null
  /** Its rejected attempts. */
  rejected: readonly TimelineEntry[]
  typed(line: string): { code: string }
}
/** What to do, where the case is of this rule. */
type Rule = (one: Case) => Sentence | null

/** The most telling first. */
const RULES: readonly Rule[] = [
  noIteration,
  notSplit,
  redGate,
  byKind,
  tooLarge,
  resting,
  hint,
  anew,
  manyTries,
  leftOut,
]

function helpOf(one: Case): Sentence[] {
  const { story, typed } = one
  switch (story.standing) {
    case 'passed':
      return [says`${typed(`redo ${story.id} -- <why>`)} has it worked on again.`]
    case 'skipped':
      return [says`${typed(`redo ${story.id}`)} has it done after all.`]
    case 'outside':
      return [says`${typed(`retry ${story.id}`)} has it done in this run, too.`]
    case 'waiting':
      return story.waitsFor
        .slice(0, 1)
        .map((first) => says`${typed(`why ${first}`)} tells what it waits for.`)
    default:
      return RULES.map((rule) => rule(one)).filter((sentence) => sentence !== null)
  }
}

function noIteration({ state, limits, typed }: Case): Sentence | null {
  if (limits === null || iterationsLeft(state, limits) > 0) return null
  return says`No iteration is left for it: ${typed('limit iterations +5')} allows more.`
}

function notSplit({ story: { id, unsplit }, typed }: Case): Sentence | null {
  if (unsplit === '') return null
  return says`It was to be split, and no session could (${{ text: unsplit }}): ${typed(`split ${id} -- <how>`)} asks again, and says where to cut.`
}

function redGate({ state, story, limits }: Case): Sentence | null {
  const red = story.gates.find((gate) => !gate.ok && !gate.advisory)
  if (red === undefined || isService(red) || story.failure?.kind !== 'gates') return null
  const name = { code: red.name, most: 60 }
  if (red.ended.startsWith('timed out'))
    return says`The gate ${name} had no time to end: give it a longer ${{ code: 'timeout' }}, or make it faster.`
  if (story.gates.some((gate) => gate.flaky === true))
    return says`A gate was red, and green when it ran again on the same code: mend that test, for no attempt can.`
  if (limits?.baseline !== false || state.baselineGates?.[red.name] !== undefined) return null
  const base = { code: state.base.branch, most: 100 }
  return says`Nobody has seen the gate ${name} green on ${base}: where it is red there, too, mend it there; ${{ code: 'baseline: require' }} looks first.`
}

function byKind({ state, story, typed }: Case): Sentence | null {
  switch (story.failure?.kind) {
    case 'guard':
      return says`Say in a hint where it may work; what ${{ code: 'protected-paths' }} holds is changed by people.`
    case 'judge':
    case 'empty-diff':
      return says`Look at its criteria in ${{ code: `${state.folder}/prd.json`, most: 200 }}: they may be met already, or say what nobody sees in the code.`
    case 'conflict':
      return says`${typed(`retry ${story.id} --fresh`)} begins it anew on the branch as it is now.`
    default:
      return null
  }
}

function tooLarge({ story, typed }: Case): Sentence | null {
  if (story.failure === null || !isTooLarge(story.failure)) return null
  const split = typed(`split ${story.id}`)
  return says`It was more than a session holds: ${split} has smaller stories proposed, a longer ${{ code: 'iteration-timeout' }} gives it more time.`
}

function manyTries({ state, story, rejected, typed }: Case): Sentence | null {
  if (story.failure !== null && isTooLarge(story.failure)) return null
  const own = state.prd.userStories.filter(({ id }) => id === story.id)
  if (sizeRemarks(own).length === 0 && rejected.length < MANY_ATTEMPTS) return null
  return says`${typed(`split ${story.id}`)} has smaller stories proposed in its place.`
}

function resting({ state, story, typed }: Case): Sentence | null {
  const breaker = state.records[story.id]?.breaker
  if (breaker?.position !== 'open' || breaker.until === null) return null
  const why = { text: breaker.history.at(-1)?.why ?? 'its attempts came to nothing' }
  return says`It rests until ${{ text: utc(breaker.until) }} (${why}): ${typed(`retry ${story.id} -- <hint>`)} goes on at once.`
}

function hint({ story, rejected, typed }: Case): Sentence | null {
  if (story.attempts === 0) return null
  const summaries = rejected.slice(-3).map(({ summary }) => summary)
  const isSame = summaries.length > 1 && new Set(summaries).size === 1
  const same = isSame ? says`The last ${{ text: String(summaries.length) }} attempts ended alike: ` : says``
  return story.standing === 'blocked'
    ? says`${same}${typed(`retry ${story.id} -- <hint>`)} tries it again with what you say is missing.`
    : says`${same}${typed(`note ${story.id} -- <hint>`)} tells the next attempt what is missing.`
}

function anew({ state, story, typed }: Case): Sentence | null {
  if (story.standing !== 'blocked' || state.kept[story.id] === undefined) return null
  return says`${typed(`retry ${story.id} --fresh`)} throws away what its attempts left, and begins anew.`
}

function leftOut({ story, typed }: Case): Sentence | null {
  return story.standing === 'blocked' ? says`${typed(`skip ${story.id}`)} leaves it out.` : null
}
