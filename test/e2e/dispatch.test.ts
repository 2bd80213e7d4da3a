// Jobs that come twice, never, late or again: one chain and the same end, whatever starts runs. And `resume-lost`.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { openAttempt } from '../../src/engine/model/job.ts'
import { runUsage } from '../../src/engine/model/usage-totals.ts'
import type { SeenRequest } from '../standin/github.ts'
import { putState } from '../unit/github/put-state.ts'
import {
  annotationsOf,
  dispatchTwice,
  goodTurn,
  openChecks,
  openSite,
  outputsOf,
  ROOT,
  RUN_TESTS,
  type Site,
  type SiteOptions,
  story,
  workflow,
} from './site.ts'

const STORIES = [
  story('US-001', 'one'),
  story('US-002', 'two', { priority: 2 }),
  story('US-003', 'three', { priority: 3 }),
]
const SCRIPT = {
  'US-001': [goodTurn('one', 1)],
  'US-002': [goodTurn('two', 2)],
  'US-003': [goodTurn('three', 3)],
}
const QUICK = {
  gates: `test: ${RUN_TESTS}`,
  'final-verification': 'false',
  'iterations-per-job': '1',
}
const DISPATCHES = /\/actions\/workflows\/ralph\.yml\/dispatches$/

async function quick(options: Partial<SiteOptions> = {}): Promise<Site> {
  return openSite({ stories: STORIES, script: SCRIPT, ...options, inputs: { ...QUICK, ...options.inputs } })
}

async function withResume(options: Partial<SiteOptions> = {}): Promise<Site> {
  const resume = await readFile(join(ROOT, 'examples', 'ralph-resume.yml'), 'utf8')
  return quick({ ...options, files: { '.github/workflows/ralph-resume.yml': resume, ...options.files } })
}

/** The schedule fires; waits until nothing runs any more. Gives what the resuming runs said. */
async function schedule(site: Site, times = 1): Promise<string[]> {
  const runs = []
  for (let n = 0; n < times; n++)
    runs.push(...(await site.runner.trigger('schedule', { schedule: '17 * * * *' })))
  await site.runner.settled()
  assert.equal(runs.length, times)
  for (const run of runs) assert.equal(run.conclusion, 'success', site.runner.log(run))
  return runs.flatMap((run) => annotationsOf(run, 'notice'))
}

/** The next dispatch is accepted by GitHub, and no run ever comes of it. */
function dropDispatch(site: Site) {
  const body = { workflow_run_id: 1, run_url: site.github.url, html_url: site.github.url }
  return site.github.fault({ method: 'POST', path: DISPATCHES }, { status: 200, body })
}

/** One chain that came to its end: every story worked once, nothing doubled, nothing open. */
async function oneChain(site: Site): Promise<void> {
  const { github } = site
  assert.deepEqual(github.violations, [], site.log())
  const sessions = await site.sessions()
  assert.deepEqual(
    sessions.map((one) => one.story),
    ['US-001', 'US-002', 'US-003'],
    site.log(),
  )
  const state = await site.state()
  assert.equal(state.prd.run.outcome, 'complete', site.log())
  assert.equal(state.prd.run.iterations, 3)
  assert.equal(state.lease, null)
  assert.equal(openAttempt(state), null)
  assert.deepEqual(openChecks(site), [])
  const { number } = await site.pull()
  assert.equal(github.comments(number).filter((one) => one.login === 'github-actions[bot]').length, 1)
  await site.checks()
  for (const run of site.runner.runs) assert.equal(run.conclusion, 'success', site.runner.log(run))
  const commits = await github.bare.run([
    'log',
    '--format=%(trailers:key=Ralph-Story,valueonly)',
    'main..ralph/sample',
  ])
  assert.deepEqual(commits.split('\n').filter(Boolean), ['US-003', 'US-002', 'US-001'])
}

function outcomes(site: Site): (string | undefined)[] {
  return site.runner.runs.map((run) => outputsOf(run).outcome)
}

