// What GitHub is told over a chain: the pull request that is Ralph's or people's, and where none may be opened.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { State } from '../../../src/engine/model/state.ts'
import { runUsage } from '../../../src/engine/model/usage-totals.ts'
import { Conversation } from '../../../src/github/conversation.ts'
import { Checks } from '../../../src/github/post-checks.ts'
import { GitHubReporter } from '../../../src/github/reporter.ts'
import { type LayerBranches, Stack } from '../../../src/github/stack/stack.ts'
import { rollupCheck } from '../../../src/report/check-runs.ts'
import { jobSummary, stickyComment } from '../../../src/report/sticky-comment.ts'
import { type GitHub, startGitHub } from '../../standin/github.ts'
import { complete, concluded, justStarted, limits, midRun, stuck } from '../report/samples.ts'
import { connected } from './connected.ts'

const BRANCH = 'ralph/auth'

/** A repository with the feature's branch; every `job` is a reporter of its own, as in a chain. */
async function place(settings: Parameters<typeof startGitHub>[0] = {}) {
  const github = await startGitHub({ people: { alice: 'admin' }, ...settings })
  const sha = await github.commit(BRANCH, { 'a.txt': 'a' }, 'start', 'alice')
  const warnings: string[] = []
  const warn = (message: string) => warnings.push(message)
  const client = () => {
    const token = github.mintJobToken({
      contents: 'write',
      pull_requests: 'write',
      issues: 'write',
      checks: 'write',
    })
    return connected(github, token, warn)
  }
  const checks = (freshMs?: number) => new Checks(client(), 'checks', 'auth', freshMs)
  const job = (freshMs?: number, branches?: LayerBranches) => {
    const seen = client()
    const redact = (text: string) => text
    return new GitHubReporter({
      github: seen,
      publisher: seen,
      conversation: new Conversation(seen),
      checks: checks(freshMs),
      pullRequest: 'draft',
      stack: branches === undefined ? null : new Stack({ github: seen, publisher: seen, branches, redact }),
      autoMerge: false,
      limits,
      agentsSection: true,
      runUrl: null,
      head: null,
      earlier: [],
      redact,
      places: async () => ({}),
      changes: async () => ({ 'US-001': { files: 3, added: 40, removed: 2 } }),
      touches: async () => false,
      namesRedChecks: true,
      notes: () => [],
    })
  }
  return {
    github,
    sha,
    warnings,
    checks,
    job,
    /** The state with its branch where it is now. */
    at: (state: State, head = sha): State => ({
      ...state,
      branch: BRANCH,
      green: head,
      published: head,
      github: { ...state.github, pull: null, pullUrl: null, comment: null, head },
    }),
    async [Symbol.asyncDispose]() {
      assert.deepEqual(github.violations, [])
      await github[Symbol.asyncDispose]()
    },
  }
}

/** Opens the pull request, and posts what follows it. */
async function opened(reporter: GitHubReporter, state: State): Promise<State['github']> {
  const ids = await reporter.opened(state)
  await reporter.handedOver()
  return ids
}

const END = { outcome: 'complete', reason: 'every story passed its gates', until: null } as const

test("a pull request that may not be opened is one note with the setting's name and a working link", async () => {
  await using there = await place({ actionsMayOpenPullRequests: false })
  const { github, job, at, warnings } = there
  const reporter = job()
  const github1 = await opened(reporter, at(midRun()))
  const state = { ...at(concluded(midRun(), 'paused', 'a person said so')), github: github1 }
  await reporter.finished(state, { ...END, outcome: 'paused' })
  const view = reporter.view(state)
  const url = `${github.url}/acme/shop/compare/main...ralph/auth?expand=1`
  const { summary } = rollupCheck(view)
  for (const text of [jobSummary(view), stickyComment(view), summary]) {
    const notes = text.split('\n').filter((line) => line.includes('could not open'))
    assert.equal(notes.length, 1, text)
    assert.ok(notes[0]?.includes(`](${url})`), notes[0])
    assert.ok(notes[0]?.includes('Settings &#62; Actions &#62; General'), notes[0])
    assert.ok(notes[0]?.includes('Allow GitHub Actions to create and approve pull requests'), notes[0])
    assert.ok(!notes[0]?.includes('…'), notes[0])
  }
  assert.equal(warnings.length, 1, warnings.join('\n'))
  assert.ok(warnings[0]?.endsWith(url), warnings[0])
  assert.match(
    warnings[0] ?? '',
    /Settings > Actions > General > "Allow GitHub Actions to create and approve/,
  )
})

