// `isolation: other-user` through the committed bundle: the agent and the gates are somebody else, who holds no key.
import '../fakes/disk.ts'
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { lacks } from '../machine/needs.ts'
import { badTurn, goodTurn, openSite, outputsOf, RUN_TESTS_AS_OTHER_USER, story } from './site.ts'

const options = { skip: lacks('root') }

test(
  'other-user: a chain with work, a red gate, saved work and a judge leaves nothing of the user',
  options,
  async () => {
    const look = [
      'id -un >who.txt',
      'git status --short >/dev/null || exit 5',
      'git commit -qm mine --allow-empty 2>/dev/null && exit 6',
      'for f in /proc/[0-9]*/environ; do cat "$f" 2>/dev/null; done | tr "\\0" "\\n" | grep -E "ghs_|^INPUT_|^ACTIONS_" >leak.txt',
      'true',
    ].join('\n')
    await using site = await openSite({
      stories: [story('US-001', 'one'), story('US-002', 'two')],
      script: {
        'US-001': [{ ...goodTurn('one', 1), shell: look }],
        'US-002': [badTurn('two', 2), { ...goodTurn('two', 2), shell: 'chmod -R 0700 src; rm -f who.txt' }],
      },
      inputs: {
        isolation: 'other-user',
        'iterations-per-job': '2',
        // The second story removes a file of the first, which is a finding.
        'weakened-tests': 'warn',
        prepare: 'mkdir -p node_modules/x && touch node_modules/x/$(id -un)',
        gates: `test: ${RUN_TESTS_AS_OTHER_USER}\nwho: "[ $(id -un) != root ] && touch gate.txt"`,
      },
    })
    const run = await site.go()
    assert.equal(outputsOf(run).outcome, 'complete', site.log())
    assert.equal(outputsOf(run).iterations, '3')
    const user = (await site.github.read('ralph/sample~1', 'who.txt'))?.trim() ?? ''
    const [first] = site.runner.runs
    const workspace = first?.jobs[0]?.workspace ?? ''
    const who = (await readFile(join(workspace, 'who.txt'), 'utf8').catch(() => '')).trim()
    assert.match(user || who, /^ralph-[0-9a-f]{8}$/)
    assert.equal((await site.github.read('ralph/sample', 'leak.txt')) ?? '', '', 'a key was in sight')
    assert.equal(await site.github.read('ralph/sample', 'gate.txt'), null)
    assert.doesNotMatch(readFileSync('/etc/passwd', 'utf8'), new RegExp(`^${user || who}:`, 'm'))
  },
)

test(
  'the main process is killed while the network is closed: the post step ends the session and opens the network',
  options,
  async () => {
    await using site = await openSite({
      stories: [story('US-001', 'one')],
      script: { 'US-001': [{ shell: 'echo "this is $(id -un)"', hang: true }] },
      inputs: { isolation: 'other-user', network: 'model' },
    })
    await site.runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
    await site.runner.when((one) => one.status === 'completed' || site.runner.log(one).includes('hanging\n'))
    const [, name = ''] = /this is (ralph-[0-9a-f]{8})/.exec(site.log()) ?? []
    assert.notEqual(name, '', site.log())
    const uid = execFileSync('id', ['-u', name], { encoding: 'utf8' }).trim()
    assert.match(closures(), new RegExp(`ralph[_-]${uid}\\b`), site.log())
    process.kill((await site.state()).lease?.pid ?? 0, 'SIGKILL')
    await site.runner.settled()
    assert.doesNotMatch(closures(), new RegExp(`ralph[_-]${uid}\\b`))
    for (const file of ['/etc/passwd', '/etc/group'])
      assert.doesNotMatch(readFileSync(file, 'utf8'), new RegExp(`^${name}`, 'm'))
    assert.equal((await site.state()).lease, null)
  },
)

/** Rules and namespaces that close the network of users. */
function closures(): string {
  return [['nft', 'list', 'tables'] as const, ['ip', 'netns', 'list'] as const]
    .map(([file, ...args]) => spawnSync(file, args, { encoding: 'utf8' }).stdout ?? '')
    .join('')
}

test(
  'other-user: gates of the last story run in a clean clone with a new home, and count for the final verification',
  options,
  async () => {
    await using site = await openSite({
      stories: [story('US-001', 'one')],
      script: { 'US-001': [goodTurn('one', 1)] },
      inputs: {
        isolation: 'other-user',
        network: 'open',
        // Red if an earlier run of a gate had the same home, as the further runs have.
        'weakened-tests': 'off',
        'needs-proof': 'off',
        gates: `home: test ! -e ~/mark && touch ~/mark\ntest: ${RUN_TESTS_AS_OTHER_USER}`,
      },
    })
    assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
    for (const name of ['home', 'test'])
      assert.match(
        site.log(),
        new RegExp(`gate ${name} is not run again, because it passed on this code \\(US-001, just now\\)`),
      )
  },
)

test('git credentials that actions/checkout stored are hidden from the agent and restored afterwards', async () => {
  const look = [
    'git config --list | grep -i extraheader >header.txt',
    'cat .git/config ../../_temp/git-credentials-* 2>/dev/null | grep -i authorization >>header.txt',
    'GIT_TERMINAL_PROMPT=0 git push -q origin HEAD:refs/heads/stolen 2>/dev/null && echo pushed >>header.txt',
    'true',
  ].join('\n')
  for (const version of ['v4', 'v7']) {
    await using site = await openSite({
      stories: [story('US-001', 'one')],
      script: { 'US-001': [{ ...goodTurn('one', 1), shell: look }] },
      inputs: { 'final-verification': 'false' },
      workflow: (text) =>
        text
          .replace(/actions\/checkout@\S+.*/, `actions/checkout@${version}`)
          .replace(/persist-credentials: false.*/, 'persist-credentials: true')
          .replace(
            '\n  comment:\n',
            '      - run: git config --list --includes | grep -ci "extraheader=authorization" >"$RUNNER_TEMP/../later.txt"\n$&',
          ),
    })
    const run = await site.go()
    assert.equal(outputsOf(run).outcome, 'complete', site.log())
    assert.equal(await site.github.read('ralph/sample', 'header.txt'), '', version)
    const workspace = run.jobs[0]?.workspace ?? ''
    assert.equal(await readFile(join(workspace, '..', '..', 'later.txt'), 'utf8'), '1\n', version)
    assert.equal(await site.github.bare.run(['branch', '--list', 'stolen']), '')
  }
})

test('other-user: the jobs of a wave, run one after the other, complete', options, async () => {
  const names = ['one', 'two', 'three']
  await using site = await openSite({
    parallel: true,
    stories: names.map((name, at) => story(`US-00${at + 1}`, name)),
    script: Object.fromEntries(names.map((name, at) => [`US-00${at + 1}`, [goodTurn(name, at)]])),
    inputs: { 'max-parallel': '2', isolation: 'other-user', network: 'open' },
    runner: { capacity: 1 },
  })
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'complete', site.log())
  const jobs = site.runner.runs[0]?.jobs.filter(({ conclusion }) => conclusion === 'success')
  assert.deepEqual(
    jobs?.map(({ key }) => key),
    ['claim', 'work', 'work', 'join'],
  )
})