test('every dispatch of a chain arrives twice, one after the other: the second does nothing', async () => {
  await using site = await quick()
  const twice = dispatchTwice(site)
  await site.go()
  await oneChain(site)
  assert.equal(twice.size, 2)
  assert.deepEqual(
    outcomes(site)
      .map((one) => one ?? 'nothing')
      .sort(),
    ['complete', 'continued', 'continued', 'nothing', 'nothing'],
  )
  assert.match(
    site.log(),
    /Notice: another job has already continued the run: this job was started as generation 1, but the run is at \d/,
  )
})

test('every dispatch arrives twice at the same time, without a concurrency group: only one of the jobs works', async () => {
  await using site = await quick({ workflow: (text) => text.replace(/ {4}concurrency:\n(?: {6}.*\n)+/, '') })
  const twice = new Set<number>()
  site.github.world.onRun((run) => {
    const generation = Number(run.inputs.generation ?? '0')
    if (run.event !== 'workflow_dispatch' || twice.has(generation)) return
    twice.add(generation)
    void site.runner.dispatch('ralph.yml', { ...run.inputs }, { actor: 'alice' })
  })
  await site.go()
  await oneChain(site)
  assert.equal(twice.size, 3)
})

test('a dispatch with an older or a later generation does nothing', async () => {
  await using site = await quick()
  const lost = dropDispatch(site)
  await site.go()
  assert.equal(lost.hits, 1)
  const { generation } = await site.state()
  const before = await site.github.head('refs/ralph/2026-01-31-sample')
  for (const wrong of [0, generation - 1, generation + 1]) {
    const run = await site.go({ generation: String(wrong) })
    assert.equal(run.conclusion, 'success', site.log())
    assert.equal(outputsOf(run).outcome, undefined, site.runner.log(run))
  }
  assert.equal(await site.github.head('refs/ralph/2026-01-31-sample'), before)
  await site.go({ generation: String(generation) })
  await oneChain(site)
})

test('"Re-run" on the runs of a finished chain starts no new job', async () => {
  await using site = await quick()
  await site.go()
  const [first, ...others] = [...site.runner.runs]
  for (const run of [...others.reverse(), first]) {
    if (run === undefined) continue
    site.runner.rerun(run.id, { actor: 'bob' })
    await site.runner.settled()
  }
  await oneChain(site)
  assert.equal(site.runner.runs.length, 3, 'nothing new was started')
  assert.equal(outputsOf(first ?? site.last()).outcome, 'complete', 'a kick-off reports how it stands')
})

test('"Re-run" on an earlier run while the next job works ends at once', async () => {
  await using site = await quick({ workflow: (text) => text.replace(/ {4}concurrency:\n(?: {6}.*\n)+/, '') })
  const middle = site.hold('middle')
  await site.setScript({ ...SCRIPT, 'US-002': [{ ...goodTurn('two', 2), shell: middle.shell }] })
  const first = await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  const second = await middle.reached()
  site.runner.rerun(first.id, { actor: 'bob' })
  await site.runner.when((run) => run.id === first.id && run.attempt === 2 && run.status === 'completed')
  assert.match(site.runner.log(first), new RegExp(`Notice: run ${second.id} \\(http.*\\) works on sample`))
  await middle.release()
  await site.runner.settled()
  await oneChain(site)
})

test("two runs are started at the same time, one without the feature's name: there is one chain", async () => {
  await using site = await quick()
  await Promise.all([
    site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' }),
    site.runner.dispatch('ralph.yml', {}, { actor: 'bob' }),
  ])
  await site.runner.settled()
  await oneChain(site)
})

test('a second run that waits in the concurrency group while the chain works starts no second chain', async () => {
  await using site = await quick()
  const middle = site.hold('middle')
  await site.setScript({ ...SCRIPT, 'US-001': [{ ...goodTurn('one', 1), shell: middle.shell }] })
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await middle.reached()
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'bob' })
  await middle.release()
  await site.runner.settled()
  await oneChain(site)
})

