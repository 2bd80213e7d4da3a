// The nearest name: slips are forgiven, strangers are not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearest } from '../../../src/system/nearest.ts'

const commands = ['status', 'run', 'pause', 'stop', 'retry', 'skip', 'plan']

test('nearest finds the misspelled word', () => {
  for (const [word, meant] of [
    ['statsu', 'status'],
    ['stat', 'status'],
    ['RETRY', 'retry'],
    ['runn', 'run'],
    ['puase', 'pause'],
    ['US-0O1', 'US-001'],
  ] as const) {
    assert.equal(nearest(word, [...commands, 'US-001']), meant, word)
  }
})

test('nearest counts two swapped letters as one mistake', () => {
  assert.equal(nearest('ab', ['ba', 'xy']), 'ba')
})

test('nearest takes the nearest word, then the first', () => {
  assert.equal(nearest('US-012', ['US-019', 'US-013', 'US-013x']), 'US-019')
  assert.equal(nearest('US-012', ['US-999', 'US-112', 'US-012']), 'US-012')
})

test('nearest finds none for an unrelated word', () => {
  assert.equal(nearest('elephant', commands), null)
  assert.equal(nearest('', commands), null)
  assert.equal(nearest('run', []), null)
})

test('nearest takes limited time for hostile words', () => {
  // Compared letter by letter, this would not end today.
  assert.equal(nearest('x'.repeat(5_000_000), ['y'.repeat(5_000_000)]), null)
})
