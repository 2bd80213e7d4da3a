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

test('a session that fills the disk ends the run with an error that names the disk; `--json` has branch and stories; with room the next run goes on', {
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
  assert.match(
    err,
    /error: disk: the disk of \S+ is full\n {2}fix: free up space on the disk of \S+ \(`df -h/,
  )
  assert.doesNotMatch(err, /expected no error|found ,/)
  const answer = JSON.parse(out.trim().split('\n').at(-1) ?? '')
  assert.deepEqual([answer.branch, answer.storiesTotal, answer.errors.length], ['ralph/sample', 1, 1])
  await rm(join(at.repository, 'ballast.bin'))
  await at.setScript({ 'US-001': [turn], verify: [{}] })
  const again = await at.ralph(['run'])
  assert.equal(again.code, 0, again.out + again.err)
})

test('too little disk space for the work trees is refused before the first session with the space that one takes; with prepare it is a warning', {
  skip: lacks('root', 'mount'),
}, async (t) => {
  const disk = await mkdtemp(join(tmpdir(), 'ralph-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk])
  t.after(async () => {
    execFileSync('umount', ['-l', disk])
    await rm(disk, { recursive: true, force: true })
  })
  const userStories = ['one', 'two', 'three'].map((name, at) => story(`US-00${at + 1}`, name))
  const turn = (name: string) => [{ files: { [`src/${name}.txt`]: name } }]
  await using at = await place(
    {
      '.gitignore': 'modules/\n',
      'ralph.config.yml': 'gates: { test: "true" }\nprepare: "true"\nfinalVerification: false\n',
      'large.txt': 'x'.repeat(3_000_000),
      [PRD]: JSON.stringify({ schemaVersion: 2, userStories }),
    },
    { 'US-001': turn('one'), 'US-002': turn('two'), 'US-003': turn('three') },
  )
  const env = { XDG_CACHE_HOME: disk }
  const refused = await at.ralph(['run', '--max-parallel', '3'], env)
  assert.equal(refused.code, 64, refused.out + refused.err)
  assert.match(
    refused.err,
    /max-parallel: \S+ has room for 2 of 3 work trees: each work tree needs 3\.0 MB; 8\.\d MB are free\.\n {2}fix: free up space there, .*max-parallel to 2/,
  )
  assert.deepEqual(await at.called(), [])
  await at.write({ 'modules/a.js': 'x'.repeat(2_000_000) })
  const { code, out, err } = await at.ralph(['run', '--max-parallel', '2'], env)
  assert.equal(code, 0, out + err)
  assert.match(
    out + err,
    /\S+ may have room for only 1 of 2 work trees: each work tree needs 3\.0 MB for committed files, plus what prepare installs \(up to 2\.0 MB/,
  )
})
