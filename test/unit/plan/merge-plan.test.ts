// Reading documents again: nothing is doubled, nobody's edit is lost.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Prd, Story } from '../../../src/engine/model/feature.ts'
import { mergePlanned as merge } from '../../../src/plan/documents.ts'
import { feature, story as newStory } from '../engine/prd/samples.ts'
import { runs } from '../runs.ts'
import { parsed } from './samples.ts'

const list = (...lines: string[]) =>
  parsed(lines.map((line) => `- [ ] ${line}`).join('\n'), 'fix_plan.md').prd
const titles = ({ userStories }: Prd) => userStories.map(({ id, title }) => `${id} ${title}`)
const edited = (prd: Prd, id: string, change: Partial<Story>): Prd => ({
  ...prd,
  userStories: prd.userStories.map((story) => (story.id === id ? { ...story, ...change } : story)),
})

/** With the ids of stories that came, and of those whose words are others than before. */
function mergePlanned(before: Prd, planned: Prd) {
  const prd = merge(before, planned)
  const words = ({ title, description, acceptanceCriteria, tags, dependsOn, epicId }: Story) =>
    JSON.stringify([title, description, acceptanceCriteria, tags, dependsOn, epicId])
  const old = new Map(before.userStories.map((story) => [story.id, words(story)]))
  const added = prd.userStories.filter(({ id }) => !old.has(id))
  const changed = prd.userStories.filter((story) => (old.get(story.id) ?? words(story)) !== words(story))
  return { prd, added: added.map(({ id }) => id), changed: changed.map(({ id }) => id) }
}

test('planning the same documents again changes nothing', () => {
  const before = list('a', 'b')
  assert.deepEqual(mergePlanned(before, list('a', 'b')), { prd: before, added: [], changed: [] })
})

test('a box inserted between others is a new story, and the others keep their ids', () => {
  const before = edited(list('Boil', 'Beep'), 'US-002', { passes: true, retries: 1, notes: 'mine' })
  const { prd, added, changed } = mergePlanned(before, list('Fill', 'Boil', 'Beep'))
  assert.deepEqual(titles(prd), ['US-001 Boil', 'US-002 Beep', 'US-004 Fill'])
  assert.deepEqual([added, changed], [['US-004'], []])
  assert.deepEqual(prd.userStories[1], before.userStories[1])
  assert.deepEqual(titles(mergePlanned(prd, list('Fill', 'Boil', 'Beep')).prd), titles(prd))
})

test('a removed box stays a story, and the next box does not take its id', () => {
  const { prd, added, changed } = mergePlanned(list('Fill', 'Boil', 'Beep'), list('Boil', 'Beep', 'Light'))
  assert.deepEqual(titles(prd), ['US-001 Fill', 'US-002 Boil', 'US-003 Beep', 'US-004 Light'])
  assert.deepEqual([added, changed], [['US-004'], []])
})

test('a free id is found after any number of stories', () => {
  const all = Array.from({ length: 20_000 }, (_, index) => {
    const id = `US-${String(index + 1).padStart(3, '0')}`
    return newStory({ id, title: `old ${index}` })
  })
  assert.deepEqual(mergePlanned(feature(...all), list('new', 'old 0')).added, ['US-20001'])
})

const page = (title: string, ...criteria: string[]) =>
  parsed(`## US-1: ${title}\n\n${criteria.map((one) => `- [ ] ${one}`).join('\n')}`, 'prd.md').prd

test('changed text of documents replaces text that people left as planned', () => {
  const { prd, changed } = mergePlanned(page('Boil', 'a'), page('Boil fast', 'a', 'b'))
  assert.deepEqual(changed, ['US-1'])
  assert.deepEqual(
    [prd.userStories[0]?.title, prd.userStories[0]?.acceptanceCriteria],
    ['Boil fast', ['a', 'b']],
  )
  assert.deepEqual(mergePlanned(prd, page('Boil fast', 'a', 'b')).changed, [])
})

test('text that people changed is kept, and so is text of stories that were not planned', () => {
  const mine = edited(page('Boil', 'a'), 'US-1', { title: 'Boil slowly' })
  assert.deepEqual(mergePlanned(mine, page('Boil fast', 'a')), { prd: mine, added: [], changed: [] })
  const own = feature(newStory({ id: 'US-1', title: 'Own' }))
  assert.deepEqual(titles(mergePlanned(own, page('Boil fast', 'a')).prd), ['US-1 Own'])
})

test('a passed story is worked on again only when its criteria changed', () => {
  const passed = edited(page('Boil', 'a'), 'US-1', { passes: true, lastResult: null })
  assert.equal(mergePlanned(passed, page('Boil!', 'a')).prd.userStories[0]?.passes, true)
  assert.equal(mergePlanned(passed, page('Boil it', 'A.')).prd.userStories[0]?.passes, true)
  const again = mergePlanned(passed, page('Boil', 'a', 'b')).prd.userStories[0]
  assert.equal(again?.passes, false)
  assert.match(again?.notes ?? '', /changed after it passed/)
})

test('a document that says done passes no existing story', () => {
  const done = parsed('- [x] a', 'fix_plan.md').prd
  const { prd, changed } = mergePlanned(list('a'), done)
  assert.deepEqual([prd.userStories[0]?.passes, changed], [false, []])
})

test('dependencies follow a story to its new id', () => {
  const planned = feature(
    newStory({ id: 'US-001', title: 'New' }),
    newStory({ id: 'US-002', title: 'Old' }),
    newStory({ id: 'US-003', title: 'Late', dependsOn: ['US-001', 'US-002'] }),
  )
  const { prd } = mergePlanned(feature(newStory({ id: 'US-001', title: 'Old' })), planned)
  assert.deepEqual(
    prd.userStories.map(({ id, title, dependsOn }) => [id, title, dependsOn]),
    [
      ['US-001', 'Old', []],
      ['US-004', 'New', []],
      ['US-003', 'Late', ['US-004', 'US-001']],
    ],
  )
})

test('merging twice equals merging once, with unique ids and existing dependencies', () => {
  const some = fc
    .array(
      fc.record({ title: fc.constantFrom('a', 'b', 'c', 'd', 'A!'), criterion: fc.constantFrom('x', 'y') }),
      {
        maxLength: 5,
      },
    )
    .map((stories) =>
      feature(
        ...stories.map(({ title, criterion }, index) =>
          newStory({
            id: `US-00${index + 1}`,
            title,
            acceptanceCriteria: [criterion],
            dependsOn: index === 0 ? [] : ['US-001'],
          }),
        ),
      ),
    )
  fc.assert(
    fc.property(some, some, some, (first, second, third) => {
      const before = mergePlanned(mergePlanned(feature(), first).prd, second).prd
      const once = mergePlanned(before, third)
      const twice = mergePlanned(once.prd, third)
      assert.deepEqual(twice, { prd: once.prd, added: [], changed: [] })
      const ids = once.prd.userStories.map(({ id }) => id)
      assert.equal(new Set(ids).size, ids.length)
      for (const { dependsOn } of once.prd.userStories)
        for (const id of dependsOn) assert.ok(ids.includes(id))
    }),
    runs(50),
  )
})
