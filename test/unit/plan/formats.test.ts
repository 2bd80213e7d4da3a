// The formats of every tool, read to the stories that a person would write. The samples are ours, in their formats.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { type Documents, findDocuments, readDocuments } from '../../../src/plan/documents.ts'
import { formats } from '../../../src/plan/formats.ts'
import { documentsOf, sample } from './samples.ts'

/** The project's documents, as they are found by themselves. */
function project(name: string): Documents & { read: string[] } {
  const folder = new URL(`samples/${name}`, import.meta.url)
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const paths = entries.map((one) => `${one.parentPath}/${one.name}`.slice(folder.pathname.length + 1))
  const read = findDocuments(paths)
  return { ...documentsOf(...read.map((path) => ({ path, text: sample(`${name}/${path}`) }))), read }
}

type Row = [id: string, title: string, passes: boolean, dependsOn: string[], criteria: string[]]

function rows({ prd }: Documents): Row[] {
  return prd.userStories.map(({ id, title, passes, dependsOn, acceptanceCriteria }) => [
    id,
    title,
    passes,
    dependsOn,
    acceptanceCriteria,
  ])
}

const tables: Record<string, Row[]> = {
  'bmad-6': [
    [
      '1.1',
      'Project Setup',
      true,
      [],
      ['**Given** a fresh clone **When** I run the start script **Then** the health page answers 200'],
    ],
    [
      '1.2',
      'Enter a Parcel',
      false,
      [],
      ['The entry page stores name and room', 'Without a name the page says so and keeps the room'],
    ],
    [
      '2.1',
      'Take a Parcel',
      false,
      [],
      ['**Given** a parcel that waits **When** I take it **Then** it leaves the list'],
    ],
  ],
  'bmad-4': [
    [
      '1.1',
      'Show a mushroom',
      true,
      [],
      ['The page shows a photo of the mushroom.', 'The page says whether it can be eaten.'],
    ],
    ['1.2', 'Search by colour', false, [], ['A colour lists its mushrooms.']],
  ],
  'bmad-ralph': [
    ['STORY-001', 'Show the timetable', true, [], ['Show the timetable']],
    [
      'STORY-002',
      'Buy a ticket',
      false,
      ['STORY-001'],
      ['A ticket has a code', 'A sold-out ferry sells none'],
    ],
    ['STORY-003', 'Cancel a ticket', false, ['STORY-002'], ['Cancel a ticket']],
  ],
  snarktank: [
    ['US-001', 'Store labels', true, [], ['A table for labels, with a migration', 'Typecheck passes']],
    [
      'US-002',
      'Filter by label',
      false,
      [],
      ['A click on a label filters the list', 'Typecheck passes', 'Verify in browser'],
    ],
  ],
  'ralph-tui': [
    ['US-001', 'List ovens', false, [], ['The page lists ovens']],
    ['US-002', 'Heat an oven', false, ['US-001'], ['By its number']],
    ['US-003', 'Cool an oven', false, ['US-002'], ['After an hour without bread it cools']],
  ],
  ralphy: [
    ['US-001', 'Add a shelf', true, [], ['Add a shelf']],
    ['US-002', 'Put a book on it', false, [], ['By its number.']],
    ['US-003', 'Take a book', false, [], ['Take a book']],
    ['US-004', 'Lend a book', false, [], ['Lend a book']],
  ],
  frankbria: [
    ['US-001', 'Boil the water', false, [], ['Boil the water']],
    ['US-002', 'Switch off at 100 degrees', false, [], ['Switch off at 100 degrees']],
    ['US-003', 'Beep', false, [], ['Beep']],
    ['US-004', 'A light', false, [], ['A light']],
    ['US-005', 'Project initialization', true, [], ['Project initialization']],
  ],
  'plan-build': [
    ['US-001', 'Read the sensor', true, [], ['Read the sensor']],
    ['US-002', 'Switch off', false, [], ['at 100 degrees', 'after ten minutes']],
  ],
  steps: [
    ['1', 'Make the store', true, [], ['Make the store']],
    ['2', 'Fill the store', false, [], ['From the file']],
    ['3', 'Close the store', false, [], ['Close the store']],
  ],
  orchestrator: [
    ['US-001', 'It rings', false, [], ['It rings']],
    ['US-002', 'It stops', false, [], ['It stops']],
  ],
  issues: [
    ['GH-12', 'Print a receipt', false, ['GH-7'], ['It shows the sum', 'It shows the date']],
    ['GH-7', 'Know the sum', true, [], ['Know the sum']],
  ],
}

