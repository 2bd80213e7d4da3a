// The dispatch of the next job: what a refusal means, and what is to be done about it.
import assert from 'node:assert/strict'
import test from 'node:test'
import { dispatchRun, findWorkflow } from '../../../src/github/dispatch.ts'
import { type FaultAnswer, type GitHub, startGitHub } from '../../standin/github.ts'
import { connected } from './connected.ts'

const WORKFLOW =
  'on:\n  workflow_dispatch:\n    inputs:\n      feature: { type: string }\n      generation: { type: string }\njobs: { work: { runs-on: ubuntu-24.04, steps: [{ run: true }] } }\n'

async function start(): Promise<GitHub> {
  return startGitHub({ files: { '.github/workflows/ralph.yml': WORKFLOW } })
}

function dispatch(github: GitHub) {
  const seen = connected(github, github.mintJobToken({ actions: 'write' }))
  return dispatchRun(seen, 'ralph.yml', { feature: 'auth', generation: 3 })
}

const inAnHour = Math.floor(Date.now() / 1000) + 3600

for (const [name, answer] of Object.entries({
  primary: {
    status: 403,
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(inAnHour) },
    body: { message: 'API rate limit exceeded for installation.' },
  },
  secondary: {
    status: 403,
    headers: { 'retry-after': '3600' },
    body: { message: 'You have exceeded a secondary rate limit.' },
  },
  '429': { status: 429, headers: { 'retry-after': '3600' }, body: { message: 'Too Many Requests' } },
} satisfies Record<string, FaultAnswer>)) {
  test(`a ${name} rate limit is not taken for a missing permission: the error gives the time to try again`, async () => {
    await using github = await start()
    github.fault({ method: 'POST', path: /dispatches$/ }, answer)
    const answered = await dispatch(github)
    assert.ok(answered.kind === 'limited')
    assert.ok(Math.abs(answered.until / 1000 - inAnHour) < 60, String(answered.until))
  })
}

for (const [status, message, mend] of [
  [403, 'Resource not accessible by integration', /permissions: actions: write/],
  [404, 'Not Found', /must be on the default branch/],
  [422, "Workflow does not have 'workflow_dispatch' trigger", /declare the inputs/],
] as const) {
  test(`${status} on a dispatch is an error with its fix`, async () => {
    await using github = await start()
    github.fault({ method: 'POST', path: /dispatches$/ }, { status, body: { message } })
    await assert.rejects(dispatch(github), mend)
  })
}

test('a server that does not know return_run_details gets the dispatch without it', async () => {
  await using github = await start()
  const body = { message: 'Invalid request.\n\n"return_run_details" is not a permitted key.' }
  github.fault({ method: 'POST', path: /dispatches$/ }, { status: 422, body })
  assert.equal((await dispatch(github)).kind, 'dispatched')
  assert.equal(github.world.runs.length, 1)
})

test("a run's workflow file is found by its name when the runner does not give it, else ralph.yml is used", async () => {
  const other = WORKFLOW.replace('on:', 'name: Other\non:')
  const named = WORKFLOW.replace('on:', 'name: "Ralph: the builder"\non:')
  const find = async (
    files: Record<string, string>,
    name: string,
    permissions: object = { actions: 'read', contents: 'read' },
  ) => {
    await using github = await startGitHub({ files: { 'a.txt': 'a', ...files } })
    return await findWorkflow(connected(github, github.mintJobToken(permissions)), name)
  }
  const all = { '.github/workflows/other.yml': other, '.github/workflows/build-stories.yaml': named }
  assert.equal(await find(all, 'Ralph: the builder'), 'build-stories.yaml')
  assert.equal(await find(all, '.github/workflows/other.yml'), 'other.yml')
  assert.equal(await find(all, 'other.yml'), 'other.yml')
  assert.equal(await find(all, 'Nobody'), null)
  const usual = { ...all, '.github/workflows/ralph.yml': WORKFLOW }
  assert.equal(await find(usual, 'Nobody'), 'ralph.yml')
  assert.equal(await find(usual, 'Ralph: the builder', { contents: 'read' }), 'ralph.yml')
  const twice = { ...usual, '.github/workflows/second.yml': other }
  assert.equal(await find(twice, 'Other'), 'ralph.yml', 'a name that two files have names none of them')
})
