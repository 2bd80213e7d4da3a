// Marks in the text of a document: nothing but the bytes of the mark changes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseDocument } from 'yaml'
import type { Mark } from '../../../src/plan/types.ts'
import { setMarks } from '../../../src/plan/write-back/set-marks.ts'
import { anyText, runs } from '../runs.ts'

const COMMIT = 'c0ffee1234567890'
const marked = (text: string, marks: Mark[], isFrontMatter = false) =>
  setMarks(
    text,
    marks.map((mark) => ({ mark, storyId: 'US-001', commit: COMMIT })),
    isFrontMatter,
  )
const box = (line: number, more: object = {}): Mark => ({ kind: 'box', line, ...more })

/** What stands before and behind the part that differs is the same in both. */
function differing(before: string, after: string): [string, string] {
  let start = 0
  while (start < before.length && before[start] === after[start]) start += 1
  let end = 0
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end))
    end += 1
  return [before.slice(start, before.length - end), after.slice(start, after.length - end)]
}

const oneLine = anyText({ maxLength: 30 }).map((text) => text.replace(/[\r\n]/g, ' '))
const lineEnd = fc.constantFrom('\n', '\r\n', '\r')

test('marking a box changes one character, with any text around and any line ends', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('', '\ufeff'),
      fc.array(fc.tuple(oneLine, lineEnd), { maxLength: 8 }),
      fc.constantFrom('- [ ] ', '* [~] ', '  + [-] ', '12. [ ] ', '### 2. [ ] ', '> - [ ] ', '- [/] '),
      fc.array(fc.tuple(lineEnd, oneLine), { maxLength: 8 }),
      (mark, above, start, below) => {
        const head = mark + above.flat().join('')
        // A line feed behind a line that ends in a carriage return is its end.
        const text = `${head}${start}task${below.flat().join('')}`
        const line = head.slice(mark.length).split(/\r\n|\n|\r/).length
        const { text: after, unset } = marked(text, [box(line)])
        assert.deepEqual(unset, [])
        assert.equal(after.length, text.length)
        const at = head.length + start.indexOf('[') + 1
        assert.equal(after, `${text.slice(0, at)}x${text.slice(at + 1)}`)
      },
    ),
    runs(200),
  )
})

test('marking a JSON value changes only its bytes, at any path', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.json({ maxDepth: 2 }), fc.constantFrom('false', '"open"')), {
        minLength: 1,
        maxLength: 4,
      }),
      fc.nat(),
      fc.constantFrom('\n', '\r\n'),
      (entries, pick, end) => {
        const index = pick % entries.length
        const list = entries.map(([other, value]) => `{"x": ${other},${end}  "done" : ${value} }`)
        const text = `[${list.join(`,${end}`)}]${end}`
        // Keys such as "<<" mean something to a parser of YAML.
        fc.pre(parseDocument(text).errors.length === 0)
        const value = entries[index]?.[1] === 'false' ? true : 'done'
        const { text: after, unset } = marked(text, [{ kind: 'value', at: [index, 'done'], value }])
        assert.deepEqual(unset, [])
        const expected = list.with(
          index,
          (list[index] ?? '').replace(/(false|"open") \}$/, `${JSON.stringify(value)} }`),
        )
        assert.equal(after, `[${expected.join(`,${end}`)}]${end}`)
      },
    ),
    runs(100),
  )
})

test('marking never throws, and keeps all other text', () => {
  const mark = fc.oneof(
    fc.record({ kind: fc.constant('box' as const), line: fc.integer({ min: -2, max: 20 }) }),
    fc.record({
      kind: fc.constant('words' as const),
      line: fc.integer({ min: -2, max: 20 }),
      value: fc.constant('done'),
    }),
    fc.record({
      kind: fc.constant('value' as const),
      at: fc.array(fc.oneof(fc.string(), fc.nat(9)), { maxLength: 3 }),
      value: fc.constant('done'),
    }),
  )
  fc.assert(
    fc.property(
      anyText({ maxLength: 300 }),
      fc.array(mark, { maxLength: 4 }),
      fc.boolean(),
      (text, marks, front) => {
        const { text: after } = marked(text, marks, front)
        assert.equal(marked(after, marks, front).text, after)
      },
    ),
    runs(300),
  )
})

