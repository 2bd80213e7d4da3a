// Every hostile string in every report, read by a real parser of GitHub's markdown: the same blocks as with plain text.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lexer, type Token, type Tokens, walkTokens } from 'marked'
import { link } from '../../../src/report/escape.ts'
import { marker } from '../../../src/report/parts.ts'
import { helpReply, unchangedReply } from '../../../src/report/replies.ts'
import { hostileStrings } from '../../fixtures/hostile-strings.ts'
import { every } from '../runs.ts'
import { facts, poisoned, poisonedIds, REPOSITORY, states } from './poison.ts'
import { jobSummary, pullRequestBody, rollupCheck, stickyComment, storyCheck } from './rendered.ts'
import { assertGraph, EMOJI } from './structure.ts'

type Reading = {
  headings: number[]
  tables: { rows: number; columns: number }[]
  tasks: number
  alerts: number
  /** What GitHub looks through for names, numbers and addresses: the text between the marks, entities resolved. */
  text: string
}

const OURS = /^<\/?(?:details|summary|sub|br)>$|^<details open>$/

/** Reads a report, and fails on whatever we never write. */
function read(markdown: string, marker: string | null, what: string): Reading {
  const reading: Reading = { headings: [], tables: [], tasks: 0, alerts: 0, text: '' }
  const said: string[] = []
  let markers = 0
  walkTokens(lexer(markdown), (token) => {
    switch (token.type) {
      case 'html':
        for (const tag of token.raw.match(/<!--[\s\S]*?(?:-->|$)|<[^>]*>?/g) ?? []) {
          if (tag === marker) markers += 1
          else assert.match(tag, OURS, `${what}: a tag`)
        }
        said.push(token.raw.replace(/<[^>]*>/g, ' '))
        break
      case 'heading':
        reading.headings.push(token.depth)
        break
      case 'table': {
        const { rows, header } = token as Tokens.Table
        // A parser drops cells that are too many; a bar that is not escaped would push the others out.
        for (const line of token.raw.trimEnd().split('\n'))
          assert.equal(line.replaceAll('\\|', '').split('|').length, header.length + 2, `${what}: ${line}`)
        reading.tables.push({ rows: rows.length, columns: header.length })
        break
      }
      case 'list': {
        const { ordered, items } = token as Tokens.List
        assert.equal(ordered, false, `${what}: a numbered list`)
        for (const item of items) if (item.task) reading.tasks += 1
        for (const item of items)
          refuse(item.tokens, ['list', 'heading', 'code', 'blockquote', 'table'], what)
        break
      }
      case 'blockquote':
        reading.alerts += 1
        assert.match(token.raw, /^> \[![A-Z]+\]\n> /, `${what}: a quote`)
        refuse(token.tokens ?? [], ['list', 'heading', 'code', 'blockquote', 'table'], what)
        break
      case 'code':
        assert.match(token.lang ?? '', /^(?:text|mermaid)$/, `${what}: a block of code`)
        assert.equal(token.codeBlockStyle, undefined, `${what}: indented code`)
        if (token.lang === 'mermaid') assertGraph(token.text.split('\n'))
        break
      case 'link':
        assert.ok(
          token.href.startsWith(`${REPOSITORY}/`) && !/[\s<>"]/.test(token.href),
          `${what}: a link to ${token.href}`,
        )
        break
      case 'text':
        if (!('tokens' in token && token.tokens !== undefined)) said.push(token.raw)
        break
      case 'space':
      case 'paragraph':
      case 'list_item':
      case 'checkbox':
      case 'strong':
      case 'codespan':
        break
      default:
        assert.fail(`${what}: ${token.type} ${token.raw.slice(0, 80)}`)
    }
  })
  assert.equal(markers, marker === null ? 0 : 1, `${what}: our marker`)
  reading.text = resolved(said.join('\n'))
  for (const active of [/@[\w-]/, /#\d/, /\bGH-\d/i, /:\/\//, /\bwww\./i, EMOJI]) {
    assert.doesNotMatch(reading.text, active, what)
  }
  return reading
}

function refuse(tokens: readonly Token[], kinds: readonly string[], what: string): void {
  for (const { type, raw } of tokens) assert.ok(!kinds.includes(type), `${what}: ${type} inside: ${raw}`)
}

/** As a page shows it: GitHub looks for names and numbers behind this. */
function resolved(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi,
    (whole, hex: string, digits: string, name: string) =>
      name === undefined
        ? String.fromCodePoint(hex === undefined ? Number(digits) : Number.parseInt(hex, 16))
        : (NAMED[name] ?? whole),
  )
}
const NAMED: Record<string, string> = { amp: '&', lt: '<', commat: '@', num: '#', colon: ':', sol: '/' }

const blocks = ({ headings, tables, tasks, alerts }: Reading) => ({ headings, tables, tasks, alerts })

/** A page shows these and does nothing; other programs, or GitHub in other places, read them. */
const SHOWN = new Set([
  'command after a zero width',
  'command',
  'with a zero width',
  'fullwidth',
  'colour',
  'emoji code with an escape inside',
  'entity without an end',
  'entity twice',
  'entity by hex',
  'entity by number',
  'entity for an angle',
  'half emphasis',
  'svg',
  'end of comment',
])

test('the Markdown parser of these tests detects text that is not escaped', () => {
  const known = `${REPOSITORY}/x`
  for (const { name, text } of hostileStrings.filter(
    ({ kind }) => kind === 'mention' || kind === 'markdown',
  )) {
    if (SHOWN.has(name)) continue
    const plain = `# x\n\n| a | b |\n| - | - |\n| c | d |\n\nsee [x](${known})\n`
    const same = () => {
      const markdown = plain.replace('| c |', `| ${text} |`).replace('see', `${text}\n\n${text} see`)
      assert.deepEqual(blocks(read(markdown, null, name)), blocks(read(plain, null, name)))
    }
    assert.throws(same, { name: 'AssertionError' }, `${name} is not seen: ${text.slice(0, 80)}`)
  }
})

/** Each string in one of them; in the full tests in all. */
for (const [third, [name, state]] of Object.entries({
  stuck: states.stuck,
  error: states.error,
  working: states.working,
}).entries()) {
  if (state === undefined) continue
  test(`comment, summary, pull request and checks parse to text only: ${name}`, () => {
    const readings = (text: string, poison: typeof poisoned) => {
      const given = poison(state, text)
      const known = facts(text)
      const what = `${name} with ${JSON.stringify(text.slice(0, 60))}`
      const comment = read(stickyComment(given, known), marker('sticky', 'auth'), `comment: ${what}`)
      const body = read(pullRequestBody(given, known), marker('pull', 'auth'), `body: ${what}`)
      const summary = read(jobSummary(given, known), null, `summary: ${what}`)
      for (const check of [
        rollupCheck(given, known),
        storyCheck(given, given.prd.userStories[2]?.id ?? '', known),
      ]) {
        read(check.summary, null, `${check.name}: ${what}`)
        read(check.text, null, `${check.name}: ${what}`)
      }
      return [comment, body, summary].map(blocks)
    }
    for (const poison of [poisoned, poisonedIds]) {
      const expected = readings('x', poison)
      for (const { text } of every(3, hostileStrings, third))
        assert.deepEqual(readings(text, poison), expected, text.slice(0, 60))
    }
  })
}

test('an address becomes a link on one line, or stays text', () => {
  for (const { name, text } of hostileStrings) {
    const made = link('x', `${REPOSITORY}/${text}`)
    if (made !== 'x') read(`${made}\n`, null, name)
    assert.doesNotMatch(made, /[\s<>"`|]/, name)
    assert.ok(link('x', text) === 'x' || /^https?:\/\/[^\s]+$/i.test(text), name)
  }
  assert.equal(link('x', `${REPOSITORY}/a(b)|c`), `[x](${REPOSITORY}/a%28b%29%7Cc)`)
})

test('replies parse to text only', () => {
  const expected = blocks(read(unchangedReply('x', 'x'), null, 'x'))
  for (const { name, text } of hostileStrings) {
    assert.deepEqual(blocks(read(unchangedReply(text, text), null, name)), expected)
  }
  read(helpReply(), null, 'help')
})
