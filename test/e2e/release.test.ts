// .github/workflows/release.yml on the stand-in, as far as it goes without GitHub: its scripts, npm's pack and install, and git are
// real; the build, npm's registry, gh, the attestation and the sample repository are not.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startGitHub } from '../standin/github.ts'
import { type Run, startRunner } from '../standin/runner.ts'
import { ROOT } from './site.ts'

const FAKE = join(ROOT, 'test', 'fakes', 'release-programs.mjs')
const NAMED = [
  'package.json',
  'package-lock.json',
  '.release-please-manifest.json',
  'CHANGELOG.md',
  'README.md',
  'LICENSE',
  'src/engine/model/version.ts',
  '.github/workflows/release.yml',
]

/** What a release reads of this repository, as it is in the work tree. */
async function filesOfRelease(): Promise<Record<string, string>> {
  const args = ['ls-files', '--', 'dist', 'scripts/release', ...NAMED]
  const paths = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
  const texts = paths.map(async (path) => [path, await readFile(join(ROOT, path), 'utf8')] as const)
  return Object.fromEntries(await Promise.all(texts))
}

type Options = { build?: string; canary?: 'success' | 'failure'; version?: string }

async function openRelease(t: TestContext, { build, canary = 'success', version }: Options = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-release-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const log = join(folder, 'log')
  await writeFile(log, '')
  const npm = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim()
  // In the scripts, for the tarball is tried with an environment of its own.
  const env = `export RELEASE_LOG='${log}' REAL_NPM='${npm}'${build === undefined ? '' : ` RELEASE_BUILD='${build}'`}`
  for (const name of ['npm', 'gh']) {
    const lines = ['#!/bin/sh', env, `exec "${process.execPath}" "${FAKE}" ${name} "$@"`, '']
    await writeFile(join(folder, name), lines.join('\n'))
    await chmod(join(folder, name), 0o755)
  }
  const files = await filesOfRelease()
  const given = JSON.parse(files['package.json'] ?? '{}')
  if (version !== undefined) files['package.json'] = JSON.stringify({ ...given, version })
  const github = await startGitHub({ owner: 'ralph', repo: 'action', people: { alice: 'admin' }, files })
  t.after(() => github[Symbol.asyncDispose]())
  const runner = await startRunner({
    github,
    path: [folder],
    secrets: { CANARY_TOKEN: 'canary-token' },
    env: { CANARY_WAIT_S: '0' },
  })
  t.after(() => runner[Symbol.asyncDispose]())
  // The sample repository is another one, which the stand-in does not have: one run, seen once at work.
  const run = { path: '/repos/ralph/canary/actions/runs/7' }
  const started = {
    workflow_run_id: 7,
    run_url: run.path,
    html_url: 'https://github.com/ralph/canary/actions/runs/7',
  }
  github.fault({ method: 'POST', path: /ralph\/canary.*dispatches$/ }, { status: 200, body: started })
  github.fault(run, { status: 200, body: { status: 'in_progress', conclusion: null } })
  github.fault(run, { status: 200, body: { status: 'completed', conclusion: canary } })
  return {
    github,
    tag: `v${given.version}`,
    called: async () => (await readFile(log, 'utf8')).trim().split('\n'),
    async release(): Promise<Run> {
      const run = await runner.dispatch('release.yml')
      await runner.settled()
      return run
    },
    log: (run: Run) => runner.log(run),
    tagAt: async (name: string) => (await github.bare.refs()).get(`refs/tags/${name}`) ?? null,
  }
}

const resultsOf = (run: Run) => Object.fromEntries(run.jobs.map(({ name, conclusion }) => [name, conclusion]))

test('a release is rebuilt, packed, tested, published and run on the sample repository before v1 moves', async (t) => {
  const site = await openRelease(t)
  const head = await site.github.head('main')
  const run = await site.release()
  assert.equal(run.conclusion, 'success', site.log(run))
  assert.deepEqual(resultsOf(run), {
    'Is there a version to release': 'success',
    'Rebuild, compare, pack and try': 'success',
    'Attest dist/ and the tarball': 'success',
    'Release on GitHub': 'success',
    'Publish on npm': 'success',
    'Run it on the sample repository': 'success',
    'Move the major tag': 'success',
  })
  const { tag } = site
  const tarball = `ralph-action-${tag.slice(1)}.tgz`
  const called = (await site.called()).filter((line) => !/^npm (?:pack|install)/.test(line))
  assert.deepEqual(called, [
    'npm ci --ignore-scripts --no-fund --no-audit',
    'npm rebuild node',
    'npm run build',
    `gh release create ${tag} --draft --target ${head} --title ${tag} --notes-file release/NOTES.md release/${tarball} release/SHA256SUMS`,
    `gh release edit ${tag} --draft=false`,
    ...called.filter((line) => line.startsWith('npm publish')),
    'gh label create autorelease: tagged --force',
    'gh pr list --state merged --label autorelease: pending --json number --jq .[].number',
  ])
  assert.ok(called.includes(`npm publish ./release/${tarball}`))
  assert.match(site.log(run), /the demo is complete/)
  assert.match(site.log(run), new RegExp(`${tag} works in ralph/canary`))
  assert.equal(await site.tagAt(tag), head)
  assert.equal(await site.tagAt('v1'), head)

  // What is out is not released once more.
  const again = await site.release()
  assert.equal(resultsOf(again)['Rebuild, compare, pack and try'], 'skipped')
  assert.deepEqual(site.github.violations, [])
})

test('a release whose dist/ is not built from its src/ is refused, and nothing is published', async (t) => {
  const site = await openRelease(t, { build: '// built otherwise' })
  const run = await site.release()
  assert.equal(run.conclusion, 'failure')
  assert.match(
    site.log(run),
    /dist\/cli\/main\.js: found a change that is not committed[^\n]*\n[^\n]*npm run build/,
  )
  assert.ok((await site.called()).every((line) => !/publish|release/.test(line)))
  assert.equal(await site.tagAt(site.tag), null)
})

test('v1 does not move when the released action fails on the sample repository', async (t) => {
  const site = await openRelease(t, { canary: 'failure' })
  const run = await site.release()
  assert.equal(resultsOf(run)['Run it on the sample repository'], 'failure')
  assert.equal(resultsOf(run)['Move the major tag'], 'skipped')
  assert.match(site.log(run), /ralph\/canary with v[\d.]+: found the conclusion failure/)
  assert.notEqual(await site.tagAt(site.tag), null)
  assert.equal(await site.tagAt('v1'), null)
})

test('a version on which files disagree is not released', async (t) => {
  const site = await openRelease(t, { version: '9.9.9' })
  const run = await site.release()
  assert.equal(run.conclusion, 'failure')
  assert.match(site.log(run), /CHANGELOG\.md: found 1\.0\.0, expected 9\.9\.9, as in package\.json/)
})
