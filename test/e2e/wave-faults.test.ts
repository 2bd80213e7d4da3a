// What may go wrong in a wave beside lost machines: GitHub fails one worker, the join job is cancelled, dispatches come twice, and
// people rewrite, delete or merge the branch. Nothing is lost, nothing is done twice.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { sharedFolder } from '../fakes/shared.ts'
import { dispatchTwice, goodTurn, openChecks, openSite, RUN_TESTS, type Site, story } from './site.ts'

const BRANCH = 'ralph/sample'
const NAMES = ['one', 'two', 'three', 'four']
const IDS = NAMES.map((_name, at) => `US-00${at + 1}`)
const turn = (at: number) => goodTurn(NAMES[at - 1] ?? '', at)
const SCRIPT = Object.fromEntries(IDS.map((id, at) => [id, [turn(at + 1)]]))

function openWave(more: Partial<Parameters<typeof openSite>[0]> = {}) {
  return openSite({
    ...more,
    parallel: true,
    stories: more.stories ?? NAMES.map((name, at) => story(IDS[at] ?? '', name)),
    script: SCRIPT,
    inputs: {
      'max-parallel': '2',
      gates: `test: ${RUN_TESTS}`,
      'final-verification': 'false',
      ...more.inputs,
    },
  })
}

/** A wave in which `act` is done while the session of US-001 goes on, and another story's session has ended. */
async function meanwhile(act: (site: Site) => Promise<unknown>): Promise<Site> {
  const site = await openWave()
  const held = site.hold('held')
  await site.setScript({ ...SCRIPT, 'US-001': [{ ...turn(1), shell: held.shell }] })
  const going = site.go()
  await held.reached()
  await act(site)
  await held.release()
  await going
  return site
}

/** Every story passed once and is on the branch once. */
async function completed(site: Site, pulls = 1): Promise<void> {
  const { prd, timeline, lease, attempts } = await site.state()
  assert.equal(prd.run.outcome, 'complete', site.log())
  const passed = timeline.filter(({ result }) => result === 'passed').map(({ storyId }) => storyId)
  assert.deepEqual(passed.sort(), IDS, site.log())
  assert.deepEqual({ lease, attempts }, { lease: null, attempts: {} })
  for (const name of NAMES) assert.notEqual(await site.github.read(BRANCH, `src/${name}.mjs`), null, name)
  assert.deepEqual(openChecks(site), [])
  assert.equal((await site.github.pulls()).length, pulls)
}

async function worked(site: Site): Promise<string[]> {
  return (await site.sessions()).map(({ story: id }) => id).sort()
}

test('a worker without a ready story ends while another works', async () => {
  const stories = NAMES.map((name, at) => story(IDS[at] ?? '', name, at < 2 ? {} : { dependsOn: ['US-001'] }))
  await using site = await openWave({ stories })
  const held = site.hold('held')
  await site.setScript({ ...SCRIPT, 'US-001': [{ ...turn(1), shell: held.shell }] })
  const going = site.go()
  const { id } = await held.reached()
  const run = await site.runner.when(
    (one) => one.id === id && one.jobs.some(({ key, status }) => key === 'work' && status === 'completed'),
  )
  assert.equal(run.jobs.filter(({ key, status }) => key === 'work' && status === 'in_progress').length, 1)
  assert.deepEqual(await worked(site), ['US-001', 'US-002'])
  await held.release()
  await going
  await completed(site)
})

test('a worker that starts after all stories have landed skips prepare, and ends', async (t) => {
  const folder = await sharedFolder('ralph-wave-late-')
  t.after(() => rm(folder, { recursive: true, force: true }))
  const prepare = `echo "worker $RALPH_WORKER" >>"${folder}/prepared"`
  await using site = await openWave({ inputs: { prepare }, runner: { capacity: 1 } })
  await site.go()
  await completed(site)
  const prepared = await readFile(join(folder, 'prepared'), 'utf8')
  assert.ok(!prepared.includes('worker 2'), prepared)
  const [, late] = site.runner.runs[0]?.jobs.filter(({ key }) => key === 'work') ?? []
  const log = late?.steps.flatMap(({ annotations }) => annotations.map(({ message }) => message)).join('\n')
  assert.match(log ?? '', /nothing to do: there is no story left for this worker/)
})

