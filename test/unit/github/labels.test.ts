// Which labels of a pull request are ours to take off.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPull, openPull, setLabels } from '../../../src/github/pull.ts'
import { startGitHub } from '../../standin/github.ts'
import { connected } from './connected.ts'

test("a label with the name of an object's built-in property is kept", async () => {
  await using github = await startGitHub({ people: { alice: 'admin' } })
  await github.commit('ralph/auth', { 'a.txt': 'a' }, 'start', 'alice')
  const token = github.mintJobToken({ contents: 'write', pull_requests: 'write', issues: 'write' })
  const seen = connected(github, token)
  const opened = await openPull(seen, {
    branch: 'ralph/auth',
    base: 'main',
    title: 't',
    body: 'b',
    draft: false,
  })
  assert.equal(opened.kind, 'open')
  if (opened.kind !== 'open') return
  const { pull } = opened
  const people = ['constructor', 'toString', 'hasOwnProperty']
  const issue = { ...seen.repo, issue_number: pull.number }
  await seen.api.rest.issues.addLabels({ ...issue, labels: [...people, 'ralph:blocked'] })
  const found = (await findPull(seen, 'ralph/auth')) ?? assert.fail('not found')
  await setLabels(seen, found, ['ralph:complete'])
  assert.deepEqual([...found.labels].sort(), [...people, 'ralph:complete'].sort())
})
