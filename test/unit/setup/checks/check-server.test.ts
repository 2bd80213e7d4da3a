// What doctor, a job and `init` say about a server that is not GitHub's own.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import test from 'node:test'
import { hostOf, isGitHubHost, otherHostOf } from '../../../../src/github/forges/forge.ts'
import { readSettings } from '../../../../src/settings/read-settings.ts'
import { checkServer, remoteResults, serverMistakes } from '../../../../src/setup/checks/check-server.ts'
import { subjectOf } from './subject.ts'

const GHES = 'https://git.acme.test/api/v3'
const GITEA = 'https://git.acme.test/api/v1'

function startOf(api: string, isolation: string, surface: 'action' | 'cli' = 'action', more: object = {}) {
  const { settings } = readSettings(
    surface === 'action'
      ? { inputs: { isolation, ...more }, env: {}, surface }
      : { flags: { isolation }, env: {}, surface },
  )
  return { env: { GITHUB_API_URL: api }, settings }
}

test('a job refuses separate-job on a server without artifacts of version 4, and names what works', () => {
  for (const [api, name] of [
    [GHES, 'GitHub Enterprise Server'],
    [GITEA, 'Gitea or Forgejo'],
  ] as const) {
    const [mistake, ...others] = serverMistakes(startOf(api, 'separate-job'))
    assert.equal(others.length, 0)
    assert.ok(mistake?.found.includes(`artifacts of version 4, which ${name} does not have`), mistake?.found)
    assert.match(mistake?.fix ?? '', /isolation: other-user/)
    assert.deepEqual(serverMistakes(startOf(api, 'other-user')), [])
  }
  assert.deepEqual(serverMistakes(startOf('https://api.github.com', 'separate-job')), [])
  assert.deepEqual(serverMistakes(startOf('https://api.acme.ghe.com', 'separate-job')), [])
  assert.deepEqual(serverMistakes(startOf(GHES, 'separate-job', 'cli')), [])
})

test('a job refuses stacked pull requests on a server without GraphQL, and names what works', () => {
  const said = (api: string, pullRequest: string) =>
    serverMistakes(startOf(api, 'other-user', 'action', { 'pull-request': pullRequest }))
  const [mistake, ...others] = said(GITEA, 'stacked')
  assert.deepEqual(others, [])
  assert.equal(mistake?.path, 'pull-request')
  assert.match(mistake.found, /^stacked needs GraphQL, which Gitea or Forgejo does not have/)
  assert.match(mistake.fix, /^set pull-request: draft/)
  for (const [api, pullRequest] of [
    [GITEA, 'draft'],
    [GHES, 'stacked'],
    ['https://api.github.com', 'stacked'],
  ] as const)
    assert.deepEqual(said(api, pullRequest), [], api)
})

test('doctor in a job names the server, or says what it lacks', () => {
  const said = (api: string, isolation: string) =>
    checkServer(subjectOf(startOf(api, isolation))).map(({ state, found }) => `${state}: ${found}`)
  assert.deepEqual(said(GHES, 'other-user'), ['ok: GitHub Enterprise Server'])
  assert.match(said(GHES, 'separate-job').join(), /^fault: .*artifacts of version 4/)
  assert.deepEqual(said('https://api.github.com', 'separate-job'), [])
})

test("doctor on a laptop looks at the remote's host", () => {
  const said = (remote: string | undefined, isolation: string | null) =>
    remoteResults(remote, isolation).map(({ state, found }) => `${state}: ${found}`)
  assert.deepEqual(said('https://github.com/acme/shop.git', 'separate-job'), [])
  assert.deepEqual(said(undefined, 'separate-job'), [])
  assert.deepEqual(said('/srv/shop.git', 'separate-job'), [])
  assert.match(
    said('git@git.acme.test:acme/shop.git', 'other-user').join(),
    /^ok: origin is on git\.acme\.test.*gitea-forgejo\.md/,
  )
  assert.match(
    said('https://git.acme.test/acme/shop', 'separate-job').join(),
    /^fault: .*which git\.acme\.test does not have/,
  )
})

test('the host may say which page to read', () => {
  const read = (remote: string) => remoteResults(remote, null)[0]?.found.replace(/^.* own site\. /, '')
  assert.equal(
    read('git@gitlab.com:acme/shop.git'),
    'GitLab: docs/how-to/other-ci.md, with the example examples/other-ci/gitlab-ci.yml',
  )
  for (const host of ['codeberg.org', 'gitea.acme.test', 'forgejo.acme.test'])
    assert.equal(read(`https://${host}/acme/shop`), 'Gitea and Forgejo: docs/how-to/gitea-forgejo.md', host)
  const all = read('https://git.acme.test/acme/shop') ?? ''
  const paths = all.match(/(?:docs|examples)\/[\w/.-]+\w/g) ?? []
  assert.equal(paths.length, 4, all)
  for (const path of [...paths, 'examples/other-ci/gitlab-ci.yml']) assert.ok(existsSync(path), path)
})

test('a name from an SSH configuration may be GitHub: it leads to a note, and never to a refusal', () => {
  for (const host of ['work', 'github.com-work', 'my-github'])
    for (const remote of [`git@${host}:acme/shop.git`, `ssh://git@${host}/acme/shop.git`]) {
      assert.deepEqual(otherHostOf(remote), { host, isAlias: true }, remote)
      const [note, ...others] = remoteResults(remote, 'separate-job')
      assert.deepEqual([note?.state, others], ['ok', []], remote)
      assert.match(note?.found ?? '', /^origin is on the SSH host \S+\. If that is not GitHub's own site/)
    }
  for (const remote of ['git@git.acme.test:shop', 'git@10.0.0.5:a/shop', 'https://work/a/shop'])
    assert.equal(otherHostOf(remote)?.isAlias, false, remote)
})

test('the host of a remote is found in every form, and no other host passes for GitHub', () => {
  const hosts = [
    ['https://github.com/acme/shop', 'github.com'],
    ['https://x:y@GitHub.com/acme/shop', 'github.com'],
    ['ssh://git@git.acme.test:2222/acme/shop.git', 'git.acme.test'],
    ['git@git.acme.test:acme/shop.git', 'git.acme.test'],
    ['http://127.0.0.1:8080/acme/shop', '127.0.0.1'],
    ['../shop.git', null],
    ['file:///srv/shop.git', null],
    ['', null],
  ] as const
  for (const [remote, host] of hosts) assert.equal(hostOf(remote), host, remote)
  for (const host of ['github.com', 'ssh.github.com', 'acme.ghe.com', '127.0.0.1'])
    assert.ok(isGitHubHost(host), host)
  for (const host of [
    'github.com.evil.test',
    'ssh.github.com.evil.test',
    'notgithub.com',
    'ghe.com.evil.test',
    '',
    'gitea.com',
    'codeberg.org',
  ])
    assert.ok(!isGitHubHost(host), host)
})
