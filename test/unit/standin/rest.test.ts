// The stand-in's REST and GraphQL: held to GitHub's contract, with GitHub's refusals.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { Octokit } from '@octokit/core'
import { paginateRest } from '@octokit/plugin-paginate-rest'
import { restEndpointMethods } from '@octokit/plugin-rest-endpoint-methods'
import { retry } from '@octokit/plugin-retry'
import { type GitHub, startGitHub } from '../../standin/github.ts'
import { type Ask, client, everything } from './client.ts'

const workflow = `
on:
  workflow_dispatch:
    inputs:
      feature: { type: string, required: true }
      mode: { type: choice, options: [run, plan], default: run }
jobs:
  work: { runs-on: ubuntu-latest, steps: [{ run: 'true' }] }
`

describe("the stand-in's REST API", () => {
  let github: GitHub
  let ask: Ask
  let head: string
  beforeEach(async () => {
    github = await startGitHub({
      people: { alice: 'admin', mia: 'maintain', tim: 'triage', bob: 'read' },
      files: { 'README.md': 'Hello', '.github/workflows/ralph.yml': workflow },
    })
    ask = client(github, github.mintJobToken(everything))
    head = (await github.head('main')) ?? ''
  })
  afterEach(() => github[Symbol.asyncDispose]())
  const clean = (): void => assert.deepEqual(github.violations, [])

  it('identifies its callers by their token', async () => {
    assert.equal((await client(github, null)('GET ~')).status, 401)
    assert.equal((await client(github, 'nobody')('GET ~')).body.message, 'Bad credentials')
    const reader = client(github, github.mintJobToken({ contents: 'read' }))
    assert.equal((await reader('GET ~/branches/main')).body.commit.sha, head)
    const refused = await reader(`POST ~/statuses/${head}`, { state: 'success' })
    assert.equal(refused.status, 403)
    assert.equal(refused.body.message, 'Resource not accessible by integration')
    assert.equal((await ask('GET /repos/acme/other')).status, 404)
    clean()
  })

  it('records requests that GitHub does not have', async () => {
    const { number } = github.openIssue('bob', 'A wish')
    assert.equal((await ask('GET ~/nonsense')).status, 404)
    assert.equal((await ask('GET ~/topics')).status, 501)
    assert.equal((await ask(`GET ~/issues/${number}/comments?page_size=3`)).status, 422)
    assert.equal((await ask(`POST ~/issues/${number}/comments`, { body: 'x', bodyy: 'x' })).status, 422)
    assert.equal((await ask(`POST ~/issues/${number}/comments`, { body: 1 })).status, 422)
    assert.deepEqual(github.violations, [
      'GET /repos/acme/shop/nonsense: GitHub has no such operation',
      'GET /repos/acme/shop/topics: /repos/{owner}/{repo}/topics is not simulated',
      'GET /repos/acme/shop/issues/1/comments: query parameter "page_size" is not known',
      'POST /repos/acme/shop/issues/1/comments: /bodyy is not a property of this operation',
      'POST /repos/acme/shop/issues/1/comments: /body must be string',
    ])
  })

  it('answers permission requests as GitHub does, for any caller and user', async () => {
    const levels = ['alice', 'mia', 'tim', 'bob', 'stranger', 'github-actions[bot]'].map(async (login) => {
      const { status, body } = await ask(`GET ~/collaborators/${encodeURIComponent(login)}/permission`)
      return `${status} ${body.permission} ${body.role_name}`
    })
    assert.deepEqual(await Promise.all(levels), [
      '200 admin admin',
      '200 write maintain',
      '200 read triage',
      '200 read read',
      '200 none none',
      '200 none none',
    ])
    assert.equal((await ask('GET ~/collaborators/other-app[bot]/permission')).status, 404)
    clean()
  })

  it('opens one pull request per branch, and refuses others with the reason', async () => {
    await github.commit('ralph/a', { 'a.txt': 'a' })
    await github.bare.run(['update-ref', 'refs/heads/same', head])
    const open = (from: string, base = 'main') =>
      ask('POST ~/pulls', { title: 'T', head: from, base, draft: true })
    const { status, body } = await open('ralph/a')
    assert.equal(status, 201)
    assert.deepEqual(
      [body.draft, body.user.login, body.commits, body.changed_files],
      [true, 'github-actions[bot]', 1, 1],
    )
    const why = async (from: string, base?: string) => (await open(from, base)).body.errors[0]
    assert.equal((await why('acme:ralph/a')).message, 'A pull request already exists for acme:ralph/a.')
    assert.equal((await why('same')).message, 'No commits between main and same')
    assert.deepEqual(await why('nowhere'), { resource: 'PullRequest', field: 'head', code: 'invalid' })
    assert.equal((await why('ralph/a', 'nowhere')).field, 'base')

    assert.equal((await ask('GET ~/pulls?head=acme:ralph/a')).body.length, 1)
    assert.equal((await ask('GET ~/pulls?head=acme:ralph/b')).body.length, 0)
    const edited = await ask(`PATCH ~/pulls/${body.number}`, { title: 'U', state: 'closed' })
    assert.deepEqual([edited.body.title, edited.body.state], ['U', 'closed'])
    assert.equal((await ask('GET ~/pulls?state=closed')).body[0].number, body.number)

    github.settings.actionsMayOpenPullRequests = false
    const refused = await open('ralph/a')
    assert.equal(refused.status, 403)
    assert.equal(refused.body.message, 'GitHub Actions is not permitted to create or approve pull requests')
    clean()
  })

  it('follows the branches of pull requests: pushes, merges, deletion', async () => {
    await github.commit('ralph/a', { 'a.txt': 'a' })
    await github.commit('ralph/b', { 'b.txt': 'b' })
    const a = await github.openPull('alice', { head: 'ralph/a' })
    const b = await github.openPull('alice', { head: 'ralph/b' })
    const sha = await github.commit('ralph/a', { 'a.txt': 'aa' })
    assert.equal((await ask(`GET ~/pulls/${a.number}`)).body.head.sha, sha)
    await github.mergePull('alice', a.number)
    await github.deleteBranch('ralph/b')
    const [first, second] = await github.pulls()
    assert.deepEqual(
      [first?.merged, first?.state, second?.merged, second?.state],
      [true, 'closed', false, 'closed'],
    )
    assert.equal(await github.read('main', 'a.txt'), 'aa')
    assert.equal(b.state, 'closed')
    clean()
  })

  it('moves a pull request to another base, if it has commits of its own there', async () => {
    await github.commit('ralph/a', { 'a.txt': 'a' })
    await github.bare.run(['update-ref', 'refs/heads/ralph/b', 'refs/heads/ralph/a'])
    await github.commit('ralph/b', { 'b.txt': 'b' })
    const b = await github.openPull('alice', { head: 'ralph/b' })
    assert.equal((await ask(`PATCH ~/pulls/${b.number}`, { base: 'ralph/a' })).body.base.ref, 'ralph/a')
    const same = await ask(`PATCH ~/pulls/${b.number}`, { base: 'ralph/b' })
    assert.equal(same.status, 422)
    assert.match(
      same.body.errors[0].message,
      /^There are no new commits between base branch 'ralph\/b' and head/,
    )
    github.closePull(b.number)
    assert.equal((await ask(`PATCH ~/pulls/${b.number}`, { base: 'main' })).status, 422)
    clean()
  })

  it('moves pull requests to the base of a merged one when its branch is deleted', async () => {
    await github.commit('ralph/a', { 'a.txt': 'a' })
    await github.bare.run(['update-ref', 'refs/heads/ralph/b', 'refs/heads/ralph/a'])
    await github.commit('ralph/b', { 'b.txt': 'b' })
    const a = await github.openPull('alice', { head: 'ralph/a' })
    const b = await github.openPull('alice', { head: 'ralph/b', base: 'ralph/a' })
    await github.mergePull('alice', a.number, 'squash')
    await github.deleteBranch('ralph/a')
    assert.deepEqual([b.state, b.pull?.base], ['open', 'main'])
    const c = await github.openPull('alice', { head: 'main', base: 'ralph/b' })
    await github.deleteBranch('ralph/b')
    assert.deepEqual([b.state, c.state], ['closed', 'closed'], 'its own was not merged')
    clean()
  })

  it('merges with a merge commit, as one commit, or by a rebase', async () => {
    const parents = async () =>
      (await github.bare.run(['show', '-s', '--format=%P', 'main'])).split(' ').length
    for (const [how, count, subjects] of [
      ['merge', 2, 'two\none'],
      ['squash', 1, ''],
      ['rebase', 1, 'two\none'],
    ] as const) {
      const branch = `ralph/${how}`
      const before = await github.head('main')
      await github.commit(branch, { [`${how}-1.txt`]: '1' }, 'one')
      await github.commit(branch, { [`${how}-2.txt`]: '2' }, 'two')
      const { number } = await github.openPull('alice', { head: branch })
      const sha = await github.mergePull('alice', number, how)
      assert.deepEqual([await github.head('main'), await parents()], [sha, count])
      assert.equal(await github.read('main', `${how}-2.txt`), '2')
      const log = await github.bare.run(['log', '--no-merges', '--format=%s', `${before}..main`])
      assert.equal(log, subjects === '' ? `${branch} (#${number})` : subjects)
    }
    clean()
  })

  it('pages through comments, and gives those since a time', async () => {
    const { number } = github.openIssue('bob', 'A wish')
    for (let at = 1; at <= 5; at += 1) github.comment('bob', number, `comment ${at}`)
    const first = await ask(`GET ~/issues/${number}/comments?per_page=2`)
    assert.match(first.headers.get('link') ?? '', /per_page=2&page=2>; rel="next", <.*page=3>; rel="last"/)
    const last = await ask(`GET ~/issues/${number}/comments?per_page=2&page=3`)
    assert.deepEqual(
      last.body.map((one: { body: string }) => one.body),
      ['comment 5'],
    )
    assert.match(last.headers.get('link') ?? '', /rel="prev".*rel="first"/)
    const soon = new Date(Date.now() + 60_000).toISOString()
    assert.equal((await ask(`GET ~/issues/${number}/comments?since=${soon}`)).body.length, 0)
    assert.equal((await ask(`GET ~/issues/${number}/comments?since=2020-01-01T00:00:00Z`)).body.length, 5)
    clean()
  })

  it('edits, deletes and refuses comments', async () => {
    const { number } = github.openIssue('bob', 'A wish')
    const { id } = (await ask(`POST ~/issues/${number}/comments`, { body: 'one' })).body
    assert.equal((await ask(`PATCH ~/issues/comments/${id}`, { body: 'two' })).body.body, 'two')
    const [listed] = (await ask(`GET ~/issues/${number}/comments`)).body
    assert.deepEqual([listed.body, listed.user.login], ['two', 'github-actions[bot]'])
    const long = await ask(`POST ~/issues/${number}/comments`, { body: 'x'.repeat(65_537) })
    assert.equal(long.body.errors[0].message, 'Body is too long (maximum is 65536 characters)')
    assert.equal((await ask(`DELETE ~/issues/comments/${id}`)).status, 204)
    assert.deepEqual((await ask(`GET ~/issues/${number}/comments`)).body, [])
    clean()
  })

  it('with pull-requests: write allows comments on pull requests only', async () => {
    await github.commit('ralph/a', { 'a.txt': 'a' })
    const pull = await github.openPull('alice', { head: 'ralph/a' })
    const issue = github.openIssue('bob', 'A wish')
    const limited = client(github, github.mintJobToken({ pull_requests: 'write' }))
    assert.equal((await limited(`POST ~/issues/${pull.number}/comments`, { body: 'x' })).status, 201)
    assert.equal((await limited(`POST ~/issues/${issue.number}/comments`, { body: 'x' })).status, 403)
    clean()
  })

  it('adds a reaction once', async () => {
    const { number } = github.openIssue('bob', 'A wish')
    const { id } = github.comment('bob', number, '/ralph run')
    const react = (content: string) => ask(`POST ~/issues/comments/${id}/reactions`, { content })
    assert.equal((await react('eyes')).status, 201)
    assert.equal((await react('eyes')).status, 200)
    await react('rocket')
    assert.deepEqual(
      github.reactions(id).map((one) => one.content),
      ['eyes', 'rocket'],
    )
    assert.equal((await ask(`GET ~/issues/${number}/comments`)).body[0].reactions.eyes, 1)
    clean()
    assert.equal((await react('tada')).status, 422)
  })

  it('keeps check runs: conclusions, appended annotations, the latest of a name', async () => {
    const annotation = (line: number) => ({
      path: 'a.js',
      start_line: line,
      end_line: line,
      annotation_level: 'failure',
      message: 'no',
    })
    const create = (body: object) =>
      ask('POST ~/check-runs', { name: 'ralph / US-001', head_sha: head, ...body })
    const { body } = await create({ status: 'in_progress', external_id: 'x' })
    assert.deepEqual([body.status, body.conclusion, body.app.slug], ['in_progress', null, 'github-actions'])
    const output = (lines: number[]) => ({ title: 't', summary: 's', annotations: lines.map(annotation) })
    const patch = (change: object) => ask(`PATCH ~/check-runs/${body.id}`, change)
    await patch({ output: output([1, 2]) })
    const done = await patch({ conclusion: 'failure', output: output([3]) })
    assert.deepEqual([done.body.status, done.body.output.annotations_count], ['completed', 3])
    assert.notEqual(done.body.completed_at, null)
    const reopened = await patch({ status: 'in_progress' })
    assert.deepEqual([reopened.body.conclusion, reopened.body.completed_at], [null, null])

    const newer = (await create({ conclusion: 'success' })).body
    const list = async (more = '') =>
      (await ask(`GET ~/commits/main/check-runs?check_name=ralph%20%2F%20US-001${more}`)).body
    assert.deepEqual(
      (await list()).check_runs.map((one: { id: number }) => one.id),
      [newer.id],
    )
    assert.equal((await list('&filter=all')).total_count, 2)
    assert.equal((await list('&app_id=1')).total_count, 0)
    assert.equal(github.checksOf(head).length, 2)

    assert.equal(
      (await ask('POST ~/check-runs', { name: 'x', head_sha: '1'.repeat(40) })).body.message,
      `No commit found for SHA: ${'1'.repeat(40)}`,
    )
    assert.equal((await create({ status: 'completed' })).status, 422)
    clean()
  })

  it("refuses a check run beyond GitHub's limits", async () => {
    const create = async (output: object) =>
      (
        await ask('POST ~/check-runs', {
          name: 'x',
          head_sha: head,
          output: { title: 't', summary: 's', ...output },
        })
      ).status
    const one = { path: 'a', start_line: 1, end_line: 1, annotation_level: 'notice', message: 'm' }
    assert.equal(await create({ annotations: Array(50).fill(one) }), 201)
    assert.equal(await create({ annotations: Array(51).fill(one) }), 422)
    assert.equal(await create({ summary: 'x'.repeat(65_536) }), 422)
    assert.equal(await create({ text: 'x'.repeat(65_536) }), 422)
    assert.equal(await create({ annotations: [{ ...one, annotation_level: 'fatal' }] }), 422)
    assert.equal(await create({ annotations: [{ ...one, end_line: 2, start_column: 1 }] }), 422)
    assert.equal(await create({ annotations: [{ ...one, title: 'x'.repeat(256) }] }), 422)
    const person = { login: 'alice', type: 'User', permissions: everything } as const
    github.addToken('alices', person)
    assert.equal(
      (await client(github, 'alices')('POST ~/check-runs', { name: 'x', head_sha: head })).status,
      403,
    )
  })

  it('keeps commit statuses', async () => {
    const set = (state: string, context: string) =>
      ask(`POST ~/statuses/${head}`, { state, context, description: 'd' })
    await set('pending', 'ralph')
    await set('success', 'ralph')
    await set('pending', 'other')
    assert.equal((await ask(`GET ~/commits/${head}/statuses`)).body.length, 3)
    const long = await ask(`POST ~/statuses/${head}`, { state: 'success', description: 'x'.repeat(141) })
    assert.equal(long.status, 422)
    clean()
  })

  it('dispatches a workflow, with or without details, and checks its inputs', async () => {
    const dispatch = (body: object) => ask('POST ~/actions/workflows/ralph.yml/dispatches', body)
    assert.equal((await dispatch({ ref: 'main', inputs: { feature: 'auth' } })).status, 204)
    const detailed = await dispatch({ ref: 'main', inputs: { feature: 'auth' }, return_run_details: true })
    assert.equal(detailed.status, 200)
    const run = await ask(`GET ~/actions/runs/${detailed.body.workflow_run_id}`)
    assert.deepEqual([run.body.status, run.body.event], ['queued', 'workflow_dispatch'])
    assert.deepEqual(github.world.runs[0]?.inputs, { feature: 'auth', mode: 'run' })

    const why = async (body: object) =>
      `${(await dispatch({ ref: 'main', ...body })).status} ${(await dispatch({ ref: 'main', ...body })).body.message}`
    assert.equal(
      await why({ inputs: { feature: 'a', other: '1' } }),
      '422 Unexpected inputs provided: ["other"]',
    )
    assert.equal(await why({}), "422 Required input 'feature' not provided")
    assert.match(
      await why({ inputs: { feature: 'a', mode: 'fly' } }),
      /^422 Provided value 'fly' for input 'mode' not in/,
    )
    assert.equal(await why({ inputs: { feature: 'x'.repeat(65_530) } }), '422 inputs are too large.')
    assert.equal(await why({ ref: 'nowhere', inputs: { feature: 'a' } }), '422 No ref found for: nowhere')
    assert.equal((await ask('POST ~/actions/workflows/none.yml/dispatches', { ref: 'main' })).status, 404)
    github.settings.disabledWorkflows.push('ralph.yml')
    assert.match(await why({ inputs: { feature: 'a' } }), /^422 Cannot trigger .* disabled workflow/)
    clean()
    const many = Object.fromEntries(Array.from({ length: 26 }, (_, at) => [`i${at}`, '1']))
    assert.match(await why({ inputs: many }), /^422 .*must NOT have more than 25 properties/s)
  })

  it('can be an old server that does not know return_run_details', async () => {
    github.settings.oldDispatch = true
    const dispatch = (more: object) =>
      ask('POST ~/actions/workflows/ralph.yml/dispatches', { ref: 'main', inputs: { feature: 'a' }, ...more })
    assert.equal((await dispatch({ return_run_details: true })).status, 422)
    assert.equal((await dispatch({})).status, 204)
    assert.equal(github.world.runs.length, 1)
    clean()
  })

  it('answers 304 without counting it, and counts the rest', async () => {
    const first = await ask('GET ~/branches/main')
    const etag = first.headers.get('etag') ?? ''
    const again = await ask('GET ~/branches/main', undefined, { 'if-none-match': etag })
    assert.equal(again.status, 304)
    assert.deepEqual(
      ['limit', 'used', 'remaining', 'resource'].map((name) => again.headers.get(`x-ratelimit-${name}`)),
      ['1000', '1', '999', 'core'],
    )
    await github.commit('main', { 'new.txt': '1' })
    assert.equal((await ask('GET ~/branches/main', undefined, { 'if-none-match': etag })).status, 200)
    assert.equal((await ask('GET /rate_limit')).body.rate.used, 2)
    github.settings.requestsPerHour = 2
    const limited = await ask('GET ~/branches/main')
    assert.deepEqual([limited.status, limited.headers.get('x-ratelimit-remaining')], [403, '0'])
    clean()
  })

  it('answers the GraphQL queries that REST lacks', async () => {
    await github.commit('ralph/a', { 'a.txt': 'a' })
    const { number } = await github.openPull('alice', { head: 'ralph/a', draft: true })
    const { node_id: id } = (await ask(`GET ~/pulls/${number}`)).body
    const ready =
      'mutation($id: ID!) { markPullRequestReadyForReview(input: { pullRequestId: $id }) { pullRequest { number isDraft } } }'
    const { body } = await ask('POST /graphql', { query: ready, variables: { id } })
    assert.deepEqual(body.data.markPullRequestReadyForReview.pullRequest, { number, isDraft: false })
    const reader = client(github, github.mintJobToken({ contents: 'read' }))
    const refused = await reader('POST /graphql', { query: ready, variables: { id } })
    assert.deepEqual([refused.status, refused.body.errors[0].type], [200, 'FORBIDDEN'])
    clean()
    await ask('POST /graphql', { query: 'mutation { markReady(input: {}) { x } }' })
    assert.match(github.violations.join(), /Cannot query field "markReady"/)
  })

  it('works with the real client and its plugins', async () => {
    const Client = Octokit.plugin(restEndpointMethods, paginateRest, retry)
    const octokit = new Client({ auth: github.mintJobToken(everything), baseUrl: github.url })
    const repository = { owner: 'acme', repo: 'shop' }
    await github.commit('ralph/a', { 'a.txt': 'a' })
    const { number } = github.openIssue('bob', 'A wish')
    for (let at = 0; at < 5; at += 1) github.comment('bob', number, `${at}`)
    const all = await octokit.paginate(octokit.rest.issues.listComments, {
      ...repository,
      issue_number: number,
      per_page: 2,
    })
    assert.equal(all.length, 5)
    github.fault({ path: /branches/ }, { status: 502 })
    const { data, headers } = await octokit.rest.repos.getBranch({
      ...repository,
      branch: 'ralph/a',
      request: { retryAfter: 0 },
    })
    assert.equal(data.name, 'ralph/a')
    const unchanged = octokit.rest.repos.getBranch({
      ...repository,
      branch: 'ralph/a',
      headers: { 'if-none-match': headers.etag ?? '' },
    })
    await assert.rejects(unchanged, { status: 304 })
    const root = await octokit.rest.repos.getContent({ ...repository, path: '' })
    assert.ok(Array.isArray(root.data) && root.data.length === 2)
    clean()
  })

  it('injects faults: another answer, a lost one, none', async () => {
    const { number } = github.openIssue('bob', 'A wish')
    const path = /\/comments$/
    github.fault(
      { method: 'POST', path },
      { status: 502, body: 'bad gateway', headers: { 'retry-after': '1' } },
    )
    github.fault({ method: 'POST', path }, 'drop', { afterwards: true })
    const hung = github.fault({ method: 'POST', path }, 'hang')
    const post = () => ask(`POST ~/issues/${number}/comments`, { body: 'x' })
    await assert.rejects(post(), SyntaxError)
    assert.equal(github.comments(number).length, 0)
    await assert.rejects(post(), TypeError)
    assert.equal(github.comments(number).length, 1)
    const waiting = post()
    assert.equal((await hung.hit).path, `/repos/acme/shop/issues/${number}/comments`)
    hung.release()
    await assert.rejects(waiting, TypeError)
    assert.equal((await post()).status, 201)
    assert.deepEqual(
      github.requests.filter(({ method }) => method === 'POST').map(({ status }) => status),
      [502, 0, 0, 201],
    )
  })

  it('raises events for what people do, not for what a job does', async () => {
    const seen: string[] = []
    github.world.onEvent((event) => seen.push(`${event.name}.${event.action} by ${event.actor}`))
    const { number } = github.openIssue('bob', 'A wish', 'please', ['ralph'])
    const { id } = github.comment('bob', number, 'x')
    github.editComment('bob', id, 'y')
    github.deleteComment('bob', id)
    github.label('alice', number, 'now')
    await ask(`POST ~/issues/${number}/comments`, { body: 'from the job' })
    github.addToken('an-app', { login: 'helper[bot]', type: 'Bot', permissions: everything })
    await client(github, 'an-app')(`POST ~/issues/${number}/comments`, { body: 'from an app' })
    assert.deepEqual(seen, [
      'issues.opened by bob',
      'issues.labeled by bob',
      'issue_comment.created by bob',
      'issue_comment.edited by bob',
      'issue_comment.deleted by bob',
      'issues.labeled by alice',
      'issue_comment.created by helper[bot]',
    ])
    clean()
  })
})
