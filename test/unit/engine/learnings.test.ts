// What was learned: kept once, bounded, the newest first to stay.
import assert from 'node:assert/strict'
import test from 'node:test'
import { runParts } from '../../../src/engine/prompts/build-prompt.ts'
import { textOf } from '../../../src/engine/prompts/template.ts'
import { withLearnings } from '../../../src/engine/state/story-notes.ts'
import { stateOf, stories } from './samples.ts'

test('equal learnings are kept once, in the newest wording, as the newest', () => {
  const known = ['Run `npm ci` first.', 'The port is 8080.']
  assert.deepEqual(withLearnings(known, ['run npm ci first']), ['The port is 8080.', 'run npm ci first'])
})

test('at most fifty learnings are kept, the newest ones', () => {
  const many = Array.from({ length: 80 }, (_, index) => `learning ${index}`)
  assert.deepEqual(withLearnings([], many), many.slice(-50))
})

test('learnings in a prompt are the newest, oldest first', () => {
  const [story] = stories('US-001')
  assert.ok(story !== undefined)
  const start = stateOf([story])
  const learnings = Array.from({ length: 40 }, (_, index) => `something number ${index} ${'x'.repeat(60)}`)
  const state = { ...start, prd: { ...start.prd, run: { ...start.prd.run, learnings } } }
  const facts = { gates: [], services: [], instructions: '', context: '', dropped: [], conflict: null }
  const prompt = textOf(runParts(null, state, story, facts))
  assert.doesNotMatch(prompt, /number 0 /)
  assert.ok(prompt.indexOf('number 38') > 0 && prompt.indexOf('number 38') < prompt.indexOf('number 39'))
})