test('a pull request that a person opens after the refusal is used, and the note is removed', async () => {
  await using there = await place({ actionsMayOpenPullRequests: false })
  const { github, job, at } = there
  const reporter = job()
  const ids = await opened(reporter, at(midRun()))
  await github.openPull('alice', { head: BRANCH, title: 'Mine' })
  const told = await reporter.finished({ ...at(complete()), github: ids }, END)
  assert.equal(told.pull, (await github.pulls())[0]?.number)
  assert.doesNotMatch(jobSummary(reporter.view(at(complete()))), /could not open/)
})

test('a job that ends before it posts anything reports on the pull request that is open now', async () => {
  await using there = await place()
  const { github, job, at } = there
  const first = await opened(job(), at(midRun()))
  github.closePull(first.pull ?? 0)
  const second = await github.openPull('alice', { head: BRANCH, title: 'Mine' })
  const state = { ...at(concluded(midRun(), 'paused', 'a person said so')), github: first }
  const next = job()
  await next.opened(state)
  const ids = await next.finished(state, { ...END, outcome: 'paused' })
  assert.equal(ids.pull, second.number)
  assert.deepEqual(
    github.comments(second.number).map(({ id }) => id),
    [ids.comment],
  )
})

test('title and text that people did not edit are updated, even where the job that opened the pull request died', async () => {
  await using there = await place()
  const { github, job, at } = there
  await opened(job(), at(midRun()))
  await job().finished(at(complete()), END)
  const [pull, ...others] = await github.pulls()
  assert.equal(others.length, 0)
  assert.equal(pull?.title, 'auth: Customers sign in to the shop')
  assert.match(pull?.body ?? '', /^<!-- ralph:pull:auth -->\n[\s\S]*- \[x\] \*\*US-006\*\*[\s\S]*-->$/)
  assert.equal(pull?.draft, false)
})

test("a pull request that a person edited or opened keeps its title and text, and Ralph's part is updated", async () => {
  for (const isAdopted of [false, true]) {
    await using there = await place()
    const { github, job, at } = there
    const mine = 'Über uns.\r\n\r\n- [ ] `one`'
    if (isAdopted) await github.openPull('alice', { head: BRANCH, title: 'Mine', body: mine })
    const ids = await opened(job(), at(midRun()))
    const pull = github.issue(ids.pull ?? 0)
    if (!isAdopted) Object.assign(pull, { title: 'Mine', body: `${mine}${pull.body}` })
    for (let times = 0; times < 2; times++) await job().finished({ ...at(complete()), github: ids }, END)
    assert.equal(pull.title, 'Mine')
    assert.ok(
      pull.body?.startsWith(`${mine}${isAdopted ? '\n\n' : ''}<!-- ralph:pull:auth -->\n`),
      pull.body ?? '',
    )
    assert.equal(pull.body?.match(/- \[x\] \*\*US-006\*\*/g)?.length, 1)
    const updates = github.requests.filter(
      ({ method, path }) => method === 'PATCH' && /\/pulls\/\d+$/.test(path),
    )
    assert.equal(updates.length, 1, 'what is up to date is not written again')
  }
})

const posts = ({ requests }: GitHub, from: number) =>
  requests
    .slice(from)
    .map(
      ({ method, path }) =>
        `${method} ${path.replace(/^\/repos\/[^/]+\/[^/]+\/|\?.*|[0-9a-f]{40}|\d+/g, '')}`,
    )

