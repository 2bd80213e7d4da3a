// What `init` finds before it proposes anything.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFacts } from '../../../src/cli/init-look.ts'
import { emptyRun, newStory } from '../../../src/engine/prd/schema.ts'

function prdOf(costUsd: number): string {
  const story = newStory({ id: 'US-001', title: 'a', acceptanceCriteria: ['c'] })
  const lastResult = {
    completedAt: '2026-01-31T00:00:00Z',
    commit: null,
    summary: '',
    iteration: 1,
    attempts: 1,
  }
  const usage = { calls: 1, inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd, agentSeconds: 1 }
  const userStories = [{ ...story, passes: true, lastResult }]
  const head = { schemaVersion: 2, project: 'Shop', branchName: 'ralph/a', description: '' }
  return JSON.stringify({
    ...head,
    run: { ...emptyRun(), startedAt: '2026-01-31T00:00:00Z', usage },
    userStories,
  })
}

test('init proposes a limit from the newest runs, archived or not', async () => {
  const archived = Array.from({ length: 25 }, (_, at) => [
    `.ralph/archive/2025-01-${String(at + 1).padStart(2, '0')}-old/prd.json`,
    prdOf(1),
  ])
  const texts: Readonly<Record<string, string>> = Object.fromEntries([
    ...archived,
    ['.ralph/2026-01-31-cart/prd.json', prdOf(40)],
  ])
  const tree = { paths: Object.keys(texts), text: (path: string) => texts[path] ?? '' }
  const place = { top: '/nowhere', isRepository: false, tree, workingDirectory: '.' }
  assert.equal((await findFacts(place, {})).budgetUsd, 60)
})
