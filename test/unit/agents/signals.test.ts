// Markers in the agent's final words: what counts, and what only looks like one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { completionConfidence } from '../../../src/agents/response.ts'
import { markersAtEnd, readClosing, readSignals } from '../../../src/agents/signals.ts'
import { anyText, runs } from '../runs.ts'

const NOTHING = { done: false, stuck: null, notDone: false, learnings: [], verdict: null }

const hints = readSignals

test('completion markers of all earlier Ralphs are read', () => {
  for (const marker of [
    '<ralph>DONE</ralph>',
    '<promise>COMPLETE</promise>',
    '<complete>ALL_STORIES_PASSED</complete>',
    'RALPH_DONE',
  ]) {
    assert.deepEqual(hints(`All finished.\n\n  ${marker}  \r\n`), { ...NOTHING, done: true }, marker)
  }
})

test('the closing text is the paragraph before the markers, and the note for the next session', () => {
  const status =
    '---RALPH_STATUS---\nSTATUS: COMPLETE\nRECOMMENDATION: next the mailer\n---END_RALPH_STATUS---'
  const texts: [string, string, string][] = [
    ['', '', ''],
    ['I looked.\n\nAdded the form,\nwith tests.\n\n<ralph>DONE</ralph>', 'Added the form, with tests.', ''],
    ['Done it.\n\n```\nnpm test\n```\n<ralph>LEARNING:x</ralph>\n<ralph>DONE</ralph>', 'Done it.', ''],
    [`Added it.\n\n${status}\n`, 'Added it.', 'next the mailer'],
    ['Added it.\n**Note for next:** mind the cache\nRALPH_DONE', 'Added it.', 'mind the cache'],
    ['# Summary\nAdded it.', 'Added it.', ''],
  ]
  for (const [text, summary, next] of texts) assert.deepEqual(readClosing(text), { summary, next }, text)
  fc.assert(
    fc.property(anyText({}), (text) => {
      const { summary, next } = readClosing(text)
      assert.ok(summary.length <= 300 && next.length <= 300)
      assert.doesNotMatch(summary + next, /[\p{Cc}\p{Cf}\u2028\u2029]/u)
    }),
    runs(50),
  )
})

test('certainty that the work is done is read from the closing text', () => {
  const texts: [string, number][] = [
    ['<ralph>DONE</ralph>', 100],
    ['---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---', 100],
    ['---RALPH_STATUS---\nSTATUS: COMPLETE\nTESTS_STATUS: FAILING\n---END_RALPH_STATUS---', 0],
    ['I looked around. Nothing to do: it is already implemented.', 70],
    ['All tasks are complete.', 60],
    ['Not all tasks were touched; the form is half way.', 0],
    ['All tasks are complete.\n<stuck>no network</stuck>', 0],
    ['', 0],
  ]
  for (const [text, expected] of texts) assert.equal(completionConfidence(text), expected, text)
})

test('markers count only at the end of a text', () => {
  const [verified, reset] = ['<ralph>VERIFIED</ralph>', '<ralph>RESET:US-001</ralph>']
  const reason = '<ralph>REASON:it is\nclosed</ralph>'
  for (const [text, end] of [
    ['', ''],
    [verified, verified],
    [`A file:\n${reset}\nwas that.\n\n${verified}\n\n`, `\n${verified}\n\n`],
    [`${verified}\nand so on`, ''],
    [`\`\`\`\n${verified}\n\`\`\``, ''],
    [`\`\`\`\nan open fence\n${verified}`, verified],
    [`said\n${reset}\n${reason}\n`, `${reset}\n${reason}\n`],
    [`said\n${reset} ${verified}`, `${reset} ${verified}`],
    ['said\nclosed</ralph>', ''],
    [`<ralph>REASON:${'\na line'.repeat(30)}</ralph>`, ''],
  ] as const)
    assert.equal(markersAtEnd(text), end, text)
  fc.assert(
    fc.property(anyText(), (text) => {
      assert.deepEqual(hints(markersAtEnd(`${text}\nsaid\n${verified}`)).verdict, { kind: 'verified' })
      assert.equal(hints(markersAtEnd(`${text}\n${verified}\nsaid`)).verdict, null)
    }),
    runs(200),
  )
})

