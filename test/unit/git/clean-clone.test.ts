// A clean clone may be on another file system than the repository, such as ~/.cache next to a project in a tmpfs.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { CleanClone } from '../../../src/git/clean-clone.ts'
import { Git, openClone } from '../../../src/git/git.ts'
import { place } from './place.ts'

const deviceOf = (folder: string) => statSync(folder).dev
const elsewhere = ['/dev/shm', '/var/tmp'].find(
  (folder) => existsSync(folder) && deviceOf(folder) !== deviceOf(tmpdir()),
)

test('a clone on another file system has the commit', {
  skip: elsewhere === undefined && 'only one file system here',
}, async () => {
  using at = await place()
  const folder = mkdtempSync(join(elsewhere ?? '', 'clean-'))
  try {
    const clone = await CleanClone.of(at.git, at.base, join(folder, 'store'))
    const refs = { branch: 'work', base: { branch: 'main', sha: at.base } }
    await clone.checkOut(at.base, join(folder, 'tree'), refs)
    assert.equal(at.shell('git rev-parse HEAD', {}, '', join(folder, 'tree')).trim(), at.base)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a clone is made of a repository whose path has colons and quotes', async () => {
  using at = await place()
  const odd = join(at.folder, 'a:b "c\\d')
  at.shell(`mv clone '${odd}'`, {}, '', at.folder)
  const env = { PATH: process.env.PATH ?? '', HOME: at.folder }
  const git = await Git.open(await openClone(odd, env), env)
  const store = join(at.folder, 'store')
  await CleanClone.of(git, at.base, store)
  assert.equal(at.shell(`git -C ${store} cat-file -t ${at.base}`, {}, '', at.folder).trim(), 'commit')
})