test('the start is posted beside the iteration, and is finished before the branch moves', async () => {
  await using there = await place()
  const { github, job, at } = there
  const one = job()
  const ids = await one.opened(at(midRun()))
  assert.deepEqual(posts(github, 0), ['GET pulls', 'POST pulls'])
  const state = { ...at(midRun()), github: ids }
  const fault = github.fault({ path: /\/check-runs$/ }, 'hang')
  await one.event({ kind: 'reserved', storyId: 'US-005', at: 0 }, state)
  await fault.hit
  // Two more while that one is posted: the last one alone is worth a post.
  await one.event({ kind: 'reserved', storyId: 'US-005', at: 0 }, { ...state })
  await one.event({ kind: 'reserved', storyId: 'US-006', at: 0 }, { ...state })
  assert.equal(github.comments(ids.pull ?? 0).length, 0)
  fault.release()
  const learned = await one.newIds(new AbortController().signal)
  const left = await one.beforePublish(state, state.green)
  const [comment, ...others] = github.comments(ids.pull ?? 0)
  assert.equal(others.length, 0)
  assert.equal(left.comment, comment?.id, 'the state learns of the comment')
  assert.equal(learned.comment, comment?.id)
  const checks = posts(github, 0).filter((one) => /^P.* check-runs/.test(one))
  assert.deepEqual(checks, ['POST check-runs', 'PATCH check-runs/'])
})

test('a cancelled run saves without waiting for a request that hangs', async () => {
  await using there = await place()
  const { github, job, at } = there
  const one = job()
  const ids = await one.opened(at(midRun()))
  const state = { ...at(midRun()), github: ids }
  const fault = github.fault({ path: /\/check-runs$/ }, 'hang')
  await one.event({ kind: 'reserved', storyId: 'US-005', at: 0 }, state)
  await fault.hit
  const cancel = new AbortController()
  const began = performance.now()
  const learned = one.newIds(cancel.signal)
  cancel.abort()
  assert.deepEqual(await learned, {})
  assert.deepEqual(await one.newIds(cancel.signal), {}, 'it was cancelled before')
  assert.ok(performance.now() - began < 5000)
  fault.release()
  await one.settle()
})

test('a job without an iteration posts its start during its first long step', async () => {
  await using there = await place()
  const { github, job, at, sha } = there
  const one = job()
  await one.opened(at(midRun()))
  await one.step({ kind: 'prepare' })
  await one.settle()
  assert.deepEqual(github.checksOf(sha), [])
  await one.step({ kind: 'verify' })
  await one.settle()
  assert.equal(github.checksOf(sha).length, 1)
})

test('a verification without a verdict is reported before the next one', async () => {
  await using there = await place()
  const { github, job, at } = there
  const reporter = job()
  const ids = await opened(reporter, at(midRun()))
  const message = "no line <ralph>VERIFIED</ralph> or <ralph>RESET:ids</ralph> in the judge's answer"
  const state = {
    ...at(complete()),
    github: ids,
    job: midRun().job,
    verification: { approved: false, asked: false, sessions: 1, message },
  }
  const usage = runUsage(state)
  await reporter.event(
    { kind: 'verified', at: 0, gates: [], verdict: { kind: 'none', message }, usage },
    state,
  )
  await reporter.settle()
  const [comment] = github.comments(ids.pull ?? 0)
  assert.match(comment?.body ?? '', /1 session without a verdict: no line .{0,30}VERIFIED/)
})

/** As final as an answer can be: nothing is tried again. */
const AWAY = { status: 401, body: { message: 'Bad credentials' } }
const CONTINUED = { outcome: 'continued', reason: 'the batch is done', until: null } as const
const open = (github: GitHub, sha: string) =>
  github.checksOf(sha).filter(({ conclusion }) => conclusion === null).length

