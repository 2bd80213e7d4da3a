// Requests for corrections become stories: once each, for the right story, and never over a limit.
import assert from 'node:assert/strict'
import test from 'node:test'
import { storiesIn } from '../../../../src/branch/story-commits.ts'
import { requestsOf } from '../../../../src/engine/corrections/correction-requests.ts'
import {
  addCorrection,
  correctionResult,
  describeCorrections,
  MAX_FOR_ONE,
} from '../../../../src/engine/corrections/corrections.ts'
import { describeHold } from '../../../../src/engine/corrections/holds.ts'
import { countPasses } from '../../../../src/engine/how-passed.ts'
import type { CorrectionReport, CorrectionSource } from '../../../../src/engine/model/correction.ts'
import type { QuestionAnswer } from '../../../../src/engine/model/event.ts'
import type { State } from '../../../../src/engine/model/state.ts'
import { emptyUsage } from '../../../../src/engine/model/usage.ts'
import { nextStep } from '../../../../src/engine/next-step.ts'
import { reduce } from '../../../../src/engine/reduce.ts'
import { mapStory } from '../../../../src/engine/state/state-updates.ts'
import { correctionReply } from '../../../../src/report/correction-replies.ts'
import { storyMessage } from '../../../../src/report/feature-files.ts'
import { tally } from '../../../../src/report/headline.ts'
import { hostileStrings } from '../../../fixtures/hostile-strings.ts'
import { limitsWith, NOW, stateOf, stories } from '../samples.ts'

function thread(id: string, newest = 1, path = 'src/a.ts'): CorrectionReport {
  const one = { id, comment: 1, url: 'http://x', by: 'bob', path, lines: { from: 1, to: 1 }, newest }
  return { source: { kind: 'review', threads: [one] }, text: id, places: [{ path, lines: null }] }
}

const check = (head: string, digest: string): CorrectionSource => ({
  kind: 'check',
  name: 'build',
  head,
  url: '',
  digest,
})

function finished(): State {
  const [one, two] = stories('US-001', 'US-002').map((story) => ({ ...story, passes: true }))
  assert.ok(one && two)
  return stateOf([one, two], { green: 'g', published: 'g' })
}

function add(
  state: State,
  source: CorrectionSource,
  story: string | null = 'US-001',
  maxCorrections = 20,
): State {
  return addCorrection(state, { story, source, text: 'fix it' }, { maxCorrections }, NOW)
}

function withPass(state: State, id: string): State {
  return { ...state, prd: mapStory(state.prd, id, (story) => ({ ...story, passes: true })) }
}

test('threads of one story are one request, and those of others are their own', async () => {
  const reports = [thread('A'), thread('B'), thread('C', 1, 'src/b.ts')]
  const requests = await requestsOf(finished(), reports, async ({ path }) =>
    path === 'src/a.ts' ? 'US-001' : null,
  )
  assert.deepEqual(
    requests.map(({ story, source }) => [
      story,
      source.kind === 'review' && source.threads.map(({ id }) => id),
    ]),
    [
      ['US-001', ['A', 'B']],
      [null, ['C']],
    ],
  )
})

test('sixty threads of one review are bounded: what does not fit into one correction comes with the next', async () => {
  const reports = Array.from({ length: 60 }, (_, index) => thread(`T${index}`))
  let state = finished()
  const sizes: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const [request] = await requestsOf(state, reports, async () => 'US-001')
    if (request === undefined) break
    sizes.push(request.source.kind === 'review' ? request.source.threads.length : 0)
    state = addCorrection(state, request, {}, NOW)
  }
  assert.deepEqual(sizes, [20, 20, 20])
})

test('what was read once is not corrected again, open or ended; a newer comment is', async () => {
  const before = add(finished(), thread('A').source)
  assert.equal(add(before, thread('A').source), before)
  const done = withPass(before, 'FIX-1')
  assert.deepEqual(await requestsOf(done, [thread('A')], async () => null), [])
  assert.equal((await requestsOf(done, [thread('A', 2)], async () => null)).length, 1)
})

test('a thread is corrected three times, then a person decides', () => {
  let state = finished()
  for (let round = 1; round <= MAX_FOR_ONE + 1; round += 1) state = add(state, thread('A', round).source)
  assert.deepEqual(
    state.prd.userStories.slice(2).map(({ id, blocked }) => [id, blocked]),
    [
      ['FIX-1', false],
      ['FIX-2', false],
      ['FIX-3', false],
      ['FIX-4', true],
    ],
  )
})

test('a check that fails in another way each time is corrected three times, then a person decides', () => {
  const outputs = ['a', 'b', 'c', 'd']
  const state = outputs.reduce(
    (so, output, at) => withPass(add(so, check(`h${at}`, output)), `FIX-${at + 1}`),
    finished(),
  )
  const { notes } = state.prd.userStories.at(-1) ?? {}
  assert.deepEqual(
    state.prd.userStories.slice(2).map((one) => one.blocked),
    [false, false, false, true],
  )
  assert.match(notes ?? '', /corrected this 3 times already/)
})