test('the API fails for one worker: its stories land all the same', async () => {
  await using site = await openWave()
  const isSecond = ({ job }: { job: { jobId?: number } | null }) =>
    job !== null &&
    site.runner.runs.some(({ jobs }) => jobs.some(({ id, name }) => id === job.jobId && name === 'work (2)'))
  const fault = site.github.fault(
    { where: (request) => request.kind !== 'git' && isSecond(request) },
    { status: 404, body: { message: 'Not Found' } },
    { times: 1000 },
  )
  await site.go()
  assert.ok(fault.hits > 0)
  await completed(site)
})

test('the machine of a worker is lost in a step after the commit: the story lands once, and the step runs again', async (t) => {
  const folder = await sharedFolder('ralph-wave-steps-')
  t.after(() => rm(folder, { recursive: true, force: true }))
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const first = `[ -f "${folder}/lost" ] || { touch "${folder}/lost"; cat "${pipe}" >/dev/null; }`
  const command = JSON.stringify(`ls src | xargs >>"${folder}/ran"; ${first}`)
  const steps = `[{ name: work, type: agent }, { name: commit, type: git-commit }, { name: tell, type: command, config: { command: ${command} } }]`
  await using site = await openWave({ inputs: { steps } })
  const going = site.go()
  const held = await open(pipe, 'w')
  const run = site.last()
  const isThere = ({ log }: { log: string }) => log.includes('tell (command)')
  const job = run.jobs.find((one) => one.steps.some(isThere)) ?? assert.fail(site.log())
  site.runner.kill(run.id, job.name)
  await held.close()
  await going
  await completed(site)
  assert.deepEqual(await worked(site), IDS, 'no session is repeated')
  const ran = (await readFile(join(folder, 'ran'), 'utf8')).trim().split('\n')
  assert.equal(ran.length, IDS.length + 1, ran.join('\n'))
  assert.equal(ran[1], ran[0])
})

/** Cancels the run while the join job's judge is in its session. */
async function cancelInJoin(site: Site, pipe: string): Promise<void> {
  const going = site.go()
  // It opens when the judge's session reads there.
  const held = await open(pipe, 'w')
  const run = site.last()
  assert.equal(run.jobs.find(({ status }) => status === 'in_progress')?.key, 'join')
  site.runner.cancel(run.id)
  await held.close()
  await going
}

test('a wave cancelled in its join job saves, starts no other wave, and the next run goes on', async (t) => {
  const folder = await sharedFolder('ralph-wave-join-')
  t.after(() => rm(folder, { recursive: true, force: true }))
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  await using site = await openWave({ inputs: { 'final-verification': 'true' } })
  await site.setScript({ ...SCRIPT, verify: [{ shell: `cat "${pipe}" >/dev/null` }] })
  await cancelInJoin(site, pipe)
  const { prd, lease, attempts } = await site.state()
  assert.deepEqual([prd.run.outcome, lease, attempts], ['interrupted', null, {}], site.log())
  assert.equal(site.runner.runs.length, 1, 'no other wave was started')
  assert.deepEqual(openChecks(site), [])
  await site.setScript(SCRIPT)
  await site.go()
  await completed(site)
  assert.deepEqual(
    (await worked(site)).filter((id) => id !== ''),
    IDS,
  )
})

test('every wave is dispatched twice: the second does nothing', async () => {
  await using site = await openWave({ inputs: { 'iterations-per-job': '1' } })
  const twice = dispatchTwice(site)
  await site.go()
  assert.ok(twice.size > 0, site.log())
  await completed(site)
  assert.deepEqual(await worked(site), IDS)
  for (const run of site.runner.runs) assert.equal(run.conclusion, 'success', site.runner.log(run))
})

