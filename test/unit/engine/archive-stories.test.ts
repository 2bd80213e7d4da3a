// Stories that have left the list, and a run that begins anew: nothing people wrote is lost, and nothing is worked on twice.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { applyCommand } from '../../../src/engine/commands/apply-commands.ts'
import type { Story } from '../../../src/engine/model/feature.ts'
import {
  archiveDoneStories,
  requestArchive,
  restartRun,
  withoutArchived,
} from '../../../src/engine/planning/archive-stories.ts'
import { newPlan } from '../../../src/engine/planning/proposed-plan.ts'
import { mergePeople } from '../../../src/engine/prd/merge-edits.ts'
import { newStory } from '../../../src/engine/prd/schema.ts'
import { stateOf, stories } from './samples.ts'

const done = (story: Story): Story => ({ ...story, passes: true })
const idsOf = (userStories: readonly Story[]) => userStories.map(({ id }) => id)

describe('with US-002 archived and US-001 open', () => {
  const [one, two] = stories('US-001', 'US-002')
  if (one === undefined || two === undefined) throw new Error('no stories')
  const before = archiveDoneStories(requestArchive(stateOf([one, done(two)])))
  const pushed = (state: typeof before, theirs: Story[], seen: string[]) =>
    mergePeople(state.prd, withoutArchived({ ...state.prd, userStories: theirs }, state), new Set(seen))
      .userStories

  test('`add` uses no id twice, and the added story survives a push', () => {
    const by = { id: 0, by: 'ann' }
    const added = { kind: 'add' as const, title: 'three', description: '', criteria: [] }
    const state = applyCommand(before, { ...by, ...added })
    assert.deepEqual(idsOf(state.prd.userStories), ['US-001', 'US-003'])
    const theirs = state.prd.userStories
    assert.deepEqual(idsOf(pushed(state, theirs, idsOf(theirs))), ['US-001', 'US-003'])
  })

  test("a story that is still in people's file stays archived, whatever its state and wrapping there", () => {
    const wrapped = { ...two, title: ` ${two.title}\n`, notes: 'n', priority: 7 }
    for (const same of [two, done(two), wrapped])
      assert.deepEqual(idsOf(pushed(before, [one, same], ['US-001', 'US-002'])), ['US-001'])
  })

  test('another story that people push under an archived id is new, and stays after later pushes', () => {
    const other = newStory({ id: 'US-002', title: 'Print a bill', acceptanceCriteria: ['it prints'] })
    const merged = pushed(before, [one, done(other)], ['US-001'])
    assert.deepEqual(
      merged.map(({ id, title, passes }) => [id, title, passes]),
      [
        ['US-001', one.title, false],
        ['US-002', 'Print a bill', false],
      ],
    )
    const state = { ...before, prd: { ...before.prd, userStories: merged } }
    assert.deepEqual(idsOf(pushed(state, merged, idsOf(merged))), ['US-001', 'US-002'])
    assert.deepEqual(idsOf(pushed(state, [one, two], idsOf(merged))), ['US-001', 'US-002'])
  })
})

describe('a run begun anew', () => {
  test('leaves a split story out beside its parts, and works on one that a person skipped', () => {
    const [whole, part, skipped] = stories('US-001', 'US-001-1', 'US-002')
    if (whole === undefined || part === undefined || skipped === undefined) throw new Error('no stories')
    const state = stateOf(
      [
        { ...whole, skipped: true, extra: { splitInto: ['US-001-1'] } },
        done(part),
        { ...skipped, skipped: true, extra: { splitInto: [] } },
      ],
      { splits: { 'US-002': newPlan('') } },
    )
    const { prd, splits } = restartRun(state, 'n')
    assert.deepEqual(
      prd.userStories.map((story) => [story.passes, story.skipped]),
      [
        [false, true],
        [false, false],
        [false, false],
      ],
    )
    assert.equal(splits, undefined)
  })

  test('keeps an unapproved plan waiting, and drops one that was worked on', () => {
    for (const phase of ['wanted', 'proposed', 'approved'] as const) {
      const plan = { ...newPlan('a shop'), phase, digest: 'd' }
      assert.deepEqual(restartRun(stateOf([], { plan }), 'n').plan, plan)
    }
    const begun = { ...newPlan(''), phase: 'begun' as const }
    assert.equal('plan' in restartRun(stateOf(stories('US-001'), { plan: begun }), 'n'), false)
  })
})
