// A repository that several users share: what Ralph writes is open to them as what git writes is.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createStore } from '../../../src/branch/store.ts'
import { takeSnapshot } from '../../../src/git/clone.ts'
import { stateOf, stories } from '../engine/samples.ts'
import { place } from './place.ts'

/** What is written while nobody else may read anything. */
async function withUmask<T>(act: () => Promise<T>): Promise<T> {
  const before = process.umask(0o077)
  try {
    return await act()
  } finally {
    process.umask(before)
  }
}

for (const setting of ['group', 'all', '0640', 'umask']) {
  test(`new files and folders have the modes that git gives with core.sharedRepository = ${setting}`, async () => {
    await withUmask(async () => {
      using at = await place('sha1', `git config core.sharedRepository ${setting}`)
      const snapshot = await takeSnapshot(at.git, false)
      const options = { namespace: 'refs/ralph', remote: null, publishRemote: null, snapshot, leaseMs: 1000 }
      const store = createStore(at.git, at.objects, options)
      const made = at.shell('git commit-tree -m made HEAD^{tree} -p HEAD').trim()
      const state = stateOf(stories('US-001'), { green: made, base: { branch: 'main', sha: at.base } })
      await store.save(state)
      await store.publish(state, true)
      // What git makes there by itself, with the same setting.
      const folder = mkdtempSync(join(tmpdir(), 'shared-'))
      at.shell(
        `git init -q -b main; git config core.sharedRepository ${setting}; git commit -q --allow-empty -m base; git branch ralph/auth; git update-ref refs/ralph/2026-01-10-auth HEAD`,
        {},
        '',
        folder,
      )
      const modes = (where: string, cwd: string) => at.shell(`stat -c '%a' ${where}`, {}, '', cwd).trim()
      const file = (oid: string) => `.git/objects/${oid.slice(0, 2)}/${oid.slice(2)}`
      const theirs = at.shell('git rev-parse HEAD', {}, '', folder).trim()
      const branch = at.shell('git rev-parse --verify refs/heads/ralph/auth').trim()
      assert.equal(branch, made)
      const stateOid = at.shell('git for-each-ref refs/ralph --format="%(objectname)"').trim()
      assert.equal(modes(file(stateOid), at.top), modes(file(theirs), folder), 'an object')
      const folderOf = (oid: string) => `.git/objects/${oid.slice(0, 2)}`
      assert.equal(modes(folderOf(stateOid), at.top), modes(folderOf(theirs), folder), 'a folder of objects')
      for (const path of [
        'refs/heads/ralph/auth',
        'refs/heads/ralph',
        'logs/refs/heads/ralph/auth',
        'logs/HEAD',
      ])
        assert.equal(modes(`.git/${path}`, at.top), modes(`.git/${path}`, folder), path)
      for (const path of ['ralph/git', 'ralph/git/refs/ralph'])
        assert.equal(modes(`.git/${path}`, at.top), modes('.git/refs/heads/ralph', folder), path)
      assert.equal(
        modes('.git/ralph/git/config', at.top),
        modes('.git/refs/heads/main', folder),
        'our own files',
      )
      rmSync(folder, { recursive: true })
    })
  })
}
