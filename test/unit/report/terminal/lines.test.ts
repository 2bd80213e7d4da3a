// The live header, the lines of a run and the final box.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event } from '../../../../src/engine/model/event.ts'
import type { Outcome } from '../../../../src/engine/model/feature.ts'
import type { GateResult } from '../../../../src/engine/model/gate.ts'
import type { Conclusion, State } from '../../../../src/engine/model/state.ts'
import type { Step } from '../../../../src/engine/model/step.ts'
import { headerOf } from '../../../../src/report/header.ts'
import { agentLines } from '../../../../src/report/log/log-agent.ts'
import { eventLines } from '../../../../src/report/log/log-events.ts'
import { gateLines } from '../../../../src/report/log/log-gates.ts'
import { stepLines, waitLine } from '../../../../src/report/log/log-steps.ts'
import { banner, plainBanner, resultBox } from '../../../../src/report/terminal/panels.ts'
import { formatLines, type Look } from '../../../../src/report/terminal/terminal-line.ts'
import { textWidth } from '../../../../src/report/terminal/width.ts'
import { viewOf } from '../../../../src/report/view.ts'
import { built, reservedIn } from '../../engine/samples.ts'
import {
  complete,
  concluded,
  failedGate,
  justStarted,
  limits,
  midRun,
  NOW,
  pass,
  passedGate,
  reject,
  stuck,
  unchanged,
  usage,
  working,
} from '../samples.ts'

const pipe: Look = { width: Number.POSITIVE_INFINITY, colour: false, plain: true }
const terminal: Look = { width: 80, colour: false, plain: false }
const facts = { limits, agent: 'claude', surface: 'cli' as const }
const said = (event: object, state: State, look = pipe) =>
  formatLines(eventLines({ at: NOW, ...event } as Event, state, facts), look)
const begun = (step: Step, state: State) => formatLines(stepLines(step, state, facts), pipe)
const gates = (results: readonly GateResult[], look = pipe) => formatLines(results.flatMap(gateLines), look)
const head = (state: State, look: Look) => banner(headerOf(state, limits), look)
const last = (
  state: State,
  conclusion: Conclusion,
  places: readonly (readonly [string, string])[],
  look: Look,
) => {
  const view = viewOf(state, { limits, now: NOW, surface: 'cli' }, { kind: 'ended', conclusion })
  return resultBox(view, places, look)
}

test("the banner's letters", () => {
  assert.equal(
    head(midRun(), { ...terminal, width: 72 }),
    `╔══════════════════════════════════════════════════════════════════════╗
║ Project: Shop                     Branch: ralph/auth                 ║
║ Stories: 3/6 complete             Iteration: 5/50                    ║
║ Cost: $2.18 of $20.00             Agent time: 12m 20s                ║
║ [█████░░░░░] 3/6 The sign-in form works without JavaScript           ║
╚══════════════════════════════════════════════════════════════════════╝`,
  )
})

test('an attempt that is given back is not counted, and its cost is', () => {
  assert.deepEqual(said({ kind: 'returned', storyId: 'US-001', kept: null }, justStarted()), [
    '[ralph] attempt given back, not counted:',
  ])
})

test('every line of every box is as wide as the terminal', () => {
  const long = { ...midRun(), branch: `ralph/${'日本'.repeat(60)}` }
  const wide = { ...long, prd: { ...long.prd, project: '🚀 日本語プロジェクト café '.repeat(10) } }
  for (let width = 24; width <= 100; width += 1) {
    for (const state of [justStarted(), midRun(), stuck(), complete(), wide]) {
      for (const line of head(state, { ...terminal, width }).split('\n'))
        assert.equal(textWidth(line), width, line)
    }
    const conclusion: Conclusion = {
      outcome: 'stuck',
      reason: 'blocked: US-003 and a reason that is long',
      until: null,
    }
    const box = last(wide, conclusion, [['Report', '/x/report.html']], {
      ...terminal,
      width,
    })
    for (const line of box.split('\n')) assert.equal(textWidth(line), width, line)
  }
  for (const width of [0, 3, -1, Number.NaN, 1000])
    assert.ok(head(midRun(), { ...terminal, width }).length > 0)
})

