// A push that meets another one at the lock of its ref: tried again, and lost only where the ref has moved.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Git, RefMove, Remote } from '../../../src/git/git.ts'
import { push } from '../../../src/git/remote.ts'

const REF = 'refs/ralph/2026-01-31-sample'
const [OLD, OURS, THEIRS] = ['1', '2', '3'].map((digit) => digit.repeat(40)) as [string, string, string]
const MOVE: RefMove = { ref: REF, from: OLD, to: OURS }
const REMOTE: Remote = { url: 'file:///nowhere', env: {} }
/** As a server says it where the file of the lock is there; some say `failed to update ref`. */
const LOCKED = `To file:///nowhere\n!\t${OURS}:${REF}\t[remote rejected] (cannot lock ref '${REF}': Unable to create '${REF}.lock': File exists.)\nDone\n`
const IN_THE_WAY = LOCKED.replace(/Unable.*exists/, "'refs/ralph' exists; cannot create")
const HOOK = LOCKED.replace(/\(cannot.*\)/, '(pre-receive hook declined)')

/** `answers`: what pushes are answered, and where the ref is after each; null for a push that is done. */
function gitOf(answers: readonly [said: string | null, at: string][]) {
  let count = 0
  const git = {
    push: async () => {
      const [said] = answers[count++] ?? assert.fail('one push too many')
      return { code: said === null ? 0 : 1, stdout: said ?? '', stderr: '' }
    },
    lsRemote: async () => ({ code: 0, stdout: `${answers[count - 1]?.[1]}\t${REF}\n`, stderr: '' }),
  }
  return { git: git as unknown as Git, count: () => count }
}

test('a ref that is locked and has not moved is pushed again', async () => {
  const { git, count } = gitOf([
    [LOCKED, OLD],
    [null, OURS],
  ])
  assert.deepEqual(await push(git, REMOTE, [MOVE]), { kind: 'pushed' })
  assert.equal(count(), 2)
})

test('a ref that another push has moved is lost at once, and a refusal is one', async () => {
  for (const answer of [[LOCKED, THEIRS] as const, [HOOK, OLD] as const, [IN_THE_WAY, OLD] as const]) {
    const { git, count } = gitOf([[answer[0], answer[1]]])
    assert.equal((await push(git, REMOTE, [MOVE])).kind, 'rejected')
    assert.equal(count(), 1)
  }
})

/** The answer to an atomic push whose other ref failed for this reason. */
const beside = (reason: string) =>
  LOCKED.replace('Done', `!\t${OURS}:refs/heads/ralph/sample\t[remote rejected] (${reason})\nDone`)

test('of two refs one is locked: refused where the other is, pushed again where it failed with the first', async () => {
  const refused = gitOf([[beside('protected branch hook declined'), OLD]])
  assert.equal((await push(refused.git, REMOTE, [MOVE])).kind, 'rejected')
  assert.equal(refused.count(), 1)
  const { git, count } = gitOf([
    [beside('atomic transaction failed'), OLD],
    [null, OURS],
  ])
  assert.deepEqual(await push(git, REMOTE, [MOVE]), { kind: 'pushed' })
  assert.equal(count(), 2)
})
