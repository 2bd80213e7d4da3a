// `ralph run --max-parallel`: stories side by side in work trees of their own, landing one behind the other.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import type { State } from '../../src/engine/model/state.ts'
import { runUsage } from '../../src/engine/model/usage-totals.ts'
import { type Clone, openClone, type Started } from '../fakes/clone.ts'
import { CLI } from './laptop.ts'
import { type Script, story, together } from './site.ts'

const STATE_REF = 'refs/ralph/2026-01-31-sample'
const IDS = ['US-001', 'US-002', 'US-003', 'US-004', 'US-005', 'US-006']

type Place = Clone & {
  ralph(...args: string[]): ReturnType<Clone['start']>
  /** The files in src/ that gates saw, a line each time that they were green. */
  gated(): string[]
  state(): State
  lanes(): string[]
  /** Subjects of the commits of stories on the branch, the oldest first. */
  landed(): string[]
}

/** `gate`: a command that is the gate's verdict, before the note of what it saw. */
async function place(script: Script, gate = '! grep -rq bad src', config?: string) {
  const userStories = IDS.map((id) => story(id, `part ${id}`))
  const clone = await openClone(CLI, {
    '.ralph/2026-01-31-sample/prd.json': JSON.stringify({ schemaVersion: 2, userStories }),
    ...(config === undefined ? {} : { 'ralph.config.yml': config }),
  })
  await clone.setScript(script)
  const log = join(clone.folder, 'gated')
  const command = `${gate} || exit 1; ls src | xargs >>"${log}"`
  const flags = ['--isolation', 'same-user', '--no-final-verification', '--gate', `good=${command}`]
  const places = join(clone.folder, '.cache', 'ralph')
  const here: Place = {
    ...clone,
    ralph: (...args) => clone.start([...args.slice(0, 1), ...clone.agent, ...flags, ...args.slice(1)]),
    gated: () => readFileSync(log, 'utf8').split('\n').filter(Boolean),
    state: () => JSON.parse(clone.git('show', `${STATE_REF}:.ralph-state/state.json`)),
    lanes: () => [
      ...(existsSync(places) ? readdirSync(places) : []),
      ...clone.git('worktree', 'list').split('\n').slice(1),
    ],
    landed: () =>
      clone
        .git('log', '--reverse', '--format=%s', 'main..ralph/sample')
        .split('\n')
        .filter((subject) => subject.startsWith('feat:')),
  }
  return here
}

const good = (id: string, more: Record<string, unknown> = {}) => ({
  files: { [`src/${id}.txt`]: `good ${id}\n` },
  ...more,
})
const allGood = (more: Record<string, unknown> = {}): Script =>
  Object.fromEntries(IDS.map((id) => [id, [good(id, more)]]))

/** Comes back when the run has printed so many of these. */
async function printed(run: Started, what: RegExp, count = 1): Promise<void> {
  let text = ''
  const found = new Promise<true>((resolve) => {
    run.stdout?.on('data', (chunk) => {
      text += chunk
      if ([...text.matchAll(what)].length >= count) resolve(true)
    })
  })
  const ended = run.ended.then(() => assert.fail(`the run ended without it:\n${text}`))
  await Promise.race([found, ended])
}

test('three stories are in work at the same time, and gates ran on the tree of every commit', async () => {
  await using at = await place({})
  const meeting = join(at.folder, 'meeting')
  const shell = `mkdir -p "${meeting}"; ${together(meeting, 3)}`
  await at.setScript(allGood({ shell }))
  const { code, err } = await at.ralph('run', '--max-parallel', '3').ended
  assert.equal(code, 0, err)
  assert.equal(at.landed().length, IDS.length)
  const stories = at.git('log', '--format=%H', '--grep=Ralph-Story', 'main..ralph/sample').split('\n')
  for (const commit of stories) {
    const files = at
      .git('ls-tree', '--name-only', commit, 'src/')
      .replaceAll('src/', '')
      .replaceAll('\n', ' ')
    assert.ok(at.gated().includes(files), `${files} landed, and no gate saw that`)
  }
  assert.equal(at.git('status', '--porcelain'), '')
  assert.equal(at.git('rev-parse', '--abbrev-ref', 'HEAD'), 'ralph/sample')
  assert.deepEqual(at.lanes(), [], 'no work tree is left')
  const { prd } = at.state()
  assert.ok(prd.userStories.every(({ passes }) => passes))
  assert.equal(prd.run.iterations, IDS.length)
})

