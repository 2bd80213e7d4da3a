// From a project to its first pull request: what `ralph init` writes is what a job runs; and its questions on a terminal. On the bundle.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { parse } from 'yaml'
import { findAgent } from '../../src/agents/registry.ts'
import { readWorkflow } from '../../src/setup/checks/workflow-file.ts'
import { KEYS, openTerminal } from '../fakes/terminal.ts'
import { goodTurn, openSite, outputsOf, ROOT } from './site.ts'

const CLI = join(ROOT, 'dist', 'cli', 'main.js')
const PIN = 'd'.repeat(40)
const WORKFLOW = '.github/workflows/ralph.yml'
const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: '/nonexistent', TERM: 'xterm' }

/** A project in a folder of its own, removed with the test. */
function projectOf(files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-project-'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const written = (): Record<string, string> => {
    const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    const paths = all.map((one) => join(one.parentPath, one.name).slice(folder.length + 1))
    const fresh = paths.filter((path) => !path.startsWith('.git/') && !(path in files))
    return Object.fromEntries(fresh.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
  }
  return { folder, written, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

const NODE = {
  'package.json': JSON.stringify({ name: 'sample', scripts: { test: 'node --test test/*.test.mjs' } }),
}

const DOCTOR = `name: doctor
on: workflow_dispatch
jobs:
  doctor:
    runs-on: ubuntu-24.04
    permissions: { contents: read, actions: read }
    steps:
      - uses: actions/checkout@v7
        with: { persist-credentials: false }
      - uses: ralph/action@${PIN}
        with: { command: doctor }
`

const EPIC = `# Numbers

## Epic 1: Constants

### Story 1.1: one

As a developer, I want one.

**Acceptance Criteria:**

- one() is 1

### Story 1.2: two

**Acceptance Criteria:**

- two() is 2
`

test('init, doctor, plan from documents, approval, two stories and a pull request, in this order', async () => {
  const files: Record<string, string> = { 'docs/epics.md': EPIC, '.github/workflows/doctor.yml': DOCTOR }
  /** With the agent of the sample, by its flags; everything else is found. */
  const initialized = (example: string): string => {
    using project = projectOf(NODE)
    const jobs = readWorkflow(WORKFLOW, example, 'ralph/action')?.jobs ?? []
    const command = jobs.map(({ inputs }) => inputs['agent-command']).find((one) => one !== undefined) ?? ''
    const flags = [
      '--agent',
      'custom',
      '--agent-command',
      command,
      '--isolation',
      'same-user',
      '--pin',
      PIN,
      '--no-try',
    ]
    const { status, stderr } = spawnSync(process.execPath, [CLI, 'init', '--yes', ...flags], {
      cwd: project.folder,
      env,
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
    Object.assign(files, NODE, project.written())
    return files[WORKFLOW] ?? ''
  }
  await using site = await openSite({
    stories: [],
    script: { '1.1': [goodTurn('one', 1)], '1.2': [goodTurn('two', 2)] },
    workflow: initialized,
    files,
  })
  const doctor = await site.runner.dispatch('doctor.yml', {}, { actor: 'alice' })
  await site.runner.settled()
  assert.equal(doctor.conclusion, 'success', site.log())

  const paused = await site.go({ feature: 'numbers', command: 'plan' })
  assert.equal(outputsOf(paused).outcome, 'paused', site.log())
  assert.equal((await site.sessions()).length, 0, 'what has stories needs no agent')
  const { number, draft } = await site.pull()
  assert.ok(draft)
  await site.say('alice', '/ralph approve-plan')
  assert.equal(outputsOf(site.last()).outcome, 'complete', site.log())
  assert.equal((await site.pull()).draft, false)
  assert.match(site.github.comments(number)[0]?.body ?? '', /Complete: 2 of 2 stories pass/)
  const { sessions } = site
  assert.deepEqual(
    (await sessions()).map(({ mode, story: id }) => `${mode} ${id}`.trim()),
    ['run 1.1', 'run 1.2', 'verify'],
  )
})

/** On a terminal: types each answer when its question stands there; gives the exit code and all that was shown. */
async function talk(folder: string, answers: readonly (readonly [question: string, keys: string])[]) {
  await using terminal = openTerminal([process.execPath, CLI, 'init', '--pin', PIN], { cwd: folder, env })
  for (const [question, keys] of answers) {
    await terminal.see(question)
    terminal.type(keys)
  }
  const code = await terminal.ended
  return { code, shown: terminal.shown() }
}

const { enter: ENTER, down: DOWN, interrupt: CTRL_C } = KEYS

const TESTED = { ...NODE, 'test/one.test.mjs': "import test from 'node:test'\ntest('one', () => {})\n" }

test('init on a terminal asks for agent, gates, limits, isolation, AGENTS.md and a required check, shows the files on request, and writes after a yes', async () => {
  using project = projectOf(TESTED)
  const { code, shown } = await talk(project.folder, [
    ['Try these commands once, in a copy?', ENTER],
    ['Which agent?', DOWN + ENTER],
    ['Which gates', ENTER],
    ['◆  Another gate', `lint=node --check a.mjs${ENTER}`],
    ['◆  Another gate', `style=true${ENTER}`],
    ['◆  Another gate', ENTER],
    ['How many iterations', `\u0015${'9'}${ENTER}`],
    ['After how many failed', `5${ENTER}`],
    ['How strictly should CI', ENTER],
    ['to AGENTS.md?', 'n'],
    ['Will you make the check', 'y'],
    ['Write these 7 files?', DOWN + ENTER],
    ['Write them?', ENTER],
  ])
  assert.equal(code, 0, shown)
  assert.match(shown, /\+name: Ralph/)
  const files = project.written()
  assert.ok('.github/workflows/ralph-required.yml' in files)
  assert.deepEqual(parse(files['ralph.config.yml'] ?? ''), {
    agent: 'codex',
    agentVersion: findAgent('codex')?.tested,
    agentsMd: 'off',
    gates: { test: 'npm test', lint: 'node --check a.mjs', style: 'true' },
    // codex reports no cost, so its sessions are limited by time.
    maxAgentTime: '8h',
    maxIterations: 9,
    maxAttempts: 5,
    protectedPaths: 'elsewhere',
    weakenedTests: 'judge',
  })
})

test('init that ends by Ctrl+C at any question, or by a no, writes nothing and exits 130', async () => {
  const questions = [
    'Try these commands once',
    'Which agent?',
    'Which gates',
    'Another gate',
    'How many iterations',
    'After how many failed',
    'How many dollars',
    'How strictly should CI',
    'In CI, how does Ralph log in',
    'to AGENTS.md?',
    'Will you make the check',
    'Write these',
  ]
  for (const [at, question] of questions.entries()) {
    using project = projectOf(NODE)
    const before = questions.slice(0, at).map((one) => [one, one.startsWith('Try') ? 'n' : ENTER] as const)
    const { code, shown } = await talk(project.folder, [...before, [question, CTRL_C]])
    assert.equal(code, 130, `${question}: ${shown}`)
    assert.deepEqual(project.written(), {})
  }
})
