// A world that gives the same answer for ever: each job still ends, and so does the chain.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Outcome, Story } from '../../../src/engine/model/feature.ts'
import type { Limits } from '../../../src/engine/model/limit-types.ts'
import { newStory } from '../../../src/engine/prd/schema.ts'
import {
  anotherJob,
  built,
  gate,
  HOUR,
  limitsWith,
  MINUTE,
  type Ran,
  runJob,
  type Script,
  session,
  stateOf,
  stories,
  used,
} from './samples.ts'

type Case = {
  name: string
  script: Script
  /** How the chain ends. */
  outcome: Outcome
  limits?: Partial<Limits>
  stories?: Story[]
}

const done = { done: true, notDone: false, stuck: null }
const emptyDiff: Script = (step) => {
  if (step.kind === 'agent') return { kind: 'worked', session: session({ hints: done }) }
  return step.kind === 'guard' ? { kind: 'guarded', candidate: built('same', true) } : null
}
const cancelledAt =
  (kind: string, diverges: Script): Script =>
  (step, state, now) =>
    state.job.halted !== null
      ? diverges(step, state, now)
      : step.kind === kind
        ? { kind: 'interrupted', spent: null }
        : null
const peoplePushed: Script = (step, state) =>
  step.kind === 'publish' && state.job.branch.kind !== 'refused' && state.published !== null
    ? { kind: 'diverged', theirs: 'theirs' }
    : null

