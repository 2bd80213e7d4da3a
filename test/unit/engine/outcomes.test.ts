// Every outcome of design 2: when a run ends so, and what running again does.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { withScope } from '../../../src/engine/commands/apply-commands.ts'
import { released } from '../../../src/engine/job-end.ts'
import type { Command } from '../../../src/engine/model/event.ts'
import { haltError } from '../../../src/engine/model/job.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { emptyUsage } from '../../../src/engine/model/usage.ts'
import { runUsage } from '../../../src/engine/model/usage-totals.ts'
import { outcomeOf } from '../../../src/engine/next-step.ts'
import { reduce } from '../../../src/engine/reduce.ts'
import { ownSituation } from '../../../src/engine/situation.ts'
import { nextJobHeldUntil, tally } from '../../../src/report/headline.ts'
import { nextAction } from '../../../src/report/next-action.ts'
import { toPlainText } from '../../../src/report/sentence.ts'
import {
  anotherJob,
  gate,
  HOUR,
  limitsWith,
  MINUTE,
  NOW,
  runJob,
  type Script,
  saying,
  session,
  stateOf,
  stories,
  storyOf,
  used,
} from './samples.ts'

const red: Script = (step) =>
  step.kind === 'gates'
    ? { kind: 'gated', commit: step.attempt.candidate.commit, gates: [gate(false)] }
    : null
const failing: Script = (step) =>
  step.kind === 'agent' ? { kind: 'worked', session: session({ status: 'failed', message: 'exit 1' }) } : null
const run: Command = { id: 1, by: 'ann', kind: 'run' }

