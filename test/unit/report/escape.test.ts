// Hostile text comes out as text: never as markup, a mention, a marker, a graph or a terminal sequence.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findInvisible, oneLine, sanitizeText, truncate } from '../../../src/engine/model/text.ts'
import {
  code,
  codeBlock,
  markdownText,
  mermaidText,
  terminalText,
  titleText,
} from '../../../src/report/escape.ts'
import { assertHarmless, assertVisible, corpus, EMOJI, shapeOf } from './structure.ts'

const hostile = corpus()

test('the corpus of hostile texts is large', () => {
  assert.ok(hostile.length >= 150)
})

test('markdownText stays text in a paragraph, a table cell, an item, a heading and a summary', () => {
  for (const text of hostile) {
    const shown = markdownText(text)
    for (const place of [
      shown,
      `| a | b |\n| :-- | :-- |\n| ${shown} | ${shown} |`,
      `- ${shown}`,
      `- [x] ${shown}`,
      `### ${shown}`,
      `**${shown}**`.replace('****', ''),
      `<details><summary>${shown}</summary>\n\nx\n\n</details>`,
    ]) {
      const shape = assertHarmless(place, null, [], JSON.stringify(text.slice(0, 60)))
      assert.equal(shape.headings, place.startsWith('### ') ? 1 : 0)
    }
    assert.ok(!/["\\$*~]|\b_|_\b|__/.test(shown.replace(/(?<=[\p{L}\p{N}])_(?=[\p{L}\p{N}])/gu, '')), text)
  }
})

test('markdownText shows every character that is not hidden', () => {
  const entities = (text: string) =>
    text
      .replace(/&#(\d+);/g, (_all, digits: string) => String.fromCharCode(Number(digits)))
      .replaceAll('\u200b', '')
  for (const text of hostile) assert.equal(entities(markdownText(text)), oneLine(text))
})

test('markdownText on examples', () => {
  assert.equal(markdownText('a | <b> & `c`'), 'a &#124; &#60;b&#62; &#38; &#96;c&#96;')
  assert.equal(markdownText('@octocat closes #1'), '@\u200boctocat closes #\u200b1')
  assert.equal(
    markdownText('see https://x.test and www.x.test, GH-7'),
    'see https:\u200b//x.test and www\u200b.x.test, GH-\u200b7',
  )
  assert.equal(
    markdownText('snake_case _it_ __b__ a_'),
    'snake_case &#95;it&#95; &#95;&#95;b&#95;&#95; a&#95;',
  )
  assert.equal(markdownText('1. a'), '1&#46; a')
  assert.equal(markdownText('- a'), '&#45; a')
  assert.equal(markdownText('  two\n lines '), 'two lines')
  assert.equal(markdownText('plain text, as it is: 100 % (really)!'), 'plain text, as it is: 100 % (really)!')
})

test('codes of emoji are shown as text, line numbers and code unchanged', () => {
  for (const escaped of [markdownText, titleText]) {
    assert.equal(escaped(':white_check_mark: x'), ':\u200bwhite_check_mark: x')
    assert.equal(escaped(':x:+1:100:tada:'), ':\u200bx:\u200b+1:\u200b100:\u200btada:')
    for (const plain of ['src/a.ts:12:5: no', 'at 10:30:15', 'feat: a: b', 'a:b'])
      assert.equal(escaped(plain), plain)
  }
  for (const text of hostile) assert.doesNotMatch(titleText(text), EMOJI)
  assert.equal(code(':tada: x'), '`:tada: x`')
  assert.equal(codeBlock(':tada: x', 100), '```text\n:tada: x\n```')
})

test('plainText is one limited line without hidden characters', () => {
  for (const text of hostile) {
    const line = oneLine(text, 50)
    assertVisible(line, JSON.stringify(text.slice(0, 60)))
    assert.ok(line.length <= 50 && !line.includes('\n') && line === line.trim(), JSON.stringify(line))
  }
})

test('a terminal sequence is removed with its payload, an unfinished one alone', () => {
  assert.equal(oneLine('\u001b[31mred\u001b[0m'), 'red')
  assert.equal(oneLine('\u001b]8;;https://evil.test\u0007link\u001b]8;;\u0007'), 'link')
  assert.equal(oneLine('\u001b]0;title\u001b\\x'), 'x')
  assert.equal(oneLine('\u009b2Jx'), 'x')
  assert.equal(oneLine('\u001b]unfinished and the rest'), 'unfinished and the rest')
})

test('joiners, variation selectors and marks that scripts and emoji need are kept', () => {
  for (const text of ['👨‍👩‍👧', '❤️', '1️⃣', '🇩🇪', 'می‌خواهم', 'é', '日本語', 'שלום'])
    assert.equal(oneLine(text), text)
  for (const text of ['❤️‍🔥', '🧑🏽‍💻', '🏳️‍🌈', 'क्‍ष', 'ශ්‍රී']) assert.equal(oneLine(text), text)
  assert.equal(oneLine('a\u200d b\ufe0f'), 'a b')
  assert.equal(oneLine('\ud800x'), '\ufffdx')
  assert.equal(oneLine(`e${'\u0301'.repeat(50)}x`), `e${'\u0301'.repeat(5)}x`)
})

test('invisible characters are counted by kind, with the place of the first', () => {
  const text = 'a😀\u{e0041}\u{e0042}\u202eb\u200bc\u200dd1\ufe0f2\u001b[0m\ud800\u00ad\r\n\t'
  assert.deepEqual(findInvisible(text), [
    { kind: 'tag character', count: 2, at: 3 },
    { kind: 'bidirectional control', count: 1, at: 5 },
    { kind: 'zero-width character', count: 2, at: 7 },
    { kind: 'variation selector', count: 1, at: 12 },
    { kind: 'control character', count: 1, at: 14 },
    { kind: 'unpaired surrogate', count: 1, at: 18 },
    { kind: 'invisible character', count: 1, at: 19 },
  ])
  for (const seen of ['', 'plain\r\n', '👨‍👩‍👧', 'می‌خواهم', 'שלום']) assert.deepEqual(findInvisible(seen), [])
  assert.equal(sanitizeText('a\u{e0041}\u200cb\u2028c'), 'ab\nc')
})

test('cut never splits a surrogate pair, and counts its ellipsis', () => {
  assert.equal(truncate('abcdef', 4), 'abc…')
  assert.equal(truncate('ab😀cd', 4), 'ab…')
  assert.equal(truncate('abc', 3), 'abc')
  for (const text of hostile) assert.ok(truncate(text, 7).length <= 7)
})

test('titleText is limited, without mentions and markup', () => {
  for (const text of hostile) {
    const title = titleText(text, 40)
    assert.ok(title.length <= 40 && !/@[\w-]|#\d/.test(title), title)
    assertVisible(title, title)
  }
})

test('code is one span on one line, also in a table', () => {
  for (const text of hostile) {
    const span = code(text)
    assert.ok(span === '' || /^`[^`|\n]+`$/.test(span), JSON.stringify(span))
  }
})

test('codeBlock is one closed fence within its limit', () => {
  for (const text of hostile) {
    for (const most of [200, 1000, 6000]) {
      const block = codeBlock(text, most)
      assert.ok(block.length <= most, `${block.length} > ${most}: ${text.slice(0, 40)}`)
      const shape = shapeOf(block)
      assert.equal(shape.fences.length, 1)
      assert.deepEqual(shape.prose, [])
      assert.ok(!/<!--\s*ralph/i.test(block))
    }
  }
})

test('codeBlock keeps the most telling lines and the end, and marks what is cut', () => {
  const text = `FIRST\n${'x\n'.repeat(5000)}Error: the cart is empty\n${'x\n'.repeat(5000)}LAST`
  const block = codeBlock(text, 1000)
  assert.match(block, /\n\[\.\.\.\]\n[\s\S]*Error: the cart is empty[\s\S]*\n\[\.\.\.\]\n[\s\S]*LAST\n```$/)
  assert.equal(codeBlock('a\n\n  b\t c  \n', 100), '```text\na\n\n  b\t c\n```')
  assert.ok(codeBlock('````js', 100).startsWith('`````text\n````js'))
})

test('mermaidText fits a quoted label', () => {
  for (const text of hostile) {
    const label = mermaidText(text)
    assert.match(label, /^(?:[\p{L}\p{N}\p{M}\p{Emoji_Presentation} ,!?'%…–-]|#\d+;)*$/u)
    assert.ok(!label.includes('ﬂ') && !label.startsWith('-'))
  }
  assert.equal(mermaidText('"]; end'), '#34;#93;#59; end')
})

test('terminalText is one line without terminal sequences and workflow commands', () => {
  for (const text of hostile) {
    const line = terminalText(text)
    assertVisible(line, JSON.stringify(text.slice(0, 60)))
    assert.ok(
      !line.includes('##[') && !line.trim().startsWith('::') && !line.includes('\n'),
      JSON.stringify(line),
    )
  }
})

test('every kind of line end ends a line of text', () => {
  assert.equal(sanitizeText('a\rb\r\nc\nd'), 'a\nb\nc\nd')
  assert.equal(oneLine('a\u2028b\u2029c\vd\fe\u0085f\rg\nh'), 'a b c d e f g h')
})

test('a megabyte of text is escaped in limited time', () => {
  const before = process.cpuUsage()
  for (const part of ['\u001b]', '\u001b[', '@', '`', '\u202e', 'a\u0301', '<!-- ', ' \n']) {
    const text = part.repeat(Math.ceil(1_000_000 / part.length))
    markdownText(text)
    codeBlock(text, 5000)
    terminalText(text)
    mermaidText(text)
    sanitizeText(text)
  }
  const { user } = process.cpuUsage(before)
  assert.ok(user < 4_000_000, `${user / 1000} ms`)
})
