// `ralph run` in a clone that people and agents do things to: what was there is kept, what leaks is found, who works is alone.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import type { State } from '../../src/engine/model/state.ts'
import { runUsage } from '../../src/engine/model/usage-totals.ts'
import { type Clone, type Ended, openClone, type Started } from '../fakes/clone.ts'
import { Loopback } from '../unit/notify/loopback.ts'
import { CLI } from './laptop.ts'
import { type Script, story } from './site.ts'

const STATE_REF = 'refs/ralph/2026-01-31-sample'
const good = (id: string) => ({ files: { [`src/${id}.txt`]: `good ${id}\n` } })

type Place = Omit<Clone, 'start'> & {
  /** The attempts that were begun: `US-001/1`. */
  sessions(): Promise<string[]>
  start(args?: string[], where?: string): Started
  run(args?: string[], where?: string): Promise<Ended>
  state(): State
}

async function place(
  ids: readonly string[],
  script: Script,
  files: Record<string, string> = {},
): Promise<Place> {
  const userStories = ids.map((id) => story(id, `part ${id}`))
  const prd = { '.ralph/2026-01-31-sample/prd.json': JSON.stringify({ schemaVersion: 2, userStories }) }
  const clone = await openClone(CLI, { ...prd, ...files })
  await clone.setScript(script)
  const start: Place['start'] = (args = [], cwd = clone.repository) =>
    clone.start(['run', ...clone.agent, ...args], { cwd })
  return {
    ...clone,
    start,
    run: (args, where) => start(args, where).ended,
    async sessions() {
      const runs = (await clone.called()).filter(({ mode }) => mode === 'run')
      return runs.map((one) => `${one.story}/${one.attempt}`)
    },
    state: () => JSON.parse(clone.git('show', `${STATE_REF}:.ralph-state/state.json`)),
  }
}

const GOOD = ['--gate', 'good=! grep -rq bad src']

/** A turn that tells when it has come here, and goes on when it is let. */
async function gateIn(at: Place) {
  const [there, goOn] = [join(at.folder, 'there'), join(at.folder, 'go-on')]
  execFileSync('mkfifo', [there, goOn])
  return {
    shell: `echo >"${there}"; cat "${goOn}" >/dev/null`,
    reached: () => readFile(there, 'utf8'),
    release: () => writeFile(goOn, ''),
  }
}

test('what an agent leaves in a submodule is refused and removed, committed or not', async () => {
  await using at = await place(['US-001', 'US-002'], {})
  const library = join(at.folder, 'library')
  await mkdir(library)
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['commit', '-q', '--allow-empty', '-m', 'library'],
  ])
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: library })
  at.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib')
  at.git('commit', '-q', '-m', 'with a library')
  const commit = 'git -c user.name=x -c user.email=x@y'
  await at.setScript({
    'US-001': [
      { ...good('US-001'), shell: 'echo hack >lib/hack' },
      { shell: `cd lib && echo hack >hack && ${commit} add -A && ${commit} commit -q -m hack` },
      {},
    ],
    'US-002': [good('US-002')],
  })
  const ended = await at.run(['--gate', 'clean=! [ -e lib/hack ]'])
  assert.equal(ended.code, 0, ended.out)
  assert.deepEqual(await at.sessions(), ['US-001/1', 'US-001/2', 'US-001/3', 'US-002/1'])
  assert.match(ended.out, /the session changed files of a submodule/)
  assert.equal(existsSync(join(at.repository, 'lib', 'hack')), false)
  assert.equal(at.git('status', '--porcelain'), '')
})

test('a gate with `when` runs for stories with its tag and in the final verification, not for the baseline', async () => {
  const stories = [story('US-001', 'one'), story('US-002', 'two', { tags: ['ui'], priority: 2 })]
  const gates = {
    unit: 'echo unit >>../gates.log',
    e2e: { run: 'echo e2e >>../gates.log; [ -e src/US-002.txt ]', when: 'ui' },
  }
  await using at = await place(
    [],
    { 'US-001': [good('US-001')], 'US-002': [good('US-002')] },
    {
      '.ralph/2026-01-31-sample/prd.json': JSON.stringify({ schemaVersion: 2, userStories: stories }),
      'ralph.config.json': JSON.stringify({ gates }),
    },
  )
  // They count beside the checkout, and name what a story adds.
  const ended = await at.run(['--clean-room', 'off', '--weakened-tests', 'off'])
  assert.equal(ended.code, 0, ended.out)
  const ran = (await readFile(join(at.folder, 'gates.log'), 'utf8')).trim().split('\n')
  assert.deepEqual(ran, ['unit', 'unit', 'unit', 'e2e', 'unit', 'e2e'], 'base, US-001, US-002, the whole')
  assert.doesNotMatch(ended.out, /\[prepare\]/)
})

