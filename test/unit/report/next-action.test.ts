// What to do next: for every way a feature can stand, on each surface, in commands that it has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyCommand } from '../../../src/engine/commands/apply-commands.ts'
import { parseCommand, parseSlash, type Surface } from '../../../src/engine/commands/command-table.ts'
import type { Command } from '../../../src/engine/model/event.ts'
import type { Outcome } from '../../../src/engine/model/feature.ts'
import type { Conclusion, Lease, State } from '../../../src/engine/model/state.ts'
import { newPlan } from '../../../src/engine/planning/proposed-plan.ts'
import { ownSituation, situationOf } from '../../../src/engine/situation.ts'
import { headline } from '../../../src/report/headline.ts'
import { nextAction } from '../../../src/report/next-action.ts'
import { toMarkdown, toPlainText } from '../../../src/report/sentence.ts'
import { complete, concluded, justStarted, large, limits, midRun, NOW, pass, stuck } from './samples.ts'

type Row = {
  state: State
  /** Limits where they matter. */
  under?: Partial<typeof limits>
  /** Whether the lease's holder is at work. */
  lives?: true
  stands: string
  comment: string
  cli: string
}

const LEASE: Lease = {
  holder: 'laptop:42',
  nonce: 'n',
  expiresAt: NOW + 3_600_000,
  runId: null,
  runAttempt: null,
  url: null,
  host: 'laptop',
  pid: 42,
  startTime: '1',
  mark: 'm',
}

const QUESTION = { text: 'Who may sign in?', options: ['Everybody', 'Staff'] }

/** As a checkpoint leaves it between jobs: nobody is at work, and the outcome stands in prd.json, too. */
function between(state: State, outcome: Outcome, reason: string, changes: Partial<State> = {}): State {
  const ended = concluded({ ...state, attempts: {}, ...changes }, outcome, reason)
  return { ...ended, lease: null, prd: { ...ended.prd, run: { ...ended.prd.run, outcome } } }
}

const control = (state: State, changes: Partial<State['control']>): State => ({
  ...state,
  control: { ...state.control, ...changes },
})

const failing = (summary: string, fix: string): State => {
  const ended = between(midRun(), 'error', summary)
  return { ...ended, job: { ...ended.job, halted: { kind: 'error', summary, fix } } }
}

const told = (state: State, command: Omit<Command, 'id' | 'by'> & { kind: Command['kind'] }): State =>
  applyCommand(state, { id: 0, by: 'you', ...command } as Command)

const isStuck = between(stuck(), 'stuck', 'blocked: US-003')
const isComplete = between(complete(), 'complete', 'every story passed its gates')
const noPull = { github: { pull: null, pullUrl: null, comment: null, head: null, unclosed: [] } }
const neverRun: State = { ...justStarted(), ...noPull, nonce: '', published: null, lease: null }
const unjudged = { approved: false, asked: false, sessions: 3, message: 'x' }

const LATER = NOW + 3_600_000

/** The one story that could be worked on rests. */
function resting(): State {
  const state = told(isStuck, { kind: 'retry', stories: ['US-003'], guidance: '' } as never)
  const record = state.records['US-003']
  assert.ok(record !== undefined)
  const breaker = { ...record.breaker, position: 'open' as const, until: LATER }
  return { ...state, records: { ...state.records, 'US-003': { ...record, breaker } } }
}

