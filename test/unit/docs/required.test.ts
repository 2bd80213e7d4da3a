// The companion workflow of a required check `ralph`: under which name its job answers, and what it answers in a merge queue.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { parse } from 'yaml'
import { Checks } from '../../../src/github/post-checks.ts'
import { attestationOf, PREDICATE_TYPE } from '../../../src/report/attestation.ts'
import { ROOT } from '../../e2e/site.ts'
import { type GitHub, startGitHub } from '../../standin/github.ts'
import { interpolateText } from '../../standin/runner/expressions.ts'
import { connected } from '../github/connected.ts'
import { rollupCheck } from '../report/rendered.ts'
import { complete, limits, midRun, NOW } from '../report/samples.ts'

const companion = parse(await readFile(join(ROOT, 'examples', 'ralph-required.yml'), 'utf8'))
const { answer } = companion.jobs
const facts = { repositoryUrl: 'https://github.com/acme/shop', runUrl: null, limits, now: NOW, notes: [] }

const nameFor = (github: object) =>
  interpolateText(answer.name, {
    contexts: { github: { event: {}, ...github } },
    standing: { success: true, failure: false, cancelled: false },
    workspace: null,
  })
const pullFrom = (head_ref: string, repository: number | null) => ({
  event_name: 'pull_request',
  head_ref,
  event: {
    repository: { id: 7 },
    pull_request: { head: { repo: repository === null ? null : { id: repository } } },
  },
})

test("the companion workflow posts `ralph` for every branch but Ralph's own", () => {
  assert.equal(nameFor(pullFrom('fix-typo', 7)), 'ralph')
  assert.equal(nameFor(pullFrom('my/ralph/x', 7)), 'ralph')
  assert.equal(nameFor(pullFrom('ralph/x', 8)), 'ralph', 'of a fork')
  assert.equal(nameFor(pullFrom('ralph/x', null)), 'ralph', 'of a fork that was deleted')
  assert.equal(nameFor({ event_name: 'merge_group', head_ref: '' }), 'ralph')
  const own = nameFor(pullFrom('ralph/auth', 7))
  assert.notEqual(own, 'ralph', 'of two checks with one name GitHub wants both')
  assert.notEqual(own, '')
})

test('the companion workflow is never skipped, filters no pull request, and has read permissions only', () => {
  assert.deepEqual(companion.on, { pull_request: null, merge_group: null })
  assert.equal(answer.if, undefined, 'a job that is skipped counts as one that passed')
  assert.deepEqual(companion.permissions, {})
  const read = ['checks', 'pull-requests', 'contents', 'attestations'].map((name) => [name, 'read'])
  assert.deepEqual(answer.permissions, Object.fromEntries(read))
  for (const step of answer.steps) assert.equal(step.uses, undefined, 'nothing is checked out')
})

type Answered = { code: number; said: string }

/** The script of the step for merge groups, as the runner starts it, with the token that the job has. */
async function inQueue(github: GitHub, group: string, more: NodeJS.ProcessEnv = {}): Promise<Answered> {
  const { run, env } = answer.steps.find(({ env: its }: { env?: object }) => its !== undefined)
  const token = github.mintJobToken({ checks: 'read', pull_requests: 'read', contents: 'read' })
  const GITHUB_REPOSITORY = `${github.owner}/${github.repo}`
  assert.equal(env.ATTESTED_BY, '', 'a project that signs nothing needs no attestation')
  const own = {
    TOKEN: token,
    GROUP: group,
    PREFIX: env.PREFIX,
    ATTESTED_BY: '',
    DEFAULT_BRANCH: 'main',
    ...more,
  }
  const urls = { GITHUB_API_URL: github.url, GITHUB_SERVER_URL: github.url }
  const from = { PATH: process.env.PATH, ...urls, GITHUB_REPOSITORY }
  return new Promise((done) => {
    execFile(
      'bash',
      ['--noprofile', '--norc', '-e', '-c', run],
      { env: { ...from, ...own } },
      (error, out, err) => done({ code: error === null ? 0 : Number(error.code), said: `${out}${err}` }),
    )
  })
}

const groupOf = (number: number) =>
  `refs/heads/gh-readonly-queue/main/pr-${number}-${'0123456789abcdef'.repeat(3).slice(0, 40)}`

