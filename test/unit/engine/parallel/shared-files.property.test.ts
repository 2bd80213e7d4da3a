// Stories that are known to change the same file are not in work together, whatever was known first; and none waits for ever.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Event } from '../../../../src/engine/model/event.ts'
import type { Story } from '../../../../src/engine/model/feature.ts'
import type { State } from '../../../../src/engine/model/state.ts'
import { nextRunStep } from '../../../../src/engine/parallel-steps.ts'
import { newStory } from '../../../../src/engine/prd/schema.ts'
import { coveringPaths } from '../../../../src/engine/prd/touches.ts'
import { reduce } from '../../../../src/engine/reduce.ts'
import { canBeginBeside } from '../../../../src/engine/state/shared-files.ts'
import { parseState } from '../../../../src/engine/stored-state.ts'
import { assertGrowth } from '../../growth.ts'
import { runs } from '../../runs.ts'
import { built, limitsWith, NOW, session, stateOf } from '../samples.ts'

const folder = fc.constantFrom('src', 'src/cart', 'src/user', 'db', 'app/[id]')
const file = fc
  .tuple(folder, fc.constantFrom('a.ts', 'b.ts', 'deep/c.ts'))
  .map(([above, name]) => `${above}/${name}`)
const paths = fc.array(fc.oneof(folder, file), { maxLength: 3 })

const isIn = (path: string, above: string) => above === '' || `${path}/`.startsWith(`${above}/`)
const meet = (some: readonly string[], others: readonly string[]) =>
  some.some((one) => others.some((other) => isIn(one, other) || isIn(other, one)))

const limits = limitsWith({ maxParallel: 4, finalVerification: false })

/** Stories with what the plan says, and what attempts of theirs then changed. */
const drafts = fc.array(fc.record({ planned: paths, changed: fc.array(file, { maxLength: 3 }) }), {
  minLength: 2,
  maxLength: 6,
})

function storyOf(planned: readonly string[], at: number): Story {
  return { ...newStory({ id: `US-${at}`, title: `story ${at}` }), extra: { touches: [...planned] } }
}

/** The state after each story had an attempt that was given back, with its candidate's files known. */
function learnedState(all: readonly { planned: string[]; changed: string[] }[]): State {
  const stories = all.map(({ planned }, at) => storyOf(planned, at))
  const events = all.flatMap(({ changed }, at): Event[] => {
    const storyId = `US-${at}`
    return [
      { kind: 'reserved', storyId, at: NOW },
      { kind: 'worked', storyId, session: session(), at: NOW },
      { kind: 'guarded', storyId, candidate: built(`c${at}`), touched: changed, at: NOW },
      { kind: 'interrupted', spent: null, at: NOW },
      { kind: 'returned', storyId, kept: null, at: NOW },
    ]
  })
  const start = stateOf(stories, { published: 'base' })
  const end = events.reduce((state, event) => reduce(state, event, limits), start)
  return { ...end, job: start.job }
}

test('two stories known to change a same file are not begun at the same time', () => {
  fc.assert(
    fc.property(drafts, (all) => {
      const state = learnedState(all)
      const known = all.map(({ planned, changed }) => [...planned, ...changed])
      const stories = state.prd.userStories
      for (const [at, story] of stories.entries())
        for (const [other, beside] of stories.entries()) {
          const isFree = canBeginBeside(state, [beside])(story)
          if (at === other || meet(known[at] ?? [], known[other] ?? [])) assert.equal(isFree, false)
          assert.equal(isFree, canBeginBeside(state, [story])(beside), 'it is the same for both')
        }
      const all4 = canBeginBeside(state, stories.slice(1))(stories[0] ?? assert.fail())
      const each = stories.slice(1).every((one) => canBeginBeside(state, [one])(stories[0] ?? assert.fail()))
      assert.equal(all4, each)
    }),
    runs(300),
  )
})

test('stories without a common file, and without an earlier conflict, run at the same time', () => {
  const free = (one: string[], other: string[]) => {
    const [first, second] = [storyOf(one, 0), storyOf(other, 1)]
    return canBeginBeside(stateOf([first, second]), [first])(second)
  }
  assert.ok(free(['src/cart/'], ['src/cart.ts']))
  assert.ok(free([], ['src']))
  assert.ok(free(['app/[id]/page.tsx'], ['app/[slug]/page.tsx']))
  for (const [one, other] of [
    ['src/cart/', 'src/cart/a.ts'],
    ['./src/**', 'src/a.ts'],
    ['src/*/a.ts', 'src/b'],
    ['**', 'README.md'],
    ['/src', 'src/a.ts'],
  ] as const)
    assert.equal(free([one], [other]), false, `${one} and ${other}`)
})

