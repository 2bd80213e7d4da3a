// Lines out of arbitrary chunks, and the bounded copy.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { capture, lineSplitter } from '../../../src/system/output.ts'
import { assertGrowth } from '../growth.ts'

/** Splits `bytes` at these places and returns the lines. */
function lines(bytes: Uint8Array, cuts: readonly number[], limit?: number): string[] {
  const found: string[] = []
  const splitter = lineSplitter((line) => found.push(line), limit)
  let text = ''
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  for (let at = 1; at < places.length; at += 1)
    text += splitter.push(bytes.subarray(places[at - 1], places[at]))
  text += splitter.end()
  assert.equal(text, new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  return found
}

test('lines of a flood are delivered together, except possible events', () => {
  const found: string[] = []
  const splitter = lineSplitter((line) => found.push(line))
  const push = (text: string) => splitter.push(new TextEncoder().encode(text))
  push('x\n'.repeat(50_000))
  assert.equal(found.length, 50_000)
  found.length = 0
  for (const text of ['a\nb\nc', 'd\ne\n', 'f', 'g', '\nh\n{"i"', ':1}\nj\r\nk']) push(text)
  splitter.end()
  assert.deepEqual(found, ['a\nb', 'cd\ne', 'fg', 'h', '{"i":1}', 'j', 'k'])
})

test('lines do not depend on where chunks are cut', () => {
  const text = fc
    .array(
      fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom('\n', '\r\n', '\r', '\u2028', '\ufeff', '日本🎉'),
      ),
    )
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, fc.array(fc.nat()), (whole, cuts) => {
      const expected = whole.split('\n')
      if (expected.at(-1) === '') expected.pop()
      assert.deepEqual(
        lines(new TextEncoder().encode(whole), cuts),
        expected.map((line) => line.replace(/\r$/, '')),
      )
    }),
  )
})

test('bytes that are not UTF-8 do not depend on where chunks are cut', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.array(fc.nat()), (bytes, cuts) => {
      assert.deepEqual(lines(bytes, cuts), lines(bytes, []))
    }),
  )
})

test('a long line is delivered cut, and the next one whole', () => {
  const text = new TextEncoder().encode(`${'x'.repeat(25)}\r\nnext\n${'y'.repeat(30)}`)
  for (const cuts of [[], [1, 9, 10, 11, 26, 27], Array.from({ length: 60 }, (_, at) => at)]) {
    assert.deepEqual(lines(text, cuts, 10), ['x'.repeat(10), 'next', 'y'.repeat(10)])
  }
  assert.deepEqual(lines(new TextEncoder().encode('123456789🎉🎉\n'), [], 10), ['123456789'])
  assert.deepEqual(lines(new TextEncoder().encode('1234567890\r\n'), [], 10), ['1234567890'])
})

test('a short output is kept as it is', () => {
  const kept = capture(10)
  kept.push('12345')
  kept.push('67890')
  assert.equal(kept.text(), '1234567890')
})

test('head and tail of a long output are kept, with a note of what is left out', () => {
  const kept = capture(10)
  for (const part of ['abc', 'defgh', 'i'.repeat(1000), 'jk', 'lmnop']) kept.push(part)
  assert.equal(kept.text(), 'abcde\n... 1005 bytes left out ...\nlmnop')
  const none = capture(0)
  none.push('abc')
  assert.equal(none.text(), '\n... 3 bytes left out ...\n')
  assert.equal(capture(0).text(), '')
})

test('the kept output is limited, cuts no character, and its count is right', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.nat(60), (parts, limit) => {
      const kept = capture(limit)
      for (const part of parts) kept.push(part)
      const whole = parts.join('')
      const text = kept.text()
      if (Buffer.byteLength(whole) <= limit) {
        assert.equal(text, whole)
        return
      }
      const match = /^(.*)\n\.\.\. (\d+) bytes left out \.\.\.\n(.*)$/s.exec(text)
      assert.ok(match)
      const [, head = '', missing = '', tail = ''] = match
      assert.ok(whole.startsWith(head) && whole.endsWith(tail))
      const size = Buffer.byteLength(head) + Buffer.byteLength(tail)
      assert.ok(size <= limit)
      assert.equal(size + Number(missing), Buffer.byteLength(whole))
    }),
  )
})

test('output in tiny pieces costs no more per piece, however much was kept', () => {
  const dots = (count: number) => {
    const kept = capture(1024 * 1024)
    for (let at = 0; at < count; at += 1) kept.push('.')
  }
  assertGrowth(dots, 40_000)
})
