// Report files are as hostile as the code that a gate ran: they are read in time, or are a remark.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { annotationsFrom } from '../../../src/gates/annotations.ts'
import { testCounts } from '../../../src/gates/counts.ts'
import { measureChange } from '../../../src/gates/coverage.ts'
import { readCoverage, readReports } from '../../../src/gates/reports.ts'
import { createResolver } from '../../../src/gates/resolver.ts'
import { assertGrowth } from '../growth.ts'
import { runs } from '../runs.ts'

const resolve = createResolver(new Set(['src/a.js', 'src/b.js']))
const finder = { resolve, placeIn: (said: string) => annotationsFrom(said, resolve, 1)[0] ?? null }
const reports = (text: string) => readReports([{ path: 'report', text }], finder)
const coverage = (text: string, remarks: string[] = []) => readCoverage({ path: 'coverage', text }, remarks)

const piece = fc.constantFrom(
  ...[
    '<testsuites>',
    '</testsuites>',
    '<testcase name="a" file="src/a.js" line="3">',
    '</testcase>',
    '<testcase/>',
  ],
  ...[
    '<failure message="x">',
    '</failure>',
    '<skipped/>',
    '<![CDATA[',
    ']]>',
    '&amp;',
    '&#x0;',
    '&x;',
    '<!--',
    '-->',
  ],
  ...[
    '<!DOCTYPE a [<!ENTITY x "y">]>',
    '<?xml version="1.0"?>',
    'at f (src/a.js:3:1)',
    '\r',
    '\n',
    '\0',
    '😀',
    '\ud800',
  ],
  ...['<coverage>', '</coverage>', '<class filename="src/a.js">', '</class>', '<line number="3" hits="-1"/>'],
  ...[
    'SF:src/a.js\n',
    'DA:3,0\n',
    'DA:9999999,999999999999999\n',
    'DA:-1,x\n',
    'end_of_record\n',
    'SF:__proto__\n',
  ],
  ...[
    '{"runs":[',
    '{"results":[',
    '{"message":{"text":"x"},"locations":[',
    ']}',
    ']',
    '}',
    '"__proto__"',
    '1e999',
    'null',
  ],
)

test('whatever a report file holds, it is read or gives a remark, and results are well-formed', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 40 }), (pieces) => {
      const text = pieces.join('')
      const { tests, annotations, remarks } = reports(text)
      assert.ok(remarks.length <= 1)
      for (const one of Object.values(tests ?? {})) assert.ok(Number.isSafeInteger(one) && one >= 0)
      for (const { path, message, line } of annotations)
        assert.ok(resolve(path) === path && typeof message === 'string' && Number.isSafeInteger(line))
      const covered = measureChange(new Map([['src/a.js', [1, 3]]]), [coverage(text) ?? new Map()], resolve)
      assert.ok(covered.ran <= covered.lines && covered.lines <= 2)
    }),
    runs(200),
  )
})

test('any JSON is read as SARIF, or gives a remark', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      for (const one of [
        value,
        { runs: value },
        { runs: [{ results: value }] },
        { runs: [{ results: [value] }] },
      ])
        assert.ok(reports(JSON.stringify(one)).remarks.length <= 1)
    }),
  )
})

test('XML with its own entities, deep nesting or a missing end gives a remark', () => {
  const lol =
    '<!DOCTYPE a [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;">]><testsuites><testcase name="&b;"/></testsuites>'
  const file =
    '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuites><testcase name="&a;"/></testsuites>'
  for (const text of [
    lol,
    file,
    '<testsuite>'.repeat(500_000),
    '['.repeat(2_000_000),
    '<testsuites><testcase',
    '',
  ]) {
    const { tests, annotations, remarks } = reports(text)
    assert.deepEqual([tests, annotations, remarks.length], [null, [], 1])
    assert.match(remarks[0] ?? '', /^report report: Ralph cannot read it/)
  }
  assert.match(reports(`{"a":${'['.repeat(100)}`).remarks[0] ?? '', /damaged/)
})

