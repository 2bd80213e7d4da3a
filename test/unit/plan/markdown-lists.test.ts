// Markdown as stories: check lists, and headings with an id.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readDocuments } from '../../../src/plan/documents.ts'
import { runs } from '../runs.ts'
import { documentsOf, parsed, sample } from './samples.ts'

test('a progress file of plan-and-build Ralph is read', () => {
  const { prd, notes } = parsed(sample('plan_PROGRESS.md'), 'plan_PROGRESS.md')
  assert.equal(prd.project, 'feature-name')
  assert.deepEqual(prd.run.learnings, ['The server restarts by itself'])
  const [first, second] = prd.userStories
  assert.equal(prd.userStories.length, 2)
  assert.deepEqual([first?.id, first?.title, first?.passes], ['US-001', 'Write the parser', true])
  assert.equal(first?.lastResult?.imported, true)
  assert.deepEqual(first?.acceptanceCriteria, ['Write the parser'])
  assert.deepEqual([second?.id, second?.title, second?.passes], ['API-7', 'Serve the result', false])
  assert.deepEqual(second?.acceptanceCriteria, ['GET /result answers 200', 'an unknown id answers 404'])
  assert.equal(second?.description, 'Small and fast.')
  assert.match(notes.join('\n'), /2 boxes of the check list/)
})

test('a fix plan: priority by heading, without its examples, and RALPH_DONE is not believed', () => {
  const { prd } = parsed(sample('fix_plan.md'), 'fix_plan.md')
  assert.deepEqual(
    prd.userStories.map(({ id, title, priority, passes }) => [id, title, priority, passes]),
    [
      ['US-001', 'Polish the colours', 3, false],
      ['US-010', 'Mend the crash', 1, false],
      ['US-003', 'Find the crash', 2, true],
    ],
  )
})

test('a list with a heading for each story: its boxes are the acceptance criteria', () => {
  const { prd, notes } = parsed(sample('prd-headings.md'), 'prd.md')
  assert.deepEqual([prd.project, prd.description], ['Accounts', 'Customers get accounts of their own.'])
  const [one, two, three] = prd.userStories
  assert.deepEqual(
    prd.userStories.map(({ id, title, passes, priority, dependsOn }) => [
      id,
      title,
      passes,
      priority,
      dependsOn,
    ]),
    [
      ['US-001', 'Sign in', true, 1, []],
      ['US-002', 'Lock after five wrong passwords', false, 5, ['US-001']],
      ['US-003', 'Reset a password', false, 3, []],
    ],
  )
  assert.equal(one?.lastResult?.imported, true)
  assert.equal(one?.description, 'As a customer, I want to sign in so that I see my orders.')
  assert.deepEqual(one?.acceptanceCriteria, ['A right password makes a session', 'Typecheck passes'])
  assert.deepEqual(two?.acceptanceCriteria, [
    'The sixth try answers 429: also with the right password; and says when to try again',
    'Typecheck passes',
  ])
  assert.equal(
    two?.description,
    'As a customer, I want nobody to guess my password.\n\n```json\n{ "error": "locked" }\n- [ ] no box\n```\n\nTechnical notes\n\n- Counters live in Redis',
  )
  assert.deepEqual(three?.acceptanceCriteria, [
    'A mail with a link is sent',
    'The link works once, for one hour',
  ])
  assert.equal(three?.description, 'Tasks\n\n- write the mail')
  for (const note of [
    /^prd\.md: 3 headings with an id: Ralph read each as a user story, and the checkboxes below it as acceptance criteria\./,
    /left out: 2 boxes outside of the stories \(line 54, 58\)\./,
  ])
    assert.match(notes.join('\n'), new RegExp(note, 'm'))
})

