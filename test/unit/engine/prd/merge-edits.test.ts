// People edit while Ralph works: their words count, their ticks do not.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { LastResult, Prd, Story } from '../../../../src/engine/model/feature.ts'
import { mergePeople, untouchedStories } from '../../../../src/engine/prd/merge-edits.ts'
import { emptyRun } from '../../../../src/engine/prd/schema.ts'
import { arbitraryPrd, feature, story } from './samples.ts'

const result: LastResult = { completedAt: 'then', commit: 'abc1234', summary: 's' }
const passed = story({ id: 'A', title: 'a', passes: true, retries: 1, lastResult: result })
const open = story({ id: 'B', title: 'b', dependsOn: ['A'], retries: 2, notes: 'gate failed' })
const ours = feature(passed, open)

function merged(...stories: Story[]) {
  const prd = mergePeople(ours, feature(...stories))
  const find = (id: string): Story | undefined => prd.userStories.find((one) => one.id === id)
  return { prd, find }
}

describe('an edit of prd.json on the branch', () => {
  test("may change text, order and unknown fields; the state stays Ralph's", () => {
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
    const { find } = merged(passed, edited)
    assert.deepEqual(find('B'), {
      ...edited,
      passes: false,
      retries: 2,
      blocked: false,
      skipped: false,
      lastResult: null,
      notes: 'gate failed',
    })
  })

  test('may change notes where Ralph has none', () => {
    const noted = (isNoted: boolean) => {
      const before = feature({ ...open, dependsOn: [] })
      const theirs = feature({ ...open, dependsOn: [], notes: 'edited' })
      return mergePeople(before, theirs, null, () => isNoted).userStories[0]?.notes
    }
    assert.deepEqual([noted(true), noted(false)], ['gate failed', 'edited'])
    assert.equal(merged({ ...passed, notes: 'look here' }, open).find('A')?.notes, 'look here')
  })

  test('keeps what Ralph changed in a story that they left as it was, and a part at the place of its whole', () => {
    const [whole, next] = [story({ id: 'A', title: 'a' }), story({ id: 'B', title: 'b', dependsOn: ['A'] })]
    const edited = feature(whole, next)
    const parts = ['A-1', 'A-2'].map((id) => story({ id, title: id }))
    const split = feature({ ...whole, skipped: true }, ...parts, { ...next, dependsOn: ['A-2'] })
    const mergeWith = (theirs: Prd) =>
      mergePeople(split, theirs, new Set(['A', 'B']), () => true, new Set(untouchedStories(edited, theirs)))
    assert.deepEqual(mergeWith(edited), split)
    const changed = mergeWith(feature(whole, { ...next, title: 'better', dependsOn: [] }))
    assert.deepEqual(
      changed.userStories.map(({ id, title, dependsOn }) => [id, title, dependsOn]),
      [
        ['A', 'a', []],
        ['A-1', 'A-1', []],
        ['A-2', 'A-2', []],
        ['B', 'better', []],
      ],
    )
  })

  test('may change project and description, not run and branch', () => {
    const running = {
      ...ours,
      branchName: 'ralph/a',
      run: { ...emptyRun(), iterations: 3, currentStoryId: 'B' },
    }
    const theirs = { ...ours, branchName: 'main', project: 'P', description: 'D', extra: { x: 1 } }
    assert.deepEqual(mergePeople(running, theirs), { ...theirs, branchName: 'ralph/a', run: running.run })
    assert.equal(mergePeople(ours, theirs).branchName, 'main')
  })

  test('without a change is none', () => {
    assert.deepEqual(mergePeople(ours, ours), ours)
    const edited = mergePeople(ours, {
      ...ours,
      userStories: [structuredClone(passed), { ...open, notes: 'x' }],
    })
    assert.equal(edited.userStories[0], passed, 'what nobody touched is the same object')
  })
})

describe('an edit of acceptance criteria', () => {
  test('after the story passed: it is worked on again', () => {
    const { find } = merged({ ...passed, acceptanceCriteria: ['a', 'and b'] }, open)
    assert.deepEqual(find('A'), {
      ...passed,
      acceptanceCriteria: ['a', 'and b'],
      passes: false,
      retries: 0,
      lastResult: null,
      notes: 'Its acceptance criteria changed after it passed, so Ralph works on it again.',
    })
  })

  test('before it passed: its attempts stay', () => {
    const { find } = merged(passed, { ...open, acceptanceCriteria: ['c'] })
    assert.equal(find('B')?.retries, 2)
  })

  test('that only reformats: the story stays passed', () => {
    const { find } = merged({ ...passed, acceptanceCriteria: [' a\n'] }, open)
    assert.ok(find('A')?.passes)
  })
})

describe('an edit that adds, removes or moves stories', () => {
  test('adds a story that claims to have passed: it is open', () => {
    const { find } = merged(passed, open, { ...passed, id: 'C' }, story({ id: 'D', title: 'd' }))
    assert.deepEqual(find('C'), { ...passed, id: 'C', passes: false, retries: 0, lastResult: null })
  })

  test('removes a story, and dependencies on it', () => {
    const { prd } = merged(open)
    assert.deepEqual(prd.userStories, [{ ...open, dependsOn: [] }])
  })

  test('removes the story in work', () => {
    const running = { ...ours, run: { ...emptyRun(), currentStoryId: 'B' } }
    assert.equal(mergePeople(running, feature(passed)).run.currentStoryId, null)
  })

  test('decides the order', () => {
    assert.deepEqual(
      merged(open, passed).prd.userStories.map(({ id }) => id),
      ['B', 'A'],
    )
  })
})

describe('merges of edits', () => {
  test('change nothing when repeated', () => {
    fc.assert(
      fc.property(arbitraryPrd, arbitraryPrd, (o, t) => {
        const once = mergePeople(o, t)
        assert.deepEqual(mergePeople(once, t), once)
      }),
    )
  })

  test('never pass, block or skip a story', () => {
    fc.assert(
      fc.property(arbitraryPrd, arbitraryPrd, (o, t) => {
        for (const after of mergePeople(o, t).userStories) {
          const before = o.userStories.find(({ id }) => id === after.id)
          if (after.passes) assert.ok(before?.passes)
          if (after.blocked) assert.ok(before?.blocked)
          if (after.skipped) assert.ok(before?.skipped)
        }
      }),
    )
  })

  test('leave their inputs unchanged', () => {
    fc.assert(
      fc.property(arbitraryPrd, arbitraryPrd, (o, t) => {
        const before = structuredClone([o, t])
        mergePeople(o, t)
        assert.deepEqual([o, t], before)
      }),
    )
  })
})
