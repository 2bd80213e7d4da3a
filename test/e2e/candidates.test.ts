// `candidates`: several sessions on one story from the same commit, of which the gates choose one.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import type { State } from '../../src/engine/model/state.ts'
import { place as openPlace } from './laptop.ts'
import { goodTurn, openSite, type Script, story, type Turn } from './site.ts'

const STATE_REF = 'refs/ralph/2026-01-31-sample'
const GATE = 'good=! grep -rq bad src'

async function place(
  script: Script,
  ids: readonly string[] = ['US-001'],
  files: Record<string, string> = {},
) {
  const userStories = ids.map((id) => story(id, `part ${id}`))
  const prd = JSON.stringify({ schemaVersion: 2, userStories })
  const at = await openPlace({ '.ralph/2026-01-31-sample/prd.json': prd, ...files }, script)
  return {
    ...at,
    run: (...args: string[]) => at.ralph(['run', '--no-final-verification', '--gate', GATE, ...args]),
    start: (...args: string[]) => at.start(['run', '--no-final-verification', '--gate', GATE, ...args]),
    state: (): State => JSON.parse(at.git('show', `${STATE_REF}:.ralph-state/state.json`)),
    landed: (path: string) => at.git('show', `ralph/sample:${path}`),
  }
}

const wrote = (text: string, more: Record<string, unknown> = {}) => ({
  files: { 'src/a.txt': text },
  ...more,
})
const [LARGE, BAD, SMALL] = ['one\ntwo\nthree\n', 'bad\n', 'one\n']

test('candidates: 3 commits the smallest change that passed its gates, and counts the cost of all three sessions', async () => {
  await using at = await place({ 'US-001': [[wrote(LARGE), wrote(BAD), wrote(SMALL)]] })
  const { code, out, err } = await at.run('--candidates', '3')
  assert.equal(code, 0, err)
  assert.equal(at.landed('src/a.txt'), 'one')
  assert.match(out, /candidate 1: passed its gates, 3 lines changed/)
  assert.match(out, /candidate 2: gate good failed/)
  assert.match(out, /candidate 3 is chosen/)
  const { prd, sessions, attempts, contests } = at.state()
  assert.equal(prd.run.iterations, 3)
  assert.equal(sessions.filter(({ kind }) => kind === 'run').length, 3)
  assert.deepEqual(attempts, {})
  assert.equal(contests, undefined)
  assert.equal(at.git('status', '--porcelain'), '')
  const prompts = await at.prompts()
  assert.equal(new Set(prompts).size, 1, 'every candidate begins with the same prompt')
})

test('when every candidate is red, the next attempt starts from the work of one, and its prompt has the reason', async () => {
  await using at = await place({
    'US-001': [
      [wrote(BAD), wrote('bad two\n')],
      [wrote(SMALL), wrote(LARGE)],
    ],
  })
  const { code, err } = await at.run('--candidates', '2')
  assert.equal(code, 0, err)
  assert.equal(at.landed('src/a.txt'), 'one')
  const [, , third = ''] = await at.prompts()
  assert.match(third, /gate good failed/)
  assert.equal(at.state().prd.userStories[0]?.lastResult?.attempts, 2)
})

test('candidates of a story with max-parallel: sessions run at the same time, each in a work tree of its own', async () => {
  await using at = await place({})
  const meeting = join(at.folder, 'meeting')
  const shell = `mkdir -p "${meeting}"; touch "${meeting}/$RALPH_STORY_ID-$$"; until [ "$(ls "${meeting}" | wc -l)" -ge 3 ]; do sleep 0.02; done`
  const all = [wrote(LARGE, { shell }), wrote(SMALL, { shell }), wrote(LARGE, { shell })]
  await at.setScript({ 'US-001': [all], 'US-002': [{ files: { 'src/b.txt': 'b\n' } }] })
  const { code, err } = await at.run('--candidates', '3', '--max-parallel', '3')
  assert.equal(code, 0, err)
  assert.equal(at.landed('src/a.txt'), 'one')
  assert.equal(readdirSync(meeting).length, 3)
  assert.equal(at.git('worktree', 'list').split('\n').length, 1)
  assert.equal(at.state().prd.run.iterations, 3)
})

