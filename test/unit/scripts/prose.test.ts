// The prose linter finds sentences that are known to be bad, in pages, comments and messages, and lets good ones pass.
import assert from 'node:assert/strict'
import { test } from 'node:test'

type Finding = { readonly line: number; readonly rule: string }
type Part = { readonly kind: string; readonly line: number; readonly text: string }
type Prose = {
  lint(text: string, ext?: string): Promise<Finding[]>
  lintSource(source: string, kind: string): Promise<Finding[]>
}
const load = (name: string) => import(new URL(`../../../scripts/${name}`, import.meta.url).href)
const { lint, lintSource } = (await load('prose.mjs')) as Prose
const { extract } = (await load('prose/extract.mjs')) as { extract(source: string): Part[] }

const rulesOf = async (text: string): Promise<string[]> => (await lint(text)).map(({ rule }) => rule)

test('each kind of bad sentence is found, at its line', async () => {
  const bad = {
    'Where a file has a place, the words in its name say nothing.': 'if, when or a place with a noun',
    'It is no wall.': 'is not a',
    'Ask the judge, too.': 'also',
    'It runs beside the gates.': 'next to or besides',
    'The gates are run anew.': 'again',
    'It is ended behind the gates.': 'after (in time)',
    'Commands are taken from writers alone.': 'only, before its noun',
    'The rest stands in the log.': 'is or are',
    'Formatting can mend it.': 'fix',
    'The loop goes on after that.': 'continue',
    'The user is told of it.': 'a sentence with who reports it',
    'Ralph is set up, but for two things.': 'except for, or without',
    'It needs a user of its own.': 'its own, before the noun',
    'Nobody works on it.': 'no one, or who does it',
    'The job hears it later.': 'receives, or learns',
  }
  for (const [sentence, rule] of Object.entries(bad)) {
    assert.deepEqual(await rulesOf(sentence), [rule], sentence)
    assert.deepEqual(
      (await lint(`# Title\n\n${sentence}\n`)).map(({ line }) => line),
      [3],
      sentence,
    )
  }
})

test('a sentence of more than 25 words and a table cell of more than 30 are found', async () => {
  const words = (count: number): string => Array(count).fill('word').join(' ')
  assert.deepEqual(await rulesOf(`${words(25)}. ${words(25)}.`), [])
  assert.deepEqual(await rulesOf(`${words(25)}. ${words(26)}.`), ['long sentence'])
  assert.deepEqual(await rulesOf(`| a | b |\n|---|---|\n| c | ${words(15)}. ${words(15)}. |`), [])
  assert.deepEqual(await rulesOf(`| a | b |\n|---|---|\n| c | ${words(15)}. ${words(16)}. |`), [
    'long table cell',
  ])
})

test('good sentences, code and places pass', async () => {
  for (const text of [
    'Ralph never overwrites what you write in the pull request.',
    'Open the folder where the project is.',
    'There is no key in the log. It is no longer there.',
    '`beside` and `anew` are names.',
    '```\nnobody goes on beside it\n```',
    'Gates that run alone: `alone: true`.',
  ])
    assert.deepEqual(await rulesOf(text), [], text)
})

test('comments and messages of a TypeScript file are read as prose, with their lines', async () => {
  const source = [
    '// First line of a comment that',
    '// goes on in the second.',
    "const name = 'beside'",
    '/** Returns what stands there. */',
    'function say(tell: (text: string) => void, it: string): void {',
    "  tell('the gates of ' + it + ' are red, and nobody knows why that is')",
    '}',
  ].join('\n')
  assert.deepEqual(
    extract(source).map(({ kind, line, text }) => [kind, line, text]),
    [
      ['comments', 1, 'First line of a comment that goes on in the second.'],
      ['comments', 4, 'Returns what stands there.'],
      ['messages', 6, 'the gates of X are red, and nobody knows why that is'],
    ],
  )
  const found = await lintSource(source, 'comments')
  assert.deepEqual(
    found.map(({ line, rule }) => [line, rule]),
    [
      [1, 'continue'],
      [4, 'is or are'],
    ],
  )
  assert.deepEqual(
    (await lintSource(source, 'messages')).map(({ line }) => line),
    [6],
  )
})