test('notify: a local run that cannot begin without a terminal sends one notification', async () => {
  await using server = await Loopback.open()
  await using at = await place([], {}, { '.ralph/2026-01-31-sample/prd.json': '{' })
  const told = ['--notify', `webhook: ${server.url()}`]
  assert.equal((await at.run([...GOOD, ...told, '--dry-run'])).code, 64)
  assert.equal((await at.run([...GOOD, ...told])).code, 64)
  assert.equal((await at.run([...told, '--agent', 'cluade'])).code, 64)
  assert.deepEqual(
    server.heard.map(({ body }) => [body.event, body.outcome]),
    [
      ['outcome', 'error'],
      ['outcome', 'error'],
    ],
  )
  assert.match(String(server.heard[1]?.body.headline), /^Error: --agent: "?cluade/)
})

test('two runs of a feature in two work trees: the second ends at once, and works once the first has ended', async () => {
  await using at = await place(['US-001'], {})
  const gate = await gateIn(at)
  await at.setScript({ 'US-001': [{ ...good('US-001'), shell: gate.shell }] })
  const other = join(at.folder, 'other')
  at.git('worktree', 'add', '-q', other, '-b', 'elsewhere')
  const first = at.start(GOOD)
  await gate.reached()
  const second = await at.run([...GOOD, '--json'], other)
  assert.equal(second.code, 64)
  const [error] = JSON.parse(second.out).errors
  assert.match(error.found, /process \d+ on .* works on sample/)
  await gate.release()
  assert.equal((await first.ended).code, 0)
  assert.deepEqual(await at.sessions(), ['US-001/1'])
  const again = await at.run([...GOOD, '--json'], other)
  assert.equal(JSON.parse(again.out).outcome, 'complete', again.err)
  assert.deepEqual(await at.sessions(), ['US-001/1'], 'nothing is done twice')
  assert.match(
    at.git('-C', other, 'status', '-bs'),
    /^## elsewhere$/,
    'the branch stays in the first one alone',
  )
})

test('processes that a killed run left are ended by the next run', async () => {
  await using at = await place(['US-001'], {})
  const marker = `ralph-survivor-${process.pid}`
  const tick = `exec -a ${marker} bash -c 'while :; do date >>src/leak.txt; read -t 0.02 <> <(:); done'`
  const gate = await gateIn(at)
  await at.setScript({
    'US-001': [{ shell: `setsid bash -c "${tick}" </dev/null >/dev/null 2>&1 & ${gate.shell}` }],
  })
  const first = at.start(GOOD)
  await gate.reached()
  const alive = () =>
    readdirSync('/proc').filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(marker)
      } catch {
        return false
      }
    })
  while (alive().length === 0) await new Promise(setImmediate) // it has just been started
  first.kill('SIGKILL')
  await first.ended
  assert.notEqual(alive().length, 0, 'a survivor is there')
  await at.setScript({ 'US-001': [good('US-001'), good('US-001')] })
  const ended = await at.run(GOOD)
  assert.equal(ended.code, 0, ended.err)
  assert.deepEqual(alive(), [])
  assert.match(ended.out, /ended \d+ process(?:es)? that the previous run had left running/)
  assert.deepEqual(
    [at.state().records['US-001']?.attempts, at.state().records['US-001']?.interruptions],
    [2, 0],
  )
})

test('a run killed during gates: the next run gates the same work, without a second session, and nothing is estimated', async () => {
  await using at = await place(['US-001'], { 'US-001': [good('US-001')] })
  const gate = await gateIn(at)
  const litter = `good=echo litter >src/litter; ${gate.shell}`
  const first = at.start([
    '--gate',
    litter,
    '--baseline',
    'off',
    '--weakened-tests',
    'off',
    '--max-cost-usd',
    '9',
  ])
  await gate.reached()
  first.kill('SIGKILL')
  await first.ended
  const ended = await at.run([...GOOD, '--max-cost-usd', '9'])
  assert.equal(ended.code, 0, ended.err)
  const { costUsd, inputTokens, estimatedCostUsd } = runUsage(at.state())
  // The story's session, and the final judge's.
  assert.deepEqual([costUsd, inputTokens, estimatedCostUsd], [0.02, 2000, undefined])
  assert.match(
    ended.out,
    /the session for US-001 had ended before the last run was lost, so only the gates run again/,
  )
  assert.equal(at.git('ls-tree', '--name-only', 'HEAD', 'src/litter'), '', 'what a gate wrote is no work')
})

