// The words of messages, and what is told when.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { State } from '../../../src/engine/model/state.ts'
import { plainMessage } from '../../../src/notify/notice.ts'
import {
  type NoticeFacts,
  noticesOf,
  noticesOfEnd,
  noticesOfWait,
} from '../../../src/notify/state-changes.ts'
import { entryWith, limitsWith, MINUTE, NOW, stateOf, stories } from '../engine/samples.ts'

const facts: NoticeFacts = {
  limits: limitsWith({ maxCostUsd: 10, maxTokens: 1000, callsPerHour: 1 }),
  surface: 'cli',
  every: 5,
  repository: null,
  runUrl: 'https://github.com/acme/shop/actions/runs/1',
  redact: (text) => text.replaceAll('s3cret', '***'),
  id: (words) => words,
}

function spending(costUsd: number, inputTokens = 0, granted = 0): State {
  const state = stateOf(stories('US-001', 'US-002'))
  const control = { ...state.control, granted: { iterations: 0, costUsd: granted } }
  return { ...state, sessions: [entryWith({ costUsd, inputTokens })], control }
}

test('budget notification: the highest share passed of each limit, and again only after a raise', () => {
  const between = (before: State, after: State) =>
    noticesOf(before, after, NOW, facts).map(({ headline }) => headline)
  assert.deepEqual(between(spending(0), spending(4.99)), [])
  assert.deepEqual(between(spending(4.99), spending(5)), ['50 % of the cost limit is used: $5.00 of $10.00'])
  assert.deepEqual(between(spending(5), spending(7.99)), [])
  assert.deepEqual(between(spending(1), spending(11, 800)), [
    '100 % of the cost limit is used: $11.00 of $10.00',
    '80 % of the token limit is used: 800 of 1k',
  ])
  assert.deepEqual(between(spending(10), spending(10, 0, 10)), [], 'raised, and nothing new')
  assert.deepEqual(between(spending(10, 0, 10), spending(16, 0, 10)), [
    '80 % of the cost limit is used: $16.00 of $20.00',
  ])
})

test('blocked notification: the story, the reason, and the command, where one can be typed', () => {
  const before = stateOf(stories('US-001', 'US-002'))
  const [first, ...others] = before.prd.userStories
  assert.ok(first)
  const story = { ...first, blocked: true, notes: 'it needs s3cret', title: 'a\u001b[31m @channel s3cret' }
  const after = { ...before, prd: { ...before.prd, userStories: [story, ...others] } }
  const text = (surface: NoticeFacts['surface']) =>
    noticesOf(before, after, NOW, { ...facts, surface }).map(plainMessage)
  assert.deepEqual(text('cli'), [
    [
      '⛔ US-001 is blocked (a @\u200bchannel ***): it needs ***',
      'Ralph continues with the other stories. ralph retry US-001 -- <hint> tries it again with your hint.',
      'Shop · auth · 0 iterations · $0.00',
      'https://github.com/acme/shop/actions/runs/1',
    ].join('\n'),
  ])
  assert.match(text('comment')[0] ?? '', /\nRalph continues with the other stories\.\n/)
})

test('a long wait is notified once, a short one or one of a lost job is not', () => {
  const step = { kind: 'wait', until: NOW + 30 * MINUTE, reason: 'the limit of 1 calls an hour' } as const
  const state = stateOf(stories('US-001'))
  const [told] = noticesOfWait(state, step, state, NOW, facts)
  assert.equal(
    told?.headline,
    'Waiting until 2026-01-10 14:35 UTC: the limit of 1 calls an hour · 0 of 1 story passes',
  )
  assert.deepEqual(noticesOfWait(state, { ...step, until: NOW + MINUTE }, state, NOW, facts), [])
  const begun = { ...state, control: { ...state.control, calls: [NOW - 30 * MINUTE] } }
  assert.deepEqual(noticesOfWait(begun, step, begun, NOW, facts), [])
  // A person raised the limit that would have ended the job.
  const over = { ...begun, prd: { ...begun.prd, run: { ...begun.prd.run, jobs: 9 } } }
  const twoJobs = { ...facts, limits: { ...facts.limits, maxJobs: 2 } }
  assert.deepEqual(noticesOfWait(over, step, over, NOW, twoJobs), [])
})

test('a new outcome is notified, a chain that goes on is not', () => {
  const ended = (outcome: 'paused' | 'continued' | 'error', isStarted = false): State => {
    const state = spending(1)
    const next = isStarted ? { kind: 'started' as const, runId: null } : { kind: 'open' as const }
    const conclusion = { outcome, reason: 'why', until: null }
    const ending = { conclusion, at: NOW, published: true, more: false, next, reported: true }
    return { ...state, job: { ...state.job, ending } }
  }
  const stood = (state: State, outcome: 'paused' | 'error', calls: number): State => {
    const sessions = state.sessions.map((one) => ({ ...one, calls }))
    return { ...state, sessions, prd: { ...state.prd, run: { ...state.prd.run, outcome } } }
  }
  const told = (start: State, end: State) =>
    noticesOfEnd(start, end, NOW, facts).map(({ headline }) => headline)
  assert.equal(told(spending(0), ended('paused'))[0], 'Paused: why · 0 of 2 stories pass')
  assert.deepEqual(told(stood(spending(0), 'paused', 1), ended('paused')), [], 'it stands as it stood')
  assert.equal(told(stood(spending(0), 'paused', 0), ended('paused')).length, 1, 'a session worked')
  assert.equal(told(stood(spending(0), 'error', 1), ended('error')).length, 1, 'each job that fails')
  assert.deepEqual(told(spending(0), ended('continued', true)), [])
  assert.equal(told(spending(0), ended('continued')).length, 1, 'nobody goes on')
})
