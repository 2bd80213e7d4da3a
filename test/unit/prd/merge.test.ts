// People edit while Ralph works: their words count, their ticks do not.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { LastResult, Story } from '../../../src/model/feature.ts'
import { mergePeople } from '../../../src/prd/merge.ts'
import { emptyRun } from '../../../src/prd/schema.ts'
import { arbitraryPrd, feature, story } from './samples.ts'

const result: LastResult = { completedAt: 'then', commit: 'abc1234', summary: 's' }
const passed = story({ id: 'A', title: 'a', passes: true, retries: 1, lastResult: result })
const open = story({ id: 'B', title: 'b', dependsOn: ['A'], retries: 2, notes: 'gate failed' })
const ours = feature(passed, open)

function merged(...stories: Story[]) {
  const { prd, changes } = mergePeople(ours, feature(...stories))
  const find = (id: string): Story | undefined => prd.userStories.find((one) => one.id === id)
  return { prd, kinds: changes.map(({ kind, storyId }) => `${kind} ${storyId}`), changes, find }
}

describe('whose field it is', () => {
  test('words, plan and unknown fields are people’s; state is Ralph’s', () => {
    const edited: Story = {
      ...open,
      title: 'better',
      description: 'more',
      tags: ['ui'],
      epicId: 'E',
      priority: 7,
      dependsOn: [],
      passes: true,
      retries: 0,
      blocked: true,
      skipped: true,
      lastResult: result,
      notes: 'from people',
      extra: { points: 3 },
    }
    const { find, kinds, changes } = merged(passed, edited)
    assert.deepEqual(find('B'), {
      ...edited,
      passes: false,
      retries: 2,
      blocked: false,
      skipped: false,
      lastResult: null,
      notes: 'gate failed',
    })
    assert.deepEqual(kinds, ['reworded B', 'reprioritised B', 'dependencies B'])
    assert.match(changes[0]?.text ?? '', /title, description, tags, epic/)
  })

  test('notes are people’s where Ralph has none', () => {
    const noted = (isNoted: boolean) => {
      const before = feature({ ...open, dependsOn: [] })
      const theirs = feature({ ...open, dependsOn: [], notes: 'edited' })
      return mergePeople(before, theirs, null, () => isNoted).prd.userStories[0]?.notes
    }
    assert.deepEqual([noted(true), noted(false)], ['gate failed', 'edited'])
    assert.equal(merged({ ...passed, notes: 'look here' }, open).find('A')?.notes, 'look here')
  })

  test('run and branch are Ralph’s, project and description people’s', () => {
    const running = {
      ...ours,
      branchName: 'ralph/a',
      run: { ...emptyRun(), iterations: 3, currentStoryId: 'B' },
    }
    const theirs = { ...ours, branchName: 'main', project: 'P', description: 'D', extra: { x: 1 } }
    const { prd } = mergePeople(running, theirs)
    assert.deepEqual(prd, { ...theirs, branchName: 'ralph/a', run: running.run })
    assert.equal(mergePeople(ours, theirs).prd.branchName, 'main')
  })

  test('nothing changed, nothing told', () => {
    const { prd, changes } = mergePeople(ours, ours)
    assert.deepEqual(prd, ours)
    assert.deepEqual(changes, [])
    const edited = mergePeople(ours, {
      ...ours,
      userStories: [structuredClone(passed), { ...open, notes: 'x' }],
    })
    assert.equal(edited.prd.userStories[0], passed, 'what nobody touched is the same object')
  })
})

describe('criteria', () => {
  test('changed after it passed: worked again', () => {
    const { find, kinds } = merged({ ...passed, acceptanceCriteria: ['a', 'and b'] }, open)
    assert.deepEqual(find('A'), {
      ...passed,
      acceptanceCriteria: ['a', 'and b'],
      passes: false,
      retries: 0,
      lastResult: null,
      notes: 'Its acceptance criteria were changed after it passed: it is worked on again.',
    })
    assert.deepEqual(kinds, ['reopened A'])
  })

  test('changed before it passed: reworded, attempts stay', () => {
    const { find, kinds } = merged(passed, { ...open, acceptanceCriteria: ['c'] })
    assert.equal(find('B')?.retries, 2)
    assert.deepEqual(kinds, ['reworded B'])
  })

  test('reformatted: still passed', () => {
    const { find, kinds } = merged({ ...passed, acceptanceCriteria: [' a\n'] }, open)
    assert.ok(find('A')?.passes)
    assert.deepEqual(kinds, ['reworded A'])
  })
})

describe('stories come and go', () => {
  test('a new story that claims to have passed is open, and people are told', () => {
    const { find, kinds } = merged(passed, open, { ...passed, id: 'C' }, story({ id: 'D', title: 'd' }))
    assert.deepEqual(find('C'), { ...passed, id: 'C', passes: false, retries: 0, lastResult: null })
    assert.deepEqual(kinds, ['added C', 'claimed C', 'added D'])
  })

  test('a removed story disappears, with what waited for it', () => {
    const { prd, kinds, changes } = merged(open)
    assert.deepEqual(prd.userStories, [{ ...open, dependsOn: [] }])
    assert.deepEqual(kinds, ['dependencies B', 'removed A'])
    assert.equal(changes[0]?.text, 'B: no longer waits for A, which was removed.')
  })

  test('the story in work is removed', () => {
    const running = { ...ours, run: { ...emptyRun(), currentStoryId: 'B' } }
    assert.equal(mergePeople(running, feature(passed)).prd.run.currentStoryId, null)
  })

  test('the order is people’s', () => {
    assert.deepEqual(
      merged(open, passed).prd.userStories.map(({ id }) => id),
      ['B', 'A'],
    )
  })
})

describe('properties', () => {
  test('merging again changes nothing', () => {
    fc.assert(
      fc.property(arbitraryPrd, arbitraryPrd, (o, t) => {
        const once = mergePeople(o, t)
        const twice = mergePeople(once.prd, t)
        assert.deepEqual(twice.changes, [])
        assert.deepEqual(twice.prd, once.prd)
      }),
    )
  })

  test('nothing passes, is blocked or skipped through a merge', () => {
    fc.assert(
      fc.property(arbitraryPrd, arbitraryPrd, (o, t) => {
        for (const after of mergePeople(o, t).prd.userStories) {
          const before = o.userStories.find(({ id }) => id === after.id)
          if (after.passes) assert.ok(before?.passes)
          if (after.blocked) assert.ok(before?.blocked)
          if (after.skipped) assert.ok(before?.skipped)
        }
      }),
    )
  })

  test('the inputs are left as they were', () => {
    fc.assert(
      fc.property(arbitraryPrd, arbitraryPrd, (o, t) => {
        const before = structuredClone([o, t])
        mergePeople(o, t)
        assert.deepEqual([o, t], before)
      }),
    )
  })
})
