// Secrets are taken out of the state before it is rendered.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mapTexts } from '../../../src/engine/model/text.ts'
import { stickyComment } from './rendered.ts'
import { limits, midRun, NOW } from './samples.ts'

test('mapTexts changes every string and nothing else', () => {
  assert.deepEqual(
    mapTexts(
      { a: 'x', b: ['x', 1, null, { c: 'x' }], d: true, e: undefined, f: Number.POSITIVE_INFINITY },
      (text) => `${text}!`,
    ),
    { a: 'x!', b: ['x!', 1, null, { c: 'x!' }], d: true, e: undefined, f: Number.POSITIVE_INFINITY },
  )
  assert.deepEqual(
    mapTexts(midRun(), (text) => text),
    midRun(),
  )
})

test('a secret that escaping would split does not reach the comment', () => {
  const secret = 'hunter2|*_<p@ss#1>_$word'
  const state = midRun()
  const userStories = state.prd.userStories.map((story) => ({ ...story, title: `the password is ${secret}` }))
  const clean = mapTexts({ ...state, prd: { ...state.prd, userStories } }, (text) =>
    text.replaceAll(secret, '***'),
  )
  const comment = stickyComment(clean, {
    repositoryUrl: 'https://x.test/a/b',
    runUrl: null,
    limits,
    now: NOW,
    notes: [],
  })
  assert.ok(comment.includes('the password is &#42;&#42;&#42;') && !comment.includes('hunter2'))
})
