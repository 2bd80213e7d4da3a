// The stand-in's git server: real clones and pushes, and the refusals of the real one.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type GitHub, startGitHub } from '../../standin/github.ts'
import { clone, everything } from './client.ts'

describe("the stand-in's git over HTTP", () => {
  let github: GitHub
  before(async () => {
    github = await startGitHub({
      people: { alice: 'admin' },
      files: { 'README.md': 'Hello', '.github/workflows/ci.yml': 'on: push\njobs: {}\n' },
      protectedBranches: ['release'],
    })
    github.addToken('alices', { login: 'alice', type: 'User', permissions: everything })
    await github.commit('main', { 'second.txt': '2' })
  })
  after(() => github[Symbol.asyncDispose]())
  const writer = (): string => github.mintJobToken({ contents: 'write' })

  it('clones and pushes with a token that may write', async () => {
    await using work = await clone(github, writer())
    const sha = await work.commit({ 'a.txt': 'a' })
    await work.git('push', '--quiet', 'origin', 'HEAD:refs/heads/ralph/a')
    assert.equal(await github.head('ralph/a'), sha)
    assert.deepEqual(github.pushes.at(-1)?.ref, 'refs/heads/ralph/a')
  })

  it('refuses unknown callers, and writing with a read-only token', async () => {
    await assert.rejects(clone(github, null), /could not read Username|Authentication failed/)
    await assert.rejects(clone(github, 'ghs_unknown'), /could not read Username|Authentication failed/)
    await assert.rejects(clone(github, github.mintJobToken({ contents: 'none' })), /error: 403/)
    await using work = await clone(github, github.mintJobToken({ contents: 'read' }))
    await work.commit({ 'b.txt': 'b' })
    await assert.rejects(
      work.git('push', 'origin', 'HEAD:refs/heads/ralph/b'),
      /Permission to acme\/shop\.git denied to github-actions\[bot\].*error: 403/s,
    )
    assert.equal(await github.head('ralph/b'), null)
  })

  it('refuses a token that was revoked', async () => {
    const token = writer()
    await using work = await clone(github, token)
    github.revokeToken(token)
    await assert.rejects(work.git('fetch', 'origin'), /could not read Username|Authentication failed/)
  })

  it("refuses an app that changes a workflow file, with GitHub's message, and accepts a person", async () => {
    const change = { '.github/workflows/ci.yml': 'on: [push]\njobs: {}\n' }
    const refusal =
      /refusing to allow a GitHub App to create or update workflow `\.github\/workflows\/ci\.yml` without `workflows` permission/
    await using work = await clone(github, writer())
    await work.commit(change)
    await assert.rejects(work.git('push', 'origin', 'HEAD:refs/heads/ralph/c'), refusal)
    // Not even outside of refs/heads, and not when a later commit takes it back.
    await work.git('revert', '--no-edit', 'HEAD')
    await assert.rejects(work.git('push', 'origin', 'HEAD:refs/ralph/c'), refusal)
    await using persons = await clone(github, 'alices')
    await persons.commit(change)
    await persons.git('push', '--quiet', 'origin', 'HEAD:refs/heads/by-alice')
  })

  it('refuses a merge that brings in a changed workflow file, unless configured to be lenient', async () => {
    await using work = await clone(github, writer())
    await work.git('checkout', '--quiet', '-b', 'ralph/m')
    await work.commit({ 'm.txt': 'm' })
    await work.git('push', '--quiet', 'origin', 'HEAD')
    await github.commit('main', { '.github/workflows/ci.yml': 'on: [push, pull_request]\njobs: {}\n' })
    await work.git('fetch', '--quiet', 'origin')
    await work.git('merge', '--quiet', '--no-edit', 'origin/main')
    await assert.rejects(work.git('push', 'origin', 'HEAD'), /refusing to allow a GitHub App/)
    github.settings.workflowGuard = 'lenient'
    await work.git('push', '--quiet', 'origin', 'HEAD')
    github.settings.workflowGuard = 'strict'
  })

  it('refuses only the protected ref of a push, and all refs of an atomic one', async () => {
    await github.commit('release', { 'r.txt': '1' })
    await using work = await clone(github, writer())
    await work.commit({ 'p.txt': '1' })
    const refs = ['HEAD:refs/heads/ralph/p', '+HEAD:refs/heads/release']
    await assert.rejects(work.git('push', '--atomic', 'origin', ...refs), /protected branch hook declined/)
    assert.equal(await github.head('ralph/p'), null)
    await assert.rejects(work.git('push', 'origin', ...refs), /GH006: Protected branch update failed/)
    assert.notEqual(await github.head('ralph/p'), null)
  })

  it('takes refs outside of refs/heads, with a compare-and-swap', async () => {
    await using work = await clone(github, writer())
    const mine = await work.commit({ 'lock.txt': '1' })
    await work.git('push', '--quiet', '--force-with-lease=refs/ralph/lock:', 'origin', 'HEAD:refs/ralph/lock')
    await work.commit({ 'lock.txt': '2' })
    await assert.rejects(
      work.git('push', '--force-with-lease=refs/ralph/lock:', 'origin', 'HEAD:refs/ralph/lock'),
      /stale info/,
    )
    assert.equal((await github.bare.refs('refs/ralph')).get('refs/ralph/lock'), mine)
    await assert.rejects(
      work.git('push', 'origin', 'HEAD~1:refs/heads/main', 'HEAD:refs/pull/1/head'),
      /deny updating a hidden ref/,
    )
  })

  it('gives shallow and partial clones, and any commit by its id', async () => {
    await using work = await clone(github, writer(), '--depth=1', '--filter=blob:none')
    assert.equal(await work.git('rev-list', '--count', 'HEAD'), '1')
    const lone = await github.commit('gone', { 'g.txt': '1' })
    await github.deleteBranch('gone')
    await work.git('fetch', '--quiet', '--depth=1', 'origin', lone)
    assert.equal(await work.git('rev-parse', 'FETCH_HEAD'), lone)
  })

  it('answers 400 to two Authorization headers', async () => {
    await using work = await clone(github, writer())
    const key = `http.${github.url}/.extraheader`
    await work.git('config', key, 'AUTHORIZATION: basic eDp5')
    await assert.rejects(work.git('fetch', 'origin'), /error: 400/)
  })

  it('lets anyone read public repositories, and still no one write', async () => {
    await using open = await startGitHub({ private: false })
    await using work = await clone(open, null)
    await work.commit({ 'x.txt': '1' })
    await assert.rejects(
      work.git('push', 'origin', 'HEAD:refs/heads/x'),
      /could not read Username|Authentication failed/,
    )
  })
})
