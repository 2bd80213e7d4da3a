// `reduce` against events in any order, also such as no driver would send: what does not fit must change nothing.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Command, Event, Verdict } from '../../../src/engine/model/event.ts'
import { openAttempt } from '../../../src/engine/model/job.ts'
import type { AfterSteps } from '../../../src/engine/model/pipeline-step.ts'
import { idFault } from '../../../src/engine/model/safe-names.ts'
import type { SavedWork } from '../../../src/engine/model/saved-work.ts'
import type { GithubIds, State } from '../../../src/engine/model/state.ts'
import { storyUsage } from '../../../src/engine/model/usage-totals.ts'
import { nextStep } from '../../../src/engine/next-step.ts'
import { remaining } from '../../../src/engine/prd/select.ts'
import { reduce } from '../../../src/engine/reduce.ts'
import { runs } from '../runs.ts'
import { built, frozen, gate, HOUR, limitsWith, NOW, session, stateOf, stories, used } from './samples.ts'
import { arbitraryLimits } from './world.ts'

const commit = fc.constantFrom('one', 'two', 'three', '')
const storyId = fc.constantFrom('US-001', 'US-002', 'US-404')
const at = fc.integer({ min: NOW - HOUR, max: NOW + 10 * HOUR })
const usage = fc.nat(3).map(used)
const gates = fc.array(
  fc.record({ ok: fc.boolean(), advisory: fc.boolean() }).map(({ ok, advisory }) => gate(ok, { advisory })),
  { maxLength: 2 },
)
const kept = fc.constantFrom<SavedWork | null>(null, { base: 'one', tree: 'tree', dropped: [] })
const verdict: fc.Arbitrary<Verdict> = fc.oneof(
  fc.constant<Verdict>({ kind: 'verified' }),
  fc.record({
    kind: fc.constant('reset' as const),
    stories: fc.array(storyId, { maxLength: 2 }),
    reason: fc.constant('r'),
  }),
  fc.record({ kind: fc.constant('limit' as const), notBefore: fc.option(at), message: fc.constant('m') }),
  fc.constant<Verdict>({ kind: 'none', message: 'neither' }),
  fc.constant<Verdict>({ kind: 'refused', message: 'no key' }),
)
const hints = fc.record(
  { done: fc.boolean(), notDone: fc.boolean(), stuck: fc.constantFrom(null, null, 'why') },
  { noNullPrototype: true },
)
const aSession = fc
  .record({
    status: fc.constantFrom(
      'finished' as const,
      'finished' as const,
      'finished' as const,
      'failed' as const,
      'limit' as const,
      'overloaded' as const,
      'auth' as const,
      'not-started' as const,
      'interrupted' as const,
    ),
    usage,
    resetsAt: fc.option(at),
    hints,
    learnings: fc.array(fc.constantFrom('a', 'b'), { maxLength: 2 }),
    steps: fc.constantFrom<AfterSteps>(
      {},
      {},
      { pause: 'a step' },
      { circuits: { a: { failures: 1, until: NOW } } },
    ),
  })
  .map(({ steps, ...rest }) => session({ ...rest, ...steps }))
const failure = fc.constant({ kind: 'guard' as const, summary: 'refused', detail: '' })
const takenBack = (storyId: string) => ({
  storyId,
  kept: null,
  failure: { kind: 'conflict' as const, summary: 'people pushed', detail: '' },
})
const github = fc.constant<GithubIds>({ pull: 1, pullUrl: null, comment: null, head: null, unclosed: [] })
const is = <K extends string>(kind: K) => fc.constant(kind)

