// What a plan session says becomes stories, or a sentence on what is wrong with it; a split loses nothing.
import assert from 'node:assert/strict'
import test, { describe } from 'node:test'
import fc from 'fast-check'
import type { Story } from '../../../../src/engine/model/feature.ts'
import type { Plan, PlanTask } from '../../../../src/engine/model/plan-state.ts'
import {
  newPlan,
  planDigest,
  readProposal,
  storiesDigest,
  withParts,
} from '../../../../src/engine/planning/proposed-plan.ts'
import { newStory, prdSchema } from '../../../../src/engine/prd/schema.ts'
import { emptyRecord } from '../../../../src/engine/state/state-updates.ts'
import { anyText } from '../../runs.ts'

const fresh: PlanTask = { brief: 'b', stories: [], split: null, message: '' }
const block = (value: unknown) => `Words.\n\`\`\`json\n${JSON.stringify(value)}\n\`\`\`\n`
const story = (title: string, more: object = {}) => ({ title, acceptanceCriteria: ['it works'], ...more })

function proposed(words: string, task = fresh) {
  const read = readProposal(words, task)
  assert.ok(read.kind === 'proposed', JSON.stringify(read))
  return read
}

function refused(words: string, task = fresh): string {
  const read = readProposal(words, task)
  assert.ok(read.kind === 'none', JSON.stringify(read))
  return read.message
}

test('the last JSON block of a plan counts, fenced or not, under its own field names or those of prd.json', () => {
  const one = { stories: [story('One')] }
  for (const words of [block(one), JSON.stringify(one), block({ stories: [story('old')] }) + block(one)])
    assert.deepEqual(
      proposed(words).stories.map(({ id, title }) => [id, title]),
      [['US-001', 'One']],
    )
  assert.equal(proposed(block({ userStories: [story('One')] })).stories.length, 1)
  assert.equal(proposed(`${block(one)}\n~~~\nnot json\n~~~`).stories.length, 1)
})

test('a proposed plan passes no story', () => {
  const claims = { passes: true, skipped: true, retries: 7, blocked: true, lastResult: { summary: 'done' } }
  const [only] = proposed(block({ stories: [story('One', claims)] })).stories
  assert.deepEqual(
    [only?.passes, only?.skipped, only?.retries, only?.blocked, only?.lastResult],
    [false, false, 0, false, null],
  )
})

test('an answer without a plan gives an error that the next session can correct', () => {
  assert.match(refused('I have no idea'), /no block of JSON/)
  assert.match(refused(block([1])), /no block of JSON/)
  assert.match(refused(block({ plan: [] })), /no list "stories"/)
  assert.match(refused(block({ stories: [], questions: ['Who may sign in?'] })), /Who may sign in/)
  const cycle = [story('a', { id: 'A', dependsOn: ['B'] }), story('b', { id: 'B', dependsOn: ['A'] })]
  assert.match(refused(block({ stories: cycle })), /A.*B/)
  assert.match(refused(block({ stories: [{ title: 'x' }] })), /criteri/i)
  assert.match(refused(block({ stories: Array.from({ length: 201 }, () => story('s')) })), /201 stories/)
})

test('any answer is read without an error, and hidden characters get into no story', () => {
  fc.assert(fc.property(anyText(), (words) => void readProposal(words, fresh)))
  fc.assert(fc.property(fc.jsonValue(), (value) => void readProposal(block(value), fresh)))
  const [only] = proposed(block({ stories: [story('Pay\u202e \u{e0041}now')] })).stories
  assert.equal(only?.title, 'Pay now')
})

const whole = newStory({
  id: 'US-002',
  title: 'All',
  acceptanceCriteria: ['a', 'b', 'c'],
  dependsOn: ['US-001'],
})
const waits = newStory({ id: 'US-003', title: 'After', dependsOn: ['US-002'] })
const first = newStory({ id: 'US-001', title: 'Before' })
const split: PlanTask = { ...fresh, stories: [first, whole, waits], split: 'US-002' }
const parts = (...criteria: string[][]) =>
  block({ stories: criteria.map((acceptanceCriteria, at) => story(`part ${at}`, { acceptanceCriteria })) })

