// Ralph's own files and commit messages, rendered from the state.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  passedEntry,
  passedUnchanged,
  passedUngated,
  passStory,
} from '../../../src/engine/attempts/attempt-outcome.ts'
import { formatHolder, isExpired, leaseMs } from '../../../src/engine/lease.ts'
import type { Attempt } from '../../../src/engine/model/attempt.ts'
import type { Event } from '../../../src/engine/model/event.ts'
import { openAttempt } from '../../../src/engine/model/job.ts'
import { ownFiles } from '../../../src/engine/model/paths.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { parsePrd } from '../../../src/engine/prd/parse.ts'
import { newStory } from '../../../src/engine/prd/schema.ts'
import { reduce } from '../../../src/engine/reduce.ts'
import { createRedactor } from '../../../src/isolation/redact.ts'
import { prdFile, progressFile, recordMessage, storyMessage } from '../../../src/report/feature-files.ts'
import { built, gate, limitsWith, MINUTE, NOW, session, stateOf, stories } from '../engine/samples.ts'
import { anyText, runs } from '../runs.ts'

const limits = limitsWith()
const same = (text: string) => text

function gated(): State {
  const events: Event[] = [
    { at: NOW, kind: 'reserved', storyId: 'US-001' },
    { at: NOW, kind: 'worked', storyId: 'US-001', session: session({ learnings: ['one thing'] }) },
    { at: NOW, kind: 'guarded', storyId: 'US-001', candidate: built('abc1234') },
    { at: NOW, kind: 'gated', storyId: 'US-001', commit: 'abc1234', gates: [gate(true)] },
  ]
  return events.reduce((state, event) => reduce(state, event, limits), stateOf(stories('US-001', 'US-002')))
}

function gatedIn(state: State): Attempt {
  const attempt = openAttempt(state)
  assert.equal(attempt?.phase, 'gated')
  return attempt
}

