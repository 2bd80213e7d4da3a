// Which removals from the merge queue are red checks of the branch: read from the stand-in's timeline, and from checks on merge groups.
import assert from 'node:assert/strict'
import test from 'node:test'
import { readRemoval } from '../../../src/github/corrections/merge-queue.ts'
import { startGitHub } from '../../standin/github.ts'
import { stateOf, stories } from '../engine/samples.ts'
import { connected } from './connected.ts'

async function opened(settings: Parameters<typeof startGitHub>[0] = {}) {
  const github = await startGitHub({ people: { alice: 'admin' }, ...settings })
  await using closing = new AsyncDisposableStack()
  closing.use(github)
  const base = (await github.head('main')) ?? ''
  await github.commit('ralph/sample', { 'one.md': 'one\n' })
  const { number } = await github.openPull('alice', { head: 'ralph/sample' })
  const token = github.mintJobToken({
    contents: 'read',
    pull_requests: 'read',
    checks: 'read',
    statuses: 'read',
  })
  const read = async (names: readonly string[] = []) => {
    const head = await github.head('ralph/sample')
    const state = stateOf(stories('US-001'), {
      ...{ published: head, green: head ?? '' },
      base: { branch: 'main', sha: base },
    })
    return readRemoval(connected(github, token), state, number, names, (text) => text)
  }
  /** The queue removes it; the merge group has these checks. */
  const removed = async (checks: Record<string, string>, reason = 'CI_FAILURE') => {
    const group = (await github.enqueue(number)) ?? ''
    for (const [name, conclusion] of Object.entries(checks)) github.check('main', group, { name, conclusion })
    await github.dequeue(number, reason)
    return group
  }
  closing.move()
  return { github, number, read, removed, [Symbol.asyncDispose]: () => github[Symbol.asyncDispose]() }
}

const namesOf = (reports: Awaited<ReturnType<typeof readRemoval>>) =>
  reports.map(({ source }) => (source.kind === 'check' ? `${source.name} ${source.head}` : source.kind))

test("each red check of the merge group is reported, with where it is red; green, cancelled and Ralph's own are not", async () => {
  await using there = await opened()
  assert.deepEqual(await there.read(), [])
  const group = await there.removed({
    build: 'failure',
    lint: 'timed_out',
    docs: 'success',
    deploy: 'cancelled',
    ralph: 'failure',
  })
  const reports = await there.read()
  assert.deepEqual(namesOf(reports).toSorted(), [`build ${group}`, `lint ${group}`])
  assert.match(
    reports[0]?.text ?? '',
    /^The merge queue removed the pull request, because this check fails on the merge with main\./,
  )
  assert.ok(reports.every(({ onMerge }) => onMerge === true))
  assert.deepEqual(namesOf(await there.read(['build'])), [`build ${group}`])
  assert.deepEqual(there.github.violations, [])
})

test('only the checks that a rule requires count', async () => {
  await using there = await opened({
    branchRules: {
      main: [
        {
          type: 'required_status_checks',
          parameters: {
            required_status_checks: [{ context: 'build' }],
            strict_required_status_checks_policy: false,
          },
        },
      ],
    },
  })
  const group = await there.removed({ build: 'failure', lint: 'failure' })
  assert.deepEqual(namesOf(await there.read()), [`build ${group}`])
})

test('a check that is red on what the group was built on is not the fault of the branch', async () => {
  await using there = await opened()
  const theirs = await there.github.commit('main', { 'theirs.md': 'theirs\n' })
  there.github.check('main', theirs, { name: 'build', conclusion: 'failure' })
  await there.removed({ build: 'failure' })
  assert.deepEqual(await there.read(), [])
})

test('a merge, a pull request that is in the queue again, and a removal before the newest commit are not reported', async () => {
  await using there = await opened()
  await there.removed({ build: 'failure' }, 'MERGE')
  assert.deepEqual(await there.read(), [])
  await there.removed({ build: 'failure' })
  await there.github.enqueue(there.number)
  assert.deepEqual(await there.read(), [])
  await there.github.dequeue(there.number, 'MANUAL')
  assert.deepEqual(await there.read(), [])
  const before = there.github.world.queueEvents.at(-1)
  await there.removed({ build: 'failure' })
  assert.equal((await there.read()).length, 1)
  const last = there.github.world.queueEvents.at(-1)
  assert.ok(last !== undefined && before !== undefined)
  last.createdAt = new Date(Date.parse(last.createdAt) - 3_600_000).toISOString()
  assert.deepEqual(await there.read(), [])
})

test('a conflict has no merge group, and nothing to report', async () => {
  await using there = await opened()
  await there.github.commit('main', { 'one.md': 'theirs\n' })
  assert.equal(await there.github.enqueue(there.number), null)
  await there.github.dequeue(there.number, 'MERGE_CONFLICT')
  assert.deepEqual(await there.read(), [])
})
