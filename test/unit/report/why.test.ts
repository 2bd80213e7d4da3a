// Why a story is not done: in plain words, with what was tried, and what would help.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyCommand } from '../../../src/engine/commands/apply-commands.ts'
import type { Failure } from '../../../src/engine/model/attempt.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { emptyUsage } from '../../../src/engine/model/usage.ts'
import { newPlan } from '../../../src/engine/planning/proposed-plan.ts'
import { reduce } from '../../../src/engine/reduce.ts'
import { renderReport } from '../../../src/report/html/report-page.ts'
import { eventLines } from '../../../src/report/log/log-events.ts'
import { diffReply, whyReply } from '../../../src/report/replies.ts'
import { toPlainText } from '../../../src/report/sentence.ts'
import { viewOf } from '../../../src/report/view.ts'
import { whyOf } from '../../../src/report/why.ts'
import { facts, poisoned, poisonedIds, REPOSITORY, states } from './poison.ts'
import {
  complete,
  justStarted,
  limits,
  midRun,
  NOW,
  pass,
  record,
  reject,
  stuck,
  working,
} from './samples.ts'
import { assertHarmless, corpus } from './structure.ts'

const lines = { limits, agent: 'claude', surface: 'cli' as const }
const helpOf = (state: State, id: string | null = 'US-003') =>
  whyOf(state, id, 'cli')?.help.map(toPlainText) ?? []

/** The story blocked, rejected for this once more. */
function blockedBy(failure: Partial<Failure>, changes: Partial<State> = {}): State {
  const state = stuck()
  const before = record(state.records['US-003'])
  const whole = { kind: 'gates' as const, summary: 'it failed', detail: '', ...failure }
  return { ...state, ...changes, records: { ...state.records, 'US-003': { ...before, failure: whole } } }
}

test('why of a blocked story has the failure, each attempt, the gate, and what a person can do', () => {
  const why = whyOf(stuck(), 'US-003', 'comment')
  assert.ok(why !== null)
  assert.equal(why.statusText, 'blocked, 3 attempts')
  assert.equal(toPlainText(why.last ?? []), 'The change was not accepted: gate test failed (exit 1)')
  assert.deepEqual(
    why.attempts.map(({ attempt, result }) => [attempt, result]),
    [
      [1, 'rejected'],
      [2, 'rejected'],
      [3, 'rejected'],
    ],
  )
  assert.equal(why.output?.of, 'test')
  assert.deepEqual(why.help.map(toPlainText), [
    '/ralph retry US-003 -- <hint> tries it again with your hint.',
    '/ralph split US-003 proposes smaller stories instead.',
    '/ralph skip US-003 leaves it out.',
  ])
})

test('a split that failed is shown with its reason and the command to ask again', () => {
  const failure: Failure = { kind: 'session', summary: 'took longer than 30m', detail: '' }
  const blocked = blockedBy(failure, { splits: { 'US-003': { ...newPlan(''), sessions: 2 } } })
  const proposal = { kind: 'none' as const, message: 'no block of JSON in the answer' }
  const event = { kind: 'planned' as const, at: NOW, split: 'US-003', proposal, usage: emptyUsage() }
  assert.match(JSON.stringify(eventLines(event, blocked, lines)[0]), /US-003 is not split: no block of JSON/)
  const state = reduce(blocked, event, limits)
  const how = 'ralph split US-003 -- <how>'
  const told = `US-003 could not be split: no block of JSON in the answer. To try again, say how to split it: /${how}`
  assert.ok(viewOf(state, facts('x')).notes.some((note) => toPlainText(note) === `ℹ️ ${told}`))
  // Asked again, or done: it is not said any more.
  const again = { kind: 'split' as const, id: 9, by: 'ann', story: 'US-003', guidance: 'the form first' }
  const prd = { ...state.prd, userStories: state.prd.userStories.map((one) => ({ ...one, passes: true })) }
  for (const later of [applyCommand(state, again), { ...state, prd }])
    assert.doesNotMatch(viewOf(later, facts('x')).notes.map(toPlainText).join('\n'), /could not be split/)
})

test('why without an id shows the story that failed last, or none', () => {
  assert.equal(whyOf(stuck(), null, 'cli')?.story.id, 'US-003')
  assert.equal(whyOf(justStarted(), null, 'cli'), null)
  assert.equal(whyOf(pass(reject(justStarted(), 'US-001'), 'US-001', 2), null, 'cli'), null)
  assert.equal(whyOf(complete(), 'US-009', 'cli'), null)
  assert.equal(whyReply(null), 'No attempt of a story has failed.\n')
})

test('why names a fix that depends on the failure', () => {
  const state = stuck()
  const table: [State, RegExp][] = [
    [
      blockedBy({ kind: 'guard', summary: 'the guard refused x' }),
      /^Only people can make the change that Ralph refused/,
    ],
    [blockedBy({ kind: 'judge', summary: 'not met' }), /^Check its criteria in \.ralph/],
    [blockedBy({ kind: 'session', summary: 'it took longer than 30m' }), /^A longer iteration-timeout/],
  ]
  for (const [given, expected] of table) assert.match(helpOf(given)[0] ?? '', expected)
  const kept = { 'US-003': { base: 'a', tree: 'b', dropped: [] } }
  assert.ok(helpOf({ ...state, kept }).some((one) => /--fresh discards/.test(one)))
  assert.deepEqual(helpOf(midRun()), ['ralph note US-003 -- <hint> gives your hint to the next attempt.'])
})

