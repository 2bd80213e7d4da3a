// Times, money, bars and headlines.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { State } from '../../../src/engine/model/state.ts'
import {
  describeCost,
  describeTokens,
  formatDuration,
  formatTokens,
  formatUsd,
  formatUtc,
  textBar,
} from '../../../src/report/figures.ts'
import { headline, tally } from '../../../src/report/headline.ts'
import { storiesOf } from '../../../src/report/stories.ts'
import { complete, concluded, justStarted, midRun, NOW, pass, stuck, working } from './samples.ts'

test('formatDuration gives tenths, seconds, minutes and hours', () => {
  for (const [ms, shown] of [
    [0, '0s'],
    [1, '0.1s'],
    [420, '0.4s'],
    [2000, '2s'],
    [2100, '2.1s'],
    [9949, '9.9s'],
    [9990, '10s'],
    [38_000, '38s'],
    [59_499, '59s'],
    [59_500, '1m 00s'],
    [124_000, '2m 04s'],
    [3_599_499, '59m 59s'],
    [3_600_000, '1h 00m'],
    [3_900_000, '1h 05m'],
    [7_199_000, '2h 00m'],
    [360_000_000, '100h 00m'],
    [-5, '0s'],
    [Number.NaN, '0s'],
    [Number.POSITIVE_INFINITY, '0s'],
  ] as const) {
    assert.equal(formatDuration(ms), shown, String(ms))
  }
})

test('a cost that Ralph computed itself is marked', () => {
  assert.equal(describeCost({ costUsd: 1.5 }), '$1.50')
  assert.equal(describeCost({ costUsd: 1.5, estimatedCostUsd: 1.5 }), '$1.50 estimated')
  assert.equal(describeCost({ costUsd: 0.1 + 0.2, estimatedCostUsd: 0.3 }), '$0.30 estimated')
  assert.equal(describeCost({ costUsd: 1.5, estimatedCostUsd: 0.5 }), '$1.50 partly estimated')
  assert.equal(describeTokens({ inputTokens: 900, outputTokens: 50 }, ' tokens'), '950 tokens')
  assert.equal(describeTokens({ inputTokens: 900, outputTokens: 50, estimatedTokens: 950 }), '950 estimated')
  assert.equal(
    describeTokens({ inputTokens: 900, outputTokens: 50, estimatedTokens: 9 }),
    '950 partly estimated',
  )
})

test('formatDollars gives two digits, grouped thousands, and "less than a cent"', () => {
  for (const [dollars, shown] of [
    [0, '$0.00'],
    [0.42, '$0.42'],
    [0.004, '<$0.01'],
    [0.005, '$0.01'],
    [20, '$20.00'],
    [1234.5, '$1,234.50'],
    [1_234_567, '$1,234,567.00'],
    [-1, '$0.00'],
    [Number.NaN, '$0.00'],
  ] as const) {
    assert.equal(formatUsd(dollars), shown, String(dollars))
  }
})

test('tokens and UTC times are formatted', () => {
  assert.deepEqual([0, 999, 1000, 48_200, 999_499, 999_500, 1_234_567].map(formatTokens), [
    '0',
    '999',
    '1k',
    '48k',
    '999k',
    '1.0M',
    '1.2M',
  ])
  assert.equal(formatUtc(NOW), '2026-01-10 14:05 UTC')
  assert.equal(formatUtc(Number.POSITIVE_INFINITY), '-')
})

test('a bar is full only when all is done, and empty only when nothing is', () => {
  assert.equal(textBar(4, 6, 10), '███████░░░')
  assert.equal(textBar(0, 6, 10), '░'.repeat(10))
  assert.equal(textBar(6, 6, 10), '█'.repeat(10))
  assert.equal(textBar(1, 1000, 10), '█░░░░░░░░░')
  assert.equal(textBar(999, 1000, 10), '█████████░')
  assert.equal(textBar(0, 0, 4), '░░░░')
  assert.equal(textBar(9, 6, 4), '████')
  for (let done = 0; done <= 37; done += 1) assert.equal([...textBar(done, 37, 10)].length, 10)
})

const statuses = (state: State) => new Map(storiesOf(state).map(({ id, status }) => [id, status]))

