// Transcripts as people read them: of every agent whose output was recorded.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { TranscriptReader, transcriptHead } from '../../../src/agents/readable.ts'

/** As one who has the whole transcript of this agent. */
function readableLines(lines: readonly string[], agent: string): string[] {
  const reader = new TranscriptReader()
  return [...reader.read([transcriptHead(agent), ...lines]), ...reader.end().lines]
}

const RECORDINGS = new URL('../../fixtures/agents/', import.meta.url)

for (const vendor of ['claude', 'codex', 'opencode', 'gemini', 'copilot'])
  test(`the readable transcript of ${vendor} has what it said, without its events`, () => {
    const folder = new URL(`${vendor}/`, RECORDINGS)
    const said = readdirSync(folder)
      .filter((name) => name.endsWith('.stdout'))
      .map((name) => readFileSync(new URL(name, folder), 'utf8').split('\n'))
      .map((lines) => ({ lines, read: readableLines(lines, vendor) }))
      // Of a session that was cut off before it said anything, everything is shown.
      .filter(({ lines, read }) => read.join('\n') !== lines.join('\n'))
      .map(({ read }) => read)
    assert.ok(said.length > 3)
    for (const lines of said) for (const line of lines) assert.doesNotMatch(line, /^\{.*"type"/)
    assert.ok(said.some((lines) => lines.includes('<ralph>DONE</ralph>')))
  })

test('transcript lines of an unknown format are unchanged', () => {
  const lines = ['I did it.', '', '{"usage":{"inputTokens":1}}', '<ralph>DONE</ralph>']
  assert.deepEqual(new TranscriptReader().read(lines), lines)
})

for (const vendor of ['claude', 'codex', 'opencode', 'gemini', 'copilot', 'amp'])
  test(`the readable transcript of ${vendor} is the same read line by line, with its usage`, () => {
    const folder = new URL(`${vendor}/`, RECORDINGS)
    const texts = readdirSync(folder)
      .filter((name) => name.endsWith('.stdout'))
      .map((name) => readFileSync(new URL(name, folder), 'utf8').replace(/\n$/, ''))
      // A line of an error alone could be of several.
      .filter((text) => vendor === 'amp' || text.includes('DONE</ralph>'))
    const usages = texts.map((text) => {
      const reader = new TranscriptReader(vendor)
      const said = text.split('\n').flatMap((line) => reader.read([line]))
      const { lines, usage } = reader.end()
      assert.deepEqual([...said, ...lines].join('\n'), readableLines(text.split('\n'), vendor).join('\n'))
      return usage
    })
    // Copilot says it in a file, and Amp's recording is of a refusal.
    const isTold = usages.some((usage) => usage !== null && usage.inputTokens > 0)
    assert.equal(isTold, !['copilot', 'amp'].includes(vendor))
  })

test('the transcript of a custom agent is read line by line, and its last line as usage', () => {
  const reader = new TranscriptReader()
  assert.deepEqual(reader.read([transcriptHead('custom'), 'I look.', '{"a":']), ['I look.', '{"a":'])
  assert.deepEqual(reader.read(['1}', 'I did it.']), ['1}', 'I did it.'])
  assert.deepEqual(reader.read(['{"usage":{"inputTokens":5,"costUsd":0.5}}']), [])
  const { lines, usage } = reader.end()
  assert.deepEqual(lines, [])
  assert.deepEqual([usage?.inputTokens, usage?.costUsd], [5, 0.5])
})
