// What documents may have that cannot be: every mistake at once, each with its place, and nothing read by halves.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findDocuments, readDocuments } from '../../../src/plan/documents.ts'
import { hostileStrings } from '../../fixtures/hostile-strings.ts'
import { anyText, runs } from '../runs.ts'
import { documentsOf, mistakesOf, sample } from './samples.ts'

const headed = (...stories: string[]) => stories.map((one) => `### ${one}\n\n- [ ] a`).join('\n\n')

test('of two documents that contradict each other the more specific one wins, and a notice names both', () => {
  const { prd, notes } = documentsOf(
    { path: 'docs/prd.md', text: headed('US-1: Sign in', 'US-2: Sign out') },
    {
      path: 'docs/epics.md',
      text: `# E\n\n${headed('US-1: Log in')}\n\n### US-2: Sign Out\n\n- [ ] b\n- [ ] c`,
    },
  )
  assert.deepEqual(
    prd.userStories.map(({ title, acceptanceCriteria }) => [title, acceptanceCriteria]),
    [
      ['Sign in', ['a']],
      ['Sign Out', ['b', 'c']],
    ],
  )
  const fix = 'To change this: write the same in both documents, or name only one of them with --from.'
  assert.deepEqual(
    notes.filter((note) => note.endsWith(fix)),
    [
      `docs/epics.md: line 3 (title): US-1 is "Log in" here but "Sign in" in docs/prd.md: line 1. Ralph uses the title in docs/prd.md: line 1. ${fix}`,
      `docs/prd.md: line 5 (acceptanceCriteria): US-2 has different criteria here than in docs/epics.md: line 7, for example "a". Ralph uses those in docs/epics.md: line 7. ${fix}`,
    ],
  )
})

test('titles that differ by a sign are one title', () => {
  const { prd, notes } = documentsOf(
    { path: 'docs/prd.md', text: headed('US-1: Sign in + out') },
    { path: 'docs/epics.md', text: headed('US-1: Sign in and out') },
  )
  assert.equal(prd.userStories.length, 1)
  assert.equal(notes.filter((note) => note.includes('To change this')).length, 0)
})

test('two documents that disagree about a status are a note with the status that was used', () => {
  const list = (box: string) => ({ path: 'docs/TODO.md', text: `- [${box}] US-1: Sign in` })
  const made = (passes: boolean) => ({
    path: 'prd.json',
    text: JSON.stringify({
      userStories: [{ id: 'US-1', title: 'Sign in', acceptanceCriteria: ['b'], passes }],
    }),
  })
  const told = (...files: Parameters<typeof documentsOf>) =>
    documentsOf(...files).notes.filter((note) => note.includes('reads it as'))
  assert.deepEqual(told(list('x'), made(false)).slice(-1), [
    'US-1 is open in prd.json (userStories[0]) but done in docs/TODO.md (line 1). Ralph reads it as open.',
  ])
  assert.deepEqual(told(list(' '), made(true)).slice(-1), [
    'US-1 is done in prd.json (userStories[0]) but open in docs/TODO.md (line 1). Ralph reads it as done.',
  ])
  assert.equal(
    told(list('x'), made(true)).some((note) => /is (?:done|open) in /.test(note)),
    false,
  )
  const plan = { path: 'docs/prd.md', text: headed('US-1: Sign in') }
  assert.equal(
    told(plan, made(true)).some((note) => /is (?:done|open) in /.test(note)),
    false,
  )
})

test('a story is done only when both of two trackers say so, in either order, with a note that names both', () => {
  const tracker = (folder: string, standing: string) => ({
    path: `${folder}/sprint-status.yaml`,
    text: `development_status:\n  epic-1: in-progress\n  1-1-open-the-door: ${standing}\n`,
  })
  const [here, there] = ['_bmad-output/implementation-artifacts', 'docs/sprint-artifacts'] as const
  for (const [one, other] of [
    ['done', 'ready-for-dev'],
    ['ready-for-dev', 'done'],
  ] as const) {
    const { prd, notes } = documentsOf(tracker(here, one), tracker(there, other))
    assert.deepEqual(
      prd.userStories.map(({ passes }) => passes),
      [false],
    )
    const [open, done] = one === 'done' ? [there, here] : [here, there]
    assert.ok(
      notes.includes(
        `1.1 is open in ${open}/sprint-status.yaml (line 3) but done in ${done}/sprint-status.yaml (line 3). Ralph reads it as open, because both are trackers and only one says done.`,
      ),
      notes.join('\n'),
    )
  }
})

