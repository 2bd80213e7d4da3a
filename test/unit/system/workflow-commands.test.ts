// No text that is not ours can be a command: checked against the runner's own way of reading lines.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createLog } from '../../../src/action/runner.ts'
import { sanitizeLine } from '../../../src/system/workflow-commands.ts'
import { anyText, runs } from '../runs.ts'

const REGISTERED = new Set(
  'error warning notice debug group endgroup add-mask add-matcher remove-matcher echo stop-commands set-output save-state set-env add-path'.split(
    ' ',
  ),
)

/** What .NET trims at the start of a line. */
const BLANK = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/

/** The runner's two syntaxes (facts/github-actions.md 1.6); the token of a stopped state counts as a command. */
function commandIn(line: string, token = 'tok-123'): string | null {
  const known = (name: string): string | null =>
    REGISTERED.has(name.toLowerCase()) || name.toLowerCase() === token ? name : null
  const trimmed = line.replace(BLANK, '')
  if (trimmed.startsWith('::')) {
    const end = trimmed.indexOf('::', 2)
    const name = end < 0 ? null : known(trimmed.slice(2, end).split(' ')[0] ?? '')
    if (name !== null) return name
  }
  const prefix = line.indexOf('##[')
  const close = prefix < 0 ? -1 : line.indexOf(']', prefix)
  return close < 0 ? null : known(line.slice(prefix + 3, close).split(' ')[0] ?? '')
}

/** Every command in a stream, as the runner splits it: at LF, CR LF and a lone CR; and as a language sees it. */
function commandsIn(text: string): string[] {
  const found: string[] = []
  for (const line of text.split(/\r\n|\r|\n/)) {
    for (const reading of [line, line.replace(/[\p{Cc}\p{Default_Ignorable_Code_Point}]/gu, '')]) {
      const command = commandIn(reading)
      if (command !== null) found.push(command)
    }
  }
  return found
}

const HOSTILE = [
  '::error::x',
  '   ::set-env name=PATH::/evil',
  '\t\u00a0\u3000::add-mask::a',
  '::tok-123::',
  'text ##[error]x',
  '##[group]x ##[endgroup]',
  '###[error]x',
  '#\x1b[0m#[error]x',
  ':\x1b[31m:error::x',
  '\x1b[2K::error::x',
  ':\0:error::x',
  '\0::error::x',
  '\u200d::error::x',
  ':\u200b:error::x',
  '#\u00ad#\u200d[error]x',
  'progress\r::error::x',
  '::ERROR file=a,line=1::x',
  '\x9b0m::error::x',
  '\x1b]8;;http://x\x07::error::x\x1b]8;;\x07',
  '\u2028::error::x',
  '\x85::error::x',
  '{"text":"##[error]x"}',
]

test('the parser of this test finds commands that are not muted', () => {
  // Those with a terminal's sequences become one when the sequences are taken out carelessly.
  for (const line of HOSTILE)
    if (!line.includes('\x1b') && !line.includes('\x9b'))
      assert.notDeepEqual(commandsIn(line), [], JSON.stringify(line))
})

test('no hostile line is a command after muting, and none has a control character', () => {
  for (const line of HOSTILE) {
    const out = sanitizeLine(line)
    assert.deepEqual(commandsIn(out), [], JSON.stringify(out))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is the point
    assert.doesNotMatch(out, /[\0-\x08\x0a-\x1f\x7f-\x9f]/)
  }
})

test('muting leaves ordinary lines as they are', () => {
  const lines = [
    '',
    'std::vector<int> a; // ::',
    'src/a.ts:1:2: error: ##no command',
    '## A heading, [a link](x) and #1',
    'Ünïcödé 👨‍👩‍👧 ✔ ❤️',
    '\ttab',
    ': one colon',
  ]
  for (const line of lines) assert.equal(sanitizeLine(line), line)
})

test('a muted line stays readable', () => {
  assert.equal(sanitizeLine('::error file=a::broken'), ': :error file=a::broken')
  assert.equal(sanitizeLine('see ##[group]Tests'), 'see # #[group]Tests')
  assert.equal(sanitizeLine('\x1b[31mred\x1b[0m \x1b[1;4mbold\x1b[m'), 'red bold')
  assert.equal(sanitizeLine('10%\r20%\r\n30%'), '10% 20% 30%')
})

const fragment = fc.oneof(
  fc.constantFrom(
    ':',
    '::',
    '#',
    '##',
    '[',
    ']',
    '##[',
    'error',
    'tok-123',
    'set-env name=x',
    ' ',
    '\t',
    '\r',
    '\n',
    '\0',
  ),
  fc.constantFrom(
    '\x1b',
    '\x1b[0m',
    '\x1b]0;',
    '\x07',
    '\x9b',
    '\u200d',
    '\u00ad',
    '\ufeff',
    '\u00a0',
    '\u2028',
    '\x85',
    '\u3164',
  ),
  anyText({ maxLength: 3 }),
  fc.constantFrom(...HOSTILE),
)
const hostileText = fc.array(fragment, { maxLength: 14 }).map((parts) => parts.join(''))

test('muting any text leaves no command for the runner, and a second time changes nothing', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const out = sanitizeLine(text)
      assert.deepEqual(commandsIn(out), [])
      assert.equal(sanitizeLine(out), out)
      assert.ok(!/[\r\n]/.test(out))
    }),
    runs(300),
  )
})

test('the log writes whole lines, whatever is before the text, and never a command', () => {
  const prefixes = fc.constantFrom('', ' ', '  │ ', '#', '##', ':', 'agent: ', '\u200d')
  fc.assert(
    fc.property(hostileText, prefixes, (text, prefix) => {
      const out: string[] = []
      createLog(
        (written) => out.push(written),
        (line) => line,
      ).screen.write(prefix + text)
      assert.deepEqual(commandsIn(out.join('')), [])
      assert.ok(!out.join('').includes('\r') && out.join('').endsWith('\n'))
      assert.equal(out.join('').split('\n').length - 1, text.replace(/\n$/, '').split('\n').length)
    }),
    runs(200),
  )
})

test('muting takes linear time', () => {
  const start = process.cpuUsage()
  for (const unit of ['x', '\r', '::', '##[', '\x1b[', '\x1b]', '#\u200d', ':\u200d', 'a\r\n', '\x1b[0;'])
    sanitizeLine(unit.repeat(1_000_000 / unit.length))
  const { user, system } = process.cpuUsage(start)
  const took = (user + system) / 1000
  assert.ok(took < 20_000, `${took} ms`)
})