const TABLE: Record<string, Row> = {
  'before the first run': {
    state: neverRun,
    stands: '0 of 6 stories pass · not started · US-001 is next',
    comment: 'Start with *Run workflow*: `US-001` is next.',
    cli: 'Start with ralph run: US-001 is next.',
  },
  'a run at work elsewhere': {
    state: { ...midRun(), lease: LEASE },
    lives: true,
    stands: '3 of 6 stories pass · US-005 is in progress',
    comment:
      'Nothing to do: Ralph is at work (process 42 on laptop). `/ralph pause` pauses it after this iteration, `/ralph stop` ends it immediately.',
    cli: 'Nothing to do: Ralph is at work (process 42 on laptop). ralph pause pauses it after this iteration, ralph stop ends it immediately.',
  },
  'a run at work, without a pull request': {
    state: { ...midRun(), ...noPull, lease: LEASE },
    lives: true,
    stands: '3 of 6 stories pass · US-005 is in progress',
    comment: 'Nothing to do: Ralph is at work (process 42 on laptop).',
    cli: 'Nothing to do: Ralph is at work (process 42 on laptop). ralph pause pauses it after this iteration, ralph stop ends it immediately.',
  },
  'killed in an iteration': {
    state: { ...midRun(), lease: LEASE },
    stands: '3 of 6 stories pass · US-003 is next',
    comment: 'Continue with `/ralph run`: `US-003` is next.',
    cli: 'Continue with ralph run: US-003 is next.',
  },
  'paused by a person': {
    state: between(
      control(midRun(), { paused: { reason: 'paused by ann', by: 'ann' } }),
      'paused',
      'paused by ann',
    ),
    stands: 'Paused by ann · 3 of 6 stories pass',
    comment: 'Continue with `/ralph run`.',
    cli: 'Continue with ralph run.',
  },
  'questions before a plan': {
    state: between(midRun(), 'paused', 'the questions before the plan are waiting for answers', {
      plan: {
        ...newPlan('sign in', 12),
        interview: { questions: [QUESTION], askedAt: NOW, answers: null },
      },
    }),
    stands: 'Paused: the questions before the plan are waiting for answers · 3 of 6 stories pass',
    comment: 'Answer the questions in issue `#12`: comment `/ralph plan -- 1A, 2C` there.',
    cli: 'Answer the questions in issue #12 on GitHub.',
  },
  'paused by Ralph': {
    state: between(
      control(midRun(), { paused: { reason: 'a gate fails', by: 'ralph' } }),
      'paused',
      'a gate fails',
    ),
    stands: 'Paused: a gate fails · 3 of 6 stories pass',
    comment: 'Fix the reported problem, then continue with `/ralph run`.',
    cli: 'Fix the reported problem, then continue with ralph run.',
  },
  'max-iterations reached': {
    state: between(midRun(), 'max-iterations', 'x'),
    under: { maxIterations: 4 },
    stands: 'Stopped: the limit of 4 iterations is reached · 3 of 6 stories pass',
    comment: 'The work so far is kept. Allow more with `/ralph limit iterations +10`.',
    cli: 'The work so far is kept. Allow more with ralph limit iterations +10. Then continue with ralph run.',
  },
  'max-jobs reached': {
    state: between(midRun(), 'max-iterations', 'x'),
    under: { maxJobs: 1 },
    stands: 'Stopped: the limit of 1 jobs is reached · 3 of 6 stories pass',
    comment: 'Continue with `/ralph run`, which counts jobs from zero again.',
    cli: 'Continue with ralph run, which counts jobs from zero again.',
  },
  'max-cost-usd reached': {
    state: between(midRun(), 'budget', 'x'),
    under: { maxCostUsd: 2 },
    stands: 'Stopped: the cost limit of $2.00 is reached · 3 of 6 stories pass',
    comment: 'The work so far is kept. Allow more with `/ralph limit cost +3`.',
    cli: 'The work so far is kept. Allow more with ralph limit cost +3. Then continue with ralph run.',
  },
  'max-cost-usd exceeded': {
    state: between(midRun(), 'budget', 'x'),
    under: { maxCostUsd: 0.01 },
    stands: 'Stopped: the cost limit of $0.01 is reached · 3 of 6 stories pass',
    comment: 'The work so far is kept. Allow more with `/ralph limit cost +5`.',
    cli: 'The work so far is kept. Allow more with ralph limit cost +5. Then continue with ralph run.',
  },
  'max-tokens reached': {
    state: between(midRun(), 'budget', 'x'),
    under: { maxTokens: 10 },
    stands: 'Stopped: the token limit of 10 is reached · 3 of 6 stories pass',
    comment: 'Raise `max-tokens`, then continue with `/ralph run`.',
    cli: 'Raise max-tokens, then continue with ralph run.',
  },
  'max-agent-time reached': {
    state: between(midRun(), 'budget', 'x'),
    under: { maxAgentTimeMs: 60_000 },
    stands: 'Stopped: the agent-time limit of 1 minutes is reached · 3 of 6 stories pass',
    comment: 'Raise `max-agent-time`, then continue with `/ralph run`.',
    cli: 'Raise max-agent-time, then continue with ralph run.',
  },
  'a limit that was raised after it was reached': {
    state: told(between(midRun(), 'max-iterations', 'x'), {
      kind: 'limit',
      what: 'iterations',
      amount: 10,
    } as never),
    under: { maxIterations: 4 },
    stands: '3 of 6 stories pass · US-003 is next',
    comment: 'Continue with `/ralph run`: `US-003` is next.',
    cli: 'Continue with ralph run: US-003 is next.',
  },
  "waiting for a vendor's limit": {
    state: control(between(midRun(), 'paused', 'x'), { agentLimits: { claude: LATER } }),
    stands: 'Waiting until 2026-01-10 15:05 UTC · 3 of 6 stories pass',
    comment:
      'Nothing to do if the hourly `resume-lost` workflow is set up: it continues the run; `/ralph run` tries again at once.',
    cli: 'ralph run tries again at once, and waits if the limit still holds.',
  },
  'waiting for calls-per-hour': {
    state: control(between(midRun(), 'paused', 'x'), { calls: [NOW] }),
    under: { callsPerHour: 1 },
    stands: 'Waiting until 2026-01-10 15:05 UTC · 3 of 6 stories pass',
    comment: 'Nothing to do if the hourly `resume-lost` workflow is set up: it continues the run.',
    cli: 'ralph run waits until then and continues.',
  },
  'every story rests': {
    state: resting(),
    stands: 'Waiting until 2026-01-10 15:05 UTC · 4 of 6 stories pass',
    comment:
      'Nothing to do if the hourly `resume-lost` workflow is set up: it continues the run; `/ralph retry US-003 -- <hint>` tries US-003 again at once.',
    cli: 'ralph run waits until then and continues; ralph retry US-003 -- <hint> tries US-003 again at once.',
  },
  stuck: {
    state: isStuck,
    stands: 'Stuck: US-003 is blocked · 4 of 6 stories pass',
    comment:
      'Give a hint with `/ralph retry US-003 -- <hint>`, or leave the story out with `/ralph skip US-003`.',
    cli: 'Run ralph why US-003 to see what failed. Give a hint with ralph retry US-003 -- <hint>, or leave the story out with ralph skip US-003. Then continue with ralph run.',
  },
  'stuck, without a pull request': {
    state: { ...isStuck, ...noPull },
    stands: 'Stuck: US-003 is blocked · 4 of 6 stories pass',
    comment:
      'Open a pull request from `ralph/auth` and comment there. Give a hint with `/ralph retry US-003 -- <hint>`, or leave the story out with `/ralph skip US-003`.',
    cli: 'Run ralph why US-003 to see what failed. Give a hint with ralph retry US-003 -- <hint>, or leave the story out with ralph skip US-003. Then continue with ralph run.',
  },
  'stuck, as the judge gave no verdict': {
    state: { ...between(complete(), 'stuck', 'no verdict'), verification: unjudged },
    stands: 'Stuck: the final verification gave no verdict: x · 6 of 6 stories pass',
    comment: 'Ask the judge again with `/ralph verify`.',
    cli: 'Ask the judge again with ralph run.',
  },
  'a retry is pending': {
    state: told(isStuck, { kind: 'retry', stories: ['US-003'], guidance: 'x' } as never),
    stands: '4 of 6 stories pass · US-003 is next',
    comment: 'Continue with `/ralph run`: `US-003` is next.',
    cli: 'Continue with ralph run: US-003 is next.',
  },
  'the blocked story was skipped': {
    state: told(isStuck, { kind: 'skip', stories: ['US-003'], guidance: '' } as never),
    stands: '4 of 6 stories pass, 1 skipped · US-006 is next',
    comment: 'Continue with `/ralph run`: `US-006` is next.',
    cli: 'Continue with ralph run: US-006 is next.',
  },
  'a redo is pending': {
    state: told(isComplete, { kind: 'redo', stories: ['US-001'], guidance: '' } as never),
    stands: '5 of 6 stories pass · US-001 is next',
    comment: 'Continue with `/ralph run`: `US-001` is next.',
    cli: 'Continue with ralph run: US-001 is next.',
  },
  'no run at work, and no gate': {
    state: { ...midRun(), job: { ...midRun().job, gatedTags: [] }, attempts: {} },
    stands: 'No gates: no command checks the work · 3 of 6 stories pass · US-003 is next',
    comment: 'Continue with `/ralph run`: `US-003` is next.',
    cli: 'Continue with ralph run: US-003 is next.',
  },
  'all passed, and not yet verified': {
    state: {
      ...between(complete(), 'interrupted', 'x'),
      job: { ...midRun().job },
      verification: { ...unjudged, sessions: 0 },
    },
    stands: '6 of 6 stories pass · the final verification is next',
    comment: 'Continue with `/ralph run`: the final verification is next.',
    cli: 'Continue with ralph run: the final verification is next.',
  },
  complete: {
    state: isComplete,
    stands: 'Complete: 6 of 6 stories pass',
    comment: 'Review this pull request like any other, and merge it.',
    cli: 'Review and merge https://github.com/acme/shop/pull/12',
  },
  'complete, and the pull request is forbidden': {
    state: { ...isComplete, ...noPull },
    stands: 'Complete: 6 of 6 stories pass',
    comment: 'Open a pull request from `ralph/auth`, review it like any other, and merge it.',
    cli: 'Review it with git diff main...ralph/auth, then merge the branch.',
  },
  'the batch is over': {
    state: between(midRun(), 'continued', 'the batch of 5 iterations is done'),
    stands: '3 of 6 stories pass · the batch is over',
    comment: 'Continue with `/ralph run`.',
    cli: 'Continue with ralph run.',
  },
  'the next job was started': {
    state: control(between(midRun(), 'continued', 'x'), { continuePending: true }),
    stands: '3 of 6 stories pass · the next job continues',
    comment: 'Nothing to do: the next job was started.',
    cli: 'Nothing to do: the next job was started.',
  },
  interrupted: {
    state: between(midRun(), 'interrupted', 'cancelled'),
    stands: 'Cancelled, nothing is lost · 3 of 6 stories pass',
    comment: 'Continue with `/ralph run`.',
    cli: 'Continue with ralph run.',
  },
  'the base is red': {
    state: failing('the base is red', 'fix main first, or set baseline: off; its output:\nbad'),
    stands: 'Error: the base is red',
    comment: 'Fix main first, or set baseline: off; then continue with `/ralph run`.',
    cli: 'Fix main first, or set baseline: off; then continue with ralph run.',
  },
  'an error before there is a pull request': {
    state: { ...failing('prepare failed', 'fix the agent'), ...noPull },
    stands: 'Error: prepare failed',
    comment: 'Fix the agent; then continue with *Run workflow*.',
    cli: 'Fix the agent; then continue with ralph run.',
  },
  'an error without a fix': {
    state: between(midRun(), 'error', '3 jobs in a row ended without an iteration'),
    stands: 'Error: 3 jobs in a row ended without an iteration',
    comment: 'Fix the reported problem, then continue with `/ralph run`.',
    cli: 'Fix the reported problem, then continue with ralph run.',
  },
}

