// Steps that are cut short, and who stands in for whom: with functions in the place of programs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type StepTools, withPipeline } from '../../../src/app/pipeline-runner.ts'
import type { AttemptIn } from '../../../src/engine/model/attempt.ts'
import type { AgentStep, CommandStep, PipelineStep } from '../../../src/engine/model/pipeline-step.ts'
import type { AgentPort } from '../../../src/engine/model/ports.ts'
import { gate, NO_IGNORED, NOW, session, stateOf, stories } from '../engine/samples.ts'

const COMMON = { timeoutMs: null, maxRetries: 0, retryDelayMs: 0, continueOnError: false, circuit: null }
const agent = (name: string, more: Partial<AgentStep> = {}): AgentStep => ({
  ...COMMON,
  name,
  type: 'agent',
  agent: null,
  model: null,
  args: [],
  prompt: null,
  ...more,
})
const command = (name: string, more: Partial<CommandStep> = {}): CommandStep => ({
  ...COMMON,
  name,
  type: 'command',
  run: 'true',
  endRunOn: [],
  ...more,
})
const state = stateOf(stories('US-001'))
const bounds = {
  timeoutMs: 60_000,
  conflict: null,
  budget: { costUsd: null, tokens: null },
  reserved: { costUsd: null, tokens: null },
}
const attempt = (which: 'first' | 'fallback'): AttemptIn<'reserved'> => ({
  phase: 'reserved',
  runner: { at: 'checkout' },
  storyId: 'US-001',
  number: 1,
  iteration: 1,
  agent: which,
  base: state.green,
  startedAt: NOW,
  reserved: { costUsd: null, tokens: null },
  unwanted: false,
})

/** What was asked: who, with which model and arguments. */
function pipeline(before: readonly PipelineStep[], tools: Partial<StepTools> = {}) {
  const asked: string[] = []
  const never = () => Promise.reject(new Error('not asked for'))
  const portOf = (who: string): AgentPort => ({
    work: async (_state, _attempt, { step }) => {
      asked.push([who, step?.log, step?.model, ...(step?.args ?? [])].join(' '))
      return session()
    },
    setUp: async () => session(),
    judge: never,
    plan: never,
  })
  const port = withPipeline(
    { name: 'default', setsUp: true, before, after: [] },
    {
      base: portOf('own'),
      agents: new Map([['codex', portOf('codex')]]),
      gates: { canPrepare: false, run: never, prepare: never, renew: never },
      repository: { saveWork: never, checkOut: never, restore: never, ignored: NO_IGNORED },
      commit: never,
      command: async () => gate(true, { ended: 'exit 0' }),
      cwd: '/nowhere',
      clock: { now: () => NOW, sleep: async () => {} },
      report: () => {},
      warn: () => {},
      ...tools,
    },
  )
  return { port, asked }
}

test('a command step that a person cancels has not failed: nothing is charged, and its circuit stays closed', async () => {
  const circuit = { threshold: 1, resetAfterMs: 1000 }
  for (const more of [{}, { continueOnError: true }, { maxRetries: 3 }]) {
    const stop = new AbortController()
    const { port, asked } = pipeline([agent('work'), command('slow', { circuit, ...more }), agent('late')], {
      command: async () => {
        stop.abort()
        return gate(false, { ended: 'cancelled' })
      },
    })
    const { status, usage, circuits } = await port.work(state, attempt('first'), bounds, stop.signal)
    assert.deepEqual([status, usage.calls, circuits, asked.length], ['interrupted', 1, undefined, 1])
  }
})

test("each step's session has its own transcript, model, agent and arguments", async () => {
  const steps = [
    agent('work', { model: 'fast', args: ['--x'] }),
    agent('a review', { agent: 'codex', model: 'deep', args: ['--y'] }),
    agent('mend', { agent: 'claude' }),
  ]
  const { port, asked } = pipeline(steps)
  await port.work(state, attempt('first'), bounds, new AbortController().signal)
  assert.deepEqual(asked, ['own  fast --x', 'codex -a-review deep --y', 'own -mend '])
})

test('the fallback agent gets neither models nor arguments of the first; a step with its own agent keeps it', async () => {
  const steps = [
    agent('work', { model: 'fast', args: ['--x'] }),
    agent('review', { agent: 'codex', model: 'deep' }),
  ]
  const { port, asked } = pipeline(steps)
  const { others } = await port.work(state, attempt('fallback'), bounds, new AbortController().signal)
  assert.deepEqual(asked, ['own  ', 'codex -review deep'])
  assert.deepEqual(
    others?.map((one) => one.agent),
    ['codex'],
  )
})