test('a run killed during the baseline or the final verification goes on where it was', async () => {
  for (const time of [1, 3]) {
    await using at = await place(['US-001'], { 'US-001': [good('US-001')] })
    const prd = '.ralph/2026-01-31-sample/prd.json'
    await at.write({ [prd]: (await at.read(prd)).replace('part US-001', 'another part') })
    const gate = await gateIn(at)
    // A repository without a commit is no hindrance.
    const nested = time === 1 ? '' : 'git init -q src/nested;'
    const whole = `echo x >>../count; [ $(wc -l <../count) != ${time} ] || { echo litter | tee src/litter >>src/base.txt; ${nested} ${gate.shell}; }`
    // What a gate leaves in a clean room is gone with it.
    const first = at.start(['--gate', `good=${whole}`, '--clean-room', 'off'])
    await gate.reached()
    first.kill('SIGKILL')
    await first.ended
    const ended = await at.run(GOOD)
    assert.equal(ended.code, 0, ended.err)
    assert.deepEqual([at.git('status', '--porcelain'), await at.read('src/base.txt')], ['', 'base\n'])
    assert.equal(at.state().prd.userStories[0]?.title, 'another part')
    const [, aside = ''] =
      /To get your own work back: git restore --source=(\w+) -- <path>/.exec(ended.out) ?? []
    assert.equal(at.git('show', `${aside}:src/litter`), 'litter')
  }
})

test("a run killed in the final judge's session charges its cost, and judges again", async () => {
  await using at = await place(['US-001'], { 'US-001': [good('US-001')] })
  const gate = await gateIn(at)
  await at.setScript({ 'US-001': [good('US-001')], verify: [{ shell: gate.shell }, {}] })
  const first = at.start([...GOOD, '--max-cost-usd', '9'])
  await gate.reached()
  first.kill('SIGKILL')
  await first.ended
  const ended = await at.run([...GOOD, '--max-cost-usd', '9'])
  assert.equal(ended.code, 0, ended.err)
  const { costUsd, estimatedCostUsd } = runUsage(at.state())
  // As the dearest session so far, which is the story's.
  assert.deepEqual([costUsd, estimatedCostUsd], [0.03, 0.01])
  assert.equal((await at.run(GOOD)).code, 0)
  assert.equal(runUsage(at.state()).costUsd, 0.03, 'it is counted once')
})

test('`.git/ralph` is deleted: the next run goes on from the state in the clone', async () => {
  await using at = await place(['US-001', 'US-002'], {
    'US-001': [good('US-001')],
    'US-002': [good('US-002')],
  })
  assert.equal((await at.run([...GOOD, '--once'])).code, 5)
  await rm(join(at.repository, '.git', 'ralph'), { recursive: true })
  const ended = await at.run(GOOD)
  assert.equal(ended.code, 0, ended.err)
  assert.deepEqual(await at.sessions(), ['US-001/1', 'US-002/1'])
})

test('lock files of git that a power cut left do not stop the next run', async () => {
  await using at = await place(['US-001', 'US-002'], {
    'US-001': [good('US-001')],
    'US-002': [good('US-002')],
  })
  assert.equal((await at.run([...GOOD, '--once'])).code, 5)
  const old = new Date(Date.now() - 60_000)
  for (const lock of [`.git/ralph/git/${STATE_REF}.lock`, '.git/refs/heads/ralph/sample.lock']) {
    await writeFile(join(at.repository, lock), '')
    await utimes(join(at.repository, lock), old, old)
  }
  const ended = await at.run(GOOD)
  assert.equal(ended.code, 0, ended.err)
})

test('ignored dependencies that a rejected attempt installed are removed before the next story', async () => {
  const install = 'rm -rf deps; mkdir deps; xargs -I{} touch deps/{} <package-lock.json'
  await using at = await place(
    ['US-001', 'US-002'],
    {
      'US-001': [{ files: { 'package-lock.json': 'left\n', 'src/a.txt': 'bad' } }],
      'US-002': [good('US-002')],
    },
    { 'package-lock.json': 'none\n', '.gitignore': 'deps/\n' },
  )
  const leak = '--gate=leak=! { [ -e deps/left ] && ! grep -q left package-lock.json; }'
  const ended = await at.run([...GOOD, leak, '--prepare', install, '--max-attempts', '1'])
  assert.equal(ended.code, 1, ended.err)
  const [one, two] = at.state().prd.userStories
  assert.deepEqual([one?.blocked, two?.passes], [true, true], ended.out)
})

