// What a log shows of an agent at work: a readable line a step.

import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { describeAgentEvent } from '../../../../src/report/log/log-agent.ts'
import { Live } from '../../../../src/report/terminal/live-lines.ts'
import { hostileStrings } from '../../../fixtures/hostile-strings.ts'
import { reservedIn } from '../../engine/samples.ts'
import { poisoned } from '../poison.ts'
import { complete, justStarted, limits, midRun } from '../samples.ts'

test('live lines have a tool and its file, text on one line, and nothing for numbers', () => {
  assert.equal(describeAgentEvent({ kind: 'tool', name: 'Write', target: 'src/a.ts' }), 'Write src/a.ts')
  assert.equal(describeAgentEvent({ kind: 'tool', name: 'TodoRead', target: null }), 'TodoRead')
  assert.equal(describeAgentEvent({ kind: 'text', text: ' First\n\n  then. ' }), 'First then.')
  assert.equal(describeAgentEvent({ kind: 'text', text: ' \n ' }), '')
  const usage = { calls: 1, inputTokens: 1, outputTokens: 1, cachedTokens: 0, agentSeconds: 1 }
  assert.equal(describeAgentEvent({ kind: 'usage', usage: { ...usage, costUsd: null, turns: 1 } }), '')
})

test('a very long line is cut, never inside a character', () => {
  for (const text of ['x'.repeat(5000), '🎉'.repeat(5000), `x${'🎉'.repeat(5000)}`]) {
    const line = describeAgentEvent({ kind: 'text', text })
    assert.ok(line.length <= 300 && line.endsWith('…'))
    assert.doesNotMatch(line, /[\uD800-\uDBFF](?![\uDC00-\uDFFF])/)
  }
})

test("lines about limits and repeated requests quote the vendor's message", () => {
  const at = Date.UTC(2026, 10, 21, 11, 17)
  assert.equal(
    describeAgentEvent({ kind: 'limit', resetsAt: at }),
    'the usage limit is reached and resets at 2026-11-21 11:17 UTC',
  )
  assert.equal(describeAgentEvent({ kind: 'limit', resetsAt: null }), 'a usage or rate limit is reached')
  assert.equal(
    describeAgentEvent({ kind: 'retry', status: 429, attempt: 2 }),
    'asks the model again after HTTP 429 (retry 2)',
  )
  assert.equal(
    describeAgentEvent({ kind: 'retry', status: null, attempt: 1 }),
    'asks the model again after a failed request (retry 1)',
  )
})

test('prepare is logged when it begins, and not without a prepare command', async () => {
  let shown = ''
  const screen = { write: (part: string) => (shown += part) }
  const live = new Live(screen, { limits, agent: 'claude', surface: 'cli' }, false)
  await live.step({ kind: 'prepare' }, midRun())
  await live.event({ at: 0, kind: 'prepared' }, midRun())
  assert.doesNotMatch(shown, /prepare/)
  live.starts('test')
  live.starts('prepare')
  assert.match(shown, /\n\[prepare\] running\n$/)
  assert.doesNotMatch(shown, /\[test\]/)
})

/** Colours, the cursor to the start of the header, and what is below it taken away. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: our own
const OURS = /\x1b\[(?:[\d;]*m|(\d+)F|0J)/g

test("a terminal gets only Ralph's own sequences, whatever an agent prints or calls its files", async () => {
  for (const { name, text } of hostileStrings) {
    let shown = ''
    const screen = {
      isTTY: true,
      columns: 60,
      write: (part: string) => {
        shown += part
      },
    }
    const live = new Live(screen, { limits, agent: text, surface: 'cli' }, false)
    const state = poisoned(midRun(), text)
    await live.step({ kind: 'agent', attempt: reservedIn(state) }, state)
    live.agent({ kind: 'text', text })
    live.agent({ kind: 'tool', name: text, target: text })
    live.agent({ kind: 'error', message: text })
    live.gate({ name: text, ok: false, advisory: false, ended: text, ms: 1, output: text })
    live.warn(text)
    await live.event({ at: 0, kind: 'failed', summary: text, fix: text }, state)
    live.close()
    const bare = shown.replace(OURS, '')
    const found = /[^\P{Cc}\n]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u.exec(bare)
    assert.equal(
      found,
      null,
      `${name}: ${JSON.stringify(bare.slice((found?.index ?? 0) - 40, (found?.index ?? 0) + 40))}`,
    )
    const ups = [...shown.matchAll(OURS)].map(([, lines]) => Number(lines ?? 1))
    assert.ok(
      ups.every((lines) => lines >= 1 && lines <= 12),
      `${name}: ${ups.join()}`,
    )
  }
})

/** A screen, and a clock that the test turns. */
function shownOn(isTTY: boolean) {
  let shown = ''
  const clock = { now: 1_800_000_000_000 }
  const screen = {
    isTTY,
    columns: 80,
    write: (part: string) => {
      shown += part
    },
  }
  const live = new Live(screen, { limits, agent: 'claude', surface: 'cli' }, true, () => clock.now)
  return {
    live,
    clock,
    take() {
      const taken = shown
      shown = ''
      return taken
    },
  }
}

