// How long transcripts and logs stay on this machine.
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openRunLogs } from '../../../src/app/run-logs.ts'

function place() {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-logs-'))
  const top = join(folder, 'ralph')
  const warnings: string[] = []
  return {
    folder,
    top,
    warnings,
    /** A run that comes and goes, with a transcript and a log of a gate. */
    async run(feature: string, keep: number) {
      await using logs = await openRunLogs(top, feature, keep, (text) => warnings.push(text))
      await logs.clean()
      for (const kind of ['transcripts', 'logs']) {
        mkdirSync(join(top, kind, logs.name ?? ''), { recursive: true })
        writeFileSync(join(top, kind, logs.name ?? '', 'US-001-1.log'), 'words')
      }
      return logs.name
    },
    there: () => [readdirSync(join(top, 'transcripts')).sort(), readdirSync(join(top, 'logs')).sort()],
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

test('run logs: the newest runs are kept, and the newest of every feature', async () => {
  using at = place()
  for (const feature of ['other', 'auth', 'auth', 'auth']) await at.run(feature, 3)
  assert.deepEqual(at.there()[0], ['1-other', '2-auth', '3-auth', '4-auth'])
  assert.equal(await at.run('auth', 2), '5-auth')
  assert.deepEqual(at.there(), [
    ['1-other', '4-auth', '5-auth'],
    ['1-other', '4-auth', '5-auth'],
  ])
  assert.deepEqual(at.warnings, [])
})

test('run logs: with 0 nothing is kept after the run', async () => {
  using at = place()
  await at.run('auth', 20)
  await at.run('auth', 0)
  assert.deepEqual(at.there(), [[], []])
})

test('run logs: a run without logs leaves no folder', async () => {
  using at = place()
  await (await openRunLogs(at.top, 'auth', 20, () => {}))[Symbol.asyncDispose]()
  assert.deepEqual(readdirSync(join(at.top, 'transcripts')), [])
})

test('run logs: files of no run are removed with runs of their age, and links are not followed', async () => {
  using at = place()
  const outside = join(at.folder, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'mine.txt'), 'mine')
  await at.run('auth', 20)
  symlinkSync(outside, join(at.top, 'transcripts', '2-auth'))
  symlinkSync(outside, join(at.top, 'logs', '1-auth', 'more'))
  const loose = (name: string, at2: Date | null) => {
    const file = join(at.top, 'logs', name)
    writeFileSync(file, 'x')
    if (at2 !== null) utimesSync(file, at2, at2)
  }
  loose('verify-1.log', new Date(2020, 1))
  loose('doctor-test.log', new Date(Date.now() + 60_000))
  assert.equal(await at.run('auth', 1), '3-auth')
  assert.deepEqual(at.there(), [['3-auth'], ['3-auth', 'doctor-test.log']])
  assert.ok(existsSync(join(outside, 'mine.txt')))
})

test('run logs: a disk error is a warning, and the run goes on', async () => {
  using at = place()
  mkdirSync(at.top)
  // A file where a folder should be is nobody's: it makes way.
  writeFileSync(join(at.top, 'transcripts'), 'no folder')
  assert.equal(await at.run('auth', 20), '1-auth')
  const [file, nowhere] = [join(at.folder, 'file'), join(at.folder, 'file', 'ralph')]
  writeFileSync(file, '')
  const deep = await openRunLogs(nowhere, 'auth', 20, (text) => at.warnings.push(text))
  assert.equal(deep.name, null)
  await deep.clean()
  await deep[Symbol.asyncDispose]()
  assert.match(at.warnings.join(), /Ralph could not delete older logs in .*file\/ralph: /)
})
