// Pictures from the gate job to the one that lands it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { landPictures, withPictures } from '../../../../src/action/jobs/hand-over-pictures.ts'
import { fitGates, readFromGate, writeHandover } from '../../../../src/action/jobs/handover.ts'
import type { GateResult, Screenshot } from '../../../../src/engine/model/gate.ts'

const id = (digit: number) => String(digit).repeat(40)
const webp = (bytes: number) => Buffer.concat([Buffer.from('RIFF....WEBP'), Buffer.alloc(bytes - 12, 1)])
const shot = (digit: number, before: string | null = null): Screenshot => {
  return { url: `http://localhost:3000/${digit}`, viewport: '1280x800', blob: id(digit), bytes: 1, before }
}

function gate(screenshots: Screenshot[]): GateResult {
  return {
    name: 'browser',
    ok: true,
    advisory: false,
    ended: 'fine',
    ms: 1,
    output: 'x'.repeat(9000),
    screenshots,
  }
}

test('as many screenshots as fit are handed over, and a remark counts the rest', async () => {
  const gates = [gate([1, 2, 3, 4, 5, 6, 7].map((digit) => shot(digit)))]
  const read = async (blob: string) => (blob === id(2) ? null : webp(12 * 1024))
  const value = await withPictures(
    fitGates({ nonce: 'n', code: null, event: { kind: 'baselined', gates } }),
    gates,
    read,
  )
  const text = writeHandover(value)
  assert.ok(Buffer.byteLength(text) <= 96 * 1024)
  const came = readFromGate(text)
  const [browser] = came?.event?.gates ?? []
  assert.deepEqual(
    browser?.screenshots?.map(({ blob }) => blob),
    [1, 3, 4, 5, 6].map(id),
  )
  assert.deepEqual(browser?.remarks, [
    '2 screenshots are not shown, because they were too large to pass from job to job',
  ])
  const written: Buffer[] = []
  const keep = async (picture: Buffer) => String(written.push(picture))
  const all = await landPictures(browser?.screenshots ?? [], came?.pictures ?? {}, [], keep)
  assert.deepEqual(
    all.map(({ blob, bytes }) => [blob, bytes]),
    [1, 2, 3, 4, 5].map((number) => [String(number), 12 * 1024]),
  )
})

test("screenshot ids and bytes in a gate job's artifact are validated", async () => {
  const pictures = {
    [id(1)]: Buffer.from('no picture').toString('base64'),
    [id(2)]: webp(70_000).toString('base64'),
    [id(3)]: webp(100).toString('base64'),
    [id(4)]: webp(100).toString('base64'),
  }
  const shots = [shot(1), shot(2), shot(3, id(8)), shot(4, id(9)), shot(5)]
  const all = await landPictures(shots, pictures, [shot(9)], async () => 'kept')
  assert.deepEqual(
    all.map(({ url, blob, before }) => [url.at(-1), blob, before]),
    [
      ['3', 'kept', null],
      ['4', 'kept', id(9)],
    ],
  )
  const read = (gates: GateResult[], more: object = {}) =>
    readFromGate(JSON.stringify({ nonce: 'n', code: null, event: { kind: 'baselined', gates }, ...more }))
  assert.equal(read([gate([shot(2)])])?.event?.gates[0]?.screenshots?.length, 1)
  for (const odd of [{ url: 'javascript:alert(1)' }, { viewport: '../../x' }, { blob: '__proto__' }])
    assert.equal(read([gate([{ ...shot(1), ...odd }])]), null)
  assert.equal(read([], { pictures: 7 }), null)
})
