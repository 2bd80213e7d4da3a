// Ralph's requests on Gitea and Forgejo: drafts, labels, statuses, runs, and whose commands count.
import assert from 'node:assert/strict'
import test from 'node:test'
import { Conversation, pressedComment } from '../../../src/github/conversation.ts'
import { dispatchRun, findWorkflowRun, unfinishedRuns } from '../../../src/github/dispatch.ts'
import { forgeOf, runPage } from '../../../src/github/forges/forge.ts'
import { Checks } from '../../../src/github/post-checks.ts'
import { findPull, makeReady, openPull, setLabels, updatePull } from '../../../src/github/pull.ts'
import { rollupCheck } from '../../../src/report/check-runs.ts'
import { type GitHub, startGitHub } from '../../standin/github.ts'
import { midRun } from '../report/samples.ts'
import { connected } from './connected.ts'

const WORKFLOW = `on:
  workflow_dispatch:
    inputs:
      feature: { type: string }
      generation: { type: string }
jobs:
  work: { runs-on: ubuntu-latest, steps: [{ run: 'true' }] }
`

async function open(dialect: 'gitea' | 'forgejo' | 'ghes', more: object = {}) {
  const github = await startGitHub({
    dialect,
    people: { alice: 'admin', bob: 'write', mallory: 'read' },
    files: { '.github/workflows/ralph.yml': WORKFLOW },
    ...more,
  })
  github.addToken('admin', { login: 'alice', type: 'User', permissions: { contents: 'write' } })
  const warnings: string[] = []
  const warn = (message: string) => warnings.push(message)
  const job = github.mintJobToken({
    contents: 'write',
    pull_requests: 'write',
    actions: 'write',
    statuses: 'write',
  })
  return { github, warnings, client: connected(github, job, warn), admin: connected(github, 'admin', warn) }
}

async function branchWithPull(github: GitHub, head: string) {
  await github.commit(head, { [`${head}.txt`]: head })
  return github.openPull('bob', { head })
}

