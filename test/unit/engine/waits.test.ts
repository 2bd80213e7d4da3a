// Waiting: a limit belongs to the agent that met it, a person's word tries again, and a laptop waits where a job of CI ends.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Limits } from '../../../src/engine/model/limit-types.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { MAX_LIMITED } from '../../../src/engine/state/limits.ts'
import {
  anotherJob,
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
} from './samples.ts'
import { claimNext } from './world.ts'

/** The first `times` sessions meet a limit of two hours; then all goes well. */
function limited(times = 1): Script {
  let met = 0
  return (step, _state, now) => {
    if (step.kind !== 'agent' || met === times) return null
    met += 1
    return { kind: 'worked', session: session({ status: 'limit', resetsAt: now + 2 * HOUR }) }
  }
}

const begun = (steps: readonly string[]) => steps.filter((step) => step.startsWith('agent')).length

/** As `claude` left it when it met a limit of two hours, in a job that does not wait. */
function afterLimit(limits: Limits = limitsWith()): State {
  const ran = runJob(stateOf(stories('US-001')), limits, limited())
  assert.equal(ran.outcome, 'paused')
  return ran.state
}

describe("a vendor's usage limit", () => {
  test('delays only the agent that reached it', () => {
    const left = afterLimit()
    assert.deepEqual(Object.keys(left.control.agentLimits), ['claude'])
    const again = runJob(anotherJob(left, NOW + MINUTE), limitsWith(), undefined, NOW + MINUTE)
    assert.deepEqual([again.outcome, begun(again.steps)], ['paused', 0])
    const changed = limitsWith({ agent: 'codex' })
    assert.equal(runJob(anotherJob(left, NOW + MINUTE), changed, undefined, NOW + MINUTE).outcome, 'complete')
  })

  test("is tried once by a person's run, and a new reset time is waited for", async () => {
    const at = NOW + MINUTE
    const left = afterLimit()
    assert.equal(left.control.notBefore, left.job.ending?.conclusion?.until)
    const started = await claimNext(left, at)
    assert.equal(runJob(started, limitsWith(), undefined, at).outcome, 'complete')
    const again = runJob(started, limitsWith(), limited(), at)
    assert.deepEqual([again.outcome, begun(again.steps)], ['paused', 1])
    assert.equal(again.state.control.notBefore, again.conclusion.until)
  })

  test('is waited for by a job that a schedule started', async () => {
    const left = afterLimit()
    const early = await claimNext(left, NOW + MINUTE, left.generation)
    const ran = runJob(early, limitsWith(), undefined, NOW + MINUTE)
    assert.deepEqual([ran.outcome, begun(ran.steps)], ['paused', 0])
  })

  test('is tried once by a comment `run`', () => {
    const heard = saying([{ id: 1, by: 'ann', kind: 'run' }])
    const ran = runJob(anotherJob(afterLimit(), NOW + MINUTE), limitsWith(), heard, NOW + MINUTE)
    assert.equal(ran.outcome, 'complete')
  })

  test('may be tried any number of times by a person, without ending in error', async () => {
    let left = afterLimit()
    for (let times = 0; times < 5; times += 1) {
      const ran = runJob(await claimNext(left, NOW + MINUTE), limitsWith(), limited(), NOW + MINUTE)
      assert.equal(ran.outcome, 'paused')
      left = ran.state
    }
  })
})

describe('a raised limit lets the run go on at once', () => {
  const three = stories('US-001', 'US-002', 'US-003')
  const of = (before: Partial<Limits>, after: Partial<Limits>) => {
    const first = runJob(stateOf(three), limitsWith(before))
    const at = first.now + MINUTE
    const same = runJob(anotherJob(first.state, at), limitsWith(before), undefined, at)
    const raised = runJob(anotherJob(first.state, at), limitsWith(after), undefined, at)
    return [first.outcome, same.outcome, raised.outcome]
  }
  test('for calls-per-hour', () =>
    assert.deepEqual(of({ callsPerHour: 2 }, { callsPerHour: 9 }), ['paused', 'paused', 'complete']))
  test('for max-iterations', () =>
    assert.deepEqual(of({ maxIterations: 2 }, { maxIterations: 9 }), [
      'max-iterations',
      'max-iterations',
      'complete',
    ]))
  test('for max-cost-usd', () =>
    assert.deepEqual(of({ maxCostUsd: 2 }, { maxCostUsd: 9 }), ['budget', 'budget', 'complete']))
})

