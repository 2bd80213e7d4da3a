// `command: doctor`, `status` and `verify`: what they find stands in the summary and the outputs, and nothing is changed.
import '../fakes/disk.ts'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import test from 'node:test'
import { lacks } from '../machine/needs.ts'
import {
  annotationsOf,
  badTurn,
  goodTurn,
  openSite,
  outputsOf,
  type Script,
  type Site,
  story,
} from './site.ts'

const ACTION = 'ralph/action@0123456789abcdef0123456789abcdef01234567'

/** A workflow of its own, with no more than the command: what a run needs stands in ralph.yml. */
const looking = (command: string, inputs = '') => `name: ${command}
on:
  workflow_dispatch: { inputs: { feature: { type: string } } }
  schedule: [{ cron: '17 3 * * 1' }]
jobs:
  look:
    runs-on: ubuntu-24.04
    permissions: { contents: read, actions: read }
    steps:
      - uses: actions/checkout@v7
        with: { persist-credentials: false }
      - uses: ${ACTION}
        with:
          command: ${command}
          isolation: same-user
${inputs}`

const LOOKS = {
  '.github/workflows/doctor.yml': looking('doctor'),
  '.github/workflows/status.yml': looking('status'),
}

async function site(script: Script, more: Partial<Parameters<typeof openSite>[0]> = {}): Promise<Site> {
  return openSite({
    stories: [story('US-001', 'one')],
    script,
    workflow: (text) => text.replaceAll('ralph/action@<sha>', ACTION),
    files: LOOKS,
    ...more,
  })
}

async function look(place: Site, name: string, inputs: Record<string, string> = {}) {
  const before = [...(await place.github.bare.refs())]
  const run = await place.runner.dispatch(`${name}.yml`, inputs, { actor: 'alice' })
  await place.runner.settled()
  assert.deepEqual(place.github.violations, [], place.runner.log(run))
  assert.deepEqual([...(await place.github.bare.refs())], before, 'a ref has moved')
  assert.equal(place.last().id, run.id, 'something was dispatched')
  const summary = run.jobs.flatMap((job) => job.steps.map((step) => step.summary)).join('')
  return { run, summary }
}

