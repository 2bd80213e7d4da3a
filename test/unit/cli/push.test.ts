// `ralph run --push`: branch and state go to the remote, and a run in another clone goes on from there.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { startGitHub } from '../../standin/github.ts'
import { GATE, good, openPlace, type Place } from './place.ts'

const NO_JUDGE = ['--final-verification', 'false']

async function withRemote(): Promise<Place & { remote: string }> {
  const place = await openPlace([{ id: 'US-001' }, { id: 'US-002' }])
  await place.setScript({ 'US-001': [good('US-001')], 'US-002': [good('US-002')] })
  const remote = join(place.folder, 'remote.git')
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', remote], { env: place.env })
  place.git('remote', 'add', 'origin', remote)
  place.git('push', '-q', 'origin', 'main')
  return Object.assign(place, { remote })
}

const refsOf = (place: Place, remote: string) =>
  execFileSync('git', ['-C', remote, 'for-each-ref', '--format=%(refname)'], {
    env: place.env,
    encoding: 'utf8',
  })
    .trim()
    .split('\n')

const REFS = ['refs/heads/main', 'refs/heads/ralph/sample', 'refs/ralph/2026-01-31-sample']

test('run --push pushes branch and state, and another clone with a detached HEAD goes on', async () => {
  await using place = await withRemote()
  const flags = [...place.agent, ...GATE, ...NO_JUDGE, '--push']
  const first = await place.ralph('run', '--once', ...flags)
  assert.equal(first.code, 5, first.out + first.err)
  assert.deepEqual(refsOf(place, place.remote), REFS)
  assert.equal(
    place.git('rev-parse', 'ralph/sample'),
    place.git('ls-remote', 'origin', 'refs/heads/ralph/sample').slice(0, 40),
  )
  // A branch of the person's own stays in the clone and is pushed nowhere.
  const other = join(place.folder, 'other')
  execFileSync('git', ['clone', '-q', place.remote, other], { env: place.env })
  execFileSync('git', ['-C', other, 'checkout', '-q', '--detach'], { env: place.env })
  execFileSync('git', ['-C', other, 'branch', '-q', 'own'], { env: place.env })
  const second = await place.start(['run', ...flags], { cwd: other, env: { CI_COMMIT_BRANCH: 'main' } }).ended
  assert.equal(second.code, 0, second.out + second.err)
  assert.deepEqual(
    (await place.called()).map(({ story }) => story),
    ['US-001', 'US-002'],
  )
  assert.deepEqual(refsOf(place, place.remote), REFS)
  execFileSync('git', ['-C', other, 'rev-parse', '--verify', '-q', 'own'], { env: place.env })
})

test('run --push after a run without it pushes what only this clone had', async () => {
  await using place = await withRemote()
  const flags = [...place.agent, ...GATE, ...NO_JUDGE]
  assert.equal((await place.ralph('run', '--once', ...flags)).code, 5)
  assert.deepEqual(refsOf(place, place.remote), ['refs/heads/main'])
  const pushed = await place.ralph('run', ...flags, '--push')
  assert.equal(pushed.code, 0, pushed.out + pushed.err)
  assert.deepEqual(
    (await place.called()).map(({ story }) => story),
    ['US-001', 'US-002'],
  )
  assert.deepEqual(refsOf(place, place.remote), REFS)
})

test('run --push without a remote says so, and changes nothing', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  const before = place.refs()
  const { code, err } = await place.ralph('run', ...place.agent, ...GATE, '--push')
  assert.equal(code, 64)
  assert.match(err, /--push: this clone has no remote `origin` to push to/)
  assert.equal(place.refs(), before)
})

test('run --push without write access says what the person can do, and begins nothing', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  await using github = await startGitHub({
    people: { alice: 'read' },
    tokens: { 'a-token': { login: 'alice', type: 'User', permissions: { contents: 'read' } } },
  })
  place.git('remote', 'add', 'origin', github.cloneUrl.replace('://', '://alice:a-token@'))
  const { code, out, err } = await place.ralph('run', ...place.agent, ...GATE, '--push')
  assert.equal(code, 64, out + err)
  assert.match(err, /--push: the remote refused refs\/ralph\/2026-01-31-sample: /)
  assert.match(err, /fix: run `git push` here\. .*ask for write access/)
  assert.doesNotMatch(out + err, /input token|permissions: contents|a-token/)
  assert.deepEqual(await place.called(), [])
})

test('run --push refused by a rule of the remote prints the rule, and what the person can do', async () => {
  await using place = await withRemote()
  const said = '- Cannot create ref due to creations being restricted.'
  await writeFile(join(place.remote, 'hooks', 'pre-receive'), `#!/bin/sh\necho '${said}'\nexit 1\n`, {
    mode: 0o755,
  })
  const { code, out, err } = await place.ralph('run', ...place.agent, ...GATE, '--push')
  assert.match(err, /--push: the remote refused .*: Cannot create ref .*\n {2}fix: run `git push` here\. /)
  assert.equal(code, 64, out + err)
})
