// What a judge names counts as far as it is there, and nothing is assumed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readSignals } from '../../../../src/agents/signals.ts'
import { checkEvidence, type EvidenceFacts } from '../../../../src/engine/gating/criterion-evidence.ts'
import type { Verdict } from '../../../../src/engine/model/event.ts'
import { newStory } from '../../../../src/engine/prd/schema.ts'
import { pictureName } from '../../../../src/engine/state/screenshots.ts'

const STORIES = [
  newStory({ id: 'US-001', title: 'cart', acceptanceCriteria: ['two items', 'three items'] }),
  newStory({ id: 'US-002', title: 'page', acceptanceCriteria: ['a page'] }),
]
const FACTS: EvidenceFacts = {
  needs: 'ask',
  isAskedAgain: false,
  gates: ['test'],
  screenshots: ['cart-1280x800'],
  tests: { passed: ['adds two', 'adds two items', 'is empty'], failed: [] },
  provedBy: (id) => (id === 'US-001' ? ['test/cart.test.ts: adds two'] : []),
  async lineAt(path, line) {
    if (path !== 'test/cart.test.ts' || (line !== null && line > 20)) return null
    return line === null ? '' : (LINES[line] ?? 'const total = sum(items)')
  },
  isChanged: async (_path, line) => line !== 3,
}
const LINES: Readonly<Record<number, string>> = { 7: "test('adds two', () => {", 9: '  })' }
const ALL = [
  ['US-001', 1, 'test/cart.test.ts:14 adds two'],
  ['US-001', 2, 'gate test runs it'],
  ['US-002', 1, 'screenshot cart-1280x800 shows it'],
] as const

type Line = readonly [string, number, string]

function said(lines: readonly Line[]): string {
  return [
    ...lines.map(([id, at, text]) => `<ralph>EVIDENCE:${id}#${at} ${text}</ralph>`),
    '<ralph>VERIFIED</ralph>',
  ].join('\n')
}

function judge(lines: readonly Line[], facts: Partial<EvidenceFacts> = {}): Promise<Verdict> {
  const { verdict } = readSignals(said(lines))
  assert.equal(verdict?.kind, 'verified')
  return checkEvidence(verdict, STORIES, { ...FACTS, ...facts })
}

test('an approval with existing evidence for every criterion counts, and the evidence is saved', async () => {
  const verdict = await judge(ALL)
  assert.equal(verdict.kind, 'verified')
  assert.deepEqual(verdict.kind === 'verified' ? verdict.evidence?.[0] : null, {
    storyId: 'US-001',
    criterion: 1,
    shown: 'test/cart.test.ts:14 adds two',
    path: 'test/cart.test.ts',
    line: 14,
    text: 'const total = sum(items)',
    level: 'cited',
  })
})

test('a criterion without evidence resets its story', async () => {
  const verdict = await judge([...ALL.slice(0, 2), ['US-002', 2, 'gate test']])
  const reason = 'the judge cited no evidence for US-002#1 (a page)'
  assert.deepEqual(verdict, { kind: 'reset', stories: ['US-002'], reason })
})

const WRONG: readonly (readonly [string, string])[] = [
  ['a file that is not there', 'test/page.test.ts:1 opens'],
  ['a line behind the end of the file', 'test/cart.test.ts:21 opens'],
  ['a gate that is none, or red', 'gate e2e'],
  ['another gate that begins so', 'gate test-all'],
  ['a picture that nobody took', 'screenshot home-1280x800'],
  ['words alone', 'I looked at it'],
]

for (const [what, shown] of WRONG) {
  test(`evidence that is ${what}: no story is reset, and another judge is asked`, async () => {
    const verdict = await judge([...ALL.slice(0, 2), ['US-002', 1, shown]])
    const message = `Ralph did not find the evidence that the judge cited for US-002#1 (a page): ${shown}`
    assert.deepEqual(verdict, { kind: 'none', message })
  })
}

for (const shown of [
  'gate test: it is green',
  'gate `test`, green',
  'Gate: test',
  '`test/cart.test.ts`:14 opens',
  './test/cart.test.ts:3-9, which opens',
  'test/cart.test.ts.',
  'my folder/page test.ts:1 opens',
]) {
  test(`evidence is found as a judge may write it: ${shown}`, async () => {
    const lineAt: EvidenceFacts['lineAt'] = async (path, line) =>
      path === 'my folder/page test.ts' ? 'open()' : FACTS.lineAt(path, line)
    assert.equal((await judge([...ALL.slice(0, 2), ['US-002', 1, shown]], { lineAt })).kind, 'verified')
  })
}

test('an approval without evidence counts with evidence: ask, and resets every story with evidence: require', async () => {
  assert.deepEqual(await judge([]), { kind: 'verified' })
  const verdict = await judge([], { needs: 'require' })
  assert.deepEqual(verdict.kind === 'reset' ? verdict.stories : null, ['US-001', 'US-002'])
})

