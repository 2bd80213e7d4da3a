// Which gate results count again at the final verification, and which never do.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  isLastStory,
  openLazily,
  reusableResults,
  withReuseKeys,
} from '../../../../src/engine/gating/reuse.ts'
import type { GateResult } from '../../../../src/engine/model/gate.ts'
import type { CleanRoom, GateRun } from '../../../../src/engine/model/ports.ts'
import { emptyRecord } from '../../../../src/engine/state/state-updates.ts'
import { gateRun } from '../../gates/gate-run.ts'
import { gate, limitsWith, MINUTE, NOW, stateOf, stories } from '../samples.ts'

const keys = { lint: 'k-lint', test: 'k-test', e2e: '' }
const green = (name: string, more: Partial<GateResult> = {}) => gate(true, { name, ...more })
const stateWith = (gates: GateResult[]) => ({
  ...stateOf(stories('US-001', 'US-004')),
  records: { 'US-004': { ...emptyRecord(), gates } },
})
const taken = (gates: GateResult[], more: Partial<typeof keys> = {}, now = NOW + 3 * MINUTE) =>
  reusableResults(stateWith(gates), { ...keys, ...more }, now).map(({ name }) => name)

test('a green result of a clean room with the same key is reused, with its time', () => {
  const gates = withReuseKeys([green('lint'), green('test'), green('e2e')], keys, NOW)
  const all = reusableResults(stateWith(gates), keys, NOW + 3 * MINUTE)
  assert.deepEqual(
    all.map(({ name, asAt }) => [name, asAt]),
    [
      ['lint', 'US-004, 3 min ago'],
      ['test', 'US-004, 3 min ago'],
    ],
  )
  assert.equal(all[0]?.remarks, undefined, 'it is nothing to look at')
})

test('results are not reused with another or no key, when red, from the future, or a day old', () => {
  const gates = withReuseKeys([green('lint'), green('test')], keys, NOW)
  assert.deepEqual(taken(gates, { test: 'another' }), ['lint'])
  assert.deepEqual(taken([green('lint')]), [], 'it ran in the work tree')
  assert.deepEqual(taken(withReuseKeys([gate(false, { name: 'lint' })], keys, NOW)), [])
  const forged = gate(false, { name: 'lint', green: { key: 'k-lint', at: NOW } })
  assert.deepEqual(taken([forged]), [])
  assert.deepEqual(taken(gates, {}, NOW - 1), [])
  assert.deepEqual(taken(gates, {}, NOW + 25 * 60 * MINUTE), [])
})

test('a flaky, disturbed or reported result is not reused', () => {
  const odd: Partial<GateResult>[] = [{ flaky: true }, { findings: ['fewer tests'] }, { alone: true }]
  for (const one of odd) assert.deepEqual(taken(withReuseKeys([green('lint', one)], keys, NOW)), [])
})

test('a verification that a person asks for runs every gate', () => {
  const state = stateWith(withReuseKeys([green('lint')], keys, NOW))
  const asked = { ...state, verification: { ...state.verification, asked: true } }
  assert.deepEqual(reusableResults(asked, keys, NOW), [])
})

test('only the first attempt at the last story runs gates in a clean room for the final verification', () => {
  const attempt = { storyId: 'US-002', number: 1, runner: { at: 'checkout' } } as const
  const [first, second] = stories('US-001', 'US-002')
  assert.ok(first !== undefined && second !== undefined)
  const limits = limitsWith({ finalVerification: true })
  const last = stateOf([{ ...first, passes: true }, second])
  assert.equal(isLastStory(last, limits, attempt), true)
  assert.equal(isLastStory(stateOf([first, second]), limits, attempt), false)
  assert.equal(isLastStory(stateOf([{ ...first, blocked: true }, second]), limits, attempt), false)
  assert.equal(isLastStory(last, limits, { ...attempt, number: 2 }), false)
  assert.equal(isLastStory(last, limits, { ...attempt, runner: { at: 'lane' } }), false)
  assert.equal(isLastStory(last, limitsWith(), attempt), false)
})

test('a clean room that is not needed is not opened, and one used only for the checks as they were is prepared first', async () => {
  const did: string[] = []
  const room: CleanRoom = {
    checkOut: async (commit) => void did.push(`check out ${commit}`),
    restore: async () => true,
    ignored: { afterPrepare: async () => void did.push('prepared'), forGatesAgain: async () => {} },
    gates: {
      run: async ({ commit }: GateRun) => {
        did.push(`run ${commit}`)
        return []
      },
      prepare: async (commit) => {
        did.push(`prepare ${commit}`)
        return gate(true, { name: 'prepare' })
      },
    },
    [Symbol.asyncDispose]: async () => void did.push('gone'),
  }
  const open = async () => {
    did.push('open')
    return room
  }
  await openLazily(open)[Symbol.asyncDispose]()
  assert.deepEqual(did, [])
  const later = openLazily(open)
  await later.restore('was')
  await later.gates.run(gateRun({ commit: 'was' }), new AbortController().signal)
  await later[Symbol.asyncDispose]()
  assert.deepEqual(did, ['open', 'check out was', 'prepare was', 'prepared', 'run was', 'gone'])
})
