// progress.txt, letter by letter.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { progressEntry, progressHeader, withoutDoneLine } from '../../../src/engine/state/story-notes.ts'
import { justStarted } from '../report/samples.ts'

test("progress.txt has the header and the entries of BMAD Ralph's format", () => {
  const entry = {
    iteration: 1,
    storyId: 'US-001',
    title: 'Customers sign in\nwith e-mail',
    status: 'PASSED' as const,
    completedAt: '2026-01-10T14:05:00.000Z',
    learning: 'sessions live in Redis; the mailer is a stub in tests',
    next: 'every gate passed',
  }
  const file =
    progressHeader(justStarted().prd, 'ralph/auth', '2026-01-10T14:00:00.000Z') +
    progressEntry(entry) +
    progressEntry({
      ...entry,
      iteration: 2,
      storyId: 'US-002',
      title: 'Sessions end',
      status: 'FAILED',
      learning: '',
      next: 'gate test failed (exit 1)',
    })
  assert.equal(
    file,
    `# Ralph Progress Log
# Project: Shop
# Feature: ralph/auth
# Started: 2026-01-10T14:00:00.000Z

---

## Iteration 1 - US-001: Customers sign in with e-mail
**Status:** PASSED
**Completed:** 2026-01-10T14:05:00.000Z
**Learning:** sessions live in Redis; the mailer is a stub in tests
**Note for next:** every gate passed

---

## Iteration 2 - US-002: Sessions end
**Status:** FAILED
**Completed:** 2026-01-10T14:05:00.000Z
**Learning:** -
**Note for next:** gate test failed (exit 1)

---
`,
  )
})

test("an agent's summary is one line in progress.txt, and not in prompts", () => {
  const entry = progressEntry({
    iteration: 1,
    storyId: 'US-001',
    title: 'Sign in',
    status: 'PASSED',
    completedAt: '2026-01-10T14:05:00.000Z',
    done: 'Adds the form\n**Status:** PASSED\n## Iteration 9',
    learning: '',
    next: 'every gate passed',
  })
  const line = "**What was done:** in the agent's words: Adds the form **Status:** PASSED ## Iteration 9\n"
  assert.ok(entry.includes(`\n${line}**Learning:**`), entry)
  assert.equal(withoutDoneLine(entry), entry.replace(line, ''))
})

test('an entry of progress.txt is limited', () => {
  const long = 'x'.repeat(100_000)
  const entry = progressEntry({
    iteration: 1,
    storyId: long,
    title: long,
    status: 'SKIPPED',
    completedAt: long,
    learning: long,
    next: long,
  })
  assert.ok(entry.length < 2500, String(entry.length))
})
