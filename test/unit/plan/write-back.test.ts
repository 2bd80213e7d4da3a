// Documents at an outcome: whose marks are set, and whose are left because nobody can be sure.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LastResult, Prd, Story } from '../../../src/engine/model/feature.ts'
import { planFile } from '../../../src/engine/prd/plan-file.ts'
import { findPlanDocuments, readDocuments, writeBack } from '../../../src/plan/documents.ts'
import type { DocumentFile } from '../../../src/plan/types.ts'
import { story } from '../engine/prd/samples.ts'
import { assertGrowth } from '../growth.ts'

const RESULT: LastResult = { completedAt: null, commit: 'c0ffee1234567890', summary: '' }

/** What `ralph plan` makes of the files. */
function planned(files: readonly DocumentFile[], branch: string | null = null): Prd {
  const read = readDocuments(files, { branch })
  assert.ok(read.ok, JSON.stringify(read))
  return read.documents.prd
}

/** Those of the given titles have passed. */
function passed(prd: Prd, ...titles: string[]): Prd {
  for (const title of titles)
    assert.ok(
      prd.userStories.some((one) => one.title === title),
      title,
    )
  const userStories = prd.userStories.map((one) =>
    titles.includes(one.title) ? { ...one, passes: true, lastResult: RESULT } : one,
  )
  return { ...prd, userStories }
}

const LIST = '- [ ] One\n- [ ] Two\n- [x] Three\n'
const list: DocumentFile = { path: 'fix_plan.md', text: LIST, isDiscovered: true }
const changed = (files: readonly DocumentFile[], prd: Prd) => Object.fromEntries(writeBack(files, prd).texts)

test('write-back ticks passed stories, not open, imported or skipped ones', () => {
  const prd = planned([list])
  assert.deepEqual(changed([list], passed(prd, 'Two')), { 'fix_plan.md': LIST.replace('[ ] Two', '[x] Two') })
  assert.deepEqual(changed([list], prd), {})
  // People took the tick away: what was imported is their word.
  const unticked = { ...list, text: LIST.replace('[x]', '[ ]') }
  assert.deepEqual(changed([unticked], prd), {})
  const skipped = prd.userStories.map(
    (one): Story => ({ ...one, passes: true, skipped: true, lastResult: RESULT }),
  )
  assert.deepEqual(changed([list], { ...prd, userStories: skipped }), {})
})

test('write-back marks no story without a source document, whatever its title', () => {
  const own = story({ id: 'US-001', title: 'One', passes: true, lastResult: RESULT })
  assert.deepEqual(writeBack([list], { userStories: [own] }), { texts: new Map(), unmarked: [] })
})

test('write-back ticks a split story with the last of its parts', () => {
  const prd = planned([list])
  const [one, ...others] = prd.userStories as [Story, ...Story[]]
  const whole: Story = { ...one, skipped: true, extra: { ...one.extra, splitInto: ['A', 'B'] } }
  const part = (id: string, more: Partial<Story>) => story({ id, title: id, ...more })
  const done = { passes: true, lastResult: RESULT }
  const first = [whole, part('A', done), part('B', {}), ...others]
  assert.deepEqual(changed([list], { ...prd, userStories: first }), {})
  const all = [
    whole,
    part('A', done),
    part('B', { skipped: true, extra: { splitInto: ['C'] } }),
    part('C', done),
  ]
  assert.deepEqual(changed([list], { ...prd, userStories: [...all, ...others] }), {
    'fix_plan.md': LIST.replace('[ ] One', '[x] One'),
  })
  const round = [{ ...whole, extra: { ...whole.extra, splitInto: ['US-001'] } }]
  assert.deepEqual(changed([list], { ...prd, userStories: round }), {})
})

test('write-back finds a box that people moved, and names one that they renamed', () => {
  const prd = passed(planned([list]), 'Two')
  const moved = { ...list, text: 'New words.\n\n- [ ] Zero\n- [ ] Two\n- [ ] One\n' }
  assert.deepEqual(changed([moved], prd), { 'fix_plan.md': moved.text.replace('[ ] Two', '[x] Two') })
  const renamed = { ...list, text: LIST.replace('Two', 'Another') }
  assert.deepEqual(writeBack([renamed], prd), { texts: new Map(), unmarked: ['US-002'] })
})