/** A candidate that leaves its work in every place that a session can write to, and one that looks for it. */
const leaving = (more: Turn = {}): Turn => ({
  files: { 'src/a.txt': `${MARK} ${LARGE}`, 'made/cache.txt': MARK },
  shell: `git add -A; git -c user.name=a -c user.email=a@b commit -qm ${MARK}; git branch ${MARK}; echo 1 >>src/a.txt; git stash -q; git stash apply -q`,
  say: `${MARK}\n<ralph>DONE</ralph>`,
  ...more,
})
const searching = (seen: string, git: string): Turn => ({
  files: { 'src/a.txt': SMALL },
  shell: `{ grep -rlI ${MARK} . "$(dirname "$RALPH_PROMPT_FILE")" --exclude-dir=objects; ${git}; echo looked; } >"${seen}" 2>&1`,
})
const MARK = 'unmistakable'
const LOG = 'git log --all --format="%s %D"; git stash list; git reflog'
/** Work of another candidate, or a file that has it. */
const FOUND = new RegExp(`${MARK}|US-001|^[.]?/`, 'm')
const IGNORES = { '.gitignore': 'made/\n' }

test('a candidate finds nothing of an earlier one in the checkout, and all logs are there at the end', async () => {
  await using at = await place({}, undefined, IGNORES)
  const seen = join(at.folder, 'seen')
  const gate = 'makes=mkdir -p made; cp src/a.txt made/of-gates; cat src/a.txt; true'
  // On a laptop the refs of a session are the person's, and stay.
  await at.setScript({ 'US-001': [[leaving({ shell: '' }), searching(seen, 'git stash list; ls made')]] })
  const { code, err } = await at.run('--gate', gate, '--candidates', '2')
  assert.equal(code, 0, err)
  assert.match(readFileSync(seen, 'utf8'), /^ls: .*made.*\nlooked\n$/)
  assert.equal(
    readFileSync(join(at.repository, 'made/cache.txt'), 'utf8'),
    MARK,
    'it is back when the run ends',
  )
  const logs = readdirSync(join(at.repository, '.git/ralph/transcripts/1-sample'))
  assert.deepEqual(logs.sort(), ['US-001-1.log', 'US-001-2.log'])
})

test('a candidate in a work tree that an earlier one worked in finds no file, branch or stash of it', async () => {
  await using at = await place({}, undefined, IGNORES)
  const seen = join(at.folder, 'seen')
  const begun = join(at.folder, 'begun')
  const waits = { files: { 'src/a.txt': LARGE }, shell: `until [ -e "${begun}" ]; do sleep 0.02; done` }
  const last = searching(seen, LOG)
  last.shell = `touch "${begun}"; ${last.shell?.replace('. "$(dirname "$RALPH_PROMPT_FILE")"', '.')}`
  await at.setScript({ 'US-001': [[leaving(), waits, last]] })
  const { code, err } = await at.run('--candidates', '3', '--max-parallel', '2')
  assert.equal(code, 0, err)
  const found = readFileSync(seen, 'utf8')
  assert.match(found, /looked/)
  assert.doesNotMatch(found, FOUND)
})

test('a run killed between two candidates does not repeat the finished one', async () => {
  await using at = await place({})
  const mark = join(at.folder, 'second')
  // The second session waits when it is begun for the first time.
  const waits = `[ -e "${mark}" ] || { touch "${mark}"; echo at work; sleep 60; }`
  await at.setScript({ 'US-001': [[wrote(SMALL), wrote(LARGE, { shell: waits }), wrote(LARGE)]] })
  const run = at.start('--candidates', '3')
  let text = ''
  const isAtWork = new Promise<void>((resolve) => {
    run.stdout?.on('data', (chunk) => {
      text += chunk
      if (/candidate 1: passed its gates[\s\S]*at work/.test(text)) resolve()
    })
  })
  await Promise.race([isAtWork, run.ended.then(() => assert.fail(`the run ended:\n${text}`))])
  run.kill('SIGKILL')
  await run.ended
  const { code, err } = await at.run('--candidates', '3')
  assert.equal(code, 0, err)
  assert.equal(at.landed('src/a.txt'), 'one')
  assert.equal((await at.prompts()).length, 4, 'one of the sessions was lost with the process')
  assert.equal(at.state().contests, undefined)
})

