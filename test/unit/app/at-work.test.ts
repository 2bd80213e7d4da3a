// Whether the holder of a lease is at work: its process, its state, and the lease's expiry.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { test } from 'node:test'
import { isAlive } from '../../../src/app/at-work.ts'
import type { Lease } from '../../../src/engine/model/state.ts'
import { isStopped, processStart } from '../../../src/system/process-table.ts'

const [PAST, FUTURE] = [Date.now() - 10 * 24 * 3_600_000, Date.now() + 3_600_000]

async function holder() {
  const child = spawn('sleep', ['60'])
  await once(child, 'spawn')
  const pid = child.pid ?? assert.fail()
  const startTime = (await processStart(pid)) ?? assert.fail()
  const lease = (expiresAt: number, host = hostname()): Lease => ({
    holder: 'x',
    nonce: 'n',
    expiresAt,
    runId: null,
    runAttempt: null,
    url: null,
    host,
    pid,
    startTime,
    mark: 'm',
  })
  const stopped = async () => {
    process.kill(pid, 'SIGSTOP')
    while (!(await isStopped(pid))) await new Promise(setImmediate)
  }
  return { pid, lease, stopped, [Symbol.dispose]: () => child.kill('SIGKILL') }
}

test('a process that runs keeps its lease after it expired: it may wait for a limit', async () => {
  using here = await holder()
  assert.equal(await isAlive(here.lease(FUTURE)), true)
  assert.equal(await isAlive(here.lease(PAST)), true)
})

test('a process that was stopped loses its lease when it expires', async () => {
  using here = await holder()
  await here.stopped()
  assert.equal(await isAlive(here.lease(FUTURE)), true)
  assert.equal(await isAlive(here.lease(PAST)), false)
})

test('of another machine only the expiry is known', async () => {
  using here = await holder()
  assert.equal(await isAlive(here.lease(FUTURE, 'elsewhere')), true)
  assert.equal(await isAlive(here.lease(PAST, 'elsewhere')), false)
})
