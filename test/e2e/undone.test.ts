// What passed stays: a later story that removes an earlier one's work is found, and the earlier one is worked on again.
import assert from 'node:assert/strict'
import test from 'node:test'
import { openClone } from '../fakes/clone.ts'
import { CLI } from './laptop.ts'
import { story } from './site.ts'

const PRD = '.ralph/2026-01-31-sample/prd.json'
const stories = ['US-001', 'US-002'].map((id) => story(id, `part ${id}`))
const makes = (id: string) => ({ files: { [`src/${id}.txt`]: `good ${id}\n` } })
const resets = { shell: 'git reset -q --hard main', ...makes('US-002') }

async function run(weakened: string, script: unknown) {
  const clone = await openClone(CLI, { [PRD]: JSON.stringify({ schemaVersion: 2, userStories: stories }) })
  await clone.setScript(script)
  const flags = ['--gate', 'good=! grep -rq bad src', '--weakened-tests', weakened]
  const ended = await clone.start(['run', ...clone.agent, ...flags]).ended
  const files = clone.git('ls-tree', '--name-only', 'ralph/sample:src').split('\n')
  const state = JSON.parse(clone.git('show', 'refs/ralph/2026-01-31-sample:.ralph-state/state.json'))
  return { ...ended, clone, files, state }
}

test('an earlier story of which nothing is left is open again', async () => {
  const { clone, code, files, state, out } = await run('warn', {
    'US-001': [makes('US-001'), makes('US-001')],
    'US-002': [resets],
  })
  await using _ = clone
  assert.equal(code, 0, out)
  assert.deepEqual(files, ['US-001.txt', 'US-002.txt', 'base.txt'])
  const results = state.timeline.map(
    (one: { storyId: string; result: string }) => `${one.storyId} ${one.result}`,
  )
  assert.deepEqual(results, ['US-001 passed', 'US-002 passed', 'US-001 reset', 'US-001 passed'])
  assert.match(
    JSON.stringify(state.records['US-002'].gates),
    /this change undoes US-001: src\/US-001\.txt is the same as before that story/,
  )
})

test('with weakened-tests: fail the later story is rejected, and the finding names the earlier one', async () => {
  const { clone, code, files, state, out } = await run('fail', {
    'US-001': [makes('US-001')],
    // What the first attempt left is kept, so the second one has to bring the file back.
    'US-002': [resets, { files: { ...makes('US-001').files, ...makes('US-002').files } }],
  })
  await using _ = clone
  assert.equal(code, 0, out)
  assert.deepEqual(files, ['US-001.txt', 'US-002.txt', 'base.txt'])
  const rejected = state.timeline.find((one: { result: string }) => one.result === 'rejected')
  assert.match(rejected.summary, /this change undoes US-001/)
})