test("the companion workflow in a merge queue passes other branches at once, and Ralph's only after a complete run", async () => {
  await using github = await startGitHub({ people: { alice: 'admin' } })
  const posted = connected(github, github.mintJobToken({ checks: 'write' }))
  const sha = await github.commit('ralph/auth', { 'a.txt': 'a' }, 'work', 'alice')
  await github.commit('fix-typo', { 'b.txt': 'b' }, 'typo', 'alice')
  const other = await github.openPull('alice', { head: 'fix-typo' })
  const own = await github.openPull('alice', { head: 'ralph/auth' })
  const ask = (number: number) => inQueue(github, groupOf(number))

  assert.deepEqual(await ask(other.number), {
    code: 0,
    said: `Pull request ${other.number} is none of Ralph's.\n`,
  })
  const none = await ask(own.number)
  assert.equal(none.code, 1)
  assert.match(none.said, /is not there: comment \/ralph verify/)

  // A job of somebody else's that is called so, too, says nothing about the run.
  await posted.api.rest.checks.create({
    ...{ ...posted.repo, name: 'ralph', head_sha: sha, status: 'completed', conclusion: 'success' },
  })
  assert.equal((await ask(own.number)).code, 1)

  const checks = new Checks(posted, 'checks', 'auth')
  await checks.post(sha, [rollupCheck(midRun(), facts)])
  const open = await ask(own.number)
  assert.equal(open.code, 1)
  assert.match(open.said, /is in progress\./)
  await checks.post(sha, [rollupCheck(complete(), facts)])
  assert.deepEqual(await ask(own.number), {
    code: 0,
    said: `The check ralph of pull request ${own.number} is success.\n`,
  })
  assert.deepEqual(github.violations, [])
})

test('the companion workflow fails for a merge group that it cannot read', async () => {
  await using github = await startGitHub({ people: { alice: 'admin' } })
  for (const group of ['refs/heads/main', groupOf(999), '"; exit 0; "'])
    assert.notEqual((await inQueue(github, group)).code, 0, group)
})

/** `gh`, and `actions/attest` as a function, of a folder with a Sigstore of its own. */
async function openSigstore(github: GitHub) {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-sigstore-'))
  const fake = join(ROOT, 'test', 'fakes', 'attestations.mjs')
  await mkdir(join(folder, 'bin'))
  await writeFile(join(folder, 'bin', 'gh'), `#!/bin/sh\nexec '${process.execPath}' '${fake}' gh "$@"\n`)
  await chmod(join(folder, 'bin', 'gh'), 0o755)
  const kept = { ATTESTATIONS: join(folder, 'kept') }
  const ours = { workflow: `${github.fullName}/.github/workflows/ralph.yml`, ref: 'refs/heads/main' }
  return {
    env: { ...kept, PATH: `${join(folder, 'bin')}:${process.env.PATH}`, ATTESTED_BY: 'ralph.yml' },
    async attest(sha: string, outcome: string | null, { by = {}, env = {} } = {}) {
      const { workflow, ref } = { ...ours, ...by }
      const state = complete()
      const predicate = { ...attestationOf(state, { tree: '', gates: [], digest: () => '' }), outcome }
      const [file, subject] = [join(folder, 'predicate.json'), join(folder, 'subject')]
      await writeFile(file, JSON.stringify(predicate))
      await writeFile(subject, await github.bare.run(['cat-file', 'commit', sha]))
      await new Promise<void>((resolve, reject) => {
        const args = [fake, 'attest', PREDICATE_TYPE, file, subject, workflow, ref]
        execFile(process.execPath, args, { env: { ...process.env, ...kept, ...env } }, (error) =>
          error === null ? resolve() : reject(error),
        )
      })
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

test('the companion workflow can require an attestation: signed for this commit, by that workflow, on the default branch', async () => {
  await using github = await startGitHub({ people: { alice: 'admin' } })
  await using sigstore = await openSigstore(github)
  const posted = connected(github, github.mintJobToken({ checks: 'write' }))
  const sha = await github.commit('ralph/auth', { 'a.txt': 'a' }, 'work', 'alice')
  const own = await github.openPull('alice', { head: 'ralph/auth' })
  await new Checks(posted, 'checks', 'auth').post(sha, [rollupCheck(complete(), facts)])
  const ask = () => inQueue(github, groupOf(own.number), sigstore.env)

  const none = await ask()
  assert.equal(none.code, 1, none.said)
  assert.match(none.said, /no attestation of [0-9a-f]{64}/)
  const parent = (await github.bare.run(['rev-parse', `${sha}^`])).trim()
  const elsewhere = `${github.fullName}/.github/workflows/other.yml`
  await sigstore.attest(parent, 'complete')
  await sigstore.attest(sha, 'complete', { by: { workflow: elsewhere } })
  await sigstore.attest(sha, 'complete', { by: { ref: 'refs/heads/ralph/auth' } })
  await sigstore.attest(sha, 'complete', { by: { workflow: 'mallory/shop/.github/workflows/ralph.yml' } })
  await sigstore.attest(sha, 'complete', { env: { OTHER_ROOT: '1' } })
  const others = await ask()
  assert.equal(others.code, 1, others.said)
  assert.match(others.said, /no attestation of/)

  await sigstore.attest(sha, null)
  const unfinished = await ask()
  assert.equal(unfinished.code, 1, unfinished.said)
  await sigstore.attest(sha, 'complete')
  const signed = await ask()
  assert.equal(signed.code, 0, signed.said)
  assert.match(signed.said, new RegExp(`ralph\\.yml has signed for commit ${sha}: .*complete`))
  assert.deepEqual(github.violations, [])
})