test('stories of epics have criteria as text', () => {
  const { prd, notes } = parsed(sample('epics.md'), 'epics.md')
  assert.equal(prd.project, 'Shop - Epic Breakdown')
  assert.deepEqual(
    prd.userStories.map(({ id, epicId, title, passes, dependsOn }) => [id, epicId, title, passes, dependsOn]),
    [
      ['1.1', 'Epic 1', 'Sign in', false, []],
      ['1.2', 'Epic 1', 'Sign out', false, ['1.1']],
      ['2.1', 'Epic 2', 'List orders', true, []],
    ],
  )
  const [one, two, three] = prd.userStories
  assert.deepEqual(one?.acceptanceCriteria, [
    '**Given** a right password **When** I sign in **Then** a session is made',
  ])
  assert.equal(one?.description, 'As a customer,\nI want to sign in.')
  assert.deepEqual(two?.acceptanceCriteria, ['As a customer, I want to sign out.'])
  assert.deepEqual(three?.acceptanceCriteria, ['the newest comes first'])
  assert.match(notes.join('\n'), /1 story had no acceptance criteria/)
})

test('headings that are stories, and headings that are not', () => {
  const heading = (line: string) => {
    const { prd } = parsed(`${line}\n\n- [ ] a\n- [ ] b`, 'prd.md')
    return prd.userStories.map(({ id, title }) => `${id}|${title}`)
  }
  for (const line of [
    '## US-1: x',
    '### US-1 x',
    '#### US-1 – x',
    '### [US-1] x ###',
    '## Story US-1: x',
    '### **US-1:** x',
  ])
    assert.deepEqual(heading(line), ['US-1|x'], line)
  assert.deepEqual(heading('### User Story 3: x'), ['3|x'])
  assert.deepEqual(heading('### US-1-2: x'), ['US-1-2|x'])
  for (const line of [
    '# US-1: x',
    '##### US-1: x',
    '### Phase-1: x',
    '### FR-1: x',
    '### Story time',
    '### US-1x',
  ])
    assert.deepEqual(heading(line), ['US-001|a', 'US-002|b'], line)
  assert.deepEqual(heading('### 1.2 x'), ['1.2|x'], 'its boxes are steps')
})

test('boxes with ids are stories, whatever their headings', () => {
  const { prd } = parsed('## US-100: Accounts\n- [ ] US-1: a\n- [x] US-2: b\n  - c', 'prd.md')
  assert.deepEqual(
    prd.userStories.map(({ id, passes }) => [id, passes]),
    [
      ['US-1', false],
      ['US-2', true],
    ],
  )
  const plain = parsed('## US-100: Accounts\n- [ ] AC-1: a\n- [x] AC-2: b', 'prd.md').prd
  assert.deepEqual(plain.userStories[0]?.acceptanceCriteria, ['AC-1: a', 'AC-2: b'])
})

test('a box is a criterion whatever its text, with the indented lines below, but not across a heading', () => {
  const story = (lines: string[]) =>
    parsed(['## US-1: x', ...lines].join('\r\n'), 'prd.md').prd.userStories[0]
  assert.deepEqual(
    story(['- [ ] Priority: High comes first', '- [x] Depends on: nothing'])?.acceptanceCriteria,
    ['Priority: High comes first', 'Depends on: nothing'],
  )
  const headed = story(['- [ ] a', '\tgoes on', '', '\t- b', '', '### Notes', '', '  - c'])
  assert.deepEqual([headed?.acceptanceCriteria, headed?.description], [['a goes on: b'], 'Notes\n\n- c'])
  const same = story(['- d', '', '## Acceptance Criteria', '', '1. a', '2. b'])
  assert.deepEqual([same?.acceptanceCriteria, same?.description], [['a', 'b'], '- d'])
})

