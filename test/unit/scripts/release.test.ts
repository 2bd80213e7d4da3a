// The scripts of a release that need no GitHub: what is due, what is refused, what moves.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openRepository, versionFiles } from './release-repository.ts'

const where = (err: string) => err.split('\n').flatMap((line) => /^error: ([^:]+)/.exec(line)?.[1] ?? [])

test('a release is due when a person asks for the first, later when its version is on main', async () => {
  await using repository = await openRepository()
  const due = (event: string) => /^due=(.*)$/m.exec(repository.script('due.mjs', event).out)?.[1]
  assert.equal(due('push'), 'false')
  assert.equal(due('workflow_dispatch'), 'true')
  repository.git('push', '--quiet', 'origin', 'HEAD:refs/tags/v1.0.0', 'HEAD:refs/tags/v1')
  assert.equal(
    repository.script('due.mjs', 'push').out,
    'version=1.0.0\ntag=v1.0.0\nreleased=true\ndue=false\n',
  )
  assert.equal(due('workflow_dispatch'), 'false', 'released already')
  await repository.write(versionFiles('1.1.0'))
  repository.commit('chore: release 1.1.0')
  assert.equal(due('push'), 'true')
  await repository.write({ 'package.json': '{ "version": "1.2.0" }' })
  const { status, err } = repository.script('due.mjs', 'push')
  assert.equal(status, 64)
  assert.deepEqual(where(err), [
    'package-lock.json',
    '.release-please-manifest.json',
    'src/engine/model/version.ts',
    'CHANGELOG.md',
  ])
})

test('a release from a dirty tree, of a commit outside of main or of a published version is refused', async () => {
  await using repository = await openRepository()
  const tree = () => repository.script('tree.mjs')
  assert.deepEqual(tree(), { status: 0, out: '', err: '' })

  await repository.write({ 'dist/cli/main.js': 'built otherwise\n', 'notes.txt': 'mine\n' })
  const dirty = tree()
  assert.equal(dirty.status, 64)
  assert.deepEqual(where(dirty.err), ['dist/cli/main.js', 'notes.txt'])
  assert.match(dirty.err, /a change that is not committed.*\n {2}fix: npm run build, and commit dist\//)
  assert.match(dirty.err, /a file that git has not/)

  repository.git('add', '--all')
  repository.git('commit', '--quiet', '--message', 'beside main')
  assert.match(tree().err, /found a commit that is not on main/)
  repository.git('push', '--quiet', 'origin', 'HEAD:refs/heads/main')
  assert.equal(tree().status, 0)

  repository.git('push', '--quiet', 'origin', 'HEAD~1:refs/tags/v1.0.0')
  assert.match(tree().err, /^error: v1\.0\.0: found v1\.0\.0 at [0-9a-f]{40}, expected no such release yet/)
})

test("the text of a release is its version's section of the changelog", async () => {
  await using repository = await openRepository()
  assert.equal(repository.script('notes.mjs').out, 'Something.\n')
  await repository.write(versionFiles('1.0.0', ''))
  assert.deepEqual(where(repository.script('notes.mjs').err), ['CHANGELOG.md'])
})

test('dist/ is committed onto the built head, without other files', async () => {
  await using repository = await openRepository()
  const head = repository.git('rev-parse', 'HEAD')
  const branch = 'release-please--branches--main'
  repository.git('push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`)
  const commit = () => repository.script('commit-dist.mjs', branch)
  assert.equal(commit().out, 'committed=false\n', 'it was built already')

  await repository.write({ 'dist/cli/main.js': 'built anew\n', 'src/engine/model/version.ts': 'changed\n' })
  const beside = commit()
  assert.equal(beside.status, 64)
  assert.deepEqual(where(beside.err), ['src/engine/model/version.ts'])

  repository.git('checkout', '--quiet', '--', 'src')
  assert.equal(commit().out, 'committed=true\n')
  const there = repository.git('ls-remote', 'origin', `refs/heads/${branch}`).split('\t')[0] ?? ''
  assert.equal(repository.git('rev-parse', `${there}^`), head)
  assert.equal(repository.git('diff', '--name-only', head, there), 'dist/cli/main.js')

  // Somebody has pushed to the branch since it was built.
  repository.git('checkout', '--quiet', head)
  await repository.write({ 'dist/cli/main.js': 'built a third time\n' })
  const late = commit()
  assert.equal(late.status, 64)
  assert.match(late.err, /it where it was looked at/)
  assert.equal(repository.git('ls-remote', 'origin', `refs/heads/${branch}`).split('\t')[0], there)
})

test('the major tag moves to newer releases only', async () => {
  await using repository = await openRepository()
  const at = (tag: string) => repository.git('ls-remote', 'origin', `refs/tags/${tag}`).split('\t')[0]
  const move = (tag: string) => repository.script('move-major.mjs', tag)
  const release = async (version: string) => {
    await repository.write(versionFiles(version))
    const commit = repository.commit(version)
    repository.git('push', '--quiet', 'origin', `${commit}:refs/tags/v${version}`)
    return commit
  }
  assert.match(move('v1.0.1').err, /v1\.0\.1: found no such tag/)
  assert.match(move('latest').err, /found "latest", expected vX\.Y\.Z/)
  const second = await release('1.2.0')
  assert.equal(move('v1.2.0').status, 0)
  assert.equal(at('v1'), second)
  assert.equal(move('v1.2.0').status, 0, 'once more, as a job that is run again')
  const tenth = await release('1.10.0')
  assert.equal(move('v1.10.0').status, 0)
  assert.equal(at('v1'), tenth)
  const back = move('v1.2.0')
  assert.equal(back.status, 64)
  assert.match(back.err, /^error: v1: found v1\.10\.0, expected a release before v1\.2\.0/)
  assert.equal(at('v1'), tenth)
})
