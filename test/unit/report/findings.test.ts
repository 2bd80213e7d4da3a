// What a person has to look at before believing a run stands in the first lines of every surface; and "every story passed its gates"
// only where that is so.
import assert from 'node:assert/strict'
import test from 'node:test'
import { describeCompletion } from '../../../src/engine/how-passed.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { findingLines, findingsOf } from '../../../src/report/findings.ts'
import { headline } from '../../../src/report/headline.ts'
import { renderReport } from '../../../src/report/html/report-page.ts'
import { viewOf } from '../../../src/report/view.ts'
import { jobSummary, pullRequestBody, rollupCheck, stickyComment, storyCheck } from './rendered.ts'
import { complete, limits, NOW, record } from './samples.ts'

const facts = { repositoryUrl: 'https://github.com/acme/shop', runUrl: null, limits, now: NOW, notes: [] }

/** The state with these remarks of the guard, by story. */
function remarked(remarks: Readonly<Record<string, readonly string[]>>, state = complete()): State {
  const records = Object.entries(remarks).map(([id, own]) => [
    id,
    record({ ...state.records[id], remarks: [...own] }),
  ])
  return { ...state, records: { ...state.records, ...Object.fromEntries(records) } }
}

const FEW = remarked({
  'US-002': ['package.json (gate test): "test" is true'],
  'US-003': ['2 tests were skipped'],
})
const MANY = remarked({
  'US-001': ['a1', 'a2', 'a3', 'a4'],
  'US-002': ['b1', 'b2'],
  'US-003': ['c1', 'c2'],
})

/** The story passed in this way. */
function passedAs(ids: readonly string[], how: 'unchanged' | 'ungated' | null, state = complete()): State {
  const userStories = state.prd.userStories.map((story) => {
    const { lastResult } = story
    if (!ids.includes(story.id) || lastResult === null) return story
    const passed = how === null ? { imported: true } : { how }
    return { ...story, lastResult: { ...lastResult, ...passed } }
  })
  return { ...state, prd: { ...state.prd, userStories } }
}

test('findings are in the first lines of comment, pull request, summary and checks, before every fold', () => {
  const surfaces = {
    comment: stickyComment(FEW, facts),
    summary: jobSummary(FEW, facts),
    pull: pullRequestBody(FEW, facts),
    check: rollupCheck(FEW, facts).summary,
  }
  for (const [name, text] of Object.entries(surfaces)) {
    const lines = text.split('\n').slice(0, 8)
    const at = lines.findIndex((line) => line.includes('2 findings'))
    assert.ok(at >= 0, `${name}: ${lines.join('\n')}`)
    assert.match(
      lines.slice(at).join('\n'),
      /\*\*US-002\*\* package.json \(gate test\): &#34;test&#34; is true\n/,
      name,
    )
    assert.match(lines.slice(at).join('\n'), /\*\*US-003\*\* 2 tests were skipped/, name)
    const fold = text.indexOf('<details')
    assert.ok(fold === -1 || text.indexOf('2 findings') < fold, name)
  }
  const page = renderReport(viewOf(FEW, facts))
  const found = page.indexOf('2 findings')
  assert.ok(found > 0 && found < page.indexOf('class="progress"'), 'before the bar of the report')
  assert.match(storyCheck(FEW, 'US-002', facts).summary, /&#34;test&#34; is true/)
  assert.doesNotMatch(storyCheck(FEW, 'US-001', facts).summary, /finding|is true/)
})

test('at most five findings are shown, one of each story first, with the number of the rest', () => {
  const { shown, more } = findingsOf(MANY)
  assert.deepEqual(
    shown.map(({ storyId, text }) => `${storyId} ${text}`),
    ['US-001 a1', 'US-002 b1', 'US-003 c1', 'US-001 a2', 'US-002 b2'],
  )
  assert.equal(more, 3)
  for (const text of [
    stickyComment(MANY, facts),
    pullRequestBody(MANY, facts),
    renderReport(viewOf(MANY, facts)),
  ]) {
    assert.match(text, /8 findings/)
    assert.match(text, /and 3 more/)
  }
  assert.deepEqual(findingLines(findingsOf(MANY)).slice(-1), ['and 3 more: ralph report has all of them'])
  assert.equal(findingLines(findingsOf(MANY)).length, 6)
})

test('a finding is one short line, with any text, and says where the rest is', () => {
  const text = stickyComment(remarked({ 'US-002': [`${'long '.repeat(100)}\n# @octocat <b>`] }), facts)
  const line = text.split('\n').find((one) => one.includes('long long')) ?? assert.fail(text)
  assert.ok(line.length < 300, line)
})

test('findings link to the page of the checks, if the server has one', () => {
  assert.match(
    stickyComment(FEW, { ...facts, hasChecksPage: true }),
    /the check of each story has the details\]\(https:\/\/github\.com\/acme\/shop\/pull\/12\/checks\)/,
  )
  const pullUrl = 'https://git.acme.test/acme/shop/pulls/12'
  const text = stickyComment({ ...FEW, github: { ...FEW.github, pullUrl } }, facts)
  assert.match(text, /\(the check of each story has the details\)/)
  assert.doesNotMatch(text, /\/checks/)
})