describe('the outcome complete', () => {
  test('when every story passes, one iteration each, ordered by priority and dependencies', () => {
    const [one, two, three] = stories('US-001', 'US-002', 'US-003')
    assert.ok(one && two && three)
    const start = stateOf([{ ...one, dependsOn: ['US-003'] }, { ...two, priority: 2 }, three])
    const ran = runJob(start, limitsWith())
    assert.equal(ran.outcome, 'complete')
    assert.deepEqual(
      ran.steps.filter((step) => step.startsWith('reserve')),
      ['reserve US-003', 'reserve US-001', 'reserve US-002'],
    )
    assert.equal(ran.state.prd.run.iterations, 3)
    assert.equal(ran.state.prd.run.outcome, 'complete')
    assert.equal(ran.state.prd.run.completedAt, new Date(ran.state.job.ending?.at ?? 0).toISOString())
    assert.equal(ran.state.lease, null)
    assert.ok(!ran.steps.includes('dispatch'))
  })

  test('of selected stories: the reason names them, and a run without a selection goes on', () => {
    const [one, two] = stories('US-001', 'US-002')
    assert.ok(one && two)
    const start = stateOf([one, { ...two, epicId: 'a' }])
    const ran = runJob(withScope(start, { stories: [], epic: 'a', job: 1 }), limitsWith())
    assert.equal(ran.outcome, 'complete')
    assert.equal(tally(ran.state), '1 of 1 story of epic a passes; 1 other is not in this run')
    assert.deepEqual(
      ran.steps.filter((step) => step.startsWith('reserve')),
      ['reserve US-002'],
    )
    assert.equal(runJob(anotherJob(withScope(ran.state, null)), limitsWith()).outcome, 'complete')
    // A comment that says so in a later job means the rest; heard in the job that was asked for the part, it does not.
    const heard = (state: State) =>
      reduce(state, { kind: 'synced', at: NOW, commands: [run], theirs: null }, limitsWith()).control.scope
    assert.equal(heard(anotherJob(ran.state)), null)
    assert.equal(heard(ran.state)?.epic, 'a')
  })

  test('of more stories than before: verified again; of fewer: not', () => {
    const state = stateOf(stories('US-001', 'US-002').map((story) => ({ ...story, passes: true })))
    const approved = { ...state, verification: { ...state.verification, approved: true } }
    const part = { stories: ['US-001'], epic: null, job: 1 }
    assert.equal(withScope(approved, part).verification.approved, true)
    const narrow = { ...approved, control: { ...approved.control, scope: part } }
    assert.equal(withScope(narrow, null).verification.approved, false)
  })

  test('with final-verification only after its approval', () => {
    const ran = runJob(stateOf(stories('US-001')), limitsWith({ finalVerification: true }))
    assert.equal(ran.outcome, 'complete')
    assert.equal(ran.steps.filter((step) => step === 'verify').length, 1)
    assert.equal(ran.state.prd.run.iterations, 1, 'the verification is no iteration')
    assert.equal(runUsage(ran.state).costUsd, 2, 'but it is paid for')
  })

  test('when the last iteration, or the last of the budget, passes the last story', () => {
    const last = runJob(stateOf(stories('US-001', 'US-002')), limitsWith({ maxIterations: 2 }))
    assert.equal(last.outcome, 'complete')
    const spent = runJob(stateOf(stories('US-001', 'US-002')), limitsWith({ maxCostUsd: 2 }))
    assert.equal(spent.outcome, 'complete')
  })

  test('also when a verification is needed after the last iteration', () => {
    const ran = runJob(stateOf(stories('US-001')), limitsWith({ maxIterations: 1, finalVerification: true }))
    assert.equal(ran.outcome, 'complete')
  })

  test('with skipped stories, which count as neither passed nor open', () => {
    const [one, two] = stories('US-001', 'US-002')
    assert.ok(one && two)
    const ran = runJob(
      stateOf([
        { ...one, skipped: true },
        { ...two, dependsOn: ['US-001'] },
      ]),
      limitsWith(),
    )
    assert.equal(ran.outcome, 'complete')
    assert.equal(storyOf(ran.state, 'US-001').passes, false)
  })

  test('run again changes nothing', () => {
    const first = runJob(stateOf(stories('US-001')), limitsWith({ finalVerification: true }))
    const again = runJob(anotherJob(first.state), limitsWith({ finalVerification: true }))
    assert.equal(again.outcome, 'complete')
    assert.deepEqual(again.steps, ['sync', 'conclude complete', 'publish', 'report'])
    assert.equal(again.state.prd.run.completedAt, first.state.prd.run.completedAt)
    assert.deepEqual(again.state.prd.userStories, first.state.prd.userStories)
  })

  test('is not reached with work that could not be pushed', () => {
    const refused: Script = (step, state) =>
      step.kind === 'publish' && state.job.branch.kind !== 'refused'
        ? { kind: 'push-refused', summary: 'the remote refused ralph/auth: protected branch' }
        : null
    const ran = runJob(stateOf(stories('US-001')), limitsWith(), refused)
    assert.equal(ran.outcome, 'paused', 'the code is not on the branch that people see')
    assert.match(ran.conclusion.reason, /protected branch/)
    const again = runJob(anotherJob(ran.state), limitsWith(), refused)
    assert.equal(again.outcome, 'paused')
    const mended = runJob(anotherJob(ran.state), limitsWith(), saying([run]))
    assert.equal(mended.outcome, 'complete')
  })

  test('is not reached with work that conflicts with commits of people', () => {
    const conflict: Script = (step, state) => {
      if (step.kind === 'join') return { kind: 'join-failed', summary: 'it conflicts in src/a.ts' }
      return step.kind === 'publish' && state.job.branch.kind !== 'refused'
        ? { kind: 'diverged', theirs: 'theirs' }
        : null
    }
    const ran = runJob(stateOf(stories('US-001')), limitsWith(), conflict)
    assert.equal(ran.outcome, 'paused')
    assert.match(ran.conclusion.reason, /conflicts/)
  })
})

