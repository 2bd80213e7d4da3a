// `max-parallel` in CI: claim, a matrix of workers and join, each a process of its own, by the example workflow and the bundle.

import assert from 'node:assert/strict'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { sharedFolder } from '../fakes/shared.ts'
import {
  annotationsOf,
  badTurn,
  goodTurn,
  jobsOfRuns,
  openChecks,
  openSite,
  outputsOf,
  type Site,
  story,
  together,
} from './site.ts'

const NAMES = ['one', 'two', 'three', 'four']
const STORIES = NAMES.map((name, at) => story(`US-00${at + 1}`, name))
const turn = (at: number) => goodTurn(NAMES[at - 1] ?? '', at)

/** How often each story has passed, and what the run used, in sessions. */
async function endOf(site: Site) {
  const { timeline, sessions, lease, attempts } = await site.state()
  const passed = timeline.filter(({ result }) => result === 'passed').map(({ storyId }) => storyId)
  return { passed: passed.sort(), sessions: sessions.length, lease, attempts }
}

test('three workers and four stories with a red gate: gates ran on the tree of every commit', async (t) => {
  const folder = await sharedFolder('ralph-wave-')
  t.after(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'at-work'))
  const shell = together(join(folder, 'at-work'), 3)
  await using site = await openSite({
    parallel: true,
    stories: STORIES,
    script: {
      'US-001': [{ ...turn(1), shell }],
      'US-002': [{ ...badTurn('two', 2), shell }, turn(2)],
      'US-003': [{ ...turn(3), shell }],
      'US-004': [turn(4)],
    },
    inputs: {
      'max-parallel': '3',
      gates: `test: node --test --test-isolation=none test/*.test.mjs && ls src | xargs >>"${folder}/gated"`,
    },
  })
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'complete', site.log())
  assert.deepEqual(jobsOfRuns(site), ['claim work work work join'], site.log())
  assert.ok((await site.prd()).userStories.every(({ passes }) => passes))
  const { passed, sessions, lease, attempts } = await endOf(site)
  assert.deepEqual(passed, ['US-001', 'US-002', 'US-003', 'US-004'])
  assert.equal(sessions, (await site.sessions()).length)
  assert.deepEqual({ lease, attempts }, { lease: null, attempts: {} })
  const gated = (await readFile(join(folder, 'gated'), 'utf8')).split('\n')
  const commits = await site.github.world.bare.run(['log', '--format=%H %s', 'main..ralph/sample'])
  const landed = commits.split('\n').filter((line) => line.includes(' feat: '))
  assert.equal(landed.length, 4)
  for (const line of landed) {
    const tree = await site.github.world.bare.run(['ls-tree', '--name-only', line.slice(0, 40), 'src/'])
    const files = tree
      .trim()
      .split('\n')
      .map((path) => path.slice('src/'.length))
    assert.ok(gated.includes(files.join(' ')), `no gate saw ${files.join(' ')}`)
  }
  assert.deepEqual(openChecks(site), [])
  assert.equal(site.github.comments((await site.pull()).number).length, 1)
})

test('the machine of a worker is lost in its session: the others go on, and the next wave works on its story again', async () => {
  await using site = await openSite({
    parallel: true,
    stories: STORIES,
    script: {},
    inputs: { 'max-parallel': '2' },
  })
  const lost = site.hold('lost')
  const rest = { 'US-002': [turn(2)], 'US-003': [turn(3)], 'US-004': [turn(4)] }
  await site.setScript({ 'US-001': [{ ...turn(1), shell: lost.shell }], ...rest })
  const going = site.go()
  const run = await lost.reached()
  const job = run.jobs.find(({ steps }) => steps.some(({ log }) => log.includes('at lost\n')))
  // The attempt is given back: the next one is its first again.
  await site.setScript({ 'US-001': [turn(1)], ...rest })
  site.runner.kill(run.id, job?.name)
  assert.equal(outputsOf(await going).outcome, 'complete', site.log())
  assert.equal(jobsOfRuns(site)[0]?.replace('work!', 'work'), 'claim work work join', site.log())
  const { passed } = await endOf(site)
  assert.deepEqual(passed, ['US-001', 'US-002', 'US-003', 'US-004'])
  const { timeline, prd } = await site.state()
  assert.deepEqual(
    timeline.filter(({ result }) => result === 'returned').map(({ storyId }) => storyId),
    ['US-001'],
  )
  assert.ok(
    prd.userStories.every(({ retries }) => retries === 0),
    'no story is charged for a lost machine',
  )
  // One of each story, and the judge: what the lost one used nobody knows, and no session had ended that it could be compared with.
  assert.equal((await site.state()).sessions.length, 5)
  assert.deepEqual(openChecks(site), [])
})

test('a cancelled wave saves and starts no other, and its jobs do nothing when run again', async () => {
  await using site = await openSite({
    parallel: true,
    stories: STORIES,
    script: {},
    inputs: { 'max-parallel': '2' },
  })
  const held = site.hold('held')
  await site.setScript({
    'US-001': [{ ...turn(1), shell: held.shell }],
    'US-002': [turn(2)],
    'US-003': [turn(3)],
    'US-004': [turn(4)],
  })
  const going = site.go()
  const run = await held.reached()
  site.runner.cancel(run.id)
  await going
  assert.equal(outputsOf(run).outcome, 'interrupted', site.log())
  assert.equal(site.runner.runs.length, 1, 'nothing is dispatched')
  const before = await site.state()
  assert.deepEqual(before.attempts, {})
  assert.equal(before.lease, null)
  assert.equal(before.prd.userStories[0]?.retries, 0)
  const again = site.runner.rerun(run.id, { kept: ['claim'] })
  await site.runner.settled()
  assert.equal(again.conclusion, 'success', site.log())
  assert.ok(annotationsOf(again, 'notice').every((line) => /the wave is over/.test(line)))
  assert.deepEqual(await site.state(), before)
})

test('people push during a wave: their commit and every story are on the branch, each once', async () => {
  await using site = await openSite({
    parallel: true,
    stories: STORIES,
    script: {},
    inputs: { 'max-parallel': '2' },
  })
  const held = site.hold('held')
  await site.setScript({
    'US-001': [{ ...turn(1), shell: held.shell }],
    'US-002': [turn(2)],
    'US-003': [turn(3)],
    'US-004': [turn(4)],
  })
  const going = site.go()
  await held.reached()
  await site.github.commit(
    'ralph/sample',
    { 'src/person.mjs': 'export const person = 1\n' },
    'by a person',
    'alice',
  )
  await held.release()
  assert.equal(outputsOf(await going).outcome, 'complete', site.log())
  const { passed } = await endOf(site)
  assert.deepEqual(passed, ['US-001', 'US-002', 'US-003', 'US-004'])
  assert.notEqual(await site.github.read('ralph/sample', 'src/person.mjs'), null)
  assert.match(site.log(), /merged the commits that people pushed/)
})
