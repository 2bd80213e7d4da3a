// sprint-status.yaml on an outcome: words of statuses go forward, everything else stays to the letter.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseDocument } from 'yaml'
import type { Story } from '../../../src/engine/model/feature.ts'
import { findDocuments, readDocuments, updateSprintStatus } from '../../../src/plan/documents.ts'
import { feature, story } from '../engine/prd/samples.ts'
import { runs } from '../runs.ts'
import { sample } from './samples.ts'

const made = '_bmad-output/implementation-artifacts/sprint-status.yaml'
const passed = (id: string, change: Partial<Story> = {}) =>
  story({
    id,
    title: id,
    passes: true,
    lastResult: { completedAt: null, commit: null, summary: '' },
    ...change,
  })

/** The lines that differ. */
function changed(before: string, after: string | null): string[] {
  const old = before.split('\n')
  return (after ?? before).split('\n').flatMap((line, index) => (line === old[index] ? [] : [line]))
}

test('sprint-status.yaml, development_status: stories and their epics move forward, comments and order stay', () => {
  const text = sample(`bmad-6/${made}`)
  const prd = feature(passed('1.1'), passed('1.2'), story({ id: '2.1', title: 'x', retries: 1 }))
  const after = updateSprintStatus(text, prd)
  assert.deepEqual(changed(text, after), [
    '  epic-1: done',
    '  1-2-enter-a-parcel: done',
    '  epic-2: in-progress',
    '  2-1-take-a-parcel: in-progress',
  ])
  assert.match(after ?? '', /1-1-project-setup: done # checked by Ann/)
  assert.equal(updateSprintStatus(after ?? '', prd), null)
})

test('sprint-status.yaml, sprints and stories: quotes, comments and spelling stay', () => {
  const text = sample('bmad-ralph/docs/sprint-status.yaml')
  const prd = feature(passed('STORY-002'), story({ id: 'STORY-003', title: 'x', blocked: true }))
  assert.deepEqual(changed(text, updateSprintStatus(text, prd)), [
    '        status: "completed" # Bo works on it',
    '        status: "in_progress"',
  ])
})

const sprints = `version: "6.0.0"
current_sprint: 2
sprints:
  - sprint_number: 1
    committed_points: 8
    completed_points: 0
    status: "active" # until Friday
    stories:
      - { story_id: "STORY-001", points: 5, status: "completed" }
      - story_id: "STORY-002"
        points: 3
        status: "not_started"
  - sprint_number: 2
    completed_points: 0
    status: "not_started"
    stories:
      - story_id: "STORY-003"
        points: 2
        status: "not_started"
      - story_id: "STORY-004"
        status: "not_started"
velocity: { sprint_1: null }
`

test('sprint-status.yaml: a sprint ends with its last story, with the points of done stories', () => {
  const prd = feature(passed('STORY-002'), passed('STORY-003'), story({ id: 'STORY-004', title: 'x' }))
  const after = updateSprintStatus(sprints, prd)
  assert.deepEqual(changed(sprints, after), [
    '    completed_points: 8',
    '    status: "completed" # until Friday',
    '        status: "completed"',
    '    completed_points: 2',
    '    status: "active"',
    '        status: "completed"',
  ])
  assert.equal(updateSprintStatus(after ?? '', prd), null)
})

test('sprint-status.yaml: points that people counted stay and grow; a figure without a moved status stays', () => {
  const counted = sprints.replace('completed_points: 0', 'completed_points: 7')
  assert.match(updateSprintStatus(counted, feature(passed('STORY-002'))) ?? '', /completed_points: 10\n/)
  assert.equal(updateSprintStatus(counted, feature(passed('STORY-001'))), null)
})

const epics = `project_name: Ferry
sprint_number: 1
sprint_goal: "Tickets"
epics:
  - id: "epic-001"
    name: Tickets
    status: "not-started" # not-started, in-progress, completed
    stories:
      - id: "story-001"
        name: Buy a ticket
        status: "not-started"
      - id: "story-002"
        name: Cancel it
        status: "dev-complete"
  - id: "epic-002"
    status: "not-started"
    stories:
      - id: "story-003"
        status: "not-started"
metrics:
  total_epics: 2
  total_stories: 3
  stories_completed: 0
  stories_in_progress: 1
  stories_not_started: 2
`

test('sprint-status.yaml, epics and their stories: the epic follows, and totals are counted again', () => {
  const begun = updateSprintStatus(epics, feature(passed('story-001')))
  assert.deepEqual(changed(epics, begun), [
    '    status: "in-progress" # not-started, in-progress, completed',
    '        status: "done"',
    '  stories_completed: 1',
    '  stories_not_started: 1',
  ])
  const ended = updateSprintStatus(epics, feature(passed('story-001'), passed('story-002')))
  assert.match(ended ?? '', /status: "completed" # not-started/)
  assert.match(ended ?? '', /stories_completed: 2\n {2}stories_in_progress: 0\n/)
})

test('sprint-status.yaml: epics and their stories are read for planning, also in .bmad', () => {
  const path = '.bmad/sprint-status.yaml'
  assert.deepEqual(findDocuments([path, 'src/sprint-status.yaml']), [path])
  const read = readDocuments([{ path, text: epics }])
  assert.ok(read.ok)
  const { prd, context } = read.documents
  assert.deepEqual(
    prd.userStories.map(({ id, title, epicId, passes }) => [id, title, epicId, passes]),
    [
      ['story-001', 'Buy a ticket', 'epic-001', false],
      ['story-002', 'Cancel it', 'epic-001', false],
      ['story-003', 'Story story-003', 'epic-002', false],
    ],
  )
  assert.match(context, /Sprint 1\. Its goal: Tickets\./)
  assert.deepEqual(prd.extra?.epics, { 'epic-001': 'Tickets' })
  const named = readDocuments([
    {
      path: 'docs/epics.md',
      text: '# Ferry\n\n## Epic 2: Seats\n\n### Story 2.1: Choose a seat\n\nAs a user.\n',
    },
    { path, text: epics },
  ])
  assert.ok(named.ok)
  assert.deepEqual(named.documents.prd.extra?.epics, { 'Epic 2': 'Seats', 'epic-001': 'Tickets' })
})

test('sprint-status.yaml: no status is lowered, and stories without a run stay', () => {
  const text = 'development_status:\n  1-1-a: done\n  1-2-b: review\n  1-3-c: cancelled\n  1-4-d: backlog\n'
  const imported = { completedAt: null, commit: null, summary: '', imported: true }
  const prd = feature(
    story({ id: '1.1', title: 'a', retries: 2 }),
    story({ id: '1.2', title: 'b', blocked: true }),
    passed('1.3'),
    passed('1.4', { lastResult: imported }),
    passed('1.5', { skipped: true }),
  )
  assert.equal(updateSprintStatus(text, prd), null)
})

test('sprint-status.yaml: a status in an object, Windows line ends, invalid YAML', () => {
  const text = 'development_status:\r\n  1-1-a: { status: backlog, owner: ann } # x\r\n  1-2-b: "backlog"\r\n'
  assert.equal(
    updateSprintStatus(text, feature(passed('1.1'), passed('1.2'))),
    text.replace('status: backlog', 'status: done').replace('"backlog"', '"done"'),
  )
  for (const other of ['', '[]', 'a: [', 'a: 1\na: 2', 'development_status: 7', '\u0000'])
    assert.equal(updateSprintStatus(other, feature(passed('1.1'))), null)
})

test('any sprint-status.yaml stays valid YAML with only statuses changed, and a second update changes nothing', () => {
  const status = fc.constantFrom(
    'backlog',
    'ready-for-dev',
    '"in-progress"',
    'review',
    'done',
    'odd',
    '',
    '*x',
    '[a]',
  )
  const comment = fc.constantFrom('', ' # note', '  # 1-1-a: done')
  const lines = fc.array(
    fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 }), status, comment),
  )
  fc.assert(
    fc.property(lines, fc.boolean(), (all, isPassed) => {
      const keys = new Set<string>()
      const entries = all.flatMap(([epic, number, word, note]) => {
        const key = `${epic}-${number}-x`
        if (keys.has(key)) return []
        keys.add(key)
        return [`  ${key}: ${word}${note}`]
      })
      const text = ['# top', 'development_status:', '  epic-1: backlog', ...entries, ''].join('\n')
      const stories = [...keys].map((key) => key.slice(0, 3).replace('-', '.'))
      const prd = feature(
        ...stories.map((id) => (isPassed ? passed(id) : story({ id, title: id, retries: 1 }))),
      )
      const after = updateSprintStatus(text, prd)
      if (after === null) return
      assert.equal(parseDocument(after).errors.length, 0)
      const bare = (one: string) =>
        one.replace(/: "?(?:backlog|ready-for-dev|in-progress|done)"?(?= |$)/gm, ':')
      assert.equal(bare(after).replace(/: "?review"?/g, ':'), bare(text).replace(/: "?review"?/g, ':'))
      assert.equal(updateSprintStatus(after, prd), null)
    }),
    runs(50),
  )
})

test('sprint-status.yaml: a status that two stories share is not changed', () => {
  const text = 'development_status:\n  1-1-a: &s backlog\n  1-2-b: *s\n  1-3-c: backlog\n'
  const prd = feature(passed('1.1'), passed('1.3'))
  assert.equal(updateSprintStatus(text, prd), text.replace('1-3-c: backlog', '1-3-c: done'))
})