test('every story has a status', () => {
  assert.deepEqual(Object.fromEntries(statuses(midRun())), {
    'US-001': 'passed',
    'US-002': 'passed',
    'US-003': 'rejected',
    'US-004': 'passed',
    'US-005': 'working',
    'US-006': 'waiting',
  })
  assert.equal(statuses(stuck()).get('US-003'), 'blocked')
  assert.equal(statuses(concluded(midRun(), 'paused', 'paused by ann')).get('US-005'), 'open')
  assert.equal(statuses(skipped(midRun(), 'US-003')).get('US-003'), 'skipped')
  assert.equal(statuses(skipped(midRun(), 'US-003')).get('US-006'), 'open')
})

test('the tally counts skipped stories separately', () => {
  assert.equal(tally(midRun()), '3 of 6 stories pass')
  assert.equal(tally(pass(justStarted(), 'US-001')), '1 of 6 stories pass')
  assert.equal(tally(skipped(complete(), 'US-006')), '5 of 6 stories pass, 1 skipped')
  assert.equal(tally({ ...justStarted(), prd: { ...justStarted().prd, userStories: [] } }), 'no stories')
})

test('every outcome has a headline', () => {
  const heads: [State, string][] = [
    [justStarted(), '🔁 0 of 6 stories pass · getting ready'],
    [midRun(), '🔁 3 of 6 stories pass · US-005 is in progress'],
    [working(midRun(), 'US-003'), '🔁 3 of 6 stories pass · US-003 is in progress (attempt 2)'],
    [{ ...complete(), job: justStarted().job }, '🔁 6 of 6 stories pass · final verification'],
    [
      {
        ...complete(),
        job: justStarted().job,
        verification: { approved: false, asked: false, sessions: 1, message: 'no line VERIFIED' },
      },
      '🔁 6 of 6 stories pass · final verification (1 session without a verdict: no line VERIFIED)',
    ],
    [complete(), '✅ Complete: 6 of 6 stories pass'],
    [skipped(complete(), 'US-006'), '✅ Complete: 5 of 6 stories pass, 1 skipped'],
    [stuck(), '🛑 Stuck: US-003 is blocked · 4 of 6 stories pass'],
    [
      concluded(complete(), 'stuck', 'the final verification gave no verdict: x'),
      '🛑 Stuck: the final verification gave no verdict: x · 6 of 6 stories pass',
    ],
    [
      concluded(midRun(), 'max-iterations', 'the limit of 50 iterations is reached'),
      '🛑 Stopped: the limit of 50 iterations is reached · 3 of 6 stories pass',
    ],
    [
      concluded(midRun(), 'budget', 'the cost limit of $5.00 is reached'),
      '🛑 Stopped: the cost limit of $5.00 is reached · 3 of 6 stories pass',
    ],
    [byAnn(midRun()), '⏸️ Paused by ann · 3 of 6 stories pass'],
    [
      concluded(midRun(), 'paused', 'waiting for it', NOW),
      '⏳ Waiting until 2026-01-10 14:05 UTC · 3 of 6 stories pass',
    ],
    [
      concluded(midRun(), 'continued', 'the batch of 5 iterations is done'),
      '🔁 3 of 6 stories pass · the batch is over',
    ],
    [dispatched(midRun()), '🔁 3 of 6 stories pass · the next job continues'],
    [concluded(midRun(), 'error', 'prepare failed (exit 1)'), '❌ Error: prepare failed (exit 1)'],
    [concluded(midRun(), 'interrupted', 'cancelled'), '⏹️ Cancelled, nothing is lost · 3 of 6 stories pass'],
  ]
  for (const [state, said] of heads) {
    const { sign, text } = headline(state)
    assert.equal(`${sign} ${text}`, said)
  }
})

test('many blocked stories are counted, not listed', () => {
  const state = stuck()
  const userStories = state.prd.userStories.map((story) => ({ ...story, passes: false, blocked: true }))
  const all = { ...state, prd: { ...state.prd, userStories } }
  assert.match(headline(all).text, /^Stuck: US-001 and 5 others are blocked/)
})

function skipped(state: State, id: string): State {
  const userStories = state.prd.userStories.map((story) =>
    story.id === id ? { ...story, passes: false, skipped: true } : story,
  )
  return { ...state, prd: { ...state.prd, userStories } }
}

function byAnn(state: State): State {
  const held = { ...state, control: { ...state.control, paused: { reason: 'paused by ann', by: 'ann' } } }
  return concluded(held, 'paused', 'paused by ann')
}

function dispatched(state: State): State {
  const ended = concluded(state, 'continued', 'the batch of 5 iterations is done')
  const { ending } = ended.job
  assert.ok(ending !== null)
  return { ...ended, job: { ...ended.job, ending: { ...ending, next: { kind: 'started', runId: null } } } }
}