test('gates that need ignored files, without `prepare`, are reported before the first session', async () => {
  await using at = await place(
    ['US-001'],
    { 'US-001': [good('US-001')] },
    { '.gitignore': 'node_modules/\n' },
  )
  await at.write({ 'node_modules/left/index.js': 'x\n' })
  const gate = ['--gate', 'good=test -e node_modules/left']
  const { code, out, err } = await at.run(gate)
  assert.equal(code, 64, err)
  assert.match(
    out,
    /gate good failed \(exit 1\) in a clean clone, but passes in the checkout, which has node_modules\//,
  )
  assert.match(out, /let `prepare` create the files that git ignores/i)
  assert.deepEqual(await at.sessions(), [])
  const prepared = await at.run([...gate, '--prepare', 'mkdir -p node_modules/left'])
  assert.equal(prepared.code, 0, prepared.err)
})

test('tests that need an ignored file of the checkout are reported before the first session, and block no story', async () => {
  await using at = await place(
    ['US-001', 'US-002'],
    { 'US-001': [good('US-001')], 'US-002': [good('US-002')] },
    { '.gitignore': 'private/\n' },
  )
  await at.write({ 'private/data': 'x\n' })
  const count = 'n=1; if test -e private/data; then n=24; fi; echo "# pass $n"'
  const { code, out, err } = await at.run(['--gate', `test=${count}`, '--prepare', 'true'])
  assert.equal(code, 0, out + err)
  assert.match(
    out + err,
    /gate test: 23 of 24 tests need files that git ignores \(private\/\).* let `prepare` create them/i,
  )
  const { timeline } = at.state()
  assert.deepEqual(
    timeline.map(({ result }) => result),
    ['passed', 'passed'],
  )
  assert.doesNotMatch(out + err, /tests, and 24 before|gate prepare/)
})

test("a session cannot pop the person's stash, which is there again after it, and after a kill", async () => {
  await using at = await place(['US-001'], {
    'US-001': [{ ...good('US-001'), shell: 'git stash pop; git stash list >found' }],
  })
  for (const name of ['older', 'newer']) {
    await at.write({ [`${name}.txt`]: 'private\n' })
    at.git('stash', 'push', '-u', '-q', '-m', `the ${name} one`)
  }
  const before = at.git('stash', 'list', '--format=%gd %H %gs %ct')
  const { code, err } = await at.run(GOOD)
  assert.equal(code, 0, err)
  assert.equal(at.git('show', 'ralph/sample:found'), '')
  assert.doesNotMatch(at.git('ls-tree', '-r', '--name-only', 'ralph/sample'), /newer|older/)
  assert.equal(at.git('stash', 'list', '--format=%gd %H %gs %ct'), before)
  assert.doesNotMatch(err, /stash/)

  const turn = await gateIn(at)
  await at.setScript({ 'US-002': [{ ...good('US-002'), ...turn }] })
  const more = { schemaVersion: 2, userStories: [story('US-002', 'part two')] }
  await at.write({ '.ralph/2026-02-01-more/prd.json': JSON.stringify(more) })
  at.git('add', '-A')
  at.git('commit', '-q', '-m', 'more')
  const killed = at.start(['more', ...GOOD])
  await turn.reached()
  assert.equal(at.git('stash', 'list'), '')
  killed.kill('SIGKILL')
  await killed.ended
  await at.setScript({ 'US-002': [good('US-002')] })
  const again = await at.run(['more', ...GOOD])
  assert.equal(again.code, 0, again.err)
  assert.equal(at.git('stash', 'list', '--format=%gd %H %gs %ct'), before)
  assert.equal(at.git('for-each-ref', 'refs/ralph-stash'), '')
})

test('ignored files of a session are moved out of the tree while gates run, and restored after them', async () => {
  await using at = await place(
    ['US-001'],
    { 'US-001': [{ files: { 'src/US-001.txt': 'good\n', 'dist/built': 'session\n' } }] },
    { '.gitignore': 'dist/\n' },
  )
  const { code, err } = await at.run(['--gate', 'good=! test -e dist'])
  assert.equal(code, 0, err)
  assert.equal(await at.read('dist/built'), 'session\n')
  assert.equal(existsSync(join(at.repository, '.git', 'ralph', 'aside')), false)
})

test("a person's commit on the branch between two runs is kept, and gated", async () => {
  await using at = await place(['US-001', 'US-002'], {
    'US-001': [good('US-001')],
    'US-002': [good('US-002')],
  })
  assert.equal((await at.run([...GOOD, '--once'])).code, 5)
  await writeFile(join(at.repository, 'me.txt'), 'mine\n')
  at.git('add', '-A')
  at.git('commit', '-q', '-m', 'by hand')
  const ended = await at.run(GOOD)
  assert.equal(ended.code, 0, ended.err)
  assert.equal(at.git('show', 'ralph/sample:me.txt'), 'mine')
  assert.match(at.git('log', '--format=%s', 'ralph/sample'), /by hand/)
})

