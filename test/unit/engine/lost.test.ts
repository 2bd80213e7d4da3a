// resume-lost: which chains are started again, and which are left in peace.

import assert from 'node:assert/strict'
import test from 'node:test'
import { released } from '../../../src/engine/job-end.ts'
import {
  lostChainReason,
  mayHaveOpenChecks,
  nextJobAmong,
  type UnfinishedRun,
  wakeObstacle,
} from '../../../src/engine/lease.ts'
import { emptyControl, newJob, withConclusion } from '../../../src/engine/model/job.ts'
import type { Lease, State } from '../../../src/engine/model/state.ts'
import { emptyRun } from '../../../src/engine/prd/schema.ts'
import { limitsWith } from './samples.ts'

const NOW = 1_800_000_000_000
const lease: Lease = {
  holder: 'run 1.1',
  nonce: 'n',
  expiresAt: NOW + 60_000,
  runId: 1,
  runAttempt: 1,
  url: null,
  host: 'h',
  pid: 1,
  startTime: '1',
  mark: 'mark',
}

type Part = Pick<State, 'lease' | 'job' | 'control' | 'prd'>

function state(part: Partial<Part>): State {
  const prd = {
    schemaVersion: 2 as const,
    project: '',
    branchName: '',
    description: '',
    run: emptyRun(),
    userStories: [],
  }
  const whole: Part = {
    lease: null,
    job: newJob(NOW - 1000, NOW + 3_600_000),
    control: emptyControl(),
    prd,
    ...part,
  }
  return {
    version: 1,
    feature: 'auth',
    importedFrom: null,
    storiesDigest: '',
    folder: '.ralph/2026-01-31-auth',
    branch: 'ralph/auth',
    base: { branch: 'main', sha: 'a' },
    nonce: 'n',
    generation: 3,
    green: 'a',
    published: 'a',
    baseline: 'green',
    attempts: {},
    kept: {},
    records: {},
    verification: { approved: false, asked: false, sessions: 0, message: '' },
    progress: [],
    recent: [],
    timeline: [],
    sessions: [],
    github: { pull: null, pullUrl: null, comment: null, head: null, unclosed: [] },
    ...whole,
  }
}

const held = state({ lease })
const ran = (conclusion: string, at = NOW) => ({ status: 'completed', conclusion, at })

test('resume-lost: a lease holder that works is left alone', () => {
  assert.equal(lostChainReason(held, { status: 'in_progress', conclusion: null, at: NOW }, NOW), null)
  assert.equal(lostChainReason(held, null, NOW), null)
})

test('resume-lost: a holder whose run failed or vanished is resumed', () => {
  assert.match(lostChainReason(held, ran('failure'), NOW) ?? '', /was lost/)
  assert.match(lostChainReason(held, null, NOW + 120_000) ?? '', /was lost/)
})

test('resume-lost: a job that a person cancelled is not resumed; one that GitHub ended after the deadline is', () => {
  assert.equal(lostChainReason(held, ran('cancelled'), NOW), null)
  assert.equal(
    lostChainReason(held, ran('cancelled'), NOW + 4_000_000),
    null,
    'also when it is looked at late',
  )
  assert.match(lostChainReason(held, ran('cancelled', NOW + 4_000_000), NOW + 4_000_000) ?? '', /was lost/)
})

test('resume-lost: a job that still waits to dispatch the next one is left alone', () => {
  const limits = limitsWith({ iterationsPerJob: 1 })
  const conclusion = { outcome: 'continued' as const, reason: 'the batch is done', until: null }
  const left = released(withConclusion(held, conclusion), limits)
  assert.equal(lostChainReason(left, { status: 'in_progress', conclusion: null, at: NOW }, NOW), null)
  assert.match(lostChainReason(left, ran('success'), NOW) ?? '', /never started/)
  assert.equal(lostChainReason(left, ran('cancelled'), NOW), null, 'a person cancelled the wait')
})

test('resume-lost: a job whose post step released the lease is resumed, unless a person cancelled it', () => {
  const mended = state({ control: { ...emptyControl(), continuePending: true, mendedRun: 7 } })
  assert.match(lostChainReason(mended, ran('failure'), NOW) ?? '', /never started/)
  assert.equal(lostChainReason(mended, ran('cancelled'), NOW), null)
  assert.equal(lostChainReason(mended, { status: 'in_progress', conclusion: null, at: NOW }, NOW), null)
  assert.equal(lostChainReason(mended, null, NOW), null, 'what could not be asked is asked the next time')
})