test('a chain works without concurrency.queue and GITHUB_WORKFLOW_REF, as with act and older servers', async () => {
  await using site = await quick({
    runner: { lacks: ['GITHUB_WORKFLOW_REF'] },
    workflow: (text) => {
      const line = /\n +# Remove the line `queue` (?:[^\n]*\n +#)*[^\n]*\n +queue: max [^\n]*/
      assert.match(text, line)
      return text.replace(line, '')
    },
  })
  const middle = site.hold('middle')
  await site.setScript({ ...SCRIPT, 'US-001': [{ ...goodTurn('one', 1), shell: middle.shell }] })
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await middle.reached()
  // Each newer waiting run cancels the older one, also the chain's own next job.
  for (const actor of ['bob', 'alice', 'bob'])
    await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor })
  await middle.release()
  await site.runner.settled()
  const { runs } = site.runner
  assert.equal(runs.filter((run) => run.conclusion === 'cancelled').length, 3, site.log())
  const sessions = (await site.sessions()).map((one) => one.story)
  assert.deepEqual(sessions, ['US-001', 'US-002', 'US-003'], site.log())
  assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
  assert.deepEqual(openChecks(site), [])
})

test('an unknown workflow to dispatch is an error before anything is made', async () => {
  await using site = await quick({
    runner: { lacks: ['GITHUB_WORKFLOW_REF', 'GITHUB_WORKFLOW'] },
    files: {
      '.github/workflows/build.yml': await workflow(QUICK),
      '.github/workflows/ralph.yml': 'on: push\njobs: {}\n',
    },
  })
  await site.github.commit('main', { '.github/workflows/ralph.yml': null }, 'renamed')
  const run = await site.runner.dispatch('build.yml', { feature: 'sample' }, { actor: 'alice' })
  await site.runner.settled()
  assert.match(
    annotationsOf(run, 'error').join('\n'),
    /^input workflow: Ralph found no file for the workflow .*\n.*fix: set the input workflow .* such as workflow: ralph\.yml/,
  )
  assert.equal(await site.github.head('ralph/sample'), null)
  assert.deepEqual(await site.github.pulls(), [])
})

test('many comments while a job works: each is answered once, and no second chain starts', async () => {
  await using site = await quick()
  const middle = site.hold('middle')
  await site.setScript({ ...SCRIPT, 'US-001': [{ ...goodTurn('one', 1), shell: middle.shell }] })
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await middle.reached()
  const { number } = await site.pull()
  const said = ['/ralph note US-002 -- mind the gap', '/ralph run', '/ralph limit iterations +2'].map(
    (body) => site.github.comment('alice', number, body),
  )
  const odd = site.github.comment('alice', number, '/ralph retyr US-001')
  const foreign = site.github.comment('mallory', number, '/ralph skip all')
  await site.runner.when(
    (run) => run.payload.comment !== undefined && run.status === 'completed' && run === site.last(),
  )
  await middle.release()
  await site.runner.settled()
  assert.deepEqual(site.github.violations, [], site.log())
  for (const { id } of said)
    assert.deepEqual(site.reactions(id), ['github-actions[bot]: eyes', 'github-actions[bot]: rocket'])
  assert.deepEqual(site.reactions(odd.id), ['github-actions[bot]: confused'])
  assert.deepEqual(site.reactions(foreign.id), ['github-actions[bot]: confused'])
  const state = await site.state()
  assert.equal(state.control.granted.iterations, 2)
  assert.equal(state.prd.run.outcome, 'complete', site.log())
  assert.match((await site.sessions()).find((one) => one.story === 'US-002')?.prompt ?? '', /mind the gap/)
  const replies = site.github
    .comments(number)
    .filter((one) => one.login === 'github-actions[bot]' && /retyr/.test(one.body))
  assert.equal(replies.length, 1)
  const sessions = await site.sessions()
  assert.equal(sessions.length, 3)
})