test('a branch that a person reset to an earlier commit: the stories that it lost are worked on again', async () => {
  await using at = await place(['US-001', 'US-002'], {
    'US-001': [good('US-001')],
    'US-002': [good('US-002')],
  })
  assert.equal((await at.run([...GOOD, '--once'])).code, 5)
  at.git('reset', '-q', '--hard', 'HEAD~1')
  const ended = await at.run(GOOD)
  assert.equal(ended.code, 0, ended.err)
  assert.deepEqual(await at.sessions(), ['US-001/1', 'US-001/2', 'US-002/1'])
  assert.equal(at.git('show', 'ralph/sample:src/US-001.txt'), 'good US-001')
})

test("ignore rules that an agent writes into the user's own ignore file hide no change", async () => {
  await using at = await place(['US-001'], {
    'US-001': [
      {
        shell:
          // The home of the run, not that of the session.
          'mkdir -p ../.config/git; echo hidden.txt >../.config/git/ignore; echo x >hidden.txt',
        ...good('US-001'),
      },
    ],
  })
  const ended = await at.run(['--gate', 'hidden=[ -e hidden.txt ]', '--baseline', 'off'])
  assert.equal(ended.code, 0, ended.out)
  assert.equal(at.git('show', 'ralph/sample:hidden.txt'), 'x')
})

test('files rewritten by a git filter are reported before the run begins, and pointer files are ordinary files', async () => {
  await using at = await place(
    ['US-001'],
    { 'US-001': [good('US-001')] },
    { '.gitattributes': '*.bin filter=big\n', 'a.bin': 'pointer\n' },
  )
  at.git('config', 'filter.big.smudge', 'sed s/pointer/content-of-many-megabytes/')
  at.git('config', 'filter.big.clean', 'sed s/content-of-many-megabytes/pointer/')
  assert.equal((await at.run([...GOOD, '--once'])).code, 0, 'a pointer, and complete with its one iteration')
  await rm(join(at.repository, 'a.bin'))
  at.git('checkout', 'a.bin')
  const ended = await at.run(GOOD)
  assert.equal(ended.code, 64)
  assert.match(ended.err, /a\.bin: the git filter big has rewritten this file/)
})

test('Ctrl+C twice ends the run at once, without child processes, and the next run goes on', async () => {
  await using at = await place(['US-001'], {})
  const marker = `ralph-twice-${process.pid}`
  const gate = await gateIn(at)
  const stubborn = `exec -a ${marker} bash -c 'trap "" INT TERM HUP; while :; do read -t 5 <> <(:); done'`
  const shell = `setsid bash -c "${stubborn.replaceAll('"', '\\"')}" </dev/null >/dev/null 2>&1 & ${gate.shell}`
  await at.setScript({ 'US-001': [{ shell, hang: true }] })
  const first = at.start(GOOD)
  await gate.reached()
  first.kill('SIGINT')
  await once(first.stdout ?? first, 'data') // it has heard the first
  first.kill('SIGINT')
  const ended = await first.ended
  assert.equal(ended.code, 130, ended.out)
  const alive = readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(marker)
    } catch {
      return false
    }
  })
  assert.deepEqual(alive, [])
  await at.setScript({ 'US-001': [good('US-001')] })
  const again = await at.run(GOOD)
  assert.equal(again.code, 0, again.err)
})

test('a command moves no branch and no work tree: commits of people there stay', async () => {
  await using at = await place(['US-001'], { 'US-001': [{ files: { 'src/a.txt': 'bad\n' } }] })
  assert.equal((await at.run([...GOOD, '--max-attempts', '1'])).code, 1)
  await writeFile(join(at.repository, 'fix.txt'), 'mine\n')
  at.git('add', '-A')
  at.git('commit', '-q', '-m', 'by hand')
  const commit = at.git('rev-parse', 'HEAD')
  at.git('switch', '-q', 'main')
  const said = execFileSync(process.execPath, [CLI, 'retry', 'US-001'], {
    cwd: at.repository,
    env: { PATH: process.env.PATH ?? '', HOME: at.folder },
    encoding: 'utf8',
  })
  assert.match(said, /noted: retry/)
  assert.equal(at.git('symbolic-ref', '--short', 'HEAD'), 'main')
  assert.equal(at.git('status', '--porcelain'), '')
  assert.equal(at.git('rev-parse', 'ralph/sample'), commit)
})

test("another feature's commit of a story with the same id is not taken for this feature's", async () => {
  await using at = await place(['US-001'], { 'US-001': [good('US-001'), good('US-001')] })
  assert.equal((await at.run(GOOD)).code, 0)
  at.git('switch', '-q', 'main')
  at.git(
    'commit',
    '-q',
    '--allow-empty',
    '-m',
    'feat: other',
    '-m',
    'Ralph-Story: US-001\nRalph-Run: another-run',
  )
  at.git('switch', '-q', '-C', 'ralph/sample', 'main')
  const ended = await at.run([...GOOD, '--final-verification', 'false'])
  assert.equal(ended.code, 0, ended.err)
  assert.deepEqual(await at.sessions(), ['US-001/1', 'US-001/2'])
  assert.equal(at.git('show', 'ralph/sample:src/US-001.txt'), 'good US-001')
})

