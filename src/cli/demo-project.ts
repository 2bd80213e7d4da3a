// The demo's sample project, its stories, and its scripted agent, which edits files and says what it did. It claims to be done
// even when it is wrong: its first try at US-002 is.
import { writeFiles } from './write-files.ts'

export const FEATURE = 'units'

const CONVERT = `/** Converts metres to feet. */
export function metresToFeet(metres) {
  return metres / 0.3048
}
`

const TEST = `import assert from 'node:assert/strict'
import test from 'node:test'
import { metresToFeet } from '../src/convert.mjs'

test('a foot is 0.3048 metres', () => {
  assert.equal(metresToFeet(0.3048), 1)
})
`

const STORIES = [
  {
    id: 'US-001',
    title: 'Convert kilograms to pounds',
    description: 'As a cook, I want pounds, so that I can read old recipes.',
    acceptanceCriteria: ['kilogramsToPounds(0.45359237) is 1', 'a test shows it'],
    priority: 1,
  },
  {
    id: 'US-002',
    title: 'Convert Celsius to Fahrenheit',
    description: 'As a traveller, I want Fahrenheit, so that I know what to wear.',
    acceptanceCriteria: [
      'celsiusToFahrenheit(100) is 212',
      'celsiusToFahrenheit(0) is 32',
      'a test shows both',
    ],
    priority: 2,
  },
]

/** By story: the test that shows each criterion, by its name. */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  'US-001': ['a pound is 0.45359237 kilograms', 'a pound is 0.45359237 kilograms'],
  'US-002': ['water boils at 212 F', 'water freezes at 32 F', 'water freezes at 32 F'],
}

/** What the judge names: the test of each criterion. */
function evidence(): string {
  const lines = Object.entries(TESTS).flatMap(([id, names]) =>
    names.map((name, at) => `<ralph>EVIDENCE:${id}#${at + 1} test ${name}</ralph>`),
  )
  return lines.join('\n')
}

/** Path to text, as the demo begins. */
export const PROJECT: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify({ name: 'units', version: '1.0.0', type: 'module', private: true }, null, 2)}\n`,
  'README.md': '# units\nA small converter.\n',
  'src/convert.mjs': CONVERT,
  'test/convert.test.mjs': TEST,
  [`.ralph/2026-01-31-${FEATURE}/prd.json`]: `${JSON.stringify(
    {
      $schema: 'https://raw.githubusercontent.com/ralph/action/v1/schemas/prd.schema.json',
      schemaVersion: 2,
      project: 'Units',
      description: 'Converts units.',
      userStories: STORIES,
    },
    null,
    2,
  )}\n`,
}

const POUNDS = `
/** Converts kilograms to pounds. */
export function kilogramsToPounds(kilograms) {
  return kilograms / 0.45359237
}
`

const POUNDS_TEST = `import assert from 'node:assert/strict'
import test from 'node:test'
import { kilogramsToPounds } from '../src/convert.mjs'

test('a pound is 0.45359237 kilograms', () => {
  assert.equal(kilogramsToPounds(0.45359237), 1)
})
`

function fahrenheit(factor: string): string {
  return `
/** Converts degrees Celsius to degrees Fahrenheit. */
export function celsiusToFahrenheit(celsius) {
  return (celsius * ${factor} + 32
}
`
}

const FAHRENHEIT_TEST = `import assert from 'node:assert/strict'
import test from 'node:test'
import { celsiusToFahrenheit } from '../src/convert.mjs'

test('water boils at 212 F', () => {
  assert.equal(celsiusToFahrenheit(100), 212)
})

test('water freezes at 32 F', () => {
  assert.equal(celsiusToFahrenheit(0), 32)
})
`

/** What the agent says at an attempt, and the files that it writes. */
type Turn = { says: string[]; files: Readonly<Record<string, string>>; learning?: string }

/** By story: its attempts. */
const TURNS: Readonly<Record<string, readonly Turn[]>> = {
  'US-001': [
    {
      says: ['Reading src/convert.mjs', 'Adding kilogramsToPounds and its test'],
      files: { 'src/convert.mjs': CONVERT + POUNDS, 'test/pounds.test.mjs': POUNDS_TEST },
      learning: 'Converters live in src/convert.mjs, a test file for each unit in test/',
    },
  ],
  'US-002': [
    {
      says: ['Adding celsiusToFahrenheit and its test'],
      files: {
        'src/convert.mjs': CONVERT + POUNDS + fahrenheit('5) / 9'),
        'test/fahrenheit.test.mjs': FAHRENHEIT_TEST,
      },
    },
    {
      says: ['The gate says 100 C must be 212 F: the factor was upside down'],
      files: { 'src/convert.mjs': CONVERT + POUNDS + fahrenheit('9) / 5') },
    },
  ],
}

/** The agent, as its own process. Gives its exit code. */
export async function demoAgent(env: Readonly<Record<string, string | undefined>>): Promise<number> {
  for await (const _chunk of process.stdin) {
    // The prompt: a script needs none of it.
  }
  const say = (line: string) => process.stdout.write(`${line}\n`)
  if (env.RALPH_MODE === 'verify') {
    say(`Every criterion has a test, and every test passes.\n${evidence()}\n<ralph>VERIFIED</ralph>`)
    return usage(900, 60)
  }
  const turns = TURNS[env.RALPH_STORY_ID ?? ''] ?? []
  const turn = turns[Number(env.RALPH_ATTEMPT ?? '1') - 1] ?? turns.at(-1)
  for (const text of turn?.says ?? []) say(text)
  for (const path of await writeFiles('.', turn?.files ?? {})) say(`Edit ${path}`)
  if (turn?.learning !== undefined) say(`<ralph>LEARNING:${turn.learning}</ralph>`)
  say('<ralph>DONE</ralph>')
  return usage(1200, 340)
}

function usage(inputTokens: number, outputTokens: number): number {
  const costUsd = (inputTokens * 3 + outputTokens * 15) / 1e6
  process.stdout.write(`${JSON.stringify({ usage: { inputTokens, outputTokens, costUsd } })}\n`)
  return 0
}
