// Checks and statuses as they are posted: what is said of those that are ended from outside, and which permission is missing.
import assert from 'node:assert/strict'
import test from 'node:test'
import { createChecks, type ReportAs } from '../../../src/github/checks.ts'
import { createClient } from '../../../src/github/client.ts'
import { rollupCheck, storyCheck } from '../../../src/report/checks.ts'
import { type GitHub, startGitHub } from '../../standin/github.ts'
import { limits, midRun, NOW } from '../report/samples.ts'

const facts = { repositoryUrl: 'https://github.com/acme/shop', runUrl: null, limits, now: NOW, notes: [] }
const open = ['US-003', 'US-005'].map((id) => storyCheck(midRun(), id, facts))
const rollup = rollupCheck(midRun(), facts)

async function place(how: ReportAs, permissions: Parameters<GitHub['mintJobToken']>[0]) {
  const github = await startGitHub({ people: { alice: 'admin' } })
  const sha = await github.commit('ralph/auth', { 'a.txt': 'a' }, 'start', 'alice')
  const warnings: string[] = []
  const warn = (message: string) => warnings.push(message)
  const api = createClient({ token: github.mintJobToken(permissions), url: github.url, warn })
  const { owner, repo, url } = github
  const where = { owner, repo, server: url, api: url, defaultBranch: 'main' }
  return {
    github,
    sha,
    warnings,
    checks: createChecks(api, where, how, 'auth', warn),
    async [Symbol.asyncDispose]() {
      await github[Symbol.asyncDispose]()
    },
  }
}

test('checks of a commit that is no head any more are ended, and satisfy nobody who requires them', async () => {
  await using there = await place('checks', { checks: 'write' })
  const { github, checks, sha } = there
  await checks.post(sha, [rollup, ...open])
  await checks.closeAll(sha, 'The branch has moved on')
  const all = github.checksOf(sha)
  assert.equal(all.length, 3)
  for (const { name, conclusion, title, summary } of all) {
    assert.deepEqual([conclusion, title], ['cancelled', 'The branch has moved on'], name)
    assert.match(summary ?? '', /newest commit/)
  }
  assert.deepEqual(github.violations, [])
})

test('the check of a job that was killed says so, and not that the branch has moved on', async () => {
  await using there = await place('checks', { checks: 'write' })
  const { github, checks, sha } = there
  await checks.post(sha, [rollup, ...open])
  await checks.close(sha, 'ralph', 'The job was ended; run the workflow to go on')
  const [ended, ...others] = github.checksOf(sha).sort((one, other) => one.name.localeCompare(other.name))
  assert.deepEqual([ended?.name, ended?.conclusion], ['ralph', 'cancelled'])
  assert.match(ended?.summary ?? '', /`\/ralph run`/)
  assert.doesNotMatch(`${ended?.title} ${ended?.summary}`, /moved on/)
  assert.ok(others.every(({ conclusion }) => conclusion === null))
})

test('what is refused names the permission that is missing', async () => {
  for (const [how, wanted] of [
    ['statuses', ['statuses may not be posted: the job needs permissions: statuses: write']],
    [
      'checks',
      [
        'checks are refused (permissions: checks: write is missing): statuses are tried instead',
        'neither checks nor statuses may be posted: the job needs permissions: checks: write',
      ],
    ],
  ] as const) {
    await using there = await place(how, { contents: 'write' })
    await there.checks.post(there.sha, [rollup])
    assert.deepEqual(there.warnings, wanted)
  }
})