test('a dispatch that GitHub drops: the schedule resumes the chain, once', async () => {
  await using site = await withResume()
  dropDispatch(site)
  await site.go()
  assert.deepEqual(outcomes(site), ['continued'])
  const said = await schedule(site)
  assert.deepEqual(said, ['resumed: sample (the next job never started)'])
  await oneChain(site)
  assert.deepEqual(await schedule(site), ['no run has lost its job, so there is nothing to resume'])
})

test('a dispatch that GitHub refuses fails the job with the reason, keeps its work, and the schedule resumes the chain', async () => {
  await using site = await withResume()
  site.github.fault({ method: 'POST', path: DISPATCHES }, { status: 404, body: { message: 'Not Found' } })
  const run = await site.go()
  assert.equal(run.conclusion, 'failure')
  assert.equal(outputsOf(run).outcome, 'error')
  assert.match(annotationsOf(run, 'error').join('\n'), /could not start the workflow ralph\.yml/)
  assert.equal((await site.prd()).userStories[0]?.passes, true)
  await schedule(site)
  assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
  assert.equal((await site.sessions()).length, 3)
})

test('a rate limit longer than the job refuses the dispatch: the job succeeds with a warning, and the schedule resumes the chain', async () => {
  await using site = await withResume({ inputs: { 'job-deadline': '14m', 'iteration-timeout': '1m' } })
  const reset = Math.floor(Date.now() / 1000) + 3600
  const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) }
  const body = { message: 'API rate limit exceeded for installation ID 1.' }
  site.github.fault({ method: 'POST', path: DISPATCHES }, { status: 403, headers, body })
  const run = await site.go()
  assert.equal(run.conclusion, 'success', site.log())
  assert.equal(outputsOf(run).outcome, 'continued')
  assert.deepEqual(annotationsOf(run, 'error'), [])
  const warned = annotationsOf(run, 'warning').join('\n')
  assert.match(warned, /^continued: .*rate limit blocks the next job until .*\n.*resume-lost/m)
  assert.doesNotMatch(site.log(), /permissions: actions/)
  const [comment] = site.github.comments((await site.pull()).number)
  assert.match(comment?.body ?? '', /1 of 3 stories pass · GitHub's rate limit blocks the next job until/)
  assert.deepEqual(openChecks(site), [])
  assert.deepEqual(await schedule(site), ['resumed: sample (the next job never started)'])
  await oneChain(site)
})

test('the schedule fires twice at the same time: one dispatch takes effect', async () => {
  await using site = await withResume()
  dropDispatch(site)
  await site.go()
  await schedule(site, 2)
  await oneChain(site)
})

test('the schedule waits for a queued run that may be the next job, but not for one that has waited days for approval', async () => {
  await using site = await withResume()
  dropDispatch(site)
  await site.go()
  const { startedAt } = (await site.state()).job
  const waiting = (title: string, since: number) => {
    const run = { status: 'waiting', display_title: title, created_at: new Date(since).toISOString() }
    const body = { total_count: 1, workflow_runs: [run] }
    return site.github.fault({ path: /\/ralph\.yml\/runs/ }, { status: 200, body })
  }
  for (const title of ['Ralph sample', 'Ralph']) {
    waiting(title, startedAt)
    assert.deepEqual(await schedule(site), [
      'not resumed, because a job is already queued (the next scheduled run checks again): sample',
    ])
  }
  const old = waiting('Ralph', startedAt - 48 * 3_600_000)
  assert.deepEqual(await schedule(site), ['resumed: sample (the next job never started)'])
  assert.equal(old.hits, 1)
  await oneChain(site)
})

