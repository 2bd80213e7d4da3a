// Tables and checks count a story's attempts alike, also after a retry, which counts anew in the state; and each attempt is in its own job.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attempt } from '../../../src/engine/model/attempt.ts'
import type { TimelineEntry } from '../../../src/engine/model/state.ts'
import { newStory } from '../../../src/engine/prd/schema.ts'
import { emptyRecord, recordAttemptTime } from '../../../src/engine/state/state-updates.ts'
import { storyCheck } from '../../../src/report/check-runs.ts'
import { viewOf } from '../../../src/report/view.ts'
import { stateOf } from '../engine/samples.ts'
import { facts } from './poison.ts'

const entry = (result: TimelineEntry['result'], attempt: number, iteration: number): TimelineEntry => ({
  ...{ iteration, storyId: 'US-001', attempt, result, summary: 's', ms: 1 },
  ...{ startedAt: iteration, at: iteration + 1, job: 1 },
})

test('after a retry the table and the check name the same attempt', () => {
  const timeline = [
    entry('rejected', 1, 1),
    entry('returned', 2, 2),
    entry('rejected', 2, 3),
    entry('rejected', 3, 4),
    // Here a person said retry.
    entry('passed', 1, 5),
  ]
  const lastResult = { completedAt: 'now', commit: 'c', summary: 's' }
  const story = { ...newStory({ id: 'US-001', title: 'one' }), passes: true, retries: 1, lastResult }
  const records = { 'US-001': { ...emptyRecord(), attempts: 5, givenBack: 1 } }
  const view = viewOf(stateOf([story], { timeline, records }), facts('x'))
  assert.deepEqual(
    view.timeline.map(({ attempt }) => attempt),
    [1, 2, 2, 3, 4],
  )
  assert.match(storyCheck(view, 'US-001').title, /^Passed on attempt 4\b/)
})

test('an attempt whose job was lost is listed in that job', () => {
  const state = stateOf([newStory({ id: 'US-001', title: 'one' })])
  const now = state.job.startedAt
  const jobs = (startedAt: number, count: number) => {
    const prd = { ...state.prd, run: { ...state.prd.run, jobs: count } }
    const attempt: Attempt = {
      ...{ storyId: 'US-001', iteration: 1, number: 1, agent: 'first', base: 'base', startedAt },
      ...{ reserved: { costUsd: null, tokens: null }, unwanted: false, phase: 'reserved' },
      runner: { at: 'checkout' },
    }
    const after = recordAttemptTime({ ...state, prd }, attempt, 'returned', 's', now + 1)
    return after.timeline.map(({ job }) => job)
  }
  assert.deepEqual([jobs(now - 1, 3), jobs(now, 3), jobs(now - 1, 1)], [[2], [3], [1]])
})
