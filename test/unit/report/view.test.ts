// A report as data: what other renderers than today's can rely on.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attempt } from '../../../src/engine/model/attempt.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { findingLines, findingSentences, findingsOf } from '../../../src/report/findings.ts'
import { renderReport } from '../../../src/report/html/report-page.ts'
import { sentence, toMarkdown, toPlainText } from '../../../src/report/sentence.ts'
import { viewOf } from '../../../src/report/view.ts'
import { facts, poisoned } from './poison.ts'
import { complete, justStarted, large, midRun, record, stuck } from './samples.ts'
import { corpus } from './structure.ts'

test('a view is plain data: it survives JSON, whatever the state', () => {
  for (const state of [justStarted(), midRun(), stuck(), complete(), large(60)]) {
    const view = viewOf(state, facts('x'))
    assert.deepEqual(JSON.parse(JSON.stringify(view)), view)
  }
})

test('a view has outcome, stories, attempts, cost, time, gates, remarks, totals and links', () => {
  const view = viewOf(stuck(), facts('x'))
  assert.equal(view.outcome, 'stuck')
  assert.equal(view.tally, '4 of 6 stories pass')
  assert.equal(view.links.run, 'https://github.com/acme/shop/actions/runs/77')
  const blocked = view.stories.find(({ status }) => status === 'blocked')
  assert.equal(view.failed, blocked)
  assert.equal(blocked?.id, 'US-003')
  assert.equal(blocked?.attempts, 3)
  assert.equal(blocked?.ms, 661_500)
  assert.deepEqual(
    blocked?.gates.map(({ name, ok }) => [name, ok]),
    [
      ['typecheck', true],
      ['test', false],
    ],
  )
  assert.deepEqual(
    view.stories.filter(({ status }) => status === 'waiting').map(({ id, aside }) => [id, aside]),
    [['US-006', 'waits for US-003']],
  )
})

test('the limit of jobs is shown where it applies: on a command line each run starts it again', () => {
  const state = midRun()
  const { run } = state.prd
  const later = { ...state, prd: { ...state.prd, run: { ...run, jobs: 41 } } }
  const again = { ...later, control: { ...later.control, jobsBefore: 40 } }
  const jobs = (surface: 'cli' | 'comment') =>
    new Map(viewOf(again, { ...facts('x'), surface }).figures).get('Jobs')
  assert.equal(jobs('comment'), '41 of 75')
  assert.equal(jobs('cli'), '41')
})

test('a view is not escaped: each renderer escapes', () => {
  const text = '<b>`@ann` | &'
  const view = viewOf(poisoned(midRun(), text), facts(text))
  assert.equal(view.description, text)
  assert.equal(view.stories[0]?.title, text)
})

test("a sentence's parts tell Ralph's own text, a command and foreign text apart", () => {
  for (const text of corpus()) {
    const mixed = sentence`Fix it: ${{ text }}, then ${{ code: `ralph retry ${text}`, most: 80 }} or ${{ button: 'Run workflow' }}.`
    const markdown = toMarkdown(mixed)
    assert.match(markdown, /^Fix it: [^\n]*, then `[^`\n]*` or \*Run workflow\*\.$/, JSON.stringify(text))
    assert.doesNotMatch(toPlainText(mixed), /\n|^::|##\[/, JSON.stringify(text))
  }
  const inner = sentence`after ${{ code: 'ralph run' }}`
  assert.equal(toPlainText(sentence`It continues ${inner}.`), 'It continues after ralph run.')
})

test('remarks of the guard and a judge without evidence are findings', () => {
  const state = complete()
  assert.deepEqual(findingLines(findingsOf(state)), [])
  const bare = state.prd.userStories.map(({ lastResult, ...story }) => {
    const { evidence: _named, ...result } = lastResult ?? assert.fail()
    return { ...story, lastResult: result }
  })
  const remarked = { ...state.records['US-002'], remarks: ['package.json (gate test): "test" is true', 'b'] }
  const records = { ...state.records, 'US-002': record(remarked) }
  const doubted = { ...state, records, prd: { ...state.prd, userStories: bare } }
  const blind = 'the judge approved without citing evidence'
  assert.deepEqual(findingLines(findingsOf(doubted)), [
    'US-002: package.json (gate test): "test" is true',
    blind,
    'US-002: b',
  ])
  const view = viewOf(doubted, facts('x'))
  const page = renderReport(view)
  for (const words of ['package.json (gate test)', blind.slice(0, 24), 'b']) {
    assert.ok(
      findingSentences(view.findings)
        .map(toPlainText)
        .some((one) => one.includes(words)),
      words,
    )
    assert.ok(page.includes(`<bdi>${words}`), words)
  }
})

test('a skipped story that had passed is shown with a note that its commits stay on the branch', () => {
  const state = complete()
  const userStories = state.prd.userStories.map((story) =>
    story.id === 'US-001' ? { ...story, passes: false, skipped: true, lastResult: null } : story,
  )
  const { stories } = viewOf({ ...state, prd: { ...state.prd, userStories } }, facts('x'))
  assert.equal(stories[0]?.aside, 'skipped by a person; its commits stay on the branch')
})

test('a story whose candidate waits for gates of the next run is shown so, one in work or given back is not', () => {
  const state = midRun()
  const [{ storyId } = assert.fail('no story is in work')] = Object.values(state.attempts)
  const asideWith = (phase: 'guarded' | 'returned', attempts: State['attempts'] = {}) => {
    const attempt = { storyId, phase } as Attempt
    const paused = { ...state, attempts, waiting: { [storyId]: attempt } }
    return viewOf(paused, facts('x')).stories.find(({ id }) => id === storyId)?.aside ?? ''
  }
  assert.match(asideWith('guarded'), /its change is saved, and its gates run next$/)
  assert.doesNotMatch(asideWith('returned'), /its gates run next/)
  assert.doesNotMatch(asideWith('guarded', state.attempts), /its gates run next/)
})
