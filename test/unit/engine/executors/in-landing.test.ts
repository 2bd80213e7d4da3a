// What the land job does of a run, and what it leaves to the next job.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type HandedWork, Landing } from '../../../../src/engine/executors/in-landing.ts'
import { STEPS, type Step } from '../../../../src/engine/model/step.ts'
import { reduce } from '../../../../src/engine/reduce.ts'
import { isIdleJob } from '../../../../src/engine/state/limits.ts'
import { gate, limitsWith, NOW, stateOf, stories } from '../samples.ts'

const limits = limitsWith({})
const state = { ...stateOf(stories('US-001')), published: 'base' }

/** The steps of a run, without those of an attempt and of the end, that a job does to which this was handed over. */
function done(landing: Landing): string[] {
  const kinds = Object.keys(STEPS) as Step['kind'][]
  const always = ['agent', 'guard', 'rebase', 'gates', 'try', 'judge', 'accept', 'enter', 'reject', 'return']
  const ofEnd = ['conclude', 'publish', 'dispatch', 'report', 'stop']
  return kinds.filter((kind) => {
    if (always.includes(kind) || ofEnd.includes(kind)) return false
    return landing.stepFor({ kind, storyId: 'US-001' } as never, state).kind === kind
  })
}

test('a land job does what was handed over, and begins nothing', () => {
  const everyTime = ['sync', 'restore', 'prepare']
  const also: Record<HandedWork, string[]> = {
    attempt: [],
    several: [],
    lost: [],
    baseline: ['baseline'],
    join: ['join', 'gate-join'],
    edit: ['edit', 'gate-edit'],
    verify: ['open', 'wait', 'verify', 'judge-whole', 'push'],
    plan: ['open', 'wait', 'plan', 'push'],
  }
  for (const [handed, more] of Object.entries(also)) {
    const steps = done(new Landing(handed as HandedWork))
    assert.deepEqual(steps.sort(), [...everyTime, ...more].sort(), handed)
  }
})

test('after the result has landed, the job ends: the next one continues', () => {
  const landing = new Landing('baseline')
  const event = { kind: 'baselined' as const, gates: [gate(true)], at: NOW }
  assert.equal(landing.stepFor({ kind: 'baseline' }, state).kind, 'baseline')
  landing.saw(event)
  const after = reduce(state, event, limits)
  const step = landing.stepFor({ kind: 'baseline' }, after)
  assert.ok(step.kind === 'conclude')
  assert.equal(step.conclusion.outcome, 'continued')
  assert.equal(isIdleJob(after, step.conclusion), false, 'a baseline is work')
  assert.equal(isIdleJob(state, step.conclusion), true)
})
