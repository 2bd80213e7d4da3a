// What a pipeline does next: bounded tries, the iteration's time, circuits, and what ends it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Session } from '../../../src/engine/model/attempt.ts'
import type { Circuits, PipelineStep } from '../../../src/engine/model/pipeline-step.ts'
import type { SessionBounds } from '../../../src/engine/model/ports.ts'
import { addUsage } from '../../../src/engine/model/usage.ts'
import * as pure from '../../../src/engine/pipeline.ts'
import { NOW, session, used } from './samples.ts'

type Bounds = Omit<SessionBounds, 'timeoutMs'>
const NO_BUDGET: Bounds = {
  budget: { costUsd: null, tokens: null },
  reserved: { costUsd: null, tokens: null },
}
const COMMON = {
  timeoutMs: null,
  maxRetries: 0,
  retryDelayMs: 0,
  continueOnError: false,
  circuit: null,
}
const agent = (name = 'work', more: Partial<PipelineStep> = {}): PipelineStep =>
  ({
    ...COMMON,
    name,
    type: 'agent',
    agent: null,
    model: null,
    args: [],
    prompt: null,
    ...more,
  }) as PipelineStep
const command = (name = 'format', more: Partial<PipelineStep> = {}): PipelineStep =>
  ({ ...COMMON, name, type: 'command', run: 'true', endRunOn: [], ...more }) as PipelineStep

type World = {
  /** What the next try of a step comes to, in order; the last one for ever. */
  said?: Readonly<Record<string, readonly (pure.StepOutcome | Session)[]>>
  budget?: Bounds
  circuits?: Circuits
  deadline?: number
  /** How long a try takes. */
  ms?: number
}

const ok: pure.StepOutcome = { kind: 'ok' }
const bad: pure.StepOutcome = { kind: 'failed', summary: 'exit 1', detail: 'the output' }

/** Runs a list of steps to its end without doing anything; gives what happened, a word each. */
async function run(steps: readonly PipelineStep[], world: World = {}) {
  const { said = {}, circuits = {}, deadline = NOW + 3_600_000, ms = 1000, budget = NO_BUDGET } = world
  let now = NOW
  const told: string[] = []
  const happened: string[] = []
  const timeouts: number[] = []
  const counts = new Map<string, number>()
  const walked = await pure.runPipelineSteps(
    steps,
    { deadline, circuits, bounds: budget },
    {
      clock: {
        now: () => now,
        sleep: async (wait) => {
          assert.ok(now + wait <= deadline)
          now += wait
        },
      },
      signal: new AbortController().signal,
      report: (text) => {
        const [, skipped] = /^step (\S+) is left out/.exec(text) ?? []
        if (skipped !== undefined) happened.push(`-${skipped}`)
      },
      attempt: async ({ step: { name, type }, bounds, failed }) => {
        happened.push(name)
        const before = counts.get(name) ?? 0
        counts.set(name, before + 1)
        if (failed !== null) told.push(name)
        timeouts.push(bounds.timeoutMs)
        assert.ok(bounds.timeoutMs > 0 && now + bounds.timeoutMs <= deadline)
        now += Math.min(ms, bounds.timeoutMs)
        const all = said[name] ?? [type === 'agent' ? session() : ok]
        return all[Math.min(before, all.length - 1)] ?? ok
      },
    },
  )
  return { happened: happened.join(' '), session: pure.foldSessions(walked), walked, told, counts, timeouts }
}

