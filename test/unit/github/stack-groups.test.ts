// The groups of a stack: whatever an epic is called, its branch has a name that git accepts and that no other group has.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import test from 'node:test'
import fc from 'fast-check'
import { branchNameFault } from '../../../src/engine/model/safe-names.ts'
import { newStory } from '../../../src/engine/prd/schema.ts'
import { groupsOf } from '../../../src/github/stack/groups.ts'
import { layerBranch } from '../../../src/github/stack/plan-stack.ts'
import { stateOf } from '../engine/samples.ts'
import { anyText, runs } from '../runs.ts'

/** The branches of epics with these ids, which have one story each: US-001 and so on. */
function branchesOf(...epics: string[]): string[] {
  const stories = epics.map((epicId, index) =>
    newStory({ id: `US-00${index + 1}`, title: `story ${index}`, epicId }),
  )
  return groupsOf(stateOf(stories).prd).map((group) => layerBranch('ralph/shop', group))
}

test('an epic whose id could be the id of a story gives its branch this name', () => {
  assert.deepEqual(branchesOf('E1', '2', 'sign-up_v1.0'), [
    'ralph/shop+E1',
    'ralph/shop+2',
    'ralph/shop+sign-up_v1.0',
  ])
})

test('any other id is cleaned, and the first story of the epic makes it unique', () => {
  assert.deepEqual(branchesOf('a b', '../x', 'x.lock', '$(id)', 'a/b', 'a-b', '用户', 'X.'), [
    'ralph/shop+a-b-US-001',
    'ralph/shop+x-US-002',
    'ralph/shop+x-lock-US-003',
    'ralph/shop+id-US-004',
    'ralph/shop+a-b-US-005',
    'ralph/shop+a-b',
    'ralph/shop+US-007',
    'ralph/shop+X-US-008',
  ])
  assert.equal(branchesOf('x '.repeat(100))[0], `ralph/shop+${'x-'.repeat(20).slice(0, -1)}-US-001`)
})

test('ids that differ only in the case, and an id that looks like a cleaned one', () => {
  assert.deepEqual(branchesOf('E1', 'e1'), ['ralph/shop+E1', 'ralph/shop+e1-US-002'])
  assert.deepEqual(branchesOf('a b', 'a-b-US-001'), ['ralph/shop+a-b-US-001-2', 'ralph/shop+a-b-US-001'])
})

test('a story that is added later, or a skipped first one, changes no name', () => {
  const story = (id: string, epicId: string, skipped = false) => newStory({ id, title: id, epicId, skipped })
  const names = (...stories: ReturnType<typeof story>[]) =>
    groupsOf(stateOf(stories).prd).map((group) => layerBranch('ralph/shop', group))
  const before = names(story('US-001', 'a b'))
  const added = [story('US-002', 'a b'), story('US-003', 'a+b'), story('US-004', 'a-b')]
  assert.equal(names(story('US-001', 'a b', true), ...added)[0], before[0])
})

test('git accepts every name, and no two are the same', () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyText(), { minLength: 1, maxLength: 9 }), (epics) => {
      const names = branchesOf(...epics)
      assert.equal(new Set(names.map((name) => name.toLowerCase())).size, names.length)
      for (const name of names) assert.equal(branchNameFault(name), null, name)
    }),
    runs(100),
  )
  for (const name of branchesOf('../x', 'x.lock', 'a..b', '@{', '\\', ''))
    execFileSync('git', ['check-ref-format', `refs/heads/${name}`])
})
