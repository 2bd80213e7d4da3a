// What people get wrong at the start of a run: one clear message with the mend, a red job, and nothing made.
import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import type { Run } from '../standin/runner.ts'
import { type Heard, Loopback } from '../unit/notify/loopback.ts'
import { annotationsOf, goodTurn, openSite, outputsOf, type Site, type SiteOptions, story } from './site.ts'

const STORIES = [story('US-001', 'one')]
const SCRIPT = { 'US-001': [goodTurn('one', 1)] }

type Case = Partial<SiteOptions> & {
  name: string
  dispatch?: Record<string, string>
  /** What the one message must hold: what is wrong, and what to do. */
  says: RegExp[]
}

/** A program that is called like claude, and says a version. */
const BIN = await mkdtemp(join(tmpdir(), 'ralph-bin-'))
await writeFile(join(BIN, 'claude'), '#!/bin/sh\necho 2.1.329\n', { mode: 0o755 })
await chmod(BIN, 0o755)
test.after(() => rm(BIN, { recursive: true, force: true }))

const WORK_PERMISSIONS = `      contents: write # the branch and the state`

const CASES: Case[] = [
  {
    name: 'two features, and no feature input',
    files: { '.ralph/2026-02-01-other/prd.json': prd([story('US-001', 'one')], 'ralph/other') },
    dispatch: { feature: '' },
    says: [
      /feature: there are 2 features, so Ralph does not know which one you mean: other/,
      /fix: name one: /,
    ],
  },
  {
    name: 'a feature that does not exist',
    dispatch: { feature: 'sampel' },
    says: [/feature: there is no feature sampel here/, /fix: .*sample/],
  },
  {
    name: 'a plan with a name that no input can have',
    files: { 'docs/prd.md': '# Login\n\n### US-001: one\n\n- [ ] one works\n' },
    dispatch: { feature: 't@eam', command: 'plan' },
    says: [/input feature: found "t@eam"/, /fix: write t-eam/],
  },
  {
    name: 'a feature name with a blank',
    dispatch: { feature: 'Team Login' },
    says: [/input feature: found "Team Login"/, /no spaces/],
  },
  {
    name: 'a prd.json with several faults',
    stories: [
      story('US-001', 'one', { dependsOn: ['US-009'] }),
      story('US-001', 'two', { acceptanceCriteria: [] }),
      story('US-003', 'three', { priority: 'high' }),
    ],
    says: [/US-009/, /userStories\[1\]\.id/, /userStories\[1\]\.acceptanceCriteria/, /US-003, priority/],
  },
  {
    name: 'a prd.json that is no JSON',
    files: { '.ralph/2026-01-31-sample/prd.json': '{\n  "userStories": [\n    {"id": "US-001",}\n  ]\n}\n' },
    says: [/prd\.json.*(line )?3/, /fix:/],
  },
  {
    name: 'an input value that does not exist',
    inputs: { agent: 'cluade', 'max-iterations': 'many' },
    says: [/input agent: found "cluade"/, /fix: .*claude/, /input max-iterations: found "many"/],
  },
  {
    name: 'an input that does not exist',
    inputs: { 'max-iteration': '3' },
    says: [/input max-iteration/, /max-iterations/],
  },
  {
    name: 'an unknown key in ralph.config.yml on the base',
    files: { 'ralph.config.yml': 'maxAttemps: 2\npublish: sometimes\n' },
    says: [/ralph\.config\.yml: maxAttemps/, /maxAttempts/, /ralph\.config\.yml: publish/],
  },
  {
    name: 'a gate that is no command',
    inputs: { gates: 'test: { run: [npm, test] }\nlint: 7' },
    says: [/gates.*test/, /gates.*lint/, /fix:/],
  },
  {
    name: 'no gate at all',
    inputs: { gates: '' },
    says: [
      /gates: there are no gates: a story would pass as soon as the agent says that it is done\./,
      /fix: .*gates: 'test: npm test'.*gates: none/,
    ],
  },
  {
    name: 'no gate that blocks',
    inputs: { gates: 'lint: { run: npm run lint, advisory: true }' },
    says: [
      /gates: every gate is advisory: a story would pass as soon as the agent says that it is done\./,
      /fix: .*gates: none/,
    ],
  },
  {
    name: 'a token that may not write',
    workflow: (text) => text.replace(WORK_PERMISSIONS, '      contents: read'),
    says: [/refs\/ralph\/2026-01-31-sample/, /contents: write/],
  },
  {
    name: 'a base branch that does not exist',
    inputs: { 'base-branch': 'develop' },
    says: [/input base-branch: this repository has no branch develop/, /fix: create it, or name another/],
  },
  {
    name: 'a configuration file that does not exist',
    inputs: { 'config-file': 'config/ralph.yml' },
    says: [
      /input config-file: the base branch has no file config\/ralph\.yml/,
      /fix: commit the file to the base branch/,
    ],
  },
  {
    name: 'a token that GitHub rejects',
    inputs: { token: 'ghp_0123456789abcdefghij0123456789abcdef' },
    says: [
      /input token: GitHub does not accept this token: it is expired, revoked or from another server\./,
      /fix: leave the input out.*or give a valid token/,
    ],
  },
  {
    name: 'a working directory that does not exist',
    inputs: { 'working-directory': 'packages/shop' },
    says: [/working-directory: this repository has no folder packages\/shop/, /fix: correct the path/],
  },
  {
    name: 'a prompt template with an unknown variable',
    files: { '.ralph/prompts/run.md': '# {{storyTitle}}\n\n{{acceptanceCriterion}}\n' },
    says: [
      /\.ralph\/prompts\/run\.md:3: found "\{\{acceptanceCriterion/,
      /fix: write \{\{acceptanceCriteria\}\}/,
    ],
  },
  {
    name: 'no checkout',
    workflow: (text) => text.replace(/ {6}- uses: actions\/checkout.*?(?= {6}- uses: ralph)/s, ''),
    says: [/no git repository/, /fix: .*actions\/checkout/],
  },
  {
    name: 'no key for the agent’s model',
    inputs: { agent: 'claude', 'agent-command': '' },
    runner: { env: { PATH: `${BIN}:${process.env.PATH}` } },
    says: [
      /agent: claude has no key that works: ANTHROPIC_API_KEY is empty: the secret does not exist, or has another name\./,
      /fix: .*secrets\.ANTHROPIC_API_KEY/,
    ],
  },
  {
    name: 'no command for the custom agent',
    inputs: { 'agent-command': '' },
    says: [/agent-command/, /fix:/],
  },
]

