// What the prd tests share: fixtures as text, a parse that must succeed, arbitrary features.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import type { Prd, Story } from '../../../../src/engine/model/feature.ts'
import type { Extra } from '../../../../src/engine/model/usage.ts'
import { emptyUsage } from '../../../../src/engine/model/usage.ts'
import { parsePrd } from '../../../../src/engine/prd/parse.ts'
import { emptyRun, newStory } from '../../../../src/engine/prd/schema.ts'
import type { Mistake } from '../../../../src/system/errors.ts'
import { anyText } from '../../runs.ts'

export function fixture(name: string): string {
  return readFileSync(new URL(`../../../fixtures/prd/${name}`, import.meta.url), 'utf8')
}

/** The feature that the text holds; a test that gives broken text fails with all of its mistakes. */
export function parsed(text: string, source = 'prd.json'): { prd: Prd; notes: string[] } {
  const result = parsePrd(text, source)
  assert.ok(result.ok, JSON.stringify(result, null, 1))
  return result
}

/** The mistakes in the text; a test that gives sound text fails. */
export function mistakesIn(value: unknown, source = 'prd.json'): Mistake[] {
  const result = parsePrd(typeof value === 'string' ? value : JSON.stringify(value), source)
  assert.ok(!result.ok, 'expected mistakes')
  for (const mistake of result.mistakes) {
    assert.ok(mistake.path.startsWith(source), mistake.path)
    for (const said of [mistake.found, mistake.expected, mistake.fix]) assert.ok(said.length > 0)
    assert.ok(mistake.found.length <= 80, mistake.found)
    assert.doesNotMatch(Object.values(mistake).join(''), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  }
  return result.mistakes
}

export function feature(...userStories: Story[]): Prd {
  return { schemaVersion: 2, project: '', branchName: '', description: '', run: emptyRun(), userStories }
}

export const story = newStory

// As from a file: no null prototypes, no -0.
const fromFile = (value: object): Extra => JSON.parse(JSON.stringify(value), withoutProto)
// A field of this name is left out when a file is read.
const withoutProto = (key: string, value: unknown) => (key === '__proto__' ? undefined : value)
const extraKey = fc.string({ minLength: 1 }).map((key) => `x-${key}`)
const extra = fc.option(
  fc.dictionary(extraKey, fc.jsonValue({ maxDepth: 2 }), { minKeys: 1, maxKeys: 3 }).map(fromFile),
  {
    nil: undefined,
  },
)
const someText = anyText({ minLength: 1, maxLength: 30 }).filter((text) => text.trim() !== '')

/** Stories as people and Ralph may leave them: unique ids, dependencies on earlier ones only. */
export const arbitraryStories: fc.Arbitrary<Story[]> = fc
  .array(
    fc.record({
      title: someText,
      description: fc.string({ maxLength: 20 }),
      acceptanceCriteria: fc.array(someText, { minLength: 1, maxLength: 3 }),
      tags: fc.array(someText, { maxLength: 2 }),
      needs: fc.array(fc.nat(20), { maxLength: 3 }),
      priority: fc.oneof(
        fc.integer({ min: -3, max: 9 }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
      ),
      passes: fc.boolean(),
      retries: fc.nat(5),
      blocked: fc.boolean(),
      skipped: fc.boolean(),
      lastResult: fc.option(
        fc.record(
          {
            completedAt: fc.option(someText),
            commit: fc.constantFrom(null, 'abc1234'),
            summary: fc.string(),
          },
          { noNullPrototype: true },
        ),
      ),
      notes: fc.string({ maxLength: 20 }),
      extra,
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((drafts) =>
    drafts.map(({ needs, extra: unknown, ...draft }, index) => ({
      ...newStory({ ...draft, id: `US-${index}`, priority: draft.priority + 0 }),
      dependsOn: index === 0 ? [] : needs.map((need) => `US-${need % index}`),
      ...(unknown === undefined ? {} : { extra: unknown }),
    })),
  )

export const arbitraryPrd: fc.Arbitrary<Prd> = fc
  .record({
    userStories: arbitraryStories,
    project: fc.string(),
    startedAt: fc.constantFrom(null, 'then'),
    extra,
  })
  .map(({ extra: unknown, startedAt, userStories, project }) => ({
    ...feature(...userStories),
    project,
    run: { ...emptyRun(), usage: emptyUsage(), startedAt },
    ...(unknown === undefined ? {} : { extra: unknown }),
  }))