test('sessions side by side that use `git stash` get their own work back', async () => {
  await using at = await place({})
  const meeting = join(at.folder, 'meeting')
  const shell = `mkdir -p "${meeting}"; git stash -u -q; ${together(meeting, 3)}; git stash pop -q`
  await at.setScript(Object.fromEntries(IDS.slice(0, 3).map((id) => [id, [good(id, { shell })]])))
  const { code, err } = await at.ralph('run', '--max-parallel', '3', '--stories', 'US-001,US-002,US-003')
    .ended
  assert.equal(code, 0, err)
  for (const commit of at.git('log', '--format=%H', '--grep=Ralph-Story', 'main..ralph/sample').split('\n')) {
    const id = /^Ralph-Story: (.+)$/m.exec(at.git('log', '-1', '--format=%B', commit))?.[1]
    assert.equal(
      at.git('diff-tree', '-r', '--no-commit-id', '--name-only', commit, '--', 'src'),
      `src/${id}.txt`,
    )
  }
  assert.equal(at.git('stash', 'list'), '')
})

test('a candidate that turns red on top of another one falls out alone, and those after it are gated again', async () => {
  const marks = await mkdtemp(join(tmpdir(), 'ralph-marks-'))
  const wait = (mark: string) => `until [ -f "${marks}/${mark}" ]; do sleep 0.02; done`
  const has = (...ids: string[]) => ids.map((id) => `[ -f src/US-00${id}.txt ]`).join(' && ')
  // Its gates begin: the candidate is built, and the next one comes behind it. The first ends when all three stand.
  const begun = ['1', '2', '3'].map((id) => `{ ${has(id)} && touch "${marks}/${id}"; }`).join('; ')
  const held = `{ ${has('2')} || ${has('3')} || ! ${has('1')} || { ${wait('3')}; }; }`
  // Alone each is fine; behind US-001 the second is red, until it knows of it.
  const gate = `${begun}; ${held}; { ! { ${has('1', '2')}; } || grep -q beside src/US-002.txt; }`
  const script = allGood()
  script['US-002'] = [
    good('US-002', { shell: wait('1') }),
    { files: { 'src/US-002.txt': 'good US-002 beside US-001\n' } },
  ]
  script['US-003'] = [good('US-003', { shell: wait('2') })]
  await using at = await place(script, gate)
  const { code, err } = await at.ralph('run', '--max-parallel', '3').ended
  await rm(marks, { recursive: true })
  assert.equal(code, 0, err)
  assert.equal(at.landed().length, IDS.length)
  const { records } = at.state()
  assert.equal(records['US-002']?.attempts, 2)
  assert.equal(records['US-003']?.attempts, 1)
})

test('a merge conflict charges no attempt, and the next prompt shows both sides', async () => {
  await using at = await place({})
  const meeting = join(at.folder, 'meeting')
  const edit = 'sed -i "s/base/changed/; t; s/$/ by both/" src/base.txt'
  const shell = `mkdir -p "${meeting}"; ${together(meeting, 2)}; ${edit}; sed -i "s/changed$/$RALPH_STORY_ID/" src/base.txt`
  await at.setScript({ ...allGood(), 'US-001': [{ shell }], 'US-002': [{ shell }] })
  const { code, err } = await at.ralph('run', '--max-parallel', '2').ended
  assert.equal(code, 0, err)
  assert.match(at.git('show', 'ralph/sample:src/base.txt'), /^US-00[12] by both$/)
  const { prd, records } = at.state()
  const conflicted = prd.userStories.find(({ id }) => records[id]?.conflicts !== undefined)
  assert.equal(conflicted?.retries, 0)
  const prompts = (await at.called())
    .filter((one) => one.story === conflicted?.id)
    .map(({ prompt }) => prompt)
  assert.match(prompts.at(-1) ?? '', /Landed meanwhile:[\s\S]*Your work:/)
})

test('Ctrl+C ends and saves all lanes, and the next run completes', async () => {
  await using at = await place(allGood({ shell: 'sleep 60' }))
  const run = at.ralph('run', '--max-parallel', '3')
  await printed(run, /working on/g, 3)
  run.kill('SIGINT')
  assert.equal((await run.ended).code, 130)
  assert.deepEqual(at.lanes(), [])
  const { lease, attempts, prd } = at.state()
  assert.deepEqual([lease, attempts, prd.run.iterations], [null, {}, 0])
  await at.setScript(allGood())
  assert.equal((await at.ralph('run', '--max-parallel', '3').ended).code, 0)
  assert.equal(at.landed().length, IDS.length)
})

test('a run that is killed with three lanes loses and repeats no landed story, and leaves no work tree', async () => {
  await using at = await place({})
  const meeting = join(at.folder, 'meeting')
  const wait = `mkdir -p "${meeting}"; ${together(meeting, 3)}`
  // The first wave lands, the second is at work when the process is killed.
  await at.setScript({
    ...allGood({ shell: `${wait}; sleep 60` }),
    'US-001': [good('US-001', { shell: wait })],
  })
  const run = at.ralph('run', '--max-parallel', '3')
  await printed(run, /US-001 passes/g)
  run.kill('SIGKILL')
  await run.ended
  await at.setScript(allGood())
  const { code, err } = await at.ralph('run', '--max-parallel', '2').ended
  assert.equal(code, 0, err)
  assert.equal(new Set(at.landed()).size, IDS.length)
  assert.equal(at.landed().length, IDS.length)
  assert.deepEqual(at.lanes(), [])
})

