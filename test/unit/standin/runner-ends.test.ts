// How jobs of the stand-in's runner end before their time: cancelled, timed out, lost, pushed out of a queue.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { client } from './client.ts'
import { says, startSample } from './sample.ts'

const times = { minute: 150, interrupt: 100, terminate: 100, streams: 300 }
/** Where no limit of minutes is to come: on a busy machine a step takes longer than five of those. */
const unhurried = { ...times, minute: 60_000 }
const workflow = (step: string, more = ''): string => `on: { workflow_dispatch: { inputs: { n: {} } } }
jobs:
  work:
    runs-on: x
${more}    steps:
      - { uses: ralph/action@v1${step} }
      - { run: echo after }
      - { run: echo cleanup, if: cancelled() }
  rescue: { needs: work, if: always(), runs-on: x, steps: [{ run: 'echo \${{ needs.work.result }}' }] }
`
const stubborn = `
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => console.log('got', signal))
setInterval(() => {}, 1000)
console.log('ready')`
const graceful = `
import { appendFileSync } from 'node:fs'
appendFileSync(process.env.GITHUB_STATE, 'saved=yes\\n')
process.on('SIGINT', () => { appendFileSync(process.env.GITHUB_OUTPUT, 'outcome=interrupted\\n'); process.exit(130) })
setInterval(() => {}, 1000)
console.log('ready')`
const post = "console.log('post', process.env.STATE_saved)"

/** Whether a process has ended; where nobody reaps orphans, a zombie is as good. */
async function isGone(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat === '' || /\) [ZX] /.test(stat)
}

/** Nobody tells of the end of somebody else's child, and a killed one ends when a busy machine comes to it. */
async function isGoneSoon(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 500; tries++) {
    if (await isGone(pid)) return true
    await delay(10)
  }
  return false
}

describe('a cancelled job in the stand-in runner', () => {
  it('may end by itself: its output counts, and cancelled() and post steps run', async () => {
    await using sample = await startSample({
      main: graceful,
      post,
      workflows: { 'ralph.yml': workflow('') },
      runner: { times: unhurried },
    })
    const { runner, github } = sample
    await runner.dispatch('ralph.yml')
    const run = await says(runner, 'ready')
    const { status } = await client(
      github,
      github.mintJobToken({ actions: 'write' }),
    )(`POST ~/actions/runs/${run.id}/cancel`)
    assert.equal(status, 202)
    await runner.settled()
    const [work, rescue] = run.jobs
    assert.deepEqual(
      work?.steps.map((step) => step.conclusion),
      ['cancelled', 'skipped', 'success', 'success'],
    )
    assert.equal(work?.steps[0]?.outputs.outcome, 'interrupted')
    assert.equal(work?.steps[3]?.log, 'post yes\n')
    assert.deepEqual(
      [work?.conclusion, rescue?.steps[0]?.log, run.conclusion],
      ['cancelled', 'cancelled\n', 'cancelled'],
    )
    assert.deepEqual(github.violations, [])
  })

  it('is killed after SIGINT and SIGTERM', async () => {
    await using sample = await startSample({
      main: stubborn,
      workflows: { 'ralph.yml': workflow('') },
      runner: { times: unhurried },
    })
    await sample.runner.dispatch('ralph.yml')
    const run = await says(sample.runner, 'ready')
    sample.runner.cancel(run.id)
    await sample.runner.settled()
    const step = run.jobs[0]?.steps[0]
    assert.match(step?.log ?? '', /^ready\ngot SIGINT\ngot SIGTERM\nError: The operation was canceled\.\n$/)
  })

  it('goes on with a step whose condition still holds', async () => {
    const main = `console.log('ready'); setTimeout(() => console.log('done'), 300)`
    await using sample = await startSample({
      main,
      workflows: { 'ralph.yml': workflow(', if: always()') },
      runner: { times: unhurried },
    })
    await sample.runner.dispatch('ralph.yml')
    const run = await says(sample.runner, 'ready')
    sample.runner.cancel(run.id)
    await sample.runner.settled()
    assert.deepEqual([run.jobs[0]?.steps[0]?.conclusion, run.jobs[0]?.conclusion], ['success', 'cancelled'])
  })

  it('gets no signal to its children, and its orphans are ended', async () => {
    const main = `
import { spawn } from 'node:child_process'
const child = spawn(process.execPath, ['-e', "process.on('SIGINT', () => console.log('child got it')); console.log('ready ' + process.pid); setInterval(() => {}, 1000)"], { stdio: 'inherit', detached: true })
process.on('SIGINT', () => process.exit(1))`
    await using sample = await startSample({
      main,
      workflows: { 'ralph.yml': workflow('') },
      runner: { times: unhurried },
    })
    await sample.runner.dispatch('ralph.yml')
    const run = await says(sample.runner, 'ready')
    sample.runner.cancel(run.id)
    await sample.runner.settled()
    const log = run.jobs[0]?.steps[0]?.log ?? ''
    assert.doesNotMatch(log, /child got it/)
    const pid = Number(/ready (\d+)/.exec(log)?.[1])
    assert.match(run.jobs[0]?.notes.join() ?? '', /orphan/)
    assert.equal(await isGoneSoon(pid), true)
  })
})

