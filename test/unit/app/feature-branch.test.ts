// Ralph never commits to the base or the default branch, however its name is spelled.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuseShared } from '../../../src/app/feature-branch.ts'

const base = { branch: 'develop', defaultBranch: 'main', sha: '1'.repeat(40) }

test('a branch that differs from the default or the base branch only in case is refused', () => {
  for (const branch of ['main', 'develop'])
    assert.throws(
      () => refuseShared(branch, 'prd.json', base),
      new RegExp(`Ralph cannot work on ${branch}, because other people share this branch\\.`),
    )
  assert.throws(
    () => refuseShared('MAIN', 'prd.json', base),
    /on MAIN \(on file systems that ignore case it is main\)/,
  )
  assert.throws(() => refuseShared('Develop', 'prd.json', base), /Develop \(on .* it is develop\)/)
  refuseShared('main-2', 'prd.json', base)
})
