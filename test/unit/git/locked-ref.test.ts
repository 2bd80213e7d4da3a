// A push that meets another one at the lock of its ref, on a real server side: tried again, and refused where nothing else would help.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { RefMove } from '../../../src/git/git.ts'
import { push } from '../../../src/git/remote.ts'
import { place } from './place.ts'

const STATE = 'refs/ralph/2026-01-31-sample'
const BRANCH = 'refs/heads/ralph/sample'

/** A clone and its remote, where `locked` is locked until the given push. `hook` runs before each push is taken. */
async function remoteWith(locked: string | null, { until = 2, hook = '' } = {}) {
  const here = await place()
  const bare = join(here.folder, 'bare.git')
  here.shell(`git init -q --bare "${bare}"`)
  const file = join(bare, `${locked}.lock`)
  if (locked !== null) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, '')
  }
  const free = `[ "$(wc -l <count)" -lt ${until} ] || rm -f "${locked}.lock"`
  writeFileSync(join(bare, 'hooks', 'pre-receive'), `#!/bin/sh\necho >>count\n${free}\n${hook}\n`, {
    mode: 0o755,
  })
  const move = (ref: string, from: string | null = null) => ({ ref, from, to: here.base })
  return {
    here,
    move,
    url: bare,
    compare: (one: RefMove, compared: { ref: string; at: string }) =>
      push(here.git, { url: bare, env: {} }, [one], compared),
    push: (...moves: RefMove[]) => push(here.git, { url: bare, env: {} }, moves),
    /** How many pushes the remote had. */
    count: () => {
      const counted = join(bare, 'count')
      return existsSync(counted) ? readFileSync(counted, 'utf8').length : 0
    },
    [Symbol.dispose]: () => here[Symbol.dispose](),
  }
}

test('a locked ref that has not moved is pushed again', async () => {
  using remote = await remoteWith(STATE)
  assert.deepEqual(await remote.push(remote.move(STATE)), { kind: 'pushed' })
  assert.equal(remote.count(), 2)
})

test('when one of two refs is locked, both are pushed again', async () => {
  for (const locked of [STATE, BRANCH]) {
    using remote = await remoteWith(locked)
    assert.deepEqual(await remote.push(remote.move(BRANCH), remote.move(STATE)), { kind: 'pushed' })
    assert.equal(remote.count(), 2, locked)
  }
})

test('a push that a hook refuses is refused at once, also when another ref is locked', async () => {
  using remote = await remoteWith(STATE, { until: 99, hook: 'echo "this branch is protected" >&2; exit 1' })
  const result = await remote.push(remote.move(BRANCH), remote.move(STATE))
  assert.equal(result.kind, 'rejected')
  assert.equal(remote.count(), 1)
})

test("a push of a ref that conflicts with another ref's name is refused at once", async () => {
  using remote = await remoteWith(null)
  assert.deepEqual(await remote.push(remote.move('refs/heads/ralph')), { kind: 'pushed' })
  for (const moves of [[remote.move(BRANCH)], [remote.move(BRANCH), remote.move(STATE)]]) {
    const before = remote.count()
    assert.equal((await remote.push(...moves)).kind, 'rejected')
    assert.equal(remote.count(), before + 1)
  }
})

test('a push of a ref that another push has moved is lost at once', async () => {
  using remote = await remoteWith(null)
  assert.deepEqual(await remote.push(remote.move(STATE)), { kind: 'pushed' })
  remote.here.shell('git commit -q --allow-empty -m more')
  const to = remote.here.shell('git rev-parse HEAD').trim()
  const result = await remote.push({ ref: STATE, from: null, to })
  assert.equal(result.kind, 'stale')
  assert.equal(remote.count(), 1, 'git itself sees that it has moved')
})

test('a push reports whether another ref is unchanged, and pushes its own in any case', async () => {
  using remote = await remoteWith(null)
  const { here, move } = remote
  const { base } = here
  await remote.push(move(BRANCH), move(STATE))
  const commit = () => {
    here.shell('git commit -q --allow-empty -m more')
    return here.shell('git rev-parse HEAD').trim()
  }
  const [first, second, theirs] = [commit(), commit(), commit()]
  const compared = { ref: BRANCH, at: base }
  const next = { ref: STATE, from: base, to: first }
  assert.deepEqual(await remote.compare(next, compared), { kind: 'pushed', isUnmoved: true })

  await remote.push({ ref: BRANCH, from: base, to: theirs })
  const pushes = remote.count()
  const later = { ref: STATE, from: first, to: second }
  assert.deepEqual(await remote.compare(later, compared), { kind: 'pushed', isUnmoved: false })
  assert.equal(remote.count(), pushes + 1)
  const refs = here.shell(`git ls-remote "${remote.url}"`)
  assert.ok(refs.includes(`${theirs}\t${BRANCH}`), 'the other ref stays')
  assert.ok(refs.includes(`${second}\t${STATE}`))

  assert.equal((await remote.compare(next, compared)).kind, 'stale', 'its own lease counts all the same')
  here.shell(`git push -q "${remote.url}" :${BRANCH}`)
  const last = { ref: STATE, from: second, to: theirs }
  assert.deepEqual(await remote.compare(last, compared), { kind: 'pushed', isUnmoved: false }, 'it is gone')
})

test('a locked ref is pushed again, also with another ref compared', async () => {
  using remote = await remoteWith(STATE)
  await remote.push(remote.move(BRANCH))
  const compared = { ref: BRANCH, at: remote.here.base }
  assert.deepEqual(await remote.compare(remote.move(STATE), compared), { kind: 'pushed', isUnmoved: true })
})