describe('steps in order', () => {
  test('each run once, and their sessions count as one, with the usage of all', async () => {
    const first = { ...session(), usage: used(1), learnings: ['one'] }
    const second = { ...session(), usage: used(2), learnings: ['two'], message: 'reviewed' }
    const { happened, session: whole } = await run([agent(), command(), agent('review')], {
      said: { work: [first], review: [second] },
    })
    assert.equal(happened, 'work format review')
    assert.deepEqual(whole.usage, addUsage(first.usage, second.usage))
    assert.equal(whole.others, undefined)
    assert.deepEqual([whole.status, whole.message, whole.learnings], ['finished', 'reviewed', ['one', 'two']])
  })

  test('record the usage of another agent or model separately', async () => {
    const steps = [agent(), agent('review', { agent: 'codex' }), agent('again', { model: 'strong' })]
    const { session: whole } = await run(steps, { said: { review: [{ ...session(), usage: used(5) }] } })
    assert.deepEqual(whole.others, [
      { agent: 'codex', model: null, usage: used(5) },
      { agent: null, model: 'strong', usage: used(1) },
    ])
  })

  test('end at one that fails, with its output', async () => {
    const { happened, session: whole } = await run([agent(), command(), agent('review')], {
      said: { format: [bad] },
    })
    assert.equal(happened, 'work format')
    assert.deepEqual(
      [whole.status, whole.message, whole.detail],
      ['failed', 'step format: exit 1', 'the output'],
    )
    assert.equal(whole.usage.calls, session().usage.calls)
  })

  test('with continueOnError go on, and the next session gets the failure once', async () => {
    const steps = [agent(), command('check', { continueOnError: true }), agent('mend'), agent('review')]
    const { happened, told, session: whole } = await run(steps, { said: { check: [bad] } })
    assert.equal(happened, 'work check mend review')
    assert.deepEqual(told, ['mend'])
    assert.equal(whole.status, 'finished')
  })

  test('are retried after their delay, up to maxRetries', async () => {
    const steps = [agent(), command('flaky', { maxRetries: 2, retryDelayMs: 5000 })]
    assert.equal((await run(steps, { said: { flaky: [bad, bad, ok] } })).happened, 'work flaky flaky flaky')
    const gaveUp = await run(steps, { said: { flaky: [bad] } })
    assert.deepEqual([gaveUp.happened, gaveUp.session.status], ['work flaky flaky flaky', 'failed'])
  })

  test('retry a failed session in a fresh one, and both count', async () => {
    const failed: Session = { ...session(), status: 'failed', message: 'out of turns' }
    const { happened, session: whole } = await run([agent('work', { maxRetries: 1 })], {
      said: { work: [failed, session()] },
    })
    assert.equal(happened, 'work work')
    assert.deepEqual([whole.status, whole.usage.calls], ['finished', 2 * session().usage.calls])
  })
})

