// Plans of the tools that people plan with today, as those tools write them: stories, order, dependencies, criteria, done.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findDocuments, readDocuments } from '../../../src/plan/documents.ts'
import { documentsOf, mistakesOf } from './samples.ts'

type Row = [id: string, title: string, passes: boolean, dependsOn: string[], criteria: string[]]

function files(texts: Record<string, string>) {
  return Object.entries(texts).map(([path, text]) => ({ path, text }))
}

function rows(texts: Record<string, string>): Row[] {
  return documentsOf(...files(texts)).prd.userStories.map((story) => [
    story.id,
    story.title,
    story.passes,
    story.dependsOn,
    story.acceptanceCriteria,
  ])
}

describe('Spec Kit', () => {
  const folder = 'specs/004-lend-tools'
  const spec = `# Feature Specification: Lend tools

**Status**: Draft

## User Scenarios & Testing

### User Story 2 - Return a tool (Priority: P2)

A member brings it back.

**Why this priority**: Without it nothing comes back.

**Acceptance Scenarios**:

1. **Given** a lent tool, **When** it is returned, **Then** it is free

### User Story 1 - Lend a tool (Priority: P1) \u{1f3af} MVP

A member takes a tool home.

**Independent Test**: lend one and look at the list

**Acceptance Scenarios**:

1. **Given** a free tool, **When** a member lends it, **Then** it is theirs

## Requirements

- **FR-001**: System MUST keep a list

## Success Criteria

- [ ] **SC-001**: 90% find a tool in a minute
`
  const tasks = `# Tasks: Lend tools

## Format: \`[ID] [P?] [Story] Description\`

## Phase 1: Setup (Shared Infrastructure)

**Purpose**: a project to begin with

- [X] T001 Create the project
- [X] T002 [P] Configure the linter

## Phase 2: Foundational (Blocking Prerequisites)

- [ ] T003 Migrations in src/db.ts

**Checkpoint**: Foundation ready

## Phase 3: User Story 1 - Lend a tool (Priority: P1)

- [ ] T004 [P] [US1] Test in test/lend.test.ts
- [x] T005 [US1] Service in src/lend.ts (depends on T004)

## Phase 4: User Story 2 - Return a tool (Priority: P2)

- [ ] T006 [US2] Service in src/return.ts (depends on T005)

## Phase 5: Polish & Cross-Cutting Concerns

- [ ] T007 Documentation
`
  test('a story per user story, setup and foundational first, polish last, without checklists', () => {
    const all = {
      [`${folder}/tasks.md`]: tasks,
      [`${folder}/spec.md`]: spec,
      [`${folder}/checklists/requirements.md`]: '# Checklist\n\n- [ ] CHK001 Are all terms defined?',
    }
    assert.deepEqual(rows(all), [
      [
        'SETUP',
        'Setup (Shared Infrastructure)',
        true,
        [],
        ['T001 Create the project', 'T002 Configure the linter'],
      ],
      [
        'FOUNDATIONAL',
        'Foundational (Blocking Prerequisites)',
        false,
        ['SETUP'],
        ['T003 Migrations in src/db.ts'],
      ],
      [
        'US1',
        'Lend a tool',
        false,
        ['FOUNDATIONAL'],
        [
          '**Given** a free tool, **When** a member lends it, **Then** it is theirs',
          'Independent test: lend one and look at the list',
        ],
      ],
      [
        'US2',
        'Return a tool',
        false,
        ['US1', 'FOUNDATIONAL'],
        ['**Given** a lent tool, **When** it is returned, **Then** it is free'],
      ],
      ['POLISH', 'Polish & Cross-Cutting Concerns', false, ['US1', 'US2'], ['T007 Documentation']],
    ])
    const { prd, taken } = documentsOf(...files(all))
    assert.match(prd.userStories[2]?.description ?? '', /takes a tool home.*- \[x\] T005 \[US1\] Service/s)
    assert.deepEqual(
      taken.map(({ as, boxes }) => [as, boxes]),
      [
        ['stories', 0],
        ['background', 1],
        ['left out', 1],
      ],
    )
  })

  test('is found with its spec, and without its checklists', () => {
    const paths = ['spec.md', 'tasks.md', 'plan.md', 'checklists/ux.md'].map((name) => `${folder}/${name}`)
    assert.deepEqual(findDocuments(paths).filter((path) => !path.includes('checklists')).length, 3)
    const all = { [`${folder}/checklists/ux.md`]: '- [ ] CHK001 a' }
    assert.deepEqual(documentsOf(...files(all)).prd.userStories, [])
  })

  test('without user stories each task is a story with its dependencies', () => {
    const text = '# Tasks\n\n## Phase 1: Core\n\n- [ ] T001 Parse\n- [ ] T002 [P] Print (depends on T001)\n'
    assert.deepEqual(rows({ [`${folder}/tasks.md`]: text }), [
      ['T001', 'Parse', false, [], ['Parse']],
      ['T002', 'Print', false, ['T001'], ['Print']],
    ])
  })

  test('with two features the branch decides, else the one with open work, else both are named', () => {
    const other = 'specs/005-pay-fees'
    const two = files({
      [`${folder}/tasks.md`]: tasks,
      [`${other}/tasks.md`]: tasks.replace('Lend tools', 'Pay fees'),
    })
    const [mistake] = mistakesOf(...two)
    assert.equal(
      mistake?.found,
      'there are 2 features, newest first: specs/005-pay-fees (4 open), specs/004-lend…',
    )
    assert.equal(mistake?.fix, `choose one of them: ralph plan --from ${other}, or --from ${folder}`)
    const read = readDocuments(two, { branch: 'feature/005-pay-fees' })
    assert.ok(read.ok)
    assert.equal(read.documents.prd.project, 'Pay fees')
    const done = files({
      [`${folder}/tasks.md`]: tasks.replaceAll('[ ]', '[x]'),
      [`${other}/tasks.md`]: tasks,
    })
    const one = documentsOf(...done)
    assert.equal(one.prd.userStories.length, 5)
    assert.match(one.notes.join('\n'), /because all stories of the others are done/)
  })

  test('an unfilled template of the tool is refused with its path', () => {
    const text =
      '# Tasks: [FEATURE NAME]\n\n## Phase 3: User Story 1 - [Title] (Priority: P1)\n\n- [ ] T012 [US1] Create [Entity1] model'
    const [mistake] = mistakesOf(...files({ [`${folder}/tasks.md`]: text }))
    assert.match(mistake?.found ?? '', /a template that is not filled in/)
  })
})

