// What a person hears of stories that could not be marked in the documents of their plan.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentsOnOutcome } from '../../../src/app/outcome.ts'
import type { DocumentSetEdit } from '../../../src/branch/write-documents.ts'
import type { State } from '../../../src/engine/model/state.ts'
import type { Settings } from '../../../src/settings/read-settings.ts'
import { feature, story } from '../engine/prd/samples.ts'

/** Of twelve stories that passed, after a plan from these. */
async function written(plannedFrom: Record<string, string>, files: { path: string; text: string }[]) {
  const lastResult = { completedAt: null, commit: null, summary: '' }
  const stories = Array.from({ length: 12 }, (_, at) =>
    story({ id: `US-${at}`, title: `Story ${at}`, passes: true, lastResult, extra: { planned: 'ab' } }),
  )
  const prd = { ...feature(...stories), extra: { plannedFrom } }
  const state = { prd: { ...prd, run: { ...prd.run, outcome: 'complete' } }, folder: '.ralph/x' }
  const settings = { agentsMd: 'off', writeBack: 'on' } as unknown as Settings
  const edits = documentsOnOutcome(settings, (text) => text)(state as unknown as State)
  const edit = edits.find((one): one is DocumentSetEdit => 'selectPaths' in one)
  assert.ok(edit !== undefined)
  await edit.selectPaths(files.map(({ path }) => path))
  return await edit.editTexts(files)
}

test('a document that no longer has a story, or is deleted: the first such stories are named', async () => {
  for (const files of [[{ path: 'fix_plan.md', text: '- [ ] Another\n' }], []]) {
    const { warnings, unmarked } = await written({ 'fix_plan.md': 'ab' }, files)
    const [text = '', ...more] = warnings
    assert.equal(unmarked?.length, 12)
    assert.match(text, /^Ralph could not tick off US-0, US-1, .*US-9 and 2 more, because /)
    assert.deepEqual(more, [])
  }
})

test('stories from issues, beads and files outside of the repository are not marked, without a warning', async () => {
  for (const from of ['issues', 'issues:milestone=3', 'beads', '../notes/plan.md', '/tmp/plan.md'])
    assert.deepEqual(await written({ [from]: 'ab' }, []), { texts: new Map(), warnings: [] })
})
