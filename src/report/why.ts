// Why a story is not done: what went wrong last, what was tried, what the gate said, and what would help. Decided from the state. Pure.
import { sizeRemarks } from '../documents/size.ts'
import { type Surface, typedOn } from '../loop/command-table.ts'
import { isTooLarge } from '../loop/planned.ts'
import { isService } from '../model/gate.ts'
import type { Failure, State } from '../model/state.ts'
import { type Sentence, says } from './sentence.ts'
import { lastFailed, type StoryView, storiesOf } from './stories.ts'
import { many, utc } from './words.ts'

export type Why = NonNullable<ReturnType<typeof whyOf>>

/** `id` null: the story that failed last, one that is not mended before the others. Null where there is none of it. */
export function whyOf(state: State, id: string | null, surface: Surface) {
  const wanted = id ?? lastFailed(state) ?? lastRejected(state)
  const story = storiesOf(state).find((one) => one.id === wanted)
  if (story === undefined) return null
  const { failure, gates } = story
  const red = gates.find((gate) => !gate.ok && !gate.advisory)
  const output = (red?.output.trim() ? red.output : failure?.detail)?.trim() ?? ''
  return {
    story,
    /** How it stands, and what went wrong last; null where nothing did. */
    stands: standsAs(story),
    last: lastOf(story),
    /** The newest last. */
    attempts: state.timeline.filter(({ storyId }) => storyId === story.id),
    /** Of the last failure: the output of a gate, or more words. */
    seen: story.standing === 'passed' || output === '' ? null : { of: red?.name ?? '', output },
    /** What a person can do, the most telling first. */
    help: helpOf(state, story, (line) => ({ code: typedOn(surface, line) })),
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

/** A command as the reader types it. */
type Typed = (line: string) => { code: string }

function helpOf(state: State, story: StoryView, typed: Typed): Sentence[] {
  const { id, standing, waitsFor, unsplit, failure } = story
  const [first] = waitsFor
  switch (standing) {
    case 'passed':
      return [says`${typed(`redo ${id} -- <why>`)} has it worked on again.`]
    case 'skipped':
      return [says`${typed(`redo ${id}`)} has it done after all.`]
    case 'outside':
      return [says`${typed(`retry ${id}`)} has it done in this run, too.`]
    case 'waiting':
      return first === undefined ? [] : [says`${typed(`why ${first}`)} tells what it waits for.`]
  }
  const help: (Sentence | null)[] = [
    unsplit === ''
      ? null
      : says`It was to be split, and no session could (${{ text: unsplit }}): ${typed(`split ${id} -- <how>`)} asks again, and says where to cut.`,
    slowGate(story),
    failure === null ? null : byKind(state, id, failure, typed),
    resting(state, id, typed),
    ...hints(state, story, typed),
  ]
  return help.filter((one) => one !== null)
}

function slowGate({ gates, failure }: StoryView): Sentence | null {
  const red = gates.find((gate) => !gate.ok && !gate.advisory)
  if (red === undefined || isService(red) || failure?.kind !== 'gates') return null
  if (!red.ended.startsWith('timed out')) return null
  return says`The gate ${{ code: red.name, most: 60 }} had no time to end: give it a longer ${{ code: 'timeout' }}, or make it faster.`
}

function byKind({ folder }: State, id: string, failure: Failure, typed: Typed): Sentence | null {
  if (isTooLarge(failure))
    return says`It was more than a session holds: ${typed(`split ${id}`)} has smaller stories proposed, a longer ${{ code: 'iteration-timeout' }} gives it more time.`
  switch (failure.kind) {
    case 'guard':
      return says`Say in a hint where it may work; what ${{ code: 'protected-paths' }} holds is changed by people.`
    case 'judge':
    case 'empty-diff':
      return says`Look at its criteria in ${{ code: `${folder}/prd.json`, most: 200 }}: they may be met already, or say what nobody sees in the code.`
    case 'conflict':
      return says`${typed(`retry ${id} --fresh`)} begins it anew on the branch as it is now.`
    default:
      return null
  }
}

function resting({ records }: State, id: string, typed: Typed): Sentence | null {
  const breaker = records[id]?.breaker
  if (breaker?.position !== 'open' || breaker.until === null) return null
  const why = { text: breaker.history.at(-1)?.why ?? 'its attempts came to nothing' }
  return says`It rests until ${{ text: utc(breaker.until) }} (${why}): ${typed(`retry ${id} -- <hint>`)} goes on at once.`
}

/** So many rejected attempts are a sign that it is no small story. */
const MANY_ATTEMPTS = 3

/** What can always be typed for a story that is to be worked on. */
function hints(state: State, { id, standing, attempts, failure }: StoryView, typed: Typed) {
  const isBlocked = standing === 'blocked'
  const rejected = state.timeline.filter((one) => one.storyId === id && one.result === 'rejected')
  const last = rejected.slice(-3).map(({ summary }) => summary)
  const isSame = last.length > 1 && new Set(last).size === 1
  const same = isSame ? [`The last ${last.length} attempts ended alike: `] : []
  const own = state.prd.userStories.filter((story) => story.id === id)
  const isLarge = rejected.length >= MANY_ATTEMPTS || sizeRemarks(own).length > 0
  const isTold = failure !== null && isTooLarge(failure)
  return [
    attempts === 0
      ? null
      : isBlocked
        ? says`${same}${typed(`retry ${id} -- <hint>`)} tries it again with what you say is missing.`
        : says`${same}${typed(`note ${id} -- <hint>`)} tells the next attempt what is missing.`,
    isBlocked && state.kept[id] !== undefined
      ? says`${typed(`retry ${id} --fresh`)} throws away what its attempts left, and begins anew.`
      : null,
    isLarge && !isTold ? says`${typed(`split ${id}`)} has smaller stories proposed in its place.` : null,
    isBlocked ? says`${typed(`skip ${id}`)} leaves it out.` : null,
  ]
}
