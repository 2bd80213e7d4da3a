// A job that ends in the middle of a session: cancelled, its main killed, its machine lost. Nothing is left, nothing is lost.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import test from 'node:test'
import { openAttempt } from '../../src/engine/model/job.ts'
import type { Run } from '../standin/runner.ts'
import { goodTurn, openChecks, openSite, outputsOf, type Script, type Site, story } from './site.ts'

const STORIES = [story('US-001', 'one'), story('US-002', 'two')]
const GOOD = { 'US-001': [goodTurn('one', 1)], 'US-002': [goodTurn('two', 2)] }

/** Processes whose command line holds the text. */
function processes(text: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return []
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

/**
 * A session that hangs, with three children that have left its process group and hear no signal but the last. Each says
 * that it is up as the program that stays, so that whoever has heard all three finds three processes.
 */
function hanging(marker: string): Script {
  const child = `bash -c 'trap "" TERM INT HUP; p=$(mktemp -u); mkfifo $p; exec 4<>$p; rm $p; echo up >&3; exec 3>&-; read -t 600 -u 4' ${marker}`
  const shell = [
    'pipe=$(mktemp -u); mkfifo $pipe; exec 3<>$pipe; rm $pipe',
    `setsid ${child} </dev/null >/dev/null 2>&1 &`,
    `nohup ${child} </dev/null >/dev/null 2>&1 &`,
    `(setsid ${child} </dev/null >/dev/null 2>&1 &)`,
    'read -u 3; read -u 3; read -u 3',
  ].join('\n')
  return { 'US-001': [{ files: { 'src/half.mjs': 'export const half = 1\n' }, shell, hang: true }] }
}

/** Starts a run and waits until its first session hangs. */
async function hangs(site: Site, marker: string): Promise<Run> {
  const run = await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await site.runner.when((one) => one.status === 'completed' || site.runner.log(one).includes('hanging\n'))
  assert.equal(run.status, 'in_progress', site.log())
  assert.equal(processes(marker).length, 3)
  return run
}

/** The next job goes on from what the lost one left, to the end. */
async function goesOn(site: Site): Promise<void> {
  await site.setScript(GOOD)
  const run = await site.go()
  assert.equal(run.conclusion, 'success', site.log())
  assert.equal(outputsOf(run).outcome, 'complete', site.log())
  assert.equal(outputsOf(run).iterations, '2')
  const state = await site.state()
  assert.deepEqual(
    state.prd.userStories.map((one) => one.retries),
    [0, 0],
  )
  assert.deepEqual(openChecks(site), [])
  assert.equal((await site.pull()).draft, false)
  assert.equal(site.github.comments((await site.pull()).number).length, 1)
  assert.deepEqual(site.github.violations, [])
}

function postLog(run: Run): string {
  const steps = run.jobs.flatMap((job) => job.steps)
  return steps.find((step) => step.name.startsWith('Post') && step.name.includes('ralph/action'))?.log ?? ''
}

test('a job that is cancelled in a session leaves no child process, pushes its state, and the next job goes on', async (t) => {
  const marker = `ralph-e2e-${randomUUID()}`
  await using site = await openSite({ stories: STORIES, script: hanging(marker) })
  const run = await hangs(site, marker)
  const began = Date.now()
  site.runner.cancel(run.id)
  await site.runner.settled()

  t.diagnostic(
    `${Date.now() - began} ms from the click to the end of the job; the ladder of the runner has 10 s`,
  )
  assert.deepEqual(processes(marker), [])
  assert.equal(run.conclusion, 'cancelled', site.log())
  assert.deepEqual(run.jobs[0]?.notes, [], 'the runner found nothing to end')
  assert.equal(outputsOf(run).outcome, 'interrupted', 'main ended by itself')
  const state = await site.state()
  assert.equal(state.lease, null)
  assert.equal(openAttempt(state), null)
  assert.equal(state.prd.run.iterations, 0)
  assert.equal(state.prd.userStories[0]?.retries, 0)
  assert.notEqual(state.kept['US-001'], undefined, 'the work so far is kept')
  assert.equal((await site.checks()).get('ralph')?.conclusion, 'cancelled')
  assert.match(
    postLog(run).trim(),
    /^artifact ralph-sample-\d+-1: the report, and the logs of agents and gates \(\d+ files, \d+ KB\)$/,
  )
  assert.equal(site.runner.runs.length, 1, 'what a person cancelled is not started again')
  assert.doesNotMatch(postLog(run), /continues its work/)
  await goesOn(site)
})

test("the action's main process is killed: the post step ends its children and releases the lease", async () => {
  const marker = `ralph-e2e-${randomUUID()}`
  await using site = await openSite({ stories: STORIES, script: hanging(marker) })
  const run = await hangs(site, marker)
  const main = (await site.state()).lease?.pid ?? 0
  assert.ok(processes('/dist/action/main.js').includes(main))
  // The check is posted while the session runs.
  while (!(await site.checks()).has('ralph')) assert.equal(run.status, 'in_progress', site.log())
  process.kill(main, 'SIGKILL')
  await site.runner.settled()

  assert.deepEqual(processes(marker), [])
  assert.equal(run.conclusion, 'failure', site.log())
  assert.deepEqual(run.jobs[0]?.notes, [], 'the runner found nothing to end')
  assert.match(postLog(run), /the lease was released/)
  assert.match(
    postLog(run),
    /no other job of this run continues its work\. To continue now, press "Run workflow"/,
  )
  assert.match(postLog(run), /artifact ralph-sample-\d+-1: /, 'what there is of it is kept')
  assert.equal((await site.state()).lease, null)
  assert.equal((await site.checks()).get('ralph')?.status, 'completed')
  await goesOn(site)
})

test('a machine that is lost: the next job takes over the lease of the run that is over', async () => {
  await using site = await openSite({ stories: STORIES, script: {} })
  const middle = site.hold('middle')
  await site.setScript({ 'US-001': [{ files: { 'src/half.mjs': '' }, shell: middle.shell }] })
  const run = await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await middle.reached()
  site.runner.kill(run.id)
  await site.runner.settled()
  assert.equal(run.conclusion, 'failure')
  assert.equal((await site.state()).lease?.runId, run.id)
  await goesOn(site)
  assert.equal((await site.state()).records['US-001']?.attempts, 2)
})

test('a job that is cancelled during the baseline charges nothing and makes no branch or pull request', async () => {
  await using site = await openSite({
    stories: STORIES,
    script: GOOD,
    inputs: { gates: 'slow: "[ -e src/fast.mjs ] || sleep 600"' },
  })
  const run = await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await site.runner.when((one) => site.runner.log(one).includes('[baseline]'))
  site.runner.cancel(run.id)
  await site.runner.settled()
  assert.equal(run.conclusion, 'cancelled', site.log())
  assert.equal(outputsOf(run).outcome, 'interrupted', site.log())
  assert.equal(await site.github.head('ralph/sample'), null)
  assert.deepEqual(await site.github.pulls(), [])
  assert.equal((await site.state()).lease, null)
  await site.github.commit('main', { 'src/fast.mjs': '' })
  await goesOn(site)
  assert.notEqual(await site.github.read('ralph/sample', '.ralph/.gitattributes'), null)
})
