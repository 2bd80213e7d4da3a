// Transcripts as people read them: of every agent whose output was recorded.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readableLines } from '../../../src/agents/readable.ts'

const RECORDINGS = new URL('../../fixtures/agents/', import.meta.url)

for (const vendor of ['claude', 'codex', 'opencode', 'gemini', 'copilot'])
  test(`what ${vendor} said, and none of its events`, () => {
    const folder = new URL(`${vendor}/`, RECORDINGS)
    const said = readdirSync(folder)
      .filter((name) => name.endsWith('.stdout'))
      .map((name) => readFileSync(new URL(name, folder), 'utf8').split('\n'))
      .map((lines) => ({ lines, read: readableLines(lines) }))
      // Of a session that was cut off before it said anything, everything is shown.
      .filter(({ lines, read }) => read.join('\n') !== lines.join('\n'))
      .map(({ read }) => read)
    assert.ok(said.length > 3)
    for (const lines of said) for (const line of lines) assert.doesNotMatch(line, /^\{.*"type"/)
    assert.ok(said.some((lines) => lines.includes('<ralph>DONE</ralph>')))
  })

test('what no agent’s format knows stays as it is', () => {
  const lines = ['I did it.', '', '{"usage":{"inputTokens":1}}', '<ralph>DONE</ralph>']
  assert.deepEqual(readableLines(lines), lines)
})