test('between two jobs a command does not start another job, and status names the one that was started', async () => {
  await using site = await quick()
  dropDispatch(site)
  await site.go()
  const { startedAt } = (await site.state()).job
  const html_url = `${site.github.url}/acme/shop/actions/runs/77`
  const started = (more: Record<string, unknown>) => {
    const at = new Date(startedAt + 1000).toISOString()
    const run = { id: 77, html_url, name: 'Ralph', display_title: 'Ralph sample', status: 'queued' }
    const body = { total_count: 1, workflow_runs: [{ ...run, created_at: at, ...more }] }
    return site.github.fault({ path: /\/ralph\.yml\/runs/ }, { status: 200, body })
  }
  const jobs = () => site.runner.runs.filter(({ event }) => event === 'workflow_dispatch').length
  for (const more of [{}, { status: 'in_progress' }, { display_title: 'Ralph' }]) {
    const seen = started(more)
    const id = await site.say('bob', '/ralph run')
    assert.equal(seen.hits, 1)
    assert.equal(jobs(), 1, site.log())
    assert.match(
      annotationsOf(site.last(), 'notice').join(),
      /^run 77 has already started and will handle this before any story$/,
    )
    assert.deepEqual(site.reactions(id), ['github-actions[bot]: eyes'])
  }
  started({})
  await site.say('bob', '/ralph status')
  const reply = site.github.comments((await site.pull()).number).at(-1)?.body ?? ''
  assert.ok(reply.includes(`[A job](${html_url}) has been started, but has not begun to work yet.`), reply)
  assert.match(reply, /\*\*Next:\*\* Nothing to do: the job that was started continues the work\./)
  assert.doesNotMatch(reply, /Continue with/)
  // A job of another feature does not read it.
  started({ display_title: 'Ralph other' })
  await site.say('bob', '/ralph run')
  assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
})

test('the machine of a job is lost: the schedule resumes the chain, and the attempt is given back', async () => {
  await using site = await withResume()
  const middle = site.hold('middle')
  await site.setScript({ ...SCRIPT, 'US-002': [{ shell: middle.shell }] })
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  const second = await middle.reached()
  assert.deepEqual(await scheduleBeside(site), ['no run has lost its job, so there is nothing to resume'])
  site.runner.kill(second.id)
  await site.runner.settled()
  await site.setScript(SCRIPT)
  assert.deepEqual(await schedule(site), ['resumed: sample (the job that worked on it was lost)'])
  const state = await site.state()
  assert.equal(state.prd.run.outcome, 'complete', site.log())
  assert.equal(state.prd.userStories[1]?.retries, 0)
  assert.equal((await site.sessions()).length, 4)
})

test('the machine of a job is lost, and people close the pull request: its checks end, and only a command continues', async () => {
  await using site = await withResume()
  const middle = site.hold('middle')
  await site.setScript({ ...SCRIPT, 'US-002': [{ shell: middle.shell }] })
  const posted = new Promise<void>((resolve) => {
    const where = ({ job, method }: SeenRequest) => {
      if (method !== 'GET' && job?.runId === site.runner.runs[1]?.id) resolve()
      return false
    }
    site.github.fault({ path: /\/check-runs/, where }, 'drop')
  })
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  const second = await middle.reached()
  await posted
  const { number } = await site.pull()
  const other = await site.github.commit('ralph/other', { 'other.md': 'other\n' }, 'other', 'bob')
  assert.ok(other)
  const closedBy = async (pull: number) => {
    const runs = site.runner.runs.length
    site.github.closePull(pull, 'bob')
    await site.runner.settled()
    return site.runner.runs.slice(runs).flatMap((run) => annotationsOf(run, 'notice'))
  }
  site.runner.kill(second.id)
  await site.runner.settled()
  const stranger = await site.github.openPull('bob', { head: 'ralph/other' })
  assert.deepEqual(await closedBy(stranger.number), ["the branch is not one of Ralph's runs"])
  assert.notDeepEqual(openChecks(site), [])
  const notResumed = ['not resumed, because the pull request was merged or closed: sample']
  assert.deepEqual(await closedBy(number), notResumed)
  assert.deepEqual(openChecks(site), [])
  assert.deepEqual(await schedule(site), notResumed)
  assert.equal((await site.sessions()).length, 2)
  await site.setScript(SCRIPT)
  site.github.comment('bob', number, '/ralph run')
  await site.runner.settled()
  assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
  assert.deepEqual(site.github.violations, [])
})

