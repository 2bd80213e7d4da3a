// A part of a feature (`--stories`, `--epic`): which stories are meant, what is told where it could never be completed.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Prd, Story } from '../../../../src/engine/model/feature.ts'
import { emptyRun, newStory } from '../../../../src/engine/prd/schema.ts'
import {
  countOutOfScope,
  describeScope,
  resolveScope,
  unmetOutOfScope,
} from '../../../../src/engine/prd/scope.ts'
import { counts, pickStory, remaining } from '../../../../src/engine/prd/select.ts'

function feature(...stories: (Partial<Story> & { id: string })[]): Prd {
  const userStories = stories.map((story) => newStory({ title: story.id, ...story }))
  const names = { schemaVersion: 2 as const, project: '', branchName: '', description: '' }
  return { ...names, run: emptyRun(), userStories }
}

const prd = feature(
  { id: 'US-001', epicId: 'accounts', passes: true },
  { id: 'US-002', epicId: 'accounts', dependsOn: ['US-001'] },
  { id: 'US-003', epicId: 'Billing', dependsOn: ['US-002'] },
  { id: 'US-004', epicId: 'Billing', dependsOn: ['US-003'] },
  { id: 'US-005' },
)
const asked = (stories: string[], epic: string | null = null) => resolveScope(prd, { stories, epic }, 3)

describe('the scope of a run', () => {
  test('without --story and --epic is the whole feature', () => {
    assert.deepEqual(asked([]), { scope: null, mistakes: [] })
    assert.equal(countOutOfScope(prd, null), 0)
  })

  test('of ids and an epic, in any case, has each story once', () => {
    assert.deepEqual(asked(['us-002', 'US-005', 'US-002']).scope, {
      stories: ['US-002', 'US-005'],
      epic: null,
      job: 3,
    })
    const { scope, mistakes } = asked(['US-002', 'US-005'], 'billing')
    assert.deepEqual(mistakes, [])
    assert.equal(scope?.epic, 'Billing')
    assert.equal(describeScope(scope), 'of epic Billing and US-002 and US-005')
    assert.equal(countOutOfScope(prd, scope), 1)
  })

  test('limits selection, remaining stories and counts', () => {
    const { scope } = asked(['US-002', 'US-001'])
    assert.deepEqual(
      remaining(prd, scope).map(({ id }) => id),
      ['US-002'],
    )
    assert.deepEqual(counts(prd, scope), { total: 2, passed: 1, blocked: 0, skipped: 0, open: 1 })
    assert.equal(counts(prd).total, 5)
    assert.equal(pickStory(prd, ({ id }) => id === 'US-002')?.id, 'US-002')
  })
})

describe('a scope is refused', () => {
  test('for unknown ids, all at once, with the nearest', () => {
    const { mistakes } = asked(['US-020', 'US-007', 'nothing-like-it'], 'biling')
    assert.deepEqual(
      mistakes.map(({ path, found, fix }) => [path, found, fix]),
      [
        ['stories', '"US-020"', 'did you mean US-002?'],
        ['stories', '"US-007"', 'use US-001, US-002, US-003, US-004 and US-005'],
        ['stories', '"nothing-like-it"', 'use US-001, US-002, US-003, US-004 and US-005'],
        ['epic', '"biling"', 'did you mean Billing?'],
      ],
    )
  })

  test('for an epic when no story has one', () => {
    const { mistakes } = resolveScope(feature({ id: 'US-001' }), { stories: [], epic: 'a' }, 1)
    assert.equal(mistakes[0]?.fix, 'leave epic out: no story has an epicId')
  })

  test('for a dependency outside that has not passed, with its own dependencies; a passed one is fine', () => {
    assert.deepEqual(asked(['US-002']).mistakes, [])
    const { mistakes } = asked(['US-004'])
    assert.deepEqual(mistakes, [
      {
        path: 'stories',
        found: 'US-004 waits for US-002 and US-003, which have not passed and were not asked for',
        expected: 'stories whose dependencies have passed, or are asked for as well',
        fix: 'ask for them as well (stories: US-004,US-002,US-003), or skip them',
      },
    ])
    assert.match(asked([], 'Billing').mistakes[0]?.fix ?? '', /ask for it as well \(stories: US-002\)/)
  })

  test('not for a skipped dependency, and a cycle ends', () => {
    const skipped = feature({ id: 'A', skipped: true }, { id: 'B', dependsOn: ['A'] })
    assert.deepEqual(resolveScope(skipped, { stories: ['B'], epic: null }, 1).mistakes, [])
    const circle = feature({ id: 'A', dependsOn: ['B'] }, { id: 'B', dependsOn: ['A'] })
    assert.deepEqual(
      unmetOutOfScope(circle, { stories: ['A'], epic: null, job: 1 }).map(({ id }) => id),
      ['B'],
    )
  })
})
