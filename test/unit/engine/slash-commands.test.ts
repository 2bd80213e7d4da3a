// `/ralph …` out of comments: what counts, what does not, and what the sender is told.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  type CommandRequest,
  type ParsedComment,
  parseSlash,
} from '../../../src/engine/commands/command-table.ts'
import { assertGrowth } from '../growth.ts'
import { anyText, runs } from '../runs.ts'

const ids = ['US-001', 'US-002', 'US-010', 'login.v2']

function said(body: string, known: readonly string[] = ids): CommandRequest {
  const parsed = parseSlash(body, known)
  assert.equal(parsed.kind, 'command', `${JSON.stringify(body)}: ${JSON.stringify(parsed)}`)
  assert.ok(parsed.kind === 'command')
  return parsed.command
}

function mistake(body: string): Extract<ParsedComment, { kind: 'mistake' }> {
  const parsed = parseSlash(body, ids)
  assert.ok(parsed.kind === 'mistake', `${JSON.stringify(body)}: ${JSON.stringify(parsed)}`)
  return parsed
}

describe('comments that are commands', () => {
  const table: [string, CommandRequest][] = [
    ['/ralph run', { kind: 'run' }],
    ['/ralph resume', { kind: 'run' }],
    ['/ralph  RUN  ', { kind: 'run' }],
    ['/ralph\trun', { kind: 'run' }],
    ['/ralph run\r\nplease, and soon', { kind: 'run' }],
    ['/ralph run\r', { kind: 'run' }],
    ['/ralph run\n/ralph pause', { kind: 'run' }],
    ['/ralph pause', { kind: 'pause' }],
    ['/ralph stop', { kind: 'stop' }],
    ['/ralph verify', { kind: 'verify' }],
    ['/Ralph run', { kind: 'run' }],
    ['/RALPH\u00a0Run', { kind: 'run' }],
    [
      '/ralph\u3000retry\u00a0US-002\u202f--\u00a0a hint',
      { kind: 'retry', stories: ['US-002'], guidance: 'a hint' },
    ],
    ['/ralph retry US-002 please do X', { kind: 'retry', stories: ['US-002'], guidance: 'please do X' }],
    ['/ralph retry us-2, please, do X', { kind: 'retry', stories: ['US-002'], guidance: 'please, do X' }],
    ['/ralph retry US-002: do X -- not Y', { kind: 'retry', stories: ['US-002'], guidance: 'do X not Y' }],
    [
      '/ralph retry US-002 all tests pass',
      { kind: 'retry', stories: ['US-002'], guidance: 'all tests pass' },
    ],
    ['/ralph retry all but use X', { kind: 'retry', stories: 'all', guidance: 'but use X' }],
    [
      '/ralph retry US-002 use X --fresh',
      { kind: 'retry', stories: ['US-002'], guidance: 'use X', fresh: true },
    ],
    [
      '/ralph retry US-002 npm ci --fresh only',
      { kind: 'retry', stories: ['US-002'], guidance: 'npm ci --fresh only' },
    ],
    [
      '/ralph note US-001 the mailer is in src',
      { kind: 'note', stories: ['US-001'], guidance: 'the mailer is in src' },
    ],
    ['/ralph skip us-01', { kind: 'skip', stories: ['US-001'], guidance: '' }],
    ['/ralph retry us-001,US-10', { kind: 'retry', stories: ['US-001', 'US-010'], guidance: '' }],
    [
      '/ralph retry US-002 -- one\r\n\r\ntwo\n```js\nif (a) {\n  b()\n}\n```\n',
      { kind: 'retry', stories: ['US-002'], guidance: 'one\n\ntwo\n```js\nif (a) {\n  b()\n}\n```' },
    ],
    ['/ralph note US-002\n\nthe text', { kind: 'note', stories: ['US-002'], guidance: 'the text' }],
    ['/ralph retry US-002', { kind: 'retry', stories: ['US-002'], guidance: '' }],
    ['/ralph retry US-002 --fresh', { kind: 'retry', stories: ['US-002'], guidance: '', fresh: true }],
    [
      '/ralph retry \u2014fresh all -- use --fresh',
      { kind: 'retry', stories: 'all', guidance: 'use --fresh', fresh: true },
    ],
    ['/ralph retry us-002, US-010', { kind: 'retry', stories: ['US-002', 'US-010'], guidance: '' }],
    ['/ralph retry US-002 US-002', { kind: 'retry', stories: ['US-002'], guidance: '' }],
    ['/ralph retry all', { kind: 'retry', stories: 'all', guidance: '' }],
    [
      '/ralph retry ALL -- look at the index',
      { kind: 'retry', stories: 'all', guidance: 'look at the index' },
    ],
    ['/ralph retry US-002 -- use a -- b', { kind: 'retry', stories: ['US-002'], guidance: 'use a -- b' }],
    ['/ralph retry US-002 — use bcrypt', { kind: 'retry', stories: ['US-002'], guidance: 'use bcrypt' }],
    ['/ralph redo login.v2 -- too slow', { kind: 'redo', stories: ['login.v2'], guidance: 'too slow' }],
    ['/ralph skip US-001 US-002', { kind: 'skip', stories: ['US-001', 'US-002'], guidance: '' }],
    ['/ralph note US-001 -- 日本語 ok', { kind: 'note', stories: ['US-001'], guidance: '日本語 ok' }],
    ['/ralph note US-001 -- a\u2028b', { kind: 'note', stories: ['US-001'], guidance: 'a b' }],
    ['/ralph note US-001 -- a\u{e0062}\u202e\u200bc', { kind: 'note', stories: ['US-001'], guidance: 'ac' }],
    ['/ralph plan', { kind: 'plan', guidance: '' }],
    ['/ralph plan please', { kind: 'plan', guidance: 'please' }],
    ['/ralph plan -- no billing', { kind: 'plan', guidance: 'no billing' }],
    [
      '/ralph plan smaller -- no billing\n\nand soon',
      { kind: 'plan', guidance: 'smaller\nno billing\nand soon' },
    ],
    ['/ralph limit iterations +20', { kind: 'limit', what: 'iterations', amount: 20 }],
    ['/ralph limit cost +5', { kind: 'limit', what: 'cost', amount: 5 }],
    ['/ralph limit cost +0.50', { kind: 'limit', what: 'cost', amount: 0.5 }],
    ['/ralph add -- Sign out', { kind: 'add', title: 'Sign out', description: '', criteria: [] }],
    [
      '/ralph add -- Sign out\r\n\r\nEverywhere.\r\n- [ ] the session ends\r\n* the cookie is gone\r\nNow.',
      {
        kind: 'add',
        title: 'Sign out',
        description: 'Everywhere.\nNow.',
        criteria: ['the session ends', 'the cookie is gone'],
      },
    ],
  ]
  for (const [body, command] of table) {
    test(JSON.stringify(body), () => assert.deepEqual(said(body), command))
  }

  test('help, status and an empty command', () => {
    assert.deepEqual(parseSlash('/ralph help', ids), { kind: 'help' })
    assert.deepEqual(parseSlash('/ralph', ids), { kind: 'help' })
    assert.deepEqual(parseSlash('/ralph   ', ids), { kind: 'help' })
    assert.deepEqual(parseSlash('/ralph status', ids), { kind: 'status' })
  })

  for (const known of [
    ['us-1', 'US-1'],
    ['US--1', 'US'],
  ]) {
    test(`every story can be named exactly: ${known.join(', ')}`, () => {
      for (const id of known) {
        assert.deepEqual(said(`/ralph skip ${id}`, known), { kind: 'skip', stories: [id], guidance: '' })
      }
    })
  }
})

