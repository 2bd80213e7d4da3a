// A mistyped id is the story that it stands for, another number is not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idList, nearestId } from '../../../../src/engine/prd/known-ids.ts'

const IDS = ['US-001', 'US-002', 'US-010', 'US-011', '1.2', 'login-form']

test('an unknown id suggests the nearest one, if one is near', () => {
  const found: [string, string | null][] = [
    ['us1', 'US-001'],
    ['US-01', 'US-001'],
    ['US-0O1', 'US-001'],
    ['SU-002', 'US-002'],
    ['us_11', 'US-011'],
    ['1-2', '1.2'],
    ['lgoin-from', 'login-form'],
    ['US-099', null],
    ['US-009', null],
    ['US-003', null],
    ['1.9', null],
    ['zzz', null],
  ]
  assert.deepEqual(
    found.map(([word]) => [word, nearestId(word, IDS)]),
    found,
  )
  assert.equal(nearestId('US-001', []), null)
})

test('a list of known ids is limited, with the number of the rest', () => {
  assert.equal(idList(['US-001']), 'US-001')
  assert.equal(idList(IDS), 'US-001, US-002, US-010, US-011, 1.2 and login-form')
  const many = Array.from({ length: 100 }, (_, at) => `US-${String(at + 1).padStart(3, '0')}`)
  assert.match(idList(many), /^US-001, US-002, .*, US-012 and 88 more$/)
  assert.equal(idList(['x'.repeat(200), 'y']).length < 120, true)
})