test('dependencies of a story are ids; a version number stays text', () => {
  const story = (id: string, line: string) => {
    const text = `## ${id}: x\n\n- [ ] a\n\n${line}\n\n## US-7: y\n\n## Story 1.1: z\n\n## Story 1.2: z`
    const { dependsOn, description } = parsed(text, 'prd.md').prd.userStories[0] ?? {}
    return [dependsOn, description]
  }
  assert.deepEqual(story('US-1', 'Depends on: US-7 and NFR-3'), [['US-7'], ''])
  assert.deepEqual(story('US-1', '**Prerequisites:** None'), [[], ''])
  assert.deepEqual(story('US-1', 'Dependencies: React 18.2'), [[], 'Dependencies: React 18.2'])
  assert.deepEqual(story('Story 1.3', 'Prerequisites: Story 1.1, 1.2'), [['1.1', '1.2'], ''])
  assert.deepEqual(story('Story 1.3', 'Prerequisites: Python 3.12'), [[], 'Prerequisites: Python 3.12'])
})

test('any lines are read, or refused with the line', () => {
  const line = fc.constantFrom(
    '## US-1: x',
    '### Story 1.2',
    '## Epic 1',
    '#### Acceptance Criteria',
    '**Acceptance Criteria:** a',
    '**Notes**',
    '- [ ] a',
    '  - [x] b',
    '\t- c',
    '- d',
    'Priority: high',
    'Depends on: US-1, 1.2',
    'words',
    '  words',
    '```',
    '<!--',
    '-->',
    '',
  )
  const property = fc.property(fc.array(fc.oneof(line, fc.string()), { maxLength: 30 }), (lines) => {
    const result = readDocuments([{ path: 'prd.md', text: lines.join('\n') }])
    if (result.ok)
      for (const story of result.documents.prd.userStories) assert.ok(story.acceptanceCriteria.length > 0)
    else for (const { path } of result.mistakes) assert.match(path, /^prd\.md(: |$)/)
  })
  fc.assert(property, runs(100))
})

test('a mistake in a heading costs its story at most, with a notice that has the line', () => {
  const text = '# x\n\n### US-1: a\n- [ ] b\n\n### US-1: c\nDepends on: US-7\n- [ ] d\n### US-2\n- [ ] e'
  const { prd, notes } = documentsOf({ path: 'prd.md', text })
  assert.deepEqual(
    prd.userStories.map(({ id, title, dependsOn }) => [id, title, dependsOn]),
    [
      ['US-1', 'a', []],
      ['US-1b', 'c', []],
      ['US-2', 'e', []],
    ],
  )
  for (const place of ['line 9 (title)', 'line 6 (id)', 'line 6 (dependsOn)'])
    assert.equal(notes.filter((note) => note.startsWith(`prd.md: ${place}: `)).length, 1, place)
})

test('a mistake in a box costs its story at most, with a notice that has the line', () => {
  const text = `# x\n\n- [ ] \n- [ ] US-1: a\n- [ ] US-1: ${'b'.repeat(501)}`
  const { prd, notes } = documentsOf({ path: 'plan.md', text })
  assert.deepEqual(
    prd.userStories.map(({ id }) => id),
    ['US-1', 'US-1b'],
  )
  assert.ok(
    notes.some((note) =>
      /^plan\.md: line 3 \(title\): .* Ralph leaves this story out\. To change this: /.test(note),
    ),
  )
  assert.ok(
    notes.some((note) =>
      note.startsWith('plan.md: line 5 (id): the id "US-1" is already used in plan.md: line 4,'),
    ),
  )
})

test('Windows line ends, a BOM and tabs are read', () => {
  const { prd } = parsed('\ufeff- [X] a\r\n\t- one\r\n- [~] b\r\n')
  assert.deepEqual(
    prd.userStories.map(({ title, passes, acceptanceCriteria }) => [title, passes, acceptanceCriteria[0]]),
    [
      ['a', true, 'one'],
      ['b', false, 'b'],
    ],
  )
})

test('text without boxes goes to a planning session', () => {
  const { prd, prose } = documentsOf({ path: 'plan.md', text: '# Plan\n- a\n- b' })
  assert.deepEqual([prd.userStories, prose.map(({ path }) => path)], [[], ['plan.md']])
})
