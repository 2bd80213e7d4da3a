// Around a session: marks of other stories in the plan's documents go back before the candidate is built.
import assert from 'node:assert/strict'
import test from 'node:test'
import { restorePlanMarks } from '../../../src/app/restore-plan-marks.ts'
import { withPlannedFrom } from '../../../src/engine/prd/plan-file.ts'
import type { WorkTree } from '../../../src/git/work-tree.ts'
import { stateOf } from '../engine/samples.ts'
import { documentsOf } from '../plan/samples.ts'

const TODO = '# TODO\n\n- [ ] Draw a pond\n- [ ] Draw a frog\n'

function around(before: Record<string, string>, after: Record<string, string>): WorkTree {
  const objects = { text: async (name: string) => before[name.slice(name.indexOf(':') + 1)] ?? null }
  const bytesAt = async (path: string) => (after[path] === undefined ? null : Buffer.from(after[path]))
  return { objects, bytesAt } as unknown as WorkTree
}

test('a box of another story that a session ticked is open again; its own box and other words stay', async () => {
  const { prd } = documentsOf({ path: 'TODO.md', text: TODO })
  const state = { ...stateOf([]), prd: withPlannedFrom(prd, { 'TODO.md': 'x' }) }
  const after = `${TODO.replaceAll('[ ]', '[x]')}\nWords of the session.\n`
  const texts = await restorePlanMarks(state, 'US-001', around({ 'TODO.md': TODO }, { 'TODO.md': after }))
  assert.equal(texts.get('TODO.md'), after.replace('[x] Draw a frog', '[ ] Draw a frog'))
  assert.equal(
    (await restorePlanMarks(state, 'US-001', around({ 'TODO.md': TODO }, { 'TODO.md': TODO }))).size,
    0,
  )
  assert.equal((await restorePlanMarks(state, 'US-001', around({ 'TODO.md': TODO }, {}))).size, 0)
})