describe('the outcome stuck', () => {
  test('when selected stories wait for one outside that was reset', () => {
    const [one, two] = stories('US-001', 'US-002')
    assert.ok(one && two)
    const start = stateOf([one, { ...two, dependsOn: ['US-001'] }])
    const ran = runJob(withScope(start, { stories: ['US-002'], epic: null, job: 1 }), limitsWith())
    assert.equal(ran.outcome, 'stuck')
    assert.equal(ran.conclusion.reason, 'the remaining stories depend on stories outside this run: US-001')
    const move = toPlainText(nextAction(ran.state, ownSituation(ran.state), 'cli'))
    assert.equal(
      move,
      'Add the missing dependency to the run with ralph retry US-001. Then continue with ralph run.',
    )
  })

  test('when all open stories are blocked, or wait for blocked ones', () => {
    const [one, two, three] = stories('US-001', 'US-002', 'US-003')
    assert.ok(one && two && three)
    const start = stateOf([one, { ...two, dependsOn: ['US-001'] }, three])
    const ran = runJob(start, limitsWith({ maxAttempts: 2 }), (step, state, now) =>
      step.kind === 'gates' && step.attempt.storyId === 'US-001' ? red(step, state, now) : null,
    )
    assert.equal(ran.outcome, 'stuck')
    assert.match(ran.conclusion.reason, /US-001/)
    assert.deepEqual(
      ran.state.prd.userStories.map(({ passes, blocked }) => [passes, blocked]),
      [
        [false, true],
        [false, false],
        [true, false],
      ],
    )
    assert.match(
      storyOf(ran.state, 'US-001').notes,
      /blocked after 2 failed attempts: gate test failed.*The command retry US-001 -- /,
    )
  })

  test('run again changes nothing until a retry', () => {
    const limits = limitsWith({ maxAttempts: 1 })
    const stuck = runJob(stateOf(stories('US-001')), limits, red)
    assert.equal(stuck.outcome, 'stuck')
    const again = runJob(anotherJob(stuck.state), limits)
    assert.deepEqual([again.outcome, again.state.prd.run.iterations], ['stuck', 1])
    const retry: Command = { id: 5, by: 'ann', kind: 'retry', stories: 'all', guidance: 'use the index' }
    const retried = runJob(anotherJob(again.state), limits, saying([retry]))
    assert.equal(retried.outcome, 'complete')
    assert.equal(retried.state.prd.run.iterations, 2)
  })

  test('with stop-on-blocked after the first blocked story', () => {
    const limits = limitsWith({ maxAttempts: 1, stopOnBlocked: true })
    const ran = runJob(stateOf(stories('US-001', 'US-002')), limits, red)
    assert.equal(ran.outcome, 'stuck')
    assert.equal(ran.state.prd.run.iterations, 1)
    const [one, two] = stories('US-001', 'US-002')
    assert.ok(one && two)
    const without = runJob(stateOf([one, two]), limitsWith({ maxAttempts: 1 }), red)
    assert.equal(without.state.prd.run.iterations, 2, 'without it the others go on')
  })

  test('when max-attempts verifications gave no verdict; `run` allows another', () => {
    const limits = limitsWith({ finalVerification: true, maxAttempts: 2 })
    const silent: Script = (step) =>
      step.kind === 'judge-whole'
        ? {
            kind: 'verified',
            gates: [gate(true)],
            verdict: { kind: 'none', message: 'it crashed' },
            usage: used(1),
          }
        : null
    const ran = runJob(stateOf(stories('US-001')), limits, silent)
    assert.equal(ran.outcome, 'stuck')
    assert.match(ran.conclusion.reason, /no verdict: it crashed/)
    assert.deepEqual(
      ran.steps.filter((step) => step === 'verify' || step === 'judge-whole'),
      ['verify', 'judge-whole', 'judge-whole'],
      'the gates were green, so only the judge is asked again',
    )
    assert.equal(storyOf(ran.state, 'US-001').passes, true)
    assert.equal(runJob(anotherJob(ran.state), limits).outcome, 'stuck')
    assert.equal(runJob(anotherJob(ran.state), limits, saying([run])).outcome, 'complete')
  })
})

describe('the outcome max-iterations', () => {
  test('after exactly the allowed number, failed ones included', () => {
    const ran = runJob(stateOf(stories('US-001')), limitsWith({ maxIterations: 4, maxAttempts: 9 }), failing)
    assert.equal(ran.outcome, 'max-iterations')
    assert.equal(ran.state.prd.run.iterations, 4)
    assert.ok(!ran.steps.includes('dispatch'))
  })

  test('goes on only after it was raised, and only up to it', () => {
    const limits = limitsWith({ maxIterations: 2, maxAttempts: 9 })
    const ran = runJob(stateOf(stories('US-001')), limits, failing)
    const again = runJob(anotherJob(ran.state), limits, saying([run], failing))
    assert.deepEqual([again.outcome, again.state.prd.run.iterations], ['max-iterations', 2])
    const raised: Command = { id: 9, by: 'ann', kind: 'limit', what: 'iterations', amount: 3 }
    const more = runJob(anotherJob(again.state), limits, saying([raised], failing))
    assert.deepEqual([more.outcome, more.state.prd.run.iterations], ['max-iterations', 5])
    const input = runJob(anotherJob(again.state), { ...limits, maxIterations: 3 }, failing)
    assert.deepEqual([input.outcome, input.state.prd.run.iterations], ['max-iterations', 3])
  })

  test('0 is no limit', () => {
    const ran = runJob(stateOf(stories('US-001')), limitsWith({ maxIterations: 0, maxAttempts: 60 }), failing)
    assert.deepEqual([ran.outcome, ran.state.prd.run.iterations], ['stuck', 60])
  })

  test('max-jobs limits the jobs of a chain', () => {
    const limits = limitsWith({ iterationsPerJob: 1, maxJobs: 3, maxAttempts: 50 })
    let ran = runJob(stateOf(stories('US-001')), limits, failing)
    const ends = [ran.outcome]
    while (ran.outcome === 'continued') {
      ran = runJob(anotherJob(ran.state), limits, failing)
      ends.push(ran.outcome)
    }
    assert.deepEqual(ends, ['continued', 'continued', 'continued', 'max-iterations'])
    assert.match(ran.conclusion.reason, /3 jobs/)
    assert.equal(ran.state.prd.run.iterations, 3)
  })

  test('`limit iterations` raises max-jobs with it', () => {
    // max-jobs is 3 x ceil(4 / 1) + 5; 40 more iterations need 40 more jobs.
    const limits = limitsWith({ iterationsPerJob: 1, maxIterations: 4, maxJobs: 17, maxAttempts: 99 })
    const raised: Command = { id: 9, by: 'ann', kind: 'limit', what: 'iterations', amount: 40 }
    let ran = runJob(stateOf(stories('US-001')), limits, saying([raised], failing))
    while (ran.outcome === 'continued') ran = runJob(anotherJob(ran.state), limits, failing)
    assert.deepEqual([ran.outcome, ran.state.prd.run.iterations], ['max-iterations', 44])
  })

  test('repeated pauses and runs by people use up iterations, not jobs', () => {
    // As on the CLI, where all iterations are one job and max-jobs is 8.
    const limits = limitsWith({ maxJobs: 8 })
    const ids = Array.from({ length: 12 }, (_, index) => `US-${index + 1}`)
    let ran = runJob(stateOf(stories(...ids)), limits, pausingAfterOne(1))
    for (let job = 2; job <= 12; job += 1)
      ran = runJob(anotherJob(ran.state), limits, pausingAfterOne(10 * job))
    assert.equal(ran.outcome, 'complete', ran.conclusion.reason)
  })
})

