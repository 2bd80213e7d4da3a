// What a session counts as whose vendor did not tell what it used: a limit of the run holds all the same.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noUsage, type SessionResult } from '../../../src/agents/agent.ts'
import { finalUsage, streamMeter } from '../../../src/agents/cost.ts'
import { findAgent } from '../../../src/agents/registry.ts'
import type { Reservation } from '../../../src/engine/model/attempt.ts'
import type { Limits } from '../../../src/engine/model/limit-types.ts'
import { runUsage } from '../../../src/engine/model/usage-totals.ts'
import { estimateSession } from '../../../src/engine/state/limits.ts'
import type { Exit } from '../../../src/system/process.ts'
import { limitsWith, runJob, session, stateOf, stories } from '../engine/samples.ts'

const NOTHING: Reservation = { costUsd: null, tokens: null }

/** A session of this vendor that printed these lines and ended so. */
function ended(name: string, lines: readonly unknown[], exit: Exit): SessionResult {
  const parser = findAgent(name)?.parser(() => 0)
  assert.ok(parser !== undefined)
  const meter = streamMeter(4000)
  for (const one of lines) {
    const line = typeof one === 'string' ? one : JSON.stringify(one)
    meter.line(line.length, parser.line('stdout', line))
  }
  return { ...parser.end(exit), estimate: meter.estimate, exitCode: null, ms: 0, output: '' }
}

/** Three million tokens, as claude tells them on the way. */
const CLAUDE = [
  { type: 'system', subtype: 'init', permissionMode: 'bypassPermissions' },
  {
    type: 'assistant',
    message: {
      id: 'm1',
      content: [{ type: 'text', text: 'I look around.' }],
      usage: { input_tokens: 1000, cache_creation_input_tokens: 999_000, cache_read_input_tokens: 2_000_000 },
    },
  },
]
/** Codex tells tokens when a turn ends; this one does not. */
const CODEX = [
  { type: 'turn.started' },
  { type: 'item.started', item: { type: 'command_execution', command: 'ls' } },
  { type: 'item.completed', item: { type: 'command_execution', aggregated_output: 'x'.repeat(40_000) } },
  { type: 'item.completed', item: { type: 'agent_message', text: 'I look further.' } },
]
const PRICES = { m: { input: 2, output: 10, cached: 1 } }

const ENDS: Exit[] = [
  { kind: 'idle' },
  { kind: 'timeout' },
  { kind: 'aborted' },
  { kind: 'signal', signal: 'SIGKILL' },
  { kind: 'exit', code: 1 },
]
for (const exit of ENDS) {
  const how = exit.kind === 'exit' ? 'crash' : exit.kind
  test(`claude, ended by ${how}: the cost is estimated from its tokens, at the user's prices or those of a large model`, () => {
    const result = ended('claude', CLAUDE, exit)
    const priced = finalUsage(result, PRICES, 'm', { costUsd: 0.2, tokens: null })
    assert.deepEqual([priced.costUsd, priced.estimatedCostUsd], [4, 4])
    const unpriced = finalUsage(result, {}, null, { costUsd: 0.2, tokens: null })
    assert.deepEqual([unpriced.costUsd, unpriced.estimatedCostUsd], [6, 6])
    assert.deepEqual([unpriced.inputTokens, unpriced.estimatedTokens], [3_000_000, undefined])
  })

  test(`codex, ended by ${how}: its reported tokens count, and at least the reservation`, () => {
    const result = ended('codex', CODEX, exit)
    const { inputTokens, outputTokens, estimatedTokens, costUsd, estimatedCostUsd } = finalUsage(
      result,
      PRICES,
      'm',
      { costUsd: 0.001, tokens: null },
    )
    // Two answers: the prompt, and then once more with what the command had printed.
    assert.ok(inputTokens > 30_000 && inputTokens < 40_000, String(inputTokens))
    assert.equal(estimatedTokens, inputTokens + outputTokens)
    assert.ok(Math.abs(costUsd - (inputTokens * 2 + outputTokens * 10) / 1e6) < 1e-9)
    assert.equal(estimatedCostUsd, costUsd)
    const more = finalUsage(result, {}, null, { costUsd: null, tokens: 100_000 })
    assert.equal(more.inputTokens + more.outputTokens, 100_000)
  })
}

test('reported usage is never estimated, and nothing is estimated without a reservation', () => {
  const result = { type: 'result', subtype: 'success', result: 'Done.', num_turns: 1, total_cost_usd: 0.01 }
  const told = finalUsage(ended('claude', [...CLAUDE, result], { kind: 'exit', code: 0 }), PRICES, 'm', {
    costUsd: 9,
    tokens: 9_000_000,
  })
  assert.deepEqual([told.costUsd, told.estimatedCostUsd, told.estimatedTokens], [0.01, undefined, undefined])
  const free = finalUsage(ended('codex', CODEX, { kind: 'idle' }), {}, null, NOTHING)
  assert.deepEqual([free.costUsd, free.inputTokens, free.estimatedTokens], [0, 0, undefined])
})

