// What was learned: kept once, bounded, and what is about the story first.
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { ranked, withLearnings } from '../../../src/loop/notes.ts'
import { runParts } from '../../../src/loop/prompt.ts'
import { textOf } from '../../../src/loop/template.ts'
import { stateOf, stories } from './samples.ts'

const runPrompt = (...given: Parameters<typeof runParts>) => textOf(runParts(...given))

test('what says the same is kept once, as it was said last, and counts as new', () => {
  const known = ['Run `npm ci` first.', 'The port is 8080.']
  assert.deepEqual(withLearnings(known, ['run npm ci first']), ['The port is 8080.', 'run npm ci first'])
})

test('never more than fifty, the newest', () => {
  const many = Array.from({ length: 80 }, (_, index) => `learning ${index}`)
  assert.deepEqual(withLearnings([], many), many.slice(-50))
})

test('what shares words with the story comes first, then the newest', () => {
  const all = ['the mail server needs a password', 'tables are in src/db', 'use tabs']
  assert.deepEqual(ranked(all, 'Reset the password by mail'), [all[0], all[2], all[1]])
})

test('nothing is lost or made up by ranking', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.string(), (all, story) => {
      assert.deepEqual(ranked(all, story).sort(), [...all].sort())
    }),
  )
})

test('in the prompt an old learning about the story has its place before newer ones about others', () => {
  const [story] = stories('US-001')
  assert.ok(story !== undefined)
  const login = { ...story, title: 'Login with a passkey' }
  const start = stateOf([login])
  const others = Array.from({ length: 40 }, (_, index) => `something else number ${index} ${'x'.repeat(60)}`)
  const learnings = ['a passkey needs https, also in tests', ...others]
  const state = { ...start, prd: { ...start.prd, run: { ...start.prd.run, learnings } } }
  const facts = { gates: [], services: [], instructions: '', context: '', dropped: [], conflict: null }
  const prompt = runPrompt(null, state, login, facts)
  assert.match(prompt, /a passkey needs https/)
  assert.match(prompt, /number 39/)
  assert.doesNotMatch(prompt, /number 0 /)
  assert.ok(prompt.indexOf('passkey needs') < prompt.indexOf('number 39'), 'in the order of time')
})
