// `approvals`: whose approval counts, for which commit, and what a finished run says while it waits.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { approvableHeads, withStarter } from '../../../../src/engine/corrections/approvals.ts'
import type { Approvals } from '../../../../src/engine/model/correction.ts'
import type { State } from '../../../../src/engine/model/state.ts'
import { ownSituation } from '../../../../src/engine/situation.ts'
import { readApprovals } from '../../../../src/github/corrections/read-approvals.ts'
import { nextAction } from '../../../../src/report/next-action.ts'
import { toPlainText } from '../../../../src/report/sentence.ts'
import { anotherJob, limitsWith, runJob, type Script, saying, stateOf, stories } from '../samples.ts'

const limits = limitsWith({ approvals: 2 })

/** The pull request is read with these approvals at each look. */
function approved(approvals: Partial<Approvals>, otherwise: Script = () => null): Script {
  return (step, state, now) =>
    step.kind === 'sync'
      ? {
          kind: 'synced',
          commands: [],
          theirs: null,
          holds: { approvals: { heads: [state.green], by: [], others: [], ...approvals } },
        }
      : otherwise(step, state, now)
}

function finished(): State {
  const ran = runJob(stateOf(stories('US-001')), limits)
  assert.equal(ran.outcome, 'paused')
  return ran.state
}

test('a finished run waits for the approvals, and says whose count', () => {
  const waits = finished()
  const one = runJob(
    anotherJob(waits),
    limits,
    approved({ by: ['bob'], others: [{ login: 'alice', why: 'began the run or approved its plan' }] }),
  )
  assert.equal(
    one.conclusion.reason,
    'waiting for approvals: 1 of 2 (bob); not counted: alice began the run or approved its plan. The newest commit needs the approval of people with write access who neither began the run, approved its plan nor committed to the branch',
  )
  assert.equal(one.outcome, 'paused')
  assert.equal(
    toPlainText(nextAction(one.state, ownSituation(one.state), 'cli', limits)),
    'Review this pull request: its newest commit needs 1 more approval.',
  )
  const both = runJob(anotherJob(one.state), limits, approved({ by: ['bob', 'carol'] }))
  assert.equal(both.outcome, 'complete')
  assert.equal(runJob(stateOf(stories('US-001')), limitsWith()).outcome, 'complete', 'none by default')
})

test('an approval of another commit does not count, but that before the last commit of Ralph does', () => {
  const outdated = runJob(anotherJob(finished()), limits, approved({ heads: ['old'], by: ['bob', 'carol'] }))
  assert.equal(outdated.outcome, 'paused')
  const publishes: Script = (step) =>
    step.kind === 'publish'
      ? { kind: 'published', green: 'with prd.json', withBranch: true, more: false }
      : null
  const complete = runJob(anotherJob(finished()), limits, approved({ by: ['bob', 'carol'] }, publishes))
  assert.equal(complete.outcome, 'complete')
  assert.equal(complete.state.green, 'with prd.json')
  assert.ok(approvableHeads(complete.state).length === 2)
})

test('who says run or approves the plan began the run', () => {
  const run = runJob(
    anotherJob(finished()),
    limits,
    saying([
      { id: 1, by: 'Bob', kind: 'run' },
      { id: 2, by: 'carol', kind: 'approve', story: null, digest: null },
      { id: 3, by: 'dora', kind: 'pause' },
    ]),
  )
  assert.deepEqual(run.state.control.starters, ['bob', 'carol'])
})

type Node = [login: string, state?: string, oid?: string, type?: string]

async function read(reviews: Node[], authors: string[] = []) {
  const pullRequest = {
    latestOpinionatedReviews: {
      nodes: reviews.map(([login, state = 'APPROVED', oid = 'head', type = 'User']) => ({
        state,
        author: login === 'ghost' ? null : { login, __typename: type },
        commit: { oid },
      })),
    },
    commits: {
      pageInfo: { hasNextPage: false, endCursor: null },
      nodes: authors.map((login) => ({
        commit: { authors: { nodes: [{ user: { login } }, { user: null }] } },
      })),
    },
  }
  const github = {
    repo: { owner: 'o', repo: 'r' },
    api: { graphql: async () => ({ repository: { pullRequest } }) },
  }
  const state = withStarter(stateOf(stories('US-001'), { published: 'head', green: 'head' }), 'Alice')
  return readApprovals(github as never, state, 7, async (login) => login !== 'mallory')
}

test('bots, starters, authors, strangers, and dismissed and outdated reviews do not count', async () => {
  const { by, others } = await read(
    [
      ['bob'],
      ['alice'],
      ['dora'],
      ['mallory'],
      ['helper', 'APPROVED', 'head', 'Bot'],
      ['eve', 'DISMISSED'],
      ['finn', 'CHANGES_REQUESTED'],
      ['gil', 'APPROVED', 'before'],
      ['ghost'],
    ],
    ['Dora'],
  )
  assert.deepEqual(by, ['bob'])
  assert.deepEqual(
    others.map(({ login, why }) => `${login} ${why}`),
    [
      'alice began the run or approved its plan',
      'dora committed to the branch',
      'mallory has no write access',
      'helper is not a person',
      'gil approved an earlier commit',
    ],
  )
})
