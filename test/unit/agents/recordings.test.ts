// Every recording of the real programs, replayed through its parser: case -> status as test/fixtures/agents/cases.json has it.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ParsedEnd } from '../../../src/agents/agent.ts'
import { findAgent } from '../../../src/agents/registry.ts'
import { readSignals } from '../../../src/agents/signals.ts'
import type { AgentEvent } from '../../../src/engine/model/agent-event.ts'
import { lineSplitter } from '../../../src/system/output.ts'
import type { Exit } from '../../../src/system/process.ts'

type Case = { cli: string; case: string; exit: Exit; status: string; done?: boolean; resetsAt?: number }

/** The day of the recordings; codex says the end of a limit by the clock of its machine. */
const NOW = Date.parse('2026-11-21T04:00:00Z')
process.env.TZ = 'UTC'

const FOLDER = join(import.meta.dirname, '../../fixtures/agents')
const cases: Case[] = JSON.parse(readFileSync(join(FOLDER, 'cases.json'), 'utf8'))

/** `portion` cuts the output into chunks of that many bytes. */
function replay(recorded: Case, portion = 65_536): { end: ParsedEnd; events: AgentEvent[] } {
  const vendor = findAgent(recorded.cli)
  assert.ok(vendor)
  const parser = vendor.parser(() => NOW)
  const events: AgentEvent[] = []
  for (const stream of ['stdout', 'stderr'] as const) {
    const file = join(FOLDER, recorded.cli, `${recorded.case}.${stream}`)
    const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
    const lines = lineSplitter((line) => events.push(...parser.line(stream, line)))
    for (let at = 0; at < bytes.length; at += portion) lines.push(bytes.subarray(at, at + portion))
    lines.end()
  }
  return { end: parser.end(recorded.exit), events }
}

function recorded(cli: string, name: string): Case {
  const found = cases.find((one) => one.cli === cli && one.case === name)
  assert.ok(found, `${cli} ${name}`)
  return found
}

test('every agent recording gives the outcome of its table', () => {
  assert.equal(cases.length, 355)
  for (const one of cases) {
    const name = `${one.cli} ${one.case}`
    const { end } = replay(one)
    assert.equal(end.status, one.status, name)
    assert.equal(end.resetsAt, one.resetsAt ?? null, name)
    if (one.done !== undefined) assert.equal(readSignals(end.finalText).done, one.done, name)
    assert.equal(readSignals(end.finalText).verdict, null, name)
    assert.match(end.message, /^\P{Cc}{1,300}$/u, name)
  }
})

test('the final text of a recording is its last answer only', () => {
  for (const one of cases) {
    if (one.status !== 'finished' || !/^(?:happy|marker|nodone|parallel|ci-env|root)/.test(one.case)) continue
    const text = replay(one).end.finalText
    const answers = [
      'All finished.\n\n<ralph>DONE</ralph>',
      'Not finished yet.',
      'The notes are written; two tasks are left.',
      'One step made, more to do.',
    ]
    assert.ok(answers.includes(text), `${one.cli} ${one.case}: ${text}`)
  }
})

test('only finished recordings have a successful exit and a final text that says done', () => {
  const well = cases.filter(
    (one) => one.exit.kind === 'exit' && one.exit.code === 0 && one.status !== 'finished',
  )
  assert.ok(well.length >= 15, 'several failures exit 0')
  for (const one of well) assert.notEqual(replay(one).end.status, 'finished')
})

test('recordings give the same result in chunks of any size', () => {
  for (const one of [
    recorded('claude', 'unicode'),
    recorded('codex', 'unicode'),
    recorded('gemini', 'aimock-happy'),
  ]) {
    const whole = replay(one)
    for (const portion of [1, 3, 1000]) assert.deepEqual(replay(one, portion), whole)
  }
})

test('claude: usage comes from the models and the cost, subagents included', () => {
  assert.deepEqual(replay(recorded('claude', 'subagent')).end.usage, {
    calls: 1,
    inputTokens: 4200 + 800 + 120,
    outputTokens: 202,
    cachedTokens: 800,
    costUsd: 0.0216,
    agentSeconds: 0,
    turns: 2,
  })
})

