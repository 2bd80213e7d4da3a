// sprint-status.yaml on an outcome: words of statuses go forward, everything else stays to the letter.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseDocument } from 'yaml'
import { updateSprintStatus } from '../../../src/documents/index.ts'
import type { Story } from '../../../src/model/feature.ts'
import { feature, story } from '../prd/samples.ts'
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

test('development_status: stories and their epics go forward, comments and order stay', () => {
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

test('sprints and stories: quotes, comments and the spelling of the file stay', () => {
  const text = sample('bmad-ralph/docs/sprint-status.yaml')
  const prd = feature(passed('STORY-002'), story({ id: 'STORY-003', title: 'x', blocked: true }))
  assert.deepEqual(changed(text, updateSprintStatus(text, prd)), [
    '        status: "completed" # Bo works on it',
    '        status: "in_progress"',
  ])
})

test('nothing is lowered, and what Ralph did not work on stays', () => {
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

test('a status in an object, Windows line ends, a file that is no YAML', () => {
  const text = 'development_status:\r\n  1-1-a: { status: backlog, owner: ann } # x\r\n  1-2-b: "backlog"\r\n'
  assert.equal(
    updateSprintStatus(text, feature(passed('1.1'), passed('1.2'))),
    text.replace('status: backlog', 'status: done').replace('"backlog"', '"done"'),
  )
  for (const other of ['', '[]', 'a: [', 'a: 1\na: 2', 'development_status: 7', '\u0000'])
    assert.equal(updateSprintStatus(other, feature(passed('1.1'))), null)
})

test('whatever stands in the file: it stays YAML, only statuses change, twice is once', () => {
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
