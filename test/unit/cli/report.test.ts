// `ralph report` in a real repository: the page of a stuck run, what --json and --markdown say, and the page of all runs.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { bad, FEATURE, FOLDER, GATE, good, openPlace } from './place.ts'

test("report of a stuck run: an HTML page in Ralph's folder, one line of JSON, Markdown, and all runs with totals", async () => {
  await using place = await openPlace([
    { id: 'US-001' },
    { id: 'US-002', title: '<script>alert(1)</script>', dependsOn: ['US-001'] },
  ])
  const before = await place.json('report')
  assert.equal(before.outcome, null, 'also before a run')
  await place.setScript({
    'US-001': [good('US-001')],
    'US-002': [bad('US-002'), bad('US-002'), bad('US-002')],
  })
  await place.ralph('run', ...place.agent, ...GATE, '--model', 'opus', '--no-final-verification')
  const refs = place.refs()

  const { code, out, err } = await place.ralph('report', '--open')
  const path = join(place.repository, '.git', 'ralph', 'report', `${FEATURE}.html`)
  assert.deepEqual([code, out], [0, `${path}\n`])
  assert.match(err, /--open: the report was not opened, because this is not a terminal/)
  const page = await readFile(path, 'utf8')
  assert.match(
    page,
    /<svg class="icon bad"[^>]*><path [^>]*><\/svg> <bdi>Stuck: US-002 is blocked · 1 of 2 stories pass<\/bdi>/,
  )
  assert.match(page, /<code class="type">ralph retry US-002 -- &lt;hint&gt;<\/code>/)
  assert.doesNotMatch(page, /\/ralph retry|<script/)
  assert.match(page, /agent \d+(?:\.\d+)?s, gates \d+(?:\.\d+)?s/, 'the timeline tells them apart')

  const json = await place.json('report', FEATURE, '--output', 'out/here.html')
  assert.deepEqual([json.outcome, json.reportPath], ['stuck', join(place.repository, 'out', 'here.html')])
  assert.match(
    (await place.ralph('report', '--markdown')).out,
    /^## 🛑 Stuck: .*\n[\s\S]*`ralph retry US-002/,
  )

  const archive = {
    schemaVersion: 2,
    run: { iterations: 3, startedAt: '2025-12-03T00:00:00Z', usage: { calls: 3, costUsd: 0.5 } },
    userStories: [{ id: 'US-001', title: 'x', acceptanceCriteria: ['y'], passes: true }],
  }
  await place.write({
    '.ralph/archive/2025-12-03-old/prd.json': JSON.stringify(archive),
    '.ralph/archive/2025-12-02-bent/prd.json': '{',
    // A copy of the run itself is no second run.
    '.ralph/archive/2026-01-31-copy/prd.json': place.git('show', `ralph/${FEATURE}:${FOLDER}/prd.json`),
  })
  const all = await place.json('report', '--all')
  assert.equal(all.reportPath, join(place.repository, '.git', 'ralph', 'report', 'index.html'))
  assert.deepEqual(
    (all.features as { feature: string; isArchived: boolean }[]).map(({ feature, isArchived }) => [
      feature,
      isArchived,
    ]),
    [
      [FEATURE, false],
      ['old', true],
    ],
  )
  const named = (totals: unknown) =>
    (totals as { name: string; costUsd: number }[]).map(({ name, costUsd }) => [name, costUsd])
  assert.deepEqual(named(all.byModel), [
    ['not known', 0.5],
    ['custom opus', 0.04],
  ])
  assert.equal((all.unread as unknown[]).length, 1)
  const index = await readFile(String(all.reportPath), 'utf8')
  assert.match(index, /href="2026-01-31-sample\.html"/)
  assert.ok(
    (await readFile(join(place.repository, '.git/ralph/report/2026-01-31-sample.html'), 'utf8')).includes(
      'Stuck: US-002',
    ),
  )
  assert.equal(place.refs(), refs, 'nothing of the run was changed')

  // As examples/ralph-pages.yml does it: a fresh clone, and the states beside it.
  const fresh = join(place.folder, 'fresh')
  place.git('clone', '-q', place.repository, fresh)
  place.git('-C', fresh, 'fetch', '-q', 'origin', '+refs/ralph/*:refs/ralph/*')
  const there = await place.json(
    'report',
    '--all',
    '-C',
    fresh,
    '--output',
    join(place.folder, 'site', 'index.html'),
  )
  assert.deepEqual(named(there.byModel), [['custom opus', 0.04]])
  assert.match(
    await readFile(join(place.folder, 'site', '2026-01-31-sample.html'), 'utf8'),
    /Stuck: US-002 is blocked/,
  )

  const alone = await place.ralph('report', '--csv')
  assert.equal(alone.code, 64)
  assert.match(alone.err, /--csv: .*all features together[\s\S]*--all/)
  const both = await place.json('report', FEATURE, '--all')
  assert.equal(both.outcome, 'error')
})
