// A session that passes what the run may still spend is ended while it runs.
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import test from 'node:test'
import type { AgentVendor } from '../../../src/agents/agent.ts'
import { findAgent } from '../../../src/agents/registry.ts'
import { type AgentRequest, runAgent } from '../../../src/agents/run-session.ts'
import { createRedactor } from '../../../src/isolation/redact.ts'

const custom = findAgent('custom')
assert.ok(custom !== null)

/** A custom agent whose every line `tokens n` counts as usage so far; the real one is heard at its end only. */
const counting: AgentVendor = {
  ...custom,
  parser(now) {
    const parser = custom.parser(now)
    return {
      line(stream, line) {
        const tokens = Number(/^tokens (\d+)$/.exec(line)?.[1] ?? Number.NaN)
        if (Number.isNaN(tokens)) return parser.line(stream, line)
        const usage = {
          ...parser.end({ kind: 'exit', code: 0 }).usage,
          inputTokens: tokens,
          costUsd: tokens / 100,
        }
        return [{ kind: 'usage', usage }]
      },
      end: (exit) => parser.end(exit),
    }
  },
}

const session = (
  commandLine: string,
  budget: { costUsd: number | null; tokens: number | null },
  more: Partial<AgentRequest> = {},
) =>
  runAgent({
    vendor: counting,
    commandLine,
    extraArgs: [],
    prompt: '',
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? '' },
    timeoutMs: 60_000,
    captureBytes: 1000,
    redactor: createRedactor([]),
    budget,
    ...more,
  })

for (const [what, budget] of [
  ['tokens', { costUsd: null, tokens: 50 }],
  ['money', { costUsd: 0.5, tokens: null }],
] as const) {
  test(`a session over its ${what} is ended at once, charged, and reported`, async () => {
    const ended = await session('echo tokens 50; echo tokens 51; exec sleep 600', budget)
    assert.equal(ended.status, 'max-turns')
    assert.match(ended.message, /used what was left of the limits/)
  })
}

test('a session within its limits is not ended', async () => {
  const ended = await session('echo tokens 50; echo done', { costUsd: 0.5, tokens: 50 })
  assert.equal(ended.status, 'finished')
})

test('an abort by a person takes precedence over a limit reached at the same time', async () => {
  const stop = new AbortController()
  const more = { signal: stop.signal, onEvent: () => stop.abort() }
  const ended = await session('echo tokens 51; exec sleep 600', { costUsd: null, tokens: 50 }, more)
  assert.equal(ended.status, 'aborted')
})

test("a session that hides its usage is ended by what the vendor's responses counted", async () => {
  let tokens = 0
  let changed = () => {}
  const measured = {
    tokens: () => ({ inputTokens: tokens, outputTokens: 0, cachedTokens: 0 }),
    onChange: (listener: () => void) => {
      changed = listener
      return { [Symbol.dispose]() {} }
    },
  }
  const onEvent = () => {
    tokens = 51
    changed()
  }
  const budget = { costUsd: null, tokens: 50 }
  const ended = await session('echo tokens 9; exec sleep 600', budget, { measured, onEvent })
  assert.equal(ended.status, 'max-turns')
  assert.match(ended.message, /used what was left of the limits/)
})