/** The schedule fires while a job works. */
async function scheduleBeside(site: Site): Promise<string[]> {
  const [run] = await site.runner.trigger('schedule', { schedule: '17 * * * *' })
  assert.ok(run !== undefined)
  await site.runner.when((one) => one.id === run.id && one.status === 'completed')
  return annotationsOf(run, 'notice')
}

test('the main process is killed and the post step has cleaned up: the schedule resumes the chain', async () => {
  await using site = await withResume()
  await site.setScript({ ...SCRIPT, 'US-001': [{ shell: KILL_MAIN }] })
  const run = await site.go()
  assert.equal(run.conclusion, 'failure', site.log())
  assert.equal((await site.state()).lease, null, site.log())
  await site.setScript(SCRIPT)
  await schedule(site)
  assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
})

test('the main process is killed during gates: the post step counts the usage that the session reported', async () => {
  const gates = JSON.stringify({ kill: `[ ! -e src/one.mjs ] || { ${KILL_MAIN}; }` })
  await using site = await quick({ inputs: { gates, 'max-cost-usd': '9' } })
  const run = await site.go()
  assert.equal(run.conclusion, 'failure', site.log())
  const { costUsd, estimatedCostUsd } = runUsage(await site.state())
  assert.deepEqual([costUsd, estimatedCostUsd], [0.01, undefined], site.log())
})

/** Ends the action's own process from the agent's shell: the nearest parent that runs the bundle. */
const KILL_MAIN = `p=$$; while [ "$p" -gt 1 ]; do grep -qa 'dist/action/main[.]js' /proc/$p/cmdline && kill -9 $p && break; p=$(awk '{print $4}' /proc/$p/stat); done; sleep 5`

test('a job that a person cancelled: the schedule does not resume the chain', async () => {
  await using site = await withResume()
  const middle = site.hold('middle')
  await site.setScript({ ...SCRIPT, 'US-002': [{ shell: middle.shell }] })
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  const second = await middle.reached()
  site.runner.cancel(second.id)
  await site.runner.settled()
  assert.equal(outputsOf(second).outcome, 'interrupted', site.log())
  await site.setScript(SCRIPT)
  assert.deepEqual(await schedule(site), ['no run has lost its job, so there is nothing to resume'])
  assert.equal((await site.sessions()).length, 2)
})

test('a job that a person cancelled and that was killed before it could save: the schedule does not resume the chain', async () => {
  await using site = await withResume({ runner: { times: { interrupt: 1, terminate: 1 } } })
  const middle = site.hold('middle')
  await site.setScript({ ...SCRIPT, 'US-002': [{ shell: middle.shell }] })
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  const second = await middle.reached()
  site.runner.cancel(second.id)
  await site.runner.settled()
  assert.equal(second.conclusion, 'cancelled', site.log())
  assert.equal(outputsOf(second).outcome, undefined, 'main was killed')
  await site.setScript(SCRIPT)
  assert.deepEqual(await schedule(site), ['no run has lost its job, so there is nothing to resume'])
  assert.equal((await site.sessions()).length, 2)
})

test('the schedule does not resume a paused or a finished chain', async () => {
  await using site = await withResume()
  const middle = site.hold('middle')
  await site.setScript({ ...SCRIPT, 'US-001': [{ ...goodTurn('one', 1), shell: middle.shell }] })
  await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await middle.reached()
  site.github.comment('alice', (await site.pull()).number, '/ralph pause')
  await middle.release()
  await site.runner.settled()
  assert.deepEqual(await schedule(site), ['no run has lost its job, so there is nothing to resume'])
  await site.say('alice', '/ralph run')
  await site.runner.settled()
  assert.equal((await site.state()).prd.run.outcome, 'complete', site.log())
  assert.deepEqual(await schedule(site), ['no run has lost its job, so there is nothing to resume'])
})

