// Which pictures a state keeps, and how pages looked before.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GateResult, Screenshot } from '../../../src/engine/model/gate.ts'
import { failureOutput } from '../../../src/engine/model/gate-output.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { emptyUsage } from '../../../src/engine/model/usage.ts'
import { reduce } from '../../../src/engine/reduce.ts'
import { greenPages, picturesForJudge, screenshotBlobs } from '../../../src/engine/state/screenshots.ts'
import { emptyRecord } from '../../../src/engine/state/state-updates.ts'
import { limitsWith, NOW, stateOf, stories } from './samples.ts'

const shot = (blob: string, before: string | null = null): Screenshot => {
  return { url: 'http://localhost:3000/', viewport: '1280x800', blob, bytes: 1, before }
}
const seen = (ok: boolean, ...screenshots: Screenshot[]): GateResult => {
  return { name: 'browser', ok, advisory: false, ended: 'x', ms: 1, output: 'what is wrong', screenshots }
}
const entry = (storyId: string) => {
  const nothing = { iteration: 1, attempt: 1, summary: '', ms: 0, costUsd: 0, tokens: 0, at: NOW, job: 1 }
  return { ...nothing, storyId, result: 'passed' as const }
}

/** US-002 passed last, US-003 did not. */
function sample(): State {
  const state = stateOf(stories('US-001', 'US-002', 'US-003'))
  const userStories = state.prd.userStories.map((one) => ({ ...one, passes: one.id !== 'US-003' }))
  const recordOf = (...all: Screenshot[]) => ({ ...emptyRecord(), gates: [seen(true, ...all)] })
  return {
    ...state,
    prd: { ...state.prd, userStories },
    basePages: [shot('base')],
    records: {
      'US-002': recordOf(shot('two', 'one')),
      'US-001': recordOf(shot('one', 'base')),
      'US-003': recordOf(shot('red', 'two')),
    },
    timeline: ['US-001', 'US-002', 'US-003'].map(entry),
  }
}

test('the "before" screenshot of a story is that of the last passed story, in the final verification that of the baseline', () => {
  const blobs = (until: 'base' | 'last') => greenPages(sample(), until).map(({ blob }) => blob)
  assert.deepEqual(blobs('last'), ['base', 'one', 'two'])
  assert.deepEqual(blobs('base'), ['base'])
})

test("the newest screenshots are kept, each once, up to the state's limit", () => {
  assert.deepEqual(screenshotBlobs(sample()), ['red', 'two', 'one', 'base'])
  const many = Array.from({ length: 300 }, (_, at) => shot(`${at}`, `before-${at}`))
  const record = { ...emptyRecord(), gates: [seen(true, ...many)] }
  const kept = screenshotBlobs({ ...sample(), records: { 'US-001': record } })
  assert.deepEqual([kept.length, kept[0], kept.at(-1)], [200, '0', '199'])
})

test('a judge gets screenshots as the gates made them, or those of the last attempts', () => {
  const shown = (gates: GateResult[], ...stories: string[]) =>
    picturesForJudge(sample(), { stories, gates }).map(({ blob }) => blob)
  assert.deepEqual(shown([seen(true, shot('whole'))], 'US-001', 'US-002'), ['whole'])
  assert.deepEqual(shown([], 'US-001', 'US-002'), ['two'])
  assert.deepEqual(shown([seen(true)], 'US-001'), ['one'])
  assert.deepEqual(shown([]), [])
})

test('a red screenshot of the final verification is on the story that it resets', () => {
  const gates = [seen(false, shot('whole'))]
  const verdict = { kind: 'reset' as const, stories: ['US-002'], reason: 'gate browser fails on the whole' }
  const event = { kind: 'verified' as const, at: NOW, gates, verdict, usage: emptyUsage() }
  const after = reduce(sample(), event, limitsWith())
  assert.deepEqual(after.records['US-002']?.gates, gates)
  assert.equal(failureOutput(after.records['US-002']?.failure ?? null, gates)?.output, 'what is wrong')
  assert.ok(screenshotBlobs(after).includes('whole'))
})

test('screenshots of the baseline stay in the state', () => {
  const state = { ...sample(), basePages: [] }
  const gates = [{ ...seen(true, shot('there')), advisory: true }]
  const after = reduce(state, { kind: 'baselined', at: NOW, gates }, limitsWith())
  assert.deepEqual(after.basePages, [shot('there')])
})