describe('the gated and the committed files', () => {
  test("have a prd.json that differs only in the commit's own id", () => {
    const state = gated()
    const candidate = JSON.parse(prdFile(passStory(state, gatedIn(state), built('abc1234')), same))
    const accepted = JSON.parse(
      prdFile(
        reduce(state, { at: NOW + MINUTE, kind: 'accepted', storyId: 'US-001', commit: 'abc1234' }, limits),
        same,
      ),
    )
    assert.equal(candidate.userStories[0].lastResult.commit, null)
    assert.equal(accepted.userStories[0].lastResult.commit, 'abc1234')
    accepted.userStories[0].lastResult.commit = null
    assert.deepEqual(accepted, candidate)
  })

  test("have the agent's commit message before its last text, marked as the agent's", () => {
    const limited = (summary: string | undefined, own?: string) => {
      const before = gated()
      const attempt = before.attempts['US-001']
      assert.ok(attempt?.phase === 'gated')
      const candidate = { ...built('abc1234'), ...(own === undefined ? {} : { summary: own }) }
      const worked = {
        ...attempt.session,
        ...(summary === undefined ? {} : { summary, next: 'mind the cache' }),
      }
      const state = { ...before, attempts: { 'US-001': { ...attempt, session: worked, candidate } } }
      const event = { at: NOW, kind: 'accepted', storyId: 'US-001', commit: 'abc1234' } as const
      const { lastResult } = reduce(state, event, limits).prd.userStories[0] ?? {}
      return [lastResult?.summary, passedEntry(state, gatedIn(state), candidate)]
    }
    const [plain, plainEntry = ''] = limited(undefined)
    assert.equal(plain, 'every gate passed')
    assert.doesNotMatch(plainEntry, /What was done/)
    const [words, entry = ''] = limited('Added the form.')
    assert.equal(words, "in the agent's words: Added the form.")
    assert.match(entry, /What was done:\*\* in the agent's words: Added the form\.\n/)
    assert.match(entry, /Note for next:\*\* in the agent's words: mind the cache\n/)
    assert.equal(limited('Added the form.', 'feat: sign in')[0], "in the agent's words: feat: sign in")
  })

  test('show a story without a gate as such, whatever the agent writes', () => {
    const before = gated()
    const attempt = before.attempts['US-001']
    assert.ok(attempt?.phase === 'gated')
    const pass = (gatedTags: string[] | null, summary: string) => {
      const session = { ...attempt.session, summary }
      const job = { ...before.job, gatedTags }
      const state = { ...before, job, attempts: { 'US-001': { ...attempt, session } } }
      const event = { at: NOW, kind: 'accepted', storyId: 'US-001', commit: 'abc1234' } as const
      return reduce(state, event, limits).prd.userStories[0] ?? newStory({ id: 'x', title: '' })
    }
    assert.equal(passedUngated(pass([], 'every gate passed')), true)
    assert.equal(passedUngated(pass(null, 'without a gate')), false)
    assert.equal(passedUnchanged(pass(null, "without a change, on a judge's word")), false)
  })

  test('have a progress.txt with the waiting entries and this one', () => {
    const state = { ...gated(), progress: ['\n## Iteration 0 - waiting\n\n---\n'] }
    const entry = passedEntry(state, gatedIn(state), built('abc1234'))
    const text = progressFile({ ...state, progress: [...state.progress, entry] }, 'earlier\n', same)
    assert.match(
      text,
      /^earlier\n\n## Iteration 0 - waiting\n\n---\n\n## Iteration 1 - US-001: story US-001\n\*\*Status:\*\* PASSED/,
    )
    assert.ok(text.endsWith('---\n'))
    assert.equal(
      reduce(state, { at: NOW, kind: 'accepted', storyId: 'US-001', commit: 'abc1234' }, limits).progress
        .length,
      0,
    )
  })

  test('have a new progress.txt with its header', () => {
    assert.match(
      progressFile(gated(), null, same),
      /^# Ralph Progress Log\n# Project: Shop\n# Feature: ralph\/auth\n/,
    )
  })
})

describe('prd.json', () => {
  test('reads back as the state', () => {
    const state = gated()
    const parsed = parsePrd(prdFile(state, same), 'prd.json')
    assert.ok(parsed.ok, JSON.stringify(parsed))
    assert.deepEqual(parsed.prd.userStories, state.prd.userStories)
    assert.equal(parsed.prd.run.control.nonce, 'n')
    assert.equal(parsed.prd.run.iterations, 0)
  })

  test("has Ralph's branch when people named none", () => {
    const state = gated()
    const file = JSON.parse(prdFile({ ...state, prd: { ...state.prd, branchName: '' } }, same))
    assert.equal(file.branchName, 'ralph/auth')
  })

  test('is redacted once per story, however often it is written', () => {
    let redactions = 0
    const counting = (text: string) => {
      redactions += 1
      return text
    }
    const stories = Array.from({ length: 100 }, (_, at) => newStory({ id: `US-${at}`, title: 'a' }))
    const state = gated()
    const withStories = { ...state, prd: { ...state.prd, userStories: stories } }
    prdFile(withStories, counting)
    const before = redactions
    const changed = stories.map((story, at) => (at === 7 ? { ...story, notes: 'b' } : story))
    const file = prdFile({ ...withStories, prd: { ...withStories.prd, userStories: changed } }, counting)
    assert.equal(redactions - before, 2, 'the story that changed, and what is not a story')
    assert.equal(JSON.parse(file).userStories[7].notes, 'b')
  })

  test('has no secret, and stays valid when one is redacted', () => {
    const key = (name: string) => `-----${name} PRIVATE KEY-----`
    const secret = 'nothing-but-"this"'
    const first = newStory({
      id: 'US-001',
      title: `begins\n${key('BEGIN')}\n`,
      description: `a\n${secret} b`,
    })
    const second = newStory({ id: 'US-002', title: `${key('END')} ends` })
    const state = stateOf([first, second])
    const file = JSON.parse(prdFile(state, createRedactor([secret]).redact))
    assert.deepEqual(
      file.userStories.map((story: { id: string; title: string }) => [story.id, story.title]),
      [
        ['US-001', 'begins\n***\n'],
        ['US-002', `${key('END')} ends`],
      ],
    )
    assert.equal(file.userStories[0].description, 'a\n*** b')
  })

  test("is in the feature's folder", () => {
    assert.deepEqual(ownFiles(gated()), {
      prd: '.ralph/2026-01-10-auth/prd.json',
      page: '.ralph/2026-01-10-auth/prd.md',
      progress: '.ralph/2026-01-10-auth/progress.txt',
      context: '.ralph/2026-01-10-auth/context.md',
    })
  })
})

describe('commit messages', () => {
  test('have the story as subject, and three trailers', () => {
    assert.equal(
      storyMessage(gated(), 'US-001', 3, same),
      'feat: US-001 - story US-001\n\nRalph-Story: US-001\nRalph-Iteration: 3\nRalph-Run: n\n',
    )
    assert.equal(recordMessage(gated(), 'chore(ralph): start'), 'chore(ralph): start\n\nRalph-Run: n\n')
  })

  test('have the subject that the project asks for', () => {
    const subjectOf = (title: string, template: string) =>
      storyMessage(stateOf([newStory({ id: 'US-001', title })]), 'US-001', 1, same, '', template).split(
        '\n',
      )[0]
    const template = 'feat({feature}): {subject} ({id})'
    assert.equal(subjectOf('Customers sign in.', template), 'feat(auth): customers sign in (US-001)')
    assert.equal(subjectOf('API keys', template), 'feat(auth): API keys (US-001)')
    assert.equal(subjectOf('{id} $& {title}', '{title}'), '{id} $& {title}')
    assert.ok((subjectOf('x'.repeat(500), template) ?? '').length <= 100)
  })

  test('have no secret of a title, and no part of one at a cut', () => {
    const { redact } = createRedactor(['a-secret-of-many-letters'])
    for (const before of ['', 'x'.repeat(75)]) {
      const state = stateOf([newStory({ id: 'US-001', title: `${before} a-secret-of-many-letters` })])
      const [subject = ''] = storyMessage(state, 'US-001', 1, redact).split('\n')
      assert.ok(subject.endsWith(' ***'), subject)
    }
  })

  test('have no trailer or second line from a title, and at most 100 characters', () => {
    const title = fc.oneof(
      anyText({ minLength: 1 }),
      fc.constantFrom(
        'a\n\nRalph-Story: US-002',
        'a\r\rRalph-Story: US-002',
        '\u2028Ralph-Story: x',
        'x'.repeat(500),
      ),
    )
    const property = fc.property(title, (words) => {
      const state = stateOf([newStory({ id: 'US-001', title: words })])
      const lines = storyMessage(state, 'US-001', 1, same).split(/[\r\n\u2028\u2029]/)
      assert.deepEqual(lines.slice(1), ['', 'Ralph-Story: US-001', 'Ralph-Iteration: 1', 'Ralph-Run: n', ''])
      assert.ok((lines[0] ?? '').length <= 100)
    })
    fc.assert(property, runs(40))
  })

  test("quote and fold the agent's text, with the trailers as the last paragraph", () => {
    const words = `Adds the form. ${'It checks the address. '.repeat(4)}`
    assert.equal(
      storyMessage(gated(), 'US-001', 3, same, words),
      `feat: US-001 - story US-001

In the agent's words:
> Adds the form. It checks the address. It checks the address. It checks
> the address. It checks the address.

Ralph-Story: US-001
Ralph-Iteration: 3
Ralph-Run: n
`,
    )
  })
})

describe('a lease', () => {
  const lease = {
    holder: 'run 1.1',
    nonce: 'n',
    expiresAt: NOW,
    runId: null,
    runAttempt: null,
    url: null,
    host: 'laptop',
    pid: 42,
    startTime: '1',
    mark: 'mark',
  }
  test('lasts for an iteration, its gates and ten minutes', () => {
    assert.equal(leaseMs(30 * MINUTE, 15 * MINUTE), 55 * MINUTE)
    assert.deepEqual([isExpired(lease, NOW - 1), isExpired(lease, NOW)], [false, true])
  })
  test('has its holder as text', () => {
    assert.equal(formatHolder(lease), 'process 42 on laptop')
    assert.equal(formatHolder({ ...lease, runId: 7 }), 'run 7')
    assert.equal(formatHolder({ ...lease, runId: 7, url: 'https://x/7' }), 'run 7 (https://x/7)')
  })
})