describe('documents as a person writes them', () => {
  for (const [name, table] of Object.entries(tables)) {
    test(name, () => {
      const documents = project(name)
      assert.deepEqual(rows(documents), table)
      for (const { passes, lastResult } of documents.prd.userStories)
        assert.equal(lastResult?.imported === true, passes)
      const known = new Set(documents.prd.userStories.map(({ id }) => id))
      for (const { storyId, line } of documents.sources) assert.ok(known.has(storyId) && line >= 1)
      assert.deepEqual(
        [...known].filter((id) => !documents.sources.some(({ storyId }) => storyId === id)),
        [],
      )
    })
  }
})

test('BMAD: what the documents have of a story is joined, the rest goes to context.md', () => {
  const { prd, context, sources, prose, notes } = project('bmad-6')
  assert.equal(prd.project, 'Parcels')
  assert.deepEqual(
    prd.userStories.map(({ epicId }) => epicId),
    ['Epic 1', 'Epic 1', 'Epic 2'],
  )
  const planned = '_bmad-output/planning-artifacts'
  const made = '_bmad-output/implementation-artifacts'
  assert.deepEqual(
    sources.filter(({ storyId }) => storyId === '1.2'),
    [
      { storyId: '1.2', path: `${made}/1-2-enter-a-parcel.md`, line: 1, format: 'story file' },
      { storyId: '1.2', path: `${planned}/epics.md`, line: 37, format: 'headings' },
      { storyId: '1.2', path: `${made}/sprint-status.yaml`, line: 16, format: 'sprint status' },
    ],
  )
  const [, second] = prd.userStories
  assert.match(
    second?.description ?? '',
    /^As a resident,\nI want to enter.*- Table \(AC: 1\): Migration.*`src\/parcels`/s,
  )
  assert.doesNotMatch(second?.description ?? '', /some model|src\/old\.ts|a comment/)
  assert.match(
    context,
    /^## Overview\n.*No parcel waits.*lose parcels.*## Architecture\n.*SQLite.*## Sprint\n\n1 of 3 stories done/s,
  )
  assert.doesNotMatch(context, /Nobody measures|Revision/)
  assert.deepEqual(prose, [])
  assert.match(notes.join('\n'), /sprint-status\.yaml: read as the status of 3 stories, 1 of them done\./)
})

test('BMAD: goal and number of the current sprint, priority words, dependencies', () => {
  const { prd, context } = project('bmad-ralph')
  assert.deepEqual(
    prd.userStories.map(({ epicId, priority }) => [epicId, priority]),
    [
      ['EPIC-001', 2],
      ['EPIC-002', 1],
      ['EPIC-002', 3],
    ],
  )
  assert.match(context, /Sprint 2\. Its goal: Tickets can be bought\. 1 of 3 stories done/)
})

test('configurations of other tools: commands are proposed as gates, the rest is a note, nothing takes effect', () => {
  const told = (name: string, path: string) => project(name).notes.filter((note) => note.startsWith(path))
  const rest = 'Copy those that you want to keep to the workflow or to ralph.config.yml.'
  assert.deepEqual(project('ralphy').gates, { test: 'npm test', lint: 'npm run lint' })
  assert.deepEqual(told('ralphy', '.ralphy'), [
    `.ralphy/config.yaml: its settings, as Ralph calls them: instructions: use the server's own router; protected-paths: src/legacy/**, *.lock. ${rest}`,
    '.ralphy/config.yaml: Ralph proposes its commands as gates: "test", "lint".',
  ])
  assert.deepEqual(told('ralph-tui', '.ralph-tui'), [
    `.ralph-tui/config.toml: its settings, as Ralph calls them: agent: opencode; fallback-agent: claude; model: anthropic/claude-sonnet; max-iterations: 12; max-attempts: 2. ${rest}`,
    '.ralph-tui/config.toml: Ralph does not read these keys: errorHandling: use max-attempts and breaker.',
  ])
  assert.deepEqual(told('frankbria', '.ralphrc'), [
    `.ralphrc: its settings, as Ralph calls them: calls-per-hour: 80; iteration-timeout: 20m; agent-args: --allowedTools Write,Read,Edit,Bash(npm *); breaker.noProgress: 3. ${rest}`,
    '.ralphrc: Ralph does not read these keys: CLAUDE_OUTPUT_FORMAT: Ralph knows the output format of each agent.',
  ])
  assert.deepEqual(told('orchestrator', 'ralph.yml'), [
    `ralph.yml: its settings, as Ralph calls them: agent: claude; max-iterations: 40; max-cost-usd: 12; max-agent-time: 7200s; instructions: Search before you build. ${rest}`,
    'ralph.yml: Ralph does not read these keys: event_loop.prompt_file: use ralph plan --from FILE.',
  ])
  assert.deepEqual(project('steps').gates, { test: 'go test ./...' })
  assert.match(
    told('steps', '.ralph/configs').join('\n'),
    /max-attempts: 6; model: sonnet; iteration-timeout: 15m/,
  )
})