test('files that a commit changed also count for stories of the same folder', () => {
  const all = [
    { planned: ['src/cart/'], changed: ['src/cart/a.ts', 'db/schema.sql'] },
    { planned: ['src/cart/b.ts'], changed: [] },
    { planned: ['db/'], changed: [] },
    { planned: ['src/user/'], changed: [] },
  ]
  const state = learnedState(all)
  const [, total, database, user] = state.prd.userStories
  assert.deepEqual(state.records['US-0']?.touched, ['db/schema.sql'])
  assert.ok(total && database && user)
  assert.equal(canBeginBeside(state, [database])(total), false)
  assert.equal(canBeginBeside(state, [total])(database), false)
  assert.equal(canBeginBeside(state, [database])(user), true)
})

test('every story gets its turn whatever paths are known, and alone each may begin', () => {
  fc.assert(
    fc.property(drafts, (all) => {
      let state = learnedState(all)
      const begun: string[] = []
      for (const _ of all) {
        const step = nextRunStep({ ...state, job: { ...state.job, ready: READY } }, limits, NOW)
        assert.equal(step?.kind, 'reserve')
        if (step?.kind !== 'reserve') return
        begun.push(step.storyId)
        const userStories = state.prd.userStories.map((story) =>
          story.id === step.storyId ? { ...story, passes: true } : story,
        )
        state = { ...state, prd: { ...state.prd, userStories } }
      }
      assert.deepEqual(begun.sort(), all.map((_, at) => `US-${at}`).sort())
    }),
    runs(200),
  )
})

const READY = { synced: true, prepared: true, opened: true }

test('at most 50 paths are kept, and they cover every file', () => {
  const segment = fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom('a', 'b', 'c', '.') })
  const deep = fc.array(segment, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('/'))
  const long = fc.string({ minLength: 200, maxLength: 255, unit: fc.constantFrom('x', 'y') })
  const any = fc.oneof(
    { weight: 9, arbitrary: deep },
    { weight: 1, arbitrary: fc.tuple(deep, long, long).map((parts) => parts.join('/')) },
  )
  fc.assert(
    fc.property(fc.array(any, { maxLength: 200, size: 'max' }), (files) => {
      const kept = coveringPaths(files)
      assert.ok(kept.length <= 50)
      assert.ok(kept.every((path) => path.length <= 300))
      for (const one of files)
        assert.ok(
          kept.some((above) => isIn(one, above)),
          one,
        )
      assert.deepEqual(coveringPaths(kept), kept)
    }),
    runs(200),
  )
  assert.deepEqual(coveringPaths([]), [])
  assert.deepEqual(coveringPaths(['b.ts', 'a.ts', 'a.ts']), ['a.ts', 'b.ts'])
  const many = Array.from({ length: 60 }, (_, at) => `src/cart/${at}.ts`)
  assert.deepEqual(coveringPaths([...many, 'README.md']), ['README.md', 'src/cart'])
})

test('the cost of covering paths is not quadratic in their depth', () => {
  const folders = (depth: number) =>
    Array.from({ length: depth }, (_, at) => (at % 2 === 0 ? 'a' : 'b')).join('/')
  const work = (depth: number) =>
    coveringPaths(Array.from({ length: 4000 }, (_, at) => `${folders(depth)}/${at}`))
  assert.deepEqual(work(120), [folders(120)])
  assertGrowth(work, 35)
})

test('paths of conflicts are read back from a saved state, and a state without them is valid', () => {
  const state = learnedState([
    { planned: [], changed: ['a.ts'] },
    { planned: [], changed: [] },
  ])
  const read = parseState(JSON.stringify(state))
  assert.deepEqual(read.records['US-0']?.touched, ['a.ts'])
  assert.equal(read.records['US-1']?.touched, undefined)
})

test('a conflict separates a story from those before it in the train only', () => {
  const stories = ['US-0', 'US-1', 'US-2', 'US-3'].map((id) => newStory({ id, title: id }))
  const reserved = stories.map(({ id }): Event => ({ kind: 'reserved', storyId: id, at: NOW }))
  const finished = ['US-0', 'US-1', 'US-2'].flatMap((storyId): Event[] => [
    { kind: 'worked', storyId, session: session(), at: NOW },
    { kind: 'guarded', storyId, candidate: built(storyId), at: NOW },
  ])
  const failure = { kind: 'conflict' as const, summary: 'the same lines', detail: '' }
  const all: Event[] = [...reserved, ...finished, { kind: 'conflicted', storyId: 'US-1', failure, at: NOW }]
  const state = all.reduce((before, event) => reduce(before, event, limits), stateOf(stories))
  const isFree = canBeginBeside(state, [stories[1] ?? assert.fail()])
  assert.deepEqual(stories.map(isFree), [false, false, true, true])
})