for (const dialect of ['gitea', 'forgejo'] as const) {
  test(`${dialect}: a draft is opened, retitled and made ready, and its title never has the word for drafts twice`, async () => {
    const { github, client } = await open(dialect)
    await using _ = github
    await github.commit('ralph/a', { 'a.txt': 'a' })
    const opened = await openPull(client, {
      branch: 'ralph/a',
      base: 'main',
      title: 'Draft of a',
      body: 'b',
      draft: true,
    })
    assert.ok(opened.kind === 'open')
    const { number } = opened.pull
    const seen = async () => {
      const pull = await findPull(client, 'ralph/a')
      return [github.issue(number).title, pull?.title, pull?.draft]
    }
    assert.deepEqual(await seen(), ['WIP: Draft of a', 'Draft of a', true])
    await updatePull(client, number, { title: 'Draft of b' })
    assert.deepEqual(await seen(), ['WIP: Draft of b', 'Draft of b', true])
    await updatePull(client, number, { body: 'c' })
    assert.deepEqual(await seen(), ['WIP: Draft of b', 'Draft of b', true])
    await makeReady(client, opened.pull)
    assert.deepEqual(await seen(), ['Draft of b', 'Draft of b', false])
    await updatePull(client, number, { title: 'Draft of c' })
    assert.deepEqual(await seen(), ['Draft of c', 'Draft of c', false])
    // Opening it again finds the one that is there.
    const again = await openPull(client, {
      branch: 'ralph/a',
      base: 'main',
      title: 't',
      body: 'b',
      draft: true,
    })
    assert.equal(again.kind === 'open' && again.pull.number, number)
    assert.deepEqual(github.violations, [])
  })

  test(`${dialect}: the pull request of a branch is found behind 60 others`, async () => {
    const { github, client } = await open(dialect)
    await using _ = github
    await github.commit('ralph/a', { 'a.txt': 'a' })
    const { number } = await github.openPull('bob', { head: 'ralph/a' })
    await github.commit('other', { 'b.txt': 'b' })
    for (let at = 0; at < 60; at++) {
      await github.bare.run(['update-ref', `refs/heads/other-${at}`, (await github.head('other')) ?? ''])
      await github.openPull('bob', { head: `other-${at}` })
    }
    assert.equal((await findPull(client, 'ralph/a'))?.number, number)
    assert.equal(await findPull(client, 'ralph/b'), null)
    assert.deepEqual(github.violations, [])
  })

  test(`${dialect}: a server with small pages is read to the end: pull requests and labels`, async () => {
    const { github, client } = await open(dialect, { pageSize: 2 })
    await using _ = github
    const { number } = await branchWithPull(github, 'ralph/a')
    for (let at = 0; at < 4; at++) await branchWithPull(github, `other-${at}`)
    for (const name of ['a', 'b', 'c', 'ralph']) github.world.label(name)
    const pull = (await findPull(client, 'ralph/a')) ?? assert.fail('no pull request')
    assert.equal(pull.number, number)
    assert.equal(await setLabels(client, pull, ['ralph']), true)
    assert.deepEqual(github.issue(number).labels, ['ralph'])
    const created = github.requests.filter(
      ({ method, path }) => method === 'POST' && /shop\/labels$/.test(path),
    )
    assert.deepEqual(created, [])
    assert.deepEqual(github.violations, [])
  })

  test(`${dialect}: a fork's pull request does not hide ours, which has the same branch name`, async () => {
    const { github, client } = await open(dialect, { pageSize: 1 })
    await using _ = github
    const { number } = await branchWithPull(github, 'ralph/a')
    const forks = await branchWithPull(github, 'from-a-fork')
    const seen = (await github.pulls()).find((one) => one.number === forks.number)
    const head = { ...seen?.head, ref: 'ralph/a', repo: { full_name: 'mallory/shop' } }
    github.fault(
      { path: /\/pulls$/, where: ({ query }) => /\bpage=1\b/.test(query) },
      { status: 200, body: [{ ...seen, head }] },
    )
    assert.equal((await findPull(client, 'ralph/a'))?.number, number)
  })

  test(`${dialect}: labels are created when they are missing, and the others stay`, async () => {
    const { github, client } = await open(dialect)
    await using _ = github
    await github.commit('ralph/a', { 'a.txt': 'a' })
    const { number } = await github.openPull('bob', { head: 'ralph/a' })
    github.label('bob', number, 'mine')
    const pull = async () => (await findPull(client, 'ralph/a')) ?? assert.fail('no pull request')
    assert.equal(await setLabels(client, await pull(), ['ralph', 'ralph:stuck']), true)
    assert.deepEqual(github.issue(number).labels, ['mine', 'ralph', 'ralph:stuck'])
    assert.equal(await setLabels(client, await pull(), ['ralph']), true)
    assert.deepEqual(github.issue(number).labels, ['mine', 'ralph'])
    assert.deepEqual(github.violations, [])
  })

  test(`${dialect}: without checks, statuses are posted, and one warning says so`, async () => {
    const { github, client, warnings } = await open(dialect)
    await using _ = github
    const sha = (await github.head('main')) ?? ''
    const checks = new Checks(client, 'checks', 'auth')
    const check = {
      ...rollupCheck,
      name: 'ralph',
      conclusion: null,
      title: 'at work',
      summary: '',
      text: '',
      annotations: [],
      actions: [],
    }
    await checks.post(sha, [check])
    await checks.post(sha, [{ ...check, conclusion: 'success', title: 'done' }])
    assert.deepEqual(
      github.statusesOf(sha).map(({ context, state }) => [context, state]),
      [
        ['ralph (status)', 'pending'],
        ['ralph (status)', 'success'],
      ],
    )
    assert.equal(warnings.length, 1)
    assert.match(warnings[0] ?? '', /^this server has no checks, so Ralph posts statuses instead/)
    assert.deepEqual(github.violations, [])
  })

  test(`${dialect}: a dispatch gives the run's number, and the run says whether it has ended`, async () => {
    const { github, client, warnings } = await open(dialect)
    await using _ = github
    const result = await dispatchRun(client, 'ralph.yml', { feature: 'a', generation: 1 })
    const [run] = github.world.runs
    assert.deepEqual(result, { kind: 'dispatched', runId: run?.id })
    assert.ok(run !== undefined)
    const [queued, ...others] = await unfinishedRuns(client, 'ralph.yml')
    assert.deepEqual([queued?.id, queued?.isNamed, others], [run.id, false, []])
    Object.assign(run, { status: 'in_progress' })
    assert.equal((await findWorkflowRun(client, run.id))?.status, 'in_progress')
    assert.equal((await unfinishedRuns(client, 'ralph.yml'))[0]?.hasBegun, true)
    Object.assign(run, { status: 'completed', conclusion: 'failure' })
    const ended = await findWorkflowRun(client, run.id)
    assert.deepEqual([ended?.status, ended?.conclusion], ['completed', 'failure'])
    assert.deepEqual(await unfinishedRuns(client, 'ralph.yml'), [])
    assert.deepEqual([warnings, github.violations], [[], []])
    // An older server has no such route. Its 404 must not free the lease of a run that is at work.
    github.fault(
      { method: 'GET', path: /\/actions\/runs\/\d+$/ },
      { status: 404, body: { message: 'Not Found' } },
      { times: 9 },
    )
    assert.equal(await findWorkflowRun(client, run.id), null)
    assert.deepEqual(warnings, [
      `Ralph could not look up run ${run.id}: this server does not say whether the run has ended`,
    ])
  })

  test(`${dialect}: commands count from people with write permission, as far as the server tells it`, async () => {
    const { github, client, admin, warnings } = await open(dialect)
    await using _ = github
    const allowed = async (by: typeof client, named: string[]) => {
      const conversation = new Conversation({ ...by, commanders: async () => named })
      const people = ['acme', 'alice', 'bob', 'mallory', 'nobody']
      const answers = await Promise.all(
        people.map(async (login) => [login, await conversation.mayWrite(login)] as const),
      )
      return answers.filter(([, may]) => may).map(([login]) => login)
    }
    // An administrator's token: the server's word counts, and no name helps.
    assert.deepEqual(await allowed(admin, ['mallory']), ['acme', 'alice', 'bob'])
    assert.deepEqual(warnings, [])
    // A job's own token: nobody but the owner and the people who are named, in whatever case.
    assert.deepEqual(await allowed(client, []), ['acme'])
    assert.deepEqual(await allowed(client, ['BOB']), ['acme', 'bob'])
    assert.equal(warnings.length, 2)
    assert.match(
      warnings[1] ?? '',
      /only administrators can see who has write permission, so Ralph takes commands only from acme, BOB\./,
    )
    // An outage is no refusal: the command is read again later.
    github.fault({ method: 'GET', path: /\/permission$/ }, { status: 401, body: { message: 'no' } })
    await assert.rejects(new Conversation(client).mayWrite('bob'))
    assert.deepEqual(github.violations, [])
  })

  test(`${dialect}: a button's comment of the job's own account is not a command of the person it names`, async () => {
    const { github, client } = await open(dialect)
    await using _ = github
    await github.commit('ralph/auth', { 'a.txt': 'a' })
    const { number } = await github.openPull('alice', { head: 'ralph/auth' })
    github.comment(`${dialect}-actions`, number, pressedComment('bob', 'skip', 'US-003'))
    github.comment('bob', number, '/ralph pause')
    const conversation = new Conversation({ ...client, commanders: async () => ['bob'] })
    const state = midRun()
    const heard = await conversation.read({
      ...state,
      github: { ...state.github, pull: number },
      control: { ...state.control, lastComment: 0 },
    })
    assert.deepEqual(
      heard.map(({ kind, by }) => `${kind} by ${by}`),
      ['pause by bob'],
    )
    assert.deepEqual(github.violations, [])
  })

  test(`${dialect}: the summary is found by the job that wrote it, and edited`, async () => {
    const { github, client } = await open(dialect)
    await using _ = github
    await github.commit('ralph/auth', { 'a.txt': 'a' })
    const { number } = await github.openPull('alice', { head: 'ralph/auth' })
    github.comment('mallory', number, '<!-- x -->\nnot ours')
    const first = await new Conversation(client).writeSticky(number, null, '<!-- x -->', '<!-- x -->\none')
    assert.equal(
      await new Conversation(client).writeSticky(number, null, '<!-- x -->', '<!-- x -->\ntwo'),
      first,
    )
    assert.deepEqual(
      github.comments(number).map(({ login, body }) => [login, body]),
      [
        ['mallory', '<!-- x -->\nnot ours'],
        [`${dialect}-actions`, '<!-- x -->\ntwo'],
      ],
    )
  })
}