for (const [name, { state, under, lives, stands, comment, cli }] of Object.entries(TABLE)) {
  test(`status and next action: ${name}`, () => {
    const bounds = { ...limits, ...under }
    const situation = situationOf(state, bounds, NOW, lives === true)
    assert.equal(headline(state, situation).text, stands)
    assert.equal(toMarkdown(nextAction(state, situation, 'comment', bounds)), comment)
    assert.equal(toPlainText(nextAction(state, situation, 'cli', bounds)), cli)
    for (const surface of ['comment', 'cli'] as const)
      assertTyped(toMarkdown(nextAction(state, situation, surface, bounds)), state, surface)
  })
}

test('many blocked stories are named by one command', () => {
  const userStories = isStuck.prd.userStories.map((story) => ({ ...story, passes: false, blocked: true }))
  const all = { ...isStuck, prd: { ...isStuck.prd, userStories } }
  assert.match(toMarkdown(nextAction(all, ownSituation(all), 'comment')), /`\/ralph retry all`/)
})

test('every outcome of every sample has a next action of one line, in commands of its surface', () => {
  const outcomes: Outcome[] = [
    'complete',
    'stuck',
    'max-iterations',
    'budget',
    'paused',
    'continued',
    'error',
    'interrupted',
  ]
  for (const sample of [
    justStarted(),
    midRun(),
    stuck(),
    complete(),
    large(60),
    pass(justStarted(), 'US-001'),
  ]) {
    for (const state of [sample, { ...sample, ...noPull }]) {
      for (const surface of ['comment', 'cli'] as const) {
        const conclusions = outcomes.map((outcome): Conclusion => ({ outcome, reason: 'x', until: null }))
        const ended = conclusions.map((conclusion) => ({ kind: 'ended' as const, conclusion }))
        for (const situation of [...ended, { kind: 'ready' as const, step: null }, ownSituation(state)]) {
          const said = toMarkdown(nextAction(state, situation, surface))
          assert.match(said, /^(?:[A-Z]|`ralph run` )[^\n]{10,}$/)
          assertTyped(said, state, surface)
        }
      }
    }
  }
})

/** Each command is understood there, by the table that the surface reads. */
function assertTyped(said: string, state: State, surface: Surface): void {
  const ids = state.prd.userStories.map(({ id }) => id)
  for (const [, line = ''] of said.matchAll(/`(\/?ralph [^`]+)`/g)) {
    if (surface === 'comment') {
      assert.notEqual(parseSlash(line, ids).kind, 'none', line)
      assert.notEqual(parseSlash(line, ids).kind, 'mistake', line)
    } else {
      const [words = '', text = ''] = line.split(' -- ')
      const [program, name = '', ...rest] = words.split(' ')
      assert.equal(program, 'ralph')
      assert.notEqual(parseCommand(name, { words: rest, text, below: [] }, ids, 'cli').kind, 'mistake', line)
    }
  }
}