test('why of a resting story shows until when', () => {
  const state = reject(justStarted(), 'US-003')
  const before = record(state.records['US-003'])
  const breaker = {
    ...before.breaker,
    position: 'open' as const,
    until: NOW,
    history: [{ at: 0, from: 'closed', to: 'open', why: '3 attempts in a row changed nothing' }],
  }
  const resting = { ...state, records: { 'US-003': { ...before, breaker } } }
  const free = resting.prd.userStories.map((story) => ({ ...story, dependsOn: [] }))
  const given = { ...resting, prd: { ...resting.prd, userStories: free } }
  assert.match(
    helpOf(given)[0] ?? '',
    /^Ralph does not try it again before 2026-01-10 14:05 UTC \(3 attempts in a row changed nothing\)\./,
  )
  const blocked = free.map((story) => (story.id === 'US-003' ? { ...story, blocked: true } : story))
  const help = helpOf({ ...given, prd: { ...given.prd, userStories: blocked } })
  assert.ok(
    help.every((line) => !line.startsWith('It rests')),
    'nothing starts a blocked story by itself',
  )
})

test('returned attempts are shown in addition to the counted ones', () => {
  const lost = reduce(working(justStarted(), 'US-001'), { at: NOW, kind: 'interrupted', spent: null }, limits)
  const back = reduce(lost, { at: NOW, kind: 'returned', storyId: 'US-001', kept: null }, limits)
  assert.equal(whyOf(back, 'US-001', 'cli')?.statusText, 'open, 0 attempts, 1 given back')
  const passed = pass(back, 'US-001')
  const once = { ...record(back.records['US-001']), attempts: 2 }
  const state = { ...passed, records: { ...passed.records, 'US-001': once } }
  assert.equal(whyOf(state, 'US-001', 'cli')?.statusText, 'passed, 1 attempt, 1 given back')
  assert.match(renderReport(viewOf(state, facts('x'))), /<span class="figures">1 attempt, 1 given back/)
})

test('why of stories without a failure', () => {
  const passed = whyOf(pass(justStarted(), 'US-001'), 'US-001', 'cli')
  assert.match(toPlainText(passed?.passed ?? []), /^Its gates passed on [0-9a-f]{7}\.$/)
  assert.equal(passed?.helpTitle, 'What you can do')
  assert.deepEqual(passed?.help.map(toPlainText), [
    'ralph diff US-001 shows what was changed for it.',
    'ralph redo US-001 -- <why> works on it again, if the work is not what you want.',
  ])
  assert.match(whyReply(passed), /Status: passed, .*\. Its gates passed on .*What you can do/s)
  assert.equal(whyOf(stuck(), 'US-006', 'cli')?.helpTitle, 'What would help')
  assert.deepEqual(helpOf(stuck(), 'US-006'), [
    'It waits for US-003: ralph why US-003 shows what is missing there.',
  ])
  assert.equal(whyOf(justStarted(), 'US-001', 'cli')?.statusText, 'open, 0 attempts')
})

test('replies of why and diff escape hostile text in every field', () => {
  for (const text of corpus())
    for (const poison of [poisoned, poisonedIds])
      for (const state of [poison(states.stuck ?? stuck(), text), poison(midRun(), text)])
        for (const { id } of state.prd.userStories.slice(0, 3)) {
          const what = JSON.stringify(text.slice(0, 60))
          const why = whyReply(whyOf(state, id, 'comment'))
          assertHarmless(why, null, [], `why: ${what}`)
          assert.ok(why.length < 60_000, what)
          const commits = [{ sha: 'a'.repeat(40), subject: text, compareUrl: `${REPOSITORY}/compare/a...b` }]
          for (const found of [
            { commits, isKept: false },
            { commits: [], isKept: true },
          ]) {
            const diff = diffReply({ storyId: id, compareUrl: `${REPOSITORY}/compare/a...b`, ...found })
            assertHarmless(diff, null, [`${REPOSITORY}/`], `diff: ${what}`)
          }
        }
})

test('why for weakened tests, or a refusal of the guard, names the setting', () => {
  const told = (state: State) => helpOf(state).join('\n')
  const guard = (detail: string) => told(blockedBy({ kind: 'guard', summary: 'refused', detail }))
  assert.match(
    guard('the path is protected by `protected-paths`'),
    /Only people can change files that match protected-paths\./,
  )
  assert.doesNotMatch(guard('a key is in it'), /protected-paths/)

  const state = blockedBy({ kind: 'gates', summary: 'gate test: 3 tests fewer' })
  const one = record(state.records['US-003'])
  const gate = { name: 'test', ok: true, advisory: false, ended: 'exit 0', ms: 1, output: '' }
  const gates = (more: object) => ({
    ...state,
    records: { ...state.records, 'US-003': { ...one, gates: [{ ...gate, ...more }] } },
  })
  assert.match(told(gates({ findings: ['3 tests fewer'] })), /With weakened-tests: judge, a judge decides/)
  assert.doesNotMatch(told(gates({})), /weakened-tests/)
  assert.doesNotMatch(told(gates({ ok: false, findings: ['3 tests fewer'] })), /weakened-tests/)
})