test('a killed session counts the tokens that it had sent', () => {
  const { usage } = replay(recorded('claude', 'sig-shell-SIGKILL')).end
  assert.equal(usage.inputTokens, 1230)
  assert.equal(usage.costUsd, null)
})

test('codex, gemini and opencode: tokens include the cached ones', () => {
  const usageOf = (cli: string, name: string) => replay(recorded(cli, name)).end.usage
  for (const [cli, name, cost] of [
    ['codex', 'happy-json', null],
    ['gemini', 'model-fixed', null],
    ['opencode', 'happy-json', 0.010575],
  ] as const) {
    const usage = usageOf(cli, name)
    assert.equal(usage.inputTokens, 3300, cli)
    assert.equal(usage.outputTokens, 153, cli)
    assert.equal(usage.cachedTokens, 600, cli)
    assert.equal(usage.costUsd, cost, cli)
  }
})

test('claude: a usage limit gives the time of the reset in milliseconds', () => {
  const { end, events } = replay(recorded('claude', 'limit429-oauth'))
  assert.equal(end.resetsAt, 1_795_239_134_000)
  assert.deepEqual(
    events.filter((event) => event.kind === 'limit'),
    [{ kind: 'limit', resetsAt: 1_795_239_134_000 }],
  )
})

test('claude: a broken stream is reported, and no other recording reports one', () => {
  for (const name of ['middrop', 'miderror', 'midhang']) {
    assert.match(replay(recorded('claude', name)).end.message, /connection broke during an answer/)
  }
  const others = cases.filter((one) => one.cli === 'claude' && !one.case.startsWith('mid'))
  for (const one of others)
    assert.doesNotMatch(replay(one).end.message, /connection broke during an answer/, one.case)
})

test('gemini: a marker that two deltas split is whole in the final text', () => {
  const { end, events } = replay(recorded('gemini', 'aimock-happy'))
  const texts = events.flatMap((event) => (event.kind === 'text' ? [event.text] : []))
  assert.ok(texts.every((text) => !text.includes('<ralph>DONE</ralph>')))
  assert.equal(readSignals(end.finalText).done, true)
})

test('session events have tools and their targets', () => {
  const tools = (cli: string, name: string) =>
    replay(recorded(cli, name)).events.filter((event) => event.kind === 'tool')
  const command = 'cat hello.txt && git status --short'
  assert.deepEqual(tools('claude', 'happy-stream'), [
    { kind: 'tool', name: 'Write', target: '/repo/hello.txt' },
    { kind: 'tool', name: 'Bash', target: command },
  ])
  assert.deepEqual(tools('codex', 'happy-json'), [
    { kind: 'tool', name: 'edit', target: '/repo/hello.txt' },
    { kind: 'tool', name: 'command', target: command },
  ])
  assert.deepEqual(tools('opencode', 'happy-json')[1], { kind: 'tool', name: 'bash', target: command })
  assert.deepEqual(tools('gemini', 'happy-stream')[0], {
    kind: 'tool',
    name: 'write_file',
    target: '/repo/hello.txt',
  })
  assert.deepEqual(tools('copilot', 'happy-stdin')[0], {
    kind: 'tool',
    name: 'create',
    target: '/repo/hello.txt',
  })
})

test('session retries are reported with their status', () => {
  const retries = (cli: string, name: string) =>
    replay(recorded(cli, name)).events.filter((event) => event.kind === 'retry')
  assert.deepEqual(retries('claude', 'e529once'), [{ kind: 'retry', status: 529, attempt: 1 }])
  assert.deepEqual(retries('codex', 'e429once'), [{ kind: 'retry', status: 429, attempt: 1 }])
  assert.deepEqual(retries('gemini', 'e429once'), [{ kind: 'retry', status: 429, attempt: 1 }])
  assert.deepEqual(retries('copilot', 'e401').at(-1), { kind: 'retry', status: 401, attempt: 3 })
  assert.deepEqual(retries('claude', 'refused').at(-1), { kind: 'retry', status: null, attempt: 10 })
})
