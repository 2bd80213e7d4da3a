// What the work job handed over of its steps, as the job that lands reads it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { replayedAgent } from '../../../../src/action/jobs/handed-over-ports.ts'
import { readFromWork } from '../../../../src/action/jobs/handover.ts'
import type { AttemptIn } from '../../../../src/engine/model/attempt.ts'
import type { Circuits, PipelineStep } from '../../../../src/engine/model/pipeline-step.ts'
import type { RepositoryPort } from '../../../../src/engine/model/ports.ts'
import type { State } from '../../../../src/engine/model/state.ts'
import { withPipelineResult } from '../../../../src/engine/state-updates.ts'
import type { CatFile } from '../../../../src/git/cat-file.ts'
import { session, stateOf, stories } from '../../engine/samples.ts'

const RESET_MS = 10 * 3_600_000
const noop = (name: string, isWatched: boolean): PipelineStep => ({
  name,
  type: 'noop',
  timeoutMs: null,
  maxRetries: 0,
  retryDelayMs: 0,
  continueOnError: true,
  circuit: isWatched ? { threshold: 1, resetAfterMs: RESET_MS } : null,
})
const steps = [noop('fragile', true), noop('plain', false)]

/** The circuits of the state once such a session was landed. */
async function landed(circuits: unknown, before: Circuits = {}): Promise<Circuits | undefined> {
  const state = stateOf(stories('US-001'))
  const begun = { ...state, control: { ...state.control, circuits: before } }
  const handed = {
    nonce: 'n',
    session: { ...session(), circuits },
    judged: null,
    planned: null,
    commit: null,
    sha256: null,
    mistake: null,
  }
  const work = readFromWork(JSON.stringify(handed)) ?? assert.fail('nothing was read')
  // Nothing was changed: neither is asked.
  const port = replayedAgent(work, {} as RepositoryPort, {} as CatFile, (text) => text, steps)
  const said = await port.work(begun, {} as AttemptIn<'reserved'>, {} as never, new AbortController().signal)
  return withPipelineResult(begun, said).control.circuits
}

test("a circuit that the work job opened stays open for at most the step's resetAfter", async () => {
  const until = Date.now() + 60_000
  assert.deepEqual(await landed({ fragile: { failures: 1, until } }), { fragile: { failures: 1, until } })
  const long = await landed({ fragile: { failures: 1, until: 8e15 } })
  assert.ok((long?.fragile?.until ?? 0) <= Date.now() + RESET_MS)
  assert.equal(await landed({}, { fragile: { failures: 1, until: 5 } }), undefined)
})

test('circuits of steps without a circuit breaker are ignored in a hand-over', async () => {
  const one = { failures: 2, until: null }
  assert.deepEqual(await landed({ fragile: one, plain: one, other: one, constructor: one }), { fragile: one })
})

test("a verdict in the work job's hand-over passes no story without a change, even if the change landed with another story", async () => {
  const judged = { verdict: { kind: 'verified' as const }, usage: session().usage }
  const handed = {
    nonce: 'n',
    session: null,
    judged,
    planned: null,
    commit: null,
    sha256: null,
    mistake: null,
  }
  const work = readFromWork(JSON.stringify(handed)) ?? assert.fail('nothing was read')
  const port = replayedAgent(work, {} as RepositoryPort, {} as CatFile, (text) => text, [])
  const ask = async (task: { isUnchanged?: true }) => {
    const about = { stories: ['US-001'], gates: [], ...task }
    const { verdict } = await port.judge({} as State, about, {} as never, new AbortController().signal)
    return verdict.kind
  }
  assert.equal(await ask({ isUnchanged: true }), 'none')
  assert.equal(await ask({}), 'verified')
})
