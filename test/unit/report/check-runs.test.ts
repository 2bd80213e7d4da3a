// Check runs: what each outcome makes of the roll-up and of every story, and GitHub's limits.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '../../../src/engine/model/feature.ts'
import type { Annotation } from '../../../src/engine/model/gate.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { type Check, commitStatusOf } from '../../../src/report/check-runs.ts'
import type { Facts } from '../../../src/report/view.ts'
import { rollupCheck, stickyComment, storyCheck } from './rendered.ts'
import {
  complete,
  concluded,
  failedGate,
  justStarted,
  large,
  limits,
  midRun,
  NOW,
  pass,
  record,
  reject,
  stuck,
  unchanged,
  working,
} from './samples.ts'

const REPOSITORY = 'https://github.com/acme/shop'
const facts: Facts = {
  repositoryUrl: REPOSITORY,
  runUrl: `${REPOSITORY}/actions/runs/77`,
  limits,
  now: NOW,
  notes: [],
}

test('the roll-up check is in progress only while the chain goes on', () => {
  const ends: [Outcome, Check['conclusion']][] = [
    ['complete', 'success'],
    ['stuck', 'failure'],
    ['max-iterations', 'failure'],
    ['budget', 'failure'],
    ['error', 'failure'],
    ['paused', 'action_required'],
    ['interrupted', 'cancelled'],
    ['continued', null],
  ]
  for (const [outcome, conclusion] of ends) {
    const check = rollupCheck(concluded(midRun(), outcome, 'x'), facts)
    assert.equal(check.name, 'ralph')
    assert.equal(check.conclusion, conclusion, outcome)
  }
  assert.equal(rollupCheck(midRun(), facts).conclusion, null)
  const alone = { ...facts, limits: { ...limits, redispatch: false } }
  assert.equal(rollupCheck(concluded(midRun(), 'continued', 'x'), alone).conclusion, 'action_required')
})

test('the roll-up check shows the status, what to do and every story', () => {
  const check = rollupCheck(stuck(), facts)
  assert.equal(check.title, 'Stuck: US-003 is blocked · 4 of 6 stories pass')
  assert.ok(check.summary.includes('`/ralph retry US-003 -- <hint>`'))
  for (const story of stuck().prd.userStories) assert.ok(check.text.includes(`**${story.id}**`))
  assert.ok(check.text.includes('200 !== 429'))
})

test('the check of a passed story', () => {
  const check = storyCheck(midRun(), 'US-001', facts)
  assert.equal(check.name, 'ralph / US-001')
  assert.equal(check.conclusion, 'success')
  assert.equal(check.title, 'Passed on the first attempt · Customers sign in with e-mail and password')
  assert.ok(check.text.includes('| typecheck | ✅ passed | 2.1s |'))
  assert.ok(check.summary.includes('$0.42 · 2m 34s · [`e011c0f`]'))
  assert.equal(storyCheck(complete(), 'US-003', facts).title.split(' · ')[0], 'Passed on attempt 2')
})

test('the check of a story shows its tests, flaky gates and remarks of gates, and the roll-up its flaky gates', () => {
  const state = midRun()
  const record = state.records['US-001']
  assert.ok(record !== undefined)
  const told = {
    ...{ tests: { passed: 38, failed: 0, skipped: 1 }, flaky: true as const },
    remarks: [
      'flaky: failed (exit 1), then passed at try 2 on the same files',
      'ran 38 tests, and 40 before: 2 fewer',
    ],
  }
  const gates = record.gates.map((gate, at) => (at === 0 ? { ...gate, ...told } : gate))
  const flaky = { ...state, records: { ...state.records, 'US-001': { ...record, gates } } }
  const { text } = storyCheck(flaky, 'US-001', facts)
  assert.ok(text.includes('| typecheck | ✅ 38 passed, 1 skipped ⚠️ flaky | 2.1s |'), text)
  assert.ok(text.includes('gate typecheck: ran 38 tests, and 40 before: 2 fewer'))
  assert.ok(
    rollupCheck(flaky, facts).summary.includes(
      'gate typecheck is flaky: it failed and passed on the same code, in US',
    ),
  )
})

test('a story that passed without a change is marked so on its check, in the roll-up and as a status', () => {
  const state = unchanged(midRun(), 'US-001')
  const check = storyCheck(state, 'US-001', facts)
  assert.equal(check.conclusion, 'success')
  const said = "Passed on the first attempt without a change, on a judge's word"
  assert.ok(check.title.startsWith(`${said} · Customers`), check.title)
  assert.ok(check.summary.includes(said), check.summary)
  assert.ok(commitStatusOf(check).description.startsWith(said))
  assert.ok(rollupCheck(state, facts).text.includes("<sub>without a change, on a judge's word</sub>"))
  assert.doesNotMatch(storyCheck(state, 'US-002', facts).title, /judge/)
  assert.doesNotMatch(rollupCheck(midRun(), facts).text, /judge/)
})

