// Where the output that shows a failure is found, and that a state holds it once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Failure } from '../../../../src/engine/model/attempt.ts'
import type { Event } from '../../../../src/engine/model/event.ts'
import type { GateResult } from '../../../../src/engine/model/gate.ts'
import { failureOutput } from '../../../../src/engine/model/gate-output.ts'
import type { State } from '../../../../src/engine/model/state.ts'
import { emptyUsage } from '../../../../src/engine/model/usage.ts'
import { reduce } from '../../../../src/engine/reduce.ts'
import { stateFiles } from '../../../../src/engine/stored-state.ts'
import { built, gate, limitsWith, NOW, session, stateOf, stories } from '../samples.ts'

const OUTPUT = 'expected 429\n  at a.js:3:1\n'
const SHOWN = OUTPUT.trim()
const RED = gate(false, { output: OUTPUT })
const failing = (more: Partial<Failure> = {}): Failure => ({
  kind: 'gates',
  summary: 's',
  detail: '',
  ...more,
})

describe('the output of a failure', () => {
  test("is the output of the gate that it names, after the gate's own message", () => {
    const gates = [gate(true, { name: 'lint', output: 'fine' }), RED]
    const shown = (more: Partial<Failure>) => failureOutput(failing(more), gates)
    assert.deepEqual(shown({ gate: RED.name }), { of: RED.name, output: SHOWN })
    assert.deepEqual(shown({ gate: RED.name, detail: 'Red:' }), { of: RED.name, output: `Red:\n\n${SHOWN}` })
    assert.deepEqual(shown({ detail: 'a secret in a.js' }), { of: '', output: 'a secret in a.js' })
    assert.deepEqual(shown({ gate: 'gone', detail: 'x' }), { of: '', output: 'x' })
    assert.deepEqual([shown({}), failureOutput(null, gates)], [null, null])
  })
})

describe("a state has a gate's output once", () => {
  const limits = limitsWith()
  const after = (state: State, ...events: Event[]) =>
    events.reduce((one, event) => reduce(one, event, limits), state)
  const textOf = (state: State) => stateFiles(state).text
  const times = (state: State, output: string) =>
    textOf(state).split(JSON.stringify(output).slice(1, -1)).length - 1
  const shownOf = (state: State) => {
    const { failure = null, gates = [] } = state.records['US-001'] ?? {}
    return failureOutput(failure, gates)
  }
  /** The next attempt on US-001, as far as its gates. */
  const attempt = (gates: GateResult[], more: { wasRed?: true } = {}): Event[] => [
    { kind: 'reserved', storyId: 'US-001', at: NOW },
    { kind: 'worked', storyId: 'US-001', session: session({}), at: NOW },
    { kind: 'guarded', storyId: 'US-001', candidate: { ...built('c'), ...more }, at: NOW },
    { kind: 'gated', storyId: 'US-001', commit: 'c', gates, at: NOW },
  ]
  const rejected: Event = { kind: 'rejected', storyId: 'US-001', kept: null, at: NOW }
  const passing = { ...stateOf(stories('US-001')) }
  const passed = {
    ...passing,
    prd: { ...passing.prd, userStories: passing.prd.userStories.map((one) => ({ ...one, passes: true })) },
  }

  test('of a rejected attempt, also while its next one is open', () => {
    const open = after(stateOf(stories('US-001')), ...attempt([RED]))
    assert.equal(times(open, RED.output), 1)
    const closed = after(open, rejected)
    assert.equal(times(closed, RED.output), 1)
    assert.deepEqual(shownOf(closed), { of: RED.name, output: SHOWN })
  })

  test('of a gate that is red and then green on the same code: both runs', () => {
    const red = after(stateOf(stories('US-001')), ...attempt([RED]), rejected)
    const green = gate(true, { output: 'all 40 passed\n' })
    const flaky = after(red, ...attempt([green], { wasRed: true }), rejected)
    assert.deepEqual([times(flaky, RED.output), times(flaky, green.output)], [1, 1])
    assert.match(
      shownOf(flaky)?.output ?? '',
      /^Red:\nexpected 429\n[\s\S]*Green on the same code:\n+all 40 passed$/,
    )
  })

  test('of the checks as they were, which the code no longer passes', () => {
    const was = gate(false, { ...RED, name: 'test (checks as they were)', advisory: true, further: 'checks' })
    const weaker = reduce(
      after(stateOf(stories('US-001')), ...attempt([gate(true), was]).slice(0, 3)),
      { kind: 'gated', storyId: 'US-001', commit: 'c', gates: [gate(true), was], at: NOW },
      limitsWith({ weakenedTests: 'fail' }),
    )
    const closed = after(weaker, rejected)
    assert.equal(times(closed, was.output), 1)
    assert.match(
      shownOf(closed)?.output ?? '',
      /^Keep what the tests expected[\s\S]*\n\nexpected 429\n {2}at a\.js:3:1$/,
    )
  })

  test('of a final gate that resets a story, also after an attempt without a change', () => {
    const verdict = {
      kind: 'reset' as const,
      stories: ['US-001'],
      reason: 'red on the whole',
      gate: RED.name,
    }
    const usage = emptyUsage()
    const reset = after(passed, {
      kind: 'verified',
      gates: [gate(true, { name: 'lint' }), RED],
      verdict,
      usage,
      at: NOW,
    })
    assert.deepEqual(reset.records['US-001']?.owes, [RED.name])
    assert.deepEqual([times(reset, RED.output), shownOf(reset)?.output], [1, SHOWN])
    const { failure } = reset.records['US-001'] ?? {}
    assert.ok(failure)
    const refused: Event = {
      kind: 'refused',
      storyId: 'US-001',
      failure: { ...failure, kind: 'empty-diff' },
      at: NOW,
    }
    const again = after(reset, ...attempt([]).slice(0, 2), refused, rejected)
    assert.deepEqual([times(again, RED.output), shownOf(again)?.output], [1, SHOWN])
  })

  test('of the checks as they were in the final verification, which the story does not have to turn green', () => {
    const was = gate(false, { ...RED, name: 'test (checks as they were)', advisory: true, further: 'checks' })
    const verdict = { kind: 'reset' as const, stories: ['US-001'], reason: 'weaker', gate: was.name }
    const reset = after(passed, {
      kind: 'verified',
      gates: [gate(true), was],
      verdict,
      usage: emptyUsage(),
      at: NOW,
    })
    const { owes, failure } = reset.records['US-001'] ?? {}
    assert.deepEqual([owes, failure?.kind, shownOf(reset)?.output], [undefined, 'judge', SHOWN])
  })
})
