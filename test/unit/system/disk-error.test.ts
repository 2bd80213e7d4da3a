// What is said of a disk that takes nothing more: where, and what to do.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { GitError } from '../../../src/git/git-process.ts'
import { diskMistake } from '../../../src/system/disk-error.ts'
import { lacks } from '../../machine/needs.ts'

const coded = (code: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { code, ...more })

test("disk errors: full and read-only, by the code or by git's message; any other error is none", (t) => {
  const here = mkdtempSync(join(tmpdir(), 'ralph-disk-'))
  t.after(() => rmSync(here, { recursive: true }))
  for (const error of [
    coded('ENOSPC', 'ENOSPC: no space left on device, write'),
    new Error('git write-tree: error: unable to write file .git/objects/ab/cd: No space left on device'),
    new Error("git read-tree: fatal: sha1 file '.git/ralph/git/index.lock' write error. Out of diskspace"),
  ]) {
    const said = diskMistake(error, here)
    assert.equal(said?.found, `the disk of ${here} is full`)
    assert.match(
      said?.fix ?? '',
      /^free up space on the disk of .* run again: what was saved before is kept$/,
    )
  }
  const readOnly = diskMistake(coded('EROFS', 'x', { path: join(here, 'nothing', 'there') }), '/')
  assert.equal(readOnly?.found, `the disk of ${here} is mounted read-only`)
  for (const error of [
    coded('ENOENT', 'ENOENT: no such file or directory, open', { syscall: 'open', path: '/nothing' }),
    coded('ENOENT', 'ENOENT: no such file or directory, mkdir', { syscall: 'mkdir', path: join(here, 'x') }),
    new Error('git push: Permission denied (publickey)'),
    'thrown',
  ])
    assert.equal(diskMistake(error, here), null)
})

test('a folder without access is named with its owner, if that is another user', () => {
  const error = coded('EACCES', "EACCES: permission denied, mkdir '/proc/1/x/y'", { path: '/proc/1/x/y' })
  const said = diskMistake(error, '/')
  assert.match(said?.found ?? '', /^\S+ may not write to \/proc\/1(?:, which belongs to user 0)?$/)
  assert.match(said?.fix ?? '', /`ls -ld \/proc\/1` shows who owns it/)
})

test('a missing folder that Node reports on a full disk is a disk error', {
  skip: lacks('root', 'mount'),
}, () => {
  const disk = mkdtempSync(join(tmpdir(), 'ralph-full-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk])
  try {
    mkdirSync(join(disk, 'a'))
    assert.throws(() => writeFileSync(join(disk, 'fill'), Buffer.alloc(1 << 20)), /ENOSPC/)
    const error = coded('ENOENT', 'ENOENT: no such file or directory, mkdir', {
      syscall: 'mkdir',
      path: join(disk, 'a/b/c'),
    })
    assert.equal(diskMistake(error, '/')?.found, `the disk of ${join(disk, 'a')} is full`)
  } finally {
    execFileSync('umount', [disk])
    rmSync(disk, { recursive: true })
  }
})

test('git fails on a full disk and does not say why: the free space does', {
  skip: lacks('root', 'mount'),
}, () => {
  const disk = mkdtempSync(join(tmpdir(), 'ralph-full-'))
  const failed = new GitError(
    ['-c', 'core.hooksPath=/dev/null', 'update-ref', '-m', 'x'],
    128,
    'fatal: cannot write',
  )
  assert.equal(failed.message, 'git update-ref failed (exit 128): fatal: cannot write')
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk])
  try {
    assert.equal(diskMistake(failed, disk), null)
    assert.throws(() => writeFileSync(join(disk, 'fill'), Buffer.alloc(2 << 20)), /ENOSPC/)
    assert.equal(diskMistake(failed, disk)?.found, `the disk of ${disk} is full`)
    assert.equal(diskMistake(new Error('something else'), disk), null)
  } finally {
    execFileSync('umount', [disk])
    rmSync(disk, { recursive: true })
  }
})
