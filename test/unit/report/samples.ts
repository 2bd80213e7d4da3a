// Runs to render: at their start, in work, stuck, complete, with 60 stories; and the limits they ran under.

import { UNCHANGED } from '../../../src/engine/attempts/attempt-outcome.ts'
import type { Attempt } from '../../../src/engine/model/attempt.ts'
import type { Outcome, Story } from '../../../src/engine/model/feature.ts'
import type { GateResult } from '../../../src/engine/model/gate.ts'
import { newEnding, newJob } from '../../../src/engine/model/job.ts'
import type { Limits } from '../../../src/engine/model/limit-types.ts'
import type { Job, State, StoryRecord, TimelineEntry } from '../../../src/engine/model/state.ts'
import { emptyUsage, type Usage } from '../../../src/engine/model/usage.ts'
import { emptyRun, newStory } from '../../../src/engine/prd/schema.ts'
import { closedBreaker } from '../../../src/engine/state/breaker.ts'
import { entryWith } from '../engine/samples.ts'

/** 2026-01-10 14:05 UTC. */
export const NOW = Date.UTC(2026, 0, 10, 14, 5)

export const limits: Limits = {
  iterationsPerJob: 5,
  maxIterations: 50,
  maxJobs: 35,
  maxAttempts: 3,
  maxInterruptions: 3,
  iterationTimeoutMs: 1_800_000,
  gatesMs: 0,
  agent: 'claude',
  fallback: null,
  waits: false,
  breaker: { noProgress: 3, sameError: 5, outputDecline: 70, coolDownMs: 1_800_000 },
  maxCostUsd: 20,
  maxTokens: null,
  maxAgentTimeMs: null,
  callsPerHour: null,
  baseline: true,
  recordsBaseline: false,
  finalVerification: true,
  weakenedTests: 'judge',
  needsProof: 'off',
  evidence: 'ask',
  approvesPlans: false,
  stopOnBlocked: false,
  redispatch: true,
  publishEach: false,
  maxParallel: 1,
}

export const usage = (costUsd: number, agentSeconds: number): Usage => ({
  ...emptyUsage(),
  calls: 1,
  inputTokens: Math.round(costUsd * 90_000),
  outputTokens: Math.round(costUsd * 12_000),
  costUsd,
  agentSeconds,
})

export const passedGate = (name: string, ms: number): GateResult => ({
  name,
  ok: true,
  advisory: false,
  ended: 'exit 0',
  ms,
  output: '',
})

export const TEST_OUTPUT = `> shop@1.0.0 test
> node --test

✔ a session is made for a known customer (3.1ms)
✔ a wrong password is refused (2.4ms)
✖ five wrong passwords lock the account (6.2ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

  200 !== 429

      at TestContext.<anonymous> (file:///home/runner/work/shop/shop/test/lockout.test.ts:41:10)
      at Test.runInAsyncScope (node:async_hooks:211:14)

ℹ tests 14
ℹ pass 13
ℹ fail 1
`

export const failedGate = (name = 'test', output = TEST_OUTPUT): GateResult => ({
  name,
  ok: false,
  advisory: false,
  ended: 'exit 1',
  ms: 14_200,
  output,
})

const titles: [string, string[], string[]][] = [
  ['Customers sign in with e-mail and password', [], []],
  ['Sessions end after 30 minutes without a request', ['US-001'], []],
  ['Five wrong passwords lock the account for a quarter of an hour', ['US-001'], ['security']],
  ['A forgotten password is reset by mail', ['US-001'], []],
  ['The sign-in form works without JavaScript', ['US-001'], ['ui']],
  ['An administrator sees and ends sessions', ['US-002', 'US-003'], ['ui']],
]

export const stories = (): Story[] =>
  titles.map(([title, dependsOn, tags], at) =>
    newStory({
      id: `US-00${at + 1}`,
      title,
      dependsOn,
      tags,
      priority: at + 1,
      acceptanceCriteria: ['It does.'],
    }),
  )

export const record = (changes: Partial<StoryRecord> = {}): StoryRecord => ({
  failure: null,
  gates: [],
  remarks: [],
  interruptions: 0,
  breaker: closedBreaker(),
  attempts: 0,
  ms: 0,
  commit: null,
  note: '',
  ...changes,
})

const job = (changes: Partial<Job> = {}): Job => ({
  ...newJob(NOW - 900_000, NOW + 18_000_000),
  ready: { synced: true, prepared: true, opened: true },
  ...changes,
})

const sha = (seed: string) => `${seed}c0ffee0123456789abcdef0123456789abcdef`.slice(0, 40)

