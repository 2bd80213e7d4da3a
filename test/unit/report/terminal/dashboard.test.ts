// A frame of the dashboard: the right lines, never more or wider than the terminal, whatever stands in a state.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { State } from '../../../../src/engine/model/state.ts'
import { newStory } from '../../../../src/engine/prd/schema.ts'
import { closedBreaker } from '../../../../src/engine/state/breaker.ts'
import { type LiveView, liveJson, liveViewOf } from '../../../../src/report/live-view.ts'
import { frameLines, plainFrame } from '../../../../src/report/terminal/dashboard.ts'

import { textWidth } from '../../../../src/report/terminal/width.ts'
import { hostileStrings } from '../../../fixtures/hostile-strings.ts'
import { fourLanes, parallelLimits } from '../four-lanes.ts'
import { poisoned } from '../poison.ts'
import { concluded, justStarted, midRun, NOW, record } from '../samples.ts'
import { watched } from '../watched.ts'

const MINUTE = 60_000
const plain = (width: number, height: number) => ({ width, height, colour: false, plain: false })

function calling(): State {
  const state = midRun()
  const calls = [50, 30, 1].map((minutes) => NOW - minutes * MINUTE)
  const breaker = {
    ...closedBreaker(),
    position: 'open' as const,
    until: NOW + 20 * MINUTE,
    sameError: 5,
    history: [{ at: NOW, from: 'closed', to: 'open', why: '5 attempts in a row failed in the same way' }],
  }
  const records = { ...state.records, 'US-003': record({ ...state.records['US-003'], breaker }) }
  return { ...state, control: { ...state.control, calls }, records }
}

for (const width of [40, 80, 120])
  test(`the dashboard in ${width} columns shows the status`, (t) => {
    const now = liveViewOf(watched(calling()), NOW + 2 * MINUTE)
    const frame = frameLines({ views: [now], selected: 0, note: 'this machine' }, plain(width, 36))
    t.assert.fileSnapshot(`${frame.join('\n')}\n`, `test/fixtures/terminal/dashboard-${width}.txt`, {
      serializers: [String],
    })
  })

test('the dashboard with several features has a line for each, and the selected one below', (t) => {
  const stuck = concluded(midRun(), 'stuck', 'US-003 is blocked')
  const views = [calling(), stuck, justStarted()].map((state, at) =>
    liveViewOf(watched({ ...state, feature: `feature-${at}` }), NOW),
  )
  const frame = frameLines({ views, selected: 1, note: 'this machine' }, plain(80, 30))
  t.assert.fileSnapshot(`${frame.join('\n')}\n`, 'test/fixtures/terminal/dashboard-many.txt', {
    serializers: [String],
  })
})

test('the dashboard with lanes has a line for each, and which one waits', (t) => {
  const now = liveViewOf(watched(fourLanes(), { limits: parallelLimits }), NOW)
  const frame = frameLines({ views: [now], selected: 0, note: 'this machine' }, plain(80, 36))
  t.assert.fileSnapshot(`${frame.join('\n')}\n`, 'test/fixtures/terminal/dashboard-wave.txt', {
    serializers: [String],
  })
  assert.match(now.headline.text, /US-001 and 3 others are in progress/)
  const told = liveJson(now).workers.map(({ id, worker }) => `${id} ${worker}`)
  assert.deepEqual(told, ['US-001 1', 'US-002 2', 'US-003 null', 'US-004 4'])
})

test('the dashboard without a terminal is plain lines', (t) => {
  const frame = plainFrame({ views: [liveViewOf(watched(calling()), NOW)], note: 'this machine' })
  t.assert.fileSnapshot(`${frame.join('\n')}\n`, 'test/fixtures/terminal/dashboard-plain.txt', {
    serializers: [String],
  })
})

test('the dashboard in a small terminal keeps stories during a session, and says what is cut', () => {
  const watching = watched(calling(), { lines: ['one', 'two', 'three', 'four', 'five'] })
  for (const width of [40, 80]) {
    const one = { ...liveViewOf(watching, NOW), next: ['go on '.repeat(50)] }
    const frame = frameLines({ views: [one], selected: 0, note: 'x' }, plain(width, 24))
    for (const words of [/^── Now: US-005/, /^── Stories/, /\[>\] US-005/])
      assert.ok(
        frame.some((line) => words.test(line)),
        `${words} in\n${frame.join('\n')}`,
      )
    const next = frame.find((line) => line.startsWith(' Next: ')) ?? ''
    assert.match(next, /…\s*$/)
    const order = ['── Stories', '── Now', '── Run'].map((title) =>
      frame.findIndex((line) => line.startsWith(title)),
    )
    assert.ok(
      order.every((at, place) => at > (order[place - 1] ?? 0)),
      frame.join('\n'),
    )
    assert.ok((order[0] ?? 99) <= 5, 'the head has five rows at most')
  }
})