test('a marker inside a line is no signal', () => {
  for (const text of [
    'I must not print <promise>COMPLETE</promise> yet.',
    'do not write RALPH_DONE',
    'RALPH_DONEif EVERY task is [x] complete',
    '`<ralph>DONE</ralph>`',
    '> <ralph>DONE</ralph>',
    '- <ralph>DONE</ralph>',
    '"<ralph>VERIFIED</ralph>"',
    '**<ralph>VERIFIED</ralph>**',
    '<ralph>VERIFIED</ralph> is what I would say if',
    'VERIFIED',
    'Everything is verified: all stories pass.',
    '<ralph>VERIFIED',
    '<ralph>VERIFIED</ralph',
    '<ralph><ralph>VERIFIED</ralph></ralph>',
    '<ralph>verified</ralph>',
    '<ralph>NOT VERIFIED</ralph>',
    '<promise>NOT COMPLETE</promise>',
    '<RALPH>DONE</RALPH>',
  ]) {
    assert.deepEqual(hints(text), NOTHING, text)
  }
})

test('markers in a code fence do not count, also when the fence is never closed', () => {
  for (const text of [
    '```\n<ralph>VERIFIED</ralph>\n```',
    '~~~text\n<ralph>DONE</ralph>\n~~~',
    '````\n```\n<ralph>DONE</ralph>\n```\n````',
    'text\n```sh\n<ralph>DONE</ralph>',
    '```\n~~~\n<ralph>DONE</ralph>\n~~~\n```',
    '  ```\n  <stuck>US-001: no</stuck>\n  ```',
  ]) {
    assert.deepEqual(hints(text), NOTHING, text)
  }
  assert.equal(hints('```\ncode\n```\n<ralph>DONE</ralph>').done, true)
  assert.equal(hints('```inline``` is no fence\n<ralph>DONE</ralph>').done, true)
})

test('a stuck marker takes precedence over a done marker', () => {
  assert.deepEqual(hints('<ralph>DONE</ralph>\n<stuck>US-002: the key is missing</stuck>'), {
    ...NOTHING,
    stuck: 'US-002: the key is missing',
  })
  assert.equal(hints('<stuck>US-002: one\n  two\nthree</stuck>').stuck, 'US-002: one two three')
  assert.equal(hints('<stuck>never closed\n<ralph>DONE</ralph>').done, true)
})

test('a verdict is verified or reset, and reset takes precedence', () => {
  assert.deepEqual(hints('Fine.\n<ralph>VERIFIED</ralph>').verdict, { kind: 'verified' })
  const reset = { kind: 'reset', ids: ['US-001', 'US-003'], reason: 'no tests' }
  const marks = '<ralph>RESET:US-001, US-003</ralph>'
  const why = '<ralph>REASON: no tests</ralph>'
  assert.deepEqual(hints(`${marks}\n${why}`).verdict, reset)
  assert.deepEqual(hints(`${marks}${why}`).verdict, reset)
  assert.deepEqual(hints(`${why}\n${marks}\n<ralph>VERIFIED</ralph>`).verdict, reset)
  assert.deepEqual(hints(`<ralph>VERIFIED</ralph>\n${marks} <ralph>NOTE:x</ralph>`).verdict, {
    ...reset,
    reason: '',
  })
  assert.deepEqual(hints('<ralph>RESET:</ralph>\n<ralph>VERIFIED</ralph>').verdict, {
    kind: 'reset',
    ids: [],
    reason: '',
  })
  assert.deepEqual(hints('<ralph>REASON:a\nb</ralph>\n<ralph>RESET:US-1</ralph>').verdict, {
    kind: 'reset',
    ids: ['US-1'],
    reason: 'a b',
  })
})

test('a reset may name a command for each story that fails because of it', () => {
  const text = '<ralph>RESET:US-1</ralph>\n<ralph>COUNTEREXAMPLE:US-1 node --test "a b.js"</ralph>'
  const verdict = { kind: 'reset', ids: ['US-1'], reason: '' }
  assert.deepEqual(hints(text).verdict, {
    ...verdict,
    commands: [{ storyId: 'US-1', run: 'node --test "a b.js"' }],
  })
  assert.deepEqual(hints(text.replace('node --test "a b.js"', '')).verdict, verdict)
  assert.deepEqual(hints(`${text}\n<ralph>VERIFIED</ralph>`).verdict, hints(text).verdict)
})

