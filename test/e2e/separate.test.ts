// `isolation: separate-job`: claim, work, gate and land on a machine each, by the example workflow and the committed bundle.
import assert from 'node:assert/strict'
import test from 'node:test'
import { badTurn, goodTurn, openSite, outputsOf, type Site, story } from './site.ts'

/** The jobs of each run, as `claim work gate land`. */
function shape(site: Site): string[] {
  return site.runner.runs.map((run) =>
    run.jobs
      .filter((job) => job.conclusion !== 'skipped')
      .map((job) => (job.conclusion === 'success' ? job.key : `${job.key}!`))
      .join(' '),
  )
}

test('a chain of runs: baseline, a story, a red gate and its repair, the judge', async () => {
  await using site = await openSite({
    separate: true,
    stories: [story('US-001', 'one'), story('US-002', 'two')],
    script: {
      'US-001': [goodTurn('one', 1)],
      'US-002': [badTurn('two', 2), goodTurn('two', 2)],
    },
    inputs: { prepare: 'mkdir -p node_modules && touch node_modules/there' },
  })
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'complete', site.log())
  assert.deepEqual(shape(site), [
    'claim gate land',
    'claim work gate land',
    'claim work gate land',
    'claim work gate land',
    'claim work gate land',
  ])
  assert.equal(outputsOf(run).iterations, '3')
})
