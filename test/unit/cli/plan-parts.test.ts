// The pure parts of `ralph plan`, and its way of writing: whatever is proposed, nothing that stands is lost, and nothing passes.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  draftMistakes,
  isEdited,
  nameOfSentence,
  parsePage,
  withinScope,
  withStoriesAdded,
  withStoriesReplaced,
} from '../../../src/cli/plan-draft.ts'
import { differenceLines, sourceLines, storyLines } from '../../../src/cli/plan-view.ts'
import { writeFiles } from '../../../src/cli/write-files.ts'
import type { Prd, Story } from '../../../src/engine/model/feature.ts'
import { branchNameFault } from '../../../src/engine/model/safe-names.ts'
import { withParts } from '../../../src/engine/planning/proposed-plan.ts'
import { emptyPrd, newStory } from '../../../src/engine/prd/schema.ts'
import { renderPrdMarkdown } from '../../../src/plan/documents.ts'
import { textWidth } from '../../../src/report/terminal/width.ts'
import { hostileStrings } from '../../fixtures/hostile-strings.ts'

const prdOf = (userStories: Story[]): Prd => ({ ...emptyPrd(), project: 'Shop', userStories })

/** Stories with ids from 1 up, each waiting for some before it, with titles out of a few. */
const stories = fc
  .array(
    fc.record({
      title: fc.constantFrom('Sign in', 'sign-in', 'Sign out', 'Pay', 'Search', 'Ship', 'Return', 'Refund'),
      passes: fc.boolean(),
      waits: fc.array(fc.nat(20), { maxLength: 3 }),
      criterion: fc.constantFrom('it works', 'a test shows it'),
      epicId: fc.constantFrom(null, 'E1', 'E2'),
    }),
    { maxLength: 8 },
  )
  .map((list) =>
    list.map(({ title, passes, waits, criterion, epicId }, index) =>
      newStory({
        id: `US-00${index + 1}`,
        title,
        passes,
        epicId,
        acceptanceCriteria: [criterion],
        priority: index + 1,
        dependsOn: [...new Set(waits.filter((at) => at < index).map((at) => `US-00${at + 1}`))],
      }),
    ),
  )
const proposed = stories.map((list) => ({
  project: 'Other',
  description: '',
  stories: list.map((story) => ({ ...story, passes: false })),
}))

test('stories that are proposed for a plan change none of its stories, and the result is valid', () => {
  fc.assert(
    fc.property(stories, proposed, (list, proposal) => {
      const before = prdOf(list)
      const after = withStoriesAdded(before, proposal)
      assert.deepEqual(after.userStories.slice(0, list.length), list)
      assert.ok(after.userStories.slice(list.length).every(({ passes }) => !passes))
      if (after.userStories.length > 0) assert.deepEqual(draftMistakes(after, 'plan'), [])
      assert.equal(withStoriesAdded(after, proposal).userStories.length, after.userStories.length)
    }),
  )
})

test('replacing a plan keeps its passed stories unchanged, and passes no other', () => {
  fc.assert(
    fc.property(stories, proposed, (list, proposal) => {
      const after = withStoriesReplaced(prdOf(list), proposal)
      const wordsOf = (some: readonly Story[]) =>
        some.filter(({ passes }) => passes).map((story) => ({ ...story, dependsOn: [] }))
      assert.deepEqual(wordsOf(after.userStories), wordsOf(list))
      if (after.userStories.length > 0) assert.deepEqual(draftMistakes(after, 'plan'), [])
      const ids = after.userStories.map(({ id }) => id)
      assert.equal(new Set(ids).size, ids.length)
    }),
  )
})

test('passed stories and proposed ones never depend on each other', () => {
  const before = prdOf([
    newStory({ id: 'US-001', title: 'Search' }),
    newStory({ id: 'US-002', title: 'Sign in', passes: true, dependsOn: ['US-001'] }),
  ])
  const stories = [
    newStory({ id: 'US-003', title: 'Sign in' }),
    newStory({ id: 'US-001', title: 'Search', dependsOn: ['US-003'] }),
  ]
  const after = withStoriesReplaced(before, { project: '', description: '', stories })
  assert.deepEqual(
    after.userStories.map(({ id, dependsOn }) => [id, dependsOn]),
    [
      ['US-002', []],
      ['US-001', ['US-002']],
    ],
  )
  assert.deepEqual(draftMistakes(after, 'plan'), [])
})

