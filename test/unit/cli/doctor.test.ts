// `ralph doctor` on a real repository: every check has its say, nothing is changed, and the exit code tells.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { startGitHub } from '../../standin/github.ts'
import { starter } from '../setup/checks/subject.ts'
import { GATE, openPlace } from './place.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

const STORY = { id: 'US-001' }

type Found = { name: string; state: string; found: string; expected: string; fix: string }

const byName = (line: Record<string, unknown>): Map<string, Found> => {
  const findings = line.findings as Found[]
  return new Map(findings.map((one) => [one.name, one]))
}

test('doctor in a sound repository: exit 0, one line of JSON, no change', async () => {
  await using place = await openPlace([STORY])
  const [refs, status] = [place.refs(), place.git('status', '--porcelain')]
  const ended = await place.ralph('doctor', 'sample', '--json', ...place.agent, ...GATE)
  assert.equal(ended.code, 0, ended.err)
  assert.equal(ended.out.trim().split('\n').length, 1)
  const found = byName(JSON.parse(ended.out))
  assert.match(found.get('gate good')?.found ?? '', /^green on main \([0-9a-f]{7}\) in [\d.]+s$/)
  assert.match(found.get('identity')?.found ?? '', /Ann <ann@example.com>/)
  assert.match(found.get('stories')?.found ?? '', /sample: 1 story: 1 to do$/)
  assert.deepEqual([place.refs(), place.git('status', '--porcelain')], [refs, status])
})

test('doctor runs every check even when others fail, and every fault has its fix', async () => {
  await using place = await openPlace([STORY], {
    'ralph.config.yml': 'maxAttempts: many\n',
    '.ralph/prompts/run.md': '{{storyId}} {{acceptanceCriteria}} {{gatse}}\n',
  })
  const gates = ['--gate', 'red=echo "FAIL: one"; touch written; exit 3', '--gate', 'green=true']
  const ended = await place.ralph('doctor', '--json', '--agent', 'amp', ...gates)
  assert.equal(ended.code, 1, ended.err)
  const found = byName(JSON.parse(ended.out))
  assert.equal(found.get('configuration')?.state, 'fault')
  assert.match(found.get('configuration')?.found ?? '', /maxAttempts/)
  assert.deepEqual(
    [found.get('agent')?.state, found.get('agent')?.found],
    ['fault', 'amp is not on your PATH'],
  )
  assert.match(found.get('prompts')?.found ?? '', /^\.ralph\/prompts\/run\.md:1: "\{\{gatse\}\}"$/)
  assert.match(found.get('gate red')?.found ?? '', /^exit 3 on main .*: FAIL: one$/)
  assert.equal(found.get('gate green')?.state, 'ok', 'a gate behind one that fails is run, too')
  for (const { name, state, found: problem, fix } of found.values())
    if (state !== 'ok') assert.ok(problem !== '' && fix !== '', name)
  assert.equal(place.git('status', '--porcelain'), '', 'what a gate wrote is thrown away')
})

test('doctor reports a green gate that ran no test as a fault', async () => {
  await using place = await openPlace([STORY])
  const ended = await place.ralph(
    'doctor',
    '--json',
    ...place.agent,
    '--gate',
    'test=echo "Ran 0 tests in 0.000s"',
  )
  assert.equal(ended.code, 1, ended.err)
  const { state, found } = byName(JSON.parse(ended.out)).get('gate test') ?? {}
  assert.deepEqual([state, found], ['fault', 'this gate ran no test'])
})

test('doctor reports uncommitted work as a fault, and runs no gate over it', async () => {
  await using place = await openPlace([STORY])
  await place.write({ 'src/mine.txt': 'mine\n' })
  const ended = await place.ralph('doctor', '--json', ...place.agent, ...GATE)
  assert.equal(ended.code, 1)
  const found = byName(JSON.parse(ended.out))
  assert.match(found.get('work tree')?.found ?? '', /src\/mine\.txt/)
  assert.equal(found.get('gates')?.state, 'unknown')
  assert.equal(place.git('status', '--porcelain'), '?? src/mine.txt')
})