test("named pipes, folders and links in place of Ralph's own files do not block the run", async () => {
  const odd = [
    'mkfifo .git/ralph/git/shallow',
    'rm .git/ralph/git/config; mkfifo .git/ralph/git/config',
    'rm .git/ralph/prompt.md; mkdir .git/ralph/prompt.md',
    'rm -rf .git/ralph/logs; ln -s /tmp .git/ralph/logs',
    'mkfifo .git/packed-refs .git/refs/heads/pipe',
    'mkfifo .git/hooks/pre-commit .git/info/attributes',
  ]
  await using at = await place(['US-001', 'US-002'], {
    'US-001': [{ ...good('US-001'), shell: odd.join('; ') }],
    'US-002': [good('US-002')],
  })
  const ended = await at.run(GOOD)
  assert.equal(ended.code, 0, ended.err)
  assert.equal(at.git('status', '--porcelain'), '')
})

test('a submodule that an agent removes, or whose `.git` it removes, is restored', async () => {
  await using at = await place(['US-001'], {})
  const library = join(at.folder, 'library')
  await mkdir(library)
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@b']
  execFileSync('git', [...who, 'init', '-q', '-b', 'main'], { cwd: library })
  await writeFile(join(library, 'a.txt'), 'a\n')
  execFileSync('git', [...who, 'add', '-A'], { cwd: library })
  execFileSync('git', [...who, 'commit', '-q', '-m', 'library'], { cwd: library })
  at.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, 'lib')
  at.git('commit', '-q', '-m', 'with a library')
  await at.setScript({
    'US-001': [{ shell: 'rm -rf lib' }, { ...good('US-001'), shell: 'rm -rf lib/.git; mkdir lib/.git' }],
  })
  const ended = await at.run(['--gate', 'library=[ -e lib/a.txt ]'])
  assert.equal(ended.code, 0, `${ended.out}${ended.err}`)
  assert.deepEqual(await at.sessions(), ['US-001/1', 'US-001/2'])
  assert.equal(at.git('status', '--porcelain'), '')
})

test('branchName is the default branch, or a branch of other people: exit 64, and no branch moves', async () => {
  const path = '.ralph/2026-01-31-sample/prd.json'
  await using at = await place(['US-001'], { 'US-001': [good('US-001')] })
  at.git('branch', 'release')
  at.git('switch', '-q', '-c', 'develop')
  const prd: Record<string, unknown> = JSON.parse(await readFile(join(at.repository, path), 'utf8'))
  const run = async (branchName: string) => {
    await writeFile(join(at.repository, path), JSON.stringify({ ...prd, branchName }))
    at.git('commit', '-q', '-a', '-m', branchName)
    const before = at.git('for-each-ref')
    const ended = await at.run(GOOD)
    assert.equal(ended.code, 64, ended.err)
    assert.equal(at.git('for-each-ref'), before)
    return ended.err
  }
  assert.match(
    await run('main'),
    /branchName: Ralph cannot work on main, .*\n.*leave branchName out, or name another branch/,
  )
  assert.match(await run('release'), /branchName: the branch release already exists/)
  at.git('branch', 'trunk')
  at.git('update-ref', 'refs/remotes/origin/trunk', 'main')
  at.git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/trunk')
  assert.match(
    await run('trunk'),
    /branchName: Ralph cannot work on trunk, .*\n.*leave branchName out, or name another branch/,
  )
  assert.deepEqual(await at.sessions(), [])
})

