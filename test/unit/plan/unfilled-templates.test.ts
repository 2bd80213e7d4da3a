// Templates that nobody filled in, titles that are no stories, and titles that are too long.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentsOf } from './samples.ts'

const template = '# PRD: [Project Name]\n\n- [ ] [Task one]\n- [ ] [Task two]\n- [ ] [Task three]'

test('a template without a story is left out with a note, and no session gets it', () => {
  const words = { path: 'PRD.md', text: template.replace(/^- /gm, '- note: ') }
  const { prose, notes } = documentsOf(words)
  assert.deepEqual(prose, [])
  assert.match(notes.join('\n'), /PRD\.md \(a template that is not filled in/)
})

test("a person's document with a link and one placeholder is no unfilled template", () => {
  const text = '# Bikes [Beta]\n\nSee [the law](law.md), [TODO: ask Ann] and [Risks].'
  const { prose } = documentsOf({ path: 'docs/bikes.md', text, isNamed: true })
  assert.deepEqual(
    prose.map(({ path }) => path),
    ['docs/bikes.md'],
  )
})

test('a story that is marked as removed is left out; a story about removed things is read', () => {
  const text = '# P\n\n### Story 1.1: [REMOVED]\n\n### Story 1.2: Removed rows stay visible\n\n- [ ] a'
  const { prd, notes } = documentsOf({ path: 'docs/epics.md', text })
  assert.deepEqual(
    prd.userStories.map(({ id }) => id),
    ['1.2'],
  )
  assert.match(notes.join('\n'), /left out, because the document marks them as removed: 1\.1 \(line 3\)/)
})

test('the title of a box with a whole paragraph is its beginning, and no text is lost', () => {
  const words = `Draw ${'a long line and '.repeat(40)}the end`
  const [story] = documentsOf({ path: 'TODO.md', text: `# TODO\n\n- [ ] ${words}` }).prd.userStories
  assert.ok((story?.title.length ?? 0) <= 130)
  assert.deepEqual(story?.acceptanceCriteria, [words])
})

test('a box in a heading is a story with the text below it', () => {
  const text =
    '# Fix plan\n\n## High Priority\n\n### 1. [x] Read\n\n### 2. [ ] Write\n\nWhy not.\n\n- [ ] it is kept\n\n## Notes\n\nno'
  const { prd } = documentsOf({ path: 'fix_plan.md', text })
  assert.deepEqual(
    prd.userStories.map(({ title, passes, description }) => [title, passes, description]),
    [
      ['Read', true, ''],
      ['Write', false, 'Why not.'],
    ],
  )
  assert.deepEqual(prd.userStories[1]?.acceptanceCriteria, ['it is kept'])
})