test('a flaky gate and remarks of the final verification are findings, a story that has not passed has none', () => {
  const state = remarked({ 'US-002': ['b1'] })
  const userStories = state.prd.userStories.map((story) =>
    story.id === 'US-002' ? { ...story, passes: false } : story,
  )
  assert.deepEqual(findingsOf({ ...state, prd: { ...state.prd, userStories } }).shown, [])
  const judged = { ...complete(), verification: { ...complete().verification, remarks: ['2 tests fewer'] } }
  assert.deepEqual(
    findingsOf(judged).shown.map(({ text }) => text),
    ['final verification: 2 tests fewer'],
  )
  const gates = [
    { ...(state.records['US-001']?.gates[0] ?? assert.fail()), name: 'unit', flaky: true as const },
  ]
  const flaky = { ...complete(), records: { 'US-001': record({ ...complete().records['US-001'], gates }) } }
  assert.match(
    findingsOf(flaky).shown[0]?.text ?? '',
    /gate unit is flaky: it failed and passed on the same code/,
  )
})

test('"every story passed its gates" is shown only when it is true', () => {
  assert.equal(describeCompletion(complete()), 'every story passed its gates')
  const total = complete().prd.userStories.length
  const one = passedAs(['US-002'], 'unchanged')
  assert.equal(
    describeCompletion(one),
    `${total - 1} stories passed their gates, 1 was accepted on a judge's word`,
  )
  assert.equal(headline(one).text, `Complete: ${total} of ${total} stories pass, 1 on a judge's word`)
  const mixed = passedAs(['US-001'], 'ungated', passedAs(['US-003'], null, one))
  assert.equal(
    describeCompletion(mixed),
    `${total - 3} stories passed their gates, 1 was accepted on a judge's word, 1 had passed before this run, and no gate of this run has checked it, 1 passed without a gate`,
  )
  assert.equal(
    headline(mixed).text,
    `Complete: ${total} of ${total} stories pass, 1 on a judge's word, 1 from before the run, 1 without a gate`,
  )
  const ids = complete().prd.userStories.map(({ id }) => id)
  assert.equal(
    describeCompletion(passedAs(ids, 'unchanged')),
    `no story passed its gates, ${total} were accepted on a judge's word`,
  )
  assert.match(
    pullRequestBody(one, facts),
    /- 1 story passed on the word of a judge: nothing was changed for it\.\n/,
  )
  assert.doesNotMatch(pullRequestBody(complete(), facts), /judge's word/)
  for (const state of [one, mixed]) {
    const page = renderReport(viewOf(state, facts))
    for (const text of [page, stickyComment(state, facts), rollupCheck(state, facts).title])
      assert.match(text, /1 on a judge(?:'|&#39;|&#x27;)s word/)
  }
})