/** `outcome` is the last job's: a wait ends a job as paused, and the next one looks again. */
const cases: Case[] = [
  {
    name: 'the agent fails',
    script: (step) =>
      step.kind === 'agent' ? { kind: 'worked', session: session({ status: 'failed' }) } : null,
    outcome: 'stuck',
  },
  {
    name: 'the gates fail',
    script: (step) =>
      step.kind === 'gates'
        ? { kind: 'gated', commit: step.attempt.candidate.commit, gates: [gate(false)] }
        : null,
    outcome: 'stuck',
  },
  {
    name: 'the vendor is overloaded',
    script: (step) =>
      step.kind === 'agent' ? { kind: 'worked', session: session({ status: 'overloaded' }) } : null,
    outcome: 'paused',
  },
  {
    name: 'the vendor is limited and does not say until when',
    script: (step) =>
      step.kind === 'agent' ? { kind: 'worked', session: session({ status: 'limit' }) } : null,
    outcome: 'paused',
  },
  {
    name: 'the vendor is limited until a time that has passed',
    script: (step, _state, now) =>
      step.kind === 'agent'
        ? { kind: 'worked', session: session({ status: 'limit', resetsAt: now - MINUTE }) }
        : null,
    outcome: 'paused',
  },
  {
    name: 'the vendor is limited for ten seconds, again and again',
    script: (step, _state, now) =>
      step.kind === 'agent'
        ? { kind: 'worked', session: session({ status: 'limit', resetsAt: now + 10_000 }) }
        : null,
    outcome: 'paused',
  },
  {
    name: 'the judge of an empty diff is limited and does not say until when',
    script: (step, state, now) =>
      step.kind === 'judge'
        ? { kind: 'judged', verdict: { kind: 'limit', notBefore: null, message: 'limited' }, usage: used(1) }
        : emptyDiff(step, state, now),
    limits: { finalVerification: true },
    outcome: 'paused',
  },
  {
    name: 'the final verification is limited until a time that has passed',
    script: (step, _state, now) =>
      step.kind === 'judge-whole'
        ? {
            kind: 'verified',
            gates: [gate(true)],
            verdict: { kind: 'limit', notBefore: now - MINUTE, message: 'limited' },
            usage: used(1),
          }
        : null,
    limits: { finalVerification: true },
    outcome: 'paused',
  },
  {
    name: 'the final verification is limited and does not say until when',
    script: (step) =>
      step.kind === 'judge-whole'
        ? {
            kind: 'verified',
            gates: [gate(true)],
            verdict: { kind: 'limit', notBefore: null, message: 'limited' },
            usage: used(1),
          }
        : null,
    limits: { finalVerification: true },
    outcome: 'paused',
  },
  {
    name: 'the final verification gives no verdict',
    script: (step) =>
      step.kind === 'judge-whole'
        ? {
            kind: 'verified',
            gates: [gate(true)],
            verdict: { kind: 'none', message: 'neither' },
            usage: used(1),
          }
        : null,
    limits: { finalVerification: true },
    outcome: 'stuck',
  },
  {
    name: 'the final verification resets a story each time',
    script: (step) =>
      step.kind === 'judge-whole'
        ? {
            kind: 'verified',
            gates: [gate(true)],
            verdict: { kind: 'reset', stories: ['US-001'], reason: 'not met' },
            usage: used(1),
          }
        : null,
    limits: { finalVerification: true },
    outcome: 'stuck',
  },
  {
    name: 'every story was skipped, and a gate fails on the whole',
    script: (step) =>
      step.kind === 'verify'
        ? {
            kind: 'verified',
            gates: [gate(false)],
            verdict: { kind: 'none', message: 'gate test fails on the whole' },
            usage: used(0),
          }
        : null,
    limits: { finalVerification: true },
    stories: [newStory({ id: 'US-001', title: 'a', skipped: true })],
    outcome: 'stuck',
  },
  {
    name: 'the judge resets a story that did not pass',
    script: (step) =>
      step.kind === 'judge-whole'
        ? {
            kind: 'verified',
            gates: [gate(true)],
            verdict: { kind: 'reset', stories: ['US-404'], reason: 'not met' },
            usage: used(1),
          }
        : null,
    limits: { finalVerification: true },
    outcome: 'stuck',
  },
  {
    name: 'people push whenever we publish',
    script: peoplePushed,
    outcome: 'paused',
  },
  {
    name: 'people push whenever we look',
    script: (step, state) =>
      step.kind === 'sync' && state.published !== null
        ? { kind: 'synced', commands: [], theirs: { head: 'theirs' } }
        : null,
    outcome: 'paused',
  },
  {
    name: 'cancelled, and people have pushed',
    script: cancelledAt('guard', peoplePushed),
    outcome: 'interrupted',
  },
  {
    name: 'cancelled while what people pushed is gated',
    script: (step, state, now) =>
      step.kind === 'sync' && state.published !== null
        ? { kind: 'synced', commands: [], theirs: { head: 'theirs' } }
        : cancelledAt('join', peoplePushed)(step, state, now),
    outcome: 'interrupted',
  },
  {
    name: 'the key is refused, and people have pushed',
    script: (step, state, now) =>
      step.kind === 'agent'
        ? { kind: 'worked', session: session({ status: 'auth' }) }
        : peoplePushed(step, state, now),
    outcome: 'error',
  },
  {
    name: 'the branch is protected',
    script: (step, state) =>
      step.kind === 'publish' && state.job.branch.kind !== 'refused'
        ? { kind: 'push-refused', summary: 'the branch is protected' }
        : null,
    outcome: 'paused',
  },
  {
    name: 'nobody may dispatch',
    script: (step) => (step.kind === 'dispatch' ? { kind: 'dispatch-failed', summary: '403' } : null),
    limits: { iterationsPerJob: 1 },
    outcome: 'error',
  },
  {
    name: 'a rate limit refuses every dispatch',
    script: (step, _state, now) =>
      step.kind === 'dispatch' ? { kind: 'dispatch-limited', until: now + HOUR } : null,
    limits: { iterationsPerJob: 1 },
    outcome: 'complete',
  },
]

/** Far above what an honest job of three stories needs, far below what a job's five hours of retries come to. */
const MOST = 250

describe('a result that repeats for ever: every job ends, and so does the chain', () => {
  for (const iterationsPerJob of [0, 2]) {
    for (const one of cases) {
      test(`${one.name} (${iterationsPerJob === 0 ? 'all in one job' : 'batches of two'})`, () => {
        const limits = limitsWith({ iterationsPerJob, ...one.limits })
        const ran = toTheEnd(limits, one.stories ?? stories('US-001', 'US-002', 'US-003'), one.script)
        assert.equal(ran.outcome, one.outcome, ran.conclusion.reason)
      })
    }
  }
})

function toTheEnd(limits: Limits, userStories: Story[], script: Script): Ran {
  let ran = runJob(stateOf(userStories), limits, script, undefined, MOST)
  for (let jobs = 1; ran.outcome === 'continued'; jobs += 1) {
    assert.ok(jobs <= limits.maxJobs, `no outcome after ${jobs} jobs`)
    ran = runJob(anotherJob(ran.state, ran.now + 1000), limits, script, ran.now + 1000, MOST)
  }
  return ran
}
