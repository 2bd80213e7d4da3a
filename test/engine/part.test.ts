// A part of a feature is asked for: only its stories are worked on and judged, and every text says of what it is complete.
import assert from 'node:assert/strict'
import test from 'node:test'
import { BRANCH, Chain, goodTurn, story } from './chain.ts'

const STORIES = [
  story('US-001', 'one', { epicId: 'a' }),
  story('US-002', 'two', { epicId: 'a', dependsOn: ['US-001'] }),
  story('US-003', 'three', { epicId: 'b', dependsOn: ['US-001'] }),
  story('US-004', 'four', { epicId: 'b', dependsOn: ['US-003'] }),
]
const SCRIPT = {
  'US-001': [goodTurn('one'), { files: { 'src/one': 'offline\n' } }],
  'US-002': [goodTurn('two')],
  'US-003': [goodTurn('three')],
  'US-004': [goodTurn('four')],
  'US-005': [goodTurn('five')],
}
const worked = (chain: Chain) => chain.sessions.filter(({ mode }) => mode === 'run').map((one) => one.story)
const judged = (chain: Chain) =>
  chain.sessions.filter(({ mode }) => mode === 'verify').map((one) => one.story)

test('--epic: the next job of the chain keeps to the epic, and a later run without it works on the remaining stories', async () => {
  await using chain = await Chain.open({
    stories: STORIES,
    script: SCRIPT,
    inputs: { 'iterations-per-job': '1', 'final-verification': 'true' },
  })
  const first = await chain.go({ epic: 'a' })
  assert.deepEqual(
    chain.conclusions.map(({ outcome }) => outcome),
    ['continued', 'complete'],
  )
  assert.equal(first.reason, 'every story of epic a passed its gates; 2 others are not in this run')
  assert.deepEqual(worked(chain), ['US-001', 'US-002'])
  assert.deepEqual(judged(chain), ['US-001,US-002'])
  assert.equal(await chain.read(BRANCH, 'src/three'), null)

  const rest = await chain.go()
  assert.equal(rest.reason, 'every story passed its gates')
  assert.deepEqual(worked(chain), ['US-001', 'US-002', 'US-003', 'US-004'])
  assert.deepEqual(judged(chain), ['US-001,US-002', 'US-001,US-002,US-003,US-004'])
})

test('--story for a story that has passed changes nothing, and `/ralph run` then works on the remaining stories', async () => {
  await using chain = await Chain.open({ stories: STORIES, script: SCRIPT })
  await chain.go({ stories: ['us-001'] })
  const head = await chain.head()
  assert.equal((await chain.go({ stories: ['US-001'] })).outcome, 'complete')
  assert.equal(await chain.head(), head)
  assert.deepEqual(worked(chain), ['US-001'])

  chain.say('/ralph run')
  await chain.go('as it stands')
  assert.equal(chain.conclusions.at(-1)?.reason, 'every story passed its gates')
  assert.deepEqual(worked(chain), ['US-001', 'US-002', 'US-003', 'US-004'])
})

test('an epic whose dependency has not passed and was not selected is refused before the branch exists, naming the dependency', async () => {
  await using chain = await Chain.open({ stories: STORIES, script: SCRIPT })
  await assert.rejects(
    chain.go({ epic: 'b' }),
    /US-003 waits for US-001, which has not passed and was not asked for/,
  )
  await assert.rejects(chain.go({ epic: 'c' }), /epic: found "c"/)
  assert.equal(await chain.bare.head(BRANCH), null)
  await chain.go({ stories: ['US-001'] })
  assert.equal((await chain.go({ epic: 'b' })).outcome, 'complete')
  assert.deepEqual(worked(chain), ['US-001', 'US-003', 'US-004'])
})

test('with --story, stories that a comment adds or redoes during the run are worked on, too', async () => {
  await using chain = await Chain.open({ stories: STORIES, script: SCRIPT })
  chain.say('/ralph add -- five')
  await chain.go({ stories: ['US-001'] })
  assert.deepEqual(worked(chain), ['US-001', 'US-005'])
  chain.say('/ralph redo US-001 -- it must work offline, too')
  await chain.edit((prd) => {
    for (const one of prd.userStories) if (one.id === 'US-002') one.dependsOn = ['US-005']
  })
  await chain.go({ stories: ['US-002'] })
  assert.equal(chain.conclusions.at(-1)?.outcome, 'complete')
  assert.deepEqual(worked(chain).slice(2), ['US-001', 'US-002'])
})
