// The model ladder: where a story begins, what makes it climb, and that each session is counted to the model that it was with.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Failure } from '../../../src/engine/model/attempt.ts'
import type { Limits } from '../../../src/engine/model/limit-types.ts'
import { climb, ladderOf } from '../../../src/engine/state/model-ladder.ts'
import { runs } from '../runs.ts'
import { gate, limitsWith, NOW, runJob, type Script, session, stateOf, stories, used } from './samples.ts'

const ladders = { run: ['small', 'middle', 'strong'], byTag: [] }
const models = { run: 'small', verify: 'judge', plan: null }
const limitsOn = (changes: Partial<Limits> = {}) =>
  limitsWith({ ladders, models, maxAttempts: 9, ...changes })
const redGates = (count: number): Script => {
  let left = count
  return (step) =>
    step.kind === 'gates' && left-- > 0
      ? { kind: 'gated', commit: step.attempt.candidate.commit, gates: [gate(false)] }
      : null
}
const failedBy = (change: Parameters<typeof session>[0]): Script => {
  let left = 1
  return (step) => (step.kind === 'agent' && left-- > 0 ? { kind: 'worked', session: session(change) } : null)
}
const modelsOf = ({ state }: ReturnType<typeof runJob>) => state.timeline.map(({ model }) => model)

test('model ladder: a story begins at the first rung, climbs after a red gate, and stays at the last', () => {
  const ran = runJob(stateOf(stories('US-001')), limitsOn(), redGates(4))
  assert.deepEqual(modelsOf(ran), ['small', 'middle', 'strong', 'strong', 'strong'])
  const next = runJob(stateOf(stories('US-001', 'US-002')), limitsOn(), redGates(1))
  assert.deepEqual(modelsOf(next), ['small', 'middle', 'small'], 'another story begins below')
})

test("model ladder: a stuck agent makes the story climb, a failed session and a vendor's limit do not", () => {
  const hints = { done: false, notDone: false, stuck: 'no idea' }
  const stuck = runJob(stateOf(stories('US-001')), limitsOn(), failedBy({ hints }))
  assert.deepEqual(modelsOf(stuck), ['small', 'middle'])
  const crashed = runJob(stateOf(stories('US-001')), limitsOn(), failedBy({ status: 'failed' }))
  assert.deepEqual(modelsOf(crashed), ['small', 'small'])
  const limited = runJob(stateOf(stories('US-001')), limitsOn(), failedBy({ status: 'interrupted' }))
  assert.deepEqual(modelsOf(limited), ['small', 'small'])
})

test('model ladder: each session counts for its rung, and the judge has one model', () => {
  const script = redGates(1)
  const ran = runJob(stateOf(stories('US-001')), limitsOn({ finalVerification: true }), (step, state, now) =>
    step.kind === 'judge-whole'
      ? { kind: 'verified', verdict: { kind: 'verified' }, usage: used(1), gates: [] }
      : script(step, state, now),
  )
  const of = (kind: string) => ran.state.sessions.filter((one) => one.kind === kind).map(({ model }) => model)
  assert.deepEqual(of('run'), ['small', 'middle'])
  assert.deepEqual(of('verify'), ['judge'])
})

test('model ladder: without one no attempt has a model, and the fallback agent gets none of it', () => {
  const { ladders: _none, ...plain } = limitsOn()
  assert.deepEqual(modelsOf(runJob(stateOf(stories('US-001')), plain)), [undefined])
  const limits = limitsOn({ fallback: 'codex' })
  const state = stateOf(stories('US-001'))
  const away = { ...state, control: { ...state.control, agentLimits: { [limits.agent]: NOW + 9e6 } } }
  assert.deepEqual(modelsOf(runJob(away, limits)), [undefined])
})

test("model ladder: the first tag with a ladder takes precedence over the run's", () => {
  const byTag = [
    ['docs', ['tiny']],
    ['security', ['strong', 'strongest']],
  ] as const
  const limits = { ladders: { run: ['small'], byTag } }
  assert.deepEqual(ladderOf(limits, { tags: ['ui', 'security', 'docs'] }), ['tiny'])
  assert.deepEqual(ladderOf(limits, { tags: ['security'] }), ['strong', 'strongest'])
  assert.deepEqual(ladderOf(limits, { tags: [] }), ['small'])
  assert.deepEqual(ladderOf({}, { tags: ['docs'] }), [])
})

test('model ladder: a story climbs at most one rung per attempt, never down, and never above the last', () => {
  const kinds: Failure['kind'][] = ['session', 'stuck', 'empty-diff', 'guard', 'gates', 'judge', 'conflict']
  const property = fc.property(
    fc.array(fc.constantFrom(...kinds), { maxLength: 12 }),
    fc.integer({ min: 1, max: 5 }),
    (failures, count) => {
      const ladder = Array.from({ length: count }, (_, at) => `m${at}`)
      const top = failures.reduce((rung, kind) => {
        const next = climb(rung, { kind }, ladder).rung ?? rung
        assert.ok(next - rung === 0 || (next - rung === 1 && (kind === 'gates' || kind === 'stuck')))
        return next
      }, 0)
      assert.ok(top < count)
    },
  )
  fc.assert(property, runs(300))
})
