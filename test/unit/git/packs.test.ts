// Loose objects of a long run: packed by Ralph's git, and nobody else's are touched.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createStore } from '../../../src/branch/store.ts'
import { takeSnapshot } from '../../../src/git/clone.ts'
import { stateOf, stories } from '../engine/samples.ts'
import { place } from './place.ts'
import { openWorked } from './worked.ts'

const PACKED = ['-c', 'core.fsync=loose-object,pack,pack-metadata,reference', 'repack', '-d', '-l', '-q']

async function saved(times: number) {
  const at = await place('sha1')
  const store = createStore(at.git, at.objects, {
    namespace: 'refs/ralph',
    remote: null,
    publishRemote: null,
    snapshot: await takeSnapshot(at.git, false),
    leaseMs: 1000,
  })
  const state = stateOf(stories('US-001'), { green: at.base, base: { branch: 'main', sha: at.base } })
  for (let count = 0; count < times; count++) await store.save({ ...state, generation: count })
  return { ...at, store, state, folder: state.folder.replace('.ralph/', '') }
}

function loose(top: string): number {
  const names = readdirSync(join(top, '.git/objects')).filter((name) => /^[0-9a-f]{2}$/.test(name))
  return names.reduce((sum, name) => sum + readdirSync(join(top, '.git/objects', name)).length, 0)
}

test("Ralph's objects are packed and found, and people's unreachable objects stay", async () => {
  using at = await saved(20)
  const theirs = at
    .shell('git branch theirs $(git commit-tree -m x HEAD^{tree}); git rev-parse theirs')
    .trim()
  const unreachable = at.shell('echo precious | git hash-object -w --stdin').trim()
  const before = loose(at.top)
  await at.git.packLoose(1)
  assert.ok(loose(at.top) < 10 && before > 60, `${before} to ${loose(at.top)}`)
  assert.equal((await at.store.load(at.folder))?.state.generation, 19)
  assert.equal(at.shell(`git cat-file -t ${theirs}; git cat-file blob ${unreachable}`), 'commit\nprecious\n')
  assert.equal(at.shell('git fsck --strict 2>&1 | grep -v -e dangling -e notice || true'), '')
  await at.store.save({ ...at.state, generation: 20 })
  assert.equal((await at.store.load(at.folder))?.state.generation, 20)
  // Few have been written since.
  const after = loose(at.top)
  await at.git.packLoose(100)
  assert.equal(loose(at.top), after)
})

test('an unchanged story file is written once; one that is packed, gone or changed is written again', async () => {
  using at = await saved(1)
  const ids = Array.from({ length: 1200 }, (_, index) => `US-${index}`)
  const many = { ...at.state, prd: { ...at.state.prd, userStories: stories(...ids) } }
  const files = () =>
    at.shell(
      `GIT_DIR=.git/ralph/git GIT_OBJECT_DIRECTORY=.git/objects git rev-parse refs/ralph/${at.folder}:.ralph-state/stories-{1,2,3}.json`,
    )
  await at.store.save(many)
  const [first = '', second = '', third = ''] = files().trim().split('\n').map(at.file)
  const stamp = () => statSync(first).ctimeMs
  const before = stamp()
  const userStories = many.prd.userStories.map((one, index) =>
    index === 700 ? { ...one, passes: true } : one,
  )
  await at.store.save({ ...many, prd: { ...many.prd, userStories } })
  assert.equal(stamp(), before)
  assert.deepEqual(
    files()
      .split('\n')
      .map((oid) => existsSync(at.file(oid)))
      .slice(0, 3),
    [true, true, true],
  )
  assert.notEqual(at.file(files().split('\n')[1] ?? ''), second)
  rmSync(first)
  const bytes = readFileSync(third)
  chmodSync(third, 0o644)
  writeFileSync(third, bytes.fill(0, 20))
  await at.store.save({ ...many, generation: 7, prd: { ...many.prd, userStories } })
  const { state } = (await at.store.load(at.folder)) ?? {}
  assert.deepEqual([state?.generation, state?.prd.userStories], [7, userStories])
  await at.git.packLoose(1)
  await at.store.save({ ...many, generation: 8, prd: { ...many.prd, userStories } })
  assert.equal((await at.store.load(at.folder))?.state.generation, 8)
  assert.equal(at.shell('git fsck --strict 2>&1 | grep -v -e dangling -e notice || true'), '')
})

test("a person's `git gc --prune=now` during a run removes nothing that the run saved", async () => {
  using at = await saved(3)
  at.shell('git gc -q --prune=now')
  await at.store.publish({ ...at.state, generation: 4 }, true)
  const ref = `refs/ralph/${at.folder}`
  assert.equal(at.shell(`git rev-list --count ${ref}`).trim(), '5', 'every state, on top of the green commit')
  at.shell('git gc -q --prune=now')
  assert.equal(at.shell('git fsck --strict 2>&1 | grep -v -e dangling -e notice || true'), '')
})

test('a repack killed at any moment loses nothing', { timeout: 60_000 }, async () => {
  using at = await saved(30)
  for (let ms = 0; ms < 60; ms += 4) {
    const child = spawn('git', PACKED, { cwd: at.top, env: { ...at.git.environment() }, detached: true })
    const ended = new Promise((resolve) => child.on('close', resolve))
    setTimeout(
      () => child.pid !== undefined && child.exitCode === null && process.kill(-child.pid, 'SIGKILL'),
      ms,
    )
    await ended
    assert.equal((await at.store.load(at.folder))?.state.generation, 29)
    assert.equal(at.shell('git fsck --strict 2>&1 | grep -v -e dangling -e notice || true'), '')
    await at.store.save({ ...at.state, generation: 29 })
  }
})

test("a candidate survives a person's `git gc --prune=now` while gates run, and nothing is held afterwards", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'held-'))
  const env = { PATH: process.env.PATH ?? '', HOME: folder }
  const shell = (script: string) =>
    execFileSync('bash', ['-ec', script], { cwd: folder, env, encoding: 'utf8' }).trim()
  try {
    shell(
      'git config --global user.name a; git config --global user.email a@b; git init -q -b main .; echo a >a.js; git add -A; git commit -qm base',
    )
    const { git, objects, repository, snapshot, state, inspect } = await openWorked(folder, env, {
      whole: false,
    })
    using _ = objects
    const store = createStore(git, objects, {
      namespace: 'refs/ralph',
      remote: null,
      publishRemote: null,
      snapshot,
      leaseMs: 1000,
    })
    await repository.checkOut(state.green, null)
    writeFileSync(join(folder, 'new.js'), 'work\n')
    const seen = await inspect()
    assert.equal(seen.kind, 'candidate')
    if (seen.kind !== 'candidate') return
    const { commit } = seen.candidate
    shell('git reflog expire --expire=now --all; git gc -q --prune=now')
    assert.equal(await repository.restore(commit), false)
    assert.equal(shell(`git show ${commit}:new.js`), 'work')
    await store.save({ ...state, green: commit, attempts: {} })
    assert.equal(shell('git for-each-ref refs/ralph-held'), '')
    shell('git gc -q --prune=now')
    assert.equal((await store.load(state.folder.replace('.ralph/', '')))?.state.green, commit)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