test('a split puts every criterion into one part, and keeps the order of dependencies around the story', () => {
  const { stories } = proposed(parts(['a', ' B '], ['c']), split)
  assert.deepEqual(
    stories.map(({ id, dependsOn }) => [id, dependsOn]),
    [
      ['US-002-1', ['US-001']],
      ['US-002-2', ['US-002-1']],
    ],
  )
  const prd = prdSchema.parse({ userStories: split.stories })
  const after = withParts(prd, 'US-002', stories)
  assert.deepEqual(
    after.userStories.map(({ id, skipped, dependsOn }) => [id, skipped, dependsOn]),
    [
      ['US-001', false, []],
      ['US-002', true, ['US-001']],
      ['US-002-1', false, ['US-001']],
      ['US-002-2', false, ['US-002-1']],
      ['US-003', false, ['US-002-2']],
    ],
  )
  assert.match(refused(parts(['a'], ['b']), split), /in none of the parts: c/)
  assert.match(refused(parts(['a', 'b'], ['b', 'c']), split), /in 2 parts: b/)
  assert.match(refused(parts(['a', 'b', 'c']), split), /did not split/)
})

describe('an approval covers all text that a session gets', () => {
  const plan: Plan = { ...newPlan(''), phase: 'proposed', context: 'Mind the cache.' }
  const prd = prdSchema.parse({ project: 'p', description: 'd', userStories: [first, whole] })
  const records = {}
  const before = planDigest({ plan, prd, records })
  const digest = (...userStories: Story[]) => planDigest({ plan, prd: { ...prd, userStories }, records })

  const edits: Partial<Story>[] = [
    { id: 'US-009' },
    { title: 'Other' },
    { description: 'Send the keys.' },
    { acceptanceCriteria: [...first.acceptanceCriteria, 'and more'] },
    { dependsOn: ['US-002'] },
    { tags: ['ui'] },
    { priority: 7 },
    { notes: 'and steal' },
    { epicId: 'E-1' },
  ]
  for (const edit of edits)
    test(`of a story, its ${Object.keys(edit)}`, () => {
      assert.notEqual(digest({ ...first, ...edit }, whole), before)
      assert.notEqual(storiesDigest([{ ...first, ...edit }]), storiesDigest([first]), 'in a split, too')
    })

  test("the order of stories, the description and the project's name", () => {
    assert.notEqual(digest(whole, first), before)
    assert.notEqual(planDigest({ plan, prd: { ...prd, description: 'e' }, records }), before)
    assert.notEqual(planDigest({ plan, prd: { ...prd, project: 'q' }, records }), before)
  })

  test('context.md, before and after its commit', () => {
    assert.notEqual(planDigest({ plan: { ...plan, context: 'Mind the queue.' }, prd, records }), before)
    const committed = { ...plan, context: '', committedContext: 'Mind the cache.\n' }
    assert.equal(planDigest({ plan: committed, prd, records }), before)
    assert.notEqual(
      planDigest({ plan: { ...committed, committedContext: 'Mind the queue.' }, prd, records }),
      before,
    )
    assert.notEqual(planDigest({ plan: { ...plan, context: '' }, prd, records }), before)
  })

  test('but not the progress of stories', () => {
    assert.equal(digest({ ...first, passes: true, retries: 2, blocked: true }, whole), before)
    const note = 'skipped: not now'
    const noted = { ...prd, userStories: [{ ...first, notes: note }, whole] }
    assert.equal(
      planDigest({ plan, prd: noted, records: { [first.id]: { ...emptyRecord(), note } } }),
      before,
    )
  })
})

test('long answers, and fences without an end, are read in linear time', () => {
  const took = (text: string) => {
    const start = process.cpuUsage()
    readProposal(text, fresh)
    return process.cpuUsage(start).user
  }
  for (const line of ['```a\n', '~'.repeat(70), '{"a":', '> ```\n']) {
    const [small, large] = [20_000, 200_000].map((size) => line.repeat(Math.ceil(size / line.length)))
    assert.ok(took(large ?? '') < 40 * Math.max(2000, took(small ?? '')), line)
  }
})

test('files that a plan expects a story to change are kept, at most 50, and parts of a split have those of the story', () => {
  const many = Array.from({ length: 60 }, (_, at) => `src/cart/${at}.ts`)
  const touches = (value: unknown) =>
    proposed(block({ stories: [story('One', { touches: value })] })).stories[0]?.extra?.touches
  assert.deepEqual(touches(['./src/cart/', 'db/schema.sql', 7]), ['db/schema.sql', 'src/cart'])
  assert.deepEqual(touches(many), ['src/cart'])
  assert.equal(touches({ a: 1 }), undefined)
  const of = (more: object) => {
    const named = { ...whole, extra: { touches: ['src/cart'] } }
    const stories = [['a', 'b'], ['c']].map((criteria) =>
      story('x', { acceptanceCriteria: criteria, ...more }),
    )
    return proposed(block({ stories }), { ...split, stories: [first, named] }).stories.map(
      ({ extra }) => extra?.touches,
    )
  }
  assert.deepEqual(of({}), [['src/cart'], ['src/cart']])
  assert.deepEqual(of({ touches: ['db'] }), [['db'], ['db']])
})
