// Streams as they are on bad days: junk, lines of 5 MB, a torn end. Printed by programs of the vendors' names.

import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { SessionResult } from '../../../src/agents/agent.ts'
import { findAgent } from '../../../src/agents/registry.ts'
import { runAgent } from '../../../src/agents/run-session.ts'
import type { AgentEvent } from '../../../src/engine/model/agent-event.ts'
import { createRedactor } from '../../../src/isolation/redact.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures/agents')
/** A whole story each: a file written, a command, the last words. */
const STORIES = ['claude', 'codex', 'gemini', 'opencode', 'copilot'].map((name) => ({
  name,
  stream: readFileSync(join(FIXTURES, name, 'loopback-story.stdout'), 'utf8'),
}))
const FIVE_MB = 5 * 1024 * 1024

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'robust-'))
})
after(() => rmSync(folder, { recursive: true }))

type Told = { result: SessionResult; events: AgentEvent[] }

/** The session of a program that prints exactly these bytes and ends well. */
async function print(name: string, stream: string | Buffer): Promise<Told> {
  const vendor = findAgent(name)
  assert.ok(vendor)
  const bin = mkdtempSync(join(folder, `${name}-`))
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'stream'), stream)
  writeFileSync(join(bin, vendor.program), `#!/bin/bash\ncat >/dev/null\ncat '${join(bin, 'stream')}'\n`)
  chmodSync(join(bin, vendor.program), 0o755)
  const events: AgentEvent[] = []
  const result = await runAgent({
    vendor,
    extraArgs: [],
    prompt: 'x',
    cwd: bin,
    env: { PATH: `${bin}:${process.env.PATH}` },
    timeoutMs: 60_000,
    captureBytes: 1000,
    redactor: createRedactor([]),
    onEvent: (event) => events.push(event),
  })
  return { result, events }
}

function same(told: Told, sound: Told, name: string): void {
  assert.equal(told.result.status, 'finished', `${name}: ${told.result.message}`)
  assert.equal(told.result.finalText, sound.result.finalText, name)
  assert.deepEqual(
    { ...told.result.usage, agentSeconds: 0 },
    { ...sound.result.usage, agentSeconds: 0 },
    name,
  )
  assert.deepEqual(told.events, sound.events, name)
}

test('agent output with junk between its events and on their lines gives the same result', async () => {
  const junk = [
    '',
    'Debugger attached.',
    '{"half":',
    'null',
    '[1]',
    '"text"',
    '{}',
    '{"type":5}',
    '\u001b[0m',
    '\0',
  ]
  for (const { name, stream } of STORIES) {
    const sound = await print(name, stream)
    assert.match(sound.result.finalText, /<ralph>DONE<\/ralph>$/, name)
    const lines = stream.trimEnd().split('\n')
    const between = lines.flatMap((line) => [line, ...junk])
    same(await print(name, `${[...junk, ...between].join('\n')}\n`), sound, name)
    const prefixed = lines.map(
      (line, index) => `${['\ufeff', '\u001b[?25l', 'npm warn x '][index % 3]}${line}`,
    )
    same(await print(name, `${prefixed.join('\n')}\n`), sound, name)
    same(await print(name, `${lines.join('\r\n')}\r\n`), sound, `${name} with carriage returns`)
  }
})

test('agent output without a newline at the end is read to its end', async () => {
  for (const { name, stream } of STORIES)
    same(await print(name, stream.trimEnd()), await print(name, stream), name)
})

test('agent output that is not UTF-8, or ends inside a character, is read', async () => {
  for (const { name, stream } of STORIES) {
    const torn = Buffer.concat([
      Buffer.from([0xff, 0xfe, 0x0a]),
      Buffer.from(stream),
      Buffer.from('🎉').subarray(0, 3),
    ])
    same(await print(name, torn), await print(name, stream), name)
  }
})

test('agent output whose last line is cut off is not a successful end', async () => {
  for (const { name, stream } of STORIES) {
    const lines = stream.trimEnd().split('\n')
    const last = lines.findLastIndex((line) =>
      /"type":"(?:result|turn\.completed)"|"reason":"stop"/.test(line),
    )
    const torn = [...lines.slice(0, last), (lines[last] ?? '').slice(0, -20)].join('\n')
    const { result } = await print(name, torn)
    assert.equal(result.status, 'failed', `${name}: ${result.message}`)
  }
})

test('lines of 5 MB in agent output are read: junk, unknown events, a large file that a tool writes', async () => {
  const big = 'x'.repeat(FIVE_MB)
  for (const { name, stream } of STORIES) {
    const sound = await print(name, stream)
    const padding = `${big}\n${JSON.stringify({ type: 'other', text: big })}\n`
    same(await print(name, `${padding}${stream}`), sound, name)
  }
  const lines = (STORIES[0]?.stream ?? '').split('\n')
  const at = lines.findIndex((line) => line.includes('"name":"Write"'))
  assert.ok(at > 0)
  const written = lines.with(at, (lines[at] ?? '').replace('hello from the model\\n', big))
  same(
    await print('claude', written.join('\n')),
    await print('claude', lines.join('\n')),
    'claude writes 5 MB',
  )
})
