// What `ralph doctor` asks GitHub, on the stand-in: every request is one that GitHub knows.
import assert from 'node:assert/strict'
import test from 'node:test'
import { connect } from '../../../../src/github/client.ts'
import { parseRemoteAddress } from '../../../../src/github/repository-address.ts'
import {
  checkGitHubAccess,
  checkPullRequests,
  checkRelease,
} from '../../../../src/setup/checks/check-github.ts'
import type { Check } from '../../../../src/setup/checks/check-table.ts'
import { diagnose } from '../../../../src/setup/checks/diagnose.ts'
import type { CheckResult, Subject } from '../../../../src/setup/checks/subject.ts'
import { type GitHub, startGitHub } from '../../../standin/github.ts'
import { ciOf, starter, subjectOf } from './subject.ts'

const YML = await starter()

async function place(options: Parameters<typeof startGitHub>[0] = {}) {
  const github = await startGitHub({
    people: { alice: 'admin' },
    files: { '.github/workflows/ralph.yml': YML },
    tokens: { admin: { login: 'alice', type: 'User', permissions: { contents: 'read', actions: 'read' } } },
    ...options,
  })
  const job = github.mintJobToken({ contents: 'read', actions: 'read' })
  const as = (token: string, inputs: Record<string, string> = {}): Subject => {
    const at = {
      owner: github.owner,
      repo: github.repo,
      server: github.url,
      api: github.url,
      defaultBranch: 'main',
    }
    return subjectOf({ github: connect(at, token, () => {}), feature: 'auth' }, ciOf(YML, inputs))
  }
  return {
    github,
    admin: as('admin'),
    job: as(job),
    unknown: as('ghp_none'),
    with: (inputs: Record<string, string>) => as('admin', inputs),
  }
}

async function said(results: Promise<CheckResult | CheckResult[]>, github: GitHub): Promise<string[]> {
  const found = [await results].flat()
  assert.deepEqual(github.violations, [])
  for (const { state, fix } of found) assert.equal(state === 'ok', fix === '')
  return found.map(({ state, found: text, fix }) => `${state}: ${text} -> ${fix}`)
}

test('the setting "Actions may open pull requests" is checked as admin, and in a job its place is named', async () => {
  const { github, admin, job, with: given } = await place()
  await using _ = github
  assert.match((await said(checkPullRequests(admin), github))[0] ?? '', /^ok: Actions may open them/)
  assert.match(
    (await said(checkPullRequests(job), github))[0] ?? '',
    /^unknown: .* -> .*acme\/shop\/settings\/actions$/,
  )
  github.settings.actionsMayOpenPullRequests = false
  assert.match(
    (await said(checkPullRequests(admin), github))[0] ?? '',
    /^warning: Actions may not.*-> run gh api -X PUT .*can_approve_pull_request_reviews=true .*settings\/actions/,
  )
  for (const inputs of [{ 'pull-request': 'none' }, { 'publish-token': 'x' }])
    assert.match((await said(checkPullRequests(given(inputs)), github))[0] ?? '', /^ok: /)
})

test('a newer release is a warning, and a failed request no fault', async () => {
  const { github, job } = await place()
  await using _ = github
  assert.match((await said(checkRelease(job), github))[0] ?? '', /^unknown: /)
  github.settings.releases = { 'ralph/action': 'v1.0.0' }
  assert.match((await said(checkRelease(job), github))[0] ?? '', /^ok: 1\.0\.0 is the newest/)
  github.settings.releases = { 'ralph/action': 'v1.2.0' }
  assert.match(
    (await said(checkRelease(job), github))[0] ?? '',
    /^warning: v1\.2\.0 is available \(you have 1\.0\.0\) -> run `ralph upgrade`, /,
  )
  assert.deepEqual(await checkRelease(subjectOf()), [])
})

test('without a token GitHub is not requested, and one finding says how to give one', async () => {
  const without = subjectOf({}, ciOf(YML))
  for (const look of [checkPullRequests, checkRelease]) assert.deepEqual(await look(without), [])
  const [found, ...others] = [checkGitHubAccess(without)].flat()
  assert.deepEqual([found?.state, others], ['unknown', []])
  assert.match(found?.fix ?? '', /GH_TOKEN/)
  assert.deepEqual(checkGitHubAccess(subjectOf()), [], 'without a workflow there is nothing to ask')
})

test('a token that GitHub rejects stops no other check', async () => {
  const { github, unknown } = await place()
  await using _ = github
  const checks: Check[] = [
    { name: 'pull requests', seen: 'remote', look: checkPullRequests },
    { name: 'the same again', seen: 'remote', look: checkPullRequests },
  ]
  const found = await diagnose(unknown, checks)
  assert.deepEqual(
    found.map(({ state, found: text }) => [state, text]),
    checks.map(() => ['unknown', 'GitHub rejects this token']),
  )
})

test('an answer of GitHub without a message is reported with its status', async () => {
  const { github, admin } = await place()
  await using _ = github
  github.fault({ path: /\/actions\/permissions/ }, { status: 422, body: '' })
  const [found] = await diagnose(admin, [{ name: 'pull requests', seen: 'remote', look: checkPullRequests }])
  assert.deepEqual([found?.state, found?.found], ['unknown', 'GitHub answered 422'])
})

test('a token is sent to its own server only', () => {
  const servers = { 'https://github.com': 'https://api.github.com' }
  for (const remote of [
    'https://github.com/acme/shop.git',
    'https://github.com/acme/shop',
    'https://user@github.com/acme/shop/',
    'git@github.com:acme/shop.git',
    'ssh://git@github.com/acme/shop.git',
    'ssh://git@github.com:22/acme/shop',
    'ssh://git@ssh.github.com:443/acme/shop.git',
  ]) {
    const { owner, repo, api } = parseRemoteAddress(remote, servers) ?? {}
    assert.deepEqual([owner, repo, api], ['acme', 'shop', 'https://api.github.com'], remote)
  }
  for (const remote of [
    'https://github.com.evil.example/acme/shop',
    'https://evil.example/github.com/acme/shop',
    'git@evil.example:acme/shop.git',
    'git@ssh.github.com.evil.example:acme/shop.git',
    'https://github.com@evil.example/acme/shop',
    'https://github.com/acme',
    'https://github.com/acme/shop/more',
    '/srv/git/shop.git',
    '../shop',
    '',
  ])
    assert.equal(parseRemoteAddress(remote, servers), null, remote)
})
