// Boxes: only their key opens them, equal values do not look equal, and the length says nothing about short values.
import assert from 'node:assert/strict'
import test from 'node:test'
import { createRedactor } from '../../../src/isolation/redact.ts'
import { sealWith } from '../../../src/isolation/seal.ts'

const ours = sealWith('a secret of many characters')

test('a box holds any JSON, and only its key opens it', () => {
  for (const value of [true, null, 'ü\n', 3.5, { a: [1] }, undefined]) {
    const box = ours.seal(value)
    assert.deepEqual(ours.open(box), { value: value ?? null })
    assert.equal(sealWith('another secret of many').open(box), null)
  }
  assert.deepEqual(ours.open(5), { value: 5 })
  assert.equal(ours.open({ sealed: 'v1:abc' }), null)
  assert.equal(ours.open({ sealed: 'rubbish' }), null)
})

test('equal values have different boxes of the same length, and redaction leaves boxes alone', () => {
  const boxes = [true, false, true, 'a short text'].map((value) => ours.seal(value).sealed)
  assert.equal(new Set(boxes).size, 4)
  assert.equal(new Set(boxes.map(({ length }) => length)).size, 1)
  const { redact } = createRedactor([])
  // Without care, about one box in 20,000 looks like a key.
  const many = Array.from({ length: 40_000 }, (_, at) => ours.seal(at))
  const text = JSON.stringify(many, null, 2)
  assert.equal(redact(text), text)
})
