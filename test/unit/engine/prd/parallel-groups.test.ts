// parallel_group of ralphy: which story waits for which.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePrd } from '../../../../src/engine/prd/parse.ts'

function parsed(...tasks: object[]) {
  const result = parsePrd(JSON.stringify({ tasks }), 'prd.json')
  assert.ok(result.ok, JSON.stringify(result))
  const { prd, notes } = result
  const order = Object.fromEntries(
    prd.userStories.map(({ title, dependsOn }) => [title, dependsOn.join(' ')]),
  )
  return { prd, order, notes: notes.filter((one) => one.includes('parallel_group')) }
}

const task = (title: string, group?: unknown, more: object = {}) => ({
  title,
  ...(group === undefined ? {} : { parallel_group: group }),
  ...more,
})

test('parallel groups: a story depends on all of the next lower group, and one without a group on none', () => {
  const { prd, order, notes } = parsed(
    ...[task('c1', 5), task('a1', 1), task('free'), task('a2', 1, { completed: true }), task('c2', 5)],
    ...[task('d', 7), task('zero', 0)],
  )
  assert.deepEqual(order, {
    ...{ a1: '', a2: '', free: '', zero: '' },
    ...{ c1: 'US-002 US-004', c2: 'US-002 US-004', d: 'US-001 US-005' },
  })
  assert.deepEqual(notes, [
    'Ralph treats parallel_group as a sequence: 3 stories wait for the previous group.',
  ])
  assert.deepEqual(
    prd.userStories.filter(({ extra }) => extra !== undefined).map(({ title }) => title),
    ['zero'],
  )
})

test('parallel groups are ignored with dependsOn, with groups that are no numbers, and with too many pairs', () => {
  const own = parsed(task('a', 1, { id: 'A', dependsOn: ['B'] }), task('b', 2, { id: 'B' }))
  assert.deepEqual(own.order, { a: 'B', b: '' })
  const word = parsed(task('a', 1), task('b', 'second'))
  assert.deepEqual(word.order, { a: '', b: '' })
  const many = parsed(...Array.from({ length: 240 }, (_, at) => task(`t${at}`, at % 2 === 0 ? 1 : 2)))
  assert.ok(many.prd.userStories.every(({ dependsOn }) => dependsOn.length === 0))
  for (const { prd, notes } of [own, word, many]) {
    assert.match(notes.join('\n'), /^Ralph does not read parallel_group here/)
    assert.equal(prd.userStories[0]?.extra?.parallel_group, 1)
  }
})

test('parallel groups become dependencies once, not again on the next read', () => {
  const { prd } = parsed(task('a', 1), task('b', 2))
  const free = prd.userStories.map((story) => ({ ...story, dependsOn: [] }))
  const again = parsePrd(JSON.stringify({ ...prd, userStories: free }), 'prd.json')
  assert.ok(again.ok)
  assert.deepEqual(
    again.prd.userStories.map(({ dependsOn }) => dependsOn),
    [[], []],
  )
})