/** The feature `auth` of six stories, before anything was done. */
export function justStarted(): State {
  return {
    version: 1,
    feature: 'auth',
    importedFrom: null,
    storiesDigest: '',
    folder: '.ralph/2026-01-10-auth',
    branch: 'ralph/auth',
    base: { branch: 'main', sha: sha('aaaa111') },
    nonce: 'n',
    generation: 1,
    prd: {
      schemaVersion: 2,
      project: 'Shop',
      branchName: 'ralph/auth',
      description:
        'Customers sign in to the shop. Sessions are safe, and a forgotten password is no support case.',
      run: { ...emptyRun(), jobs: 1 },
      userStories: stories(),
    },
    green: sha('bbbb222'),
    published: sha('bbbb222'),
    baseline: 'green',
    attempts: {},
    kept: {},
    records: {},
    control: {
      paused: null,
      granted: { iterations: 0, costUsd: 0 },
      notBefore: null,
      agentLimits: {},
      guidance: {},
      lastComment: 0,
      calls: [],
      idleJobs: 0,
      jobsBefore: 0,
      limited: 0,
      continuePending: false,
      mendedRun: null,
      chosen: {},
      scope: null,
      anew: false,
    },
    verification: { approved: false, asked: false, sessions: 0, message: '' },
    progress: [],
    recent: [],
    timeline: [],
    sessions: [],
    lease: null,
    github: {
      pull: 12,
      pullUrl: 'https://github.com/acme/shop/pull/12',
      comment: null,
      head: null,
      unclosed: [],
    },
    job: job(),
  }
}

/** The state with a passed story in which nothing was changed: a judge said that nothing had to be. */
export function unchanged(state: State, id: string): State {
  const userStories = state.prd.userStories.map((story) =>
    story.id === id && story.lastResult !== null
      ? { ...story, lastResult: { ...story.lastResult, summary: UNCHANGED, how: 'unchanged' as const } }
      : story,
  )
  return { ...state, prd: { ...state.prd, userStories } }
}

/** The state with a story passed at its `attempts`-th attempt. */
export function pass(state: State, id: string, attempts = 1, costUsd = 0.42, seconds = 138): State {
  const iteration = state.prd.run.iterations + 1
  const commit = sha(`${id.slice(-2)}${iteration}`.replace(/\D/g, 'd').padStart(4, 'e'))
  const spent = usage(costUsd, seconds)
  return timed(
    {
      ...state,
      green: commit,
      prd: {
        ...state.prd,
        run: { ...state.prd.run, iterations: iteration },
        userStories: state.prd.userStories.map((story) =>
          story.id === id
            ? {
                ...story,
                passes: true,
                retries: attempts - 1,
                lastResult: {
                  completedAt: '2026-01-10T14:00:00.000Z',
                  commit,
                  summary: 'every gate passed',
                  iteration,
                  attempts,
                  evidence: [
                    {
                      criterion: 1,
                      shown: 'test/cart.test.ts:14 adds two',
                      path: 'test/cart.test.ts',
                      line: 14,
                    },
                    { criterion: 1, shown: 'gate test runs it' },
                  ],
                },
              }
            : story,
        ),
      },
      records: {
        ...state.records,
        [id]: record({
          ...state.records[id],
          failure: null,
          gates: [passedGate('typecheck', 2100), passedGate('test', 13_400)],
          attempts,
          ms: (state.records[id]?.ms ?? 0) + seconds * 1000 + 15_500,
          commit,
        }),
      },
    },
    entry(id, iteration, attempts, 'passed', 'every gate passed', seconds * 1000 + 15_500),
    spent,
  )
}

/** The state with an attempt of a story rejected by the gate `test`. */
export function reject(state: State, id: string, blocked = false): State {
  const iteration = state.prd.run.iterations + 1
  const spent = usage(0.61, 204)
  const before = state.records[id]
  const attempts = (before?.attempts ?? 0) + 1
  const summary = 'gate test failed (exit 1)'
  return timed(
    {
      ...state,
      prd: {
        ...state.prd,
        run: { ...state.prd.run, iterations: iteration },
        userStories: state.prd.userStories.map((story) =>
          story.id === id
            ? {
                ...story,
                retries: attempts,
                blocked,
                notes: blocked
                  ? `blocked after ${attempts} failed attempts: ${summary}. The command retry ${id} -- <hint> tries it again`
                  : summary,
              }
            : story,
        ),
      },
      records: {
        ...state.records,
        [id]: record({
          ...before,
          failure: { kind: 'gates', summary, detail: '', gate: 'test' },
          gates: [passedGate('typecheck', 2300), failedGate()],
          attempts,
          ms: (before?.ms ?? 0) + 220_500,
        }),
      },
    },
    entry(id, iteration, attempts, 'rejected', summary, 220_500),
    spent,
  )
}

