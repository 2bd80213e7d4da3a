// Check lists as stories: boxes count, words do not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseChecklist } from '../../../src/prd/checklist.ts'
import { fixture, mistakesIn, parsed } from './samples.ts'

test('a progress file of plan/build Ralph', () => {
  const { prd, notes } = parsed(fixture('plan_PROGRESS.md'), 'plan_PROGRESS.md')
  assert.equal(prd.project, 'feature-name')
  assert.deepEqual(prd.run.learnings, ['The server restarts by itself'])
  const [first, second] = prd.userStories
  assert.equal(prd.userStories.length, 2)
  assert.deepEqual([first?.id, first?.title, first?.passes], ['US-001', 'Write the parser', true])
  assert.equal(first?.lastResult?.imported, true)
  assert.deepEqual(first?.acceptanceCriteria, ['Write the parser'])
  assert.deepEqual([second?.id, second?.title, second?.passes], ['API-7', 'Serve the result', false])
  assert.deepEqual(second?.acceptanceCriteria, ['GET /result answers 200', 'an unknown id answers 404'])
  assert.equal(second?.description, 'Small and fast.')
  assert.match(notes.join('\n'), /2 boxes of the check list/)
})

test('a fix plan: urgency by heading, examples left out, RALPH_DONE not believed', () => {
  const { prd, notes } = parsed(fixture('fix_plan.md'), 'fix_plan.md')
  assert.deepEqual(
    prd.userStories.map(({ id, title, priority, passes }) => [id, title, priority, passes]),
    [
      ['US-001', 'Polish the colours', 3, false],
      ['US-010', 'Mend the crash', 1, false],
      ['US-003', 'Find the crash', 2, true],
    ],
  )
  assert.match(notes.join('\n'), /RALPH_DONE is not believed: the boxes count, and 2 of 3 are open/)
})

test('mistakes name the line', () => {
  const mistakes = mistakesIn(`# x\n\n- [ ] \n- [ ] US-1: a\n- [ ] US-1: ${'b'.repeat(501)}`, 'plan.md')
  assert.deepEqual(
    mistakes.map(({ path }) => path),
    ['plan.md: line 3 (title)', 'plan.md: line 5 (title)', 'plan.md: line 5 (id)'],
  )
})

test('Windows line ends, a BOM and tabs', () => {
  const { prd } = parsed('\ufeff- [X] a\r\n\t- one\r\n- [~] b\r\n')
  assert.deepEqual(
    prd.userStories.map(({ title, passes, acceptanceCriteria }) => [title, passes, acceptanceCriteria[0]]),
    [
      ['a', true, 'one'],
      ['b', false, 'b'],
    ],
  )
})

test('a text without boxes is no check list', () => {
  const result = parseChecklist('# Plan\n- a\n- b', 'plan.md')
  assert.ok(!result.ok)
  assert.equal(result.mistakes[0]?.found, 'no check box')
})
