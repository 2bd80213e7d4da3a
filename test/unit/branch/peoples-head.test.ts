// Where people have moved the branch: found in the answer of a push, or by a look at it.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { createStore } from '../../../src/branch/store.ts'
import { takeSnapshot } from '../../../src/git/clone.ts'
import { stateOf, stories } from '../engine/samples.ts'
import { place } from '../git/place.ts'

test("the branch head in a push's answer is used once, and not where a fresh look is needed", async () => {
  using at = await place()
  const state = stateOf(stories('US-001'), { green: at.base, published: at.base })
  const branch = `refs/heads/${state.branch}`
  at.shell(`git init -q --bare ../remote.git && git push -q ../remote.git main:${branch}`)
  const remote = { url: join(at.folder, 'remote.git'), env: {} }
  const snapshot = await takeSnapshot(at.git, false)
  const options = { namespace: 'refs/ralph', remote, publishRemote: null, snapshot, leaseMs: 1000 }
  const store = createStore(at.git, at.objects, options)
  assert.equal(await store.peoplesHead(state, false), null)
  const push = () => {
    at.shell(
      `git checkout -q --detach && git commit -q --allow-empty -m more && git push -q ../remote.git HEAD:${branch}`,
    )
    return { head: at.shell('git rev-parse HEAD').trim() }
  }
  await store.save(state)
  const first = push()
  assert.deepEqual(await store.peoplesHead(state, true), first, 'what was pushed behind the answer')

  const theirs = { ...state, green: first.head, published: first.head }
  await store.save(theirs)
  const second = push()
  assert.equal(await store.peoplesHead(theirs, false), null, 'found at the next look')
  assert.deepEqual(await store.peoplesHead(theirs, false), second)
})
