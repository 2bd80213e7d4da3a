// Columns: narrow, wide, joined and combining; cut, filled and wrapped to fit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fit, pad, textWidth, wrap } from '../../../../src/report/terminal/width.ts'

test('the width of a text in columns', () => {
  for (const [text, columns] of [
    ['', 0],
    ['plain', 5],
    ['café', 4],
    ['cafe\u0301', 4],
    ['日本語', 6],
    ['ｱｲｳ', 3],
    ['ＡＢ', 4],
    ['한국어', 6],
    ['👨‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['1️⃣', 2],
    ['✔ x', 3],
    ['║█░│…·', 6],
    ['مرحبا', 5],
  ] as const) {
    assert.equal(textWidth(text), columns, text)
  }
})

test('fit, pad and wrap on examples', () => {
  assert.equal(fit('abcdef', 4), 'abc…')
  assert.equal(fit('日本語', 5), '日本…')
  assert.equal(fit('日本語', 4), '日…')
  assert.equal(fit('abc', 3), 'abc')
  assert.equal(fit('abc', 0), '')
  assert.equal(pad('日本語', 8), '日本語  ')
  assert.equal(pad('日本語', 4), '日… ')
  assert.deepEqual(wrap('one two three', 7), ['one two', 'three'])
  assert.deepEqual(wrap('abcdefgh', 3), ['abc', 'def', 'gh'])
  assert.deepEqual(wrap('', 10), [''])
  assert.deepEqual(wrap('日本語 x', 4), ['日本', '語 x'])
})

test('fit, pad and wrap never exceed the width, and wrapping loses no word', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 40 }), (text, columns) => {
      assert.ok(textWidth(fit(text, columns)) <= columns)
      assert.equal(textWidth(pad(text, columns)), columns)
      const lines = wrap(text, columns)
      assert.ok(lines.every((line) => textWidth(line) <= columns))
      assert.equal(lines.join('').replaceAll(' ', ''), text.replaceAll(' ', ''))
    }),
  )
})
