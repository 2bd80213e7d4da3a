// examples/other-ci/ralph.sh in a plain shell, as cron starts it: no variable but PATH, HOME and its own. Two clones share one remote.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { parse } from 'yaml'
import { CLI, place } from './laptop.ts'
import { ROOT, story } from './site.ts'

const FOLDER = join(ROOT, 'examples', 'other-ci')
const SCRIPT = join(FOLDER, 'ralph.sh')
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8')

test('ralph.sh works in a plain shell, and another clone continues where the first one ended', async () => {
  const userStories = [story('US-001', 'one'), story('US-002', 'two')]
  const prd = JSON.stringify({ schemaVersion: 2, userStories })
  await using there = await place(
    { '.ralph/2026-01-31-sample/prd.json': prd },
    {
      'US-001': [{ files: { 'src/one.txt': 'one\n' } }],
      'US-002': [{ files: { 'src/two.txt': 'two\n' } }],
    },
  )
  const { git, folder, repository, agent } = there
  const origin = join(folder, 'origin.git')
  git('clone', '-q', '--bare', repository, origin)
  const env = {
    PATH: `${join(process.execPath, '..')}:${process.env.PATH}`,
    HOME: String(there.env.HOME ?? folder),
    RALPH: `${process.execPath} ${CLI}`,
  }
  const clone = (name: string) => {
    const path = join(folder, name)
    git('clone', '-q', origin, path)
    // As GitLab checks out: a commit.
    git('-C', path, 'checkout', '-q', '--detach')
    return path
  }
  const run = (cwd: string, ...more: string[]) => {
    const flags = [
      ...agent,
      '--isolation',
      'same-user',
      '--gate',
      'good=! grep -rq bad src',
      '--base-branch',
      'main',
      ...more,
    ]
    return spawnSync('sh', [SCRIPT, 'sample', ...flags], { cwd, env, encoding: 'utf8' })
  }
  const first = run(clone('first'), '--iterations-per-job', '1', '--once')
  assert.equal(first.status, 0, first.stdout + first.stderr)
  assert.match(first.stdout, /^ralph: sample is not finished; the next run continues\.$/m)
  const second = run(clone('second'))
  assert.equal(second.status, 0, second.stdout + second.stderr)
  assert.match(second.stdout, /^ralph: sample is complete\./m)
  const subjects = git('-C', origin, 'log', '--format=%s', 'main..ralph/sample')
  assert.match(subjects, /US-001/)
  assert.match(subjects, /US-002/)
  assert.match(git('-C', origin, 'for-each-ref', '--format=%(refname)'), /^refs\/ralph\/2026-01-31-sample$/m)
})

test('ralph.sh hands on that a run is stuck or set up wrongly', async () => {
  const prd = JSON.stringify({ schemaVersion: 2, userStories: [story('US-001', 'one')] })
  await using there = await place(
    { '.ralph/2026-01-31-sample/prd.json': prd },
    { 'US-001': [{ files: { 'src/one.txt': 'bad\n' } }] },
  )
  const run = (...args: string[]) =>
    spawnSync('sh', [SCRIPT, ...args], {
      cwd: there.repository,
      env: { PATH: process.env.PATH, HOME: there.folder, RALPH: `${process.execPath} ${CLI}` },
      encoding: 'utf8',
    })
  const unnamed = run()
  assert.notEqual(unnamed.status, 0)
  assert.match(unnamed.stderr, /FEATURE is missing/)
  const remoteless = run('sample', ...there.agent)
  assert.equal(remoteless.status, 64, remoteless.stdout)
  there.git('clone', '-q', '--bare', there.repository, join(there.folder, 'origin.git'))
  there.git('remote', 'add', 'origin', join(there.folder, 'origin.git'))
  const flags = [
    ...there.agent,
    '--isolation',
    'same-user',
    '--gate',
    'good=! grep -rq bad src',
    '--max-attempts',
    '1',
  ]
  const stuck = run('sample', ...flags)
  assert.equal(stuck.status, 1, stuck.stdout + stuck.stderr)
  assert.match(stuck.stdout, /^ralph: sample needs you/m)
})

test('the examples for GitLab and Buildkite are YAML that runs the script, one run at a time', () => {
  const gitlab = parse(read('gitlab-ci.yml')).ralph
  assert.equal(gitlab.script.at(-1), 'sh ci/ralph.sh "$RALPH_FEATURE"')
  assert.ok(gitlab.resource_group.length > 0)
  const [buildkite] = parse(read('buildkite.yml')).steps
  assert.match(buildkite.command, /^sh ci\/ralph\.sh /)
  assert.deepEqual([buildkite.concurrency, buildkite.concurrency_group], [1, 'ralph'])
  assert.match(read('Jenkinsfile'), /disableConcurrentBuilds\(\)[\s\S]*sh ci\/ralph\.sh/)
  assert.match(read('crontab'), /flock -n \S+ sh ci\/ralph\.sh/)
})