test('the check of a blocked story names the command that helps', () => {
  const check = storyCheck(stuck(), 'US-003', facts)
  assert.equal(check.conclusion, 'failure')
  assert.ok(check.title.startsWith('Blocked after 3 attempts: /ralph retry US-003 -- <hint> · Five wrong'))
  assert.ok(check.summary.includes('**Why:** gate test failed (exit 1)'))
  assert.ok(check.summary.includes('`/ralph skip US-003`'))
  assert.ok(check.text.includes('| test | ❌ exit 1 | 14s |') && check.text.includes('200 !== 429'))
  // Blocked while others go on: red at once.
  const others = working(reject(reject(reject(justStarted(), 'US-003'), 'US-003'), 'US-003', true), 'US-001')
  assert.equal(storyCheck(others, 'US-003', facts).conclusion, 'failure')
})

test('a story that will be tried again is in progress while the chain goes on, and closed when it ends', () => {
  assert.equal(storyCheck(midRun(), 'US-003', facts).conclusion, null)
  assert.match(storyCheck(midRun(), 'US-003', facts).title, /^Attempt 1 was rejected; another one follows · /)
  assert.match(storyCheck(midRun(), 'US-005', facts).title, /^In progress, attempt 1 · /)
  assert.equal(storyCheck(concluded(midRun(), 'continued', 'x'), 'US-003', facts).conclusion, null)
  const ends: [Outcome, Check['conclusion'], Check['conclusion']][] = [
    ['budget', 'failure', 'cancelled'],
    ['max-iterations', 'failure', 'cancelled'],
    ['error', 'failure', 'cancelled'],
    ['stuck', 'failure', 'cancelled'],
    ['paused', 'action_required', 'action_required'],
    ['interrupted', 'cancelled', 'cancelled'],
  ]
  for (const [outcome, failed, fresh] of ends) {
    const state = concluded(midRun(), outcome, 'x')
    assert.equal(storyCheck(state, 'US-003', facts).conclusion, failed, outcome)
    assert.equal(storyCheck(state, 'US-006', facts).conclusion, fresh, outcome)
  }
})

test('no check is in progress when the chain has ended', () => {
  const outcomes: Outcome[] = [
    'complete',
    'stuck',
    'max-iterations',
    'budget',
    'error',
    'paused',
    'interrupted',
  ]
  for (const base of [justStarted(), midRun(), stuck(), complete(), large(60)]) {
    for (const outcome of outcomes) {
      const state = concluded(base, outcome, 'x')
      const checks = [
        rollupCheck(state, facts),
        ...state.prd.userStories.map((story) => storyCheck(state, story.id, facts)),
      ]
      for (const check of checks) assert.notEqual(check.conclusion, null, `${outcome} ${check.name}`)
    }
  }
})

test('an unfinished story never satisfies a required check, as a check or as a status', () => {
  const counts = ['success', 'neutral', 'skipped']
  const ends: (Outcome | null)[] = [null, 'stuck', 'max-iterations', 'budget', 'error', 'paused', 'continued']
  for (const outcome of [...ends, 'interrupted' as const]) {
    for (const redispatch of [true, false]) {
      const known = { ...facts, limits: { ...limits, redispatch } }
      for (const base of [justStarted(), midRun(), stuck(), large(60)]) {
        const state = outcome === null ? base : concluded(base, outcome, 'x')
        const open = state.prd.userStories.filter((story) => !story.passes && !story.skipped)
        for (const check of [
          rollupCheck(state, known),
          ...open.map(({ id }) => storyCheck(state, id, known)),
        ]) {
          const what = `${outcome} ${check.name}: ${check.conclusion}`
          assert.ok(check.conclusion === null || !counts.includes(check.conclusion), what)
          assert.notEqual(commitStatusOf(check).state, 'success', what)
        }
      }
    }
  }
})

