// `max-parallel` at `isolation: separate-job`: claim, matrices of work and gate, and land, by the example workflow and the bundle.

import assert from 'node:assert/strict'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { sharedFolder } from '../fakes/shared.ts'
import type { Run } from '../standin/runner.ts'
import {
  badTurn,
  goodTurn,
  jobsOfRuns,
  openChecks,
  openSite,
  outputsOf,
  type Site,
  type SiteOptions,
  story,
  together,
} from './site.ts'

const NAMES = ['one', 'two', 'three', 'four']
const STORIES = NAMES.map((name, at) => story(`US-00${at + 1}`, name))
const turn = (at: number) => goodTurn(NAMES[at - 1] ?? '', at)
const PASSED = ['US-001', 'US-002', 'US-003', 'US-004']

const open = (options: Pick<SiteOptions, 'script'> & Partial<SiteOptions>) =>
  openSite({
    separate: true,
    parallel: true,
    stories: STORIES,
    ...options,
    inputs: { baseline: 'off', 'max-parallel': '4', ...options.inputs },
  })

async function endOf(site: Site) {
  const state = await site.state()
  const { timeline, sessions, lease, attempts, waiting } = state
  const of = (wanted: string) =>
    timeline
      .filter(({ result }) => result === wanted)
      .map(({ storyId }) => storyId)
      .sort()
  return {
    passed: of('passed'),
    rejected: of('rejected'),
    returned: of('returned'),
    sessions: sessions.length,
    left: { lease, attempts, waiting },
  }
}

const NOTHING_LEFT = { lease: null, attempts: {}, waiting: undefined }

/** Each story's commit is a tree that its gates saw. `gated`: a line of file names for each run of the gates. */
async function assertGated(site: Site, gated: string) {
  const seen = (await readFile(gated, 'utf8')).split('\n')
  const commits = await site.github.world.bare.run(['log', '--format=%H %s', 'main..ralph/sample'])
  const landed = commits.split('\n').filter((line) => line.includes(' feat: '))
  assert.equal(landed.length, 4)
  for (const line of landed) {
    const tree = await site.github.world.bare.run(['ls-tree', '--name-only', line.slice(0, 40), 'src/'])
    const files = tree
      .trim()
      .split('\n')
      .map((path) => path.slice('src/'.length))
    assert.ok(seen.includes(files.join(' ')), `no gate saw ${files.join(' ')}\n${seen.join('\n')}`)
  }
}

test('four stories land in one wave, and gates ran on the tree of each commit', async (t) => {
  const folder = await sharedFolder('ralph-matrix-')
  t.after(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'at-work'))
  const shell = together(join(folder, 'at-work'), 4)
  await using site = await open({
    script: Object.fromEntries(PASSED.map((id, at) => [id, [{ ...turn(at + 1), shell }]])),
    inputs: {
      gates: `test: node --test --test-isolation=none test/*.test.mjs && ls src | xargs >>"${folder}/gated"`,
    },
  })
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'complete', site.log())
  assert.deepEqual(
    jobsOfRuns(site),
    ['claim work work work work gate gate gate gate land', 'claim work gate land'],
    site.log(),
  )
  const { passed, sessions, left } = await endOf(site)
  assert.deepEqual(passed, PASSED)
  assert.deepEqual(left, NOTHING_LEFT)
  // One of each story, and the judge.
  assert.equal(sessions, 5)
  await assertGated(site, join(folder, 'gated'))
  assert.deepEqual(openChecks(site), [])
  assert.equal(site.github.comments((await site.pull()).number).length, 1)
  await t.test('work and gate jobs have a read-only token, and write nothing', () => {
    for (const job of site.runner.runs.flatMap(({ jobs }) => jobs)) {
      if (!['work', 'gate'].includes(job.key) || job.conclusion === 'skipped') continue
      const rights = Object.entries(job.permissions).filter(([, level]) => level !== 'none')
      assert.deepEqual(rights, [['contents', 'read']])
      const asked = site.github.requests.filter((request) => request.job?.jobId === job.id)
      const writes = asked.filter(
        ({ path, kind, method }) => /receive-pack/.test(path) || (kind !== 'git' && method !== 'GET'),
      )
      assert.deepEqual(writes, [])
    }
  })
})