describe('Kiro and cc-sdd', () => {
  const requirements = `# Requirements

### Requirement 1: Lend

**User Story:** As a member, I want a tool.

#### Acceptance Criteria

1. WHEN a member lends a tool THE SYSTEM SHALL mark it
2. IF it is lent THEN THE SYSTEM SHALL refuse
   with the date

### Requirement 2: Return

#### Acceptance Criteria

1. WHEN a tool is returned THE SYSTEM SHALL free it
`
  const sentences = [
    'WHEN a member lends a tool THE SYSTEM SHALL mark it',
    'IF it is lent THEN THE SYSTEM SHALL refuse with the date',
    'WHEN a tool is returned THE SYSTEM SHALL free it',
  ]
  const nested = `# Implementation Plan

- [ ] 1. Set up the project
  - Create the folder
  - _Requirements: 1.1_
- [ ] 2. Lending
  - [x] 2.1 Service
    - Keep the date
    - _Requirements: 1.1, 1.2_
  - [ ]* 2.2 Write property tests
    - **Validates: Requirements 1.2**
  - [-] 2.3 Return
    - _Requirements: 2_
`
  const expected: Row[] = [
    ['1', 'Set up the project', false, [], [sentences[0] ?? '']],
    ['2.1', 'Service', true, [], sentences.slice(0, 2)],
    ['2.3', 'Return', false, [], sentences.slice(2)],
  ]
  const at = '.kiro/specs/lending'

  test('nested: criteria are the referenced sentences; optional tasks are left out with a note', () => {
    const all = {
      [`${at}/tasks.md`]: nested,
      [`${at}/requirements.md`]: requirements,
      [`${at}/design.md`]: '# Design',
    }
    assert.deepEqual(rows(all), expected)
    assert.match(documentsOf(...files(all)).notes.join('\n'), /left out: 1 optional task \(2\.2\)/)
  })

  test('flat: a group followed by its numbered tasks is no story', () => {
    const flat = nested.replace(/^ {2}- \[/gm, '- [').replace(/^ {4}- /gm, '  - ')
    assert.deepEqual(rows({ [`${at}/tasks.md`]: flat, [`${at}/requirements.md`]: requirements }), expected)
  })

  test('in another language, and dependencies of a cc-sdd task', () => {
    const tasks =
      '# \u5b9f\u88c5\u8a08\u753b\n\n- [ ] 1. \u57fa\u76e4\n- [ ] 1.1 (P) \u8cb8\u51fa\n  - \u65e5\u4ed8\n  - _Requirements: 1.2_\n  - _Boundary: Service_\n- [ ] 1.2 \u8fd4\u5374\n  - _Requirements: 2.1_\n  - _Depends: 1.1_\n'
    const told = requirements
      .replaceAll('### Requirement', '### \u8981\u4ef6')
      .replaceAll('#### Acceptance Criteria', '#### \u53d7\u5165\u57fa\u6e96')
    assert.deepEqual(rows({ [`${at}/tasks.md`]: tasks, [`${at}/requirements.md`]: told }), [
      ['1.1', '\u8cb8\u51fa', false, [], sentences.slice(1, 2)],
      ['1.2', '\u8fd4\u5374', false, ['1.1'], sentences.slice(2)],
    ])
  })
})

test('OpenSpec: a box of the change is a story, its scenarios are context, the archive is not planned', () => {
  const at = 'openspec/changes/add-fees'
  const all = {
    [`${at}/tasks.md`]:
      '## 1. Ledger\n\n- [x] 1.1 Table\n- [ ] 1.2 Sum\n  - [ ] 1.2.1 round it\n\n## 2. Page\n\n- [ ] Show it\n',
    [`${at}/proposal.md`]: '# Change\n\n## Why\n\nFees are lost.\n\n## Impact\n\n- [ ] legal agrees',
    [`${at}/specs/fees/spec.md`]:
      '## ADDED Requirements\n\n### Requirement: Sum\n\n#### Scenario: two\n\n- **WHEN** two fees\n- **THEN** their sum',
    'openspec/changes/archive/2026-01-02-old/tasks.md': '- [ ] 1.1 Old',
  }
  assert.deepEqual(rows(all), [
    ['add-fees-1.1', 'Table', true, [], ['Table']],
    ['add-fees-1.2', 'Sum', false, [], ['1.2.1 round it']],
    ['add-fees-n3', 'Show it', false, [], ['Show it']],
  ])
  const { context, taken } = documentsOf(...files(all))
  assert.match(context, /Fees are lost.*Requirement: Sum.*WHEN\*\* two fees/s)
  assert.deepEqual([taken[3]?.as, taken[3]?.what], ['left out', 'archived'])
})

describe('BMAD 6.11', () => {
  const made = '_bmad-output/implementation-artifacts'
  const spec = (status: string) =>
    `---\ntitle: 'Print a label'\ntype: feature # one of four\nstatus: '${status}'\n---\n\n## Intent\n\n**Problem:** No label.\n\n## Tasks & Acceptance\n\n**Execution:**\n- [ ] \`src/label.ts\` -- print -- it is missing\n\n**Acceptance Criteria:**\n- Given a parcel, when printed, then a label\n\n## Verification\n\n**Commands:**\n- [ ] \`npm test\` -- green\n`
  test('a spec file is one story', () => {
    assert.deepEqual(rows({ [`${made}/spec-print-label.md`]: spec('in-review') }), [
      ['spec-print-label', 'Print a label', false, [], ['Given a parcel, when printed, then a label']],
    ])
  })

  test("is the tracker's story with its numbers; epics of other names and action items are none", () => {
    const tracker =
      'development_status:\n  epic-2: in-progress\n  2-6a-print: review\n  se1-1-scan: backlog\n  supp-epic-1: backlog\n  epic-2-retrospective: optional\naction_items:\n  - action: Talk\n    status: open\n'
    const all = { [`${made}/sprint-status.yaml`]: tracker, [`${made}/spec-2-6a-print.md`]: spec('done') }
    assert.deepEqual(
      rows(all).map(([id, title, passes]) => [id, title, passes]),
      [
        ['2.6a', 'Print a label', false],
        ['se1-1', 'Scan', false],
      ],
    )
  })

  test('stories.yaml gives the order, and the files beside it their status', () => {
    const at = '_bmad-output/planning-artifacts/labels'
    const list =
      '- id: "2"\n  title: Print\n  description: On paper\n- id: "1"\n  title: Scan\n  description: By light\n'
    const all = {
      [`${at}/stories.yaml`]: list,
      [`${at}/stories/1-scan.md`]: spec('done').replace('Print a label', 'Scan'),
    }
    assert.deepEqual(
      rows(all).map(([id, title, passes]) => [id, title, passes]),
      [
        ['2', 'Print', false],
        ['1', 'Scan', true],
      ],
    )
  })

  test('a tech-spec is one story, with its AC boxes as criteria', () => {
    const text =
      '---\ntitle: Undo\nslug: undo\nstatus: ready-for-dev\n---\n\n# Tech-Spec: Undo\n\n## Implementation Plan\n\n### Tasks\n\n- [ ] Task 1: stack\n  - File: src/undo.ts\n\n### Acceptance Criteria\n\n- [ ] AC 1: Given a move, when undone, then back\n'
    assert.deepEqual(rows({ [`${made}/tech-spec-undo.md`]: text }), [
      ['tech-spec-undo', 'Undo', false, [], ['Given a move, when undone, then back']],
    ])
  })

  test('invalid front matter is a mistake with its place', () => {
    const [mistake] = mistakesOf(
      ...files({ [`${made}/spec-a.md`]: spec('done').replace("title: 'Print a label'", "title: 'a: b") }),
    )
    assert.match(mistake?.path ?? '', /spec-a\.md: line \d/)
  })
})

describe('Task Master', () => {
  const task = (id: number, more: object) => ({
    id,
    title: `Task ${id}`,
    description: 'd',
    details: 'how',
    testStrategy: 'run it',
    dependencies: [],
    status: 'pending',
    ...more,
  })
  const tags = {
    master: {
      tasks: [
        task(1, { status: 'done' }),
        task(2, {
          dependencies: [1, '3.1'],
          subtasks: [{ id: 1, title: 'Part', status: 'pending', dependencies: [] }],
        }),
        task(3, { status: 'cancelled' }),
        task(4, { status: 'review', priority: 'high' }),
      ],
    },
  }
  const at = '.taskmaster/tasks/tasks.json'
  test('one tag: done is passed, cancelled is left out', () => {
    const all = { [at]: JSON.stringify(tags, null, 2) }
    assert.deepEqual(rows(all), [
      ['1', 'Task 1', true, [], ['run it']],
      ['2', 'Task 2', false, ['1'], ['run it', 'Part']],
      ['4', 'Task 4', false, [], ['run it']],
    ])
    assert.match(documentsOf(...files(all)).notes.join('\n'), /deferred or cancelled: 3 Task 3/)
    assert.deepEqual(
      documentsOf(...files({ [at]: JSON.stringify({ tasks: tags.master.tasks }) })).prd.userStories.length,
      3,
    )
  })

  test('tasks with only a title are read in its own folder; elsewhere a task needs its fields', () => {
    const bare = (name: string, id: number) => [
      name,
      { tasks: [{ id, title: `Task ${id}`, status: 'pending' }], metadata: { description: 'd' } },
    ]
    const names = ['master', 'auth', 'pay', 'mail', 'docs']
    const text = JSON.stringify(Object.fromEntries(names.map(bare)))
    const [mistake] = mistakesOf({ path: at, text })
    assert.match(mistake?.found ?? '', /^there are 5 tags with tasks: master \(1\), auth \(1\)/)
    assert.equal(mistake?.fix, `choose a tag: ralph plan --from ${at}#master, or #auth, #pay, #mail, #docs`)
    const evil = JSON.stringify({
      'a\n\u202eb': { tasks: [{ id: 1, title: 'x' }] },
      c: { tasks: [{ id: 1, title: 'x' }] },
    })
    assert.match(mistakesOf({ path: at, text: evil })[0]?.fix ?? '', /#a b, or #c$/)
    assert.deepEqual(rows({ [at]: JSON.stringify(Object.fromEntries([bare('master', 1)])) }), [
      ['1', 'Task 1', false, [], ['Task 1']],
    ])
    const settings = { path: '.taskmaster/config.json', text: '{"models": {"tasks": [{"id": 1}]}}' }
    const elsewhere = mistakesOf({ path: 'tools/tasks.json', text, isNamed: true })
    assert.deepEqual(
      elsewhere.map(({ path }) => path),
      ['tools/tasks.json: userStories'],
    )
    const { prd, taken } = documentsOf({ path: at, text, part: 'mail' }, settings)
    assert.equal(prd.userStories[0]?.id, '3')
    assert.equal(taken.find(({ path }) => path === settings.path)?.what, 'settings of Task Master')
  })

  test('several tags: the named one, the current one, else a mistake that lists them', () => {
    const names = ['master', 'auth', 'pay', 'mail', 'docs']
    const text = JSON.stringify(
      Object.fromEntries(names.map((name, index) => [name, { tasks: [task(index + 1, {})] }])),
    )
    assert.match(
      mistakesOf({ path: at, text })[0]?.found ?? '',
      /^there are 5 tags with tasks: master \(1\), auth \(1\)/,
    )
    assert.equal(documentsOf({ path: at, text, part: 'pay' }).prd.userStories[0]?.id, '3')
    const state = { path: '.taskmaster/state.json', text: '{"currentTag": "auth"}' }
    assert.equal(documentsOf({ path: at, text }, state).prd.userStories[0]?.id, '2')
  })
})

test('a feature list is read bare and wrapped', () => {
  const bare = [
    { category: 'functional', description: 'New chat', steps: ['Click', 'See'], passes: true },
    { category: 'style', description: 'Dark page', steps: ['Look'], passes: false },
  ]
  assert.deepEqual(rows({ 'feature_list.json': JSON.stringify(bare, null, 1) }), [
    ['US-001', 'New chat', true, [], ['Click', 'See']],
    ['US-002', 'Dark page', false, [], ['Look']],
  ])
  const wrapped = {
    features: [
      { id: 'F1', title: 'Chat', acceptance: ['opens'], status: 'done' },
      { id: 'F2', title: 'Tabs', acceptance: ['close'], depends_on: ['F1'], status: 'ready' },
    ],
  }
  assert.deepEqual(rows({ 'feature_list.json': JSON.stringify(wrapped) }), [
    ['F1', 'Chat', true, [], ['opens']],
    ['F2', 'Tabs', false, ['F1'], ['close']],
  ])
})

test('Backlog.md: a file is a story, boxes are criteria, definitions of done are left out', () => {
  const task = (id: string, status: string, more = '') =>
    `---\nid: ${id}\ntitle: Title ${id}\nstatus: ${status}\n${more}---\n\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\nWords.\n<!-- SECTION:DESCRIPTION:END -->\n\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [ ] #1 It works\n<!-- AC:END -->\n\n## Definition of Done\n<!-- DOD:BEGIN -->\n- [ ] #1 Tests pass\n<!-- DOD:END -->\n`
  const all = {
    'backlog/config.yml': 'project_name: Tools\nstatuses: ["To Do", "Doing", "Completed"]\n',
    'backlog/tasks/task-2 - Two.md': task(
      'TASK-2',
      'Doing',
      'dependencies:\n  - task-1\n  - task-9\nmilestone: m1\n',
    ),
    'backlog/tasks/task-1 - One.md': task('TASK-1', 'Completed'),
    'backlog/completed/task-0 - Zero.md': task('TASK-0', 'Completed'),
    'backlog/drafts/draft-1 - D.md': task('DRAFT-1', 'Draft'),
  }
  assert.deepEqual(rows(all), [
    ['TASK-2', 'Title TASK-2', false, ['TASK-1'], ['It works']],
    ['TASK-1', 'Title TASK-1', true, [], ['It works']],
  ])
  assert.equal(documentsOf(...files(all)).prd.userStories[0]?.description, 'Words.')
})

test('issues: closed is not passed; dependencies and parts of an epic', () => {
  const issue = (number: number, more: object) => ({
    number,
    title: `Issue ${number}`,
    body: '',
    labels: [],
    state: 'OPEN',
    ...more,
  })
  const all = [
    issue(1, { subIssues: [{ number: 2 }], body: '- [ ] #2' }),
    issue(2, { blockedBy: { nodes: [{ number: 3 }] } }),
    issue(3, { state: 'CLOSED', stateReason: 'COMPLETED' }),
    issue(4, { state: 'CLOSED', stateReason: 'NOT_PLANNED' }),
    issue(5, { state: 'closed', state_reason: 'duplicate' }),
    issue(6, { parent: { number: 1 }, body: 'Words\n\n- [ ] #3\n- [ ] It rings' }),
  ]
  const text = JSON.stringify(all)
  assert.deepEqual(rows({ 'issues.json': text }), [
    ['GH-2', 'Issue 2', false, ['GH-3'], ['Issue 2']],
    ['GH-3', 'Issue 3', true, [], ['Issue 3']],
    ['GH-6', 'Issue 6', false, [], ['It rings']],
  ])
  const { notes, prd } = documentsOf({ path: 'issues.json', text })
  assert.match(
    notes.join('\n'),
    /closed as not planned: GH-4\..*closed as duplicate: GH-5\..*read as epics, because other issues are parts of them: GH-1/s,
  )
  assert.deepEqual(
    prd.userStories.map(({ epicId }) => epicId),
    ['GH-1', null, 'GH-1'],
  )
})

test('Conductor: a task is a story; manual checks and the register are none', () => {
  const all = {
    'conductor/tracks/fees/plan.md':
      "# Plan\n\n## Phase 1: Ledger\n\n- [x] Task: Table 1a2b3c4\n- [~] Task: Sum\n    - [ ] Write tests\n- [ ] Task: Conductor - User Manual Verification 'Ledger' (Protocol in workflow.md)\n",
    'conductor/tracks.md': '# Tracks\n\n- [ ] **Track: Fees**',
  }
  assert.deepEqual(rows(all), [
    ['T1', 'Table', true, [], ['Table']],
    ['T2', 'Sum', false, [], ['Write tests']],
  ])
})

test('beads: the output of bd; an export is named and not read', () => {
  const answer = [
    {
      id: 'bd-2',
      title: 'Sum',
      description: 'd',
      acceptance_criteria: '- adds\n- [ ] rounds',
      status: 'open',
      priority: 1,
      issue_type: 'task',
      dependencies: [
        { issue_id: 'bd-2', depends_on_id: 'bd-1', type: 'blocks' },
        { depends_on_id: 'bd-9', type: 'parent-child' },
        { depends_on_id: 'bd-3', type: 'related' },
      ],
    },
    { id: 'bd-1', title: 'Table', status: 'closed', priority: 0, issue_type: 'task' },
    { id: 'bd-9', title: 'Epic', status: 'open', issue_type: 'epic' },
    { id: 'bd-3', title: 'Later', status: 'deferred', issue_type: 'task' },
  ]
  assert.deepEqual(rows({ beads: JSON.stringify(answer) }), [
    ['bd-2', 'Sum', false, ['bd-1'], ['adds', 'rounds']],
    ['bd-1', 'Table', true, [], ['Table']],
  ])
  const { notes, prd } = documentsOf({
    path: '.beads/issues.jsonl',
    text: '{"id":"bd-1","title":"a"}\n{"id":"bd-2","title":"b"}\n',
  })
  assert.deepEqual(prd.userStories, [])
  assert.match(notes.join('\n'), /a beads export.*ralph plan --from beads/)
})

test('a dependency on something that is no story is dropped, with a note', () => {
  const notesOf = (path: string, value: unknown) =>
    documentsOf({ path, text: JSON.stringify(value), isNamed: true }).notes.join('\n')
  const task = { id: 2, title: 'Sum', details: '', testStrategy: '', status: 'pending', dependencies: [1, 7] }
  const left = { ...task, id: 1, title: 'Table', status: 'deferred', dependencies: [] }
  const tasks = notesOf('tasks/tasks.json', { master: { tasks: [left, task] } })
  assert.match(tasks, /Ralph drops these dependencies, because no story has such an id: 2 on 1, 7\./)
  assert.match(tasks, /deferred or cancelled: 1 Table\./)
  const feature = { id: 'f2', description: 'Sum', passes: false, depends_on: ['f1', 'f9'] }
  const cut = { id: 'f1', description: 'Table', passes: false, status: 'cancelled' }
  const features = notesOf('feature_list.json', [cut, feature])
  assert.match(features, /Ralph drops these dependencies, because no story has such an id: f2 on f1, f9\./)
  assert.match(features, /marked as not to be built: f1 Table\./)
  const issue = { number: 3, title: 'Sum', state: 'OPEN', body: 'Blocked by #9', blockedBy: [{ number: 8 }] }
  const closed = { number: 7, state: 'CLOSED' }
  assert.match(
    notesOf('issues.json', [issue]),
    /Ralph drops these dependencies, because no story has such an id: GH-3 on GH-9, GH-8\./,
  )
  assert.doesNotMatch(
    notesOf('issues.json', [{ ...issue, body: '', blockedBy: [closed] }]),
    /Ralph drops these dependencies/,
  )
})

test('a task list below specs/, and front matter, do not go into every prompt', () => {
  const list = '# Tasks\n\n- [ ] 1.1 Write a row\n- [ ] 1.2 Write all\n'
  const files = [
    { path: 'specs/export/tasks.md', text: list, isNamed: true },
    { path: '.kiro/steering/product.md', text: '---\ninclusion: always\n---\n# Product\n\nA till.\n' },
  ]
  const { prd, context } = documentsOf(...files)
  assert.equal(prd.userStories.length, 2)
  assert.match(context, /A till/)
  assert.doesNotMatch(context, /inclusion|Write a row/)
})

test('known plans that are not read are named, with what to do', () => {
  const told = (path: string, text: string) => documentsOf({ path, text }).notes.join('\n')
  assert.match(
    told('.planning/ROADMAP.md', '# Roadmap\n\n- [ ] **Phase 1: A**'),
    /Ralph cannot read a GSD plan directly\. To let a session plan from it/,
  )
  assert.match(told('.cursor/plans/a.plan.md', '---\ntodos: []\n---\n'), /a Cursor plan/)
  assert.match(told('export.csv', 'Issue key,Summary,Status\nA-1,x,Done'), /a Jira export/)
  assert.match(told('linear.csv', '"ID","Team","Title","Description","Status"\n'), /a Linear export/)
})

test('of 17 features side by side the newest are named first, and each can be copied', () => {
  const list = '# Tasks: A\n\n## Phase 1: Core\n\n- [ ] T001 Parse\n'
  const folders = Array.from({ length: 17 }, (_, index) => `specs/${String(index + 1).padStart(3, '0')}-part`)
  const [mistake] = mistakesOf(
    ...folders.map((folder) => ({ path: `${folder}/tasks.md`, text: list, isDiscovered: true })),
  )
  assert.match(mistake?.found ?? '', /^there are 17 features, newest first: specs\/017-part \(1 open\)/)
  const named = [...(mistake?.fix ?? '').matchAll(/--from (\S+?)(?=,|$)/g)].map(([, path]) => path)
  assert.deepEqual(named, folders.toReversed())
})