test('a check that could not be closed before the branch moved on is remembered, and closed by the next job', async () => {
  await using there = await place()
  const { github, job, at, sha, warnings } = there
  const one = job()
  const ids = await opened(one, at(midRun()))
  assert.equal(open(github, sha), 1)
  // GitHub is away for the rest of this job.
  const path = /\/check-runs/
  let isAway = true
  github.fault({ path, where: () => isAway }, AWAY, { times: 1000 })
  const next = await github.commit(BRANCH, { 'b.txt': 'b' }, 'more', 'alice')
  const left = await one.beforePublish({ ...at(midRun()), github: ids }, next)
  assert.deepEqual(left.unclosed, [sha])
  assert.match(warnings.join(), /could not close/)
  await one.finished({ ...at(concluded(midRun(), 'continued', ''), next), github: left }, CONTINUED)
  isAway = false
  const two = job()
  const state = { ...at(midRun(), next), github: { ...left, head: next } }
  assert.deepEqual((await two.beforePublish(state, next)).unclosed, [])
  assert.equal(open(github, sha), 0)
})

test('checks that cannot be closed are limited in number, and tried once a job', async () => {
  await using there = await place()
  const { github, job, at, sha } = there
  const many = Array.from({ length: 30 }, (_, index) => `${index + 10}`.repeat(20))
  const fault = github.fault({ path: /\/check-runs/ }, AWAY, { times: 1000 })
  const state = at(midRun())
  const left = await job().beforePublish({ ...state, github: { ...state.github, unclosed: many } }, sha)
  assert.deepEqual(left.unclosed, many.slice(-20))
  assert.ok(fault.hits <= 2, String(fault.hits))
})

test('a commit that GitHub has deleted does not stop the closing of checks', async () => {
  await using there = await place()
  const { github, job, at, sha } = there
  const ids = await opened(job(), at(midRun()))
  const next = await github.commit(BRANCH, { 'b.txt': 'b' }, 'more', 'alice')
  const unclosed = ['b'.repeat(40), sha]
  const left = await job().beforePublish({ ...at(midRun(), next), github: { ...ids, unclosed } }, next)
  assert.deepEqual(left.unclosed, [])
  assert.equal(open(github, sha), 0)
})

test('at the end of a chain no check of an earlier job is left open on the head', async () => {
  await using there = await place()
  const { github, job, at, sha } = there
  await opened(job(), at(midRun()))
  await job().finished(at(concluded(midRun(), 'continued', '')), CONTINUED)
  assert.ok(open(github, sha) > 1, 'rejected stories that are to be tried again')
  // Its commit could not be published.
  const paused = { ...at(concluded(midRun(), 'paused', 'the branch was rewritten')), green: 'c'.repeat(40) }
  const last = job()
  await last.finished(paused, { ...CONTINUED, outcome: 'paused' })
  assert.equal(open(github, sha), 0)
  assert.ok(last.isReported())
})

test('checks that a failed last report left open are closed with the true outcome', async () => {
  await using there = await place()
  const { github, job, at, sha } = there
  await opened(job(), at(midRun()))
  const state = at(complete())
  const fault = github.fault({ path: /\/check-runs/ }, AWAY)
  const last = job()
  await last.finished(state, END)
  await fault.hit
  assert.ok(!last.isReported())
  assert.equal(open(github, sha), 1)
  const left = await there.checks().closeRemaining(state)
  assert.deepEqual(left, [])
  const [rollup] = github.checksOf(sha).filter(({ name }) => name === 'ralph')
  assert.deepEqual([rollup?.conclusion, rollup?.title], ['success', 'complete: 6 of 6 stories pass'])
  assert.equal(open(github, sha), 0)
})

/** Requests for labels since `from`, as `POST /issues/1/labels`. */
const labelling = ({ requests }: GitHub, from: number) =>
  requests
    .slice(from)
    .filter(({ path }) => path.includes('/labels'))
    .map(({ method, path }) => `${method} ${path.replace(/^\/repos\/[^/]+\/[^/]+|\d+(?=\/labels)/g, '')}`)

