// A wave of four workers: three candidates in the train, one of them rebased, one left by its worker; and a session.

import type { Event } from '../../../src/engine/model/event.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { reduce } from '../../../src/engine/reduce.ts'
import { built, gate, session } from '../engine/samples.ts'
import { limits, midRun, NOW, stories } from './samples.ts'

export const parallelLimits = { ...limits, maxParallel: 4 }

/** `workers`: null for stories side by side on a laptop, in one process. */
export function fourLanes(workers: number | null = 4): State {
  const start = midRun()
  const userStories = stories().map((story) => ({ ...story, dependsOn: [] }))
  const wave = workers === null ? {} : { wave: { workers, isOver: false } }
  const state: State = {
    ...start,
    prd: { ...start.prd, userStories },
    attempts: {},
    job: { ...start.job, ...wave },
  }
  const at = NOW - 600_000
  const worker = (name: string) => (workers === null ? {} : { worker: name })
  const candidate = (storyId: string): Event[] => [
    { kind: 'worked', storyId, session: session(), at },
    { kind: 'guarded', storyId, candidate: built(`c-${storyId}`), at },
  ]
  const rebased = (storyId: string, base: string): Event => {
    return { kind: 'rebased', storyId, base, candidate: built(`${base}-${storyId}`), at }
  }
  const events: Event[] = [
    ...['US-001', 'US-002', 'US-003', 'US-004'].map((storyId, index): Event => {
      return { kind: 'reserved', storyId, ...worker(`${index + 1}`), at: at + index * 60_000 }
    }),
    ...['US-001', 'US-002', 'US-003'].flatMap(candidate),
    rebased('US-002', 'c-US-001'),
    rebased('US-003', 'c-US-001-US-002'),
    { kind: 'gated', storyId: 'US-003', commit: 'c-US-001-US-002-US-003', gates: [gate(true)], at },
    ...(workers === null ? [] : [{ kind: 'assigned', storyId: 'US-003', worker: null, at } as const]),
  ]
  return events.reduce((before, event) => reduce(before, event, parallelLimits), state)
}