describe('comments that are not commands', () => {
  for (const body of [
    '',
    'run',
    'please /ralph run',
    '> /ralph run',
    '\n/ralph run',
    'Thanks!\n/ralph retry all',
    '```\n/ralph run\n```',
    '`/ralph run`',
    '    /ralph run',
    '<!-- -->\n/ralph run',
    '/ralphx run',
    '/ralph-bot run',
    '/ralph: run',
    '/ralph/run',
    '/ralph@run',
    '//ralph run',
    '\\/ralph run',
    '**/ralph run**',
    '-/ralph run',
    '\u200b/ralph run',
    '\ufeff/ralph run',
    '／ralph run',
    '/rаlph run',
    '/ralph\u200b run',
    '/ralрh retry all',
    '⁄ralph run',
  ]) {
    test(JSON.stringify(body), () => assert.deepEqual(parseSlash(body, ids), { kind: 'none' }))
  }
})

describe('invalid commands are answered with the nearest valid one', () => {
  const table: [string, RegExp, RegExp][] = [
    ['/ralph retyr US-002', /no command retyr/, /^\/ralph retry$/],
    ['/ralph pasue', /no command pasue/, /^\/ralph pause$/],
    ['/ralph zzzzzzzzzzzz', /no command zzzzzzzzzzzz/, /^\/ralph help$/],
    ['/ralph stop US-002', /for the whole run/, /^\/ralph skip US-002$/],
    ['/ralph pause us-002', /for the whole run/, /^\/ralph skip US-002$/],
    ['/ralph retry', /needs a story/, /^\/ralph retry US-001$/],
    ['/ralph retry -- a hint', /needs a story/, /^\/ralph retry US-001$/],
    ['/ralph retry US-099', /^there is no story US-099\. The stories are US-001, US-002/, /^\/ralph status$/],
    ['/ralph why US-003', /^there is no story US-003\. The stories are US-001, US-002/, /^\/ralph status$/],
    [
      '/ralph retry US-002 US-099 please',
      /^there is no story US-099\. The stories are US-001, US-002/,
      /^\/ralph status$/,
    ],
    ['/ralph retry US-002 US-0O1', /^there is no story US-0O1$/, /^\/ralph retry US-001$/],
    ['/ralph skip US-002 --fresh', /^skip has no option --fresh$/, /^\/ralph skip US-002$/],
    ['/ralph retry US-002 --frsh', /^retry has no option --frsh$/, /^\/ralph retry US-002$/],
    ['/ralph skip us2', /^there is no story us2$/, /^\/ralph skip US-002$/],
    ['/ralph skip US-0O2', /^there is no story US-0O2$/, /^\/ralph skip US-002$/],
    ['/ralph retry ZZZZZZZZZ', /^there is no story ZZZZZZZZZ\. The stories are US-001, /, /^\/ralph status$/],
    ['/ralph skip all', /name the stories/, /^\/ralph skip US-001$/],
    ['/ralph note US-001', /needs a text/, /^\/ralph note US-001 -- /],
    ['/ralph add', /needs a title/, /^\/ralph add -- /],
    ['/ralph add Sign out', /needs a title/, /^\/ralph add -- Sign out$/],
    [
      '/ralph add Sign -- out',
      /the title of a new story comes after --, and no other word may come before --/,
      /^\/ralph add -- Sign out$/,
    ],
    ['/ralph add @<> --', /needs a title/, /^\/ralph add -- the title$/],
    ['/ralph limit iterations +20 +5', /say what to raise/, /^\/ralph limit iterations \+20$/],
    ['/ralph limit', /say what to raise/, /^\/ralph limit iterations \+20$/],
    ['/ralph limit iterations 20', /say what to raise/, /\+20/],
    ['/ralph limit iterations -20', /say what to raise/, /\+20/],
    ['/ralph limit iterations +0', /say what to raise/, /\+20/],
    ['/ralph limit iterations +1.5', /say what to raise/, /\+20/],
    ['/ralph limit iterations +1e9', /say what to raise/, /\+20/],
    ['/ralph limit cost +Infinity', /say what to raise/, /^\/ralph limit cost \+5$/],
    ['/ralph limit cost', /say what to raise/, /^\/ralph limit cost \+5$/],
    ['/ralph limit cost 12.50', /say what to raise/, /^\/ralph limit cost \+12\.5$/],
    ['/ralph limit iterations 7', /say what to raise/, /^\/ralph limit iterations \+7$/],
    ['/ralph limit jobs +1', /say what to raise/, /\+20/],
    ['/ralph retry US-001;rm', /no story/, /^\/ralph retry US-001$/],
  ]
  for (const [body, problem, fix] of table) {
    test(body, () => {
      const told = mistake(body)
      assert.match(told.problem, problem)
      assert.match(told.fix, fix)
    })
  }

  test('the nearest command exists in this version', () => {
    for (const word of ['spilt', 'splitt', 'plam', 'plans', 'aprove-plan']) {
      const told = mistake(`/ralph ${word} US-001`)
      const again = parseSlash(told.fix, ids)
      assert.doesNotMatch(again.kind === 'mistake' ? again.problem : '', /not part/, `${word}: ${told.fix}`)
    }
  })

  test('a word in another script is quoted, not dropped', () => {
    assert.doesNotMatch(mistake('/ralph 再試行').problem, /command $/)
    assert.doesNotMatch(mistake('/ralph retry 再試行').problem, /story $/)
  })

  test('markup, mentions and commands in a comment are not repeated', () => {
    for (const word of [
      '@team',
      '<img/src=x>',
      '[a](http://x)',
      '::error::x',
      '`x`',
      '|x|',
      'a#1',
      '\u202ex',
      '&lt;',
    ]) {
      for (const body of [`/ralph ${word}`, `/ralph retry ${word}`, `/ralph skip US-001 ${word}`]) {
        const parsed = parseSlash(body, ids)
        if (parsed.kind !== 'mistake') continue
        assert.doesNotMatch(
          `${parsed.problem} ${parsed.fix}`.replaceAll('/ralph', ''),
          /[@<>[\]`|#&\u202e]|::|https?:/,
        )
      }
    }
  })
})

describe('any comment text', () => {
  const pieces = fc.constantFrom(
    '/ralph',
    ' ',
    '\t',
    '\n',
    '\r\n',
    '--',
    ' -- ',
    'retry',
    'redo',
    'skip',
    'note',
    'add',
    'limit',
    'iterations',
    '+20',
    'all',
    '--fresh',
    'US-001',
    'us-002',
    'US-404',
    '__proto__',
    'constructor',
    '`',
    '\u2028',
    '\u202e',
    '\ud800',
    '- [ ] a',
  )
  const hostile = fc
    .tuple(
      fc.constantFrom('', '/ralph ', '/ralph retry '),
      fc.array(fc.oneof(pieces, anyText()), { maxLength: 30 }),
    )
    .map(([start, rest]) => start + rest.join(''))

  test('never throws, never gives a story outside of the list, never an unlimited text', () => {
    const property = fc.property(hostile, fc.subarray(ids), (body, known) => {
      const parsed = parseSlash(body, known)
      if (!/^\/ralph/i.test(body)) assert.equal(parsed.kind, 'none')
      if (parsed.kind === 'mistake') {
        assert.ok(parsed.problem.length <= 200 && parsed.fix.length <= 1000)
        assert.doesNotMatch(parsed.problem + parsed.fix, /[\r\n]/)
      }
      if (parsed.kind !== 'command') return
      const { command } = parsed
      if ('stories' in command && command.stories !== 'all') {
        assert.ok(command.stories.length > 0)
        assert.equal(new Set(command.stories).size, command.stories.length)
        for (const id of command.stories) assert.ok(known.includes(id), id)
      }
      if ('guidance' in command) assert.ok(command.guidance.length <= 2000)
      if (command.kind === 'add') {
        assert.ok(command.title.trim() !== '' && command.title.length <= 200)
        assert.ok(command.description.length <= 2000 && command.criteria.length <= 50)
        assert.ok(command.criteria.every((one) => one.trim() !== '' && one.length <= 500))
      }
      if (command.kind === 'limit') assert.ok(command.amount > 0 && Number.isFinite(command.amount))
    })
    fc.assert(property, runs(300))
  })

  test('of a megabyte is read in limited time', () => {
    const many = Array.from({ length: 2000 }, (_, index) => `US-${index}`)
    const parse = (size: number): void => {
      for (const body of [
        `/ralph ${'a'.repeat(size)}`,
        `/ralph retry ${'US-1 '.repeat(size / 5)}`,
        `/ralph retry ${'x'.repeat(99)}`,
        `/ralph ${' '.repeat(size)}x`,
        `/ralph note US-1 ${' -'.repeat(size / 2)}`,
        `/ralph add -- a\n${'- b\n'.repeat(size / 4)}`,
        `/ralph${'\t'.repeat(size)}`,
      ])
        parseSlash(body, many)
    }
    assertGrowth(parse, 1e6)
  })
})