test('learnings are limited, printable and without duplicates', () => {
  const many = Array.from({ length: 20 }, (_, at) => `<ralph>LEARNING: fact ${at}</ralph>`).join('\n')
  assert.equal(hints(many).learnings.length, 10)
  assert.deepEqual(hints('<ralph>LEARNING: a <b> & c: d\u0000\u001b[31m</ralph>').learnings, ['a <b> & c: d'])
  assert.deepEqual(
    hints('<ralph>LEARNING:x</ralph>\n<ralph>LEARNING:x</ralph>\n<ralph>LEARNING: </ralph>').learnings,
    ['x'],
  )
  assert.equal(hints(`<ralph>LEARNING:${'🎉'.repeat(600)}</ralph>`).learnings[0], `${'🎉'.repeat(249)}…`)
})

const block = (status: string, tests: string, exit: string, advice = 'go on') =>
  `---RALPH_STATUS---\nSTATUS: ${status}\nTESTS_STATUS: ${tests}\nEXIT_SIGNAL: ${exit}\nRECOMMENDATION: ${advice}\n---END_RALPH_STATUS---`

test('the RALPH_STATUS block is read', () => {
  assert.deepEqual(hints(block('COMPLETE', 'PASSING', 'true')), { ...NOTHING, done: true })
  assert.deepEqual(hints(block('COMPLETE', 'FAILING', 'true')), { ...NOTHING, notDone: true })
  assert.deepEqual(hints(block('IN_PROGRESS', 'PASSING', 'false')), { ...NOTHING, notDone: true })
  assert.deepEqual(hints(block('COMPLETE', 'NOT_RUN', 'false')), { ...NOTHING, notDone: true })
  assert.deepEqual(hints(block('BLOCKED', 'NOT_RUN', 'false', 'ask a person')), {
    ...NOTHING,
    notDone: true,
    stuck: 'ask a person',
  })
  const template = block('COMPLETE | IN_PROGRESS | BLOCKED', 'PASSING | FAILING | NOT_RUN', 'true | false')
  assert.deepEqual(hints(template), NOTHING)
  assert.equal(
    hints(`${block('IN_PROGRESS', 'FAILING', 'false')}\n${block('COMPLETE', 'PASSING', 'true')}`).done,
    true,
  )
  assert.equal(hints(`<ralph>DONE</ralph>\n${block('COMPLETE', 'FAILING', 'true')}`).done, false)
})

test('text without markers gives no signal', () => {
  for (const words of ['All tasks are complete, nothing left to do.', 'It is not yet done.', ''])
    assert.deepEqual(hints(words), NOTHING)
})

test('arbitrary prose gives no done, stuck or verdict', () => {
  const word = fc.constantFrom(
    ...[
      'done',
      'DONE',
      'VERIFIED',
      'complete',
      '<ralph>',
      '</ralph>',
      'US-001',
      'RESET:',
      'stuck',
      '\n',
      '`',
      'ok.',
    ],
  )
  const prose = fc.oneof(
    anyText(),
    fc.array(word).map((words) => words.join(' ')),
    fc.lorem({ mode: 'sentences' }).map((text) => `I shall say <ralph>VERIFIED</ralph> when ${text}`),
  )
  // What the generator may hit upon by chance is exactly a marker on its own line.
  const honest = prose.filter(
    (text) => !/^\s*<ralph>\s*(?:DONE|VERIFIED|RESET\s*:.*)\s*<\/ralph>/m.test(text),
  )
  fc.assert(
    fc.property(honest, (text) => {
      const { done, stuck, verdict } = readSignals(text)
      assert.deepEqual([done, stuck, verdict], [false, null, null])
    }),
    runs(60),
  )
})

test('a marker after arbitrary prose without fences is found', () => {
  const prose = fc.string({ unit: 'grapheme-ascii' }).filter((text) => !/[`~<]/.test(text))
  fc.assert(
    fc.property(prose, prose, (before, after) => {
      assert.deepEqual(readSignals(`${before}\n<ralph>VERIFIED</ralph>\n${after}`).verdict, {
        kind: 'verified',
      })
    }),
  )
})

test('megabytes of pathological text are read in linear time', () => {
  const began = performance.now()
  const nasty = [
    '<ralph>',
    ' '.repeat(1_000_000),
    '<stuck>\n'.repeat(100_000),
    '<stuck></stuck>'.repeat(20_000),
  ]
  for (const part of nasty) readSignals(`<ralph>${part}</ralph>\n${part}`)
  assert.ok(performance.now() - began < 20_000)
})
