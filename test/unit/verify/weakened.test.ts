// Weakened tests: found in the dishonest pairs of test/fixtures/verify, and not in the honest ones.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { type FileChange, isTestFile, mayHoldTests, weakenedTests } from '../../../src/verify/weakened.ts'

type Pair = { name: string; files: FileChange[]; expected: string | undefined }

/** `--- before PATH` and `--- after PATH` each begin a text; `expect KIND` may stand before them. */
function readPairs(folder: string): Pair[] {
  const root = new URL(`../../fixtures/verify/${folder}/`, import.meta.url)
  return readdirSync(root).map((name) => {
    const files = new Map<string, FileChange>()
    const [head = '', ...parts] = `\n${readFileSync(new URL(name, root), 'utf8')}`.split(/\n--- (?=before |after )/)
    for (const part of parts) {
      const [, which, path = ''] = /^(before|after) (\S+)\n/.exec(part) ?? []
      const text = part.slice(part.indexOf('\n') + 1)
      const change = files.get(path) ?? { path, before: null, after: null }
      files.set(path, which === 'before' ? { ...change, before: text } : { ...change, after: text })
    }
    return { name, files: [...files.values()], expected: /expect (\w+)/.exec(head)?.[1] }
  })
}

const honest = readPairs('honest')
const dishonest = readPairs('dishonest')

const alarms = honest.flatMap((pair) => {
  const found = weakenedTests(pair.files)
  return found.length === 0 ? [] : [`${pair.name}: ${JSON.stringify(found)}`]
})
test(`${alarms.length} false alarms on ${honest.length} honest changes`, () => {
  assert.ok(honest.length >= 20)
  assert.deepEqual(alarms, [])
})

test(`all of ${dishonest.length} dishonest changes are found, each by its kind`, () => {
  assert.ok(dishonest.length >= 20)
  const missed = dishonest.flatMap((pair) => {
    const found = weakenedTests(pair.files)
    return found.some((it) => it.kind === pair.expected) ? [] : [`${pair.name}: ${JSON.stringify(found)}`]
  })
  assert.deepEqual(missed, [])
})

test('one cheat is told once', () => {
  const loud = dishonest.flatMap((pair) => {
    const kinds = new Set(weakenedTests(pair.files).map((it) => it.kind))
    return kinds.size === 1 ? [] : [`${pair.name}: ${[...kinds]}`]
  })
  assert.deepEqual(loud, [])
})
