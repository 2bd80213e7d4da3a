// The branch of a job that has a commit checked out and no branch: by the CI's variables, and by --base-branch.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { branchOfJob, defaultBranchOfJob } from '../../../src/cli/ci-branch.ts'
import { GATE, good, openPlace, type Place } from './place.ts'

const BRANCHES: [what: string, env: Record<string, string>, branch: string | null][] = [
  ['no CI', {}, null],
  [
    'GitLab, a branch',
    { CI_COMMIT_REF_NAME: 'main', CI_COMMIT_BRANCH: 'main', CI_DEFAULT_BRANCH: 'main' },
    'main',
  ],
  [
    'GitLab, a merge request',
    { CI_COMMIT_REF_NAME: 'fix', CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main' },
    'main',
  ],
  ['GitLab, a tag', { CI_COMMIT_REF_NAME: 'v1', CI_COMMIT_TAG: 'v1', CI_DEFAULT_BRANCH: 'main' }, null],
  ['Jenkins, the Git plugin', { GIT_BRANCH: 'origin/release/2' }, 'release/2'],
  ['Jenkins, a multibranch pipeline', { BRANCH_NAME: 'main', GIT_BRANCH: 'main' }, 'main'],
  ['Jenkins, a pull request', { BRANCH_NAME: 'PR-12', CHANGE_ID: '12', CHANGE_TARGET: 'main' }, 'main'],
  ['Jenkins, a tag', { BRANCH_NAME: 'v1', TAG_NAME: 'v1', GIT_BRANCH: 'v1' }, null],
  ['GitHub, a branch', { GITHUB_REF: 'refs/heads/main' }, 'main'],
  ['GitHub, a pull request', { GITHUB_REF: 'refs/pull/3/merge', GITHUB_BASE_REF: 'main' }, 'main'],
  ['GitHub, a tag', { GITHUB_REF: 'refs/tags/v1', GITHUB_BASE_REF: '' }, null],
  ['Azure', { BUILD_SOURCEBRANCH: 'refs/heads/main' }, 'main'],
  ['Azure, a pull request', { BUILD_SOURCEBRANCH: 'refs/pull/1/merge' }, null],
  ['a value that is no name', { GIT_BRANCH: '--upload-pack=x', CIRCLE_BRANCH: 'a b' }, null],
]

for (const [what, env, branch] of BRANCHES)
  test(`the branch of the job: ${what}`, () => assert.equal(branchOfJob(env), branch))

test("the default branch is the CI's", () => {
  assert.equal(defaultBranchOfJob({ CI_DEFAULT_BRANCH: 'trunk' }), 'trunk')
  assert.equal(defaultBranchOfJob({}), null)
})

/** The checkout of a CI's runner: a commit, `origin/main`, and no branch. */
async function jobCheckout(): Promise<Place> {
  const place = await openPlace([{ id: 'US-001' }])
  await place.setScript({ 'US-001': [good('US-001')] })
  place.git('checkout', '-q', '--detach')
  place.git('update-ref', 'refs/remotes/origin/main', 'HEAD')
  place.git('branch', '-D', 'main')
  return place
}

const JOBS: [what: string, args: string[], env: Record<string, string>][] = [
  ['the variables of GitLab', [], { CI_COMMIT_BRANCH: 'main', CI_DEFAULT_BRANCH: 'main' }],
  ['the variables of Jenkins', [], { GIT_BRANCH: 'origin/main' }],
  ['--base-branch', ['--base-branch', 'main'], {}],
]

for (const [what, args, env] of JOBS)
  test(`a run in a detached checkout works with ${what}`, async () => {
    await using place = await jobCheckout()
    const flags = [...place.agent, ...GATE, '--final-verification', 'false', ...args]
    const ran = await place.start(['run', ...flags], { env }).ended
    assert.equal(ran.code, 0, ran.out + ran.err)
    assert.equal(place.git('symbolic-ref', '--short', 'HEAD'), 'ralph/sample')
    assert.equal(
      place.git('merge-base', 'ralph/sample', 'origin/main'),
      place.git('rev-parse', 'origin/main'),
    )
    const status = await place.start(['status', ...args], { env }).ended
    assert.equal(status.code, 0, status.out + status.err)
  })
