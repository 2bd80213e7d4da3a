// Hearing of changes in folders: each of them, and nothing by time.
import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, mkdtempDisposableSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { watchFolders } from '../../../src/system/watch.ts'

const DAY_MS = 24 * 3_600_000

test('created, written and removed files are reported, also in new and nested folders', async () => {
  using top = mkdtempDisposableSync(join(tmpdir(), 'watch-'))
  const folder = join(top.path, 'a', 'transcripts')
  const run = join(folder, '1-auth')
  using hearing = watchFolders([folder])
  for (const change of [
    () => mkdirSync(join(top.path, 'a')),
    () => mkdirSync(folder),
    () => mkdirSync(run),
    () => writeFileSync(join(run, 'x.log'), 'one\n'),
    () => appendFileSync(join(run, 'x.log'), 'two\n'),
    () => rmSync(folder, { recursive: true }),
    () => mkdirSync(run, { recursive: true }),
    () => writeFileSync(join(run, 'x.log'), 'anew\n'),
  ]) {
    // Nobody waits yet, as while its hearer looks.
    change()
    await hearing.next(DAY_MS)
  }
})

test('a watch without a change waits for its whole time, or until it is aborted', async (t) => {
  using top = mkdtempDisposableSync(join(tmpdir(), 'watch-'))
  using hearing = watchFolders([top.path])
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let told = 0
  const waiting = hearing.next(DAY_MS).then(() => told++)
  t.mock.timers.tick(DAY_MS - 1)
  for (let turns = 0; turns < 10; turns++) await turn()
  assert.equal(told, 0)
  t.mock.timers.tick(1)
  await waiting
  const stop = new AbortController()
  const stopped = hearing.next(DAY_MS, stop.signal)
  stop.abort()
  await stopped
  await hearing.next(DAY_MS, stop.signal)
})

test('a watch that the system refuses polls instead', async (t) => {
  using hearing = watchFolders([join(tmpdir(), 'x'.repeat(300))])
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const waiting = hearing.next(DAY_MS)
  t.mock.timers.tick(5000)
  await waiting
})
