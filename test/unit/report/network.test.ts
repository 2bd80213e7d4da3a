// What was refused, in one line of bounded length.
import assert from 'node:assert/strict'
import test from 'node:test'
import { describeRefusedHosts } from '../../../src/report/figures.ts'

test('refused hosts are listed with counts, the most frequent first', () => {
  const refused = new Map([
    ['a.example:443', 1],
    ['b.example:8080', 3],
  ])
  assert.equal(describeRefusedHosts(refused), 'The network refused: b.example:8080 (3), a.example (1)')
  assert.equal(describeRefusedHosts(new Map()), null)
})

test('a hundred hosts of a hundred letters are shortened', () => {
  const refused = new Map(Array.from({ length: 100 }, (_, at) => [`${at}${'x'.repeat(100)}:443`, at + 1]))
  const words = describeRefusedHosts(refused) ?? ''
  assert.match(words, / and 90 more$/)
  assert.ok(words.length < 750, String(words.length))
})