test('a session that prints nothing, or finishes without its cost, is charged its reservation', () => {
  const reserved = { costUsd: 0.5, tokens: 2000 }
  for (const [lines, exit] of [
    [[], { kind: 'idle' }],
    [['Did it.'], { kind: 'exit', code: 0 }],
  ] as const) {
    const { costUsd, inputTokens, outputTokens } = finalUsage(
      ended('custom', lines, exit),
      {},
      null,
      reserved,
    )
    assert.equal(costUsd, 0.5)
    assert.ok(inputTokens + outputTokens >= 2000)
  }
})

test('a share of the budget is charged only when no usage of the session was reported or estimated', () => {
  const share = { costUsd: 0.2, tokens: 38_000, isShare: true as const }
  const small = {
    type: 'assistant',
    message: { id: 'm1', content: [], usage: { input_tokens: 2000, output_tokens: 100 } },
  }
  const told = finalUsage(ended('claude', [CLAUDE[0], small], { kind: 'idle' }), {}, null, share)
  assert.deepEqual([told.costUsd, told.inputTokens], [0.0125, 2000])
  const seen = finalUsage(ended('codex', CODEX, { kind: 'idle' }), {}, null, share)
  assert.ok(seen.inputTokens > 30_000 && seen.inputTokens < 40_000, String(seen.inputTokens))
  assert.ok(seen.costUsd > 0.15 && seen.costUsd < 0.2, String(seen.costUsd))
  const silent = finalUsage(ended('custom', [], { kind: 'idle' }), {}, null, share)
  assert.deepEqual([silent.costUsd, silent.inputTokens], [0.2, 38_000])
})

test("a vendor's refusal before any answer costs nothing, a later one is charged", () => {
  const reserved = { costUsd: 0.5, tokens: 2000 }
  const limit = { type: 'turn.failed', error: { message: 'You’ve hit your usage limit.' } }
  const key = { type: 'turn.failed', error: { message: 'unexpected status 401 Unauthorized: no' } }
  const failed: Exit = { kind: 'exit', code: 1 }
  for (const refusal of [limit, key]) {
    const first = finalUsage(ended('codex', [CODEX[0], refusal], failed), {}, null, reserved)
    assert.deepEqual([first.costUsd, first.inputTokens], [0, 0])
    assert.ok(finalUsage(ended('codex', [...CODEX, refusal], failed), {}, null, reserved).costUsd >= 0.5)
  }
  const missing: SessionResult = {
    ...ended('codex', [], { kind: 'not-started', reason: 'ENOENT' }),
    usage: { ...noUsage(), calls: 0 },
  }
  assert.deepEqual(finalUsage(missing, {}, null, reserved).costUsd, 0)
})

const BUDGETS: [string, unknown[], Partial<Limits>][] = [
  ['claude', CLAUDE, { maxCostUsd: 20 }],
  ['codex', CODEX, { maxTokens: 100_000 }],
  ['custom', ['I hang.'], { maxTokens: 50_000 }],
]
for (const [name, lines, changes] of BUDGETS) {
  const what = Object.keys(changes)[0]
  test(`sessions of ${name} that are all cut short use up ${what}: the run ends in budget, not in stuck`, () => {
    const limits = limitsWith({ ...changes, maxAttempts: 3 })
    const ran = runJob(stateOf(stories('US-001', 'US-002', 'US-003')), limits, (step, state) => {
      if (step.kind !== 'agent') return null
      const usage = finalUsage(ended(name, lines, { kind: 'idle' }), {}, null, estimateSession(state, limits))
      return { kind: 'worked', session: session({ status: 'failed', message: 'it hung', usage }) }
    })
    const { iterations } = ran.state.prd.run
    const usage = runUsage(ran.state)
    assert.equal(ran.outcome, 'budget', JSON.stringify(usage))
    assert.ok(iterations < 9)
    if (changes.maxCostUsd !== undefined) assert.equal(usage.estimatedCostUsd, usage.costUsd)
    else assert.equal(usage.estimatedTokens, usage.inputTokens + usage.outputTokens)
  })
}

test("a session's own count does not go below what the vendor's responses counted", () => {
  const session = (tokens: number, costUsd: number | null): SessionResult => ({
    ...ended('custom', [], { kind: 'exit', code: 0 }),
    usage: { ...noUsage(), calls: 1, inputTokens: tokens, outputTokens: 1, costUsd },
  })
  const measured = { inputTokens: 4_000_000, outputTokens: 500_000, cachedTokens: 0 }
  const charged = (result: SessionResult, prices: typeof PRICES | object = {}) =>
    finalUsage({ ...result, measured }, prices as typeof PRICES, 'm', NOTHING)
  const liar = charged(session(8, 0.0001))
  assert.deepEqual([liar.inputTokens, liar.outputTokens], [4_000_000, 500_000])
  assert.deepEqual([liar.costUsd, liar.estimatedCostUsd], [32.5, 32.4999], 'at the price of a large model')
  assert.equal(charged(session(8, 0.0001), PRICES).costUsd, 13)
  assert.equal(charged(session(8, 99), PRICES).costUsd, 99, 'the larger one counts, for money as well')
  assert.equal(charged(session(8, null), PRICES).costUsd, 13)
  // Vendors leave small requests of their own out of a session's sum.
  const honest = charged(session(4_100_000, 2), PRICES)
  assert.deepEqual([honest.inputTokens, honest.outputTokens, honest.costUsd], [4_100_000, 500_000, 2])
  assert.equal(honest.estimatedCostUsd, undefined)
})