test('colours are used only when enabled, and always reset', () => {
  const everything = (look: Look) =>
    [
      head(midRun(), look),
      ...gates([passedGate('a', 1), failedGate()], look),
      ...said({ kind: 'accepted', commit: 'e011c0ffee' }, pass(justStarted(), 'US-001'), look),
      last(stuck(), { outcome: 'stuck', reason: 'x', until: null }, [], look),
    ].join('\n')
  const bare = everything(terminal)
  assert.ok(!bare.includes('\u001b'))
  const painted = everything({ ...terminal, colour: true })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours
  assert.equal(painted.replace(/\u001b\[[\d;]+m/g, ''), bare)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours
  const starts = painted.match(/\u001b\[(?!0m)[\d;]+m/g)?.length
  assert.equal(painted.split('\u001b[0m').length - 1, starts)
})

test('a cost that no agent reported is shown as not reported', () => {
  const state = midRun()
  const untold = { ...state, sessions: state.sessions.map((one) => ({ ...one, costUsd: 0 })) }
  assert.match(plainBanner(headerOf(untold, { ...limits, maxCostUsd: null })), /, cost not reported\b/)
  assert.match(head(untold, { ...terminal, width: 100 }), /Cost: not reported/)
})

test('output in a pipe has plain lines: no box, one line for the header', () => {
  assert.equal(
    plainBanner(headerOf(midRun(), limits)),
    'ralph/auth: 3/6 stories, iteration 5/50, $2.18 of $20.00, working on US-005',
  )
  const box = last(
    stuck(),
    { outcome: 'stuck', reason: 'blocked: US-003', until: null },
    [['Report', '/x/report.html']],
    pipe,
  )
  assert.equal(
    box,
    `=== STUCK: blocked: US-003 ===
Stories: 4 of 6 stories pass
Iterations: 7 in 1 job
Cost: $3.82 of $20.00, 390k tokens
Agent time: 21m 26s
Branch: ralph/auth
Look at: https://github.com/acme/shop/pull/12
Report: /x/report.html
Next: Run ralph why US-003 to see what failed. Give a hint with ralph retry US-003 -- <hint>, or leave the story out with ralph skip US-003. Then continue with ralph run.`,
  )
})

test('more attempts than the limit, from an imported file, are not shown as “attempt 5 of 3”', () => {
  const state = working(justStarted(), 'US-001')
  const attempt = { ...reservedIn(state), number: limits.maxAttempts + 2 }
  const started = begun({ kind: 'agent', attempt }, { ...state, attempts: { 'US-001': attempt } })
  assert.match(started.join('\n'), /\(attempt 5\) ===/)
  const rejected = reject(justStarted(), 'US-001')
  const timeline = rejected.timeline.map((entry) => ({ ...entry, attempt: 5 }))
  const lines = said({ kind: 'rejected', kept: null }, { ...rejected, timeline })
  assert.match(lines.join('\n'), /US-001 rejected \(attempt 5\): /)
})

test('the log of an iteration that passes', () => {
  const state = working(justStarted(), 'US-001')
  const attempt = reservedIn(state)
  const session = {
    status: 'finished',
    message: '',
    usage: usage(0.42, 38),
    resetsAt: null,
    hints: {},
    learnings: [],
  }
  const lines = [
    ...begun({ kind: 'agent', attempt }, state),
    ...formatLines(agentLines({ kind: 'tool', name: 'Edit', target: 'src/login.ts' }, facts), pipe),
    ...said({ kind: 'worked', session }, state),
    ...said({ kind: 'guarded', candidate: built('x', false, ['2 tests were skipped']) }, state),
    ...gates([passedGate('typecheck', 2100), passedGate('test', 14_000)]),
    ...said({ kind: 'accepted', commit: 'e011c0ffee0123' }, pass(justStarted(), 'US-001')),
  ]
  assert.deepEqual(lines, [
    '',
    '=== Iteration 1: US-001 - Customers sign in with e-mail and password ===',
    '[claude] working on US-001',
    '[claude] Edit src/login.ts',
    '[claude] done (38s, $0.42, 43k tokens)',
    '[guard] note: 2 tests were skipped',
    '[typecheck] PASSED (2.1s)',
    '[test] PASSED (14s)',
    '[git] committed e011c0f',
    '[ralph] US-001 passes after 2m 34s, 1 of 6 stories pass',
  ])
})

test('the log of gates has test counts, flakiness and remarks', () => {
  const tests = { passed: 38, failed: 2, skipped: 1 }
  const flaky = 'flaky: failed (exit 1), then passed at try 2 on the same files'
  const lines = gates([
    {
      ...passedGate('test', 14_000),
      tests: { ...tests, failed: 0 },
      flaky: true,
      remarks: [flaky, '\u001b[2Jno\n::error::x'],
    },
    { ...failedGate('e2e', 'no\n'), tests },
  ])
  assert.deepEqual(lines, [
    '[test] PASSED, FLAKY (14s, 38 passed, 1 skipped)',
    `[test] note: ${flaky}`,
    '[test] note: no ::error::x',
    '[e2e] FAILED (exit 1, 14s, 38 passed, 2 failed, 1 skipped)',
    '  | no',
  ])
})

test('the log of a gate that was ended with its run shows no failure, counts or output', () => {
  const tests = { passed: 22, failed: 0, skipped: 0 }
  const ended = { ...failedGate('test', 'ok 22\n'), ended: 'cancelled', ms: 3000, tests }
  assert.deepEqual(gates([ended, { ...ended, advisory: true }]), [
    '[test] cancelled (3s)',
    '[test] cancelled (3s)',
  ])
})

test('the log of a later job does not say that it opened branch and pull request', () => {
  const opened = { kind: 'opened', green: '', github: midRun().github, at: NOW } as Event
  const line = (before: State) => formatLines(eventLines(opened, midRun(), facts, before), pipe)[0] ?? ''
  assert.match(line({ ...justStarted(), published: null }), /^\[git\] opened ralph\/auth, pull request http/)
  assert.match(line(midRun()), /^\[git\] continues with ralph\/auth, pull request http/)
  const anew = { ...midRun(), control: { ...midRun().control, anew: true as const } }
  assert.match(line(anew), /^\[git\] opened /)
})

test('the log of a story that passed without a change says so', () => {
  const state = unchanged(pass(justStarted(), 'US-001'), 'US-001')
  assert.equal(
    said({ kind: 'accepted', commit: 'e011c0ffee0123' }, state)[1],
    "[ralph] US-001 passes after 2m 34s, without a change, on a judge's word, 1 of 6 stories pass",
  )
})

test('the log of an iteration that is rejected for the last time', () => {
  const lines = [
    ...gates([failedGate('test', `${'noise\n'.repeat(30)}expected 200, got 429\n`)]),
    ...said({ kind: 'rejected', kept: null }, stuckNow()),
  ]
  assert.equal(lines[0], '[test] FAILED (exit 1, 14s)')
  assert.equal(lines[1], '  | ... 24 lines before')
  assert.equal(lines[8], '  | expected 200, got 429')
  assert.deepEqual(lines.slice(9), [
    '[ralph] US-003 rejected (attempt 3 of 3): gate test failed (exit 1)',
    '[ralph] US-003 is blocked: ralph retry US-003 -- <hint>',
  ])
})

test('the log shows the lines of a failed gate that show the failure', () => {
  const table = Array.from({ length: 40 }, (_, at) => `part-${at}.js | 50 | 25 | 100 | 50 | 3-4`).join('\n')
  const output = `✖ 53 problems (0 errors, 53 warnings)\n${'x'.repeat(20_000)}\nTypeError: no rate\n  at src/cart.js:9:35\n${table}\n`
  const lines = gates([failedGate('test', output)])
  assert.deepEqual(lines.slice(-3), [
    '  | TypeError: no rate',
    '  |   at src/cart.js:9:35',
    '  | ... 40 lines more',
  ])
})

test('the log of rare events', () => {
  const verdict = { kind: 'reset', stories: ['US-001', 'US-002'], reason: 'no test for the lock' }
  assert.deepEqual(said({ kind: 'verified', gates: [], verdict, usage: usage(0, 0) }, midRun()), [
    '[verify] RESET US-001, US-002: no test for the lock',
  ])
  assert.deepEqual(said({ kind: 'dispatched', runId: 77 }, midRun()), [
    '[ralph] started the next job (run 77)',
  ])
  assert.deepEqual(
    said(
      { kind: 'failed', summary: 'prepare failed (exit 1)', fix: 'see its output:\nno lockfile' },
      midRun(),
    ),
    ['[ralph] prepare failed (exit 1)', '  | see its output:', '  | no lockfile'],
  )
  assert.equal(
    formatLines([waitLine(NOW, 'the limit of 5 calls an hour')], pipe).join(),
    '[ralph] waiting until 2026-01-10 14:05 UTC: the limit of 5 calls an hour',
  )
  assert.deepEqual(gates([{ ...failedGate('lint', ''), advisory: true }]), [
    '[lint] failed, advisory only (exit 1, 14s)',
  ])
  const inComments = { ...facts, surface: 'comment' as const }
  assert.equal(
    formatLines(
      eventLines({ at: NOW, kind: 'rejected', storyId: 'US-001', kept: null }, stuckNow(), inComments),
      pipe,
    ).at(-1),
    '[ralph] US-003 is blocked: /ralph retry US-003 -- <hint>',
  )
  assert.deepEqual(begun({ kind: 'sync' }, midRun()), [])
  assert.deepEqual(said({ kind: 'waited' }, midRun()), [])
})

test('the final box has the outcome, where to look and what to do next, for every outcome', () => {
  const outcomes: Outcome[] = [
    'complete',
    'stuck',
    'max-iterations',
    'budget',
    'paused',
    'continued',
    'error',
    'interrupted',
  ]
  for (const outcome of outcomes) {
    for (const look of [pipe, terminal]) {
      const state = concluded(midRun(), outcome, 'a reason')
      const box = last(state, { outcome, reason: 'a reason', until: null }, [], look)
      for (const part of [
        'a reason',
        '3 of 6 stories pass',
        '$2.18',
        '12m 20s',
        'ralph/auth',
        'pull/12',
        'Next:',
      ]) {
        assert.ok(box.includes(part), `${outcome}: ${part} is missing in\n${box}`)
      }
    }
  }
})

/** The state right after the third rejection of US-003. */
function stuckNow(): State {
  const twice = reject(reject(pass(justStarted(), 'US-001'), 'US-003'), 'US-003')
  return reject(twice, 'US-003', true)
}

test('updated documents are a log line and a field of the result, without AGENTS.md', () => {
  const documents = ['AGENTS.md', ...Array.from({ length: 12 }, (_, at) => `specs/${at}/tasks.md`)]
  assert.match(
    said({ kind: 'published', green: 'a', withBranch: true, more: false, documents }, complete()).join(),
    /^\[git\] updated AGENTS\.md, specs\/0\/tasks\.md, .* and 3 more$/,
  )
  const done = { outcome: 'complete', reason: '', until: null } as const
  const box = last({ ...complete(), documents: ['AGENTS.md', 'fix_plan.md'] }, done, [], pipe)
  assert.match(box, /^Ticked off: fix_plan\.md$/m)
  assert.doesNotMatch(last({ ...complete(), documents: ['AGENTS.md'] }, done, [], pipe), /Ticked off/)
})