test("a story file's title takes precedence, and another title in the epics is a note", () => {
  const epics = { path: 'docs/epics.md', text: headed('Story 1.1: Sign in', 'Story 1.2: Sign out') }
  const file = (title: string) => ({
    path: 'docs/stories/1.2.md',
    text: `# Story 1.2: ${title}\n\n## Acceptance Criteria\n\n1. other`,
  })
  assert.deepEqual(documentsOf(epics, file('Sign out everywhere')).prd.userStories[1]?.acceptanceCriteria, [
    'other',
  ])
  const { prd, notes } = documentsOf(epics, file('Print a bill'))
  assert.equal(prd.userStories[1]?.title, 'Print a bill')
  const expected =
    'these titles differ from those in the documents of the stories: docs/epics.md: line 5 calls 1.2 "Sign out".'
  assert.ok(notes.includes(expected), notes.join('\n'))
})

test("prd.json takes precedence over its plan's criteria, and its page is background", () => {
  const plan = { path: 'tasks/prd-a.md', text: headed('US-1: Sign in') }
  const made = (title: string) => ({
    path: 'prd.json',
    text: JSON.stringify({ userStories: [{ id: 'US-1', title, acceptanceCriteria: ['b'] }] }),
  })
  assert.deepEqual(documentsOf(plan, made('Sign in')).prd.userStories[0]?.acceptanceCriteria, ['b'])
  const { prd, notes, taken } = documentsOf(plan, made('Print a bill'))
  assert.deepEqual(
    prd.userStories.map(({ title }) => title),
    ['Print a bill'],
  )
  assert.equal(taken.find(({ path }) => path === plan.path)?.as, 'background')
  assert.ok(notes.some((note) => note.startsWith('tasks/prd-a.md: ') && note.includes('Sign in')))
})

test('a cycle costs the edge that closes it, an unknown dependency itself, a repeated id a new one: each with a notice', () => {
  const { prd, notes } = documentsOf(
    { path: 'a.md', text: '## US-1: a\nDepends on: US-2\n\n## US-3\n\n- [ ] x\n\n## US-4: d\n\n## US-4: e' },
    { path: 'b.md', text: '## US-2: b\nDepends on: US-1, US-9' },
  )
  assert.deepEqual(
    prd.userStories.map(({ id, title, dependsOn }) => [id, title, dependsOn]),
    [
      ['US-1', 'a', ['US-2']],
      ['US-3', 'x', []],
      ['US-4', 'd', []],
      ['US-4b', 'e', []],
      ['US-2', 'b', []],
    ],
  )
  for (const start of [
    'a.md: line 4 (title): found "", ',
    'a.md: line 10 (id): the id "US-4" is already used in a.md: line 8, so this story is now US-4b. ',
    'b.md: line 1 (dependsOn): "US-9" is not a story of this plan, so Ralph drops this dependency. To change this: ',
    'b.md: line 1 (dependsOn): "US-1" waits for this story itself (US-1 -> US-2 -> US-1), so Ralph drops this dependency.',
  ])
    assert.equal(notes.filter((note) => note.startsWith(start)).length, 1, `${start}\n${notes.join('\n')}`)
})

