// Checks and statuses as they are posted: what is said of those that are ended from outside, and which permission is missing.
import assert from 'node:assert/strict'
import test from 'node:test'
import { Checks, type ReportAs } from '../../../src/github/post-checks.ts'
import { closingReportOf, MOVED_ON } from '../../../src/report/check-runs.ts'
import { type GitHub, startGitHub } from '../../standin/github.ts'
import { rollupCheck, storyCheck } from '../report/rendered.ts'
import { limits, midRun, NOW } from '../report/samples.ts'
import { connected } from './connected.ts'

const facts = { repositoryUrl: 'https://github.com/acme/shop', runUrl: null, limits, now: NOW, notes: [] }
const open = ['US-003', 'US-005'].map((id) => storyCheck(midRun(), id, facts))
const first = <T>(all: readonly T[]): T => all[0] ?? assert.fail('there is none')
const rollup = rollupCheck(midRun(), facts)

async function place(how: ReportAs, permissions: Parameters<GitHub['mintJobToken']>[0]) {
  const github = await startGitHub({ people: { alice: 'admin' } })
  const sha = await github.commit('ralph/auth', { 'a.txt': 'a' }, 'start', 'alice')
  const warnings: string[] = []
  const warn = (message: string) => warnings.push(message)
  const seen = connected(github, github.mintJobToken(permissions), warn)
  return {
    github,
    sha,
    warnings,
    checks: new Checks(seen, how, 'auth'),
    nextJob: async () => new Checks(seen, how, 'auth'),
    async [Symbol.asyncDispose]() {
      await github[Symbol.asyncDispose]()
    },
  }
}

test('checks on a former head are closed as cancelled, so that a required check is not satisfied', async () => {
  await using there = await place('checks', { checks: 'write' })
  const { github, checks, sha } = there
  await checks.post(sha, [rollup, ...open])
  await checks.closeAll(sha, () => MOVED_ON)
  const all = github.checksOf(sha)
  assert.equal(all.length, 3)
  for (const { name, conclusion, title, summary } of all) {
    assert.deepEqual([conclusion, title], ['cancelled', 'The branch has a newer commit'], name)
    assert.match(summary ?? '', /newest commit/)
  }
  assert.deepEqual(github.violations, [])
})

test('checks of a killed job say so, and not that the branch moved', async () => {
  await using there = await place('checks', { checks: 'write' })
  const { github, checks, sha } = there
  await checks.post(sha, [rollup, ...open])
  await checks.closeAll(sha, (name) => closingReportOf(midRun(), name))
  const all = github.checksOf(sha)
  assert.equal(all.length, 3)
  for (const { name, conclusion, title, summary } of all) {
    assert.equal(conclusion, 'cancelled', name)
    assert.match(summary ?? '', /`\/ralph run`/)
    assert.doesNotMatch(`${title} ${summary}`, /moved on/)
  }
})

test('a check list that GitHub refuses is not an empty one: no check is posted twice or considered closed', async () => {
  await using there = await place('checks', { checks: 'write' })
  const { github, checks, sha } = there
  await checks.post(sha, [rollup])
  // GitHub answers 409 where something else changes at the same time, or where there is no commit yet.
  github.fault({ method: 'GET', path: /\/check-runs$/ }, { status: 409 }, { times: 2 })
  const next = await there.nextJob()
  await assert.rejects(next.post(sha, [rollup]), { status: 409 })
  assert.deepEqual(await next.closeSuperseded([sha]), [sha])
  assert.deepEqual(
    github.checksOf(sha).map(({ name, status }) => [name, status]),
    [['ralph', 'in_progress']],
  )
  assert.match(there.warnings.join(), /could not close the checks on \w+; the next job tries again/)
  assert.deepEqual(await next.closeSuperseded([sha]), [])
})

test('checks are found beyond the first page', async () => {
  await using there = await place('checks', { checks: 'write' })
  const { github, checks, sha } = there
  await checks.post(sha, [rollup])
  const [ours] = github.checksOf(sha)
  assert.ok(ours !== undefined)
  for (let index = 0; index < 120; index++) {
    const id = github.world.nextId()
    github.world.checks.set(id, { ...ours, id, name: `ci / ${index}`, externalId: null })
  }
  await (await there.nextJob()).post(sha, [rollup])
  assert.equal(github.checksOf(sha).filter(({ name }) => name === 'ralph').length, 1)
})

test('pending statuses on a former head are closed, too', async () => {
  for (const [how, permissions] of [
    ['statuses', { statuses: 'write' }],
    // Checks may be read, but not written: statuses were posted in their place.
    ['checks', { statuses: 'write', checks: 'read' }],
  ] as const) {
    await using there = await place(how, permissions)
    const { github, checks, sha } = there
    await checks.post(sha, [rollup, ...open])
    github.world.statuses.push({ ...first(github.statusesOf(sha)), context: 'ci / build', state: 'pending' })
    await (await there.nextJob()).closeAll(sha, () => MOVED_ON)
    const newest = new Map(github.statusesOf(sha).map((one) => [one.context, one]))
    assert.equal(newest.size, 4)
    for (const [name, { state, description }] of newest) {
      if (name === 'ci / build') assert.equal(state, 'pending')
      else assert.deepEqual([state, description], ['error', MOVED_ON.title], name)
    }
  }
})

test('a check and a status never have the same name, since both would be required', async () => {
  await using there = await place('checks', { checks: 'write', statuses: 'write' })
  const { github, checks, sha } = there
  await checks.post(sha, [rollup, ...open])
  github.fault({ method: 'POST', path: /\/check-runs$/ }, { status: 403 }, { times: 100 })
  github.fault({ method: 'PATCH', path: /\/check-runs\// }, { status: 403 }, { times: 100 })
  await (await there.nextJob()).post(sha, [rollup, ...open])
  const names = github.checksOf(sha).map(({ name }) => name)
  const contexts = github.statusesOf(sha).map(({ context }) => context)
  assert.equal(contexts.length, 3)
  assert.deepEqual(
    contexts.filter((context) => names.includes(context)),
    [],
  )
})

test('a refused check names the missing permission', async () => {
  for (const [how, wanted] of [
    ['statuses', ['GitHub refuses statuses: give the job permissions: statuses: write']],
    [
      'checks',
      [
        'GitHub refuses checks, because permissions: checks: write is missing, so Ralph tries statuses instead',
        'GitHub refuses checks and statuses: give the job permissions: checks: write',
      ],
    ],
  ] as const) {
    await using there = await place(how, { contents: 'write' })
    await there.checks.post(there.sha, [rollup])
    assert.deepEqual(there.warnings, wanted)
  }
})
