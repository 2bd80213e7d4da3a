// Lines that a change wrote, compared with the longest that can have stayed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { writtenLines } from '../../../src/git/changed-lines.ts'
import { runs } from '../runs.ts'

test('changed lines are those that are new, not those that are gone or stayed', () => {
  assert.deepEqual(writtenLines('a\nb\nc\n', 'a\nB\nc\n'), [2])
  assert.deepEqual(writtenLines('a\nc\n', 'a\nb\nb\nc\n'), [2, 3])
  assert.deepEqual(writtenLines('a\nb\nc\n', 'a\nc\n'), [])
  assert.deepEqual(writtenLines('', 'a\nb'), [1, 2])
  assert.deepEqual(writtenLines('a\nb', ''), [])
  assert.deepEqual(writtenLines('a\nb\n', 'a\nb'), [])
  assert.deepEqual(writtenLines('one\ntwo\nthree\n', 'zero\none\nthree\nfour\n'), [1, 4])
})

test('lines that stayed are a longest common subsequence', () => {
  const file = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 25 })
  fc.assert(
    fc.property(file, file, (old, young) => {
      const written = writtenLines(old.join('\n'), young.join('\n'))
      const kept = young.filter((_, at) => !written.includes(at + 1))
      let from = 0
      for (const line of kept) {
        from = old.indexOf(line, from) + 1
        assert.ok(from > 0, 'what stayed stands in the old one, in this order')
      }
      assert.equal(kept.length, longestCommon(old, young))
    }),
    runs(50),
  )
})

test('a large change counts as new as a whole, in limited time', () => {
  const lines = (word: string) => Array.from({ length: 20_000 }, (_, at) => `${word} ${at}`).join('\n')
  const began = performance.now()
  assert.equal(writtenLines(lines('old'), lines('new')).length, 20_000)
  assert.ok(performance.now() - began < 5000)
})

function longestCommon(one: readonly string[], other: readonly string[]): number {
  let row = new Array<number>(other.length + 1).fill(0)
  for (const left of one) {
    const next = [0]
    for (const [at, right] of other.entries())
      next.push(left === right ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0))
    row = next
  }
  return row.at(-1) ?? 0
}