test("a run killed in a step after the commit: the chosen candidate is committed once, and is not taken for a person's commit", async () => {
  const marks = await mkdtemp(join(tmpdir(), 'ralph-marks-'))
  const pipe = join(marks, 'pipe')
  execFileSync('mkfifo', [pipe])
  const once = `[ -f "${marks}/begun" ] || { touch "${marks}/begun"; cat "${pipe}"; }`
  const tell = `{ name: tell, type: command, config: { command: ${JSON.stringify(once)} } }`
  await using at = await place({ 'US-001': [[wrote(SMALL), { files: { 'src/b.txt': LARGE } }]] })
  await at.write({
    'ralph.config.yml': `steps: [{ name: work, type: agent }, { name: commit, type: git-commit }, ${tell}]`,
  })
  at.git('add', '-A')
  at.git('commit', '-qm', 'steps')
  const run = at.start('--candidates', '2')
  const held = await open(pipe, 'w')
  run.kill('SIGKILL')
  await run.ended
  await held.close()
  const { code, err } = await at.run('--candidates', '2')
  await rm(marks, { recursive: true })
  assert.equal(code, 0, err)
  assert.equal(at.landed('src/a.txt'), 'one')
  assert.equal((await at.prompts()).length, 2, 'no session is repeated')
  assert.equal(at.git('status', '--porcelain'), '')
})

const chosen = (lines: number) => ({
  ...goodTurn('one', 1),
  files: { ...goodTurn('one', 1).files, 'src/lines.mjs': '// line\n'.repeat(lines) },
})

for (const [name, options] of Object.entries({
  'a chain of jobs with one iteration each': { inputs: { 'iterations-per-job': '1' } },
  'a wave of two workers': { parallel: true, inputs: { 'max-parallel': '2' } },
  'separate-job': { separate: true, inputs: {} },
  'separate-job with three workers': { separate: true, parallel: true, inputs: { 'max-parallel': '3' } },
}))
  test(`candidates in ${name}: one of all of them is chosen, whichever job made it`, async () => {
    await using site = await openSite({
      ...options,
      stories: [story('US-001', 'one')],
      script: { 'US-001': [[chosen(3), chosen(1), chosen(2)]] },
      inputs: { candidates: '3', ...options.inputs },
    })
    await site.go()
    const { prd, contests } = await site.state()
    assert.equal(prd.run.outcome, 'complete', site.log())
    assert.equal(prd.run.iterations, 3)
    assert.equal(contests, undefined)
    assert.equal(await site.github.read('ralph/sample', 'src/lines.mjs'), '// line\n')
  })

test('in one job of the action a candidate finds nothing of an earlier one, in files or in git', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-seen-'))
  const seen = join(folder, 'seen')
  await using site = await openSite({
    stories: [story('US-001', 'one')],
    files: IGNORES,
    script: { 'US-001': [[leaving(), searching(seen, LOG)]] },
    inputs: { candidates: '2' },
  })
  await site.go()
  const found = readFileSync(seen, 'utf8')
  await rm(folder, { recursive: true })
  assert.equal((await site.state()).prd.run.outcome, 'complete')
  assert.match(found, /looked/)
  assert.doesNotMatch(found, FOUND)
})

for (const [isAnew, separate] of [
  [false, false],
  [true, false],
  [false, true],
] as const)
  test(`${separate ? 'separate-job' : 'one job'}, paused between two candidates: the next run ${isAnew ? 'makes all of them again after retry --fresh' : 'chooses among those that exist and the rest'}`, async () => {
    await using site = await openSite({
      stories: [story('US-001', 'one')],
      script: {},
      separate,
      inputs: { candidates: '3' },
    })
    const { runner, github } = site
    const middle = site.hold('middle')
    await site.setScript({ 'US-001': [[{ ...chosen(3), shell: middle.shell }, chosen(1), chosen(2)]] })
    await runner.dispatch('ralph.yml', { feature: 'sample' }, { actor: 'alice' })
    await middle.reached()
    const { number } = await site.pull()
    github.comment('alice', number, '/ralph pause')
    await middle.release()
    await runner.settled()
    const paused = await site.state()
    assert.equal(paused.prd.run.outcome, 'paused')
    assert.equal(paused.contests?.['US-001']?.done.length, 1)
    assert.notEqual(paused.contests?.['US-001']?.base, paused.green, 'the end of the run is a commit')
    await site.setScript({ 'US-001': [[chosen(3), chosen(1), chosen(2)]] })
    if (isAnew) await site.say('alice', '/ralph retry US-001 --fresh')
    await site.say('alice', '/ralph run')
    const { prd, contests } = await site.state()
    assert.equal(prd.run.outcome, 'complete')
    assert.equal(contests, undefined)
    // The candidate that was done is chosen and rebased, or all of them are made anew.
    assert.equal(prd.run.iterations, isAnew ? 4 : 1)
    assert.equal(await site.github.read('ralph/sample', 'src/lines.mjs'), '// line\n'.repeat(isAnew ? 1 : 3))
  })
