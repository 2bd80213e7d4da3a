// What is remembered of gates, and which of them were red and green on one commit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  atForkPoint,
  baselinesOf,
  recordBaseRuns,
  recordFirstRuns,
  updateTestCounts,
  verificationRemarks,
} from '../../../../src/engine/gating/gate-memory.ts'
import type { GateResult } from '../../../../src/engine/model/gate.ts'
import { complete } from '../../report/samples.ts'

const gate = (name: string, more: Partial<GateResult> = {}): GateResult => ({
  ...{ name, ok: true, advisory: false, ended: 'exit 0', ms: 5, output: '' },
  ...more,
})
const tests = { passed: 3, failed: 0, skipped: 0 }

test('the first green run of a gate is recorded, a red one is not, and test counts follow passed stories', () => {
  const first = recordFirstRuns(complete(), [
    gate('a', { tests }),
    gate('b', { ok: false }),
    gate('__proto__'),
  ])
  assert.deepEqual(Object.entries(first.baselineGates ?? {}).slice(0, 1), [['a', { ms: 5, tests }]])
  const again = recordFirstRuns(first, [gate('a', { ms: 900 }), gate('b', { ms: 7 })])
  assert.deepEqual(again.baselineGates?.a, { ms: 5, tests })
  assert.deepEqual(again.baselineGates?.b, { ms: 7 })
  const more = { ...tests, passed: 9 }
  const passed = updateTestCounts(again, [
    gate('a', { ms: 900, tests: more }),
    gate('b'),
    gate('new', { tests }),
  ])
  assert.deepEqual(passed.baselineGates?.a, { ms: 5, tests: more })
  assert.deepEqual([passed.baselineGates?.b, passed.baselineGates?.new], [{ ms: 7 }, undefined])
})

test('a test that failed on the base and passed with a story is fixed from then on, also in a gate without counts', () => {
  const both = { ended: 'exit 1', tests: ['one', 'two'] }
  const base = recordFirstRuns(complete(), [gate('a', { tests, knownRed: both })])
  assert.deepEqual(base.baselineGates?.a, { ms: 5, tests, knownRed: both })
  assert.equal(updateTestCounts(base, [gate('a', { knownRed: both })]), base)
  const one = updateTestCounts(base, [gate('a', { knownRed: { ...both, tests: ['one'] } })])
  assert.deepEqual(one.baselineGates?.a?.fixed, ['two'])
  const all = updateTestCounts(one, [gate('a', { tests })])
  assert.deepEqual(all.baselineGates?.a?.fixed, ['two', 'one'])
})

test('a gate that must run alone from now on is recorded, also of a known gate', () => {
  const known = recordFirstRuns(complete(), [gate('a', { tests })])
  const alone = recordFirstRuns(known, [gate('a', { ms: 900, alone: true }), gate('b', { alone: true })])
  assert.deepEqual(alone.baselineGates?.a, { ms: 5, tests, alone: true })
  assert.deepEqual(alone.baselineGates?.b, { ms: 5, alone: true })
  assert.equal(recordFirstRuns(alone, [gate('a')]), alone)
})

test('a gate that is red on the commit where it was green for a story gets a remark, and no other gate does', () => {
  const state = complete()
  const [id = ''] = Object.keys(state.records)
  const record = state.records[id]
  assert.ok(record !== undefined)
  const known = {
    ...state,
    green: 'same',
    records: { [id]: { ...record, commit: 'same', gates: [gate('a'), gate('b', { ok: false })] } },
  }
  const red = ['a', 'b', 'c'].map((name) => gate(name, { ok: false, ended: 'exit 1', remarks: ['odd'] }))
  assert.deepEqual(verificationRemarks(known, red), [
    `gate a passed for ${id}, but failed (exit 1) in the final verification of the same commit`,
    ...['a', 'b', 'c'].map((name) => `gate ${name}: odd`),
  ])
  assert.deepEqual(verificationRemarks({ ...known, green: 'other' }, [gate('a', { ok: false })]), [])
})

test('runs on the base of an attempt are kept if no run is known yet, and not behind others in the train', () => {
  const named = { passed: [], failed: ['one'] }
  const red = gate('red', { ok: false, further: 'base', tests: { ...tests, failed: 1 }, named })
  const found = baselinesOf([gate('a', { ms: 9, further: 'base', tests }), red])
  const [first, second] = [
    { ms: 9, tests },
    { ms: 5, red: true, tests: { ...tests, failed: 1 }, failing: ['one'] },
  ]
  assert.deepEqual(found, { a: first, red: second })
  const known = { ...complete(), green: 'landed', baselineGates: { a: { ms: 1 } } }
  const kept = { a: { ms: 1 }, red: second }
  const recorded = (base: string, train?: { place: number; isRedBehind: boolean }) =>
    recordBaseRuns(known, { base, ...(train === undefined ? {} : { train }) }, found).baselineGates
  assert.deepEqual(recorded('landed'), kept)
  assert.deepEqual(recorded('of several candidates'), kept)
  assert.deepEqual(recorded('landed', { place: 1, isRedBehind: false }), kept)
  assert.deepEqual(recorded('a candidate', { place: 2, isRedBehind: false }), { a: { ms: 1 } })
  assert.equal(recordBaseRuns(known, { base: 'landed' }), known)
})

test('whether a gate was green at the fork point stays known after a story made it green', () => {
  const found = baselinesOf([gate('a', { tests }), gate('b', { ok: false, tests })])
  const atFork = atForkPoint(found)
  assert.deepEqual(atFork, {
    a: { ms: 5, tests, atFork: true },
    b: { ms: 5, red: true as const, tests, atFork: false },
  })
  const later = { c: { ms: 5, red: true as const } }
  const known = { ...complete(), baselineGates: { ...atFork, ...later } }
  const passed = updateTestCounts(known, [gate('b', { tests }), gate('c')])
  assert.deepEqual(passed.baselineGates?.b, { ms: 5, tests, atFork: false })
  assert.deepEqual(passed.baselineGates?.c, { ms: 5 })
})