test('write-back matches equal titles in order, and not when one was added or removed', () => {
  const twice = { ...list, text: '- [ ] Tests\n- [ ] One\n- [ ] Tests\n' }
  const prd = planned([twice])
  const last = prd.userStories.map((one, index) =>
    index === 2 ? { ...one, passes: true, lastResult: RESULT } : one,
  )
  const state = { ...prd, userStories: last }
  assert.deepEqual(changed([twice], state), { 'fix_plan.md': '- [ ] Tests\n- [ ] One\n- [x] Tests\n' })
  const more = { ...twice, text: `- [ ] Tests\n${twice.text}` }
  assert.deepEqual(writeBack([more], state), { texts: new Map(), unmarked: ['US-003'] })
})

test('write-back to prd.json: ids are those of the state, not those that an agent gave to other stories', () => {
  const entry = (id: string, title: string) => ({ id, title, acceptanceCriteria: ['x'], passes: false })
  const file = (stories: object[]): DocumentFile => ({
    path: 'scripts/ralph/prd.json',
    text: `${JSON.stringify({ userStories: stories }, null, 2)}\n`,
    isDiscovered: true,
  })
  const before = file([entry('US-001', 'One'), entry('US-002', 'Two')])
  const prd = passed(planned([before]), 'One')
  const swapped = file([entry('US-001', 'Two'), entry('US-002', 'One')])
  const [[, text] = ['', '']] = [...writeBack([swapped], prd).texts]
  assert.deepEqual(
    JSON.parse(text).userStories.map(({ title, passes }: Story) => [title, passes]),
    [
      ['Two', false],
      ['One', true],
    ],
  )
  const broken = { ...before, text: '{"userStories": [' }
  assert.deepEqual(writeBack([broken], prd), { texts: new Map(), unmarked: ['US-001'] })
})

const task = (id: number, title: string) => ({
  id,
  title,
  description: '',
  testStrategy: 'x',
  status: 'pending',
})
const tasks = (tags: object, more: Partial<DocumentFile> = {}): DocumentFile => ({
  path: '.taskmaster/tasks/tasks.json',
  text: JSON.stringify(tags, null, 2),
  ...more,
})

test('write-back to Task Master: the planned tag, also when another is current now', () => {
  const tags = { master: { tasks: [task(1, 'Old')] }, auth: { tasks: [task(1, 'Sign in'), task(2, 'Old')] } }
  const prd = passed(planned([tasks(tags, { part: 'auth' })]), 'Sign in')
  const state = { path: '.taskmaster/state.json', text: '{"currentTag": "master"}' }
  const [text = ''] = [...writeBack([tasks(tags), state], prd).texts.values()]
  const { master, auth } = JSON.parse(text)
  assert.deepEqual([master.tasks[0].status, auth.tasks[0].status], ['pending', 'done'])
})

test('write-back to Task Master: the current one of two equal tags; without one nothing is marked', () => {
  const same = { tasks: [task(1, 'Sign in')] }
  const file = tasks({ master: same, copy: same })
  const prd = passed(planned([{ ...file, part: 'copy' }]), 'Sign in')
  const state = { path: '.taskmaster/state.json', text: '{"currentTag": "copy"}' }
  const [text = ''] = [...writeBack([file, state], prd).texts.values()]
  assert.deepEqual(JSON.parse(text).copy.tasks[0].status, 'done')
  assert.deepEqual(JSON.parse(text).master.tasks[0].status, 'pending')
  assert.deepEqual(writeBack([file], prd), { texts: new Map(), unmarked: ['1'] })
  assert.equal(writeBack([{ ...file, part: 'copy' }], prd).texts.size, 1)
})

const spec = (name: string, story1: string): DocumentFile => ({
  path: `specs/${name}/tasks.md`,
  text: `## Phase 1: Setup\n\n- [ ] T001 Set up\n\n## Phase 2: User Story 1 - ${story1} (Priority: P1)\n\n- [ ] T002 [US1] Build\n`,
  isDiscovered: true,
})

test('write-back to Spec Kit: the planned one of two features', () => {
  const files = [spec('001-sign-in', 'Sign in'), spec('002-export', 'Export')]
  const prd = passed(planned(files, '002-export'), 'Setup', 'Export')
  assert.deepEqual(changed(files, prd), {
    'specs/002-export/tasks.md': (files[1]?.text ?? '').replaceAll('[ ]', '[X]'),
  })
})