test('two marks in one place change it once', () => {
  const both: Mark[] = [
    { kind: 'value', at: [], value: 'done' },
    { kind: 'words', line: 1, value: 'done' },
  ]
  assert.equal(marked('open', both).text, 'done')
})

test('marking leaves a ticked box, and counts a missing one', () => {
  for (const text of ['- [x] a', '- [X] a']) {
    assert.deepEqual(marked(text, [box(1, { withCommit: true })]), { text, unset: [] })
  }
  for (const text of ['- a [ ] b', '[link](x) - [ ]', 'words', '']) {
    const { text: after, unset } = marked(text, [box(1)])
    assert.equal(after, text)
    assert.equal(unset.length, 1)
  }
})

test('the commit is added after the text of the line, with its line end', () => {
  assert.equal(
    marked('- [~] a  \r\n- [ ] b', [box(1, { withCommit: true })]).text,
    '- [x] a c0ffee1  \r\n- [ ] b',
  )
})

test('a group is ticked with the last of its boxes, in the same pass', () => {
  const group = '- [ ] 1. Group\n  - [ ] 1.1 a\n  - [ ] 1.2 b\n'
  const above = box(1, { whenAll: [2, 3] })
  assert.equal(marked(group, [above, box(2)]).text, group.replace('[ ] 1.1', '[x] 1.1'))
  assert.equal(marked(group, [above, box(2), above, box(3)]).text, group.replaceAll('[ ]', '[x]'))
  // What a task is about is not its own box.
  const about = '- [ ] 1. Group\n  - [ ] 1.1 a\n  - [ ] 1.2 parse [x] boxes\n'
  assert.equal(marked(about, [above, box(2)]).text, about.replace('[ ] 1.1', '[x] 1.1'))
})

test('marking a status keeps label, emphasis and case, and leaves a line with more text', () => {
  const words = (text: string) => marked(text, [{ kind: 'words', line: 1, value: 'done' }])
  for (const [before, after] of [
    ['Status: ready-for-dev', 'Status: done'],
    ['**Status:** In Progress  ', '**Status:** Done  '],
    ['- **Status**: `review`', '- **Status**: `done`'],
    ['## Status: Draft', '## Status: Done'],
    ['Approved', 'Done'],
  ] as const)
    assert.equal(words(before).text, after)
  for (const text of ['Status: Draft (see Ann)', 'Status: 🟡 open', 'Status:', 'a <b>'])
    assert.deepEqual([words(text).text, words(text).unset.length], [text, 1])
})

test('marking front matter keeps quotes and comments, and does not read the rest of the page', () => {
  const page = "\ufeff---\r\ntitle: 'a'\r\nstatus: 'open' # by Ann\r\n---\r\nstatus: open\r\n"
  const mark: Mark = { kind: 'value', at: ['status'], value: 'Done' }
  assert.deepEqual(differing(page, marked(page, [mark], true).text), ['open', 'Done'])
  const without = 'status: open\n'
  assert.equal(marked(without, [mark], true).unset.length, 1)
})

test('marking leaves values that are not plain words: aliases, blocks, other types', () => {
  const mark = (value: string): Mark => ({ kind: 'value', at: ['status'], value })
  for (const text of [
    'a: &x open\nstatus: *x\n',
    'status: &x open\na: *x\n',
    'status: |\n  open\n',
    'status: 3\n',
    'status: [a]\n',
    'b: [',
  ])
    assert.deepEqual(
      [marked(text, [mark('done')]).text, marked(text, [mark('done')]).unset.length],
      [text, 1],
    )
  for (const value of ['done: {a: b}', 'done\nevil: 1', '"', "it's done", '- done', 'done #'])
    assert.equal(marked('status: open\n', [mark(value)]).text, 'status: open\n')
})

test("marking leaves a value in an alias's anchor", () => {
  const text = '- &a { done: false }\n- *a\n'
  const { text: after, unset } = marked(text, [{ kind: 'value', at: [0, 'done'], value: true }])
  assert.deepEqual([after, unset.length], [text, 1])
})