test('branches and tags that an agent moves are reported, with the command that restores each', async () => {
  await using at = await place(['US-001'], {})
  at.git('tag', 'v1')
  at.git('branch', 'topic')
  at.git('update-ref', 'refs/remotes/origin/main', 'HEAD')
  at.git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main')
  at.git('pack-refs', '--all')
  at.git('worktree', 'add', '-q', '-b', 'there', join(at.folder, 'there'))
  const refs = () => at.git('for-each-ref', '--format=%(objectname) %(refname) %(symref)')
  const [before, base] = [refs(), at.git('rev-parse', 'main')]
  const shell = `
evil=$(git -c user.name=x -c user.email=x@y commit-tree -m evil 'HEAD^{tree}')
for ref in heads/main heads/there remotes/origin/main; do git update-ref refs/$ref $evil; done
git tag -d v1; git branch -D topic; git branch topic/below
git symbolic-ref refs/remotes/origin/HEAD refs/heads/main
git branch 'a$(pwd>hacked)'
git pack-refs --all`
  await at.setScript({ 'US-001': [{ ...good('US-001'), shell }] })
  const ended = await at.run([...GOOD, '--json'])
  assert.equal(ended.code, 0, ended.err)
  const { movedRefs }: { movedRefs: { ref: string; from: string | null; to: string | null }[] } = JSON.parse(
    ended.out,
  )
  assert.deepEqual(movedRefs.map(({ ref }) => ref).sort(), [
    'refs/heads/a$(pwd>hacked)',
    'refs/heads/main',
    'refs/heads/there',
    'refs/heads/topic',
    'refs/heads/topic/below',
    'refs/remotes/origin/HEAD',
    'refs/remotes/origin/main',
    'refs/tags/v1',
  ])
  const evil = at.git('rev-parse', 'refs/heads/main')
  assert.deepEqual(
    movedRefs.find(({ ref }) => ref === 'refs/heads/main'),
    { ref: 'refs/heads/main', from: base, to: evil },
  )
  const [seen = '', summary = ''] = ended.err.split(/^=== .*complete.*$/im)
  const commands = (text: string) =>
    [...text.matchAll(/(git (?:update-ref|symbolic-ref) .*)$/gm)].map(([, one]) => one)
  assert.equal(commands(seen).length, movedRefs.length, ended.err)
  assert.equal(commands(summary).length, movedRefs.length, ended.err)
  // What is new may stand in the way of what was deleted.
  execFileSync('bash', ['-ec', commands(summary).reverse().join('\n')], { cwd: at.repository })
  const ours = /refs\/(?:heads\/ralph|ralph)\//
  assert.equal(
    refs()
      .split('\n')
      .filter((line) => !ours.test(line))
      .join('\n'),
    before,
  )
  assert.deepEqual(at.git('status', '--porcelain'), '')
})

test('a run in which no other ref moves reports none', async () => {
  await using at = await place(['US-001'], { 'US-001': [good('US-001')] })
  const ended = await at.run([...GOOD, '--json'])
  assert.deepEqual(JSON.parse(ended.out).movedRefs, [], ended.err)
})

for (const [what, shell] of [
  ['removes the repository', 'rm -rf .git'],
  ['removes its objects', 'rm -rf .git/objects'],
  ['puts another in its place', 'rm -rf .git; git init -q'],
] as const)
  test(`an agent ${what}: the error names what is lost, what remains and how to go on`, async () => {
    await using at = await place(['US-001'], { 'US-001': [{ ...good('US-001'), shell }] })
    at.git('remote', 'add', 'upstream', 'https://ann:hunter2@example.com/x.git')
    const ended = await at.run([...GOOD, '--json'])
    assert.equal(ended.code, 64, ended.err)
    const [error] = JSON.parse(ended.out).errors
    assert.equal(error.path, join(at.repository, '.git'))
    assert.match(error.found, /an agent or a gate deleted the repository of this run/)
    assert.match(error.fix, /Commits that were never pushed are lost, and so is the state of the run\./)
    assert.ok(
      error.fix.includes(`the files that you need from ${at.repository} into it,`) &&
        error.fix.includes('clone it again from upstream'),
      error.fix,
    )
    assert.doesNotMatch(ended.err + ended.out, /is saved|hunter2/)
    assert.equal(readFileSync(join(at.repository, 'src/US-001.txt'), 'utf8'), 'good US-001\n')
  })

for (const [what, shell] of [
  ["Ralph's own folder", 'rm -rf .git/ralph'],
  ['refs, HEAD and configuration', 'rm -rf .git/refs .git/packed-refs .git/HEAD .git/config .git/info'],
] as const)
  test(`an agent removes ${what}: the run goes on, and the user's refs that are lost are reported`, async () => {
    await using at = await place(['US-001', 'US-002'], {
      'US-001': [{ ...good('US-001'), shell }],
      'US-002': [good('US-002')],
    })
    const main = at.git('rev-parse', 'main')
    const ended = await at.run([...GOOD, '--json'])
    assert.equal(ended.code, 0, ended.err)
    const lost = JSON.parse(ended.out).movedRefs
    assert.deepEqual(lost, shell.includes('refs') ? [{ ref: 'refs/heads/main', from: main, to: null }] : [])
    assert.ok(at.state().prd.userStories.every((story) => story.passes))
    assert.equal(at.git('status', '--porcelain'), '')
  })

