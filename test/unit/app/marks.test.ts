// What an outcome leaves in people's own files: one mark in place, the rest byte for byte, as written down before.
import assert from 'node:assert/strict'
import test from 'node:test'
import { markDifferences, openMarks, outcomeNames, outcomesOf } from '../../samples/marks.ts'

const open = openMarks()

for (const name of outcomeNames()) {
  const reason = open[name]
  for (const outcome of outcomesOf(name)) {
    const title = `${name}: ${outcome.why}`
    test(reason === undefined ? title : `${title} (todo: ${reason})`, { todo: reason }, async () => {
      assert.deepEqual(await markDifferences(name, outcome), [])
    })
  }
}

test('every sample that is marked open exists and has an outcome', () => {
  const names = outcomeNames()
  assert.deepEqual(
    Object.keys(open).filter((name) => !names.includes(name)),
    [],
  )
})