describe('a time limit in the stand-in runner', () => {
  it('of a step fails the step, and the job goes on', async () => {
    await using sample = await startSample({
      main: stubborn,
      post,
      workflows: { 'ralph.yml': workflow(', timeout-minutes: 1') },
      runner: { times },
    })
    const run = await sample.runner.dispatch('ralph.yml')
    await sample.runner.settled()
    const [work, rescue] = run.jobs
    assert.match(work?.steps[0]?.log ?? '', /has timed out after 1 minutes/)
    assert.deepEqual(
      work?.steps.map((step) => step.conclusion),
      ['failure', 'skipped', 'skipped', 'success'],
    )
    assert.equal(rescue?.steps[0]?.log, 'failure\n')
  })
  it('of a job cancels the job', async () => {
    await using sample = await startSample({
      main: graceful,
      workflows: { 'ralph.yml': workflow('', '    timeout-minutes: 4\n') },
      runner: { times },
    })
    const run = await sample.runner.dispatch('ralph.yml')
    await sample.runner.settled()
    const [work] = run.jobs
    assert.deepEqual(
      work?.steps.map((step) => step.conclusion),
      ['cancelled', 'skipped', 'success'],
    )
    assert.match(work?.notes.join() ?? '', /maximum execution time of 4m/)
    assert.equal(run.conclusion, 'cancelled')
  })
})

describe('a lost machine in the stand-in runner', () => {
  it('leaves nothing: no signal, no post step, no files; its token is invalid, and other jobs still run', async () => {
    await using sample = await startSample({
      main: graceful,
      post,
      workflows: { 'ralph.yml': workflow('') },
      runner: { times },
    })
    const { runner, github } = sample
    await runner.dispatch('ralph.yml')
    const run = await says(runner, 'ready')
    const token = run.jobs[0]?.token ?? ''
    runner.kill(run.id)
    await runner.settled()
    const [work, rescue] = run.jobs
    assert.deepEqual(
      work?.steps.map((step) => step.name),
      ['Run ralph/action@v1'],
    )
    assert.deepEqual([work?.steps[0]?.outputs, work?.conclusion], [{}, 'failure'])
    assert.equal(rescue?.steps[0]?.log, 'failure\n')
    assert.equal((await client(github, token)('GET ~')).status, 401)
  })
  it('with a warning ends the step in order, and runs nothing more', async () => {
    await using sample = await startSample({
      main: graceful,
      post,
      workflows: { 'ralph.yml': workflow('') },
      runner: { times },
    })
    await sample.runner.dispatch('ralph.yml')
    const run = await says(sample.runner, 'ready')
    sample.runner.shutdown(run.id)
    await sample.runner.settled()
    assert.deepEqual([run.jobs[0]?.steps.length, run.jobs[0]?.steps[0]?.outputs.outcome], [1, 'interrupted'])
    assert.equal(run.jobs[0]?.conclusion, 'failure')
  })
})

describe('a queue of the stand-in runner', () => {
  it('of length one drops the older of two that wait', async () => {
    await using sample = await startSample({
      main: graceful,
      workflows: { 'ralph.yml': workflow('', '    concurrency: ralph\n') },
      runner: { times },
    })
    const { runner } = sample
    const first = await runner.dispatch('ralph.yml', { n: 1 })
    await says(runner, 'ready')
    const second = await runner.dispatch('ralph.yml', { n: 2 })
    await runner.when((run) => run === second && run.status === 'pending')
    const third = await runner.dispatch('ralph.yml', { n: 3 })
    await runner.when((run) => run === third && run.status === 'pending')
    assert.deepEqual([second.jobs[0]?.conclusion, second.jobs[0]?.steps.length], ['cancelled', 0])
    runner.cancel(first.id)
    await runner.when(
      (run) => run === third && run.jobs.some((job) => job.steps.some((step) => step.log.includes('ready'))),
    )
    runner.cancel(third.id)
    await runner.settled()
    assert.equal(second.jobs[1]?.steps[0]?.log, 'cancelled\n')
  })

  it('can be left: a run that is cancelled while it waits runs nothing', async () => {
    await using sample = await startSample({
      main: graceful,
      workflows: {
        'ralph.yml': workflow('').replace('jobs:', 'concurrency: { group: ralph, queue: max }\njobs:'),
      },
      runner: { times },
    })
    const { runner } = sample
    const first = await runner.dispatch('ralph.yml')
    await says(runner, 'ready')
    const second = await runner.dispatch('ralph.yml')
    await runner.when((run) => run === second && run.status === 'pending')
    runner.cancel(second.id)
    await runner.when((run) => run === second && run.status === 'completed')
    assert.deepEqual([second.conclusion, second.jobs], ['cancelled', []])
    runner.cancel(first.id)
    await runner.settled()
  })
})

describe('the end of a test with the stand-in runner', () => {
  it('leaves no process', async () => {
    const sample = await startSample({
      main: `console.log('ready ' + process.pid); setInterval(() => {}, 1000)`,
      workflows: { 'ralph.yml': workflow('') },
    })
    await sample.runner.dispatch('ralph.yml')
    const run = await says(sample.runner, 'ready')
    const pid = Number(/ready (\d+)/.exec(run.jobs[0]?.steps[0]?.log ?? '')?.[1])
    await sample[Symbol.asyncDispose]()
    assert.equal(await isGoneSoon(pid), true)
  })
})
