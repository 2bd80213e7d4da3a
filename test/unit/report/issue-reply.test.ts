// The one reply on an issue that asked for a plan.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newPlan } from '../../../src/engine/planning/proposed-plan.ts'
import { issueReply } from '../../../src/report/replies.ts'
import { viewOf } from '../../../src/report/view.ts'
import { justStarted, limits, NOW } from './samples.ts'

const facts = { repositoryUrl: 'https://github.com/acme/shop', runUrl: null, limits, now: NOW, notes: [] }

/** The reply for a proposal of so many stories. */
function replyFor(stories: number): string {
  const state = justStarted()
  const prd = { ...state.prd, userStories: state.prd.userStories.slice(0, stories) }
  const plan = { ...newPlan('a wish', 1), phase: 'proposed' as const }
  return issueReply(viewOf({ ...state, prd, plan }, facts))
}

test('the reply on an issue has singular and plural of proposed stories', () => {
  assert.match(replyFor(1), /1 story is proposed in /)
  assert.match(replyFor(2), /2 stories are proposed in /)
})
