// From a project to its first pull request: what `ralph init` writes is what a job runs; and its questions on a terminal. On the bundle.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { parse } from 'yaml'
import { findAgent } from '../../src/agents/registry.ts'
import { inputsIn } from '../../src/init/workflow.ts'
import { goodTurn, openSite, outputsOf, ROOT, story } from './site.ts'

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

test('what init writes runs in a job: two stories become a pull request', async () => {
  const files: Record<string, string> = {}
  /** With the agent of the sample, by its flags; everything else is found. */
  const initialized = (example: string): string => {
    using project = projectOf(NODE)
    const command = inputsIn(example)['agent-command'] ?? ''
    const flags = ['--agent', 'custom', '--agent-command', command, '--isolation', 'same-user', '--pin', PIN]
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
    stories: [story('US-001', 'one'), story('US-002', 'two')],
    script: { 'US-001': [goodTurn('one', 1)], 'US-002': [goodTurn('two', 2)] },
    workflow: initialized,
    files,
  })
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'complete', site.log())
  assert.equal((await site.pull()).draft, false)
  const prd = await site.prd()
  assert.deepEqual(
    prd.userStories.map(({ passes }) => passes),
    [true, true],
  )
})

/** On a terminal that script(1) makes: types each answer when its question stands there; gives the exit code and all that was shown. */
async function talk(folder: string, answers: readonly (readonly [question: string, keys: string])[]) {
  // A terminal that script(1) makes for a pipe has no columns.
  const command = `stty cols 80 rows 50; "${process.execPath}" "${CLI}" init --pin ${PIN}`
  const child = spawn('script', ['-qefc', command, '/dev/null'], { cwd: folder, env })
  let shown = ''
  let at = 0
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
    const next = answers[at]
    if (next === undefined || !shown.includes(next[0])) return
    at += 1
    shown = shown.slice(shown.indexOf(next[0]) + next[0].length)
    child.stdin.write(next[1])
  })
  const [code] = await once(child, 'close')
  assert.equal(at, answers.length, shown)
  return { code, shown }
}

const ENTER = '\r'
const DOWN = '\u001b[B'
const CTRL_C = '\u0003'

test('on a terminal it asks for agent, gates, limits and isolation, shows a diff, and writes after a yes', async () => {
  using project = projectOf(NODE)
  const { code, shown } = await talk(project.folder, [
    ['Which agent?', DOWN + ENTER],
    ['Which gates', ENTER],
    ['Another gate', `lint=node --check a.mjs${ENTER}`],
    ['How many iterations', `\u0015${'9'}${ENTER}`],
    ['In CI, how far', ENTER],
    ['Write these 6 files?', ENTER],
  ])
  assert.equal(code, 0, shown)
  const files = project.written()
  assert.deepEqual(parse(files['ralph.config.yml'] ?? ''), {
    agent: 'codex',
    agentVersion: findAgent('codex')?.tested,
    gates: { test: 'npm test', lint: 'node --check a.mjs' },
    maxIterations: 9,
  })
})

test('Ctrl+C at any question, and a no, leave the folder as it was: exit 130', async () => {
  const questions = [
    'Which agent?',
    'Which gates',
    'Another gate',
    'How many iterations',
    'How many dollars',
    'In CI, how far',
    'Write these',
  ]
  for (const [at, question] of questions.entries()) {
    using project = projectOf(NODE)
    const before = questions.slice(0, at).map((one) => [one, ENTER] as const)
    const { code, shown } = await talk(project.folder, [...before, [question, CTRL_C]])
    assert.equal(code, 130, `${question}: ${shown}`)
    assert.deepEqual(project.written(), {})
  }
})
