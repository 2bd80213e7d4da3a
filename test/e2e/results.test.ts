// `ralph report --all` after a merge: what the default branch still has of a run, also after a squash and a person's change.
import assert from 'node:assert/strict'
import test from 'node:test'
import { place } from './laptop.ts'
import { story } from './site.ts'

test('lines that a merged run wrote are counted as kept or changed, whether it was merged or squashed', async () => {
  const userStories = [story('US-001', 'one'), story('US-002', 'two')]
  const prd = JSON.stringify({ schemaVersion: 2, userStories })
  const text = (id: string) => `alpha ${id}\nbeta ${id}\n\ngamma ${id}\ndelta ${id}`
  await using there = await place(
    { '.ralph/2026-01-31-sample/prd.json': prd },
    {
      'US-001': [{ files: { 'src/one.txt': 'bad\n' } }, { files: { 'src/one.txt': `${text('one')}\n` } }],
      'US-002': [{ files: { 'src/two.txt': `${text('two')}\n` } }],
    },
  )
  const { git } = there
  const ended = await there.ralph(['run', '--gate', 'good=! grep -rq "^bad" src', '--needs-proof', 'off'])
  assert.equal(ended.code, 0, ended.out + ended.err)
  const csv = async () => {
    const { out, err, code } = await there.start(['report', '--all', '--csv']).ended
    assert.equal(code, 0, out + err)
    const [head = '', line = ''] = out.trim().split('\n')
    const cells = line.split(',')
    return Object.fromEntries(head.split(',').map((name, at) => [name, cells[at]]))
  }
  git('switch', '-q', 'main')
  const before = await csv()
  assert.deepEqual([before.passed, before.first_try, before.attempts], ['2', '1', '3'])
  assert.equal(before.lines_written, '')
  git('merge', '-q', '--squash', 'ralph/sample')
  git('commit', '-q', '-m', 'feat: sample')
  const written = Number((await csv()).lines_written)
  assert.equal(written, 8)
  assert.equal((await csv()).lines_kept, String(written))
  await there.write({ 'src/two.txt': 'alpha two\nsomething else\n' })
  git('commit', '-q', '-am', 'fix: two')
  const after = await csv()
  // Of five lines of that file a blank one does not count, and one is left.
  assert.deepEqual([after.lines_written, after.lines_kept], [String(written), String(written - 3)])
  const page = await there.start(['report', '--all']).ended
  assert.equal(page.code, 0, page.err)
})
