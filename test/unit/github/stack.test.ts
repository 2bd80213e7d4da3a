// A stack on the stand-in: which pull requests are the run's own, what is created and merged, and what the texts say.
import assert from 'node:assert/strict'
import test from 'node:test'
import type { State } from '../../../src/engine/model/state.ts'
import { newStory } from '../../../src/engine/prd/schema.ts'
import { findPull } from '../../../src/github/pull.ts'
import { type LayerBranches, Stack } from '../../../src/github/stack/stack.ts'
import { startGitHub } from '../../standin/github.ts'
import { stateOf } from '../engine/samples.ts'
import { connected } from './connected.ts'

const BRANCH = 'ralph/auth'
const WRITES = { contents: 'write', pull_requests: 'write' } as const
const EPICS = ['E1', 'E2', 'E3']

/** A feature with one story for each epic, of which the first `done` have a commit on the branch. */
async function feature(done: number, epics: readonly string[] = EPICS) {
  const github = await startGitHub({ people: { alice: 'admin', mallory: 'read' } })
  const { bare } = github
  const base = (await github.head('main')) ?? ''
  const stories = epics.map((epicId, index) =>
    newStory({ id: `US-00${index + 1}`, title: `story ${index + 1}`, epicId }),
  )
  const commits: { commit: string; stories: string[]; isRevert: boolean }[] = []
  const finish = async () => {
    const story = stories[commits.length]?.id ?? ''
    const commit = await github.commit(BRANCH, { [`${story}.txt`]: story }, story)
    commits.push({ commit, stories: [story], isRevert: false })
  }
  while (commits.length < done) await finish()
  const worked = () => stories.map((story, index) => ({ ...story, passes: index < commits.length }))
  const merges: Parameters<LayerBranches['merge']>[1][] = []
  const branches: LayerBranches = {
    commits: async () => commits,
    async newestIn(all, head) {
      const contained = await Promise.all(all.map((commit) => bare.isAncestor(commit, head)))
      return all[contained.lastIndexOf(true)] ?? null
    },
    async create(wanted) {
      for (const { branch, commit } of wanted) await bare.run(['update-ref', `refs/heads/${branch}`, commit])
      return null
    },
    async merge(_, layer) {
      merges.push(layer)
      return { kind: 'merged' }
    },
  }
  const client = connected(github, github.mintJobToken(WRITES))
  const options = { github: client, publisher: client, branches, redact: (text: string) => text }
  const state = (changes: Partial<State['prd']['run']> = {}): State => {
    const head = commits.at(-1)?.commit ?? base
    const known = stateOf(worked(), { base: { branch: 'main', sha: base }, green: head, published: head })
    const startedAt = new Date().toISOString()
    return { ...known, prd: { ...known.prd, run: { ...known.prd.run, startedAt, ...changes } } }
  }
  return {
    github,
    stories,
    merges,
    finish,
    state,
    /** A job's look at the stack. */
    async update(at = state(), changes: Partial<typeof options> = {}) {
      const stack = new Stack({ ...options, ...changes })
      await stack.update(at, await findPull(client, BRANCH))
      return stack
    },
    /** The pull requests from branches with the name of a layer. */
    async pulls(epic: string) {
      const all = await github.pulls()
      return all
        .filter(({ head }) => head.ref === `${BRANCH}+${epic}`)
        .map((pull) => ({ ...pull, isOwn: github.issue(pull.number).pull?.fork === null }))
    },
    async [Symbol.asyncDispose]() {
      assert.deepEqual(github.violations, [])
      await github[Symbol.asyncDispose]()
    },
  }
}

type Place = Awaited<ReturnType<typeof feature>>

/** The stack from the bottom, as the run's own pull requests show it: `number: branch -> base (state)`. */
async function stackOf({ pulls }: Place): Promise<string[]> {
  const all = await Promise.all(EPICS.map((epic) => pulls(epic)))
  return all
    .flat()
    .filter((pull) => pull.isOwn)
    .map(({ number, head, base, state }) => `${number}: ${head.ref} -> ${base.ref} (${state})`)
}

