// `ralph why` and `ralph diff` on a repository: what failed and was tried, and what was changed; nothing that an agent wrote says how.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FOLDER, GATE, good, openPlace } from './place.ts'

const HIDES = '* -diff diff=evil\n'

test('why and diff of a blocked story, a passed one and one that does not exist', async () => {
  await using place = await openPlace([
    { id: 'US-001', title: 'One' },
    { id: 'US-002', title: 'Two', priority: 2 },
  ])
  // Attributes and configuration that would hide the change, or run something to show it.
  place.git('config', 'diff.evil.command', 'touch ran')
  place.git('config', 'diff.external', 'touch ran')
  place.git('config', 'core.pager', 'touch ran')
  const mark = '\u001b[31mred\u001b[0m ::error::x'
  await place.setScript({
    'US-001': [good('US-001')],
    'US-002': [{ files: { 'src/left.txt': `bad ${mark}\n`, '.gitattributes': HIDES } }],
  })
  const before = await place.ralph('why')
  assert.match(
    before.out,
    /^nothing to explain: no run of sample has begun\. Start it with ralph run sample$/m,
  )
  assert.match(
    (await place.ralph('diff', 'US-001')).out,
    /^no run of sample has begun, so nothing has changed/,
  )
  await place.ralph('run', ...place.agent, '--gate', 'red=false')
  assert.equal((await place.ralph('diff')).out, 'no change on ralph/sample since main\n')
  place.git('switch', '-q', 'main')
  const ran = await place.ralph('run', ...place.agent, ...GATE, '--max-attempts', '1')
  assert.equal(ran.code, 1, ran.err)
  const refs = place.refs()

  const why = await place.ralph('why')
  assert.equal(why.code, 0, why.err)
  assert.match(why.out, /^US-002 {2}Two\nStatus: blocked, 1 attempt\.\nThe change was not accepted: /)
  assert.match(why.out, /^Tried:\n {2}attempt 1: rejected \(.*\): gate /m)
  assert.match(why.out, /^What would help:\n {2}- ralph retry US-002 -- <hint> tries it again/m)
  assert.deepEqual(await place.ralph('why', 'us-002').then(({ out }) => out), why.out)
  const passed = await place.ralph('why', 'US-001')
  assert.match(passed.out, /^US-001 {2}One\nStatus: passed, 1 attempt\.\n/)
  const wrong = await place.ralph('why', 'US-0O2')
  assert.deepEqual([wrong.code, wrong.err.split('\n')[1]], [64, '  fix: ralph why US-002'])

  const kept = await place.ralph('diff', 'US-002')
  assert.match(kept.out, /^US-002: the saved work of its rejected attempts, which is on no branch\n/)
  assert.match(kept.out, /^\+bad red ::error::x$/m)
  assert.ok(!kept.out.includes('\u001b'), kept.out)
  assert.ok(!kept.out.includes(FOLDER), 'of code, not of Ralph’s own files')
  const done = await place.json('diff', 'US-001')
  const commit = place.git('log', '--format=%H', '--grep=Ralph-Story: US-001', 'ralph/sample')
  assert.deepEqual(done.commits, [commit])
  assert.match(String(done.diff), /^\+good US-001$/m)
  assert.match(
    (await place.ralph('diff')).out,
    /^all changes on ralph\/sample since main\n[\s\S]*^\+good US-001$/m,
  )
  assert.equal(place.refs(), refs)
  assert.equal(place.git('status', '--porcelain'), '')

  await place.ralph('retry', 'US-002')
  await place.ralph('run', ...place.agent, ...GATE, '--max-attempts', '1')
  assert.match(
    (await place.ralph('why')).out,
    /^ {2}attempt 1: .*\n {2}attempt 2: rejected/m,
    'as log counts them',
  )
})

test('with two features why, diff and log use the one whose branch is checked out', async () => {
  const other = { userStories: [{ id: 'B-1', title: 'b', acceptanceCriteria: ['x'] }] }
  const files = { '.ralph/2026-02-01-other/prd.json': JSON.stringify(other) }
  await using place = await openPlace([{ id: 'US-001' }], files)
  await place.setScript({ 'US-001': [{ files: { 'src/left.txt': 'bad\n' } }] })
  await place.ralph('run', 'sample', ...place.agent, ...GATE, '--max-attempts', '1')
  assert.match((await place.ralph('why')).out, /^US-001 /)
  assert.match((await place.ralph('diff')).out, / on ralph\/sample since main\n/)
  assert.match((await place.ralph('log')).out, /US-001-1\.log$/m)
  place.git('switch', '-q', 'main')
  assert.match((await place.ralph('why')).err, /fix: name one: ralph why --feature other, /)
})
