// Edits of the branch without a session: what is built, what the gates decide, and what a session has to do.
import assert from 'node:assert/strict'
import test from 'node:test'
import { limitsOf } from '../../../../src/app/loop-limits.ts'
import { pendingEdit } from '../../../../src/engine/attempts/pending-edit.ts'
import { buildEdit } from '../../../../src/engine/edit-steps.ts'
import type { BranchEdit, EditedBranch } from '../../../../src/engine/model/branch-edit.ts'
import type { Ports } from '../../../../src/engine/model/ports.ts'
import type { State } from '../../../../src/engine/model/state.ts'
import { nextStep } from '../../../../src/engine/next-step.ts'
import { reduce } from '../../../../src/engine/reduce.ts'
import { readSettings } from '../../../../src/settings/read-settings.ts'
import { gate, limitsWith, NOW, stateOf, stories } from '../samples.ts'

const limits = limitsWith({ updateBase: 'conflicts' })
const asked: BranchEdit = { kind: 'update', theirs: 'theirs', isAsked: true }

/** A branch on which everything passed, with a base that moved, or a story to drop. */
function stateWith(change: Partial<State>): State {
  const state = stateOf(stories('US-001', 'US-002').map((one) => ({ ...one, passes: true })))
  const ready = { synced: true, prepared: false, opened: true }
  return { ...state, published: state.green, job: { ...state.job, ready }, ...change }
}

const toUpdate = stateWith({ baseHead: { sha: 'theirs', isHandled: false, isAsked: true } })
const toDrop = stateWith({ drops: ['US-001'] })

function built(state: State, edit: BranchEdit, onto = state.green): State {
  const one = { edit, onto, commit: 'edited', tree: 'tree', base: 'base' }
  return reduce(state, { kind: 'edit-built', built: one, at: NOW }, limits)
}

function step(edit: BranchEdit, result: EditedBranch) {
  const ports = { repository: { edit: async () => result } } as unknown as Ports
  return buildEdit(edit, { state: toUpdate, limits, ports, now: NOW })
}

test('an edit that fits is built first, then prepared, then gated', () => {
  assert.deepEqual(nextStep(toUpdate, limits, NOW), { kind: 'edit', edit: asked })
  const state = built(toUpdate, asked)
  assert.equal(nextStep(state, limits, NOW).kind, 'prepare')
  const prepared = reduce(state, { kind: 'prepared', at: NOW }, limits)
  const next = nextStep(prepared, limits, NOW)
  assert.ok(next.kind === 'gate-edit')
  assert.equal(next.built.commit, 'edited')
  const green = reduce(prepared, { kind: 'edit-gated', gates: [gate(true)], at: NOW }, limits)
  assert.equal(green.green, 'edited')
  assert.equal(green.job.editing, undefined)
  assert.equal(pendingEdit(green, limits), null)
})

test('an edit that was built on an earlier commit is built again', () => {
  assert.equal(nextStep(built(toUpdate, asked, 'an earlier commit'), limits, NOW).kind, 'edit')
})

test('a merge with a red gate becomes a correction that begins with the merge and knows what failed', () => {
  const red = { ...gate(false), output: 'expected 1, got 2' }
  const state = reduce(built(toUpdate, asked), { kind: 'edit-gated', gates: [red], at: NOW }, limits)
  assert.equal(state.green, toUpdate.green)
  const [id = ''] = Object.keys(state.corrections ?? {})
  assert.deepEqual(state.kept[id], { tree: 'tree', base: 'base', dropped: [] })
  const story = state.prd.userStories.find((one) => one.id === id)
  assert.match(story?.description ?? '', /expected 1, got 2/)
  assert.equal(pendingEdit(state, limits), null)
})

test('a drop with a red gate leaves the branch as it is, and the run pauses with the reason', () => {
  const drop: BranchEdit = { kind: 'drop', stories: ['US-001'] }
  const state = reduce(built(toDrop, drop), { kind: 'edit-gated', gates: [gate(false)], at: NOW }, limits)
  assert.equal(state.green, toDrop.green)
  assert.match(state.control.paused?.reason ?? '', /^Ralph cannot drop US-001: after the revert, gate/)
  assert.equal(state.prd.userStories.find(({ id }) => id === 'US-001')?.passes, true)
})

test('a base that fits is merged only if people ask; a conflict needs a session', async () => {
  const fits: EditedBranch = { kind: 'edited', commit: 'c', tree: 't', base: 'b' }
  assert.equal((await step(asked, fits)).kind, 'edit-built')
  assert.deepEqual(await step({ ...asked, isAsked: false }, fits), {
    kind: 'edited',
    edit: { ...asked, isAsked: false },
  })
  const conflict = await step(asked, { kind: 'conflict', paths: ['a.txt'], tree: 't', base: 'b' })
  assert.ok(conflict.kind === 'edited')
  assert.deepEqual(conflict.request?.kept, { tree: 't', base: 'b' })
  assert.deepEqual(conflict.request?.source, {
    kind: 'base',
    commit: 'theirs',
    branch: 'main',
    paths: ['a.txt'],
  })
})

test('update-base applies wherever a branch is published, whatever the isolation', () => {
  for (const isolation of ['separate-job', 'other-user']) {
    const found = readSettings({
      inputs: { isolation, gates: 'test: npm test', 'update-base': 'always' },
      env: {},
      surface: 'action',
    })
    assert.ok(found.ok, JSON.stringify(found))
    assert.equal(limitsOf(found.settings).updateBase, 'always')
  }
})
