// Stories side by side, on every surface: who works on which, the train, and what was rebased and gated again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reduce } from '../../../src/engine/reduce.ts'
import { renderReport } from '../../../src/report/html/report-page.ts'
import { ordinal } from '../../../src/report/in-work.ts'
import { liveJson, liveViewOf } from '../../../src/report/live-view.ts'
import { frameLines, plainFrame } from '../../../src/report/terminal/dashboard.ts'
import { viewOf } from '../../../src/report/view.ts'
import { fourLanes, parallelLimits } from './four-lanes.ts'
import { stickyComment } from './rendered.ts'
import { limits, midRun, NOW } from './samples.ts'
import { watched } from './watched.ts'

const facts = { repositoryUrl: 'https://github.com/acme/shop', limits: parallelLimits, now: NOW }
const doing = (state = fourLanes()) =>
  viewOf(state, facts).workers.map((one) => [one.id, one.worker, one.place, one.doing, one.rebased])

test('lanes are listed in the order in which they land, then sessions: worker, story and what each waits for', () => {
  assert.deepEqual(doing(), [
    ['US-001', '1', 1, 'the gates are running', 0],
    ['US-002', '2', 2, 'the gates are running again', 1],
    ['US-003', null, 3, 'passed, lands after US-002', 1],
    ['US-004', '4', null, 'the agent is working', 0],
  ])
  assert.deepEqual(viewOf(fourLanes(), facts).lanes, { most: 4, free: 1 })
  assert.deepEqual(viewOf(fourLanes(null), facts).lanes, { most: 4, free: 0 })
})

test('a candidate that falls out of the train: those after it are rebased', () => {
  const red = reduce(
    fourLanes(),
    { kind: 'gated', storyId: 'US-001', commit: 'c-US-001', gates: [{ ...failedGate }], at: NOW },
    parallelLimits,
  )
  assert.deepEqual(doing(red), [
    ['US-002', '2', 1, 'being rebased on the newest commit', 1],
    ['US-003', null, 2, 'waits to be rebased on US-002', 1],
    ['US-001', '1', null, 'rejected', 0],
    ['US-004', '4', null, 'the agent is working', 0],
  ])
})

const failedGate = { name: 'test', ok: false, advisory: false, ended: 'exit 1', ms: 1, output: '' }

test('a candidate that is red on top of another waits until that one is decided', () => {
  const gates = [failedGate]
  const red = reduce(
    fourLanes(),
    { kind: 'gated', storyId: 'US-002', commit: 'c-US-001-US-002', gates, at: NOW },
    parallelLimits,
  )
  assert.equal(doing(red)[1]?.[3], 'its gates failed on top of US-001, so it waits until US-001 is decided')
})

test('comment, report, terminal and JSON list lanes, and a run without lanes as before', () => {
  const comment = stickyComment(fourLanes(), { ...facts, notes: [] })
  assert.match(comment, /\*\*Now:\*\* 4 stories, 3 of them waiting to land; 1 of 4 workers free\./)
  assert.match(comment, /\| US-002 .* \| 2nd \| 2 \| the gates are running again · rebased once \| /)
  const report = renderReport(viewOf(fourLanes(), facts))
  assert.match(report, /Now: 4 stories, 3 of them waiting to land; 1 of 4 workers free/)
  const live = liveViewOf(watched(fourLanes(), { limits: parallelLimits }), NOW)
  const frame = frameLines(
    { views: [live], selected: 0, note: '' },
    { width: 100, height: 40, colour: false, plain: false },
  )
  assert.ok(
    frame.some((line) =>
      line.includes('US-002 · the gates are running again · 9m 00s · rebased once · 2nd to land · worker 2'),
    ),
    frame.join('\n'),
  )
  assert.match(
    plainFrame({ views: [live], note: '' }).join('\n'),
    /Now: US-003 .*: passed, lands after US-002 · 8m 00s · rebased once · 3rd to land/,
  )
  assert.deepEqual(
    liveJson(live).workers.map(({ id, place, rebased }) => [id, place, rebased]),
    doing().map(([id, , place, , rebased]) => [id, place, rebased]),
  )
  assert.doesNotMatch(comment, /#\d/, 'GitHub would make a link to an issue of it')
  const alone = stickyComment(midRun(), { ...facts, limits, notes: [] })
  assert.doesNotMatch(alone, /\*\*Now/)
})

test('places in the train have ordinal numbers', () => {
  const places = [1, 2, 3, 4, 11, 12, 13, 21, 101, 111].map((place) => ordinal(place))
  assert.deepEqual(places, ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '101st', '111th'])
})
