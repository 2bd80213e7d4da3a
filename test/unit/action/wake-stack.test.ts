// People merged or closed a pull request of a stack: whether a job is started for it, and for which run.
import assert from 'node:assert/strict'
import test from 'node:test'
import type { ActionContext } from '../../../src/action/action-context.ts'
import { resumeLost } from '../../../src/action/resume.ts'
import { emptyControl } from '../../../src/engine/model/job.ts'
import type { State } from '../../../src/engine/model/state.ts'
import { startGitHub } from '../../standin/github.ts'
import { stateOf, stories } from '../engine/samples.ts'
import { putState } from '../github/put-state.ts'

const WORKFLOW =
  'on:\n  workflow_dispatch:\n    inputs:\n      feature: { type: string }\n      generation: { type: string }\njobs: { work: { runs-on: ubuntu-24.04, steps: [{ run: true }] } }\n'
const HOUR_MS = 3_600_000

async function place() {
  const github = await startGitHub({
    people: { alice: 'admin' },
    files: { '.github/workflows/ralph.yml': WORKFLOW },
  })
  const { owner, repo, url: server, apiUrl: api } = github
  const context: ActionContext = {
    env: { PATH: process.env.PATH ?? '' },
    place: { owner, repo, server, api, defaultBranch: 'main' },
    run: { id: 1, attempt: 1, url: '' },
    job: 'resume',
    ref: 'refs/heads/main',
    workflow: 'ralph.yml',
    event: { kind: 'schedule' },
    inputs: {
      workflow: 'ralph.yml',
      token: github.mintJobToken({
        contents: 'write',
        actions: 'write',
        pull_requests: 'write',
        checks: 'write',
      }),
    },
    workspace: '',
    settings: null,
  }
  return {
    github,
    /** What the job says when a pull request from this branch is closed. */
    closed: (branch: string) => resumeLost(context, branch),
    started: () => github.world.runs.map(({ inputs }) => `${inputs.feature} ${inputs.generation}`),
    async [Symbol.asyncDispose]() {
      assert.deepEqual(github.violations, [])
      await github[Symbol.asyncDispose]()
    },
  }
}

const LAYER = 'ralph/auth+US-001'

function run(changes: Partial<State> = {}): State {
  const now = Date.now()
  const known = stateOf(stories('US-001', 'US-002'), { generation: 3, ...changes })
  return { ...known, job: { ...known.job, startedAt: now - HOUR_MS, deadline: now + HOUR_MS } }
}

test('the newest run of the branch is woken, whatever other folders of states are called', async () => {
  await using at = await place()
  await putState(at.github, run({ folder: '.ralph/2025-12-01-auth', generation: 9 }))
  await putState(at.github, run())
  await putState(at.github, run({ folder: '.ralph/copy-of-auth', generation: 5 }))
  assert.equal(await at.closed(LAYER), 'started a job for the stack of auth')
  assert.deepEqual(at.started(), ['auth 3'])
})

test('a branch that looks like a layer of another feature, but is that of a run, wakes no stack', async () => {
  await using at = await place()
  await putState(at.github, run())
  await putState(at.github, run({ folder: '.ralph/2026-01-10-us', feature: 'us', branch: LAYER }))
  assert.equal(await at.closed(LAYER), 'no run has lost its job, so there is nothing to resume')
  assert.deepEqual(at.started(), [])
})

test('a run whose own pull request people closed or merged into the base is over; merged into a layer it is not', async () => {
  for (const how of ['closed', 'merged', 'merged into a layer'] as const) {
    await using at = await place()
    const { github } = at
    await github.commit(LAYER, { 'a.txt': 'a' })
    await github.commit('ralph/auth', { 'b.txt': 'b' })
    const base = how === 'merged into a layer' ? LAYER : 'main'
    const { number } = await github.openPull('alice', { head: 'ralph/auth', base })
    if (how === 'closed') github.closePull(number)
    else await github.mergePull('alice', number)
    const known = run()
    await putState(github, { ...known, github: { ...known.github, pull: number } })
    const over = 'started no job for the stack of auth, because its own pull request was merged or closed'
    const isOver = how !== 'merged into a layer'
    assert.equal(await at.closed(LAYER), isOver ? over : 'started a job for the stack of auth', how)
    assert.deepEqual(at.started(), isOver ? [] : ['auth 3'], how)
  }
})

test('a run that a person paused stays paused', async () => {
  await using at = await place()
  const paused = (by: string) => ({ ...emptyControl(), paused: { by, reason: 'a pause' } })
  await putState(at.github, run({ control: paused('alice') }))
  assert.equal(await at.closed(LAYER), 'started no job for the stack of auth, because a person paused it')
  await putState(at.github, run({ control: paused('ralph') }))
  assert.equal(await at.closed(LAYER), 'started a job for the stack of auth')
  assert.deepEqual(at.started(), ['auth 3'])
})