test('write-back to Spec Kit: a task inserted before others, which renumbers them, is not ticked for them', () => {
  const tasks = (...lines: string[]) =>
    `## Phase 1: User Story 1 - Sign in (Priority: P1)\n\n${lines.map((line) => `- [ ] ${line}\n`).join('')}`
  const path = 'specs/001-sign-in/tasks.md'
  const before = { path, text: tasks('T001 [US1] Build', 'T002 [P] [US1] Add the model'), isDiscovered: true }
  const after = tasks('T001 [US1] Build', 'T002 [US1] Ask the lawyers', 'T003 [P] [US1] Add the model')
  const prd = passed(planned([before], '001-sign-in'), 'Sign in')
  assert.deepEqual(changed([{ ...before, text: after }], prd), {
    [path]: after.replace('[ ] T001', '[X] T001').replace('[ ] T003', '[X] T003'),
  })
})

test("write-back goes to the plan's sources, else to documents that are found, never to Ralph's own files", () => {
  const paths = [
    '.ralph/2026-01-01-x/prd.json',
    '.ralph/archive/a/prd.json',
    '.ralph/fix_plan.md',
    'docs/prd.md',
    'notes/a.md',
  ]
  const prd = planned([list])
  const among = (one: Prd) => findPlanDocuments(paths, one, '.ralph/2026-01-01-x')
  assert.deepEqual(
    among(prd).map(({ path }) => path),
    ['.ralph/fix_plan.md', 'docs/prd.md'],
  )
  const from = {
    ...prd,
    extra: { plannedFrom: { 'notes/a.md': 'ab', 'docs/prd.md': 'cd', 'gone.md': 'ef' } },
  }
  assert.deepEqual(among(from), [
    { path: 'docs/prd.md', isDiscovered: true },
    { path: 'notes/a.md', isNamed: true },
  ])
})

test('write-back to a file with several plans goes to the named part', () => {
  const path = '.taskmaster/tasks/tasks.json'
  const prd = { ...planned([list]), extra: { plannedFrom: { [`${path}#auth`]: 'ab', 'a#b.md': 'cd' } } }
  assert.deepEqual(findPlanDocuments([path, 'a#b.md'], prd, '.ralph/x'), [
    { path, isDiscovered: true, part: 'auth' },
    { path: 'a#b.md', isNamed: true },
  ])
  assert.equal(planFile(prd), path)
})

test('write-back closes a progress file whose boxes an agent ticked only after every story has passed', () => {
  const text = '## Status\nIN_PROGRESS\n\n- [ ] One\n- [ ] Two\n'
  const file: DocumentFile = { path: 'docs/auth_PROGRESS.md', text, isDiscovered: true }
  const ticked = { ...file, text: text.replaceAll('[ ]', '[x]') }
  const one = passed(planned([file]), 'One')
  assert.deepEqual(writeBack([ticked], one), { texts: new Map(), unmarked: [] })
  const both = passed(one, 'Two')
  assert.deepEqual(writeBack([ticked], both), {
    texts: new Map([[file.path, ticked.text.replace('IN_PROGRESS', 'RALPH_DONE')]]),
    unmarked: [],
  })
})

test('write-back to Kiro: a group whose open task an agent ticked is not ticked', () => {
  const text = '- [ ] 1. Accounts\n- [ ] 1.1 Sign in\n- [ ] 1.2 Sign out\n'
  const file: DocumentFile = { path: '.kiro/specs/accounts/tasks.md', text, isDiscovered: true }
  const ticked = { ...file, text: text.replace('[ ] 1.2', '[x] 1.2') }
  const prd = passed(planned([file]), 'Sign in')
  assert.deepEqual(changed([ticked], prd), { [file.path]: ticked.text.replace('[ ] 1.1', '[x] 1.1') })
  assert.deepEqual(changed([ticked], passed(prd, 'Sign out')), { [file.path]: text.replaceAll('[ ]', '[x]') })
})

