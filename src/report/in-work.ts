// The attempts in work, one row each: which worker has it, what happens to it, where it is in the train. Pure.

import {
  type Attempt,
  assignedWorker,
  hasCandidate,
  isGreen,
  isInLane,
  slotOf,
} from '../engine/model/attempt.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import type { State } from '../engine/model/state.ts'
import { baseFor, trainOf } from '../engine/parallel/train.ts'
import { attemptLabel, formatDuration, joinWithDots, pluralize } from './figures.ts'
import type { StoryView } from './stories.ts'

export type WorkerView = ReturnType<typeof workersOf>[number]

/** Candidates in the order in which they land, then the stories that sessions work on. */
export function workersOf(state: State, stories: readonly StoryView[], limits: Limits | null, now: number) {
  const most = limits?.maxAttempts ?? null
  const train = trainOf(state)
  const waiting = new Set<Attempt>(train)
  const others = Object.values(state.attempts).filter((attempt) => !waiting.has(attempt))
  return [...train, ...others].flatMap((attempt: Attempt, at) => {
    const story = stories.find(({ id }) => id === attempt.storyId)
    if (story === undefined) return []
    return [
      {
        id: story.id,
        title: story.title,
        /** The name of the worker in a wave; null outside of a wave, and for a candidate that waits in the train. */
        worker: assignedWorker(attempt) ?? null,
        attempt: attempt.number,
        mostAttempts: most,
        which: `${attemptLabel(attempt.number, most)}${candidateLabel(state, attempt)}`,
        doing: describeProgress(state, attempt, train[at - 1]?.storyId ?? null),
        /** Its place in the train, from 1; null without a candidate, or if stories are worked on one after the other. */
        place: isInLane(attempt) && at < train.length ? at + 1 : null,
        /** How often its candidate was rebased and gated again. */
        rebased: timesRebased(attempt),
        startedAt: attempt.startedAt,
        ms: Math.max(0, now - attempt.startedAt),
        before: story.failure?.summary ?? '',
      },
    ]
  })
}

/** `, candidate 2 of 3`; empty if the story has only one. */
function candidateLabel({ contests }: State, attempt: Attempt): string {
  const { storyId } = attempt
  const slot = slotOf(attempt)
  return slot === undefined ? '' : `, candidate ${slot} of ${contests?.[storyId]?.of ?? slot}`
}

/** How many stories can be in progress at the same time, and how many more could begin. Null if only one at a time can. */
export function lanesOf({ job, attempts }: State, limits: Limits | null) {
  const most = job.wave?.workers ?? limits?.maxParallel ?? 1
  const taken = Object.values(attempts).filter(
    (attempt) => job.wave === undefined || assignedWorker(attempt) !== undefined,
  )
  return most > 1 ? { most, free: Math.max(0, most - taken.length) } : null
}

/** `5 stories, 3 of them waiting to land; 1 of 4 workers is free`. */
export function describeLanes(workers: readonly WorkerView[], lanes: ReturnType<typeof lanesOf>): string {
  const waiting = workers.filter(({ place }) => place !== null).length
  const train = waiting === 0 ? '' : `, ${waiting} of them waiting to land`
  const free = lanes === null || lanes.free === 0 ? '' : `; ${lanes.free} of ${lanes.most} workers free`
  const stories = new Set(workers.map(({ id }) => id)).size
  return `${pluralize(stories, 'story', 'stories')}${train}${free}`
}

/** The row in one line without the story, the most important first: `the gates are running · 2m 00s · 2nd to land · worker 1 · …`. */
export function describeWorker({ place, worker, which, doing, rebased, startedAt }: WorkerView, now: number) {
  const time = formatDuration(Math.max(0, now - startedAt))
  const train = place === null ? '' : `${ordinal(place)} to land`
  return joinWithDots(
    doing,
    time,
    describeRebased(rebased),
    train,
    worker === null ? '' : `worker ${worker}`,
    which,
  )
}

/** `2nd`. */
export function ordinal(place: number): string {
  const isTeen = place % 100 > 10 && place % 100 < 14
  return place + (isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][place % 10] ?? 'th'))
}

export function describeRebased(times: number): string {
  if (times === 0) return ''
  return times === 1 ? 'rebased once' : `rebased ${times} times`
}

function timesRebased(attempt: Attempt): number {
  return hasCandidate(attempt) ? (attempt.rebased ?? 0) : 0
}

const PHASE_WORDS: Readonly<Record<Attempt['phase'], string>> = {
  reserved: 'the agent is working',
  worked: 'Ralph checks the change',
  guarded: 'the gates are running',
  gated: 'the gates have ended',
  judged: 'the judge agreed',
  failed: 'rejected',
  returned: 'given back, does not count as an attempt',
}

/** `before`: the story that is before it in the train and has to land first, or null. */
function describeProgress(state: State, attempt: Attempt, before: string | null): string {
  const isInTrain = isInLane(attempt) && slotOf(attempt) === undefined
  if (!isInTrain || !hasCandidate(attempt)) return PHASE_WORDS[attempt.phase]
  const waits = state.job.wave !== undefined && assignedWorker(attempt) === undefined
  const base = baseFor(state, attempt.storyId)
  if (attempt.base !== base) {
    const onto = before ?? 'the newest commit'
    return waits || base === null ? `waits to be rebased on ${onto}` : `being rebased on ${onto}`
  }
  if (isGreen(attempt)) return before === null ? 'passed, lands next' : `passed, lands after ${before}`
  if (attempt.train?.isRedBehind === true && before !== null)
    return `its gates failed on top of ${before}, so it waits until ${before} is decided`
  if (waits) return 'waits for a worker to run its gates'
  return timesRebased(attempt) > 0 ? 'the gates are running again' : PHASE_WORDS[attempt.phase]
}
