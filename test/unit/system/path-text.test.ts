// Paths as text and back: every byte stays, and people see what is not UTF-8.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  displayPath,
  fromLatin1,
  fsPath,
  pathBytes,
  pathText,
  quotedPath,
  toLatin1,
} from '../../../src/system/path-text.ts'
import { runs } from '../runs.ts'

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 10 }).map((text) => Buffer.from(text)),
  fc
    .array(fc.constantFrom('é', '😀', '\xe9', '\xed\xa0\x80', '\xf0\x9f\x98', 'a', '\\'), { maxLength: 12 })
    .map((parts) =>
      Buffer.concat(parts.map((part) => Buffer.from(part, /[é😀]/u.test(part) ? 'utf8' : 'latin1'))),
    ),
)

test("a path's bytes survive as text, and a UTF-8 path is its own text", () => {
  fc.assert(
    fc.property(bytes, (some) => {
      const path = Buffer.from(some)
      const text = pathText(path)
      assert.deepEqual(pathBytes(text), path)
      assert.equal(toLatin1(fromLatin1(path.toString('latin1'))), path.toString('latin1'))
      const plain = path.toString('utf8')
      if (Buffer.from(plain).equals(path))
        assert.deepEqual([text, fsPath(text), displayPath(text)], [plain, plain, plain])
      else assert.deepEqual(fsPath(text), path)
    }),
    runs(300),
  )
})

test('long paths survive as text', () => {
  const path = Buffer.concat([
    Buffer.alloc(3_000_000, 'é'),
    Buffer.from([0xe9]),
    Buffer.alloc(1_000_000, 0x80),
  ])
  assert.ok(pathBytes(pathText(path)).equals(path))
})

test('a path that is not UTF-8 is shown with escapes', () => {
  const path = pathText(Buffer.from('caf\xe9.txt', 'latin1'))
  assert.equal(displayPath(path), 'caf\\xe9.txt')
  assert.equal(quotedPath(path), '"caf\\xe9.txt"')
  assert.equal(quotedPath('a "b"\n\\x', 6), '"a \\"b\\"\\n..."')
  assert.equal(displayPath('café 😀'), 'café 😀')
})
