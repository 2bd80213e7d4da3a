// Of a log of any length only the end is kept.
import assert from 'node:assert/strict'
import test from 'node:test'
import { endOf } from '../../../src/github/corrections/log-end.ts'

test('a log of 200 MB is read in parts, and its end is kept from the beginning of a line', async () => {
  const part = new TextEncoder().encode('2026-11-28T10:00:00.0000000Z a line of noise\n'.repeat(24_000))
  let left = 200
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      left -= 1
      if (left > 0) return controller.enqueue(part)
      controller.enqueue(new TextEncoder().encode('2026-11-28T10:00:00.0000000Z the end\n'))
      controller.close()
    },
  })
  const text = await endOf(stream)
  assert.ok(text.length <= 64 * 1024)
  assert.match(text, /^a line of noise\n/)
  assert.match(text, /\na line of noise\nthe end\n$/)
})
