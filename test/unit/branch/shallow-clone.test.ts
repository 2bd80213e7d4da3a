// A state that is read in a shallow clone: it brings the green commit along, and hides no commit that was there.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { createStore } from '../../../src/branch/store.ts'
import { takeSnapshot } from '../../../src/git/clone.ts'
import { stateOf, stories } from '../engine/samples.ts'
import { place } from '../git/place.ts'

const FOLDER = '2026-01-10-auth'

/** A clone with `visible` commits of a main branch of ten, and one that has saved a state there, `ahead` commits further. */
async function cloneWith(visible: number, ahead: number) {
  const commits = (count: number) =>
    `for n in $(seq ${count}); do git commit -q --allow-empty -m "commit $n"; done`
  const there = await place('sha1', commits(9))
  const url = `file://${join(there.folder, 'remote.git')}`
  there.shell(`git init -q --bare ../remote.git && git -C ../remote.git config uploadpack.allowAnySHA1InWant true
    git push -q ${url} main; ${commits(ahead)}`)
  const openStore = async ({ git, objects }: typeof there) =>
    createStore(git, objects, {
      namespace: 'refs/ralph',
      remote: { url, env: {} },
      publishRemote: null,
      leaseMs: 1000,
      snapshot: await takeSnapshot(git, true),
    })
  const green = there.shell('git rev-parse HEAD').trim()
  const writer = await openStore(there)
  await writer.save(stateOf(stories('US-001'), { green, base: { branch: 'main', sha: green }, lease: null }))
  const here = await place(
    'sha1',
    `git fetch -q --depth=${visible} ${url} main && git reset -q --hard FETCH_HEAD`,
  )
  return {
    green,
    writer,
    store: await openStore(here),
    visible: (from: string) => Number(here.shell(`git rev-list --count ${from}`)),
    shell: here.shell,
    [Symbol.dispose]() {
      here[Symbol.dispose]()
      there[Symbol.dispose]()
    },
  }
}

test('a green commit in a clone of limited depth keeps its history', async () => {
  using at = await cloneWith(5, 0)
  assert.equal(at.visible('HEAD'), 5)
  assert.equal((await at.store.load(FOLDER))?.state.green, at.green)
  assert.equal(at.visible('HEAD'), 5)
})

test('a green commit that a clone of depth 1 lacks is fetched with the state', async () => {
  using at = await cloneWith(1, 2)
  await at.store.load(FOLDER)
  assert.equal(at.visible(at.green), 1)
})

test('a state that another clone advanced does not hide newer commits of this clone', async () => {
  using at = await cloneWith(1, 0)
  const loaded = await at.store.load(FOLDER)
  assert.ok(loaded !== null)
  const made = at.shell('git commit-tree -m made HEAD^{tree} -p HEAD').trim()
  await at.store.save({ ...loaded.state, green: made })
  const moved = await at.writer.load(FOLDER)
  assert.ok(moved !== null)
  await at.writer.save(moved.state)
  await at.store.load(FOLDER)
  assert.equal(at.visible(made), 2)
})