test('the dashboard counts stories that do not fit', () => {
  const state = justStarted()
  const story = { title: 'x', acceptanceCriteria: ['It does.'] }
  for (const count of [20, 300]) {
    const userStories = Array.from({ length: count }, (_, at) => newStory({ ...story, id: `S-${at}` }))
    const one = liveViewOf(watched({ ...state, prd: { ...state.prd, userStories } }), NOW)
    for (const [width, height] of [
      [80, 24],
      [120, 40],
    ] as const) {
      const frame = frameLines({ views: [one], selected: 0, note: 'x' }, plain(width, height))
      const shown = frame.filter((line) => /^ \[.\] S-\d+/.test(line)).length
      assert.ok(shown >= height / 4, frame.join('\n'))
      assert.ok(frame.includes(`  + ${count - shown} more`), frame.join('\n'))
    }
  }
})

test('the status of the breaker is shown in words', () => {
  const state = justStarted()
  const text = (position: 'open' | 'half-open' | 'closed', until: number | null) => {
    const history = [{ at: 0, from: '', to: '', why: 'it changed nothing' }]
    const breaker = { ...closedBreaker(), position, until, history }
    const records = { 'US-001': record({ breaker }) }
    return liveViewOf(watched({ ...state, records }), NOW).circuit.text
  }
  assert.equal(text('closed', null), 'healthy')
  assert.match(text('open', NOW + MINUTE), /^stopped: US-001 waits until .* UTC \(it changed nothing\)$/)
  assert.equal(text('open', NOW - MINUTE), 'trying again: US-001 (it changed nothing)')
})

test('the dashboard without calls-per-hour counts nothing down, and the remaining cost has one row', () => {
  const noLimit = { ...watched(calling()), limits: null }
  const frame = (one: LiveView, height: number) =>
    frameLines({ views: [one], selected: 0, note: 'x' }, plain(80, height)).join('\n')
  assert.match(frame(liveViewOf(noLimit, NOW), 36), /^ Calls\/h +\d+$/m)
  const outlook = frame(liveViewOf(watched(calling()), NOW), 60)
  assert.match(outlook, /^ Remaining +about \$1, 8 min, 3 iterations$/m)
})

test('the dashboard is exactly as high as the terminal and no wider, at every size', () => {
  const views = [calling(), concluded(midRun(), 'complete', '')].map((state) =>
    liveViewOf(watched(state), NOW),
  )
  for (const width of [20, 33, 40, 59, 60, 99, 100, 161, 400])
    for (const height of [1, 2, 5, 12, 24, 25, 60]) {
      for (const shown of [views, views.slice(0, 1), []]) {
        const lines = frameLines({ views: shown, selected: 0, note: 'x' }, plain(width, height))
        assert.equal(lines.length, height)
        for (const line of lines) assert.ok(textWidth(line) <= width, `${width}x${height}: ${line}`)
      }
    }
})

/** Our own colours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const COLOURS = /\u001b\[[\d;]*m/g

test('no text of a state, a transcript or a name sends a terminal sequence or breaks the dashboard', () => {
  for (const { name, text } of hostileStrings) {
    const state = poisoned(calling(), text)
    const one = liveViewOf(watched(state, { lines: [text, text], place: text, url: text }), NOW)
    for (const width of [40, 80, 120]) {
      const size = { ...plain(width, 40), colour: true }
      const lines = frameLines({ views: [one, one], selected: 1, note: text }, size)
      for (const line of lines) {
        const bare = line.replace(COLOURS, '')
        assert.doesNotMatch(bare, /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u, name)
        assert.ok(textWidth(bare) <= width, `${name}: ${JSON.stringify(bare)}`)
      }
    }
    for (const line of plainFrame({ views: [one], note: text }))
      assert.doesNotMatch(line, /^::|##\[|[\p{Cc}\u2028\u2029]/u, name)
  }
})

test('the dashboard of 10,000 stories is as large as of six, in limited time', () => {
  const state = justStarted()
  const stories = Array.from({ length: 10_000 }, (_, at) =>
    newStory({
      id: `US-${at}`,
      title: `story ${at}`,
      acceptanceCriteria: ['It does.'],
      passes: at % 3 === 0,
    }),
  )
  const large = { ...state, prd: { ...state.prd, userStories: stories } }
  const began = performance.now()
  const one = liveViewOf(watched(large), NOW)
  const lines = frameLines({ views: [one], selected: 0, note: '' }, plain(80, 40))
  assert.equal(lines.length, 40)
  assert.ok(liveJson(one).stories.length <= 200)
  assert.match(lines.join('\n'), /3334\/10000/)
  assert.ok(performance.now() - began < 5000)
})

test("the dashboard shows the breaker's count for a blocked story, too, when nothing is in work", () => {
  const state = { ...concluded(calling(), 'stuck', 'US-003 is blocked'), attempts: {} }
  const { exits } = liveViewOf(watched(state), NOW)
  const rows = exits.map(({ name, text }) => `${name}: ${text}`)
  assert.ok(rows.includes('No progress: 0 of 3 in a row (US-003)'), rows.join())
  assert.ok(rows.includes('Same failure: 5 of 5 in a row (US-003)'), rows.join())
})