/** `run` at the first look, `pause` at the second. */
function pausingAfterOne(id: number): Script {
  const said: Command[][] = [[{ id, by: 'ann', kind: 'run' }], [{ id: id + 1, by: 'ann', kind: 'pause' }]]
  return (step) =>
    step.kind === 'sync' ? { kind: 'synced', commands: said.shift() ?? [], theirs: null } : null
}

describe('the outcome budget', () => {
  for (const [name, changes] of [
    ['cost', { maxCostUsd: 2 }],
    ['tokens', { maxTokens: 2000 }],
    ['agent time', { maxAgentTimeMs: 20_000 }],
  ] as const) {
    test(`of ${name}: no session begins when it is used up`, () => {
      const ran = runJob(stateOf(stories('US-001', 'US-002', 'US-003')), limitsWith(changes))
      assert.equal(ran.outcome, 'budget')
      assert.equal(ran.state.prd.run.iterations, 2, ran.conclusion.reason)
      const again = runJob(anotherJob(ran.state), limitsWith(changes), saying([run]))
      assert.deepEqual([again.outcome, again.state.prd.run.iterations], ['budget', 2])
    })
  }

  test('`limit cost` raises it', () => {
    const limits = limitsWith({ maxCostUsd: 1 })
    const ran = runJob(stateOf(stories('US-001', 'US-002', 'US-003')), limits)
    const raised: Command = { id: 3, by: 'ann', kind: 'limit', what: 'cost', amount: 1 }
    const more = runJob(anotherJob(ran.state), limits, saying([raised]))
    assert.deepEqual([more.outcome, more.state.prd.run.iterations], ['budget', 2])
  })

  test('when a verification exceeds it', () => {
    const ran = runJob(stateOf(stories('US-001')), limitsWith({ maxCostUsd: 1, finalVerification: true }))
    assert.equal(ran.outcome, 'budget')
    assert.ok(!ran.steps.includes('verify'))
  })

  test('uncharged sessions count, too', () => {
    const limits = limitsWith({ maxCostUsd: 1 })
    const limited: Script = (step, _state, now) =>
      step.kind === 'agent'
        ? { kind: 'worked', session: session({ status: 'limit', resetsAt: now + MINUTE }) }
        : null
    const ran = runJob(stateOf(stories('US-001')), limits, limited)
    assert.deepEqual([ran.outcome, ran.state.prd.run.iterations], ['budget', 0])
  })
})