test('a Gitea before 1.26 starts the next run without its number', async () => {
  const { github, client } = await open('gitea', { oldDispatch: true })
  await using _ = github
  assert.deepEqual(await dispatchRun(client, 'ralph.yml', { feature: 'a', generation: 1 }), {
    kind: 'dispatched',
    runId: null,
  })
  assert.equal(github.world.runs.length, 1)
  assert.deepEqual(github.violations, [])
})

for (const [what, fault] of [
  ['an outage', { status: 503, body: { message: 'it starts' } }],
  ['a lost answer', 'drop'],
] as const)
  test(`forgejo: ${what} of the version is not remembered: the next try is in Forgejo's words`, async () => {
    const { github, client } = await open('forgejo')
    await using _ = github
    github.fault({ path: /\/version$/ }, fault)
    const result = await dispatchRun(client, 'ralph.yml', { feature: 'a', generation: 1 })
    const [run, ...others] = github.world.runs
    assert.deepEqual([result, others], [{ kind: 'dispatched', runId: run?.id }, []])
    assert.deepEqual(github.violations, [])
  })

test('forgejo: a refused lookup of the version is not remembered', async () => {
  const { github, client } = await open('forgejo')
  await using _ = github
  github.fault({ path: /\/version$/ }, { status: 403, body: { message: 'no' } })
  const start = () => dispatchRun(client, 'ralph.yml', { feature: 'a', generation: 1 })
  await start()
  const result = await start()
  assert.deepEqual(result, { kind: 'dispatched', runId: github.world.runs.at(-1)?.id })
})

