// Every sample under test/samples against what a person wrote down before any reader was run: no false story, none lost.
import assert from 'node:assert/strict'
import test from 'node:test'
import { answerOf, differences, expectedOf, openPoints, sampleNames } from '../../samples/judge.ts'

const open = openPoints()

for (const name of sampleNames()) {
  const reason = open[name]
  const expected = expectedOf(name)
  const title = `${expected.format}, ${name}: ${expected.why}`
  test(reason === undefined ? title : `${title} (todo: ${reason})`, { todo: reason }, async () => {
    assert.deepEqual(differences(expected, await answerOf(name)), [])
  })
}

test('every sample that is marked open exists, and every sample names its format and its reason', () => {
  const names = sampleNames()
  assert.deepEqual(
    Object.keys(open).filter((name) => !names.includes(name)),
    [],
  )
  for (const name of names) {
    const { format, why } = expectedOf(name)
    assert.ok(format.length > 0 && why.length > 0, name)
  }
})