test('people force-push the branch during a wave: the run pauses and keeps their history; once it is put back it goes on', async () => {
  let [before, theirs] = ['', '']
  await using site = await meanwhile(async ({ github }) => {
    const { bare } = github
    before = (await github.head(BRANCH)) ?? ''
    const who = { name: 'alice', email: 'alice@localhost' }
    const tree = (await bare.run(['rev-parse', `${BRANCH}^{tree}`])).trim()
    const parents = [(await bare.head('main')) ?? '']
    theirs = await bare.commitTree(tree, parents, 'squashed by hand', { author: who, committer: who })
    await move(github, before, theirs)
  })
  assert.equal((await site.state()).prd.run.outcome, 'paused', site.log())
  assert.equal(await site.github.head(BRANCH), theirs)
  await move(site.github, theirs, before)
  await site.go()
  await completed(site)
})

/** A person's forced push. */
async function move(github: Site['github'], before: string, after: string): Promise<void> {
  await github.bare.run(['update-ref', `refs/heads/${BRANCH}`, after, before])
  await github.world.pushed([{ ref: `refs/heads/${BRANCH}`, before, after }], { login: 'alice' })
}

test('people delete the branch during a wave: the run pauses and does not recreate it; once restored no story is repeated', async () => {
  let before = ''
  await using site = await meanwhile(async ({ github }) => {
    before = (await github.head(BRANCH)) ?? ''
    await github.deleteBranch(BRANCH)
  })
  assert.equal((await site.state()).prd.run.outcome, 'paused', site.log())
  assert.equal(await site.github.head(BRANCH), null)
  await site.github.bare.run(['update-ref', `refs/heads/${BRANCH}`, before])
  await site.go()
  await completed(site)
  assert.deepEqual(await worked(site), IDS)
})

test('the pull request is merged during a wave and the branch stays: the chain goes on there, nothing is lost', async () => {
  await using site = await meanwhile(async ({ github, pull }) => {
    await github.mergePull('alice', (await pull()).number)
  })
  // What landed after the merge is in a pull request of its own.
  await completed(site, 2)
  assert.deepEqual(await worked(site), IDS)
})

/** Commits a submodule with one file to the default branch, in lib/. */
async function addSubmodule({ github }: Site, folder: string): Promise<void> {
  const { bare } = github
  const lib = join(folder, 'lib.git')
  const who = { name: 'bob', email: 'bob@localhost' }
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', lib])
  const inLib = (args: string[], input = '') =>
    execFileSync('git', ['-C', lib, '-c', 'user.name=bob', '-c', 'user.email=bob@localhost', ...args], {
      input,
      encoding: 'utf8',
    }).trim()
  const file = inLib(['hash-object', '-w', '--stdin'], 'lib\n')
  const commit = inLib(['commit-tree', '-m', 'lib', inLib(['mktree'], `100644 blob ${file}\tlib.txt\n`)])
  inLib(['update-ref', 'refs/heads/main', commit])
  const before = (await bare.head('main')) ?? ''
  const env = { GIT_INDEX_FILE: join(folder, 'index') }
  const modules = await bare.run(['hash-object', '-w', '--stdin'], {
    input: `[submodule "lib"]\n\tpath = lib\n\turl = ${lib}\n`,
  })
  await bare.run(['read-tree', before], { env })
  for (const entry of [`100644,${modules},.gitmodules`, `160000,${commit},lib`])
    await bare.run(['update-index', '--add', '--cacheinfo', entry], { env })
  const tree = await bare.run(['write-tree'], { env })
  const after = await bare.commitTree(tree, [before], 'a submodule', { author: who, committer: who })
  await bare.run(['update-ref', 'refs/heads/main', after, before])
  await github.world.pushed([{ ref: 'refs/heads/main', before, after }], { login: 'alice' })
}

test('submodules in a wave: gates of every worker and of the join job see their files, and every story lands', async (t) => {
  const folder = await sharedFolder('ralph-wave-submodule-')
  t.after(() => rm(folder, { recursive: true, force: true }))
  const checkOut = '      - run: git -c protocol.file.allow=always submodule --quiet update --init\n'
  const end = 'persist-credentials: false # the agent must not find a token\n'
  await using site = await openWave({
    workflow: (text) => text.replaceAll(end, `${end}${checkOut}`),
    inputs: { gates: `test: ${RUN_TESTS} && grep -q lib lib/lib.txt` },
  })
  await addSubmodule(site, folder)
  await site.go()
  await completed(site)
  const tree = await site.github.bare.run(['ls-tree', BRANCH, 'lib'])
  assert.match(tree, /^160000 commit/)
})