test('a selection of stories includes all their dependencies', () => {
  fc.assert(
    fc.property(stories, fc.constantFrom('E1', 'E2'), (list, epic) => {
      const { prd, along } = withinScope(prdOf(list), { stories: [], epic, job: 0 })
      const ids = new Set(prd.userStories.map(({ id }) => id))
      for (const story of prd.userStories) {
        assert.ok(story.epicId === epic || along.includes(story.id))
        assert.ok(story.dependsOn.every((id) => ids.has(id)))
      }
      for (const story of list) if (story.epicId === epic) assert.ok(ids.has(story.id))
    }),
  )
})

test('no line of a printed plan is wider than the terminal, whatever its text', () => {
  const texts = fc.constantFrom(...hostileStrings.map(({ text }) => text))
  fc.assert(
    fc.property(texts, fc.integer({ min: 24, max: 100 }), (title, width) => {
      const before = prdOf([newStory({ id: 'US-001', title: 'x' })])
      const after = prdOf([
        newStory({ id: 'US-001', title, acceptanceCriteria: Array(12).fill(title) }),
        newStory({ id: 'US-002', title, dependsOn: ['US-001'] }),
      ])
      const source = { path: title.replaceAll('/', ''), line: 3, format: 'check list', storyId: 'US-001' }
      const lines = [
        ...storyLines(after, [{ storyId: 'US-001', remark: title }], width),
        ...differenceLines(before, after, width),
        ...sourceLines([source], width),
      ]
      for (const line of lines) assert.ok(textWidth(line) <= width, `${width}: ${JSON.stringify(line)}`)
    }),
  )
})

test('prd.md read back keeps fields that it does not show, and changes only by an edit', () => {
  const story = newStory({
    id: 'US-001',
    title: 'Sign in',
    tags: ['ui'],
    priority: 7,
    notes: 'mind the cache',
  })
  const before = prdOf([
    { ...story, extra: { points: 3 } },
    newStory({ id: 'US-002', title: 'Pay', passes: true }),
  ])
  const page = renderPrdMarkdown(before)
  assert.equal(isEdited(page, before), false)
  const passed = prdOf(before.userStories.map((one) => ({ ...one, passes: true })))
  assert.equal(isEdited(page, passed), false, 'how stories stand is no edit')
  const edited = page.replace('Sign in', 'Sign in fast')
  assert.equal(isEdited(edited, before), true)
  const [whole] = before.userStories
  assert.ok(whole !== undefined)
  const parts = ['a', 'b'].map((end) => ({ ...whole, id: `${whole.id}${end}`, title: `part ${end}` }))
  const split = withParts(before, whole.id, parts)
  assert.equal(isEdited(page, split), false, 'Ralph has split it since')
  assert.equal(isEdited(page, withParts(split, `${whole.id}b`, [{ ...whole, id: 'deeper' }])), false)
  assert.equal(isEdited(edited, split), true)
  const [first, second] = parsePage(edited, before).userStories
  assert.deepEqual(
    { ...first, title: 'Sign in', acceptanceCriteria: story.acceptanceCriteria },
    before.userStories[0],
  )
  assert.equal(first?.title, 'Sign in fast')
  assert.equal(second?.passes, true)
})

test('every sentence gives a feature name that is a valid branch name', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.constantFrom(...hostileStrings.map(({ text }) => text))), (text) => {
      assert.equal(branchNameFault(nameOfSentence(text)), null)
    }),
  )
})

test('plan files are written all or none, and through no link', async () => {
  const top = await mkdtemp(join(tmpdir(), 'ralph-write-'))
  const path = '.ralph/2026-01-31-auth/prd.json'
  const page = path.replace('json', 'md')
  try {
    await mkdir(join(top, 'elsewhere'), { recursive: true })
    await symlink('elsewhere', join(top, '.ralph'))
    await assert.rejects(writeFiles(top, { [path]: 'x' }), /\.ralph: found a link, expected a folder/)
    await rm(join(top, '.ralph'))
    assert.deepEqual(await writeFiles(top, { [path]: 'one' }), [path])
    assert.deepEqual(await writeFiles(top, { [path]: 'one' }), [])
    await mkdir(join(top, page))
    await assert.rejects(
      writeFiles(top, { [path]: 'two', [page]: 'two' }),
      /prd\.md: found a folder, expected a file/,
    )
    assert.equal(await readFile(join(top, path), 'utf8'), 'one')
  } finally {
    await rm(top, { recursive: true, force: true })
  }
})