const arbitraryEvent: fc.Arbitrary<Event> = fc.oneof(
  // The middle of an attempt more often than the rest: that is where a wrong order could do harm.
  { weight: 3, arbitrary: fc.record({ at, kind: is('reserved'), storyId }) },
  { weight: 3, arbitrary: fc.record({ at, kind: is('worked'), storyId, session: aSession }) },
  {
    weight: 3,
    arbitrary: fc.record({
      at,
      kind: is('guarded'),
      storyId,
      candidate: fc.tuple(commit, fc.boolean()).map(([id, empty]) => built(id, empty)),
    }),
  },
  { weight: 3, arbitrary: fc.record({ at, kind: is('gated'), storyId, commit, gates }) },
  { weight: 3, arbitrary: fc.record({ at, kind: is('judged'), storyId, verdict, usage }) },
  { weight: 4, arbitrary: fc.record({ at, kind: is('accepted'), storyId, commit }) },
  { weight: 1, arbitrary: fc.record({ at, kind: is('refused'), storyId, failure }) },
  { weight: 1, arbitrary: fc.record({ at, kind: is('rejected'), storyId, kept }) },
  { weight: 1, arbitrary: fc.record({ at, kind: is('returned'), storyId, kept }) },
  { weight: 1, arbitrary: fc.record({ at, kind: is('whole-gated'), gates, usage }) },
  { weight: 1, arbitrary: fc.record({ at, kind: is('verified'), gates, verdict, usage }) },
  {
    weight: 1,
    arbitrary: fc.record({
      at,
      kind: is('interrupted'),
      spent: fc.option(fc.record({ storyId: fc.option(storyId), kind: is('judge'), usage })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      at,
      kind: is('out-of-time'),
      spent: fc.option(fc.record({ storyId: fc.option(storyId), kind: is('judge'), usage })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ at, kind: is('push-expired'), summary: fc.constant('401') }) },
  { weight: 1, arbitrary: fc.record({ at, kind: is('restored') }) },
  { weight: 1, arbitrary: fc.record({ at, kind: is('opened'), green: commit, github }) },
  {
    weight: 1,
    arbitrary: fc.record({
      at,
      kind: is('synced'),
      commands: fc.constant<Command[]>([]),
      theirs: fc.constantFrom(null, 'merged' as const, 'deleted' as const, { head: 'theirs' }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      at,
      kind: is('joined'),
      green: commit,
      theirs: commit,
      people: fc.constant(null),
      takenBack: fc.subarray([takenBack('US-001'), takenBack('US-002')]),
      entries: fc.constant<string[]>([]),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      at,
      kind: is('published'),
      green: commit,
      withBranch: fc.boolean(),
      more: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Event>(
      { at: NOW, kind: 'prepared' },
      { at: NOW, kind: 'baselined', gates: [gate(false)] },
      {
        at: NOW,
        kind: 'pushed',
        github: { pull: null, pullUrl: null, comment: null, head: null, unclosed: [] },
      },
      { at: NOW, kind: 'waited' },
      { at: NOW, kind: 'join-failed', summary: 's' },
      { at: NOW, kind: 'push-refused', summary: 's' },
      { at: NOW, kind: 'diverged', theirs: 't' },
      { at: NOW, kind: 'failed', summary: 's', fix: 'f' },
      { at: NOW, kind: 'dispatched', runId: null },
      { at: NOW, kind: 'dispatch-failed', summary: 's' },
      { at: NOW, kind: 'dispatch-limited', until: NOW + 1 },
      { at: NOW, kind: 'concluded', conclusion: { outcome: 'paused', reason: 'r', until: null } },
      {
        at: NOW,
        kind: 'reported',
        github: { pull: null, pullUrl: null, comment: null, head: null, unclosed: [] },
      },
    ),
  },
)

const events = fc.array(arbitraryEvent, { maxLength: 60, size: 'max' })

/** Whether the events of an attempt hold what a pass of that commit needs, in the right order. */
function proves(attempt: readonly Event[], wanted: string): boolean {
  return attempt.some((guarded, index) => {
    if (guarded.kind !== 'guarded' || guarded.candidate.commit !== wanted) return false
    const behind = attempt.slice(index)
    const gated = behind.findIndex(
      (event) =>
        event.kind === 'gated' &&
        event.commit === wanted &&
        event.gates.every((one) => one.ok || one.advisory),
    )
    if (gated === -1 || !guarded.candidate.empty) return gated !== -1
    return behind.slice(gated).some((event) => event.kind === 'judged' && event.verdict.kind === 'verified')
  })
}

describe('events in any order', () => {
  test('pass a story only by `accepted`, after gates passed on exactly that commit', () => {
    const property = fc.property(events, (sequence) => {
      const limits = limitsWith({ maxAttempts: 100, maxInterruptions: 100 })
      let state = stateOf(stories('US-001', 'US-002'))
      let begun = 0
      for (const [index, event] of sequence.entries()) {
        const next = reduce(state, event, limits)
        if (openAttempt(state) === null && openAttempt(next) !== null) begun = index
        for (const story of next.prd.userStories) {
          const before = state.prd.userStories.find((one) => one.id === story.id)
          if (!story.passes || before?.passes === true) continue
          assert.equal(event.kind, 'accepted')
          assert.equal(openAttempt(state)?.storyId, story.id)
          const wanted = event.kind === 'accepted' ? event.commit : ''
          assert.ok(proves(sequence.slice(begun, index), wanted), `${story.id} passed without its gates`)
        }
        state = next
      }
    })
    fc.assert(property, { ...runs(400), interruptAfterTimeLimit: 8000 })
  })

  test('throw nothing, change no state in place, and leave a JSON state with a next step', () => {
    const property = fc.property(events, arbitraryLimits, at, (sequence, limits, now) => {
      let state: State = frozen(stateOf(stories('US-001', 'US-002')))
      for (const event of sequence) state = frozen(reduce(state, frozen(event), limits))
      const step = nextStep(state, limits, now)
      assert.deepEqual(JSON.parse(JSON.stringify(state)), state)
      assert.deepEqual(nextStep(JSON.parse(JSON.stringify(state)), limits, now), step)
    })
    fc.assert(property, { ...runs(150), interruptAfterTimeLimit: 8000 })
  })

  test('charge an iteration once per attempt, whichever event is repeated', () => {
    const property = fc.property(events, (sequence) => {
      const limits = limitsWith({ maxAttempts: 100 })
      let state = stateOf(stories('US-001', 'US-002'))
      let attempts = 0
      for (const event of sequence) {
        const next = reduce(state, event, limits)
        if (openAttempt(state) === null && openAttempt(next) !== null) attempts += 1
        state = next
      }
      const charged = state.timeline.filter(
        ({ result }) => result === 'passed' || result === 'rejected',
      ).length
      assert.equal(state.prd.run.iterations, charged)
      assert.ok(charged <= attempts)
      assert.equal(state.job.counts.begun, attempts)
    })
    fc.assert(property, { ...runs(100), interruptAfterTimeLimit: 8000 })
  })

  test('begin an attempt only on a story that is ready', () => {
    const property = fc.property(events, (sequence) => {
      const limits = limitsWith()
      let state = stateOf(stories('US-001', 'US-002'))
      for (const event of sequence) {
        const next = reduce(state, event, limits)
        const id = openAttempt(next)?.storyId
        if (openAttempt(state) === null && id !== undefined) {
          assert.ok(
            remaining(state.prd).some((story) => story.id === id && !story.blocked),
            `${id} was begun`,
          )
        }
        state = next
      }
    })
    fc.assert(property, { ...runs(100), interruptAfterTimeLimit: 8000 })
  })

  for (const far of [Number.MAX_SAFE_INTEGER, 9e15]) {
    test(`a vendor's absurd reset time (${far}) does not throw`, () => {
      const limits = limitsWith()
      const reserved = reduce(
        stateOf(stories('US-001')),
        { at: NOW, kind: 'reserved', storyId: 'US-001' },
        limits,
      )
      const limited = session({ status: 'limit', resetsAt: far })
      const worked = reduce(
        reserved,
        { at: NOW, kind: 'worked', storyId: 'US-001', session: limited },
        limits,
      )
      const returned = reduce(worked, { at: NOW, kind: 'returned', storyId: 'US-001', kept: null }, limits)
      const looked = reduce(returned, { at: NOW, kind: 'synced', commands: [], theirs: null }, limits)
      const step = nextStep(looked, limits, NOW)
      assert.equal(step.kind === 'conclude' ? step.conclusion.outcome : step.kind, 'paused')
    })
  }

  for (const id of ['constructor', 'toString', 'valueOf']) {
    test(`a story with the id ${id} is refused by prd.json, or worked on like any other`, () => {
      if (idFault(id) !== null) return
      const limits = limitsWith()
      const said = { id: 1, by: 'ann', kind: 'retry' as const, stories: [id], guidance: 'a hint' }
      const heard = reduce(
        stateOf(stories(id)),
        { at: NOW, kind: 'synced', commands: [said], theirs: null },
        limits,
      )
      assert.deepEqual(heard.control.guidance[id], ['a hint'])
      const reserved = reduce(heard, { at: NOW, kind: 'reserved', storyId: id }, limits)
      const worked = reduce(reserved, { at: NOW, kind: 'worked', storyId: id, session: session() }, limits)
      assert.deepEqual(storyUsage(worked, id), used(1))
    })
  }
})