test('the schedule does not resume a chain that waits for calls-per-hour', async () => {
  await using site = await withResume({ inputs: { 'calls-per-hour': '1' } })
  await site.go()
  await site.runner.settled()
  assert.deepEqual(outcomes(site), ['paused'], site.log())
  assert.deepEqual(await schedule(site), ['no run has lost its job, so there is nothing to resume'])
  assert.equal((await site.sessions()).length, 1)
})

/** GitHub takes no change of a check from these runs. */
function checksAway(site: Site, of: (runId: number) => boolean) {
  const where = ({ job }: SeenRequest) => job !== null && of(job.runId)
  const body = { message: 'Bad credentials' }
  return site.github.fault(
    { method: 'PATCH', path: /\/check-runs\/\d+$/, where },
    { status: 401, body },
    { times: 1000 },
  )
}

test('a check that a job could not close is closed by the next job', async () => {
  await using site = await quick()
  const fault = checksAway(site, (id) => id === site.runner.runs[0]?.id)
  await site.go()
  // Posted once, at the start; the one change of it is its end.
  assert.equal(fault.hits, 1)
  assert.match(
    annotationsOf(site.runner.runs[0] ?? site.last(), 'warning').join(),
    /the next job tries again/,
  )
  await oneChain(site)
  assert.deepEqual((await site.state()).github.unclosed, [])
})

test('a check that neither the job nor its post step could close is closed by the schedule, also of a cancelled chain', async () => {
  await using site = await withResume({ runner: { times: { interrupt: 1, terminate: 1 } } })
  const middle = site.hold('middle')
  await site.setScript({ ...SCRIPT, 'US-001': [{ shell: middle.shell }] })
  const run = await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  checksAway(site, (id) => id === run.id)
  // The check is posted beside the session.
  const posted = new Promise<void>((resolve) => {
    const where = () => {
      resolve()
      return false
    }
    site.github.fault({ method: 'POST', path: /\/check-runs$/, where }, 'drop')
  })
  await middle.reached()
  await posted
  site.runner.cancel(run.id)
  await site.runner.settled()
  assert.deepEqual(openChecks(site), ['ralph'], site.log())
  assert.deepEqual(await schedule(site), ['no run has lost its job, so there is nothing to resume'])
  assert.deepEqual(openChecks(site), [])
  assert.equal((await site.checks()).get('ralph')?.conclusion, 'cancelled')
})

test('the schedule deletes the state of a feature whose pull request was closed a month ago, and no other', async () => {
  await using site = await withResume()
  await site.go()
  await oneChain(site)
  assert.deepEqual(await schedule(site), ['no run has lost its job, so there is nothing to resume'])
  const { github } = site
  const state = await site.state()
  const monthAgo = Date.now() - 31 * 24 * 60 * 60_000
  const pull = await site.pull()
  github.closePull(pull.number)
  const issue = github.world.issues.get(pull.number)
  assert.ok(issue !== undefined)
  issue.closedAt = new Date(monthAgo).toISOString()
  // It ended lately.
  assert.deepEqual(await schedule(site), ['no run has lost its job, so there is nothing to resume'])
  await putState(github, { ...state, lease: null, job: { ...state.job, startedAt: monthAgo } })
  assert.deepEqual(await schedule(site), [
    'deleted the state, because the pull request was merged or closed 30 days ago: 2026-01-31-sample',
  ])
  assert.equal(await github.bare.run(['for-each-ref', 'refs/ralph']), '')
  assert.equal(await github.head('ralph/sample'), state.published)
  assert.deepEqual(github.violations, [])
})