test('an approval with evidence has existing evidence for every criterion, whatever the judge names', async () => {
  const line = fc.tuple(
    fc.constantFrom('US-001', 'US-002', 'US-009'),
    fc.integer({ min: 0, max: 3 }),
    fc.string(),
  )
  const given = fc.array(fc.oneof(line, fc.constantFrom<Line>(...ALL)), { maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(given, async (lines) => {
      const evidence = lines.map(([storyId, criterion, shown]) => ({ storyId, criterion, shown }))
      const verdict = await checkEvidence({ kind: 'verified', evidence }, STORIES, {
        ...FACTS,
        needs: 'require',
      })
      if (verdict.kind !== 'verified') return
      for (const { id, acceptanceCriteria } of STORIES)
        for (const at of acceptanceCriteria.keys())
          assert.ok(
            verdict.evidence?.some(({ storyId, criterion }) => storyId === id && criterion === at + 1),
          )
    }),
  )
})

test('a screenshot as evidence is named by page and viewport', () => {
  assert.equal(
    pictureName({ url: 'http://localhost:3000/cart?id=1', viewport: '390x844' }),
    'cart-id-1-390x844',
  )
  assert.equal(pictureName({ url: 'http://localhost:3000/', viewport: '390x844' }), 'home-390x844')
})

/** The evidence for US-001#1, as it is recorded. */
async function evidenceOf(shown: string, facts: Partial<EvidenceFacts> = {}) {
  const verdict = await judge([['US-001', 1, shown], ...ALL.slice(1)], facts)
  const found = verdict.kind === 'verified' ? verdict.evidence?.[0] : undefined
  const {
    storyId: _id,
    criterion: _at,
    shown: _shown,
    ...evidence
  } = found ?? assert.fail(JSON.stringify(verdict))
  return evidence
}

const NAMED: readonly (readonly [shown: string, level: string, test: string])[] = [
  ['test adds two', 'proved', 'test/cart.test.ts: adds two'],
  ['test "adds two" in test/cart.test.ts', 'proved', 'test/cart.test.ts: adds two'],
  ['test: adds two, which fails without it', 'proved', 'test/cart.test.ts: adds two'],
  ['test/cart.test.ts adds two', 'proved', 'test/cart.test.ts: adds two'],
  ['test adds two items', 'tested', 'adds two items'],
  ['Test is empty.', 'tested', 'is empty'],
  ['adds two', 'proved', 'test/cart.test.ts: adds two'],
  ['adds two items: the sum of both', 'tested', 'adds two items'],
]
for (const [shown, level, name] of NAMED) {
  test(`a test that a judge names as "${shown}" is ${level}`, async () => {
    const { level: found, test: named } = await evidenceOf(shown)
    assert.deepEqual([found, named], [level, name])
  })
}

test('a line with the name of a test counts as that test', async () => {
  const { level, test: named, line } = await evidenceOf('test/cart.test.ts:7')
  assert.deepEqual([level, named, line], ['proved', 'test/cart.test.ts: adds two', 7])
})

test('a test of another story is not proved by it', async () => {
  const verdict = await judge([...ALL.slice(0, 2), ['US-002', 1, 'test adds two']])
  assert.equal(verdict.kind === 'verified' ? verdict.evidence?.[2]?.level : null, 'tested')
})

test('a test that no gate ran asks another judge; if the tool names no tests, it is a claim', async () => {
  const lines: readonly Line[] = [['US-001', 1, 'test adds three'], ...ALL.slice(1)]
  assert.deepEqual(await judge(lines), {
    kind: 'none',
    message: 'Ralph did not find the evidence that the judge cited for US-001#1 (two items): test adds three',
  })
  const unnamed = { tests: { passed: [], failed: [] }, provedBy: () => [] }
  assert.deepEqual(await evidenceOf('test adds three', unnamed), { level: 'claimed' })
  assert.deepEqual(await evidenceOf('adds three (cart.Adds.three)', unnamed), { level: 'claimed' })
  const missing: readonly Line[] = [['US-001', 1, 'src/missing.ts:14 adds three'], ...ALL.slice(1)]
  assert.equal((await judge(missing, unnamed)).kind, 'none')
})

test('a proved test that was removed later is not there', async () => {
  const tests = { passed: ['is empty'], failed: [] }
  assert.equal((await judge([['US-001', 1, 'test adds two'], ...ALL.slice(1)], { tests })).kind, 'none')
})

test('a bracket is a claim, a line outside the change and a line for several criteria are marked', async () => {
  assert.deepEqual(await evidenceOf('test/cart.test.ts:9'), {
    level: 'claimed',
    path: 'test/cart.test.ts',
    line: 9,
    text: '})',
  })
  assert.equal((await evidenceOf('test/cart.test.ts:3')).outside, true)
  const verdict = await judge([
    ['US-001', 1, 'test/cart.test.ts:5'],
    ['US-001', 2, 'test/cart.test.ts:5'],
    ...ALL.slice(2),
  ])
  const marks = verdict.kind === 'verified' ? verdict.evidence?.map(({ reused }) => reused) : []
  assert.deepEqual(marks, [true, true, undefined])
})

test('a level that evidence does not reach asks another judge first, and then resets the story', async () => {
  const facts = { needs: 'proved' as const }
  const lines: readonly Line[] = [
    ['US-001', 1, 'test adds two'],
    ['US-001', 2, 'test adds two'],
    ['US-002', 1, 'test is empty'],
  ]
  const why =
    'US-002#1 (a page) is not proved; evidence: proved asks for a test that fails without the change, by its name'
  assert.deepEqual(await judge(lines, facts), { kind: 'none', message: why })
  assert.deepEqual(await judge(lines, { ...facts, isAskedAgain: true }), {
    kind: 'reset',
    stories: ['US-002'],
    reason: why,
  })
  assert.equal((await judge(lines, { needs: 'tested' })).kind, 'verified')
})