test('a stack is not put in order while a job works, and not by a job that would continue what a person stopped', () => {
  const running = { status: 'in_progress', conclusion: null, at: NOW }
  assert.equal(wakeObstacle(state({}), null, NOW), null)
  assert.equal(wakeObstacle(held, running, NOW), 'working')
  assert.equal(wakeObstacle(held, ran('failure'), NOW), null)
  // A person's machine has no run; and GitHub may not answer.
  const local = state({ lease: { ...lease, runId: null } })
  assert.equal(wakeObstacle(local, null, NOW), 'working')
  assert.equal(wakeObstacle(local, null, NOW + 120_000), null)
  assert.match(wakeObstacle(held, ran('cancelled'), NOW) ?? '', /a person cancelled/)
  assert.equal(wakeObstacle(held, ran('cancelled', NOW + 4_000_000), NOW + 4_000_000), null)
  const mended = state({ control: { ...emptyControl(), mendedRun: 7 } })
  assert.match(wakeObstacle(mended, ran('cancelled'), NOW) ?? '', /a person cancelled/)
  const paused = { ...emptyControl(), paused: { by: 'alice', reason: 'a pause' } }
  assert.match(wakeObstacle(state({ control: paused }), null, NOW) ?? '', /a person paused/)
  const idle = { ...emptyControl(), idleJobs: 3 }
  assert.match(wakeObstacle(state({ control: idle }), null, NOW) ?? '', /no progress/)
  const waiting = state({ control: { ...emptyControl(), notBefore: NOW + 1000 } })
  assert.match(wakeObstacle(waiting, null, NOW) ?? '', /^it waits until 20\d\d-/)
  assert.equal(wakeObstacle(waiting, null, NOW + 2000), null)
})

test('resume-lost: a chain whose jobs make no progress is not resumed', () => {
  const control = { ...emptyControl(), continuePending: true, idleJobs: 3 }
  assert.equal(lostChainReason(state({ control }), null, NOW), null)
  assert.equal(lostChainReason(state({ control, lease }), ran('failure'), NOW), null)
})

test('resume-lost: a next job that never started is resumed', () => {
  assert.match(
    lostChainReason(state({ control: { ...emptyControl(), continuePending: true } }), null, NOW) ?? '',
    /never started/,
  )
})

test('resume-lost: a paused or waiting chain is not resumed, one whose wait is over is', () => {
  const paused = { reason: 'paused by alice', by: 'alice' }
  const control = { ...emptyControl(), continuePending: true }
  assert.equal(lostChainReason(state({ control: { ...control, paused } }), null, NOW), null)
  assert.equal(lostChainReason(state({ control: { ...control, notBefore: NOW + 1 } }), null, NOW), null)
  const run = { ...emptyRun(), outcome: 'paused' as const }
  const waited = state({ control: { ...emptyControl(), notBefore: NOW - 1 } })
  assert.match(lostChainReason({ ...waited, prd: { ...waited.prd, run } }, null, NOW) ?? '', /over/)
})

test('resume-lost: a chain that ended, or was interrupted and saved, is not resumed', () => {
  assert.equal(lostChainReason(state({}), null, NOW), null)
})

test('resume-lost: checks that a job left open are closed within the 14 days in which GitHub shows them as open', () => {
  const DAY = 24 * 3_600_000
  const begun = (ago: number): State => ({
    ...state({ job: newJob(NOW - ago, NOW - ago + 3_600_000, []) }),
    published: 'head',
  })
  assert.equal(mayHaveOpenChecks(begun(14 * DAY - 60_000), null, NOW), true)
  assert.equal(mayHaveOpenChecks(begun(14 * DAY + 60_000), null, NOW), false)

  const recent = begun(DAY)
  assert.equal(mayHaveOpenChecks({ ...recent, published: null }, null, NOW), false, 'nothing was published')
  assert.equal(mayHaveOpenChecks({ ...recent, lease }, null, NOW), false, 'whose job could not be asked')
  assert.equal(
    mayHaveOpenChecks({ ...recent, lease }, { status: 'in_progress', conclusion: null, at: NOW }, NOW),
    false,
  )
  assert.equal(mayHaveOpenChecks({ ...recent, lease }, ran('success'), NOW), true)
  const mended = { ...recent, control: { ...emptyControl(), mendedRun: 7 } }
  assert.equal(mayHaveOpenChecks(mended, null, NOW), false, 'it may still start the next one')
})

test('the next job of a feature is known by its name, or by the promise of the chain', () => {
  const control = { ...emptyControl(), mendedRun: 1 }
  const [promised, ended] = [true, false].map((continuePending) =>
    state({ control: { ...control, continuePending } }),
  )
  const base = { id: 2, url: 'u', title: 'Ralph auth', isNamed: true, hasBegun: false, since: NOW }
  const isNext = (of: State | undefined, run: Partial<UnfinishedRun>) =>
    nextJobAmong([{ ...base, ...run }], of ?? held)?.id === 2
  assert.deepEqual([isNext(promised, {}), isNext(ended, {})], [true, true])
  assert.equal(isNext(promised, { title: 'Ralph oauth' }), false, 'another feature')
  assert.equal(isNext(promised, { since: NOW - 2000 }), false, 'older than the last job')
  assert.deepEqual(
    [promised, ended].map((of) => isNext(of, { isNamed: false, title: 'Ralph' })),
    [true, false],
  )
  assert.deepEqual(
    [promised, ended].map((of) => isNext(of, { hasBegun: true })),
    [true, false],
  )
  const itself = state({ control: { ...control, continuePending: true, mendedRun: 2 } })
  assert.equal(isNext(itself, { hasBegun: true }), false, 'the job that ends')
})