describe('the outcome paused', () => {
  test('by a person: the iteration in work ends, and no other begins until `run`', () => {
    const pause: Command = { id: 2, by: 'ann', kind: 'pause' }
    let looks = 0
    const ran = runJob(stateOf(stories('US-001', 'US-002')), limitsWith(), (step) => {
      if (step.kind !== 'sync') return null
      looks += 1
      return { kind: 'synced', commands: looks === 2 ? [pause] : [], theirs: null }
    })
    assert.deepEqual([ran.outcome, ran.conclusion.reason], ['paused', 'paused by ann'])
    assert.equal(ran.state.prd.run.iterations, 1)
    const again = runJob(anotherJob(ran.state), limitsWith())
    assert.deepEqual(again.steps, ['sync', 'conclude paused', 'publish', 'report'])
    assert.deepEqual(again.state.prd.userStories, ran.state.prd.userStories)
    const resumed = runJob(anotherJob(again.state), limitsWith(), saying([{ id: 4, by: 'ann', kind: 'run' }]))
    assert.equal(resumed.outcome, 'complete')
  })

  test('for a wait over five minutes: notBefore is saved, and no session begins earlier', () => {
    const until = NOW + 2 * HOUR
    const limited: Script = (step) =>
      step.kind === 'agent'
        ? { kind: 'worked', session: session({ status: 'limit', resetsAt: until }) }
        : null
    const ran = runJob(stateOf(stories('US-001')), limitsWith(), limited)
    assert.equal(ran.outcome, 'paused')
    assert.match(ran.conclusion.reason, /^waiting for the agent's limit until 2026-01-10T16:05:00/)
    assert.equal(ran.conclusion.until, until)
    assert.equal(ran.state.control.notBefore, until)
    assert.equal(ran.state.prd.run.iterations, 0)
    const early = runJob(anotherJob(ran.state, NOW + HOUR), limitsWith(), undefined, NOW + HOUR)
    assert.equal(early.outcome, 'paused')
    assert.ok(!early.steps.some((step) => step.startsWith('reserve')))
    const late = runJob(anotherJob(early.state, until), limitsWith(), undefined, until)
    assert.equal(late.outcome, 'complete')
  })

  test('when people deleted the branch: the state is kept, and the run goes on when the branch is back', () => {
    const gone: Script = (step) =>
      step.kind === 'sync' ? { kind: 'synced', commands: [], theirs: 'deleted' } : null
    const opened = { ...stateOf(stories('US-001')), published: 'green', green: 'green' }
    const ran = runJob(opened, limitsWith(), gone)
    assert.equal(ran.outcome, 'paused')
    assert.match(ran.conclusion.reason, /deleted/)
    assert.ok(!ran.steps.includes('restore'), 'it is not made again by itself')
    assert.equal(runJob(anotherJob(ran.state), limitsWith(), saying([run])).outcome, 'complete')
    const asked = runJob(anotherJob(ran.state), limitsWith(), saying([run], undefined, 'deleted'))
    assert.ok(asked.steps.includes('restore'))
    assert.equal(asked.outcome, 'complete')
  })
})

describe('the outcome continued', () => {
  test('after the batch: publishes, dispatches and notifies, in this order', () => {
    const ran = runJob(stateOf(stories('US-001', 'US-002', 'US-003')), limitsWith({ iterationsPerJob: 2 }))
    assert.equal(ran.outcome, 'continued')
    assert.deepEqual(ran.steps.slice(-4), ['conclude continued', 'publish', 'dispatch', 'report'])
    assert.deepEqual(ran.state.job.ending?.next, { kind: 'started', runId: 7 })
    assert.equal(ran.state.generation, 1)
    assert.equal(ran.state.prd.run.outcome, null, 'the run is not over')
    assert.equal(released({ ...ran.state, generation: 0 }, limitsWith()).control.continuePending, true)
  })

  test('with redispatch off: notifies without a dispatch', () => {
    const limits = limitsWith({ iterationsPerJob: 1, redispatch: false })
    const ran = runJob(stateOf(stories('US-001', 'US-002')), limits)
    assert.equal(ran.outcome, 'continued')
    assert.ok(!ran.steps.includes('dispatch'))
    assert.equal(ran.state.control.continuePending, false)
  })

  test('when another attempt does not fit before the deadline; the first always begins', () => {
    const limits = limitsWith({ iterationTimeoutMs: 30 * MINUTE })
    const start = stateOf(stories('US-001', 'US-002'))
    const ran = runJob({ ...start, job: { ...start.job, deadline: NOW + 20 * MINUTE } }, limits)
    assert.deepEqual([ran.outcome, ran.state.prd.run.iterations], ['continued', 1])
    const late = runJob({ ...start, job: { ...start.job, deadline: NOW } }, limits)
    assert.deepEqual([late.outcome, late.state.prd.run.iterations], ['continued', 0])
  })

  test('with a refused dispatch: an error with the reason, and the next job dispatches again', () => {
    const refused: Script = (step) =>
      step.kind === 'dispatch' ? { kind: 'dispatch-failed', summary: 'actions: write is missing' } : null
    const ran = runJob(stateOf(stories('US-001', 'US-002')), limitsWith({ iterationsPerJob: 1 }), refused)
    assert.deepEqual([ran.outcome, ran.conclusion.reason], ['error', 'actions: write is missing'])
    assert.equal(ran.state.control.continuePending, true)
  })

  describe('a rate limit that refuses the dispatch', () => {
    const limits = limitsWith({ iterationsPerJob: 1 })
    const start = () => stateOf(stories('US-001', 'US-002'))
    /** So often, each time for so long. */
    const limited = (times: number, ms: number): Script => {
      let left = times
      return (step, _state, now) =>
        step.kind === 'dispatch' && left-- > 0 ? { kind: 'dispatch-limited', until: now + ms } : null
    }

    test('is waited for, and then the next job is dispatched', () => {
      const ran = runJob(start(), limits, limited(2, 40 * MINUTE))
      assert.deepEqual(ran.steps.slice(-6), ['dispatch', 'wait', 'dispatch', 'wait', 'dispatch', 'report'])
      assert.deepEqual(
        [ran.outcome, ran.state.job.ending?.next],
        ['continued', { kind: 'started', runId: 7 }],
      )
      assert.ok(ran.now >= NOW + 80 * MINUTE)
      assert.equal(nextJobHeldUntil(ran.state), null)
    })

    test('longer than the job is left to resume-lost, without an error', () => {
      const ran = runJob(start(), limits, limited(9, 6 * HOUR))
      assert.deepEqual(ran.steps.slice(-2), ['dispatch', 'report'])
      assert.deepEqual([ran.outcome, ran.state.job.ending?.next.kind], ['continued', 'held'])
      assert.match(ran.conclusion.reason, /rate limit blocks the next job until 2026-01-10T20:/)
      assert.ok((nextJobHeldUntil(ran.state) ?? 0) > NOW + 6 * HOUR)
      assert.equal(ran.state.control.continuePending, true)
    })

    test('a server that always says "in a moment" is asked at most once a minute, until the job ends', () => {
      const ran = runJob(start(), limits, limited(1e6, 0))
      const asked = ran.steps.filter((step) => step === 'dispatch').length
      assert.ok(asked > 250 && asked <= 300, `${asked}`)
      assert.equal(ran.outcome, 'continued')
      assert.notEqual(nextJobHeldUntil(ran.state), null)
    })

    test('a cancel during the wait ends the chain', () => {
      const cancelled: Script = (step, state, now) =>
        step.kind === 'wait' ? { kind: 'interrupted', spent: null } : limited(9, HOUR)(step, state, now)
      const ran = runJob(start(), limits, cancelled)
      assert.deepEqual(ran.steps.slice(-3), ['dispatch', 'wait', 'report'])
      assert.equal(ran.outcome, 'interrupted')
    })

    test('the deadline ends the wait', () => {
      const late: Script = (step, state, now) =>
        step.kind === 'wait' ? { kind: 'out-of-time', spent: null } : limited(9, HOUR)(step, state, now)
      const ran = runJob(start(), limits, late)
      assert.deepEqual([ran.outcome, ran.steps.at(-1)], ['continued', 'report'])
      assert.notEqual(nextJobHeldUntil(ran.state), null)
    })
  })

  test('a comment after the last look dispatches another job, whatever the outcome', () => {
    const late: Script = (step, state) =>
      step.kind === 'publish' ? { kind: 'published', green: state.green, withBranch: true, more: true } : null
    const ran = runJob(stateOf(stories('US-001')), limitsWith(), late)
    assert.equal(ran.outcome, 'complete')
    assert.ok(ran.steps.includes('dispatch'))
  })
})

describe('the outcome error', () => {
  test('for a red base: nothing is charged, and no branch or session begins', () => {
    const red: Script = (step) =>
      step.kind === 'baseline' ? { kind: 'baselined', gates: [gate(false)] } : null
    const ran = runJob(stateOf(stories('US-001')), limitsWith({ baseline: true }), red)
    assert.equal(ran.outcome, 'error')
    assert.match(ran.conclusion.reason, /gate test fails on the base/)
    assert.deepEqual(ran.steps, ['sync', 'prepare', 'baseline', 'conclude error', 'publish', 'report'])
    assert.equal(runUsage(ran.state).costUsd, 0)
    const mended = runJob(anotherJob(ran.state), limitsWith({ baseline: true }))
    assert.equal(mended.outcome, 'complete', 'the next run looks again')
  })

  test("for a service that does not start: its own fix is named, not the base's", () => {
    const ended = (
      words: string,
      gates = [gate(false, { name: 'service web', ended: words, output: 'said' })],
    ) => {
      const red: Script = (step) => (step.kind === 'baseline' ? { kind: 'baselined', gates } : null)
      const ran = runJob(stateOf(stories('US-001')), limitsWith({ baseline: true }), red)
      return [ran.conclusion.reason, haltError(ran.state)?.fix.split('\n', 1)[0]]
    }
    const taken = 'cannot start: http://localhost:1 already answers: node (process 1) x'
    assert.deepEqual(ended(`${taken} (process 42)`), [
      `service web ${taken} (process 42)`,
      'end process 42, or give service web another port',
    ])
    assert.deepEqual(ended('cannot start: `true` is content already'), [
      'service web cannot start: `true` is content already',
      'end the other program that answers instead of service web, or give service web another port',
    ])
    assert.deepEqual(ended('is not ready after 30 s: port 1: nothing listens there'), [
      'service web is not ready after 30 s: port 1: nothing listens there',
      'read its log, and fix its `start` or `ready`, or give it a longer readyTimeout; its output:',
    ])
    const fell = gate(false, { name: 'service web', ended: 'ended (exit 7) while gate test ran' })
    assert.deepEqual(ended('', [gate(false), fell]), [
      'service web ended (exit 7) while gate test ran, before Ralph has changed anything',
      'read its log, and fix its `start` or the code on main, or set baseline: off for a project that does not exist yet; its output:',
    ])
  })

  test('for a service port taken during the run: no story is charged, and the next run goes on', () => {
    const ended = 'cannot start: port 1 already answers: node (process 42)'
    const gates = [gate(false, { name: 'service web', ended })]
    const taken: Script = (step) =>
      step.kind === 'gates'
        ? { kind: 'gated', storyId: 'US-001', commit: step.attempt.candidate.commit, gates }
        : step.kind === 'verify'
          ? {
              kind: 'verified',
              gates,
              verdict: { kind: 'reset', stories: ['US-001'], reason: '' },
              usage: emptyUsage(),
            }
          : null
    const ran = runJob(stateOf(stories('US-001')), limitsWith(), taken)
    assert.deepEqual([ran.outcome, ran.conclusion.reason], ['error', `service web ${ended}`])
    assert.equal(haltError(ran.state)?.fix, 'end process 42, or give service web another port')
    assert.deepEqual([ran.state.prd.run.iterations, ran.state.prd.userStories[0]?.retries], [0, 0])
    assert.ok(ran.steps.includes('return US-001'), ran.steps.join())
    const whole = runJob(
      stateOf(stories('US-001')),
      limitsWith({ finalVerification: true }),
      (step, ...rest) => (step.kind === 'verify' ? taken(step, ...rest) : null),
    )
    assert.equal(whole.outcome, 'error')
    assert.equal(whole.state.prd.userStories[0]?.passes, true, 'nothing of it is wrong')
    assert.equal(runJob(anotherJob(whole.state), limitsWith()).outcome, 'complete')
  })

  test('for a branch that cannot be pushed: nothing is charged, and the error has a fix', () => {
    const refused: Script = (step) =>
      step.kind === 'open' ? { kind: 'push-refused', summary: 'the remote refused ralph/auth: 403' } : null
    const ran = runJob(stateOf(stories('US-001')), limitsWith(), refused)
    assert.equal(ran.outcome, 'error')
    assert.match(ran.conclusion.reason, /403/)
    assert.ok(!ran.steps.some((step) => step.startsWith('reserve')))
    assert.equal(runJob(anotherJob(ran.state), limitsWith()).outcome, 'complete')
  })

  test('is not raised for an advisory gate that is red on the base', () => {
    const advisory: Script = (step) =>
      step.kind === 'baseline' ? { kind: 'baselined', gates: [gate(false, { advisory: true })] } : null
    assert.equal(
      runJob(stateOf(stories('US-001')), limitsWith({ baseline: true }), advisory).outcome,
      'complete',
    )
  })

  test('the baseline runs once', () => {
    const first = runJob(
      stateOf(stories('US-001', 'US-002')),
      limitsWith({ baseline: true, iterationsPerJob: 1 }),
    )
    const second = runJob(anotherJob(first.state), limitsWith({ baseline: true, iterationsPerJob: 1 }))
    assert.ok(first.steps.includes('baseline'))
    assert.ok(!second.steps.includes('baseline'))
  })

  for (const status of ['auth', 'not-started'] as const) {
    test(`an agent that ends with ${status}: the job ends, and the story is not charged, however often`, () => {
      const broken: Script = (step) =>
        step.kind === 'agent'
          ? { kind: 'worked', session: session({ status, message: 'the key is refused' }) }
          : null
      let state: State = stateOf(stories('US-001'))
      for (let job = 0; job < 4; job += 1) {
        const ran = runJob(anotherJob(state), limitsWith(), broken)
        assert.deepEqual([ran.outcome, ran.conclusion.reason], ['error', 'the key is refused'])
        assert.equal(ran.state.prd.run.iterations, 0)
        state = ran.state
      }
      assert.deepEqual([storyOf(state, 'US-001').retries, storyOf(state, 'US-001').blocked], [0, false])
    })
  }

  test('after three jobs in a row without a charged iteration; a command starts again', () => {
    const limits = limitsWith({ iterationsPerJob: 1, maxInterruptions: 99 })
    // Given back again and again, so the batch ends without a charged iteration.
    const lost: Script = (step, _state, now) =>
      step.kind === 'agent'
        ? { kind: 'worked', session: session({ status: 'overloaded', resetsAt: now + 1000 }) }
        : null
    const start = stateOf(stories('US-001'))
    const idle = { ...start, control: { ...start.control, idleJobs: 2 } }
    const ran = runJob(idle, limits, lost)
    assert.equal(ran.outcome, 'error')
    assert.match(ran.conclusion.reason, /3 jobs in a row/)
    const again = runJob(anotherJob(idle), limits, saying([run], lost))
    assert.notEqual(again.outcome, 'error')
  })

  test('idle jobs that end by their deadline are counted, charged ones reset the count', () => {
    const limits = limitsWith({ iterationsPerJob: 1 })
    let state: State = stateOf(stories('US-001', 'US-002', 'US-003'))
    const outcomes: string[] = []
    for (let job = 0; job < 3; job += 1) {
      const next = anotherJob(state, NOW)
      const ran = runJob({ ...next, job: { ...next.job, deadline: NOW } }, limits)
      outcomes.push(ran.outcome)
      state = ran.state
    }
    assert.deepEqual(outcomes, ['continued', 'continued', 'error'])
    const idleTwice = { ...state, control: { ...state.control, idleJobs: 2 } }
    assert.equal(runJob(anotherJob(idleTwice), limits).state.control.idleJobs, 0)
  })
})

describe('the outcome interrupted', () => {
  test('at any step: the attempt is given back uncharged, and the next job goes on', () => {
    const limits = limitsWith({ baseline: true, finalVerification: true })
    const { steps } = runJob(stateOf(stories('US-001', 'US-002')), limits)
    const settling = ['accept', 'reject', 'return', 'conclude', 'publish', 'dispatch', 'report']
    for (const [index, name] of steps.entries()) {
      const kind = name.split(' ')[0] ?? ''
      if (settling.includes(kind)) continue
      let at = -1
      const cancelled: Script = (step, state) => {
        at += 1
        if (at < index || state.job.halted !== null) return null
        if (step.kind !== 'agent') return { kind: 'interrupted', spent: null }
        return { kind: 'worked', session: session({ status: 'interrupted', message: 'cancelled' }) }
      }
      // A session that was ended by the cancellation is followed by the cancelled look for the next step.
      const ran = runJob(stateOf(stories('US-001', 'US-002')), limits, (step, state, now) => {
        const answer = cancelled(step, state, now)
        return (
          answer ??
          (at > index && !state.job.halted !== null && step.kind === 'sync'
            ? { kind: 'interrupted', spent: null }
            : null)
        )
      })
      assert.equal(ran.outcome, 'interrupted', `at ${name}`)
      const passed = ran.state.prd.userStories.filter((story) => story.passes).length
      assert.equal(ran.state.prd.run.iterations, passed, `at ${name}`)
      assert.ok(ran.state.prd.userStories.every((story) => story.retries === 0))
      assert.ok(!ran.steps.includes('dispatch'), 'nobody resumes what a person cancelled')
      const next = runJob(anotherJob(ran.state), limits)
      assert.deepEqual([next.outcome, next.state.prd.run.iterations], ['complete', 2], `at ${name}`)
    }
  })
})

test('after the job has concluded changes nothing', () => {
  const { state } = runJob(stateOf(stories('US-001')), limitsWith())
  assert.equal(reduce(state, { at: NOW, kind: 'interrupted', spent: null }, limitsWith()), state)
})

test('the next step is a pure function: called twice, it gives the same', () => {
  const state = stateOf(stories('US-001'))
  const before = JSON.stringify(state)
  assert.deepEqual(outcomeOf(state, limitsWith(), NOW), outcomeOf(state, limitsWith(), NOW))
  assert.equal(JSON.stringify(state), before)
})
