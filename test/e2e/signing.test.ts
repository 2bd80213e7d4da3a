// `sign-commits`: every commit of Ralph's on the branch has a signature that git accepts, and what cannot sign ends before a session.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { place } from './laptop.ts'
import { annotationsOf, goodTurn, openSite, outputsOf, RUN_TESTS, type Site, story } from './site.ts'

const EMAIL = 'ralph@example.com'
const STORIES = [story('US-001', 'one'), story('US-002', 'two')]
const SCRIPT = { 'US-001': [goodTurn('one', 1)], 'US-002': [goodTurn('two', 2)] }
const INPUTS = { gates: `test: ${RUN_TESTS}`, 'final-verification': 'false', 'iterations-per-job': '1' }

function newKey(passphrase = '') {
  const folder = mkdtempSync(join(tmpdir(), 'keys-'))
  const file = join(folder, 'key')
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-C', 'a comment', '-f', file])
  const allowed = join(folder, 'allowed')
  writeFileSync(allowed, `* ${readFileSync(`${file}.pub`, 'utf8')}`)
  return {
    file,
    text: readFileSync(file, 'utf8'),
    /** For git: which keys count. */
    settings: ['-c', 'gpg.format=ssh', '-c', `gpg.ssh.allowedSignersFile=${allowed}`],
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

async function completesInTwoJobs(site: Site): Promise<void> {
  await site.go()
  assert.deepEqual(
    site.runner.runs.map((run) => outputsOf(run).outcome),
    ['continued', 'complete'],
    site.log(),
  )
}

test('sign-commits: ssh signs each commit of Ralph, with a key that nothing else sees', async () => {
  using key = newKey()
  await using site = await openSite({
    stories: STORIES,
    script: SCRIPT,
    inputs: { ...INPUTS, 'sign-commits': 'ssh', 'signing-key': key.text },
    workflow: (text) =>
      text.replace(/^( +)- uses: ralph\/action/m, `$1- run: git config user.email ${EMAIL}\n$&`),
  })
  await completesInTwoJobs(site)
  const { github } = site
  const { base } = await site.state()
  const log = await github.bare.run([
    ...key.settings,
    'log',
    '--format=%G? %ae %s',
    `${base.sha}..ralph/sample`,
  ])
  const own = String(log).trim().split('\n')
  assert.ok(own.length >= 3, String(log))
  for (const line of own) assert.match(line, new RegExp(`^G ${EMAIL} `))
  const half = key.text.split('\n')[2] ?? ''
  const seen = JSON.stringify([site.log(), await site.sessions(), await site.state(), github.comments(1)])
  assert.ok(half.length > 30 && !seen.includes(half))
  assert.deepEqual(github.violations, [])
})

for (const [what, inputs, expected] of [
  ['without a key', () => ({}), /sign-commits: found ssh without a key.*signing-key/s],
  [
    'with a key behind a passphrase',
    (key: string) => ({ 'signing-key': key }),
    /ssh, but signing-key cannot sign: /,
  ],
] as const)
  test(`sign-commits: ssh ${what} ends before a session, with the way out`, async () => {
    using key = newKey('secret')
    await using site = await openSite({
      stories: STORIES,
      script: SCRIPT,
      inputs: { ...INPUTS, 'sign-commits': 'ssh', ...inputs(key.text) },
    })
    const run = await site.go()
    assert.equal(outputsOf(run).outcome, 'error', site.log())
    assert.match(annotationsOf(run, 'error').join('\n'), expected)
    assert.deepEqual(await site.sessions(), [])
    assert.equal(await site.github.head('ralph/sample'), null)
  })

test("on a laptop sign-commits: ssh uses the key of the person's git", async () => {
  using key = newKey()
  const prd = JSON.stringify({ schemaVersion: 2, userStories: [story('US-001', 'one')] })
  await using there = await place(
    { '.ralph/2026-01-31-sample/prd.json': prd },
    { 'US-001': [{ files: { 'src/one.txt': 'one\n' } }] },
  )
  const run = () => there.ralph(['run', '--gate', 'good=! grep -rq bad src', '--sign-commits', 'ssh'])
  const without = await run()
  assert.equal(without.code, 64, without.err)
  assert.match(without.err, /user\.signingkey/)
  there.git('config', 'user.signingkey', key.file)
  const ended = await run()
  assert.equal(ended.code, 0, ended.out + ended.err)
  const log = there.git(...key.settings, 'log', '--format=%G?', 'main..ralph/sample')
  assert.deepEqual([...new Set(log.trim().split('\n'))], ['G'])
})

const BY_API = { ...INPUTS, 'sign-commits': 'true' }

test('sign-commits: true lets GitHub sign what the gates saw, and git accepts each signature', async () => {
  await using site = await openSite({
    stories: STORIES,
    script: {
      'US-001': [
        {
          ...goodTurn('one', 1),
          shell:
            'printf "#!/bin/sh\\n" >tool && chmod +x tool && ln -s tool link && printf "\\377\\000" >"naïve name.bin"',
        },
      ],
      'US-002': [goodTurn('two', 2)],
    },
    inputs: BY_API,
  })
  const { github } = site
  // Of a job that died while GitHub signed, and of one that may be at work now.
  const inWork = `refs/ralph-signing/${Date.now()}-b`
  for (const ref of ['refs/ralph-signing/1700000000000-a', inWork])
    await github.bare.run(['update-ref', ref, 'main'])
  await completesInTwoJobs(site)
  const { base, published } = await site.state()
  const env = { GNUPGHOME: (await github.world.signingKey()).folder }
  const range = `${base.sha}..ralph/sample`
  const log = await github.bare.run(['log', '--format=%G? %cn', range], { env })
  const own = log.split('\n')
  assert.ok(own.length >= 3, log)
  for (const line of own) assert.match(line, /^[GU] GitHub$/)
  assert.equal(await github.head('ralph/sample'), published)
  const modes = await github.bare.run(['ls-tree', 'ralph/sample'])
  assert.match(modes, /^100644 blob \S+\t"na\\303\\257ve name\.bin"$/m)
  assert.match(modes, /^120000 blob \S+\tlink$/m)
  assert.match(modes, /^100755 blob \S+\ttool$/m)
  assert.equal(await github.bare.run(['for-each-ref', '--format=%(refname)', 'refs/ralph-signing']), inWork)
  assert.deepEqual(github.violations, [])
})

test('sign-commits: true where GitHub does not sign: one error before a session, and no branch moves', async () => {
  await using site = await openSite({
    stories: STORIES,
    script: SCRIPT,
    inputs: BY_API,
    github: { unsignedCommits: true },
  })
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'error', site.log())
  assert.match(annotationsOf(run, 'error').join('\n'), /did not sign the commit \(unsigned\)/)
  assert.deepEqual(await site.sessions(), [])
  assert.equal(await site.github.head('ralph/sample'), null)
})

test('on a laptop there is no GitHub that signs', async () => {
  const prd = JSON.stringify({ schemaVersion: 2, userStories: [story('US-001', 'one')] })
  await using there = await place({ '.ralph/2026-01-31-sample/prd.json': prd }, {})
  const ended = await there.ralph(['run', '--gate', 'good=! grep -rq bad src', '--sign-commits', 'true'])
  assert.equal(ended.code, 64, ended.out)
  assert.match(ended.err, /true, but this is not a GitHub Actions job[\s\S]*ssh or gpg/)
})

test('sign-commits: true in four jobs: the job that lands signs, and no other one gets a signature', async () => {
  await using site = await openSite({
    stories: STORIES,
    script: SCRIPT,
    inputs: BY_API,
    separate: true,
  })
  await site.go()
  const { github } = site
  const { base, prd } = await site.state()
  assert.equal(prd.run.outcome, 'complete', site.log())
  const env = { GNUPGHOME: (await github.world.signingKey()).folder }
  const log = await github.bare.run(['log', '--format=%G? %cn', `${base.sha}..ralph/sample`], { env })
  for (const line of log.split('\n')) assert.match(line, /^[GU] GitHub$/, log)
  assert.equal(await github.bare.run(['for-each-ref', 'refs/ralph-signing']), '')
  assert.deepEqual(github.violations, [])
})