test('a red candidate falls out of the train: those after it wait, and the next wave gates exactly the tree that lands', async (t) => {
  const folder = await sharedFolder('ralph-matrix-')
  t.after(() => rm(folder, { recursive: true, force: true }))
  await using site = await open({
    script: {
      'US-001': [turn(1)],
      'US-002': [badTurn('two', 2), turn(2)],
      'US-003': [turn(3)],
      'US-004': [turn(4)],
    },
    inputs: {
      gates: `test: node --test --test-isolation=none test/*.test.mjs && ls src | xargs >>"${folder}/gated"`,
    },
  })
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'complete', site.log())
  const [first, second] = jobsOfRuns(site)
  assert.equal(first, 'claim work work work work gate gate gate gate land', site.log())
  assert.equal(second, 'claim work gate gate gate land', 'two candidates that wait, and one session')
  const { passed, rejected, returned, sessions, left } = await endOf(site)
  assert.deepEqual(passed, PASSED)
  assert.deepEqual(rejected, ['US-002'])
  assert.deepEqual(returned, [])
  assert.deepEqual(left, NOTHING_LEFT)
  // The two that waited had no further session.
  assert.equal(sessions, 6)
  await assertGated(site, join(folder, 'gated'))
})

test('two stories change the same line: the second is given back uncharged, and its next session merges both', async () => {
  const stories = STORIES.slice(0, 2)
  const base = (value: number) => ({ 'src/base.mjs': `export const base = () => ${value}\n` })
  await using site = await open({
    stories,
    script: { 'US-001': [{ files: base(1) }], 'US-002': [{ files: base(2) }] },
    inputs: {
      'max-parallel': '2',
      gates: 'syntax: node --check src/base.mjs',
      'final-verification': 'false',
    },
  })
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'complete', site.log())
  assert.deepEqual(jobsOfRuns(site), ['claim work work gate gate land', 'claim work gate land'], site.log())
  const { passed, rejected, returned, left } = await endOf(site)
  assert.deepEqual([passed, rejected, returned], [['US-001', 'US-002'], [], ['US-002']])
  assert.deepEqual(left, NOTHING_LEFT)
  assert.equal(await site.github.read('ralph/sample', 'src/base.mjs'), base(2)['src/base.mjs'])
  const last = (await site.sessions()).at(-1)
  assert.match(last?.prompt ?? '', /change the same lines of src\/base\.mjs/)
})

test('an artifact that is swapped, replaced or missing lands nothing and charges no story, and the next wave works on the story again', async () => {
  const inFirst = (value: string, other: string) => `\${{ github.run_number == 1 && ${value} || ${other} }}`
  const change = (text: string, from: RegExp, to: string) => {
    const changed = text.replace(from, to.replaceAll('$', '$$$$').replaceAll('@1', '$1'))
    assert.notEqual(changed, text)
    return changed
  }
  const swapped = inFirst('needs.work.outputs.handover-2', 'needs.work.outputs.handover-1')
  const missing = inFirst("''", 'needs.gate.outputs.handover-4')
  const replace = `cp .git/ralph/handover/ralph-work-1-2/work.pack .git/ralph/handover/ralph-work-1-3/work.pack`
  await using site = await open({
    script: Object.fromEntries(PASSED.map((id, at) => [id, [turn(at + 1)]])),
    inputs: { 'final-verification': 'false' },
    workflow: (text) => {
      const [before = '', land = ''] = text.split(/(?=\n {2}land:\n)/)
      const one = change(land, /RALPH_FROM_WORK_1: .*/, `RALPH_FROM_WORK_1: ${swapped}`)
      const two = change(one, /RALPH_FROM_GATE_4: .*/, `RALPH_FROM_GATE_4: ${missing}`)
      return `${before}${change(two, /( {6}- id: land\n)/, `      - if: github.run_number == 1\n        run: ${replace}\n@1`)}`
    },
  })
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'complete', site.log())
  assert.match(site.log(), /US-001 is lost: the work job gave no result of a session/)
  assert.match(site.log(), /US-003 is lost: the pack file is not the one that the work job wrote/)
  const { passed, rejected, returned, left } = await endOf(site)
  assert.deepEqual(passed, PASSED)
  assert.deepEqual(rejected, [])
  // Behind those that were lost, the gates of US-002 and US-004 had run on another tree.
  assert.deepEqual(returned, ['US-001', 'US-003'], site.log())
  assert.deepEqual(left, NOTHING_LEFT)
  const [first, second] = jobsOfRuns(site)
  assert.equal(first, 'claim work work work work gate gate gate gate land')
  assert.equal(second, 'claim work work gate gate gate gate land', site.log())
  const { prd, timeline } = await site.state()
  assert.ok(prd.userStories.every(({ retries }) => retries === 0))
  assert.deepEqual(
    timeline.slice(0, 2).map(({ result }) => result),
    ['returned', 'returned'],
  )
})