const untilThen = { kind: 'wait' as const, until: 1_800_007_200_000, reason: "the agent's limit" }

test('a wait in a pipe is one line when it begins and one when it ends', async () => {
  const { live, clock, take } = shownOn(false)
  const state = justStarted()
  await live.step({ kind: 'sync' }, state)
  take()
  for (let times = 0; times < 12; times += 1) {
    await live.step(untilThen, state)
    clock.now += 600_000
    await live.event({ at: clock.now, kind: 'waited' }, state)
    await live.step({ kind: 'sync' }, state)
    await live.event({ at: clock.now, kind: 'synced', commands: [], theirs: null }, state)
  }
  assert.equal(take(), "[ralph] waiting until 2027-01-15 10:00 UTC: the agent's limit\n")
  await live.step({ kind: 'reserve', storyId: 'US-001' }, state)
  await live.step({ kind: 'sync' }, state)
  assert.equal(take(), '[ralph] waited 2h 00m\n')
})

test('a wait on a terminal shows the remaining time below the header', async () => {
  const { live, clock, take } = shownOn(true)
  const state = justStarted()
  await live.step(untilThen, state)
  assert.match(take(), /\n {2}2:00:00 left, until 2027-01-15 10:00 UTC; Ctrl\+C saves and ends\n$/)
  clock.now += 3_600_000
  await live.step(untilThen, state)
  const later = take()
  // A ^C that the terminal has echoed has moved the cursor to the right.
  assert.ok(/^\[\d+F/.test(later.slice(1)), JSON.stringify(later.slice(0, 10)))
  assert.match(later, /\n {2}1:00:00 left, until /)
  assert.doesNotMatch(later, /waiting until/)
  live.close()
})

test('the result box of a run has the findings that need attention', () => {
  let shown = ''
  const screen = { write: (part: string) => (shown += part) }
  const state = complete()
  const userStories = state.prd.userStories.map((story) => ({ ...story, lastResult: null }))
  const conclusion = { outcome: 'complete', reason: '', until: null } as const
  const live = new Live(screen, { limits, agent: 'claude', surface: 'cli' }, true)
  live.end({ ...state, prd: { ...state.prd, userStories } }, { kind: 'ended', conclusion }, [])
  assert.match(shown, /\nAttention: the judge approved without citing evidence/)
})

test("a secret in a story's text is redacted before a line is cut, from the first one on", async () => {
  const secret = 'c0rrect-horse-battery-staple-4711'
  const redact = (text: string) => text.replaceAll(secret, '***')
  const run = midRun()
  const prd = {
    ...run.prd,
    project: secret,
    userStories: run.prd.userStories.map((story) => ({ ...story, title: `${'x'.repeat(40)} ${secret}` })),
  }
  const attempt = reservedIn(run)
  const state = { ...run, prd, job: { ...run.job, attempt } }
  for (const isTTY of [true, false]) {
    let text = ''
    const write = (more: string) => {
      text += more
    }
    const screen = { isTTY, columns: 80, write }
    const live = new Live(screen, { limits, agent: 'claude', surface: 'cli', redact }, true)
    await live.step({ kind: 'agent', attempt }, state)
    live.warn(`mind ${secret}`)
    const conclusion = { outcome: 'error' as const, reason: `no ${secret}`, until: null }
    live.end(state, { kind: 'ended', conclusion }, [['Logs', secret]])
    assert.match(text, /Iteration \d+/)
    assert.doesNotMatch(text, /c0rrect|horse|staple/)
  }
})

test('while prepare runs, a terminal shows its seconds and latest line, and a log says so every minute', () => {
  mock.timers.enable({ apis: ['setInterval'] })
  try {
    const { live, clock, take } = shownOn(true)
    live.step({ kind: 'prepare' }, midRun())
    live.starts('prepare')
    clock.now += 12_000
    live.output('prepare', 'added \u001b[31m345 packages')
    take()
    mock.timers.tick(1000)
    assert.match(take(), /\n {2}\[prepare\] 12s {2}added .*345 packages/)
    live.gate({ name: 'prepare', ok: true, advisory: false, ended: 'exit 0', ms: 12_000, output: '' })
    take()
    mock.timers.tick(5000)
    assert.equal(take(), '')

    const log = shownOn(false)
    log.live.starts('prepare')
    log.clock.now += 60_000
    log.live.output('prepare', '::error::345 packages')
    log.take()
    mock.timers.tick(60_000)
    assert.match(log.take(), /^\[prepare\] still running after 1m(?: 0+s)?: .*345 packages\n$/)
    log.live.close()
    mock.timers.tick(120_000)
    assert.equal(log.take(), '')
  } finally {
    mock.timers.reset()
  }
})
