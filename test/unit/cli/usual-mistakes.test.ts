// What a person reads after the mistakes that people make most: what happened, and what to do.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bad, FOLDER, GATE, good, openPlace } from './place.ts'

test('a run refuses uncommitted changes before it installs the agent', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  await place.write({ 'src/mine.txt': 'x' })
  const npm = { npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' }
  const flags = ['--agent', 'claude', '--agent-version', '1.0.0', ...GATE]
  const { code, out, err } = await place.start(['run', ...flags], { env: npm }).ended
  assert.equal(code, 64, out)
  assert.doesNotMatch(out, /install/)
  assert.equal(
    err,
    'error: work tree: there are uncommitted changes: src/mine.txt.\n  fix: commit or stash them, then run again\n',
  )
})

test('log after Ctrl+C says that the session printed nothing, and which command shows a log', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  const run = place.start(['run', '--agent', 'custom', '--agent-command', 'sleep 60', ...GATE])
  await new Promise<void>((resolve) => {
    run.stdout?.on('data', (text: string) => text.includes('working on US-001') && resolve())
  })
  run.kill('SIGINT')
  assert.equal((await run.ended).code, 130)
  assert.match(
    (await place.ralph('log', 'US-001')).out,
    /^== .*US-001-1\.log\n\(the session printed nothing before it ended; ralph why shows how it ended\)$/m,
  )
  assert.match((await place.ralph('log')).out, /\.log\nTo read one: ralph log US-001, ralph log baseline\n$/)
})

test('stop and pause say that no run is at work', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  await place.setScript({ 'US-001': [bad('US-001'), good('US-001')] })
  const idle = 'no run is working on sample, so '
  assert.equal((await place.ralph('stop')).out, 'sample is paused. To start it, type ralph run sample\n')
  await place.ralph('run', ...place.agent, ...GATE, '--max-attempts', '1')
  const before = (await place.ralph('status')).out
  assert.match(before, /^Stuck: US-001 is blocked/m)
  for (const command of ['stop', 'pause'])
    assert.match(
      (await place.ralph(command)).out,
      new RegExp(
        `^${idle}there is nothing to ${command}\\nNext: Run ralph why US-001 to see what failed. Give a hint with ralph retry US-001`,
      ),
    )
  assert.equal((await place.ralph('status')).out, before, 'how the run ended is not hidden')
})

test('why, diff and log take the name of a feature for the feature', async () => {
  const other = { userStories: [{ id: 'B-1', title: 'b', acceptanceCriteria: ['x'] }] }
  await using place = await openPlace([{ id: 'US-001' }], {
    '.ralph/2026-02-01-other/prd.json': JSON.stringify(other),
  })
  assert.equal(
    (await place.ralph('why', 'other')).out,
    'nothing to explain: no run of other has begun. Start it with ralph run other\n',
  )
  await place.setScript({ 'US-001': [{ files: { 'src/left.txt': 'bad\n' } }] })
  await place.ralph('run', 'sample', ...place.agent, ...GATE, '--max-attempts', '1')
  assert.match((await place.ralph('why', 'sample')).out, /^US-001 /)
  assert.match((await place.ralph('diff', 'sample')).out, / on ralph\/sample since main\n/)
  assert.match((await place.ralph('log', 'sample')).out, /US-001-1\.log$/m)
  const wrong = await place.ralph('why', 'US-009', '--feature', 'sample')
  assert.match(wrong.err, /there is no story US-009/)
})

test('a mistake in prd.json names the id of the story, and --json also its place in the list', async () => {
  await using place = await openPlace([
    { id: 'US-001' },
    { id: 'US-002', title: '', dependsOn: ['US-009'] },
    { id: 'US-003', acceptanceCriteria: [] },
    { id: 'US-003' },
  ])
  const { err } = await place.ralph('validate', ...place.agent, ...GATE)
  const places = err.split('\n').flatMap((line) => /prd\.json: (.*?): found/.exec(line)?.[1] ?? [])
  assert.deepEqual(places, [
    'US-002, title',
    // Two stories have this id: only the place in the list distinguishes them.
    'userStories[2].acceptanceCriteria',
    'userStories[3].id',
    'US-002, dependsOn[0]',
  ])
  const { errors } = await place.json('validate', ...place.agent, ...GATE)
  assert.ok(Array.isArray(errors))
  assert.equal(errors[0].path, `${FOLDER}/prd.json: userStories[1].title`)
})

test('archive names the uncommitted file once, and the commands that help', async () => {
  await using place = await openPlace([{ id: 'US-001' }])
  const folder = '.ralph/2026-02-01-other'
  const stories = { userStories: [{ id: 'B-1', title: 'b', acceptanceCriteria: ['x'] }] }
  await place.write({ [`${folder}/prd.json`]: JSON.stringify(stories) })
  assert.equal(
    (await place.ralph('archive', 'other')).err,
    `error: ${folder}/prd.json: this file has uncommitted changes, and Ralph archives only what is committed.\n  fix: git add -A ${folder} && git commit -m "docs: stories", then ralph archive other\n`,
  )
})

const UNITTEST = (failed: number, all: number) =>
  `for n in ${[...Array(failed).keys()].join(' ')}; do printf 'FAIL: test_%s (t.T.test_%s)\\n' $n $n; done; printf 'Ran ${all} tests in 0.001s\\n\\nFAILED (failures=${failed})\\n'; exit 1`

test('doctor counts the tests of a gate, also if the base may fail some or all of them', async () => {
  const gates = {
    green: "printf 'Ran 3 tests in 0.001s\\n\\nOK\\n'",
    some: UNITTEST(2, 5),
    all: UNITTEST(1, 1),
  }
  await using place = await openPlace([{ id: 'US-001' }], {
    'ralph.config.yml': JSON.stringify({ baseline: 'known-red', gates }),
  })
  const { findings } = await place.json('doctor', ...place.agent)
  assert.ok(Array.isArray(findings))
  const gate = (name: string) => findings.find((one) => one.name === `gate ${name}`).found
  assert.match(gate('green'), /^green on main \(\w+\): 3 tests in /)
  const allowed = /on main \(\w+\), which `baseline: known-red` allows: test_0 \(t\.T\.test_0\)/
  assert.match(gate('some'), new RegExp(`^2 of 5 tests fail ${allowed.source}, test_1`))
  assert.match(gate('all'), new RegExp(`^1 of 1 tests fail ${allowed.source}$`))
})