/** A gate that says that it runs on a story and waits to be killed, until the file `go` is there. The base has no story. */
function heldGate(at: Place): { gate: string; release(): Promise<void> } {
  const go = join(at.folder, 'go')
  const command = `[ -f "${go}" ] || ! ls src | grep -q US || { echo held; sleep 600; }`
  return { gate: `held=${command}`, release: () => writeFile(go, '') }
}

/** Three lanes whose sessions have ended, killed at their gates. */
async function killedAtGates(at: Place, gate: string): Promise<void> {
  const run = at.ralph('run', '--max-parallel', '3', '--baseline', 'off', '--gate', gate)
  await printed(run, /US-00\d gates\] running/g, 3)
  run.kill('SIGKILL')
  await run.ended
}

const costOf = (at: Place) => Math.round(runUsage(at.state()).costUsd * 100)
const sessionsOf = async (at: Place) => (await at.called()).map(({ story: id }) => id).sort()

test('three lanes killed at their gates twice: every session is charged once, and only the gates run again', async () => {
  await using at = await place(allGood())
  const { gate, release } = heldGate(at)
  await killedAtGates(at, gate)
  await killedAtGates(at, gate)
  assert.deepEqual(await sessionsOf(at), IDS.slice(0, 3))
  assert.equal(at.git('status', '--porcelain'), '', 'no candidate is in the checkout')
  await release()
  const { code, err } = await at.ralph('run', '--max-parallel', '3', '--gate', gate).ended
  assert.equal(code, 0, err)
  assert.deepEqual(at.landed().length, IDS.length)
  assert.deepEqual(await sessionsOf(at), IDS)
  // A session costs a cent.
  assert.equal(costOf(at), IDS.length)
  assert.deepEqual(at.lanes(), [])
})

test('lanes killed at their gates: a run without lanes builds on their work and removes their work trees', async () => {
  await using at = await place(allGood())
  const { gate, release } = heldGate(at)
  await killedAtGates(at, gate)
  assert.equal(at.lanes().length > 0, true)
  await release()
  const { code, err } = await at.ralph('run', '--gate', gate).ended
  assert.equal(code, 0, err)
  assert.deepEqual(at.landed().length, IDS.length)
  assert.equal(costOf(at), (await sessionsOf(at)).length)
  assert.match((await at.called()).at(3)?.prompt ?? '', /The work of the last attempt is in the work tree/)
  assert.deepEqual(at.lanes(), [])
})

test('a run killed in a step after the commit: the story lands once, and no other is lost', async () => {
  const marks = await mkdtemp(join(tmpdir(), 'ralph-marks-'))
  const pipe = join(marks, 'pipe')
  execFileSync('mkfifo', [pipe])
  const once = `[ -f "${marks}/begun" ] || { touch "${marks}/begun"; cat "${pipe}"; }`
  const config = `steps:
  - { name: work, type: agent }
  - { name: commit, type: git-commit }
  - { name: tell, type: command, config: { command: ${JSON.stringify(once)} } }
`
  await using at = await place(allGood(), undefined, config)
  const run = at.ralph('run', '--max-parallel', '2')
  // It opens when the step reads there.
  const held = await open(pipe, 'w')
  run.kill('SIGKILL')
  await run.ended
  await held.close()
  assert.deepEqual(at.landed(), [])
  const { code, err } = await at.ralph('run', '--max-parallel', '2').ended
  await rm(marks, { recursive: true })
  assert.equal(code, 0, err)
  assert.equal(new Set(at.landed()).size, IDS.length)
  assert.equal(at.landed().length, IDS.length)
  assert.deepEqual(at.lanes(), [])
})

test('services of stories side by side have ports and names of their own', async () => {
  const server =
    "require('http').createServer((_, to) => to.end(process.cwd())).listen(process.env.RALPH_PORT, '127.0.0.1')"
  const config = `services:
  web:
    start: exec "${process.execPath}" -e "${server}"
    ready: http://localhost:$RALPH_PORT/up
`
  const meeting = await mkdtemp(join(tmpdir(), 'ralph-meeting-'))
  // Both servers stand at the same time, and each gate is answered by the one of its own tree.
  const met = `until [ "$(ls "${meeting}" | wc -l)" -ge 2 ]; do sleep 0.02; done`
  const asks = `[ "$(curl -s "http://127.0.0.1:$RALPH_PORT")" = "$PWD" ]`
  const gate = `${asks} && { ! ls src | grep -q US || { touch "${meeting}/$RALPH_WORKER"; ${met}; ${asks}; }; }`
  await using at = await place(allGood(), gate, config)
  const { code, err } = await at.ralph('run', '--max-parallel', '2').ended
  assert.equal(code, 0, err)
  assert.equal(at.landed().length, IDS.length)
  assert.deepEqual(readdirSync(meeting).sort(), ['1', '2'])
  await rm(meeting, { recursive: true })
  assert.deepEqual(at.lanes(), [])
})