test('progress.txt: the last three entries become learnings', () => {
  const entry = (at: number) =>
    `## Iteration ${at} - US-00${at}: a\n**Status:** PASSED\n**Learning:** learned ${at}\n**Note for next:** ${at === 4 ? '-' : `next ${at}`}\n\n---\n`
  const text = `# Ralph Progress Log\n\n${[1, 2, 3, 4].map(entry).join('\n')}`
  const read = readDocuments([
    { path: 'TODO.md', text: '- [ ] One thing\n' },
    { path: 'ralph/progress.txt', text },
  ])
  assert.ok(read.ok)
  assert.deepEqual(read.documents.prd.run.learnings, [
    'learned 2',
    'next 2',
    'learned 3',
    'next 3',
    'learned 4',
  ])
})

test('learnings, order by priority, and text of an issue beside its criteria are read', () => {
  assert.deepEqual(project('frankbria').prd.run.learnings, ['The sensor is slow'])
  assert.deepEqual(project('steps').prd.run.learnings, [
    'The file has a header line',
    'Stores are closed twice in tests',
  ])
  assert.deepEqual(project('snarktank').prd.run.learnings, [
    'Labels are lower case in the table',
    'Pages are tested with a memory database',
    'Migrations run by themselves',
  ])
  assert.deepEqual(
    project('frankbria').prd.userStories.map(({ priority }) => priority),
    [1, 2, 3, 5, 4],
  )
  const [receipt] = project('issues').prd.userStories
  assert.deepEqual([receipt?.tags, receipt?.description], [['ui', 'high'], 'A customer wants a receipt.'])
})

test("documents are found near the top, the best first, without Ralph's own files and installed packages", () => {
  assert.deepEqual(
    findDocuments([
      'README.md',
      'src/prd.md',
      'docs/architecture.md',
      'docs/prd.md',
      '.ralph/2026-01-31-auth/prd.md',
      '.ralph/2026-01-31-auth/prd.json',
      '.ralph/archive/x/prd.json',
      'node_modules/x/prd.json',
      'test/fixtures/fix_plan.md',
      'prd.json',
      'specs/a/b.md',
      '.github/workflows/ralph.yml',
      '_bmad-output/implementation-artifacts/2-3-egg.superseded.md',
      '_bmad-output/planning-artifacts/prd-validation-report.md',
    ]),
    ['prd.json', 'docs/prd.md', 'docs/architecture.md', 'specs/a/b.md'],
  )
})

test('prose beside stories goes to context.md, and without stories to a planning session', () => {
  const spec = { path: 'specs/sensor.md', text: sample('frankbria/specs/sensor.md') }
  const prompt = { path: 'PROMPT.md', text: sample('frankbria/PROMPT.md') }
  const notes = { path: 'idea.md', text: 'A kettle that sings.' }
  const plan = { path: 'fix_plan.md', text: '- [ ] Sing' }
  assert.deepEqual(
    documentsOf(prompt, spec, notes).prose.map(({ path }) => path),
    ['PROMPT.md', 'specs/sensor.md', 'idea.md'],
  )
  assert.deepEqual(documentsOf(plan, prompt, spec, notes).prose, [notes])
})

test('docs/documents.md has a row for each format, with its own name', () => {
  const page = readFileSync(new URL('../../../docs/documents.md', import.meta.url), 'utf8')
  const named = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name)
  assert.deepEqual(named.toSorted(), formats.map(({ name }) => name).toSorted())
})

test("fields below a story's heading are read, alone or several on a line, and are not in its description", () => {
  const text = [
    '# PRD: Shop',
    '',
    '## US-001: Basket',
    '',
    '**Priority:** 2',
    '**Tags:** `api`, Backend',
    '',
    'People put books in.',
    '',
    '- [ ] a book is in',
    '',
    '## US-002: Pay',
    '',
    '- **Priority**: 1',
    '- **Tags**: #checkout #ui',
    '- **Depends on:** US-001',
    '- [ ] it is paid',
    '',
    '## US-003: Look',
    '',
    '**Priority:** 3 | **Depends on:** US-001, US-002 | **Labels:** none',
    '',
    '**Acceptance Criteria:**',
    '- Verify in browser',
    '',
    '## US-004: See',
    '',
    '- [ ] Verify in browser',
  ].join('\n')
  const { prd, notes } = documentsOf({ path: 'prd.md', text })
  assert.deepEqual(
    prd.userStories.map(({ id, priority, tags, dependsOn, description }) => [
      id,
      priority,
      tags,
      dependsOn,
      description,
    ]),
    [
      ['US-001', 2, ['api', 'Backend'], [], 'People put books in.'],
      ['US-002', 1, ['checkout', 'ui'], ['US-001'], ''],
      ['US-003', 3, [], ['US-001', 'US-002'], ''],
      ['US-004', 4, ['ui'], [], ''],
    ],
  )
  assert.deepEqual(
    notes.filter((note) => note.includes('tag ui')),
    ["US-004: tag ui, from 'Verify in browser'"],
  )
})
