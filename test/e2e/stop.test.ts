// `ralph stop` and the next `ralph run` when the run at work is dead and not reaped, as in many containers, or was stopped with Ctrl+Z.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { statOf } from '../../src/system/process-table.ts'
import { CLI, place } from './laptop.ts'
import { story } from './site.ts'

const linux = { skip: process.platform !== 'linux', timeout: 120_000 }
const RUN = ['--no-final-verification', '--gate', 'good=true', '--baseline', 'off']

const GOOD = { 'US-001': [{ files: { 'src/a.txt': 'a\n' } }] }

async function openHeld() {
  const prd = { schemaVersion: 2, userStories: [story('US-001', 'part')] }
  const at = await place({ '.ralph/2026-01-31-sample/prd.json': JSON.stringify(prd) })
  const there = join(at.folder, 'there')
  await at.setScript({
    'US-001': [{ shell: `touch "${there}"; sleep 600` }],
  })
  const reached = async () => {
    while (!existsSync(there)) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return { at, reached }
}

test('`ralph stop` ends when the run is a zombie, and the next run completes', linux, async () => {
  const { at, reached } = await openHeld()
  await using _closed = at
  // The shell becomes a `sleep`, which reaps nobody.
  const pidFile = join(at.folder, 'pid')
  const script = `"$@" & echo $! >'${pidFile}'; exec sleep 600`
  const run = [process.execPath, CLI, 'run', ...at.agent, '--isolation', 'same-user', ...RUN]
  const parent = spawn('bash', ['-c', script, 'bash', ...run], {
    cwd: at.repository,
    env: at.env,
    stdio: 'ignore',
  })
  try {
    await reached()
    const pid = Number(await readFile(pidFile, 'utf8'))
    process.kill(pid, 'SIGKILL')
    while (statOf(pid)?.state !== 'Z') await new Promise(setImmediate)
    const stopped = await at.ralph(['stop'])
    assert.equal(stopped.code, 0, stopped.err)
    await at.setScript(GOOD)
    const next = await at.ralph(['run', ...RUN])
    assert.equal(next.code, 0, next.err)
    assert.equal(statOf(pid)?.state, 'Z', 'nobody reaped it meanwhile')
  } finally {
    parent.kill('SIGKILL')
  }
})

test('`ralph stop` ends a run that was stopped with Ctrl+Z', linux, async () => {
  const { at, reached } = await openHeld()
  await using _closed = at
  const run = at.start(['run', ...RUN])
  await reached()
  run.kill('SIGSTOP')
  const stopped = await at.ralph(['stop'])
  assert.equal(stopped.code, 0, stopped.err)
  if (run.exitCode === null) await once(run, 'exit')
  await at.setScript(GOOD)
  const next = await at.ralph(['run', ...RUN])
  assert.equal(next.code, 0, next.err)
})