test('max-corrections blocks what exceeds it, and a check with the same output is asked about', () => {
  const full = add(add(finished(), thread('A').source, null, 1), thread('B').source, null, 1)
  assert.equal(full.prd.userStories.at(-1)?.blocked, true)
  assert.match(full.prd.userStories.at(-1)?.notes ?? '', /the limit of 1 corrections/)
  const red = add(withPass(add(finished(), check('h1', 'd')), 'FIX-1'), check('h2', 'd'))
  assert.match(red.prd.userStories.at(-1)?.notes ?? '', /same output/)
  const other = add(withPass(add(finished(), check('h1', 'd')), 'FIX-1'), check('h2', 'e'))
  assert.equal(other.prd.userStories.at(-1)?.blocked, false)
})

test('reports count corrections by what people asked, apart from the stories', () => {
  const two = add(finished(), {
    kind: 'review',
    threads: [thread('A'), thread('B')].flatMap(({ source }) =>
      source.kind === 'review' ? source.threads : [],
    ),
  })
  const state = add(withPass(two, 'FIX-1'), thread('C').source)
  assert.equal(describeCorrections(state), '2 of 3 review threads addressed')
  const blocked = { ...state, prd: mapStory(state.prd, 'FIX-2', (story) => ({ ...story, blocked: true })) }
  assert.equal(tally(blocked), '2 of 3 review threads addressed, 1 needs you; 2 of 2 stories pass')
})

test('the commit names the story, the correction and its source, whatever the texts say', () => {
  for (const { name, text } of hostileStrings) {
    const state = addCorrection(finished(), { story: 'US-002', source: check(text, ''), text }, {}, NOW)
    const message = storyMessage(state, 'FIX-1', 3, (words) => words, text)
    assert.deepEqual(storiesIn(message, 'n'), ['US-002', 'FIX-1'], name)
    const reply = correctionReply(
      { kind: 'blocked', why: text },
      { id: 'FIX-1', words: text, commitUrl: (commit) => commit, summaryUrl: 'https://x.test/1' },
    )
    assert.equal(reply.split('\n').length, 2, name)
    assert.doesNotMatch(reply, /<!--|(?<![\w&])#\d|@\w/, name)
  }
})

test('a finished run is held by requested changes, and by checks only if they are waited for', () => {
  const held = { ...finished(), holds: { changesRequestedBy: ['bob'] } }
  assert.match(describeHold(held, limitsWith()), /^bob requested changes/)
  const waits = limitsWith({ waitsForChecks: true })
  assert.equal(describeHold(finished(), limitsWith()), '')
  assert.equal(describeHold(finished(), waits), 'waiting for checks')
  const checks = (pending: string[], red: string[], head = 'g') =>
    describeHold({ ...finished(), holds: { changesRequestedBy: [], checks: { head, pending, red } } }, waits)
  assert.equal(checks(['build'], []), 'waiting for checks: build')
  assert.equal(checks([], []), '')
  assert.equal(checks([], [], 'earlier'), 'waiting for checks')
  assert.match(checks([], ['build']), /red checks need a person: build/)
})

function question(id: string): CorrectionSource {
  const { source } = thread(id)
  return { kind: 'question', threads: source.kind === 'review' ? source.threads : [] }
}

function answered(state: State, answer: QuestionAnswer): State {
  const event = { kind: 'answered' as const, storyId: 'FIX-1', answer, usage: emptyUsage(), at: NOW }
  return reduce(state, event, limitsWith({}))
}

test('a question is answered by a session of its own, changes no code, and needs no second verification', () => {
  const verification = { ...finished().verification, approved: true }
  const asked = add({ ...finished(), verification }, question('A'))
  assert.equal(asked.verification.approved, true)
  const ready = { synced: true, prepared: true, opened: true }
  const at = { ...asked, baseline: 'green' as const, job: { ...asked.job, ready } }
  assert.deepEqual(nextStep(at, limitsWith({}), NOW), { kind: 'answer', storyId: 'FIX-1' })
  const done = answered(at, { kind: 'words', text: 'Because of the rounding.' })
  assert.deepEqual(correctionResult(done, 'FIX-1'), { kind: 'answered', text: 'Because of the rounding.' })
  assert.equal(describeCorrections(done), '1 of 1 question answered')
  assert.equal(done.verification.approved, true)
  assert.equal(done.green, asked.green)
  assert.equal(countPasses(done).gates, 2, 'an answer is no story that passed its gates')
  const reply = correctionReply(
    { kind: 'answered', text: 'Because. @alice Fixes #1 <!-- ralph:sticky -->' },
    { id: 'FIX-1', words: '', commitUrl: () => '', summaryUrl: 'http://x' },
  )
  assert.doesNotMatch(reply, /@alice|Fixes #1|<!--/)
})

test('a question that asks for a change, or that no session answers twice, becomes a review', () => {
  const asked = add(finished(), question('A'))
  const changed = answered(asked, { kind: 'change' })
  assert.equal(changed.corrections?.['FIX-1']?.source.kind, 'review')
  const story = changed.prd.userStories.find(({ id }) => id === 'FIX-1')
  assert.match(story?.description ?? '', /^Reviewers left these threads[\s\S]*\n\nfix it$/)
  assert.equal(changed.verification.approved, false)
  const once = answered(asked, { kind: 'none', message: 'no answer' })
  assert.equal(once.corrections?.['FIX-1']?.source.kind, 'question')
  const twice = answered(once, { kind: 'none', message: 'no answer' })
  assert.equal(twice.corrections?.['FIX-1']?.source.kind, 'review')
  // The same thread is not read a second time as its other kind.
  assert.equal(add(twice, question('A')), twice)
})