test('an invalid line number in a report becomes line 1', () => {
  for (const line of ['zz', '1e999', '-1', '0', '1.5', '', '9007199254740993']) {
    const junit = `<testsuite><testcase file="src/a.js" line="${line}"><failure message="x"/></testcase></testsuite>`
    assert.deepEqual(
      reports(junit).annotations.map((one) => one.line),
      [1],
      line,
    )
    const places = `<line number="${line}" hits="1"/><line number="3" hits="1"/>`
    const cobertura = `<coverage><class filename="src/a.js">${places}</class></coverage>`
    assert.deepEqual([...(coverage(cobertura)?.get('src/a.js') ?? [])], [[3, 1]])
  }
  const sarif = (startLine: string, level = '"note"') =>
    `{"runs":[{"results":[{"level":${level},"message":{"text":"x"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"src/a.js"},"region":{"startLine":${startLine}}}}]}]}]}`
  for (const line of ['1e999', '-3', '1.5', 'null', '"x"', '{}', '1e300'])
    assert.equal(reports(sarif(line)).annotations[0]?.line, 1, line)
  assert.equal(reports(sarif('7')).annotations[0]?.line, 7)
  for (const level of ['"toString"', '"__proto__"', '"odd"', '7'])
    assert.equal(reports(sarif('7', level)).annotations[0]?.level, 'warning', level)
})

test('a damaged report is not quoted', () => {
  for (const text of ['{"runs": hunter2}', 'hunter2', '<a><hunter2 x=></a>', '{"runs":"hunter2"}']) {
    const { remarks } = reports(text)
    assert.match(remarks[0] ?? '', /^report report: Ralph cannot read it: the file is damaged/)
    assert.doesNotMatch(remarks[0] ?? '', /hunter/)
  }
})

test('SARIF with millions of invalid entries is read in bounded time', () => {
  const full = (unit: string, most: number) => Array.from({ length: most }, () => unit).join()
  for (const unit of ['{}', '0', '{"kind":"pass"}', '{"suppressions":[{}]}'])
    for (const [start, end] of [
      ['{"runs":[', ']}'],
      ['{"runs":[{"results":[', ']}]}'],
      ['{"runs":[{"results":[{"suppressions":[', ']}]}]}'],
      ['{"runs":[{"results":[{"locations":[', ']}]}]}'],
    ] as const) {
      const text = `${start}${full(unit, Math.floor(1_000_000 / (unit.length + 1)))}${end}`
      const begun = process.cpuUsage()
      reports(text)
      const { user } = process.cpuUsage(begun)
      assert.ok(user < 1_000_000, `${start}${unit}: ${user / 1000} ms`)
      const work = (size: number) => reports(`${start}${full(unit, size)}${end}`)
      assertGrowth(work, 20_000, start + unit)
    }
})

test('a Cobertura report with a document type is read', () => {
  const text =
    '<?xml version="1.0"?>\r\n<!DOCTYPE coverage SYSTEM "http://x.test/coverage-04.dtd">\r\n<coverage><sources><source>/w/src</source></sources><packages><package><classes><class filename="a.js"><methods/><lines><line number="1" hits="0"/></lines></class></classes></package></packages></coverage>'
  assert.deepEqual([...(coverage(text) ?? [])], [['/w/src/a.js', new Map([[1, 0]])]])
})

test('the time to read a report is linear in its size', () => {
  const units = [
    ...[
      '\r\n',
      '\r',
      '&amp;',
      '&#13;',
      '<b/>',
      ' ',
      '<![CDATA[x]]>',
      '<?x ?>',
      '😀',
      '<testcase><failure>at (src/a.js:1:1)',
    ],
    ...['] ', '--', ']]', 'x="1" '],
  ]
  for (const unit of units) {
    const work = (size: number) => reports(`<testsuites>${unit.repeat(size)}</testsuites>`)
    assertGrowth(work, 20_000, JSON.stringify(unit))
  }
  for (const unit of ['DA:1,1\n', 'SF:src/a.js\n'])
    assertGrowth((size) => coverage(`SF:a\n${unit.repeat(size)}`), 50_000, unit)
  for (const unit of [
    '1 passed, ',
    'Tests: 1 failed ',
    'OK (a=1, ',
    '# pass 1\n',
    '--- PASS: T\n',
    '{"Action":"pass"',
    '1 runs, 1 tests, ',
    '1 examples, 1 failures, ',
    'Tests: 1, Assertions: 1, ',
  ])
    assertGrowth((size) => testCounts(unit.repeat(size)), 50_000, unit)
})