test('doctor in the action: a sound repository ends as success, and each fault fails the job with its fix', async () => {
  await using place = await site({})
  const fine = await look(place, 'doctor')
  assert.equal(fine.run.conclusion, 'success', place.log())
  assert.match(fine.summary, /^## ✅ ralph doctor: ready/)
  assert.match(fine.summary, /gate test \| green on main/)
  assert.match(fine.summary, /settings\/actions/, 'what its token may not see is told, with where to look')
  assert.equal(outputsOf(fine.run).outcome ?? '', '')

  const yml = (await place.github.read('main', '.github/workflows/ralph.yml')) ?? ''
  await place.github.commit('main', {
    '.github/workflows/ralph.yml': yml.replace('actions: write # the next job', '# nothing'),
    'test/base.test.mjs':
      "import test from 'node:test'\n\ntest('base', () => {\n  throw new Error('FAIL: red')\n})\n",
  })
  const red = await look(place, 'doctor')
  assert.equal(red.run.conclusion, 'failure', place.log())
  assert.match(red.summary, /^## ❌ ralph doctor: not ready \(2 faults/)
  assert.match(red.summary, /job work lacks actions: write/)
  assert.match(red.summary, /gate test \| exit 1 on main/)
  const [error = ''] = annotationsOf(red.run, 'error')
  assert.match(error, /not ready: 2 faults.*\n[\s\S]*fix: /)
})

test('doctor on a schedule reports a configuration that is invalid', async () => {
  await using place = await site({}, { files: { ...LOOKS, 'ralph.config.yml': 'maxAttempts: many\n' } })
  const runs = await place.runner.trigger('schedule')
  await place.runner.settled()
  const run = runs.find(({ workflow }) => workflow.endsWith('doctor.yml'))
  const summary = run?.jobs.flatMap((job) => job.steps.map((step) => step.summary)).join('')
  assert.equal(run?.conclusion, 'failure', place.log())
  assert.match(summary ?? '', /maxAttempts/)
  assert.match(summary ?? '', /gate test/, 'the other checks are run all the same')
})

test('status in the action reports a feature before a run, after it, and one that does not exist', async () => {
  await using place = await site({ 'US-001': [goodTurn('one', 1)] })
  const before = await look(place, 'status')
  assert.equal(before.run.conclusion, 'success', place.log())
  assert.match(annotationsOf(before.run, 'notice').join('\n'), /no run has begun yet/)
  assert.equal(outputsOf(await place.go()).outcome, 'complete', place.log())
  const after = await look(place, 'status')
  assert.equal(after.run.conclusion, 'success', place.log())
  assert.match(after.summary, /1\/1/)
  assert.match(after.summary, /US-001/)
  const { outcome, feature, branch } = outputsOf(after.run)
  assert.deepEqual([outcome, feature, branch], ['complete', 'sample', 'ralph/sample'])
  const wrong = await look(place, 'status', { feature: 'simple' })
  assert.equal(wrong.run.conclusion, 'failure')
  assert.match(
    annotationsOf(wrong.run, 'error').join('\n'),
    /feature: no run of simple has begun[\s\S]*sample/,
  )
})

test('verify in the action runs gates and a judge on the branch, and reports both', async () => {
  const script: Script = { 'US-001': [goodTurn('one', 1)] }
  await using place = await site(script)
  // The command beside the settings of ralph.yml.
  const yml = (await place.github.read('main', '.github/workflows/ralph.yml')) ?? ''
  const text = yml.replace(/( +)with:\n( +agent: )/, '$1with:\n          command: verify\n$2')
  assert.notEqual(text, yml)
  await place.github.commit('main', {
    '.github/workflows/verify.yml': text.replace(/^name: .*/m, 'name: Verify'),
  })

  const early = await look(place, 'verify')
  assert.equal(early.run.conclusion, 'failure')
  assert.match(
    annotationsOf(early.run, 'error').join('\n'),
    /no run of sample has begun, so there is no branch to verify[\s\S]*Run workflow/,
  )

  assert.equal(outputsOf(await place.go()).outcome, 'complete', place.log())
  const fine = await look(place, 'verify')
  assert.equal(fine.run.conclusion, 'success', place.log())
  assert.match(fine.summary, /VERIFIED: every criterion of 1 story is met/)
  assert.equal(outputsOf(fine.run).outcome, 'complete')

  await place.setScript({
    ...script,
    verify: [{ say: '<ralph>RESET:US-001</ralph><ralph>REASON:no test</ralph>' }],
  })
  const reset = await look(place, 'verify')
  assert.equal(reset.run.conclusion, 'failure', place.log())
  assert.match(annotationsOf(reset.run, 'error').join('\n'), /NOT VERIFIED: US-001: no test/)

  await place.github.commit('ralph/sample', badTurn('one', 1).files ?? {})
  const red = await look(place, 'verify')
  assert.equal(red.run.conclusion, 'failure')
  assert.match(red.summary, /NOT VERIFIED: gate test fails/)
  assert.match(red.summary, /Output of test/)
  assert.equal((await place.prd()).userStories[0]?.passes, true, 'the run stands as before')
})

test('doctor with other-user and a closed network tries both, and leaves no user and no network rule', {
  skip: lacks('root'),
}, async () => {
  const accounts = () => readFile('/etc/passwd', 'utf8')
  const before = await accounts()
  const inputs = { isolation: 'other-user', gates: 'who: "[ $(id -un) != root ]"' }
  const files = {
    ...LOOKS,
    '.github/workflows/doctor.yml': looking('doctor').replace(/ +isolation:.*\n/, ''),
  }
  await using place = await site({}, { inputs, files })
  const { run, summary } = await look(place, 'doctor')
  assert.equal(run.conclusion, 'success', place.log())
  assert.match(
    summary,
    /isolation \| other-user: agent and gates run as ralph-[0-9a-f]+, their network closed/,
  )
  assert.match(summary, /gate who \| green/)
  assert.equal(await accounts(), before, 'an account was left')
})

test('doctor cancelled while a gate runs as another user ends the gate, and leaves no user and no network rule', {
  skip: lacks('root'),
}, async () => {
  const accounts = () => readFile('/etc/passwd', 'utf8')
  const before = await accounts()
  const inputs = { isolation: 'other-user', gates: 'slow: sleep 86421' }
  const files = {
    ...LOOKS,
    '.github/workflows/doctor.yml': looking('doctor').replace(/ +isolation:.*\n/, ''),
  }
  await using place = await site({}, { inputs, files })
  const { runner } = place
  const run = await runner.dispatch('doctor.yml', {}, { actor: 'alice' })
  const begun = await runner.when(
    (one) => runner.log(one).includes('looking at gate slow') || one.status === 'completed',
  )
  assert.notEqual(begun.status, 'completed', place.log())
  runner.cancel(run.id)
  await runner.settled()
  assert.equal(run.conclusion, 'cancelled', place.log())
  assert.equal(await accounts(), before, 'an account was left')
  const left = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
  assert.ok(!left.includes('sleep 86421'), 'the gate is still there')
})

test('verify gives the agent no token that separate-job keeps from it', async () => {
  const verify = looking('verify').replace('isolation: same-user', 'isolation: separate-job')
  await using place = await site(
    {},
    { files: { '.github/workflows/verify.yml': `${verify}          gates: 'test: exit 0'\n` } },
  )
  const { run } = await look(place, 'verify')
  assert.equal(run.conclusion, 'failure', place.log())
  assert.match(annotationsOf(run, 'error').join('\n'), /isolation: separate-job[\s\S]*comment \/ralph verify/)
})