test('labels show the status, are requested only where they change, and labels of people stay', async () => {
  await using there = await place()
  const { github, job, at } = there
  const one = job()
  const ids = await opened(one, at(midRun()))
  const pull = github.issue(ids.pull ?? 0)
  assert.deepEqual(pull.labels, ['ralph'])
  assert.deepEqual(labelling(github, 0), ['POST /issues//labels'])
  pull.labels.push('area: shop')
  let from = github.requests.length
  await one.event({ kind: 'reserved', storyId: 'US-005', at: 0 }, { ...at(midRun()), github: ids })
  await one.finished({ ...at(concluded(midRun(), 'continued', '')), github: ids }, CONTINUED)
  assert.deepEqual(labelling(github, from), [], 'nothing has changed')
  await job().finished({ ...at(stuck()), github: ids }, { ...END, outcome: 'stuck' })
  assert.deepEqual(pull.labels, ['ralph', 'area: shop', 'ralph:stuck'])
  from = github.requests.length
  await job().finished({ ...at(complete()), github: ids }, END)
  assert.deepEqual(pull.labels, ['ralph', 'area: shop', 'ralph:complete'])
  assert.deepEqual(labelling(github, from), ['POST /issues//labels', 'DELETE /issues//labels/ralph%3Astuck'])
})

test('refused labels are left out, without a warning or a retry', async () => {
  await using there = await place()
  const { github, job, at, warnings } = there
  const body = { message: 'Resource not accessible by integration' }
  const fault = github.fault({ path: /\/labels/ }, { status: 403, body }, { times: 1000 })
  const one = job()
  const ids = await opened(one, at(midRun()))
  await one.finished({ ...at(stuck()), github: ids }, { ...END, outcome: 'stuck' })
  assert.equal(fault.hits, 1)
  assert.deepEqual(warnings, [])
})

test('the task list in the pull request follows every job', async () => {
  await using there = await place()
  const { github, job, at } = there
  const ids = await opened(job(), at(justStarted()))
  const pull = github.issue(ids.pull ?? 0)
  assert.equal(pull.body?.match(/^- \[x\]/gm), null)
  await job().finished({ ...at(concluded(midRun(), 'continued', '')), github: ids }, CONTINUED)
  assert.equal(pull.body?.match(/^- \[x\] \*\*US-/gm)?.length, 3)
  assert.equal(pull.body?.match(/^- \[ \] \*\*US-/gm)?.length, 3)
  assert.equal(pull.pull?.draft, true)
})

test('after the merge neither the summary comment nor the check asks for a merge', async () => {
  await using there = await place()
  const { github, job, at } = there
  const first = await opened(job(), at(midRun()))
  await github.mergePull('alice', first.pull ?? 0)
  const done = { ...at(complete()), github: first }
  await job().finished(done, END)
  const [comment] = github.comments(first.pull ?? 0)
  const next = /\*\*Next:\*\* Nothing to do: it is merged\./
  assert.match(comment?.body ?? '', next)
  const [rollup] = github.checksOf(there.sha).filter(({ name }) => name === 'ralph')
  assert.match(rollup?.summary ?? '', next)
})

test("red checks of the project are named in check and comment, but not Ralph's own, nor those that are red on the base", async () => {
  await using there = await place()
  const { github, sha, job, at } = there
  const base = await github.commit('main', { 'b.txt': 'b' }, 'base', 'alice')
  const red = { conclusion: 'failure' as const }
  github.check(BRANCH, sha, { name: 'ralph / US-001', ...red })
  github.check(BRANCH, sha, { name: 'ralph-lint', ...red })
  github.check(BRANCH, sha, { name: 'always red', ...red })
  github.check('main', base, { name: 'always red', ...red })
  // The second try of one App is what counts, and another App's check of that name is another check.
  github.check(BRANCH, sha, { name: 'rerun', ...red })
  github.check(BRANCH, sha, { name: 'rerun' })
  github.check(BRANCH, sha, { name: 'build', ...red, app: { id: 7, slug: 'other' } })
  github.check(BRANCH, sha, { name: 'build' })
  const state = at({ ...midRun(), base: { branch: 'main', sha: base } })
  const requests = github.requests.length
  await opened(job(), state)
  const listed = github.requests
    .slice(requests)
    .filter(({ operation }) => operation === 'checks/list-for-ref')
  assert.equal(listed.length, 2)
  const [pull] = await github.pulls()
  const text = github.comments(pull?.number ?? 0)[0]?.body ?? ''
  assert.match(
    text,
    /checks of the project fail on [0-9a-f]{7}, but not on the base: (?:ralph-lint, build|build, ralph-lint)\. /,
  )
})

