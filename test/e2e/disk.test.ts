// A disk that takes nothing more: nothing is lost, and one message says where to make room. In its own mounts.
import '../fakes/disk.ts'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { lacks } from '../machine/needs.ts'
import { place } from './laptop.ts'
import { story } from './site.ts'

const PRD = '.ralph/2026-01-31-sample/prd.json'

test('a disk that a session has filled is named, `--json` holds branch and stories, and with room it goes on', {
  skip: lacks('root', 'mount'),
  timeout: 120_000,
}, async (t) => {
  const disk = await mkdtemp(join(tmpdir(), 'ralph-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk])
  const usual = process.env.TMPDIR
  process.env.TMPDIR = disk
  t.after(async () => {
    if (usual === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = usual
    execFileSync('umount', ['-l', disk])
    await rm(disk, { recursive: true, force: true })
  })
  const turn = { files: { 'src/one.mjs': 'export const one = 1\n' } }
  const full = { ...turn, shell: 'cat /dev/zero > ballast.bin' }
  await using at = await place(
    {
      'ralph.config.yml': 'gates: { test: "true" }\n',
      [PRD]: JSON.stringify({ schemaVersion: 2, userStories: [story('US-001', 'one')] }),
    },
    { 'US-001': [full] },
  )
  const { code, out, err } = await at.ralph(['run', '--json'])
  assert.equal(code, 64, out + err)
  assert.match(err, /error: disk: the disk of \S+ is full\n {2}fix: make room on the disk of \S+ \(`df -h/)
  assert.doesNotMatch(err, /expected no error|found ,/)
  const answer = JSON.parse(out.trim().split('\n').at(-1) ?? '')
  assert.deepEqual([answer.branch, answer.storiesTotal, answer.errors.length], ['ralph/sample', 1, 1])
  await rm(join(at.repository, 'ballast.bin'))
  await at.setScript({ 'US-001': [turn], verify: [{}] })
  const again = await at.ralph(['run'])
  assert.equal(again.code, 0, again.out + again.err)
})