test('the machine of a worker is lost: the others land in the same wave', async () => {
  await using site = await open({ script: {}, inputs: { 'final-verification': 'false' } })
  const lost = site.hold('lost')
  const rest = { 'US-001': [turn(1)], 'US-003': [turn(3)], 'US-004': [turn(4)] }
  await site.setScript({ ...rest, 'US-002': [{ ...turn(2), shell: lost.shell }] })
  const going = site.go()
  const { id } = await lost.reached()
  await site.setScript({ ...rest, 'US-002': [turn(2)] })
  site.runner.kill(id, 'work (2)')
  assert.equal(outputsOf(await going).outcome, 'complete', site.log())
  assert.deepEqual(
    jobsOfRuns(site).map((jobs) => jobs.replace('work!', 'work')),
    ['claim work work work work gate gate gate gate land', 'claim work gate land'],
    site.log(),
  )
  const { passed, returned, left } = await endOf(site)
  assert.deepEqual([passed, returned], [PASSED, ['US-002']])
  assert.deepEqual(left, NOTHING_LEFT)
})

test('the machine of a gate job is lost: its story is given back uncharged, and candidates after it wait for the next wave', async (t) => {
  const folder = await sharedFolder('ralph-matrix-')
  t.after(() => rm(folder, { recursive: true, force: true }))
  const killed = join(folder, 'killed')
  // Only the second gate job has the second story, and not the third: it waits there to be killed.
  const hang = `if [ -e src/two.mjs ] && [ ! -e src/three.mjs ] && [ ! -e "${killed}" ]; then sleep 600; fi`
  await using site = await open({
    script: Object.fromEntries(PASSED.map((id, at) => [id, [turn(at + 1), turn(at + 1)]])),
    inputs: {
      gates: `test: ${hang}; node --test --test-isolation=none test/*.test.mjs && ls src | xargs >>"${folder}/gated"`,
      'final-verification': 'false',
    },
  })
  const going = site.go()
  const isAtGates = ({ jobs }: Run) =>
    jobs.some(
      ({ name, steps }) => name === 'gate (2)' && steps.some(({ log }) => log.includes('[gates] running')),
    )
  const first = await site.runner.when((run) => run.status === 'completed' || isAtGates(run))
  assert.equal(first.status, 'in_progress', site.log())
  await writeFile(killed, '')
  site.runner.kill(first.id, 'gate (2)')
  assert.equal(outputsOf(await going).outcome, 'complete', site.log())
  assert.match(site.log(), /US-002 is given back: the gate job gave no result/)
  const { passed, rejected, returned, sessions, left } = await endOf(site)
  assert.deepEqual([passed, rejected, returned], [PASSED, [], ['US-002']])
  assert.deepEqual(left, NOTHING_LEFT)
  // Its second session is the only further one, and each is in the ledger once.
  assert.equal(sessions, 5)
  const [, second] = jobsOfRuns(site)
  assert.equal(second, 'claim work gate gate gate land', 'two candidates that wait, and one session')
  const { prd } = await site.state()
  assert.ok(prd.userStories.every(({ retries }) => retries === 0))
  await assertGated(site, join(folder, 'gated'))
})

test('a cancelled wave saves its state and starts no other', async () => {
  await using site = await open({ script: {} })
  const held = site.hold('held')
  const rest = { 'US-002': [turn(2)], 'US-003': [turn(3)], 'US-004': [turn(4)] }
  await site.setScript({ ...rest, 'US-001': [{ ...turn(1), shell: held.shell }] })
  const going = site.go()
  const { id } = await held.reached()
  site.runner.cancel(id)
  const run = await going
  assert.equal(run.id, id, 'no other run was started')
  const { prd } = await site.state()
  assert.equal(prd.run.outcome, 'interrupted', site.log())
  assert.ok(prd.userStories.every(({ retries }) => retries === 0))
  assert.deepEqual((await endOf(site)).left, NOTHING_LEFT)
})

test('an agent that cannot start ends the chain in one run, uncharged', async () => {
  await using site = await open({
    script: {},
    inputs: { 'max-parallel': '2', prepare: 'echo no such package; exit 3' },
  })
  await site.go()
  assert.equal(site.runner.runs.length, 1, site.log())
  const { prd, job } = await site.state()
  assert.match(job.ending?.conclusion.reason ?? '', /prepare.*exit 3/)
  assert.ok(prd.userStories.every(({ retries, blocked }) => retries === 0 && !blocked))
  assert.deepEqual((await endOf(site)).left, NOTHING_LEFT)
})
