// Which story broke a gate that is red on the whole: found by bisection, whatever the length of the history.
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { blame } from '../../../../src/engine/gating/blame.ts'
import { newGateRun } from '../../../../src/engine/gating/gate-run.ts'
import type { State } from '../../../../src/engine/model/state.ts'
import { gate, stateOf, stories } from '../samples.ts'

const STATE: State = { ...stateOf(stories('US-001')), green: 'head', baseline: 'green' }
const UNPROVEN: State = { ...STATE, baseline: 'pending' }
const RUN = newGateRun(STATE, { of: 'whole' })
const RED = { ...gate(false), name: 'test' }

/** The story whose commit is the `broken`th of a history, found by a gate that is red from there on; and how often it ran. */
async function found(length: number, broken: number, state: State = STATE) {
  const history = Array.from({ length }, (_, at) => ({
    commit: at === length - 1 ? 'head' : `c${at}`,
    storyId: `US-${at}`,
  }))
  let runs = 0
  const verdict = await blame(
    RED,
    { state, run: RUN, gates: [RED], last: 'last' },
    history,
    async (commit) => {
      runs += 1
      const at = history.findIndex((one) => one.commit === commit)
      return [{ ...gate(at < broken), name: 'test' }]
    },
  )
  return { verdict, runs }
}

test('a red final gate resets the story of the first red commit, by few runs of this gate', async () => {
  const history = fc
    .integer({ min: 1, max: 300 })
    .chain((length) => fc.tuple(fc.constant(length), fc.nat(length - 1)))
  await fc.assert(
    fc.asyncProperty(history, async ([length, broken]) => {
      const { verdict, runs } = await found(length, broken)
      assert.equal(verdict.kind === 'reset' && verdict.stories[0], `US-${broken}`)
      // The head and the fork point once more, then halves.
      assert.ok(runs <= 2 + Math.ceil(Math.log2(length + 1)), `${runs} runs for ${length} commits`)
    }),
  )
})

test('a gate that is green when run again on the same commit is flaky, and the story that passed last is reset', async () => {
  const { verdict, runs } = await found(4, 99)
  assert.equal(runs, 1)
  assert.deepEqual(verdict.kind === 'reset' && [verdict.stories, verdict.gate], [['last'], 'test'])
  assert.match(verdict.kind === 'reset' ? verdict.reason : '', /is flaky/)
})

test('a gate that is red at the fork point but was green in the baseline resets no story, and the message names the fix', async () => {
  const { verdict } = await found(4, -1)
  assert.equal(verdict.kind, 'refused')
  assert.match(verdict.kind === 'refused' ? (verdict.fix ?? '') : '', /clean-room: off/)
})

test('a red final gate without a baseline resets the story that passed last', async () => {
  const { verdict } = await found(4, -1, UNPROVEN)
  assert.deepEqual(verdict.kind === 'reset' && verdict.stories, ['last'])
})