for (const { name, says, dispatch, ...options } of CASES) {
  test(`refused before anything is made: ${name}`, async () => {
    await using site = await openSite({ stories: STORIES, script: SCRIPT, ...options })
    const run = await site.go(dispatch)
    await refused(site, run, says)
  })
}

for (const [what, more, headline] of [
  ['the settings', { inputs: { agent: 'cluade' } }, /^Error: input agent: "?cluade/],
  ['prd.json', { files: { '.ralph/2026-01-31-sample/prd.json': '{' } }, /^Error: .*prd\.json/],
] as const)
  test(`a job that is refused because of ${what} sends one notification, with the error and the next step`, async () => {
    await using server = await Loopback.open()
    const inputs = { notify: `webhook: ${server.url()}`, ...('inputs' in more ? more.inputs : {}) }
    await using site = await openSite({ stories: STORIES, script: SCRIPT, ...more, inputs })
    await refused(site, await site.go(), [])
    const [{ body }, ...others] = server.heard as [Heard, ...Heard[]]
    assert.deepEqual([body.event, body.outcome, body.feature, others], ['outcome', 'error', 'sample', []])
    assert.match(String(body.headline), headline)
    assert.equal(typeof body.next, 'string')
  })

test('an agent that is not installed is refused, with how to install it', async () => {
  const folder = await programs([
    'node',
    'git',
    'bash',
    'sh',
    'env',
    'ls',
    'cat',
    'rm',
    'mkdir',
    'uname',
    'ps',
  ])
  try {
    await using site = await openSite({
      stories: STORIES,
      script: SCRIPT,
      inputs: { agent: 'codex', 'agent-command': '' },
      runner: { env: { PATH: folder } },
    })
    await refused(site, await site.go(), [
      /agent: codex is not on your PATH\./,
      /fix: .*npm install|fix: .*install/,
    ])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('a red base is refused with the gate and its output, before any branch, pull request or cost', async () => {
  await using site = await openSite({
    stories: STORIES,
    script: SCRIPT,
    files: { 'test/base.test.mjs': "throw new Error('the base is broken')\n" },
  })
  const run = await site.go()
  await refused(site, run, [/gate test fails on the base/, /fix main first|baseline: off/])
  assert.match(site.log(), /the base is broken/)
  // Mended, it goes on from where the base is now.
  await site.github.commit('main', {
    'test/base.test.mjs': "import test from 'node:test'\n\ntest('base', () => {})\n",
  })
  assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
})

test('a branch protected from pushes is refused, and the next run goes on once the rule allows it', async () => {
  await using site = await openSite({
    stories: STORIES,
    script: SCRIPT,
    github: { protectedBranches: ['ralph/sample'] },
  })
  const run = await site.go()
  await refused(site, run, [/the remote refused ralph\/sample/])
  site.github.settings.protectedBranches = []
  assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
})

for (const [name, branch, inputs, fix] of [
  ['a branch of other people', 'release', {}, /leave branchName out \(then the branch is ralph\/sample\)/],
  ['the default branch beside another base', 'main', { 'base-branch': 'develop' }, /name another branch/],
  ['the base', 'develop', { 'base-branch': 'develop' }, /name another branchName/],
] as const) {
  test(`branchName is ${name}: the run is refused, and no ref changes`, async () => {
    // As if a run had written it: what stands in the file alone is no proof.
    const control = { nonce: '00000000-0000-4000-8000-000000000000' }
    const stories = JSON.stringify({ ...JSON.parse(prd(STORIES, branch)), run: { control } })
    await using site = await openSite({
      stories: STORIES,
      script: SCRIPT,
      inputs,
      files: { '.ralph/2026-01-31-sample/prd.json': stories },
    })
    const { github } = site
    for (const other of ['develop', 'release']) await github.commit(other, { 'src/other.mjs': '' }, 'theirs')
    const before = await github.bare.run(['for-each-ref'])
    const why = new RegExp(`prd\\.json: branchName: (?:the branch|Ralph cannot work on) ${branch}[, ]`)
    await refused(site, await site.go(), [why, fix])
    assert.equal(await github.bare.run(['for-each-ref']), before)
  })
}

test('a job without permission to dispatch the next one keeps its work and says which permission is missing, and the next run goes on', async () => {
  await using site = await openSite({
    stories: [story('US-001', 'one'), story('US-002', 'two')],
    script: { 'US-001': [goodTurn('one', 1)], 'US-002': [goodTurn('two', 2)] },
    inputs: { 'iterations-per-job': '1' },
    workflow: (text) => text.replace('      actions: write # the next job', '      actions: read'),
  })
  const run = await site.go()
  saysOnce(site, run, [/could not start the workflow ralph\.yml/, /actions: write/])
  assert.equal(outputsOf(run)['stories-passed'], '1')
  await site.go()
  assert.equal(
    (await site.state()).prd.userStories.every((one) => one.passes),
    true,
    site.log(),
  )
})

test('the API fails when the pull request is opened: it is opened at the end of the job', async () => {
  await using site = await openSite({ stories: STORIES, script: SCRIPT })
  site.github.fault({ path: /\/pulls$/ }, { status: 403 })
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'complete', site.log())
  const pull = await site.pull()
  assert.equal(pull.draft, false)
  assert.equal(outputsOf(run)['pull-request-number'], String(pull.number))
  assert.equal(site.github.comments(pull.number).length, 1)
})

test('a run that is started on a ralph/ branch is refused, with the branch to start it on', async () => {
  await using site = await openSite({ stories: STORIES, script: SCRIPT })
  const { github, runner } = site
  await github.commit('ralph/sample', { 'src/mine.mjs': '' }, 'mine', 'alice')
  const before = await github.head('ralph/sample')
  const run = await runner.dispatch(
    'ralph.yml',
    { feature: 'sample' },
    { actor: 'alice', ref: 'ralph/sample' },
  )
  await runner.settled()
  assert.deepEqual(github.violations, [])
  saysOnce(site, run, [
    /ref: this workflow was started on refs\/heads\/ralph\/sample/,
    /fix: run the workflow on main/,
  ])
  assert.equal(await github.head('ralph/sample'), before)
  assert.deepEqual(await github.pulls(), [])
})

test('events that Ralph does not handle end as success, with a notice', async () => {
  const foreign = `on:
  issues:
    types: [opened]
  push:
permissions:
  contents: read
jobs:
  other:
    runs-on: ubuntu-24.04
    steps:
      - uses: ralph/action@v1
`
  await using site = await openSite({
    stories: STORIES,
    script: SCRIPT,
    files: { '.github/workflows/other.yml': foreign },
  })
  const { github, runner } = site
  github.openIssue('mallory', 'A bug', '/ralph run')
  await github.commit('main', { 'src/new.mjs': '' }, 'a push', 'alice')
  await runner.settled()
  assert.deepEqual(
    runner.runs.map((run) => [run.event, run.conclusion]).sort(),
    [
      ['issues', 'success'],
      ['push', 'success'],
    ],
    site.log(),
  )
  for (const run of runner.runs) {
    assert.equal(outputsOf(run).outcome, undefined)
    assert.match(annotationsOf(run, 'notice').join('\n'), /Ralph does not handle the event (issues|push)/)
  }
  await nothingMade(site)
})

test('a second run while the first one works ends as success without work, with a notice that names the first', async () => {
  await using site = await openSite({ stories: STORIES, script: {} })
  const { github, runner } = site
  const middle = site.hold('middle')
  await site.setScript({ 'US-001': [{ ...goodTurn('one', 1), shell: middle.shell }] })
  const first = await runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
  await middle.reached()
  // Without a name it is in another concurrency group: it does not wait for the first.
  const second = await runner.dispatch('ralph.yml', { feature: '' }, { actor: 'bob' })
  await runner.when((run) => run.id === second.id && run.status === 'completed')
  assert.equal(second.conclusion, 'success', runner.log(second))
  assert.equal(outputsOf(second).outcome, undefined)
  assert.match(annotationsOf(second, 'notice').join('\n'), new RegExp(`run ${first.id} .*works on sample`))
  await middle.release()
  await runner.settled()
  assert.deepEqual(github.violations, [])
  assert.equal(outputsOf(first).outcome, 'complete', site.log())
  assert.equal((await site.sessions()).filter((one) => one.mode === 'run').length, 1)
})

function prd(stories: Record<string, unknown>[], branchName: string): string {
  return JSON.stringify({
    schemaVersion: 2,
    project: 'Sample',
    branchName,
    description: '',
    userStories: stories,
  })
}

async function refused(site: Site, run: Run, says: RegExp[]): Promise<void> {
  saysOnce(site, run, says)
  await nothingMade(site)
}

/** A red job with the outcome error, and one message that holds all of it; no stack for what a person got wrong. */
function saysOnce(site: Site, run: Run, says: RegExp[]): void {
  assert.equal(run.conclusion, 'failure', site.log())
  assert.equal(outputsOf(run).outcome, 'error', site.log())
  const errors = annotationsOf(run, 'error')
  assert.equal(errors.length, 1, errors.join('\n---\n'))
  for (const expected of says) assert.match(errors[0] ?? '', expected)
  assert.doesNotMatch(errors[0] ?? '', /dist\/action|^error:/)
  // What the annotation says stands on the page of the run, too.
  const summary = run.jobs.flatMap((job) => job.steps.map((step) => step.summary)).join('')
  const plain = (text: string) => text.replace(/&#\d+;|[^\p{L}\p{N}]/gu, '')
  assert.match(summary, /^#+ ❌ Error: /m)
  assert.ok(
    plain(summary).includes(plain((errors[0] ?? '').split('\n')[0]?.slice(0, 40) ?? '')),
    `${errors[0]}\n---\n${summary}`,
  )
}

async function nothingMade(site: Site): Promise<void> {
  const { github } = site
  assert.equal(await github.head('ralph/sample'), null)
  assert.deepEqual(await github.pulls(), [])
  assert.deepEqual(await site.sessions(), [])
  assert.deepEqual(
    [...github.world.checks.values()].filter((check) => !check.ofJob),
    [],
  )
}

/** A folder with links to some of the programs of this machine, and no others. */
async function programs(names: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-path-'))
  await mkdir(folder, { recursive: true })
  for (const name of names) {
    const at = name === 'node' ? process.execPath : `/usr/bin/${name}`
    await symlink(at, join(folder, name))
  }
  return folder
}