test('doctor accepts uncommitted stories, which a run takes', async () => {
  await using place = await openPlace([STORY])
  await place.write({
    '.ralph/2026-02-01-other/prd.json':
      '{"schemaVersion":2,"userStories":[{"id":"A","title":"a","acceptanceCriteria":["b"]}]}',
  })
  const found = byName(await place.json('doctor', ...place.agent, ...GATE))
  assert.match(found.get('work tree')?.found ?? '', /^clean, except for 1 file below \.ralph\//)
  assert.equal(found.get('work tree')?.state, 'ok')
  assert.equal(found.get('gate good')?.state, 'ok')
  assert.equal(
    place.git('status', '--porcelain'),
    '?? .ralph/2026-02-01-other/',
    'and no gate takes them away',
  )
  assert.match(found.get('stories')?.found ?? '', /1 story: 1 to do/)
})

test('doctor leaves the work tree of a run in work alone', async () => {
  await using place = await openPlace([STORY])
  await place.setScript({ 'US-001': [{ hang: true }] })
  const run = place.start(['run', ...place.agent, ...GATE])
  await new Promise<void>((resolve) => {
    run.stdout?.on('data', (text: string) => text.includes('hanging') && resolve())
  })
  await place.write({ 'src/of-the-session.txt': 'x' })
  const found = byName(await place.json('doctor', ...place.agent, ...GATE))
  for (const name of ['work tree', 'gates']) {
    assert.equal(found.get(name)?.state, 'unknown')
    assert.match(found.get(name)?.found ?? '', /^not checked: process \d+ on .* works on sample$/)
  }
  await place.ralph('stop')
  await run.ended
  assert.equal(place.git('status', '--porcelain'), '')
})

test('doctor reports an invalid configuration as one fault, and its settings as unknown', async () => {
  await using place = await openPlace([STORY], { 'ralph.config.yml': 'agent: [\n' })
  const found = byName(await place.json('doctor'))
  const faults = [...found.values()].filter(({ state }) => state === 'fault')
  assert.deepEqual(
    faults.map(({ name }) => name),
    ['configuration'],
  )
  for (const name of ['agent', 'key', 'isolation', 'limits', 'gates'])
    assert.equal(found.get(name)?.state, 'unknown', name)
  await place.write({ 'ralph.config.yml': 'gates: { good: { run: x, timout: 1m } }\n' })
  place.git('commit', '-qam', 'other')
  const one = byName(await place.json('doctor', ...place.agent))
  assert.deepEqual([one.get('gates')?.state, one.get('agent')?.state], ['unknown', 'ok'])
})

test('doctor on a branch of a run that this clone does not have: a fault, as for a run', async () => {
  await using place = await openPlace([STORY])
  place.git('switch', '-qc', 'ralph/sample')
  const found = byName(await place.json('doctor', ...place.agent, ...GATE))
  assert.equal(found.get('stories')?.state, 'fault')
  assert.match(found.get('stories')?.fix ?? '', /\(git switch main\)/)
})

/** A repository on the stand-in and a clone of it, with a token that may read. */
async function onGitHub(files: Record<string, string>) {
  const github = await startGitHub({
    people: { alice: 'admin' },
    files,
    tokens: {
      'a-token': { login: 'alice', type: 'User', permissions: { contents: 'read', actions: 'read' } },
    },
  })
  const place = await openPlace([STORY], files)
  place.git('remote', 'add', 'origin', github.cloneUrl)
  Object.assign(place.env, { GH_TOKEN: 'a-token', GITHUB_API_URL: github.url, GITHUB_SERVER_URL: github.url })
  return {
    github,
    place,
    async [Symbol.asyncDispose]() {
      await place[Symbol.asyncDispose]()
      await github[Symbol.asyncDispose]()
    },
  }
}

test('doctor with a token checks the GitHub repository of the remote', async () => {
  await using there = await onGitHub({ '.github/workflows/ralph.yml': await starter() })
  const { github, place } = there
  const look = async () => byName(await place.json('doctor', '--no-gates', ...place.agent))
  assert.equal((await look()).get('pull requests')?.state, 'ok')
  github.settings.actionsMayOpenPullRequests = false
  assert.equal((await look()).get('pull requests')?.state, 'warning')
  assert.match((await look()).get('environment')?.found ?? '', /^ralph does not exist/)
  github.settings.environments.ralph = ['main']
  assert.equal((await look()).get('environment')?.found, 'only main may use ralph')
  assert.deepEqual(github.violations, [])
  const before = github.requests.length
  place.git('remote', 'set-url', 'origin', 'https://evil.example/acme/shop.git')
  assert.equal((await look()).get('github')?.state, 'unknown')
  assert.equal(github.requests.length, before)
})

test('doctor reports a required check that other pull requests never get, or that a merge queue waits for, with its fix', async () => {
  const files = { '.github/workflows/ralph.yml': await starter() }
  await using there = await onGitHub(files)
  const { github, place } = there
  const look = async () => {
    const found = byName(await place.json('doctor', '--no-gates', ...place.agent)).get('required checks')
    assert.deepEqual(github.violations, [])
    return `${found?.state}: ${found?.found} -> ${found?.fix}`
  }
  const commit = async (text: string) => {
    await place.write({ '.github/workflows/ralph-required.yml': text })
    place.git('add', '-A')
    place.git('commit', '-q', '-m', 'companion')
  }
  const companion = await readFile(join(ROOT, 'examples', 'ralph-required.yml'), 'utf8')
  assert.match(await look(), /^ok: main does not require a check of Ralph/)

  github.settings.requiredChecks.main = ['ci', 'ralph']
  assert.match(await look(), /^warning: .* every other pull request waits .* -> run `ralph init --required`/)
  await commit(companion.replace('  merge_group:\n', ''))
  assert.match(await look(), /^ok: .* every pull request gets it/)

  const parameters = {
    required_status_checks: [{ context: 'ralph', integration_id: 15368 }],
    strict_required_status_checks_policy: false,
  }
  github.settings.requiredChecks = {}
  github.settings.branchRules.main = [{ type: 'required_status_checks', parameters }, 'merge_queue']
  assert.match(await look(), /^warning: .* merge queue, so the queue removes every pull request/)
  await commit(companion)
  assert.match(await look(), /^ok: .* every pull request gets it/)

  parameters.required_status_checks = [{ context: 'ralph / US-001', integration_id: 15368 }]
  assert.match(await look(), /^warning: main requires "ralph \/ US-001".* -> require the check ralph instead/)
  github.fault({ path: /\/rules\/branches\/main/ }, { status: 403 })
  assert.match(await look(), /^unknown: .* -> check this yourself at .*settings\/rules/)
})

test('doctor says before the run that a rule requires signed commits, and which way out there is', async () => {
  const files = { '.github/workflows/ralph.yml': await starter() }
  await using there = await onGitHub(files)
  const { github, place } = there
  const look = async () => {
    const found = byName(await place.json('doctor', '--no-gates', ...place.agent)).get('signed commits')
    return found === undefined ? '' : `${found.state}: ${found.found} -> ${found.fix}`
  }
  assert.equal(await look(), '')
  github.settings.branchRules['ralph/feature'] = ['required_signatures']
  assert.match(
    await look(),
    /^fault: a rule requires signed commits on ralph\/\*, .*-> set sign-commits: true/,
  )
})

test('doctor reports a required check that Ralph does not post, or that another App must post', async () => {
  const withInputs = async (inputs: string) =>
    (await starter()).replace('          agent: claude\n', `          agent: claude\n${inputs}`)
  const companion = await readFile(join(ROOT, 'examples', 'ralph-required.yml'), 'utf8')
  for (const [inputs, wanted] of [
    ['          report-as: statuses\n', /^warning: .* report-as: statuses/],
    ['          token: x\n', /^warning: .* but two post it: .* -> choose "any source"/],
  ] as const) {
    const files = {
      '.github/workflows/ralph.yml': await withInputs(inputs),
      '.github/workflows/ralph-required.yml': companion,
    }
    await using there = await onGitHub(files)
    const { github, place } = there
    const parameters = {
      required_status_checks: [{ context: 'ralph', integration_id: 15368 }],
      strict_required_status_checks_policy: false,
    }
    github.settings.branchRules.main = [{ type: 'required_status_checks', parameters }]
    const found = byName(await place.json('doctor', '--no-gates', ...place.agent)).get('required checks')
    assert.match(`${found?.state}: ${found?.found} -> ${found?.fix}`, wanted)
  }
})

test('doctor reports an actionlint configuration that rejects the workflow, until it allows `queue`', async () => {
  const lint = { '.pre-commit-config.yaml': 'repos: [{ repo: https://github.com/rhysd/actionlint }]\n' }
  const workflow = { '.github/workflows/ralph.yml': await starter() }
  await using place = await openPlace([STORY], { ...workflow, ...lint })
  const look = async () => byName(await place.json('doctor', '--no-gates', ...place.agent)).get('actionlint')
  const found = await look()
  assert.equal(found?.state, 'warning')
  assert.match(found?.fix ?? '', /^add to \.github\/actionlint\.yaml: paths: /)
  await place.write({ '.github/actionlint.yaml': (found?.fix ?? '').replace(/^add to \S+ /, '') })
  place.git('add', '-A')
  place.git('commit', '-q', '-m', 'allow it')
  assert.equal((await look())?.state, 'ok')
  await using without = await openPlace([STORY], workflow)
  const others = byName(await without.json('doctor', '--no-gates', ...without.agent))
  assert.equal(others.get('actionlint'), undefined)
})

test('doctor in a folder that is no repository prints the fix and the checks that need none', async () => {
  await using place = await openPlace([STORY])
  const bare = join(place.folder, 'empty')
  await mkdir(bare)
  const ended = await place.ralph('doctor', '-C', bare, '--json', ...place.agent, ...GATE)
  assert.equal(ended.code, 1)
  const found = byName(JSON.parse(ended.out))
  assert.match(found.get('checkout')?.fix ?? '', /git init/)
  assert.equal(found.get('git')?.state, 'ok')
  assert.match(found.get('not checked')?.found ?? '', /^these checks need a git checkout: .*\bgates$/)
})

test('doctor exits 64 for an unknown flag and an unknown feature', async () => {
  await using place = await openPlace([STORY])
  for (const wrong of [['--max-attempts', 'x'], ['smaple'], ['--base-branch', 'none']]) {
    const ended = await place.ralph('doctor', '--no-gates', '--json', ...place.agent, ...wrong)
    assert.equal(ended.code, 64, wrong.join(' '))
    const errors = JSON.parse(ended.out).errors as { fix: string }[]
    assert.ok(errors.length > 0 && errors.every(({ fix }) => fix !== ''), wrong.join(' '))
  }
})

test('doctor interrupted ends the gate, removes its files, and exits 130', async () => {
  await using place = await openPlace([STORY])
  const pipe = join(place.folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const gate = `slow=echo traces > src/base.txt; echo begun > ${pipe}; sleep 600`
  const child = place.start(['doctor', '--json', ...place.agent, '--gate', gate, '--gate', 'next=touch next'])
  assert.equal(await readFile(pipe, 'utf8'), 'begun\n')
  child.kill('SIGINT')
  const ended = await child.ended
  assert.equal(ended.code, 130, ended.err)
  assert.equal(byName(JSON.parse(ended.out)).has('gate next'), false)
  assert.equal(place.git('status', '--porcelain'), '')
})

test('doctor also checks settings that only the workflow has', async () => {
  const yml = (await starter())
    .replace('test: npm test', 'ci: test -f src/base.txt')
    .replace('prepare: npm ci', 'prepare: echo ready')
  await using place = await openPlace([STORY], {
    '.github/workflows/ralph.yml': yml.replace('actions: write # the next job', '#'),
  })
  const found = byName(await place.json('doctor', ...place.agent))
  assert.match(
    found.get('gates')?.found ?? '',
    /only \.github\/workflows\/ralph\.yml has gates, so `ralph run` on this machine has none/,
  )
  assert.equal(found.get('gate ci')?.state, 'ok')
  assert.match(found.get('permissions')?.found ?? '', /job work lacks actions: write/)
  place.git('switch', '-q', '-c', 'topic')
  assert.match(
    byName(await place.json('doctor', '--no-gates', ...place.agent)).get('permissions')?.found ?? '',
    /lacks/,
  )
})

test('doctor reports a workflow that is not on the default branch, which GitHub would not start', async () => {
  await using place = await openPlace([STORY])
  place.git('remote', 'add', 'origin', 'https://github.com/acme/shop.git')
  const look = async () => byName(await place.json('doctor', '--no-gates', ...place.agent)).get('workflow')
  assert.match((await look())?.found ?? '', /^no workflow on \S+ has `uses: ralph\/action`/)
  await place.write({ '.github/workflows/ralph.yml': await starter() })
  assert.match((await look())?.found ?? '', /not on main yet/)
  place.git('switch', '-q', '-c', 'topic')
  place.git('add', '-A')
  place.git('commit', '-q', '-m', 'workflow')
  assert.match((await look())?.fix ?? '', /merge it into main/)
  place.git('branch', '-q', '-f', 'main', 'topic')
  assert.equal((await look())?.state, 'ok')
})

test('doctor reports shallow and partial clones with the fix', async () => {
  await using place = await openPlace([STORY])
  place.git('commit', '-q', '--allow-empty', '-m', 'second')
  const shallow = join(place.folder, 'shallow')
  place.git('clone', '-q', '--depth=1', `file://${place.repository}`, shallow)
  const look = async (...flags: string[]) =>
    byName(await place.json('doctor', '--no-gates', ...place.agent, ...flags)).get('checkout')
  const found = await look('-C', shallow)
  assert.deepEqual([found?.state, found?.fix], ['warning', 'run `git fetch --unshallow`'])
  place.git('config', 'remote.origin.promisor', 'true')
  assert.match((await look())?.found ?? '', /a partial clone/)
  place.git('config', '--unset', 'remote.origin.promisor')
  place.git('switch', '-q', '--detach')
  assert.match((await look())?.fix ?? '', /git switch/)
})

test('doctor never prints a key', async () => {
  await using place = await openPlace([STORY])
  const bin = join(place.folder, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'amp'), '#!/bin/sh\necho "0.9.1 (of $AMP_API_KEY)"\n')
  await chmod(join(bin, 'amp'), 0o755)
  place.env.PATH = `${bin}:${place.env.PATH}`
  place.env.AMP_API_KEY = 'sgamp_canary_0123456789'
  const ended = await place.ralph('doctor', '--json', '--agent', 'amp', '--gate', 'red=echo bad; exit 1')
  const found = byName(JSON.parse(ended.out))
  assert.equal(found.get('agent')?.found, 'amp 0.9.1')
  assert.equal(found.get('key')?.found, 'AMP_API_KEY is set')
  assert.ok(!`${ended.out}${ended.err}`.includes('canary'))
})
