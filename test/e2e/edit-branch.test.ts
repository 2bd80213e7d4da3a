// The branch is edited without a session: the base branch is merged, and stories are dropped. Each way to run does it in other jobs.
import assert from 'node:assert/strict'
import test from 'node:test'
import { goodTurn, jobsOfRuns, openSite, type Site, type SiteOptions, story } from './site.ts'

const STORIES = [story('US-001', 'one'), story('US-002', 'two', { priority: 2 })]
const INPUTS = { 'final-verification': 'false', baseline: 'off', 'agents-md': 'off' }
const SIDE_BY_SIDE = { parallel: true, inputs: { ...INPUTS, 'max-parallel': '2' } }

const WAYS: Record<string, Partial<SiteOptions>> = {
  'one job': {},
  'a wave': SIDE_BY_SIDE,
  'separate jobs': { separate: true },
  'separate jobs with a matrix': { separate: true, ...SIDE_BY_SIDE },
}

const SHARED = 'src/shared.mjs'
const shared = (value: string) => `export const shared = () => ${value}\n`

/** A complete run with two stories, which both change one file. */
async function finished(way: Partial<SiteOptions>): Promise<Site> {
  const site = await openSite({
    stories: [STORIES[0], { ...STORIES[1], dependsOn: ['US-001'] }] as never,
    inputs: INPUTS,
    ...way,
    script: {
      'US-001': [{ files: { ...goodTurn('one', 1).files, [SHARED]: shared('1') } }],
      'US-002': [{ files: { ...goodTurn('two', 2).files, [SHARED]: shared('2') } }],
      'FIX-1': [{ files: { [SHARED]: shared('2 + 8') } }],
    },
  })
  await site.go()
  assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
  return site
}

const commitTo = (site: Site, path: string, text: string) =>
  site.github.commit('main', { [path]: text }, 'theirs', 'alice')

for (const [name, way] of Object.entries(WAYS))
  test(`${name}: the base is merged, a conflict with it is corrected, and a story is dropped`, async (t) => {
    await using site = await finished(way)

    await t.test('/ralph update merges a base without a conflict, after green gates', async () => {
      const theirs = await commitTo(site, 'src/more.mjs', 'export const more = 1\n')
      await site.say('bob', '/ralph update')
      const state = await site.state()
      assert.equal(state.prd.run.outcome, 'complete', site.log())
      assert.equal(state.base.sha, theirs)
      assert.equal(state.corrections, undefined)
      assert.equal(await site.github.read('ralph/sample', 'src/more.mjs'), 'export const more = 1\n')
      await site.github.bare.run(['merge-base', '--is-ancestor', theirs, 'refs/heads/ralph/sample'])
    })

    await t.test('a base without a conflict is not merged unasked, and costs no further job', async () => {
      await commitTo(site, 'other.txt', 'x\n')
      const before = jobsOfRuns(site).length
      await site.say('bob', '/ralph run')
      assert.equal(await site.github.read('ralph/sample', 'other.txt'), null, site.log())
      assert.equal((await site.state()).prd.run.outcome, 'complete')
      assert.equal(jobsOfRuns(site).length, before + 2, jobsOfRuns(site).join('\n'))
    })

    await t.test('a conflict is a correction; its commit has both sides', async () => {
      const theirs = await commitTo(site, SHARED, shared('8'))
      await site.say('bob', '/ralph run')
      const state = await site.state()
      assert.equal(state.prd.run.outcome, 'complete', site.log())
      assert.equal(state.corrections?.['FIX-1']?.source.kind, 'base')
      assert.equal(state.base.sha, theirs)
      const prompt = (await site.sessions()).at(-1)?.prompt ?? ''
      assert.match(prompt, /These files have conflicts:\n\n?- src\/shared\.mjs/)
      const found = ['log', '-1', '--grep=Ralph-Fixes: FIX-1', '--format=%P', 'refs/heads/ralph/sample']
      assert.equal((await site.github.bare.run(found)).trim().split(' ')[1], theirs)
      assert.equal(await site.github.read('ralph/sample', SHARED), shared('2 + 8'))
      assert.equal(await site.github.read('ralph/sample', 'other.txt'), 'x\n')
    })

    await t.test('/ralph drop asks if a correction changed the same lines', async () => {
      await site.say('bob', '/ralph drop US-002')
      const { control } = await site.state()
      assert.match(
        control.paused?.reason ?? '',
        /FIX-1 changed the same lines of src\/shared\.mjs after US-002\. To drop all of them, use "drop US-002 FIX-1"/,
        site.log(),
      )
    })
    assert.deepEqual(site.github.violations, [])
  })

for (const [name, way] of Object.entries(WAYS))
  test(`${name}: /ralph drop reverts the commits of a story, and names a story that changed the same lines`, async () => {
    await using site = await finished(way)
    await site.say('bob', '/ralph drop US-001')
    const asked = (await site.state()).control.paused?.reason ?? ''
    assert.match(asked, /US-002 depends on it|US-002 changed the same lines of src\/shared\.mjs/, site.log())
    await site.say('bob', '/ralph run')
    await site.say('bob', '/ralph drop US-002')
    const state = await site.state()
    assert.equal(await site.github.read('ralph/sample', 'src/two.mjs'), null, site.log())
    assert.equal(await site.github.read('ralph/sample', SHARED), shared('1'))
    const dropped = state.prd.userStories.find(({ id }) => id === 'US-002')
    assert.deepEqual([dropped?.passes, dropped?.skipped], [false, true])
    assert.deepEqual(site.github.violations, [])
  })

test('the base branch moves on between two jobs, which then no longer begin with the fork point', async () => {
  await using site = await openSite({
    stories: STORIES,
    script: { 'US-001': [goodTurn('one', 1)], 'US-002': [goodTurn('two', 2)] },
    inputs: { ...INPUTS, 'iterations-per-job': '1' },
  })
  const moved = site.hold('moved')
  await site.setScript({
    'US-001': [{ ...goodTurn('one', 1), shell: moved.shell }],
    'US-002': [goodTurn('two', 2)],
  })
  const going = site.go()
  await moved.reached()
  await commitTo(site, 'other.txt', 'x\n')
  await moved.release()
  await going
  assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
  assert.deepEqual(site.github.violations, [])
})

test('people rewrite the base branch in the middle of a run: it goes on, and the new base can be merged', async () => {
  await using site = await openSite({
    stories: STORIES,
    script: { 'US-001': [goodTurn('one', 1)], 'US-002': [goodTurn('two', 2)] },
    inputs: { ...INPUTS, 'iterations-per-job': '1' },
  })
  const { bare } = site.github
  const old = (await bare.run(['rev-parse', 'main'])).trim()
  await commitTo(site, 'regretted.txt', 'x\n')
  const rewritten = site.hold('rewritten')
  await site.setScript({
    'US-001': [{ ...goodTurn('one', 1), shell: rewritten.shell }],
    'US-002': [goodTurn('two', 2)],
  })
  const going = site.go()
  await rewritten.reached()
  await bare.run(['update-ref', 'refs/heads/main', old])
  const theirs = await commitTo(site, 'other.txt', 'x\n')
  await rewritten.release()
  await going
  assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
  await site.say('bob', '/ralph update')
  const state = await site.state()
  assert.equal(state.prd.run.outcome, 'complete', site.log())
  assert.equal(state.base.sha, theirs)
  assert.equal(await site.github.read('ralph/sample', 'other.txt'), 'x\n')
  assert.deepEqual(site.github.violations, [])
})