test('an agent removes the .git file of a linked work tree, or its folder in .git: both are restored', async () => {
  await using at = await place(['US-001', 'US-002'], {
    'US-001': [{ ...good('US-001'), shell: 'rm .git' }],
    'US-002': [{ ...good('US-002'), shell: 'rm -rf "$(git rev-parse --git-dir)"' }],
  })
  const linked = join(at.folder, 'linked')
  at.git('worktree', 'add', '-q', '-b', 'there', linked)
  const ended = await at.run(GOOD, linked)
  assert.equal(ended.code, 0, ended.err)
  assert.equal(at.git('-C', linked, 'status', '--porcelain'), '')
  assert.equal(at.git('-C', linked, 'branch', '--show-current'), 'ralph/sample')
})

test('`retry --fresh` discards the saved work of a story; without it the story goes on from it', async () => {
  await using at = await place(['US-001'], { 'US-001': [{ files: { 'src/bad.txt': 'bad' } }] })
  const once = [...GOOD, '--max-attempts', '1']
  const steer = (...args: string[]) =>
    execFileSync(process.execPath, [CLI, 'retry', ...args], { cwd: at.repository, encoding: 'utf8' })
  assert.equal((await at.run(once)).code, 1)
  await at.setScript({
    'US-001': [{ files: { 'src/seen.txt': 'bad' }, shell: 'cp src/bad.txt src/again.txt' }],
  })
  steer('US-001', '--', 'again')
  assert.equal((await at.run(once)).code, 1)
  assert.ok(
    at
      .git('ls-tree', '-r', '--name-only', `${STATE_REF}:.ralph-state/kept/US-001/work`)
      .includes('src/again.txt'),
  )
  await at.setScript({ 'US-001': [{ shell: 'ls src >src/listed.txt' }] })
  steer('US-001', '--fresh', '--', 'from the beginning')
  assert.equal((await at.run(once)).code, 0)
  assert.deepEqual(at.git('show', 'ralph/sample:src/listed.txt').split('\n'), ['base.txt', 'listed.txt'])
})

test('the log of every gate is kept for every attempt, beside its transcript', async () => {
  await using at = await place(['US-001'], {
    'US-001': [{ files: { 'src/a.txt': 'bad' } }, { files: { 'src/a.txt': 'good' } }],
  })
  const ended = await at.run([
    '--gate',
    'good=cat src/a.txt src/base.txt; ! grep -rq bad src',
    '--prepare',
    'true',
    '--weakened-tests',
    'off',
  ])
  assert.equal(ended.code, 0, ended.err)
  const there = (folder: string) => readdirSync(join(at.repository, '.git/ralph', folder, '1-sample')).sort()
  assert.deepEqual(there('logs'), [
    'US-001-1-good.log',
    // The gates of the first attempt at the last story run in a clean clone.
    'US-001-1-prepare.log',
    'US-001-2-good.log',
    'baseline-good.log',
    'prepare.log',
    'verify-2-1-good.log',
    'verify-2-1-prepare.log',
  ])
  assert.deepEqual(there('transcripts').slice(0, 2), ['US-001-1.log', 'US-001-2.log'])
  const [first, second] = ['1', '2'].map((number) =>
    readFileSync(join(at.repository, `.git/ralph/logs/1-sample/US-001-${number}-good.log`), 'utf8'),
  )
  assert.ok(first?.startsWith('bad') && second?.startsWith('good'), `${first} ${second}`)
})

test('the demo of the bundle passes two stories, one of them after a red gate', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-demo-test-'))
  try {
    const env = { PATH: process.env.PATH ?? '', HOME: folder, TMPDIR: folder }
    const child = spawn(process.execPath, [CLI, 'demo', '--json'], { env, cwd: folder })
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    assert.equal(child.exitCode, 0, err)
    const answer = JSON.parse(out)
    assert.deepEqual(
      [answer.outcome, answer.storiesPassed, answer.storiesTotal, answer.iterations],
      ['complete', 2, 2, 3],
    )
    // What a newcomer sees at the end of it fits into a screen of 24 lines, with the gate that disagreed.
    const screen = err.trimEnd().split('\n').slice(-24).join('\n')
    assert.match(err, /^No model, no money: a scripted agent that makes one mistake\.$/m)
    assert.match(
      screen,
      /^The agent said DONE\. The gate disagrees\.\n {2}\[test\] FAILED: water boils at 212 F: 87\.\d+ is not 212$/m,
    )
    assert.match(screen, /^Criteria proved: 5\. /m)
    // Its command works as it is printed, without an alias or an installed program.
    const line = screen.split('\n').find((one) => one.includes(' report '))
    const last = line?.replace(' --open', '') ?? ''
    const report = spawn('bash', ['-c', last], { env, cwd: folder })
    const [printed] = await Promise.all([text(report.stdout), once(report, 'exit')])
    assert.equal(report.exitCode, 0, last)
    const page = await readFile(printed.trim(), 'utf8')
    assert.match(page, /proved/)
    assert.match(page, /water freezes at 32 F/)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