describe('a pipeline ends', () => {
  test('by an exit condition: the attempt is given back, and the run pauses with its reason', async () => {
    const ends: pure.StepOutcome = { kind: 'ends-run', reason: 'step window ends the run (closed)' }
    const { happened, session: whole } = await run([command('window'), agent()], { said: { window: [ends] } })
    assert.equal(happened, 'window')
    assert.deepEqual([whole.status, whole.pause, whole.usage.calls], ['interrupted', ends.reason, 0])
  })

  for (const status of ['limit', 'overloaded', 'auth', 'not-started', 'interrupted'] as const) {
    test(`without a retry of the step for ${status}`, async () => {
      const ended: Session = { ...session(), status, message: 'why', resetsAt: NOW + 5 }
      const { happened, session: whole } = await run([agent('work', { maxRetries: 3 }), command()], {
        said: { work: [ended] },
      })
      assert.equal(happened, 'work')
      assert.deepEqual([whole.status, whole.message, whole.resetsAt], [status, 'step work: why', NOW + 5])
    })
  }

  test('not by a reviewer at its limit, if that step has continueOnError', async () => {
    const limited: Session = { ...session(), status: 'limit', message: 'weekly' }
    const review = agent('review', { continueOnError: true })
    assert.equal(
      (await run([agent(), review, command()], { said: { review: [limited] } })).happened,
      'work review format',
    )
  })

  const may = { continueOnError: true }
  const no: Session = { ...session(), hints: { done: false, notDone: false, stuck: 'why' } }
  for (const status of ['limit', 'overloaded', 'auth', 'not-started', 'interrupted'] as const) {
    test(`always for ${status} of the working agent`, async () => {
      const ended: Session = { ...session(), status, message: 'why', resetsAt: NOW + 5 }
      for (const [steps, said] of [
        [[agent('work', may), command()], {}],
        [[agent('work', may), agent('other')], {}],
        [[agent('first', may), agent('work', may)], { first: [no] }],
      ] as const) {
        const { happened, session: whole } = await run(steps, { said: { work: [ended], ...said } })
        assert.match(happened, /work$/)
        assert.deepEqual([whole.status, whole.message, whole.resetsAt], [status, 'step work: why', NOW + 5])
      }
    })
  }

  test('not by a failed step with continueOnError, if another agent works; else the attempt fails', async () => {
    const failed: Session = { ...session(), status: 'failed', message: 'exit 3' }
    const alone = await run([agent('work', may), command()], { said: { work: [failed] } })
    assert.deepEqual(
      [alone.happened, alone.session.status, alone.session.message],
      ['work', 'failed', 'step work: exit 3'],
    )
    const given = await run([agent('work', may), command()], { said: { work: [no] } })
    assert.deepEqual([given.happened, given.session.hints.stuck], ['work', 'why'])
    const both = [agent('work', may), agent('other', may), command()]
    assert.equal((await run(both, { said: { work: [failed] } })).happened, 'work other format')
    assert.equal((await run(both, { said: { other: [failed] } })).happened, 'work other format')
    const neither = await run(both, { said: { work: [failed], other: [failed] } })
    assert.deepEqual([neither.happened, neither.session.message], ['work other', 'step other: exit 3'])
  })

  test("in a wait when the last agent's circuit is open, and none before it worked", async () => {
    const circuit = { threshold: 1, resetAfterMs: 60_000 }
    const open = { other: { failures: 1, until: NOW + 60_000 } }
    const failed: Session = { ...session(), status: 'failed', message: 'exit 3' }
    const steps = [agent('work', may), agent('other', { circuit }), command()]
    const { happened, session: whole } = await run(steps, { said: { work: [failed] }, circuits: open })
    assert.deepEqual([happened, whole.status, whole.resetsAt], ['work -other', 'overloaded', NOW + 60_000])
  })

  test('by a reviewer that says not to go on, with its text', async () => {
    const no: Session = { ...session(), hints: { done: false, notDone: false, stuck: 'no test for it' } }
    const { happened, session: whole } = await run([agent(), agent('review'), command()], {
      said: { review: [no] },
    })
    assert.equal(happened, 'work review')
    assert.deepEqual([whole.status, whole.message], ['failed', 'step review: no test for it'])
    const own = await run([agent(), command()], { said: { work: [no] } })
    assert.deepEqual([own.happened, own.session.hints.stuck], ['work', 'no test for it'])
  })

  test("when the iteration's time is up before a step", async () => {
    const { happened, session: whole } = await run([agent(), command()], { deadline: NOW + 500, ms: 1000 })
    assert.equal(happened, 'work')
    assert.deepEqual(
      [whole.status, whole.message],
      ['failed', 'the iteration ran out of time before step format'],
    )
  })

  test('when the budget is used up before a second session: given back uncharged', async () => {
    const dear = { ...session(), usage: { ...used(1), costUsd: 2 } }
    const budget = { ...NO_BUDGET, budget: { costUsd: 2, tokens: null } }
    const { happened, session: whole } = await run([agent(), command(), agent('review')], {
      said: { work: [dear] },
      budget,
    })
    assert.equal(happened, 'work format')
    assert.equal(whole.status, 'interrupted')
  })
})