test('settings that cannot work with max-parallel are refused before the run begins', async () => {
  await using at = await place(allGood())
  const { code, err } = await at.ralph('run', '--max-parallel', '2', '--isolation', 'other-user').ended
  assert.equal(code, 64)
  assert.match(err, /max-parallel/)
  assert.deepEqual(await at.called(), [])
})

/** Two lanes, on a checkout that is not as usual: the run is refused with these words, or completes. */
async function onCheckout(
  change: (at: Place) => void | Promise<void>,
  refusal: RegExp | null,
): Promise<Place> {
  const at = await place(allGood())
  await change(at)
  const { code, out, err } = await at.ralph('run', '--max-parallel', '2').ended
  if (refusal === null) {
    assert.equal(code, 0, out + err)
    assert.equal(at.landed().length, IDS.length)
  } else {
    assert.equal(code, 64, out + err)
    assert.match(err, refusal)
    assert.deepEqual(await at.called(), [], 'no session has begun')
  }
  assert.deepEqual(at.lanes(), [])
  return at
}

test('a dirty checkout is refused with max-parallel as without', async () => {
  const change = (at: Place) => at.write({ 'src/base.txt': 'changed by hand\n' })
  await using _at = await onCheckout(change, /src\/base\.txt/)
})

test('lanes work in a shallow checkout', async () => {
  await using at = await onCheckout(async (here) => {
    await here.write({ 'src/base.txt': 'second\n' })
    here.git('commit', '-qam', 'second')
    const whole = join(here.folder, 'whole')
    here.git('clone', '-q', '--bare', '.', whole)
    const [user, email] = ['user.name', 'user.email'].map((name) => here.git('config', name))
    await rm(here.repository, { recursive: true })
    execFileSync('git', ['clone', '-q', '--depth=1', `file://${whole}`, here.repository], { stdio: 'pipe' })
    here.git('config', 'user.name', user ?? '')
    here.git('config', 'user.email', email ?? '')
  }, null)
  assert.equal(at.git('rev-parse', '--is-shallow-repository'), 'true')
})

/** Adds a submodule with one file, in lib/. */
function addSubmodule(at: Place): void {
  const other = join(at.folder, 'other')
  at.git('init', '-q', '-b', 'main', other)
  const inside = ['-C', other, '-c', 'user.name=Bob', '-c', 'user.email=bob@example.com']
  writeFileSync(join(other, 'lib.txt'), 'lib\n')
  at.git(...inside, 'add', '-A')
  at.git(...inside, 'commit', '-qm', 'lib')
  at.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'lib')
  at.git('commit', '-qm', 'a submodule')
}

test('a checked-out submodule is refused with max-parallel; one that is not checked out is missing in lanes, too', async () => {
  await using _at = await onCheckout(
    addSubmodule,
    /max-parallel: Ralph cannot work on 2 stories at a time: the repository has submodules\./,
  )
  await using there = await onCheckout((at) => {
    addSubmodule(at)
    at.git('submodule', 'deinit', '-q', '-f', 'lib')
  }, null)
  assert.match(there.git('ls-tree', 'ralph/sample', 'lib'), /^160000 commit/)
})

/** A file that a filter such as that of Git LFS rewrites at checkout. */
async function addFiltered(at: Place): Promise<void> {
  at.git('config', 'filter.lfs.clean', 'echo pointer; cat >/dev/null')
  at.git('config', 'filter.lfs.smudge', 'echo the large file; cat >/dev/null')
  await at.write({ '.gitattributes': '*.bin filter=lfs\n', 'data.bin': 'the large file\n' })
  at.git('add', '-A')
  at.git('commit', '-qm', 'a large file')
}

test('checked-out Git LFS files are refused with max-parallel; LFS pointers are the same in lanes', async () => {
  await using _at = await onCheckout(addFiltered, /data\.bin: the git filter lfs has rewritten this file/)
  await using _there = await onCheckout(async (at) => {
    await addFiltered(at)
    at.git('config', '--remove-section', 'filter.lfs')
    at.git('rm', '-q', '--cached', 'data.bin')
    at.git('reset', '-q', '--hard')
    assert.equal(await at.read('data.bin'), 'pointer\n')
  }, null)
})
