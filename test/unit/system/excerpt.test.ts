// The telling part of a gate's output: what the next prompt and the terminal show of it.
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { excerpt } from '../../../src/system/excerpt.ts'

const noise = Array.from({ length: 200 }, (_, at) => `ok ${at} - fine`).join('\n')

test('begins two lines before the first failure and keeps the end', () => {
  const text = `${noise}\nnot ok 201 - the sum\n  expected: 212\n  actual: 87\n${noise}\n# tests 401\n# fail 1`
  const shown = excerpt(text, 600)
  assert.match(shown, /not ok 201[\s\S]*expected: 212[\s\S]*actual: 87/)
  assert.match(shown, /# fail 1$/)
  assert.doesNotMatch(shown, /ok 150 - fine/)
})

test('closing figures are no failure; without any the end is shown', () => {
  assert.match(excerpt(`${noise}\n# fail 0`, 100), /^\[\.\.\.\]\n[\s\S]*# fail 0$/)
})

test('is bounded for whatever was printed', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 5000 }), fc.integer({ min: 50, max: 500 }), (text, bound) => {
      assert.ok(excerpt(text, bound).length <= bound + 14)
    }),
  )
})
