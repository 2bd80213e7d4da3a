// What is remembered of gates, and which of them were red and green on one commit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
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
    `gate a: green for ${id} and red (exit 1) at the final verification of the same commit`,
    ...['a', 'b', 'c'].map((name) => `gate ${name}: odd`),
  ])
  assert.deepEqual(verificationRemarks({ ...known, green: 'other' }, [gate('a', { ok: false })]), [])
})
