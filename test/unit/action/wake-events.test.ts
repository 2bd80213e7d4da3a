// Which events of the pull request can wake a run, and which end at once: forks, unfinished checks, the first comment of a thread.
import assert from 'node:assert/strict'
import test from 'node:test'
import { readEvent } from '../../../src/action/github-event.ts'

const here = { repository: { full_name: 'acme/shop' }, sender: { login: 'bob', type: 'User' } }
const pull = (repo = 'acme/shop') => ({ head: { ref: 'ralph/auth', sha: 'abc', repo: { full_name: repo } } })

const CASES: [name: string, payload: Record<string, unknown>, expected: string][] = [
  [
    'pull_request_review',
    { action: 'submitted', review: { state: 'commented' }, pull_request: pull() },
    'review',
  ],
  [
    'pull_request_review',
    { action: 'submitted', review: { state: 'approved' }, pull_request: pull() },
    'review approves',
  ],
  [
    'pull_request_review',
    { action: 'dismissed', review: { state: 'dismissed' }, pull_request: pull() },
    'review approves',
  ],
  [
    'pull_request_review',
    { action: 'edited', review: { state: 'commented' }, pull_request: pull() },
    'foreign',
  ],
  ['pull_request_review', { action: 'submitted', review: {}, pull_request: pull('mallory/shop') }, 'foreign'],
  ['pull_request_review', { action: 'submitted', review: 7, pull_request: [] }, 'foreign'],
  ['pull_request_review_comment', { action: 'created', comment: {}, pull_request: pull() }, 'foreign'],
  [
    'pull_request_review_comment',
    { action: 'created', comment: { in_reply_to_id: 7 }, pull_request: pull() },
    'review',
  ],
  [
    'check_suite',
    { action: 'completed', check_suite: { head_branch: 'ralph/auth', head_sha: 'abc' } },
    'checks',
  ],
  ['check_suite', { action: 'completed', check_suite: { head_branch: null, head_sha: 'abc' } }, 'foreign'],
  ['check_suite', { action: 'requested', check_suite: { head_branch: 'ralph/auth' } }, 'foreign'],
  [
    'workflow_run',
    {
      action: 'completed',
      workflow_run: {
        head_branch: 'ralph/auth',
        head_sha: 'abc',
        head_repository: { full_name: 'acme/shop' },
      },
    },
    'checks',
  ],
  [
    'workflow_run',
    {
      action: 'completed',
      workflow_run: {
        head_branch: 'ralph/auth',
        head_sha: 'abc',
        head_repository: { full_name: 'mallory/shop' },
      },
    },
    'foreign',
  ],
  ['pull_request', { action: 'dequeued', reason: 'CI_FAILURE', pull_request: pull() }, 'queue'],
  ['pull_request', { action: 'dequeued', pull_request: pull('mallory/shop') }, 'foreign'],
  ['pull_request', { action: 'dequeued', pull_request: null }, 'foreign'],
  ['pull_request', { action: 'synchronize', pull_request: pull() }, 'push'],
  ['pull_request', { action: 'synchronize', pull_request: pull('mallory/shop') }, 'foreign'],
  [
    'pull_request',
    {
      action: 'synchronize',
      pull_request: pull(),
      sender: { login: 'github-actions[bot]', type: 'Bot' },
    },
    'foreign',
  ],
  ['pull_request', { action: 'closed', pull_request: pull() }, 'closed'],
  ['pull_request', { action: 'closed', pull_request: pull('mallory/shop') }, 'foreign'],
  ['pull_request', { action: 'closed' }, 'foreign'],
  ['pull_request', { action: 'opened', pull_request: pull() }, 'foreign'],
  ['status', { state: 'success', sha: 'abc', branches: [{ name: 'ralph/auth' }] }, 'checks'],
  ['status', { state: 'pending', sha: 'abc', branches: [{ name: 'ralph/auth' }] }, 'foreign'],
]

for (const [name, payload, expected] of CASES)
  test(`${name} ${JSON.stringify(payload).slice(0, 90)}: ${expected}`, () => {
    const event = readEvent(name, { ...here, ...payload })
    const found = event.kind === 'wake' ? `${event.about}${event.approves ? ' approves' : ''}` : event.kind
    assert.equal(found, expected)
    if (event.kind === 'wake') assert.deepEqual([event.branches, event.head], [['ralph/auth'], 'abc'])
  })
