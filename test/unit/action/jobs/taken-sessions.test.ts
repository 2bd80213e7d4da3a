// The events of a work job, as the job that lands takes them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFromWork } from '../../../../src/action/jobs/handover.ts'
import { takeEvents } from '../../../../src/action/jobs/taken-events.ts'
import type { Workspace } from '../../../../src/app/workspace.ts'
import type { Event } from '../../../../src/engine/model/event.ts'
import type { Circuits, PipelineStep } from '../../../../src/engine/model/pipeline-step.ts'
import type { RepositoryPort } from '../../../../src/engine/model/ports.ts'
import type { Step } from '../../../../src/engine/model/step.ts'
import { withPipelineResult } from '../../../../src/engine/state/state-updates.ts'
import type { Settings } from '../../../../src/settings/read-settings.ts'
import { built, limitsWith, RESERVED, session, stateOf, stories } from '../../engine/samples.ts'

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

const state = stateOf(stories('US-001'))

/** The event of a step, from a work job that said this. */
function taken(event: object, step: Step): Promise<Event> {
  const handed = { nonce: 'n', event, commit: null, sha256: null, mistake: null }
  const work = readFromWork(JSON.stringify(handed)) ?? assert.fail('nothing was read')
  const take = takeEvents(
    { work, gate: null },
    {
      workspace: { redactor: { redact: (text: string) => text } } as unknown as Workspace,
      settings: { steps: { before: steps } } as unknown as Settings,
      limits: limitsWith(),
      repository: {} as RepositoryPort,
    },
  )
  return take(step, state)
}

const agent = { kind: 'agent' as const, attempt: RESERVED }

/** The circuits of the state once such a session was landed. */
async function landed(circuits: unknown, before: Circuits = {}): Promise<Circuits | undefined> {
  const begun = { ...state, control: { ...state.control, circuits: before } }
  const said = await taken({ kind: 'worked', storyId: 'US-001', session: { ...session(), circuits } }, agent)
  assert.ok(said.kind === 'worked')
  return withPipelineResult(begun, said.session).control.circuits
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

test("a work job's word passes no story without a change, and a session of another story is lost", async () => {
  const worked = {
    kind: 'worked',
    storyId: 'US-001',
    session: session({ hints: { ...session().hints, done: true } }),
  }
  const own = await taken(worked, agent)
  assert.ok(own.kind === 'worked' && !own.session.hints.done)
  const other = await taken({ ...worked, storyId: 'US-002' }, agent)
  assert.deepEqual([other.kind, 'storyId' in other && other.storyId], ['lost', 'US-001'])
  const approval = { kind: 'verified', verdict: { kind: 'verified' }, usage: session().usage }
  const gated = {
    ...agent.attempt,
    phase: 'gated' as const,
    session: session(),
    candidate: built('c', true),
    gates: [],
  }
  const judged = await taken(approval, { kind: 'judge', attempt: gated })
  assert.ok(judged.kind === 'judged' && judged.verdict.kind === 'none')
  const verified = await taken(approval, { kind: 'judge-whole' })
  assert.ok(verified.kind === 'verified' && verified.verdict.kind === 'verified')
})