test('checks of skipped, imported and unknown stories', () => {
  const changed = (change: object): State => {
    const userStories = midRun().prd.userStories.map((story) =>
      story.id === 'US-006' ? { ...story, ...change } : story,
    )
    return { ...midRun(), prd: { ...midRun().prd, userStories } }
  }
  assert.equal(storyCheck(changed({ skipped: true }), 'US-006', facts).conclusion, 'skipped')
  const lastResult = { completedAt: null, commit: null, summary: '', imported: true }
  const imported = storyCheck(changed({ passes: true, lastResult }), 'US-006', facts)
  assert.equal(imported.conclusion, 'success')
  assert.match(imported.title, /^Passed before Ralph began · /)
  assert.equal(storyCheck(midRun(), 'US-999', facts).conclusion, 'neutral')
})

test('the check of a story shows remarks and criteria', () => {
  const state = pass(justStarted(), 'US-001')
  const remarked = {
    ...state,
    records: {
      'US-001': record({ ...state.records['US-001'], remarks: ['2 tests were skipped in a.test.ts'] }),
    },
  }
  const { text } = storyCheck(remarked, 'US-001', facts)
  assert.ok(text.includes('#### Look at this in your review\n\n- ⚠️ 2 tests were skipped in a.test.ts'))
  const head = '| Criterion | Level | Shown by | Detail |\n| :-- | :-- | :-- | :-- |\n| It does. | cited | '
  assert.ok(text.includes(`#### Acceptance criteria\n\n${head}`))
})

test('only valid annotations are sent to GitHub, at most 50', () => {
  const good: Annotation = {
    path: 'src/a.ts',
    line: 3,
    level: 'failure',
    message: 'no\nway',
  }
  const bad: Partial<Annotation>[] = [
    { path: '/etc/passwd' },
    { path: '../x' },
    { path: 'a/../../x' },
    { path: '' },
    { path: 'a\nb' },
    { line: 0 },
    { line: 1.5 },
    { message: '' },
    { message: '\u200b' },
  ]
  const annotations = {
    'US-003': [...bad.map((change) => ({ ...good, ...change })), ...Array.from({ length: 60 }, () => good)],
  }
  const check = storyCheck(stuck(), 'US-003', { ...facts, annotations })
  assert.equal(check.annotations.length, 50)
  assert.ok(check.annotations.every((one) => one.path === 'src/a.ts' && one.message === 'no\nway'))
  const passed = storyCheck(stuck(), 'US-001', { ...facts, annotations: { 'US-001': [good] } })
  assert.equal(passed.annotations.length, 1, 'a green gate has remarks, too')
})

test('checks stay within the limits of GitHub, whatever the gates printed', () => {
  const output = '日本語 ``` <b> \u001b[31m'.repeat(20_000)
  const title = '日|<@'.repeat(500)
  const base = large(400)
  const records = {
    ...base.records,
    'US-134': record({
      failure: { kind: 'gates', summary: title, detail: output },
      gates: [failedGate(title, output)],
    }),
  }
  const userStories = base.prd.userStories.map((story) => ({
    ...story,
    title,
    acceptanceCriteria: Array.from({ length: 200 }, () => title),
  }))
  const state = { ...base, prd: { ...base.prd, userStories }, records }
  for (const check of [
    rollupCheck(state, facts),
    storyCheck(state, 'US-134', facts),
    storyCheck(state, 'US-001', facts),
  ]) {
    assert.ok(Buffer.byteLength(check.summary) <= 65_535, check.name)
    assert.ok(Buffer.byteLength(check.text) <= 65_535, check.name)
    assert.ok(check.title.length <= 255)
  }
})

test('commit statuses have the same states as checks', () => {
  assert.deepEqual(commitStatusOf(rollupCheck(stuck(), facts)), {
    context: 'ralph (status)',
    state: 'failure',
    description: 'Stuck: US-003 is blocked · 4 of 6 stories pass',
  })
  assert.equal(commitStatusOf(rollupCheck(midRun(), facts)).state, 'pending')
  assert.equal(commitStatusOf(rollupCheck(concluded(midRun(), 'paused', 'x'), facts)).state, 'pending')
  assert.equal(commitStatusOf(rollupCheck(concluded(midRun(), 'interrupted', 'x'), facts)).state, 'error')
  assert.ok(commitStatusOf(storyCheck(stuck(), 'US-003', facts)).description.length <= 140)
})

test('the title of the roll-up check is the first line of the comment', () => {
  const long = concluded(midRun(), 'error', `${'word '.repeat(100)}@octocat #1`)
  for (const state of [justStarted(), midRun(), stuck(), complete(), long]) {
    const [, first = ''] = stickyComment(state, facts).split('\n')
    const shown = first.replace(/&#(\d+);/g, (_all, at: string) => String.fromCharCode(Number(at)))
    assert.equal(shown.replace(/^### \S+ /u, ''), rollupCheck(state, facts).title)
  }
})