/** The state with a session at work on a story. */
export function working(state: State, id: string): State {
  const story = state.prd.userStories.find((one) => one.id === id)
  const attempt: Attempt = {
    storyId: id,
    number: (story?.retries ?? 0) + 1,
    iteration: state.prd.run.iterations + 1,
    startedAt: NOW,
    agent: 'first',
    base: state.green,
    reserved: { costUsd: null, tokens: null },
    unwanted: false,
    runner: { at: 'checkout' },
    phase: 'reserved',
  }
  return {
    ...state,
    attempts: { [id]: attempt },
    prd: { ...state.prd, run: { ...state.prd.run, currentStoryId: id } },
    records: {
      ...state.records,
      [id]: record({ ...state.records[id], attempts: (state.records[id]?.attempts ?? 0) + 1 }),
    },
  }
}

export function concluded(
  state: State,
  outcome: Outcome,
  reason: string,
  until: number | null = null,
): State {
  return {
    ...state,
    attempts: {},
    job: { ...state.job, ending: newEnding({ outcome, reason, until }, NOW) },
  }
}

/** Three of six pass, one was rejected once, US-005 is in work. */
export function midRun(): State {
  const four = pass(pass(pass(justStarted(), 'US-001'), 'US-002', 1, 0.38, 97), 'US-004', 1, 0.77, 301)
  return working(reject(four, 'US-003'), 'US-005')
}

/** US-003 failed three times; US-006 waits for it. */
export function stuck(): State {
  const most = pass(pass(pass(justStarted(), 'US-001'), 'US-002', 1, 0.38, 97), 'US-004', 1, 0.77, 301)
  const blocked = reject(reject(reject(most, 'US-003'), 'US-003'), 'US-003', true)
  return concluded(pass(blocked, 'US-005'), 'stuck', 'blocked: US-003')
}

export function complete(): State {
  let state = reject(justStarted(), 'US-003')
  for (const story of state.prd.userStories) state = pass(state, story.id, story.id === 'US-003' ? 2 : 1)
  return concluded(
    {
      ...state,
      verification: {
        approved: true,
        asked: false,
        sessions: 0,
        message: 'every criterion was judged to be met',
      },
    },
    'complete',
    'every story passed its gates',
  )
}

/** US-002 passed by the third of three candidates. */
export function chosenAmongThree(): State {
  const state = complete()
  const results = ['green, 140 lines, 2 remarks', 'gate test failed (exit 1)', 'green, 38 lines']
  const candidates = results.map((result, at) => ({ slot: at + 1, startedAt: NOW - 500_000 + at, result }))
  const sessions = candidates.map(({ startedAt }, at) =>
    entryWith({ ...usage(0.3 + at / 10, 100), storyId: 'US-002', iteration: 10 + at, attempt: startedAt }),
  )
  const choice = { slot: 3, why: 'the smallest change that passed its gates', candidates }
  const records = { ...state.records, 'US-002': { ...record(), ...state.records['US-002'], choice } }
  return { ...state, records, sessions: [...state.sessions, ...sessions] }
}

/** `count` stories in chains of five, the first third passed, one in work. */
export function large(count: number): State {
  const userStories = Array.from({ length: count }, (_, at) =>
    newStory({
      id: id(at),
      title: `${titles[at % titles.length]?.[0]} (${at + 1})`,
      dependsOn: at % 5 === 0 ? [] : [id(at - 1)],
      priority: at + 1,
    }),
  )
  let state: State = justStarted()
  state = { ...state, prd: { ...state.prd, userStories } }
  const third = Math.floor(count / 3)
  for (let at = 0; at < third; at += 1) state = pass(state, id(at))
  state = reject(reject(reject(state, id(third)), id(third)), id(third), true)
  return working(state, id(third + 5 - (third % 5)))
}

function id(at: number): string {
  return `US-${String(at + 1).padStart(3, '0')}`
}

function entry(
  storyId: string,
  iteration: number,
  attempt: number,
  result: TimelineEntry['result'],
  summary: string,
  ms: number,
): TimelineEntry {
  const at = NOW - 3_600_000 + iteration * 300_000
  return {
    iteration,
    storyId,
    attempt,
    result,
    summary,
    ms,
    startedAt: at - ms,
    at,
    job: 1,
  }
}

function timed(state: State, added: TimelineEntry, spent: Usage): State {
  const { storyId, iteration, startedAt: attempt = null, at } = added
  const session = entryWith({ ...spent, storyId, iteration, attempt, to: at })
  const sessions = [...state.sessions, session]
  return { ...state, sessions, timeline: [...state.timeline, added].slice(-200) }
}