test('a story without criteria gets its text instead with a note, also in prd.json', () => {
  const { prd, notes } = documentsOf({
    path: 'docs/prd.md',
    text: '# P\n\n## US-1: Sign in\n\nAs a customer.',
  })
  assert.deepEqual(prd.userStories[0]?.acceptanceCriteria, ['As a customer.'])
  assert.match(notes.join('\n'), /1 story had no acceptance criteria: .* \(docs\/prd\.md: line 3\)/)
  const text = JSON.stringify({ project: 'p', userStories: [{ id: 'US-1', title: 'a' }] })
  const made = documentsOf({ path: 'prd.json', text })
  assert.deepEqual(made.prd.userStories[0]?.acceptanceCriteria, ['a'])
  assert.match(
    made.notes.join('\n'),
    /1 story had no acceptance criteria: .* \(prd\.json: userStories\[0\]\)/,
  )
})

test('one odd entry of twenty costs itself, and one unreadable file of twenty its own stories', () => {
  const stories = Array.from({ length: 20 }, (_, index) => ({
    id: `US-${index + 1}`,
    title: `Story ${index + 1}`,
    acceptanceCriteria: ['a'],
  }))
  const odd = [
    null,
    7,
    { title: ' ' },
    { id: 'a b', title: 'Spaces', acceptanceCriteria: [{ text: 'seen' }, 3] },
  ]
  const made = documentsOf({ path: 'prd.json', text: JSON.stringify({ userStories: [...stories, ...odd] }) })
  assert.equal(made.prd.userStories.length, 21)
  assert.deepEqual(
    made.prd.userStories.slice(-1).map(({ id, acceptanceCriteria }) => [id, acceptanceCriteria]),
    [['a-b', ['seen', '3']]],
  )
  assert.equal(
    made.notes.filter((note) =>
      /userStories\[2[0-2]\].*Ralph leaves this (?:story )?out\. To change this: /.test(note),
    ).length,
    3,
  )
  const files = stories.map(({ id, title }) => ({
    path: `docs/prd/${id}.md`,
    text: headed(`${id}: ${title}`),
  }))
  const broken = [
    { path: 'docs/prd/deep.md', text: `# a\n\n${'>'.repeat(30_000)}a` },
    { path: 'docs/sprint-status.yaml', text: 'a: [' },
  ]
  const read = documentsOf(...files, ...broken)
  assert.equal(read.prd.userStories.length, 20)
  for (const { path } of broken)
    assert.ok(
      read.notes.some(
        (note) =>
          note.startsWith(`${path}: line `) && note.includes('. Ralph leaves this out. To change this: '),
      ),
      path,
    )
})

test('2,000 stories in one file are read, and one more is refused', () => {
  const text = Array.from(
    { length: 2_000 },
    (_, index) => `### US-${index}: Story ${index}\n\nWords.\n\n- [ ] a\n- [ ] b\n`,
  ).join('\n')
  const { prd, sources } = documentsOf({ path: 'prd.md', text })
  assert.equal(prd.userStories.length, 2_000)
  assert.equal(sources.at(-1)?.line, 1 + 1_999 * 7)
  const json = JSON.stringify({ userStories: prd.userStories }, null, 2)
  assert.equal(documentsOf({ path: 'prd.json', text: json }).prd.userStories.length, 2_000)
  const more = JSON.stringify({ userStories: [...prd.userStories, { ...prd.userStories[0], id: 'US-x' }] })
  assert.deepEqual(mistakesOf({ path: 'prd.json', text: more })[0], {
    path: 'prd.json',
    found: '2001 stories in total',
    expected: 'at most 2000 in one feature',
    fix: 'plan only a part of them, such as one epic or one file',
  })
})

