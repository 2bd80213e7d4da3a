// How a mistake is shown to people.
import assert from 'node:assert/strict'
import test from 'node:test'
import { describeMutant } from '../../../src/engine/model/mutant.ts'

const ROWS = [
  ['  return a - b', '  return a + b', '`return a + b` instead of `return a - b`'],
  [
    'export const minus = (a, b) => a - b',
    'export const minus = (a, b) => null',
    '`…= (a, b) => null` instead of `…= (a, b) => a - b`',
  ],
  [
    'if n <= len(items) { return all(items) }',
    'if n > len(items) { return all(items) }',
    '`if n > len(items)…` instead of `if n <= len(items)…`',
  ],
] as const

test('a mistake is shown with its place, and long lines with the part that differs', () => {
  for (const [from, to, shown] of ROWS)
    assert.equal(describeMutant({ path: 'src/a.js', line: 3, from, to }), `src/a.js:3, ${shown}`)
  const long = describeMutant({
    path: 'a',
    line: 1,
    from: `x = ${'a'.repeat(200)} + 1`,
    to: `y = ${'b'.repeat(200)} - 2`,
  })
  assert.ok(long.length < 200, long)
})
