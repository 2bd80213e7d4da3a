// Which words of a story ask for a page in a browser, and which only sound so.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parsePrd } from '../../../../src/engine/prd/parse.ts'
import { findInterfaceWords } from '../../../../src/engine/prd/user-interface.ts'
import { anyText } from '../../runs.ts'

const wordsOf = (criterion: string) =>
  findInterfaceWords({ title: 'A story', description: '', acceptanceCriteria: [criterion] })

describe('a story that needs a browser check', () => {
  for (const [sentence, words] of [
    ['Verify in browser', 'Verify in browser'],
    ['Verify in browser using dev-browser skill', 'Verify in browser'],
    ['Changes are verified in the browser', 'verified in the browser'],
    ['The chart is visible in a real browser', 'visible in a real browser'],
    ['Check it with the dev-browser', 'dev-browser'],
    ['http://localhost:3000 shows the list', 'http://localhost:3000'],
    ['Open `http://localhost:5173/cart` and add a book', 'http://localhost:5173/cart'],
    ['It answers at localhost:8080', 'localhost:8080'],
    ['A "Save" button stores the form', 'A "Save" button'],
    ['The submit button is disabled while the request runs', 'The submit button'],
    ['Clicking the priority icon opens its list', 'Clicking the priority icon'],
    ['Clicking on "Delete" button asks again', null],
    ['Priority dropdown in the task editor', 'dropdown'],
    ['A tooltip explains the field', 'tooltip'],
    ['The sidebar lists all projects', 'sidebar'],
    ['Shows a toast when it is saved', 'Shows a toast'],
    ['A confirmation dialog asks before deleting', 'confirmation dialog'],
    ['Opens the modal with the details', 'Opens the modal'],
    ['The user is redirected to the login page', 'to the login page'],
    ['The landing page has a hero image', 'landing page'],
    ['Users can switch to dark mode', 'dark mode'],
    ['The total is shown in the UI', 'in the UI'],
    ['A screen reader announces the error', 'screen reader'],
    ['Filter by radio buttons', 'radio buttons'],
    ['Has a responsive layout below 600px', 'responsive layout'],
  ] as const)
    test(sentence, () => {
      const found = wordsOf(sentence)
      assert.ok(found !== null)
      if (words !== null) assert.equal(found, words)
    })
})

describe('a story that needs no browser check', () => {
  for (const sentence of [
    'Add a priority field to the database',
    'The list is sorted by date, 50 to a page',
    'GET http://localhost:8080/api/users returns 200',
    'curl http://localhost:3000/health answers ok',
    'It connects to localhost:5432',
    'redis://localhost:6379 is the default',
    'postgres://localhost:5432/test is used in tests',
    'The server listens on localhost:9090',
    'No UI changes: the API alone',
    'This works without a button',
    'The command does not open a modal dialog',
    'Add a click command group with subcommands',
    'Modal logic formulas are parsed',
    'The GPIO button is debounced',
    'A Slack message has an approve button',
    'The migration adds a table for settings',
    'It sets the cache header by which a browser keeps it',
    'The library works in Node and in browsers',
    'The User-Agent names the browser',
    'Sanitize `<button onclick>` out of the HTML',
    'The form of the answer is JSON',
    'Typecheck passes',
    'Tests pass',
    'Build a menu of flags for the CLI',
    'The endpoint returns the data for the settings page',
    'Rows of the table are locked by the transaction',
    'The frontend team is told by mail',
    'Placeholders in SQL are escaped',
    'An icon font is not bundled',
    'Link rows by their foreign key',
  ])
    test(sentence, () => assert.equal(wordsOf(sentence), null))
})

describe('a prd.json without tags', () => {
  const story = (more: object) => ({
    id: 'US-003',
    title: 'T',
    acceptanceCriteria: ['Verify in browser'],
    ...more,
  })
  const read = (...userStories: object[]) => {
    const parsed = parsePrd(JSON.stringify({ userStories }), 'prd.json')
    assert.ok(parsed.ok)
    return [
      parsed.prd.userStories.map(({ tags }) => tags),
      parsed.notes.filter((note) => /tag ui/.test(note)),
    ]
  }

  test('gives such a story the tag, with a note', () => {
    const other = { id: 'US-004', title: 'T', acceptanceCriteria: ['Tests pass'] }
    assert.deepEqual(read(story({}), other), [[['ui'], []], ["US-003: tag ui, from 'Verify in browser'"]])
  })

  test('keeps tags that people gave or removed', () => {
    assert.deepEqual(read(story({ tags: [] })), [[[]], []])
    assert.deepEqual(read(story({ tags: ['api'] })), [[['api']], []])
    assert.deepEqual(read(story({ labels: ['api'] }))[0], [['api']])
  })

  test('leaves a passed story as it is', () => {
    assert.deepEqual(read(story({ passes: true })), [[[]], []])
  })
})

test('reads any text in linear time', () => {
  fc.assert(fc.property(anyText(), (text) => void wordsOf(text)))
  const took = (text: string) => {
    const start = process.cpuUsage()
    wordsOf(text)
    return process.cpuUsage(start).user
  }
  for (const piece of ['click the ', 'a b ', 'verify ', '"', 'localhost:', 'not ', 'the button of '])
    assert.ok(took(piece.repeat(5000)) < 200_000, piece)
})