test('a new layer above one that people squashed gets the base at once, on top of its own head', async () => {
  await using at = await feature(1)
  const { github, merges } = at
  await at.update()
  const [first] = await at.pulls('E1')
  const mergedAs = await github.mergePull('alice', first?.number ?? 0, 'squash')
  await at.finish()
  await at.update()
  assert.deepEqual(await stackOf(at), [
    '1: ralph/auth+E1 -> main (closed)',
    '2: ralph/auth+E2 -> main (open)',
  ])
  const head = await github.head(`${BRANCH}+E2`)
  const merged = await github.head(`${BRANCH}+E1`)
  assert.deepEqual(merges, [{ branch: `${BRANCH}+E2`, head, base: 'main', merged, mergedAs }])
})

test('pull requests of forks with the same branch name are not ours, however many there are', async () => {
  await using at = await feature(1)
  const { github } = at
  const propose = async (login: string) => {
    await github.commitInFork(login, `${BRANCH}+E1`, { 'theirs.txt': login })
    await github.openPull(login, { head: `${login}:${BRANCH}+E1`, title: 'Ours' })
  }
  await propose('mallory')
  await at.update()
  const before = await stackOf(at)
  assert.deepEqual(before, ['2: ralph/auth+E1 -> main (open)'])
  for (let count = 1; count <= 12; count += 1) await propose(`fork${count}`)
  const requests = github.requests.length
  const stack = await at.update()
  assert.deepEqual(await stackOf(at), before)
  assert.deepEqual(stack.notes, [])
  const paths = github.requests.slice(requests).map(({ method, path }) => `${method} ${path.split('?')[0]}`)
  assert.ok(!paths.some((path) => /^(POST|PATCH) .*pulls/.test(path)), paths.join('\n'))
  // Also what became of it is known from the list.
  const mergedAs = await github.mergePull('alice', 2, 'squash')
  await at.finish()
  await at.update()
  assert.deepEqual(
    at.merges.map((merge) => merge.mergedAs),
    [mergedAs],
  )
})

test('a pull request from before the run is not its own, and one from minutes before its start is', async () => {
  await using at = await feature(1)
  const { github } = at
  await at.update()
  const [old] = await at.pulls('E1')
  github.closePull(old?.number ?? 0)
  await github.deleteBranch(`${BRANCH}+E1`)
  const startedAfter = (minutes: number) =>
    at.state({ startedAt: new Date(Date.now() + minutes * 60_000).toISOString() })
  const early = await at.update(startedAfter(9))
  assert.match(JSON.stringify(early.notes), /was closed without a merge, so the stack waits/)
  const late = await at.update(startedAfter(11))
  assert.deepEqual(late.notes, [])
  assert.deepEqual(await stackOf(at), [
    '1: ralph/auth+E1 -> main (closed)',
    '2: ralph/auth+E1 -> main (open)',
  ])
})

test('names of epics and stories are redacted before they are escaped, in the list and in every text', async () => {
  const secret = 'p*ss<w>rd'
  await using at = await feature(2, [`E ${secret}`, 'E2', 'E3'])
  const { github } = at
  const redact = (text: string) => text.replaceAll(secret, 'REDACTED')
  const known = at.state()
  const userStories = known.prd.userStories.map((story) => ({ ...story, title: `${story.title} ${secret}` }))
  const state = { ...known, prd: { ...known.prd, userStories } }
  github.settings.actionsMayOpenPullRequests = false
  const refused = await at.update(state, { redact })
  assert.match(refused.list(null, '', 10_000), /^1\. `E REDACTED`$/m)
  github.settings.actionsMayOpenPullRequests = true
  await at.update(state, { redact })
  const texts = (await github.pulls()).flatMap(({ title, body }) => [title, body ?? ''])
  assert.equal(texts.length, 4)
  for (const text of texts) assert.doesNotMatch(text, /p\*ss|p&#42;ss|w>rd|rd&/)
  assert.match(texts[1] ?? '', /- \*\*US-001\*\* story 1 REDACTED/)
})

test('the text of a layer says that its review threads are not read, and where to ask for changes', async () => {
  await using at = await feature(1)
  const { github } = at
  await at.finish()
  const top = await github.openPull('alice', { head: BRANCH })
  await at.update()
  const [layer] = await at.pulls('E1')
  assert.match(layer?.body ?? '', /Ralph does not read its review threads\. To ask .* `\/ralph fix` in #1\./)
  github.closePull(top.number)
  await at.update()
  assert.doesNotMatch((await at.pulls('E1'))[0]?.body ?? '', /#1\b/)
})
