// The judge of samples itself: each kind of difference is reported, and an answer as expected has none.
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Story } from '../../../src/engine/model/feature.ts'
import { parsePrd } from '../../../src/engine/prd/parse.ts'
import { type Answer, differences, type Expected } from '../../samples/judge.ts'

const STORIES = [
  { id: '1.1', title: 'Sign in', acceptanceCriteria: ['A code', 'A mail'], passes: true },
  { id: '1.2', title: 'Sign out', acceptanceCriteria: ['It ends'], dependsOn: ['1.1'] },
]

const EXPECTED: Expected = {
  format: 'any',
  why: 'any',
  stories: [
    { id: '1-1', title: 'Sign in', criteria: ['code', 'mail'], done: true },
    { id: '1-2', title: '/^sign out$/i', criteria: 1, needs: ['Sign in'] },
  ],
  background: ['Node 24'],
  mentions: ['left out'],
}

function answer(userStories: readonly object[] = STORIES, more: Partial<Answer> = {}): Answer {
  const parsed = parsePrd(JSON.stringify({ project: 'x', userStories }), 'prd.json')
  assert.ok(parsed.ok)
  const stories: Story[] = parsed.prd.userStories
  const [context, notes] = ['Built with Node 24.', ['checklists/ux.md: left out']]
  return {
    stories,
    context,
    notes,
    learnings: [],
    prose: [],
    found: 1,
    refused: null,
    mistakes: 0,
    prd: null,
    ...more,
  }
}

test("the samples' judge finds no difference in an answer as expected", () => {
  assert.deepEqual(differences(EXPECTED, answer()), [])
})

test("the samples' judge reports each kind of difference", () => {
  const [first, second] = STORIES
  const third = { id: 'US-003', title: 'Product Owner', acceptanceCriteria: ['Product Owner'] }
  const cases: [string, Answer, string[]][] = [
    ['lost', answer([first ?? {}]), ['lost: 1-2 /^sign out$/i']],
    ['false', answer([...STORIES, third]), ['false story: US-003 Product Owner']],
    ['open', answer([{ ...first, passes: false }, second ?? {}]), ['1.1 Sign in: open']],
    ['id', answer([first ?? {}, { ...second, id: 'US-002' }]), ['US-002 Sign out: id instead of 1-2']],
    [
      'free',
      answer([first ?? {}, { ...second, dependsOn: [] }]),
      ["1.2 Sign out: waits for '' instead of '1.1'"],
    ],
    ['notes', answer(STORIES, { notes: [] }), ['notes without: left out']],
    ['context', answer(STORIES, { context: '' }), ['context.md without: Node 24']],
    ['refused', answer([first ?? {}], { refused: 'prd.md: found two' }), ['refused: prd.md: found two']],
  ]
  for (const [name, got, wanted] of cases) assert.deepEqual(differences(EXPECTED, got), wanted, name)
  const fewer = answer([{ ...first, acceptanceCriteria: ['A code'] }, second ?? {}])
  assert.match(differences(EXPECTED, fewer).join('\n'), /^1\.1 Sign in: 1 criteria instead of 2/)
  const order = answer([
    { ...second, dependsOn: [] },
    { ...first, passes: false },
  ])
  const stories = (EXPECTED.stories ?? []).map((one) => ({ ...one, done: false }))
  assert.match(
    differences({ ...EXPECTED, stories }, order).join('\n'),
    /order: 1\.2 1\.1 instead of 1\.1 1\.2/,
  )
  const told = { format: 'any', why: 'any', told: ['Linear'] }
  assert.deepEqual(
    differences(told, answer(STORIES, { stories: [], notes: ['a Linear export is not read'] })),
    [],
  )
  assert.deepEqual(differences(told, answer([first ?? {}])), [
    'false story: 1.1 Sign in',
    'message without: Linear',
  ])
  const refusal = { format: 'any', why: 'any', refused: ['two features'] }
  assert.deepEqual(differences(refusal, answer()), ['not refused: 2 stories'])
})
