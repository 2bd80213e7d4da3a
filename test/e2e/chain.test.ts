// The main job: from prd.json to a pull request that is ready for review, over several jobs, on real parts.
import assert from 'node:assert/strict'
import test from 'node:test'
import { badTurn, goodTurn, openSite, outputsOf, story } from './site.ts'

test('a chain of jobs completes six stories, one of which fails its gate once', async () => {
  await using site = await openSite({
    stories: [
      story('US-001', 'one'),
      story('US-002', 'two', { dependsOn: ['US-001'] }),
      story('US-003', 'three', { dependsOn: ['US-001'] }),
      story('US-004', 'four', { dependsOn: ['US-002', 'US-003'] }),
      story('US-005', 'five', { priority: 2 }),
      story('US-006', 'six', { priority: 3 }),
    ],
    script: {
      'US-001': [goodTurn('one', 1)],
      'US-002': [badTurn('two', 2), goodTurn('two', 2)],
      'US-003': [goodTurn('three', 3)],
      'US-004': [goodTurn('four', 4)],
      'US-005': [goodTurn('five', 5)],
      'US-006': [goodTurn('six', 6)],
    },
  })
  const { github, runner } = site
  await runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await runner.settled()
  const log = site.log()
  assert.deepEqual(github.violations, [], log)
  assert.equal(outputsOf(site.last()).outcome, 'complete', log)
})