test('a document of 5 MB, and one with endless nesting, are refused before parsing', () => {
  const [large] = mistakesOf(
    { path: 'a.md', text: 'x' },
    { path: 'docs/b.md', text: 'a\n'.repeat(2_500_000) },
  )
  assert.deepEqual(large, {
    path: 'docs/b.md',
    found: '5.0 MB of documents',
    expected: 'less than 5 MB in total',
    fix: 'name the files that hold the stories: ralph plan --from FILE',
  })
  const [leaning] = mistakesOf({ path: 'a.md', text: `- [ ] a\n${'b\n'.repeat(301)}` })
  assert.equal(
    leaning?.found,
    'Ralph does not read a list item with more than 300 unindented lines below it.',
  )
  const [long] = mistakesOf({ path: 'a.md', text: 'word '.repeat(210_000) })
  assert.deepEqual([long?.found, long?.expected], ['1.1 MB', 'at most 1 MB of Markdown in a file'])
  for (const text of [
    `${'- '.repeat(30_000)}a`,
    `${'>'.repeat(30_000)}a`,
    `${' '.repeat(400)}- a\n`.repeat(9),
    `${'1. '.repeat(99)}a`,
  ])
    assert.deepEqual(
      mistakesOf({ path: 'a.md', text: `# a\n\n${text}` }).map(({ path, found }) => [path, found]),
      [['a.md: line 3', 'Ralph does not read lists or quotations that are nested more than 50 deep.']],
    )
})

test('documents without a story are refused', () => {
  assert.deepEqual(mistakesOf()[0]?.found, 'there is no document to plan from.')
  assert.deepEqual(findDocuments([]), [])
  const { prd, prose } = documentsOf({ path: 'prd.md', text: ' \n' })
  assert.deepEqual([prd.userStories, prose], [[], []])
})

test('broken YAML, TOML and JSON are refused with their lines, all at once', () => {
  const mistakes = mistakesOf(
    { path: 'tasks.yaml', text: 'tasks:\n  - title: "a\n' },
    { path: 'docs/sprint-status.yaml', text: 'a: 1\ndevelopment_status: [' },
    { path: '.ralph-tui/config.toml', text: 'agent = "a"\nmax = = 2' },
    { path: 'prd.json', text: '{"userStories": [,]}' },
  )
  assert.deepEqual(
    mistakes.map(({ path }) => path.replace(/ column.*/, '')),
    [
      'tasks.yaml: line 3',
      'docs/sprint-status.yaml: line 2',
      '.ralph-tui/config.toml: line 2',
      'prd.json: line 1',
    ],
  )
})

