// resume-lost: which of the runs that wait may be a chain's next job, so that no other is dispatched.
import assert from 'node:assert/strict'
import test from 'node:test'
import { mayBeNext } from '../../../src/action/resume.ts'

const HOUR = 3_600_000
const NOW = 1_800_000_000_000
const FEATURES = ['auth', 'oauth', 'billing', 'v1.2']

/** The features of FEATURES that a run holds back; their last jobs began `began` hours ago, the run waits for `waited`. */
function held(title: string, waited: number, began = 1000): string[] {
  const startedAt = NOW - began * HOUR
  const run = { title, since: NOW - waited * HOUR }
  return FEATURES.filter((feature) => mayBeNext(run, { feature, startedAt }, FEATURES, NOW))
}

test('a run that names a feature holds back that feature alone, however long it waits for an approval', () => {
  assert.deepEqual(held('Ralph auth', 0), ['auth'])
  assert.deepEqual(held('Ralph: auth (again)', 29 * 24), ['auth'])
  assert.deepEqual(held('Ralph v1.2', 1), ['v1.2'])
})

test('a run that names no feature may be the job of every one, for as long as a runner may be awaited', () => {
  for (const title of ['Ralph', 'Ralph ', 'Ralph authentication', '']) {
    assert.deepEqual(held(title, 23), FEATURES, title)
    assert.deepEqual(held(title, 25), [], title)
  }
})

test('what waited before the last job began is not what that job has dispatched; clocks may differ a little', () => {
  assert.deepEqual(held('Ralph auth', 3, 2), [])
  assert.deepEqual(held('Ralph', 3, 2), [])
  assert.deepEqual(held('Ralph auth', 2.01, 2), ['auth'])
})