describe('a job that waits inside its deadline', () => {
  const waits = limitsWith({ waits: true })
  const onLaptop = (ids: string[], deadline = Number.MAX_SAFE_INTEGER) => {
    const state = stateOf(stories(...ids))
    return { ...state, job: { ...state.job, deadline } }
  }

  test('goes on when the vendor answers again', () => {
    const ran = runJob(onLaptop(['US-001']), waits, limited(3))
    assert.deepEqual([ran.outcome, begun(ran.steps)], ['complete', 4])
    assert.ok(ran.now - NOW >= 6 * HOUR)
  })

  test('goes on for calls-per-hour', () => {
    const ran = runJob(onLaptop(['US-001', 'US-002', 'US-003']), { ...waits, callsPerHour: 2 })
    assert.equal(ran.outcome, 'complete')
    assert.ok(ran.now - NOW >= HOUR)
  })

  test('goes on for a resting story', () => {
    const breaker = { noProgress: 99, sameError: 2, outputDecline: 100, coolDownMs: 30 * MINUTE }
    let failed = 0
    const ran = runJob(onLaptop(['US-001']), { ...waits, breaker }, (step) => {
      if (step.kind !== 'agent' || failed === 2) return null
      failed += 1
      return { kind: 'worked', session: session({ status: 'failed' }) }
    })
    assert.equal(ran.outcome, 'complete')
    assert.ok(ran.now - NOW >= 30 * MINUTE)
  })

  test('ends as in CI when no attempt fits between the wait and its deadline', () => {
    for (const deadline of [NOW + HOUR, NOW + 2 * HOUR + MINUTE, NOW + 2 * HOUR + 30 * MINUTE]) {
      const ran = runJob(onLaptop(['US-001'], deadline), waits, limited())
      assert.equal(ran.outcome, 'paused', new Date(deadline).toISOString())
      assert.equal(ran.state.control.notBefore, ran.conclusion.until)
      assert.ok(!ran.steps.includes('wait'))
    }
    assert.equal(runJob(onLaptop(['US-001'], NOW + 4 * HOUR), waits, limited()).outcome, 'complete')
  })

  test('reads comments meanwhile', () => {
    let waited = false
    const ran = runJob(onLaptop(['US-001']), waits, (step, state, now) => {
      if (step.kind === 'wait') {
        waited = true
        return { kind: 'waited' }
      }
      if (step.kind !== 'sync' || !waited) return limited()(step, state, now)
      return { kind: 'synced', commands: [{ id: 1, by: 'you', kind: 'pause' }], theirs: null }
    })
    assert.deepEqual([ran.outcome, ran.conclusion.reason], ['paused', 'paused by you'])
  })

  test('ends the wait for a resting story on `retry`', () => {
    const breaker = { noProgress: 99, sameError: 2, outputDecline: 100, coolDownMs: 30 * MINUTE }
    let waited = false
    let failed = 0
    const ran = runJob(onLaptop(['US-001']), { ...waits, breaker }, (step) => {
      if (step.kind === 'wait') {
        waited = true
        return { kind: 'waited' }
      }
      if (step.kind === 'sync' && waited) {
        const command = { id: 1, by: 'you', kind: 'retry' as const, stories: ['US-001'], guidance: 'a hint' }
        return { kind: 'synced', commands: [command], theirs: null }
      }
      if (step.kind !== 'agent' || failed === 2) return null
      failed += 1
      return { kind: 'worked', session: session({ status: 'failed' }) }
    })
    assert.deepEqual([ran.outcome, ran.steps.filter((step) => step === 'wait').length], ['complete', 1])
  })

  test('does not wait for ever for a vendor that never answers', () => {
    const ran = runJob(onLaptop(['US-001']), waits, limited(9999))
    assert.equal(ran.outcome, 'paused')
    assert.equal(begun(ran.steps), MAX_LIMITED)
    assert.notEqual(ran.conclusion.until, null)
  })
})