test('hostile text becomes text of a story, and no mistake shows its hidden characters', () => {
  for (const { text } of hostileStrings) {
    const result = readDocuments([
      { path: 'fix_plan.md', text: `- [ ] ${text}` },
      { path: 'tasks.yaml', text: `tasks:\n  - title: ${JSON.stringify(text)}\n` },
      { path: 'docs/brief.md', text: `# Brief\n\n<!-- hidden -->\n\n${text}` },
    ])
    if (!result.ok) {
      for (const mistake of result.mistakes)
        assert.doesNotMatch(Object.values(mistake).join(''), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
      continue
    }
    const { prd, context } = result.documents
    for (const { passes, lastResult } of prd.userStories) assert.equal(passes, lastResult?.imported === true)
    assert.doesNotMatch(context, /<!-- hidden/)
  }
})

const paths = fc.constantFrom(
  ...[
    'prd.md',
    'prd.json',
    'docs/prd.md',
    'docs/epics.md',
    'docs/stories/1.2.md',
    'docs/sprint-status.yaml',
    'fix_plan.md',
  ],
  ...[
    'x_PROGRESS.md',
    'tasks.yaml',
    'issues.json',
    'issue.txt',
    '.ralphrc',
    'ralph.yml',
    '.ralphy/config.yaml',
  ],
  ...[
    '.ralph-tui/config.toml',
    '.ralph/configs/default.json',
    'learnings.md',
    'progress.txt',
    'docs/architecture.md',
    'x',
  ],
)
const line = fc.constantFrom(
  ...[
    '# Story 1.2: a',
    '## US-1: x',
    '### Story 1.2',
    '## Epic 1',
    '#### Acceptance Criteria',
    '**Acceptance Criteria:** a',
  ],
  ...[
    '- [ ] a',
    '  - [x] b',
    '\t- c',
    '- d',
    '1. e',
    'Priority: high',
    'Depends on: US-1, 1.2',
    'Status: done',
    '## Status',
  ],
  ...[
    '```',
    '<!--',
    '-->',
    '',
    '---',
    '> q',
    'development_status:',
    '  1-2-a: done',
    'tasks:',
    '  - title: a',
    '{',
    '}',
    '[',
    ']',
  ],
  ...[
    '"number": 1,',
    'A="b"',
    'steps = [',
    '&a',
    '*a',
    '\u0000',
    '\ufeff',
    '<!-- ralph: prd.json as a page -->',
    'title:\tx',
    '--',
  ],
)
const hostileText = fc.array(fc.oneof(line, anyText()), { maxLength: 20 }).map((lines) => lines.join('\n'))

test('any document is read or refused, and reads the same twice', () => {
  const files = fc.array(fc.record({ path: paths, text: hostileText }), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(files, (some) => {
      const result = readDocuments(some)
      assert.deepEqual(readDocuments(some), result)
      if (!result.ok) {
        assert.ok(result.mistakes.length > 0)
        for (const { path, found, fix } of result.mistakes)
          for (const said of [path, found, fix]) assert.ok(said.length > 0)
        return
      }
      const { prd, sources, notes } = result.documents
      const ids = prd.userStories.map(({ id }) => id)
      assert.equal(new Set(ids).size, ids.length)
      for (const story of prd.userStories) {
        assert.ok(story.acceptanceCriteria.length > 0)
        assert.equal(story.passes, story.lastResult?.imported === true)
        assert.ok(sources.some(({ storyId }) => storyId === story.id))
      }
      assert.ok(notes.every((note) => note !== ''))
    }),
    runs(100),
  )
})

test('a file named by two paths is read once', () => {
  const text = sample('fix_plan.md')
  const once = documentsOf({ path: 'a.md', text }).prd
  const twice = documentsOf({ path: 'a.md', text }, { path: 'b.md', text }).prd
  assert.deepEqual(twice, once)
})

test('a story without an id is the one of that title in another document; two of one title stay two', () => {
  const plan = { path: 'fix_plan.md', text: '- [ ] Sign in\n- [ ] Test it\n- [ ] Test it' }
  const again = { path: 'TODO.md', text: '- [ ] Test it\n- [x] Test it' }
  const { prd, sources } = documentsOf({ path: 'prd.md', text: headed('US-9: Sign in') }, plan, again)
  assert.deepEqual(
    prd.userStories.map(({ id, title, passes }) => [id, title, passes]),
    [
      ['US-9', 'Sign in', false],
      ['US-002', 'Test it', false],
      ['US-003', 'Test it', false],
    ],
  )
  assert.equal(sources.filter(({ storyId }) => storyId === 'US-9').length, 2)
})

test('an issue whose body takes a parser minutes is read as text', () => {
  const body = `- [ ] a\n${'b\n'.repeat(9_000)}`
  const text = JSON.stringify([{ number: 1, title: 'a', body, state: 'OPEN' }])
  const [issue] = documentsOf({ path: 'issues.json', text }).prd.userStories
  assert.match(issue?.description ?? '', /^- \[ \] a\nb\n/)
})

test('invalid front matter of a page that does not need it is a note with its line', () => {
  const page = (front: string) => `---\n${front}\n---\n# PRD\n\n- [ ] Ride a bike\n`
  const { prd, notes } = documentsOf({ path: 'PRD.md', text: page('title: a: b') })
  assert.deepEqual(
    prd.userStories.map(({ title }) => title),
    ['Ride a bike'],
  )
  const of = (all: readonly string[]) => all.filter((note) => note.includes('front matter'))
  assert.equal(of(notes).length, 1)
  assert.match(
    of(notes)[0] ?? '',
    /^PRD\.md: Ralph ignores its front matter, which is not valid YAML \(line 2\): ".+"$/,
  )
  for (const text of [page('title: a'), '# PRD\n\n- [ ] Ride a bike\n'])
    assert.deepEqual(of(documentsOf({ path: 'PRD.md', text }).notes), [])
})
