// Findings as people see them: a verdict in two seconds, nothing cut off, and nothing hostile that acts.
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Verdict } from '../../../../src/engine/model/event.ts'
import type { Finding } from '../../../../src/engine/model/finding.ts'
import { emptyUsage } from '../../../../src/engine/model/usage.ts'
import {
  doctorVerdict,
  findingsSummary,
  verificationLines,
  verificationSummary,
} from '../../../../src/report/summaries.ts'
import {
  closingRows,
  doctorLines,
  formatCurrentCheck,
  isHeldBack,
} from '../../../../src/report/terminal/doctor-lines.ts'
import { textWidth } from '../../../../src/report/terminal/width.ts'
import { midRun } from '../../report/samples.ts'
import { assertHarmless, assertVisible, corpus } from '../../report/structure.ts'

const FINDINGS: Finding[] = [
  {
    name: 'agent',
    state: 'fault',
    found: 'claude is not on the PATH',
    expected: 'the program',
    fix: 'install it',
  },
  { name: 'node', state: 'ok', found: 'v24.1.0', expected: '', fix: '' },
  { name: 'github', state: 'unknown', found: 'not asked', expected: '', fix: 'give a token' },
  { name: 'key', state: 'warning', found: 'no key', expected: 'a key', fix: 'log in' },
]
const wide = { width: 80, colour: false, plain: false }

test('the verdict is printed last, next to the prompt, with findings that need a person right above', () => {
  const lines = doctorLines(FINDINGS, wide)
  assert.equal(lines.at(-1), ' ✘ NOT READY  1 fault, 1 warning, 1 unknown, 1 fine')
  const at = (word: string) => lines.findIndex((line) => line.includes(word))
  assert.ok(at('node') < at('github') && at('github') < at('key') && at('key') < at('agent'))
  assert.ok(lines.some((line) => line.trim() === '-> install it'))
  assert.deepEqual(doctorVerdict(FINDINGS.slice(1)), {
    title: 'READY',
    text: '1 warning, 1 unknown, 1 fine',
  })
})

test('on a terminal faults and warnings are shown once, above the verdict: this machine first, then CI', () => {
  const environment: Finding = {
    name: 'environment',
    state: 'warning',
    found: 'open',
    expected: 'x',
    fix: 'y',
  }
  const permissions: Finding = { ...environment, name: 'permissions', state: 'fault', found: 'too few' }
  const all = [environment, ...FINDINGS, permissions]
  const isOfCi = (name: string) => ['environment', 'permissions', 'github'].includes(name)
  const held = all.filter((finding) => isHeldBack(finding, wide)).map(({ name }) => name)
  assert.deepEqual(held, ['environment', 'agent', 'key', 'permissions'])
  const lines = closingRows(all, isOfCi, wide)
  const text = lines.join('\n')
  assert.match(
    text,
    /^\n ! key .*\n(?:.*\n)+? ✘ agent .*(?:\n.+)+\n\nIn CI:\n ! environment .*\n(?:.*\n)+? ✘ permissions /,
  )
  for (const { name, found } of all.filter((finding) => isHeldBack(finding, wide)))
    assert.equal(text.split(`${name}  `).length + text.split(found).length, 4, name)
  assert.equal(lines.at(-1), ' ✘ NOT READY  1 fault, 1 warning, 1 fine; CI still needs 1 fix')
  const plain = { ...wide, plain: true }
  assert.ok(all.every((finding) => !isHeldBack(finding, plain)))
  assert.deepEqual(closingRows(all, isOfCi, plain), [
    'NOT READY: 1 fault, 1 warning, 1 fine; CI still needs 1 fix',
  ])
  assert.deepEqual(closingRows(FINDINGS.slice(1, 2), isOfCi, wide), ['', ' ✔ READY  1 fine'])
  // A laptop is ready although CI is not.
  assert.equal(
    closingRows([...FINDINGS.slice(1, 2), permissions], isOfCi, wide).at(-1),
    ' ✔ READY  1 fine; CI still needs 1 fix',
  )
})

test('findings in a pipe are one line each, with the state first', () => {
  const lines = doctorLines(FINDINGS, { ...wide, plain: true })
  assert.deepEqual(lines, [
    'ok       node: v24.1.0',
    'unknown  github: not asked; fix: give a token',
    'warning  key: no key; expected a key; fix: log in',
    'fault    agent: claude is not on the PATH; expected the program; fix: install it',
    'NOT READY: 1 fault, 1 warning, 1 unknown, 1 fine',
  ])
  assert.equal(formatCurrentCheck('gate test', { ...wide, plain: true }), '')
})

test('findings are complete at every width, and no line is too long', () => {
  const long = 'one two three four five six seven eight nine ten '.repeat(5).trim()
  const findings: Finding[] = [
    ...FINDINGS,
    { name: 'gate a-gate-with-a-long-name', state: 'fault', found: long, expected: long, fix: long },
  ]
  for (const width of [40, 59, 60, 80, 100]) {
    const lines = doctorLines(findings, { ...wide, width })
    for (const line of lines) assert.ok(textWidth(line) <= width, `${width}: ${line}`)
    assert.equal(lines.join(' ').match(/\bseven\b/g)?.length, 15, String(width))
  }
})

test('findings escape hostile text, in summaries and on a terminal', () => {
  const state = midRun()
  for (const text of corpus()) {
    const what = JSON.stringify(text.slice(0, 60))
    const findings: Finding[] = (['fault', 'unknown', 'ok'] as const).map((one) => ({
      ...{ name: text, state: one, found: text, expected: text, fix: text },
    }))
    for (const look of [wide, { ...wide, width: 40 }, { ...wide, plain: true }]) {
      for (const line of doctorLines(findings, look)) {
        assertVisible(line, what)
        assert.ok(!line.trim().startsWith('::') && !line.includes('##['), line)
      }
    }
    assert.deepEqual(assertHarmless(findingsSummary(findings), null, [], what).tables, [4, 3])
    const gates = [{ name: text, ok: false, advisory: false, ended: text, ms: 1, output: text }]
    const verdicts: Verdict[] = [
      { kind: 'none', message: text },
      { kind: 'reset', stories: [text], reason: text },
    ]
    for (const verdict of verdicts) {
      const view = { isFine: false, verdict, gates, usage: emptyUsage() }
      for (const red of [null, text]) {
        assertHarmless(verificationSummary(state, '0123456789', { ...view, red }), null, [], what)
        for (const line of verificationLines(state, { ...view, red })) assertVisible(line, what)
      }
    }
  }
})

test('the summary of checks has what needs a person first, and the rest folded', () => {
  const summary = findingsSummary(FINDINGS)
  assert.match(summary, /^## ❌ ralph doctor: not ready \(1 fault, /)
  assert.ok(summary.indexOf('claude') < summary.indexOf('no key'))
  assert.match(summary, /<details><summary>1 fine<\/summary>/)
  assert.match(findingsSummary(FINDINGS.slice(1)), /^## ✅ ralph doctor: ready/)
})