test("write-back of thousands of boxes takes linear time, and leaves those beyond a plan's limit", () => {
  const boxes = (size: number): DocumentFile => ({
    path: 'docs/long_PROGRESS.md',
    text: `## Status\nIN_PROGRESS\n\n${Array.from({ length: size }, (_, at) => `- [ ] Task ${at}\n`).join('')}`,
    isDiscovered: true,
  })
  const done = (file: DocumentFile): Prd => {
    const prd = planned([file])
    const userStories = prd.userStories.map((one) => ({ ...one, passes: true, lastResult: RESULT }))
    return { ...prd, userStories }
  }
  const [small, large] = [boxes(400), boxes(1_600)]
  const prds = new Map([small, large].map((file) => [file, done(file)]))
  const work = (size: number) => {
    const file = size === 400 ? small : large
    return writeBack([file], prds.get(file) ?? { userStories: [] })
  }
  assert.equal(
    work(1_600).texts.get(large.path),
    large.text.replaceAll('[ ]', '[x]').replace('IN_PROGRESS', 'RALPH_DONE'),
  )
  assertGrowth(work, 400)
  const evil = { ...small, text: '- [ ] Task 1\n'.repeat(50_000) }
  const start = process.cpuUsage()
  assert.equal(writeBack([evil], prds.get(small) ?? { userStories: [] }).texts.size, 0)
  assert.ok(process.cpuUsage(start).user < 20_000_000)
})

test('write-back to Spec Kit: with two features that match equally, neither is marked', () => {
  const one = spec('001-sign-in', 'Sign in')
  const prd = passed(planned([one]), 'Setup', 'Sign in')
  const copy = { ...one, path: 'specs/002-copy/tasks.md' }
  assert.deepEqual(writeBack([one, copy], prd), { texts: new Map(), unmarked: ['SETUP', 'US1'] })
})

test("write-back ticks no loose list beside a plan, even with a story's title", () => {
  const openspec: DocumentFile = {
    path: 'openspec/changes/add-one/tasks.md',
    text: '## 1. A\n\n- [ ] 1.1 One\n',
    isDiscovered: true,
  }
  const files = [openspec, list]
  const prd = passed(planned(files), 'One')
  assert.deepEqual(changed(files, prd), { [openspec.path]: openspec.text.replace('[ ]', '[x]') })
})

test("write-back never goes to the feature's own folder or the archive, even if planned from them", () => {
  const paths = ['.ralph/2026-01-01-x/prd.md', '.ralph/archive/a/prd.json']
  const extra = { plannedFrom: Object.fromEntries(paths.map((path) => [path, 'ab'])) }
  assert.deepEqual(findPlanDocuments(paths, { ...planned([list]), extra }, '.ralph/2026-01-01-x'), [])
})

test('write-back keeps the spelling of a status that people set to done', () => {
  const file = tasks({ tasks: [task(1, 'Sign in')] })
  const prd = passed(planned([file]), 'Sign in')
  const completed = { ...file, text: file.text.replace('pending', 'completed') }
  assert.deepEqual(writeBack([completed], prd), { texts: new Map(), unmarked: [] })
  const failed = { ...file, text: file.text.replace('pending', 'review') }
  assert.equal(writeBack([failed], prd).texts.get(file.path), file.text.replace('pending', 'done'))
})

test('write-back marks a renumbered story, and one next to an entry that was left out', () => {
  const entry = (id: string, title: string) => ({ id, title, acceptanceCriteria: ['x'], passes: false })
  const text = `${JSON.stringify({ userStories: [7, entry('US-1', 'One'), entry('US-1', 'Two')] }, null, 2)}\n`
  const file = { path: 'scripts/ralph/prd.json', text, isDiscovered: true }
  const prd = planned([file])
  assert.deepEqual(
    prd.userStories.map(({ id }) => id),
    ['US-1', 'US-1b'],
  )
  const [[, written] = ['', '']] = [...writeBack([file], passed(prd, 'Two')).texts]
  assert.deepEqual(
    JSON.parse(written).userStories.map((one: { passes?: boolean }) => one.passes),
    [undefined, false, true],
  )
})

test('write-back ticks a task that another list also numbers, each in its own file', () => {
  const listOf = (folder: string, ...titles: string[]): DocumentFile => ({
    path: `${folder}/tasks.md`,
    text: titles.map((title, index) => `### Task ${index + 1}: ${title}\n\n- [ ] do it\n`).join('\n'),
    isNamed: true,
  })
  const shop = listOf('shop', 'Show the price', 'Order a lamp')
  const office = listOf('office', 'Print the bill', 'Send a mail')
  const prd = planned([shop, office])
  assert.deepEqual(
    prd.userStories.map(({ id }) => id),
    ['1', '2', '1b', '2b'],
  )
  assert.deepEqual(changed([shop, office], passed(prd, 'Print the bill')), {
    [office.path]: office.text.replace('[ ]', '[x]'),
  })
})