describe("a step's circuit", () => {
  const circuit = { threshold: 2, resetAfterMs: 60_000 }
  const fragile = command('fragile', { circuit, continueOnError: true })

  test('opens after failures in a row; the step is skipped for the cool-down, then tried once', async () => {
    const first = (await run([fragile, agent()], { said: { fragile: [bad] } })).walked.circuits
    assert.deepEqual(first, { fragile: { failures: 1, until: null } })
    const second = (await run([fragile, agent()], { said: { fragile: [bad] }, circuits: first })).walked
      .circuits
    assert.equal(second.fragile?.failures, 2)
    assert.equal((await run([fragile, agent()], { circuits: second })).happened, '-fragile work')
    const rested = { fragile: { failures: 2, until: NOW - 1 } }
    const again = await run([fragile, agent()], { said: { fragile: [bad] }, circuits: rested })
    assert.equal(again.happened, 'fragile work')
    assert.ok((again.walked.circuits.fragile?.until ?? 0) > NOW)
    assert.deepEqual((await run([fragile, agent()], { circuits: rested })).walked.circuits, {})
  })

  test('does not open for a reviewer that refuses repeatedly', async () => {
    const no: Session = { ...session(), hints: { done: false, notDone: false, stuck: 'no test for it' } }
    const review = agent('review', { circuit: { threshold: 1, resetAfterMs: 60_000 } })
    const { walked } = await run([agent(), review], { said: { review: [no] } })
    assert.deepEqual([walked.circuits, walked.ended?.status], [{}, 'failed'])
  })

  test('of the only working agent makes the run wait; with another one the run goes on', async () => {
    const open = { work: { failures: 3, until: NOW + 60_000 } }
    const alone = await run([agent('work', { circuit }), command()], { circuits: open })
    assert.deepEqual(
      [alone.happened, alone.session.status, alone.session.resetsAt],
      ['-work', 'overloaded', NOW + 60_000],
    )
    assert.equal(
      (await run([agent('work', { circuit }), agent('other')], { circuits: open })).happened,
      '-work other',
    )
  })
})

test('in any sequence ends, retries no step too often, and starts none after the time', async () => {
  const arbitraryStep = fc
    .record({
      isAgent: fc.boolean(),
      timeoutMs: fc.option(fc.integer({ min: 1, max: 100_000 })),
      maxRetries: fc.nat(10),
      retryDelayMs: fc.nat(100_000),
      continueOnError: fc.boolean(),
      circuit: fc.option(
        fc.record({ threshold: fc.integer({ min: 1, max: 4 }), resetAfterMs: fc.nat(100_000) }),
      ),
    })
    .map(({ isAgent, ...common }) => ({ ...common, ...(isAgent ? { type: 'agent' } : { type: 'noop' }) }))
  const result = fc.oneof(
    fc.constant(ok),
    fc.constant(bad),
    fc.constant<pure.StepOutcome>({ kind: 'ends-run', reason: 'r' }),
  )
  const aSession = fc
    .constantFrom<Session['status']>('finished', 'failed', 'limit', 'overloaded', 'auth', 'interrupted')
    .map((status) => ({ ...session(), status }))
  const one = fc.tuple(
    arbitraryStep,
    fc.array(result, { minLength: 1 }),
    fc.array(aSession, { minLength: 1 }),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(one, { maxLength: 5 }),
      fc.integer({ min: 1, max: 500_000 }),
      fc.integer({ min: 1, max: 50_000 }),
      fc.array(fc.option(fc.integer({ min: NOW - 1000, max: NOW + 100_000 })), { maxLength: 5 }),
      async (all, time, ms, untils) => {
        const steps = all.map(
          ([step], index) => ({ ...agent(`s${index}`), ...step, name: `s${index}` }) as PipelineStep,
        )
        const said = Object.fromEntries(
          all.map(([{ type }, results, sessions], index) => [
            `s${index}`,
            type === 'agent' ? sessions : results,
          ]),
        )
        const circuits = Object.fromEntries(
          untils.map((until, index) => [`s${index}`, { failures: 1, until }]),
        )
        const {
          counts,
          timeouts,
          session: whole,
          walked,
        } = await run(steps, { said, deadline: NOW + time, ms, circuits })
        for (const [index, step] of steps.entries()) {
          assert.ok((counts.get(`s${index}`) ?? 0) <= step.maxRetries + 1)
        }
        assert.ok(timeouts.every((one) => one <= time))
        const paid = walked.sessions.reduce((sum, { usage }) => sum + usage.calls, 0)
        assert.equal(whole.usage.calls, paid)
        if (walked.ended === null && steps.some(({ type }) => type === 'agent'))
          assert.ok(walked.sessions.some(({ status }) => status === 'finished'))
        if (walked.ended === null) assert.equal(whole.status, 'finished')
        else assert.notDeepEqual([whole.status, whole.hints.done], ['finished', true])
      },
    ),
  )
})