test('a check that turned red while the job worked is named when the branch moves', async () => {
  await using there = await place()
  const { github, sha, job, at } = there
  const base = await github.commit('main', { 'b.txt': 'b' }, 'base', 'alice')
  const state = at({ ...midRun(), base: { branch: 'main', sha: base } })
  const reporter = job(0)
  const ids = await opened(reporter, state)
  github.check(BRANCH, sha, { name: 'windows', conclusion: 'failure' })
  const head = await github.commit(BRANCH, { 'c.txt': 'c' }, 'story', 'alice')
  await reporter.beforePublish({ ...state, github: ids }, head)
  const next = { ...state, green: head, published: head, github: ids }
  await reporter.finished(next, { outcome: 'continued', reason: 'the batch is done', until: null })
  const [pull] = await github.pulls()
  const text = github.comments(pull?.number ?? 0)[0]?.body ?? ''
  assert.match(
    text,
    new RegExp(`checks of the project fail on ${sha.slice(0, 7)}, but not on the base: windows`),
  )
})

test('after a merge in the middle of a run the summary there points to the new pull request', async () => {
  await using there = await place()
  const { github, job, at } = there
  const first = await opened(job(), at(midRun()))
  const head = await github.commit(BRANCH, { 'later.txt': 'later' }, 'later', 'alice')
  github.closePull(first.pull ?? 0)
  const second = await github.openPull('alice', { head: BRANCH, title: 'Mine' })
  const next = job()
  await opened(next, {
    ...at(midRun(), head),
    github: { ...first, comment: github.comments(first.pull ?? 0)[0]?.id ?? null },
  })
  const [comment, ...others] = github.comments(first.pull ?? 0)
  assert.deepEqual(others, [])
  assert.match(comment?.body ?? '', new RegExp(`The run continues in #${second.number}\n`))
  assert.doesNotMatch(comment?.body ?? '', /in work|at work/)
})

test('if the stack cannot be read, the text of the pull request keeps its list', async () => {
  await using there = await place()
  const { github, sha, job, at } = there
  const head = await github.commit(BRANCH, { 'b.txt': 'b' }, 'more')
  const known = at(midRun(), head)
  const passed = known.prd.userStories.filter(({ passes }) => passes).map(({ id }) => id)
  const branches: LayerBranches = {
    commits: async () => [
      { commit: sha, stories: passed, isRevert: false },
      { commit: head, stories: [], isRevert: false },
    ],
    newestIn: async (commits, at) => commits.find((commit) => commit === at) ?? null,
    async create(wanted) {
      for (const { branch, commit } of wanted)
        await github.bare.run(['update-ref', `refs/heads/${branch}`, commit])
      return null
    },
    merge: async () => ({ kind: 'needless' }),
  }
  const paused = { ...END, outcome: 'paused', reason: 'a person said so' } as const
  const ownBody = async () => (await github.pulls()).find(({ head }) => head.ref === BRANCH)?.body ?? ''
  const listIn = (body: string) => /#### Stack\n[\s\S]*?(?=\n<!--)/.exec(body)?.[0] ?? ''
  const first = job(undefined, branches)
  const ids = await opened(first, known)
  await first.finished({ ...known, github: ids }, paused)
  const list = listIn(await ownBody())
  assert.match(list, /^1\. #\d+$/m)

  const later = { ...at(concluded(midRun(), 'paused', 'a person said so'), head), github: ids }
  github.fault({ method: 'POST', path: /\/graphql$/ }, { status: 403, body: { message: 'No' } })
  await job(undefined, branches).finished(later, paused)
  assert.match(there.warnings.join('\n'), /could not update the stack of pull requests/)
  assert.equal(listIn(await ownBody()), list)
  // What is not published was not compared with GitHub either.
  await job(undefined, branches).finished({ ...later, green: sha }, paused)
  assert.equal(listIn(await ownBody()), list)
  // Without the setting there is no stack.
  await job().finished(later, paused)
  assert.equal(listIn(await ownBody()), '')
})
