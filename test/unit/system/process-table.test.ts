import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { isProcessAlive, processStart, ps } from '../../../src/system/process-table.ts'

test('a process is identified by its start time', async () => {
  const start = await processStart(process.pid)
  assert.ok(start)
  assert.equal(await isProcessAlive(process.pid, start), true)
  assert.equal(await isProcessAlive(process.pid, `${start}0`), false)
  assert.equal(await processStart(2 ** 30), null)
})

test('a process that has ended, and that its parent does not reap, is not alive', {
  skip: process.platform === 'win32',
}, async () => {
  // After the exec nobody waits for the first sleep.
  const parent = spawn('bash', ['-c', 'sleep 600 & echo $!; exec sleep 600'])
  try {
    const [line] = await once(createInterface(parent.stdout), 'line')
    const pid = Number(line)
    const start = await processStart(pid)
    assert.ok(start)
    assert.equal(await isProcessAlive(pid, start), true)
    process.kill(pid, 'SIGKILL')
    for (const until = Date.now() + 10_000; (await isProcessAlive(pid, start)) && Date.now() < until; );
    assert.equal(await isProcessAlive(pid, start), false)
    assert.equal(process.kill(pid, 0), true, 'it is still in the table')
  } finally {
    parent.kill('SIGKILL')
  }
})

test("ps is the system's own, and does not get Ralph's environment", {
  skip: process.platform === 'win32',
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ps-'))
  writeFileSync(join(folder, 'ps'), '#!/bin/sh\necho planted\n')
  chmodSync(join(folder, 'ps'), 0o755)
  const { PATH } = process.env
  process.env.PATH = `${folder}:${PATH}`
  process.env.INPUT_SAMPLE = 'a-key'
  try {
    assert.equal((await ps(['-o', 'pid=', '-p', String(process.pid)])).trim(), String(process.pid))
    assert.doesNotMatch(await ps(['axeww']), /\/bin\/ps axeww .*a-key/)
  } finally {
    process.env.PATH = PATH
    delete process.env.INPUT_SAMPLE
    rmSync(folder, { recursive: true })
  }
})