test('a web page instead of an answer is an error that says so', async () => {
  for (const dialect of ['ghes', 'gitea'] as const)
    for (const status of [200, 403]) {
      const { github, client } = await open(dialect)
      await using _ = github
      const headers = { 'content-type': 'text/html; charset=utf-8' }
      const body = '<html>Log in to the company proxy</html>'
      github.fault({ method: 'GET', path: /\/pulls$/ }, { status, headers, body }, { times: 9 })
      await assert.rejects(findPull({ ...client, api: connected(github, 'admin').api }, 'ralph/a'), {
        message: new RegExp(`the server answered ${status} with a web page instead of JSON`),
      })
    }
})

test('the kind of a server is told by the address of its API', () => {
  const names = [
    ['', 'GitHub'],
    ['https://api.github.com', 'GitHub'],
    ['https://api.acme.ghe.com', 'GitHub'],
    ['https://git.acme.test/api/v3/', 'GitHub Enterprise Server'],
    ['https://git.acme.test/gitea/api/v1', 'Gitea or Forgejo'],
  ] as const
  for (const [api, name] of names) assert.equal(forgeOf(api).name, name, api)
})

test("the page of a run is found by its id, and on Forgejo by the repository's number", () => {
  assert.equal(runPage({ GITHUB_RUN_NUMBER: '7' }, 99), 99)
  assert.equal(runPage({ GITHUB_RUN_NUMBER: '7', GITEA_ACTIONS: 'true' }, 99), 99)
  assert.equal(runPage({ GITHUB_RUN_NUMBER: '7', FORGEJO_ACTIONS: 'true' }, 99), 7)
  assert.equal(runPage({ FORGEJO_ACTIONS: 'true' }, 99), 99)
})
