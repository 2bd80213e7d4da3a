// What the jobs of a wave ask of GitHub: few requests an iteration and a job, however many workers there are.
import assert from 'node:assert/strict'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { sharedFolder } from '../fakes/shared.ts'
import { goodTurn, openSite, outputsOf, RUN_TESTS, story, together } from './site.ts'

const NAMES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight']
const WORKERS = 4
const idOf = (at: number) => `US-00${at + 1}`

test('a wave of four workers makes at most 15 API requests per job and 4 per iteration, beside checks', async (t) => {
  const folder = await sharedFolder('ralph-wave-requests-')
  t.after(() => rm(folder, { recursive: true, force: true }))
  const atWork = join(folder, 'at-work')
  await mkdir(atWork)
  // The first session of each worker waits until all of them are at work.
  const shell = `echo "a session begins"; ${together(atWork, WORKERS)}`
  await using site = await openSite({
    parallel: true,
    stories: NAMES.map((name, at) => story(idOf(at), name)),
    script: Object.fromEntries(NAMES.map((name, at) => [idOf(at), [{ ...goodTurn(name, at), shell }]])),
    inputs: { 'max-parallel': `${WORKERS}`, gates: `test: ${RUN_TESTS}` },
  })
  assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
  const jobs = site.runner.runs.flatMap((run) =>
    run.jobs
      .filter(({ conclusion }) => conclusion !== 'skipped')
      .map((job) => {
        const asked = site.github.requests.filter((one) => one.job?.jobId === job.id)
        const api = asked.filter(({ kind }) => kind !== 'git')
        const checks = api.filter(({ method, path }) => method === 'POST' && path.endsWith('/check-runs'))
        const log = job.steps.map((step) => step.log).join('\n')
        const sessions = log.split('\n').filter((line) => line.endsWith('a session begins')).length
        const git = asked.length - api.length
        return { name: job.name, api: api.length - checks.length, checks: checks.length, sessions, git }
      }),
  )
  for (const { name, api, checks, sessions, git } of jobs)
    t.diagnostic(`${name}: ${api} to the API and ${checks} checks, ${sessions} sessions, ${git} of git`)
  const workers = jobs.filter(({ name }) => name.startsWith('work'))
  assert.equal(workers.length, WORKERS)
  assert.equal(
    workers.reduce((sum, { sessions }) => sum + sessions, 0),
    NAMES.length,
  )
  for (const { name, api, sessions } of jobs) assert.ok(api <= 15 + 4 * sessions, `${name}: ${api}`)
  // Workers open and end nothing: a few to begin, then those of their iterations.
  for (const { name, api, sessions } of workers) assert.ok(api <= 4 + 4 * sessions, `${name}: ${api}`)
})
