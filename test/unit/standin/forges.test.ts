// The stand-in as Gitea and Forgejo: it judges by their descriptions, and lacks what they lack.
import assert from 'node:assert/strict'
import test from 'node:test'
import { startGitHub } from '../../standin/github.ts'

const PEOPLE = { alice: 'admin', bob: 'write', mallory: 'read' } as const

const NAMES = { gitea: 'Gitea', forgejo: 'Forgejo' } as const

async function open(dialect: 'gitea' | 'forgejo') {
  const github = await startGitHub({ dialect, people: { ...PEOPLE } })
  github.addToken('admin', { login: 'alice', type: 'User', permissions: { contents: 'write' } })
  const job = github.mintJobToken({ contents: 'write' })
  const ask = async (
    path: string,
    { token = job, method = 'GET', body }: { token?: string; method?: string; body?: object } = {},
  ) => {
    const response = await fetch(`${github.url}${path}`, {
      method,
      headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  }
  return { github, ask, repo: `/api/v1/repos/${github.fullName}` }
}

for (const dialect of ['gitea', 'forgejo'] as const) {
  test(`${dialect}: what the server lacks is 404, and a request for it is a violation`, async () => {
    const { github, ask, repo } = await open(dialect)
    await using _ = github
    const sha = (await github.head('main')) ?? ''
    const lacking = [
      ['GET', `${repo}/commits/${sha}/check-runs`],
      ['POST', `${repo}/check-runs`],
      ['POST', '/graphql'],
      ['POST', '/api/v1/graphql'],
      ['POST', `${repo}/actions/runs/1/cancel`],
      ['GET', `${repo}/rules/branches/main`],
    ] as const
    for (const [method, path] of lacking)
      assert.equal(
        (await ask(path, { method, ...(method === 'POST' ? { body: {} } : {}) })).status,
        404,
        path,
      )
    assert.deepEqual(
      github.violations,
      lacking.map(
        ([method, path]) =>
          `${method} ${path.replace('/api/v1', '')}: ${NAMES[dialect]} has no such operation`,
      ),
    )
  })

  test(`${dialect}: GitHub's words in a request are violations`, async () => {
    const { github, ask, repo } = await open(dialect)
    await using _ = github
    await ask(`${repo}/commits?per_page=10`)
    await github.commit('feature', { 'a.txt': 'a' })
    await ask(`${repo}/pulls`, {
      method: 'POST',
      body: { title: 't', head: 'feature', base: 'main', draft: true },
    })
    assert.deepEqual(github.violations, [
      `GET /repos/acme/shop/commits: query parameter "per_page" is not known`,
      `POST /repos/acme/shop/pulls: /draft is not a property of this operation`,
    ])
  })

  test(`${dialect}: only an administrator may look up what another person may do`, async () => {
    const { github, ask, repo } = await open(dialect)
    await using _ = github
    const permission = async (login: string, token?: string) => {
      const { status, body } = await ask(
        `${repo}/collaborators/${login}/permission`,
        token === undefined ? {} : { token },
      )
      return status === 200 ? body.permission : status
    }
    assert.deepEqual(await Promise.all(['bob', 'acme'].map((login) => permission(login))), [403, 403])
    assert.deepEqual(
      await Promise.all(['acme', 'alice', 'bob', 'mallory'].map((login) => permission(login, 'admin'))),
      ['owner', 'admin', 'write', 'read'],
    )
    assert.deepEqual(github.violations, [])
  })

  test(`${dialect}: accounts and events have no type, and no association`, async () => {
    const { github, ask } = await open(dialect)
    await using _ = github
    const events: Record<string, unknown>[] = []
    github.world.onEvent(({ payload }) => events.push(payload))
    github.comment('mallory', github.openIssue('alice', 'a wish').number, '/ralph run')
    const { comment, issue } = Object(events.at(-1))
    assert.equal(comment.user.login, 'mallory')
    assert.equal('type' in comment.user || 'author_association' in comment, false)
    assert.equal(issue.pull_request, null)
    const { body } = await ask('/api/v1/user')
    assert.deepEqual([body.login, body.id], [`${dialect}-actions`, -2])
  })
}
