// The rules of design 5, one by one: what passes, what is charged, what blocks, what is waited for, what is verified.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { UNCHANGED } from '../../../src/engine/attempts/attempt-outcome.ts'
import type { Session } from '../../../src/engine/model/attempt.ts'
import { EVENTS, type Event } from '../../../src/engine/model/event.ts'
import { failureOutput } from '../../../src/engine/model/gate-output.ts'
import { openAttempt } from '../../../src/engine/model/job.ts'
import type { State } from '../../../src/engine/model/state.ts'
import type { Step } from '../../../src/engine/model/step.ts'
import { iterationsOf, runUsage } from '../../../src/engine/model/usage-totals.ts'
import { nextStep } from '../../../src/engine/next-step.ts'
import { reduce } from '../../../src/engine/reduce.ts'
import { MAX_WAIT_MS } from '../../../src/engine/state/limits.ts'
import {
  anotherJob,
  built,
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
import { claimNext } from './world.ts'

const done = { done: true, notDone: false, stuck: null }

/** The script's answers in order, to steps of one kind; all goes well before and behind. */
function inTurn<K extends Step['kind']>(kind: K, answers: ReturnType<Script>[]): Script {
  const left = [...answers]
  return (step) => (step.kind === kind ? (left.shift() ?? null) : null)
}
const worked = (changes: Partial<Session>): ReturnType<Script> => ({
  kind: 'worked',
  session: session(changes),
})
const both =
  (...scripts: Script[]): Script =>
  (step, state, now) => {
    for (const script of scripts) {
      const answer = script(step, state, now)
      if (answer !== null) return answer
    }
    return null
  }
/** What the next prompt shows of US-001's failure. */
const shownOf = (state: State | undefined) => {
  const { failure = null, gates = [] } = state?.records['US-001'] ?? {}
  return failureOutput(failure, gates)?.output
}
const red: Script = (step) =>
  step.kind === 'gates'
    ? { kind: 'gated', commit: step.attempt.candidate.commit, gates: [gate(false)] }
    : null

describe('an attempt passes', () => {
  test('with a session without error, a diff, a guard without refusal, and green blocking gates', () => {
    const ran = runJob(stateOf(stories('US-001')), limitsWith())
    const story = storyOf(ran.state, 'US-001')
    assert.equal(story.passes, true)
    assert.equal(story.lastResult?.commit, ran.state.records['US-001']?.commit)
    assert.deepEqual(
      ran.steps.filter((step) => step.endsWith('US-001')),
      ['reserve US-001', 'agent US-001', 'guard US-001', 'gates US-001', 'accept US-001'],
    )
  })

  test('not when a service ended: that is the reason, before the gate beside it, whose time does not count', () => {
    const fell = gate(false, { name: 'service web', ended: 'ended (exit 1) while gate test ran', ms: 9000 })
    for (const gates of [
      [gate(false), fell],
      [gate(true), fell],
    ]) {
      const ran = runJob(stateOf(stories('US-001')), limitsWith({ maxAttempts: 1 }), (step) =>
        step.kind === 'gates' ? { kind: 'gated', commit: step.attempt.candidate.commit, gates } : null,
      )
      assert.equal(
        ran.state.records['US-001']?.failure?.summary,
        'service web ended (exit 1) while gate test ran',
      )
      assert.equal(ran.state.timeline[0]?.gatesMs, 10)
    }
  })

  test('with a red advisory gate', () => {
    const lint: Script = (step) =>
      step.kind === 'gates'
        ? {
            kind: 'gated',
            commit: step.attempt.candidate.commit,
            gates: [gate(true), gate(false, { name: 'lint', advisory: true })],
          }
        : null
    const ran = runJob(stateOf(stories('US-001')), limitsWith(), lint)
    assert.equal(ran.outcome, 'complete')
    assert.equal(ran.state.records['US-001']?.gates.length, 2, 'but it is reported')
  })

  test('not by gates or an acceptance of another commit', () => {
    const limits = limitsWith()
    const events: Event[] = [
      { at: NOW, kind: 'reserved', storyId: 'US-001' },
      { at: NOW, kind: 'worked', storyId: 'US-001', session: session() },
      { at: NOW, kind: 'guarded', storyId: 'US-001', candidate: built('ours') },
      { at: NOW, kind: 'gated', storyId: 'US-001', commit: 'other', gates: [gate(true)] },
    ]
    const state = events.reduce((before, event) => reduce(before, event, limits), stateOf(stories('US-001')))
    assert.equal(nextStep(state, limits, NOW).kind, 'gates', 'they are run again')
    const gated = reduce(
      state,
      { at: NOW, kind: 'gated', storyId: 'US-001', commit: 'ours', gates: [gate(true)] },
      limits,
    )
    const wrong = reduce(gated, { at: NOW, kind: 'accepted', storyId: 'US-001', commit: 'other' }, limits)
    assert.equal(wrong, gated)
    const right = reduce(gated, { at: NOW, kind: 'accepted', storyId: 'US-001', commit: 'ours' }, limits)
    assert.equal(storyOf(right, 'US-001').passes, true)
    assert.equal(right.green, 'ours')
  })

  test('not by the agent\'s words, and "done" is only checked', () => {
    const claims = both(inTurn('agent', [worked({ hints: done, message: 'COMPLETE' })]), red)
    const ran = runJob(stateOf(stories('US-001')), limitsWith({ maxAttempts: 1 }), claims)
    assert.equal(ran.outcome, 'stuck')
  })

  test('not after "not done" or "stuck": charged, with the reason, without gates', () => {
    for (const [hints, reason] of [
      [{ done: false, notDone: true, stuck: null }, /not done/],
      [{ done: false, notDone: false, stuck: 'no database' }, /no database/],
    ] as const) {
      const ran = runJob(
        stateOf(stories('US-001')),
        limitsWith({ maxAttempts: 1 }),
        inTurn('agent', [worked({ hints })]),
      )
      assert.equal(ran.outcome, 'stuck')
      assert.equal(ran.state.prd.run.iterations, 1)
      assert.match(ran.state.records['US-001']?.failure?.summary ?? '', reason)
      assert.ok(!ran.steps.some((step) => step.startsWith('gates')))
    }
  })

  test('without a diff only through a judge', () => {
    const limits = limitsWith({ finalVerification: true, maxAttempts: 1 })
    const empty: Script = (step) => {
      if (step.kind === 'agent') return worked({ hints: done })
      return step.kind === 'guard' ? { kind: 'guarded', candidate: built('same', true) } : null
    }
    const agreed = runJob(stateOf(stories('US-001')), limits, empty)
    assert.equal(agreed.outcome, 'complete')
    assert.ok(agreed.steps.includes('judge US-001'))
    assert.equal(runUsage(agreed.state).costUsd, 3, 'session, judge, final verification')
    assert.equal(agreed.state.prd.userStories[0]?.lastResult?.summary, UNCHANGED)
    assert.equal(agreed.state.timeline[0]?.summary, UNCHANGED)
    assert.equal(
      iterationsOf(agreed.state)[0]?.costUsd,
      2,
      'session and judge: an attempt is told with all that it cost',
    )
    for (const verdict of [
      { kind: 'none' as const, message: 'it crashed' },
      { kind: 'reset' as const, stories: ['US-001'], reason: 'nothing is there' },
    ]) {
      const judge: Script = (step) =>
        step.kind === 'judge' ? { kind: 'judged', verdict, usage: used(1) } : null
      const ran = runJob(stateOf(stories('US-001')), limits, both(judge, empty))
      assert.equal(ran.outcome, 'stuck', verdict.kind)
      assert.equal(ran.state.prd.run.iterations, 1)
    }
  })
})

describe('an attempt is charged', () => {
  const charged: [string, Script][] = [
    ['a red gate', red],
    [
      'a refusal of the guard',
      (step) =>
        step.kind === 'guard'
          ? { kind: 'refused', failure: { kind: 'guard', summary: 'it touches CODEOWNERS', detail: '' } }
          : null,
    ],
    ['a failed session', (step) => (step.kind === 'agent' ? worked({ status: 'failed' }) : null)],
    [
      'an empty diff',
      (step) =>
        step.kind === 'guard'
          ? { kind: 'refused', failure: { kind: 'empty-diff', summary: 'nothing changed', detail: '' } }
          : null,
    ],
  ]
  for (const [name, script] of charged) {
    test(`for ${name}: one iteration, one attempt, and at max-attempts the story is blocked`, () => {
      const ran = runJob(stateOf(stories('US-001')), limitsWith({ maxAttempts: 2 }), script)
      assert.equal(ran.outcome, 'stuck')
      assert.equal(ran.state.prd.run.iterations, 2)
      const story = storyOf(ran.state, 'US-001')
      assert.deepEqual([story.retries, story.blocked, story.passes], [2, true, false])
      assert.deepEqual(
        ran.state.timeline.map(({ result, iteration, attempt }) => [result, iteration, attempt]),
        [
          ['rejected', 1, 1],
          ['rejected', 2, 2],
        ],
      )
    })
  }

  for (const status of ['limit', 'overloaded', 'interrupted'] as const) {
    test(`but not for a session that ended with ${status}`, () => {
      const ran = runJob(
        stateOf(stories('US-001')),
        limitsWith({ maxInterruptions: 9 }),
        inTurn('agent', [worked({ status })]),
      )
      assert.equal(ran.outcome, 'complete')
      assert.equal(ran.state.prd.run.iterations, 1)
      assert.equal(storyOf(ran.state, 'US-001').retries, 0)
      assert.equal(runUsage(ran.state).costUsd, 2, 'but what it cost is counted')
    })
  }

  test("but not for a lost job, whose session's possible cost is charged once as an estimate", async () => {
    const limits = limitsWith({ iterationsPerJob: 1 })
    const first = runJob(stateOf(stories('US-001', 'US-002')), limits)
    const reserved = reduce(anotherJob(first.state), { at: NOW, kind: 'reserved', storyId: 'US-002' }, limits)
    assert.equal(EVENTS.reserved.isDurable, true)
    assert.equal(openAttempt(reserved)?.reserved.costUsd, 1, 'as much as the dearest session so far')
    const taken = await claimNext(reserved, NOW + HOUR)
    assert.equal(runUsage(taken).costUsd, runUsage(first.state).costUsd + 1)
    const { inputTokens, outputTokens, estimatedTokens } = runUsage(taken)
    assert.deepEqual([inputTokens + outputTokens, estimatedTokens], [2200, 1100], 'tokens likewise')
    const twice = await claimNext(taken, NOW + 2 * HOUR)
    assert.equal(runUsage(twice).costUsd, runUsage(taken).costUsd)
    const ran = runJob(twice, limits, undefined, NOW + 2 * HOUR)
    assert.equal(ran.outcome, 'complete')
    assert.equal(ran.state.prd.run.iterations, 2)
    assert.equal(ran.state.records['US-002']?.interruptions, 0, 'a pass ends the row')
  })

  test('and after max-interruptions in a row without a finished gate run its story is blocked, with the reason', () => {
    const limits = limitsWith({ maxInterruptions: 2 })
    const ran = runJob(stateOf(stories('US-001')), limits, (step) =>
      step.kind === 'agent' ? worked({ status: 'interrupted' }) : null,
    )
    assert.equal(ran.outcome, 'stuck')
    assert.equal(ran.state.prd.run.iterations, 0)
    const story = storyOf(ran.state, 'US-001')
    assert.deepEqual([story.blocked, story.retries], [true, 0])
    assert.match(story.notes, /its job was lost or stopped 2 times in a row.*The command retry US-001/)
  })

  test('and a gate run in between resets that count', () => {
    const interrupted = worked({ status: 'interrupted' })
    const script = both(
      inTurn('agent', [interrupted, worked({}), interrupted, worked({})]),
      inTurn('gates', [{ kind: 'gated', commit: 'candidate', gates: [gate(false)] }]),
      (step) => (step.kind === 'guard' ? { kind: 'guarded', candidate: built('candidate') } : null),
    )
    assert.equal(
      runJob(stateOf(stories('US-001')), limitsWith({ maxInterruptions: 2 }), script).outcome,
      'complete',
    )
  })

  test('and every charged iteration gets an entry in progress.txt, also after a lost job', async () => {
    const limits = limitsWith({ maxAttempts: 5 })
    const opened = { ...stateOf(stories('US-001')), published: 'opened', green: 'opened' }
    let saved: State = opened
    const events: Event[] = [
      { at: NOW, kind: 'reserved', storyId: 'US-001' },
      { at: NOW, kind: 'worked', storyId: 'US-001', session: session({ status: 'failed' }) },
      { at: NOW, kind: 'rejected', storyId: 'US-001', kept: null },
    ]
    for (const event of events) saved = reduce(saved, event, limits)
    assert.equal(saved.progress.length, 1)
    // The job dies here; no commit holds the entry yet.
    const next = await claimNext(saved, NOW + HOUR)
    const look: Event[] = [
      { at: NOW, kind: 'opened', green: 'opened', github: next.github },
      { at: NOW, kind: 'reserved', storyId: 'US-001' },
    ]
    const working = look.reduce((before, event) => reduce(before, event, limits), next)
    assert.equal(working.progress.length, 1, 'the entry still waits for the next commit')
  })
})

describe('a rejected attempt', () => {
  test('keeps its work and its reason for the next attempt on that story only', () => {
    const kept = { base: 'green', tree: 'tree', dropped: ['.env'] }
    const script = both(
      (step) => (step.kind === 'reject' ? { kind: 'rejected', kept } : null),
      inTurn('gates', [
        { kind: 'gated', commit: 'candidate', gates: [gate(false, { output: 'expected 429' })] },
      ]),
      (step) => (step.kind === 'guard' ? { kind: 'guarded', candidate: built('candidate') } : null),
    )
    const seen: State[] = []
    const ran = runJob(stateOf(stories('US-001', 'US-002')), limitsWith(), (step, state, now) => {
      if (step.kind === 'agent') seen.push(state)
      return script(step, state, now)
    })
    assert.equal(ran.outcome, 'complete')
    assert.deepEqual(seen[1]?.kept, { 'US-001': kept })
    assert.equal(shownOf(seen[1]), 'expected 429')
    assert.deepEqual(seen[2]?.kept, {}, 'a pass uses it up')
    assert.equal(seen[2]?.records['US-001']?.failure, null)
  })

  test('keeps them also when the next attempt is lost, or cancelled before its session began', async () => {
    const limits = limitsWith({ maxInterruptions: 9 })
    const kept = { base: 'green', tree: 'tree', dropped: [] }
    const rejected: Event[] = [
      { at: NOW, kind: 'reserved', storyId: 'US-001' },
      { at: NOW, kind: 'worked', storyId: 'US-001', session: session({ status: 'failed' }) },
      { at: NOW, kind: 'rejected', storyId: 'US-001', kept },
      { at: NOW, kind: 'reserved', storyId: 'US-001' },
    ]
    const reserved = rejected.reduce(
      (state, event) => reduce(state, event, limits),
      stateOf(stories('US-001')),
    )
    // The work tree of a fresh job, or of one that began nothing, holds none of it.
    const nothing: Event = { at: NOW, kind: 'returned', storyId: 'US-001', kept: null }
    const lost = reduce(await claimNext(reserved, NOW + HOUR), nothing, limits)
    assert.deepEqual(lost.kept['US-001'], kept, 'after a lost job')
    const cancelled = reduce(reserved, { at: NOW, kind: 'interrupted', spent: null }, limits)
    assert.deepEqual(reduce(cancelled, nothing, limits).kept['US-001'], kept, 'after a cancelled reservation')
  })

  test('does not use up guidance, a pass does', () => {
    const start = stateOf(stories('US-001', 'US-002'))
    const guidance = { 'US-001': ['use bcrypt'], 'US-002': ['later'] }
    const seen: State[] = []
    const failOnce = inTurn('agent', [worked({ status: 'failed' })])
    const ran = runJob(
      { ...start, control: { ...start.control, guidance } },
      limitsWith(),
      (step, state, now) => {
        if (step.kind === 'agent') seen.push(state)
        return failOnce(step, state, now)
      },
    )
    assert.deepEqual(
      seen.map((state) => Object.keys(state.control.guidance)),
      [['US-001', 'US-002'], ['US-001', 'US-002'], ['US-002']],
    )
    assert.deepEqual(ran.state.control.guidance, {})
  })

  test('that blocks its story lets other stories go on', () => {
    const ran = runJob(
      stateOf(stories('US-001', 'US-002')),
      limitsWith({ maxAttempts: 1 }),
      (step, state, now) =>
        step.kind === 'gates' && step.attempt.storyId === 'US-001' ? red(step, state, now) : null,
    )
    assert.equal(storyOf(ran.state, 'US-002').passes, true)
    assert.equal(ran.outcome, 'stuck')
  })
})

describe('a wait', () => {
  const limitedFor = (ms: number): Script => {
    let once = true
    return (step, _state, now) => {
      if (step.kind !== 'agent' || !once) return null
      once = false
      return worked({ status: 'limit', resetsAt: now + ms })
    }
  }

  test('of five minutes is waited out, comments are read again, and the story goes on', () => {
    const ran = runJob(stateOf(stories('US-001')), limitsWith(), limitedFor(4 * MINUTE))
    assert.equal(ran.outcome, 'complete')
    const at = ran.steps.indexOf('wait')
    assert.deepEqual(ran.steps.slice(at, at + 3), ['wait', 'sync', 'reserve US-001'])
  })

  test('of more than five minutes ends the job', () => {
    const ran = runJob(stateOf(stories('US-001')), limitsWith(), limitedFor(MAX_WAIT_MS + MINUTE))
    assert.equal(ran.outcome, 'paused')
    assert.ok(!ran.steps.includes('wait'))
    assert.ok(!ran.steps.includes('dispatch'), 'nothing is dispatched before that time')
  })

  test('for a vendor without a reset time grows from try to try', () => {
    const waits: number[] = []
    const ran = runJob(stateOf(stories('US-001')), limitsWith(), (step, _state, now) => {
      if (step.kind === 'wait') waits.push(Math.round((step.until - now) / 1000))
      return step.kind === 'agent' ? worked({ status: 'overloaded' }) : null
    })
    assert.equal(ran.outcome, 'paused')
    assert.ok(waits.length <= 4, `${waits}`)
    assert.ok(ran.conclusion.until !== null)
  })

  test('after attempts that are given back repeatedly ends the batch', () => {
    const limits = limitsWith({ iterationsPerJob: 1 })
    const ran = runJob(stateOf(stories('US-001')), limits, (step) =>
      step.kind === 'agent' ? worked({ status: 'overloaded' }) : null,
    )
    assert.deepEqual(
      [ran.outcome, ran.state.job.counts.begun, ran.state.job.counts.iterations],
      ['continued', 3, 0],
    )
    assert.equal(ran.state.control.idleJobs, 1)
  })

  test('for calls-per-hour counts over jobs, and is limited like any other', () => {
    const limits = limitsWith({ callsPerHour: 2 })
    const ran = runJob(stateOf(stories('US-001', 'US-002', 'US-003')), limits)
    assert.equal(ran.outcome, 'paused')
    assert.match(ran.conclusion.reason, /2 calls an hour/)
    const until = ran.conclusion.until ?? 0
    assert.equal(ran.state.control.notBefore, until, 'whoever dispatches the next job knows when')
    const early = runJob(anotherJob(ran.state, until - 10 * MINUTE), limits, undefined, until - 10 * MINUTE)
    assert.equal(early.outcome, 'paused')
    const soon = runJob(anotherJob(early.state, until - 2 * MINUTE), limits, undefined, until - 2 * MINUTE)
    assert.equal(soon.outcome, 'complete')
    assert.ok(soon.steps.includes('wait'))
  })

  test('for calls-per-hour counts judges, too', () => {
    const limits = limitsWith({ callsPerHour: 2, finalVerification: true })
    const reset: Script = (step) =>
      step.kind === 'judge-whole'
        ? {
            kind: 'verified',
            gates: [gate(true)],
            verdict: { kind: 'reset', stories: ['US-001'], reason: 'not met' },
            usage: used(1),
          }
        : null
    const ran = runJob(stateOf(stories('US-001')), limits, reset)
    const sessions = ran.steps.filter((step) => step === 'judge-whole' || step.startsWith('agent')).length
    assert.ok(sessions <= 2, `${sessions} sessions began in less than an hour`)
  })
})

describe('the final verification', () => {
  const limits = limitsWith({ finalVerification: true })
  const resetOnce = (ids: string[], gates = [gate(true)]): Script =>
    inTurn(gates.every(({ ok }) => ok) ? 'judge-whole' : 'verify', [
      {
        kind: 'verified',
        gates,
        verdict: { kind: 'reset', stories: ids, reason: 'the lock is missing' },
        usage: used(1),
      },
    ])

  test('RESET: the story is worked on again with the reason and one attempt charged, the others stay', () => {
    const ran = runJob(stateOf(stories('US-001', 'US-002')), limits, resetOnce(['US-002']))
    assert.equal(ran.outcome, 'complete')
    assert.equal(ran.state.prd.run.iterations, 3)
    assert.deepEqual(
      ran.state.timeline.map(({ storyId, result }) => `${storyId} ${result}`),
      ['US-001 passed', 'US-002 passed', 'US-002 reset', 'US-002 passed'],
    )
    assert.equal(storyOf(ran.state, 'US-002').retries, 1)
    const told = ran.state.recent.map((entry) =>
      entry.split('\n').filter((line) => /^(##|.*(Status|next):)/.test(line)),
    )
    assert.deepEqual(told.at(-2), [
      '## Iteration 2 - US-002: story US-002',
      '**Status:** RESET',
      '**Note for next:** the lock is missing',
    ])
    assert.equal(
      ran.steps.filter((step) => step === 'verify').length,
      2,
      'and then the whole is judged again',
    )
  })

  test("RESET: the next session gets the reason and the red gate's output", () => {
    const told: State[] = []
    const resetting = resetOnce(['US-001'], [gate(false, { output: 'expected 200' })])
    runJob(stateOf(stories('US-001')), limits, (step, state, now) => {
      if (step.kind === 'agent') told.push(state)
      return resetting(step, state, now)
    })
    const failure = told.at(-1)?.records['US-001']?.failure
    assert.deepEqual(
      [failure?.kind, failure?.summary, shownOf(told.at(-1))],
      ['judge', 'the lock is missing', 'expected 200'],
    )
  })

  test("RESET: Ralph's note on a story is added to people's notes, and removed when the story passes", () => {
    const [one, two] = stories('US-001', 'US-002')
    assert.ok(one && two)
    const noted = { ...two, notes: 'ask Ann\nabout the lock' }
    const seen: string[] = []
    const resetting = resetOnce(['US-002'])
    const ran = runJob(stateOf([one, noted]), limits, (step, state, now) => {
      if (step.kind === 'agent') seen.push(storyOf(state, 'US-002').notes)
      return resetting(step, state, now)
    })
    assert.deepEqual(seen.slice(1), [noted.notes, `${noted.notes}\nthe lock is missing`])
    assert.equal(storyOf(ran.state, 'US-002').notes, noted.notes)
  })

  test('RESET changes no story that has not passed', () => {
    const [one, two] = stories('US-001', 'US-002')
    assert.ok(one && two)
    const ran = runJob(stateOf([one, { ...two, skipped: true }]), limits, resetOnce(['US-002', 'US-001']))
    assert.deepEqual([storyOf(ran.state, 'US-002').retries, storyOf(ran.state, 'US-002').notes], [0, ''])
    assert.equal(storyOf(ran.state, 'US-001').retries, 1)
  })

  test('RESET max-attempts times blocks the story', () => {
    const always: Script = (step) =>
      step.kind === 'judge-whole'
        ? {
            kind: 'verified',
            gates: [gate(true)],
            verdict: { kind: 'reset', stories: ['US-001'], reason: 'no' },
            usage: used(1),
          }
        : null
    const ran = runJob(stateOf(stories('US-001')), limits, always)
    assert.equal(ran.outcome, 'stuck')
    assert.equal(storyOf(ran.state, 'US-001').blocked, true)
    assert.equal(ran.steps.filter((step) => step === 'verify').length, 3)
  })

  test('an approval is for one commit and its stories only', () => {
    const ran = runJob(stateOf(stories('US-001')), limits)
    assert.equal(ran.state.verification.approved, true)
    const again = anotherJob(ran.state)
    const [, two] = stories('US-001', 'US-002')
    assert.ok(two)
    const added = { ...again, prd: { ...again.prd, userStories: [...again.prd.userStories, two] } }
    const events: Event[] = [
      { at: NOW, kind: 'reserved', storyId: 'US-002' },
      { at: NOW, kind: 'worked', storyId: 'US-002', session: session() },
      { at: NOW, kind: 'guarded', storyId: 'US-002', candidate: built('c') },
      { at: NOW, kind: 'gated', storyId: 'US-002', commit: 'c', gates: [gate(true)] },
      { at: NOW, kind: 'accepted', storyId: 'US-002', commit: 'c' },
    ]
    const more = events.reduce((state, event) => reduce(state, event, limits), added)
    assert.deepEqual([storyOf(more, 'US-002').passes, more.verification.approved], [true, false])
    const joined = reduce(again, { at: NOW, kind: 'joined', green: 'j', theirs: 't', ...nobody }, limits)
    assert.equal(joined.verification.approved, false)
    const script: Script = inTurn('sync', [{ kind: 'synced', commands: [], theirs: { head: 'theirs' } }])
    const looked = runJob(again, limits, script)
    assert.deepEqual([looked.outcome, looked.steps.includes('verify')], ['complete', true])
  })

  test('`/ralph verify` runs it with final-verification: false, until it approves', () => {
    const off = limitsWith({ finalVerification: false })
    const ran = runJob(stateOf(stories('US-001', 'US-002')), off)
    assert.ok(!ran.steps.includes('verify'))
    const asked = saying([{ id: 1, by: 'ann', kind: 'verify' }], resetOnce(['US-002']))
    const verified = runJob(anotherJob(ran.state), off, asked)
    assert.deepEqual(
      verified.steps.filter((step) => step === 'verify' || step.startsWith('agent')),
      ['verify', 'agent US-002', 'verify'],
    )
    assert.deepEqual([verified.outcome, verified.state.verification.approved], ['complete', true])
    const later = runJob(anotherJob(verified.state, NOW + 2 * HOUR), off)
    assert.deepEqual([later.outcome, later.steps.includes('verify')], ['complete', false])
  })

  test('a session without a verdict is no approval, and the next one may approve', () => {
    const silent = inTurn('judge-whole', [
      {
        kind: 'verified',
        gates: [gate(true)],
        verdict: { kind: 'none', message: 'neither' },
        usage: used(1),
      },
    ])
    const ran = runJob(stateOf(stories('US-001')), limits, silent)
    assert.equal(ran.outcome, 'complete')
    assert.equal(ran.steps.filter((step) => step === 'judge-whole').length, 2)
  })
})

/** Nobody edited prd.json, and nothing conflicts. */
const nobody = { people: null, takenBack: [], entries: [] }

describe('a push of people', () => {
  test('with other criteria reopens a passed story, and its ticks pass none', () => {
    const first = runJob(stateOf(stories('US-001', 'US-002')), limitsWith({ iterationsPerJob: 1 }))
    const prd = {
      ...first.state.prd,
      userStories: first.state.prd.userStories.map((story) => ({
        ...story,
        passes: true,
        acceptanceCriteria: [...story.acceptanceCriteria, 'and it is fast'],
      })),
    }
    const people = { prd, seen: ['US-001', 'US-002'], page: false }
    let looked = false
    const ran = runJob(anotherJob(first.state), limitsWith(), (step) => {
      if (step.kind === 'join')
        return { ...nobody, kind: 'joined', green: 'joined', theirs: step.theirs, people }
      if (step.kind !== 'sync' || looked) return null
      looked = true
      return { kind: 'synced', commands: [], theirs: { head: 'theirs' } }
    })
    assert.equal(ran.outcome, 'complete')
    assert.equal(ran.state.prd.run.iterations, 3, 'both were worked')
  })

  test('publish: story pushes the branch with every story', () => {
    const ran = runJob(stateOf(stories('US-001', 'US-002')), limitsWith({ publishEach: true }))
    assert.equal(ran.steps.filter((step) => step === 'push').length, 1, 'the last one goes with the publish')
    assert.equal(ran.outcome, 'complete')
  })
})

test('steps that must be saved before the loop goes on', () => {
  const kinds = (
    ['reserved', 'accepted', 'rejected', 'returned', 'verified', 'worked', 'gated', 'synced'] as const
  ).filter(
    // Only the kind is looked at.
    (kind) => EVENTS[kind].isDurable,
  )
  assert.deepEqual(kinds, ['reserved', 'accepted', 'rejected', 'returned', 'verified'])
})

test('a new story with the id of a removed one gets neither its results nor its saved work', () => {
  const limits = limitsWith({ maxAttempts: 9 })
  let state = stateOf(stories('US-001', 'US-002'))
  const kept = { base: 'green', tree: 'old work', dropped: [] }
  const events: Event[] = [
    { at: NOW, kind: 'reserved', storyId: 'US-002' },
    { at: NOW, kind: 'worked', storyId: 'US-002', session: session({ status: 'failed' }) },
    { at: NOW, kind: 'rejected', storyId: 'US-002', kept },
    {
      at: NOW,
      kind: 'joined',
      green: 'joined',
      theirs: 'theirs',
      ...nobody,
      people: {
        prd: { ...state.prd, userStories: stories('US-001') },
        seen: ['US-001', 'US-002'],
        page: false,
      },
    },
    {
      at: NOW,
      kind: 'synced',
      commands: [{ id: 1, by: 'ann', kind: 'add', title: 'something else', description: '', criteria: [] }],
      theirs: null,
    },
  ]
  for (const event of events) state = reduce(state, event, limits)
  const added = state.prd.userStories.at(-1)
  assert.equal(added?.title, 'something else')
  assert.equal(state.kept[added?.id ?? ''], undefined, `${added?.id} begins with the work of another story`)
  assert.equal(state.records[added?.id ?? ''], undefined)
})

const MISTAKE = { path: 'src/a.ts', line: 3, from: '  return a - b', to: '  return a + b' }
const WEAK_PROOFS = [{ unproved: true as const }, { unnoticed: [MISTAKE] }]

test('the remark that no gate fails without a change, or with a mistake, is there once, and goes when a later run fails', () => {
  for (const weak of WEAK_PROOFS) {
    const limits = limitsWith({})
    let state: State = { ...stateOf(stories('US-001')), published: 'base', baseline: 'green' }
    const id = { storyId: 'US-001', at: NOW }
    const gated = (commit: string, isWeak: boolean) => {
      const event = { kind: 'gated' as const, ...id, commit, gates: [gate(true)] }
      state = reduce(state, isWeak ? { ...event, ...weak } : event, limits)
      const attempt = openAttempt(state)
      return attempt?.phase === 'gated' ? attempt.candidate.remarks : null
    }
    const rebased = (commit: string, remarks: string[]) => {
      const candidate = { ...built(commit), remarks }
      state = reduce(state, { kind: 'rebased', ...id, base: `under ${commit}`, candidate }, limits)
    }
    state = reduce(state, { kind: 'reserved', ...id }, limits)
    state = reduce(state, { kind: 'worked', ...id, session: session() }, limits)
    state = reduce(state, { kind: 'guarded', ...id, candidate: built('c1') }, limits)
    const remarks = gated('c1', true) ?? []
    assert.equal(remarks.length, 1)
    rebased('c2', remarks)
    assert.deepEqual(gated('c2', true), remarks)
    rebased('c3', remarks)
    assert.deepEqual(gated('c3', false), [])
  }
})

test('with needs-proof: require, a change whose mistakes no test notices is rejected, and the next session sees them', () => {
  const limits = limitsWith({ needsProof: 'require' })
  const id = { storyId: 'US-001', at: NOW }
  const state = { ...stateOf(stories('US-001')), published: 'base', baseline: 'green' }
  const events: Event[] = [
    { kind: 'reserved', ...id },
    { kind: 'worked', ...id, session: session() },
    { kind: 'guarded', ...id, candidate: built('c1') },
    { kind: 'gated', ...id, commit: 'c1', gates: [gate(true)], unnoticed: [MISTAKE] },
  ]
  const attempt = openAttempt(events.reduce((before, event) => reduce(before, event, limits), state as State))
  assert.equal(attempt?.phase, 'failed')
  const { summary = '', detail = '' } = attempt?.phase === 'failed' ? attempt.failure : {}
  assert.match(summary, /src\/a\.ts:3, `return a \+ b` instead of `return a - b`/)
  assert.match(detail, /Write tests that compare the results/)
})
