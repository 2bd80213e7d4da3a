// The way from a commit back by first parents ends at the border of a shallow clone, as it does for git.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { shallowCommits } from '../../../src/git/own-directory.ts'
import { followsFirstParents } from '../../../src/git/trees.ts'
import { openWorked } from './worked.ts'

const COMMITS = `git init -q -b main base; cd base
for name in one two three; do git commit -qm $name --allow-empty; done`

test('a commit is reached by first parents in a whole clone, and not beyond the border of a shallow one', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parents-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const env = { PATH: process.env.PATH ?? '', HOME: folder }
  const shell = (text: string) =>
    execFileSync('bash', ['-ec', text], { cwd: folder, env, encoding: 'utf8' }).trim()
  shell(`git config --global user.name a; git config --global user.email a@b; ${COMMITS}`)
  const [later = '', middle = '', earlier = ''] = shell('git -C base log --format=%H').split('\n')
  shell('git clone -q base whole; git clone -q --depth 2 "file://$PWD/base" shallow')
  const reached = async (clone: string, from: string, to: string) => {
    const { git, objects } = await openWorked(join(folder, clone), env, { whole: false })
    try {
      return await followsFirstParents(objects, {
        later: from,
        earlier: to,
        borders: shallowCommits(git.shared),
      })
    } finally {
      objects[Symbol.dispose]()
    }
  }
  assert.equal(await reached('whole', later, earlier), true)
  assert.equal(await reached('whole', earlier, later), false)
  assert.equal(await reached('shallow', later, middle), true)
  // git does not know the parent of the commit at the border, although the commit names it.
  assert.equal(await reached('shallow', later, earlier), false)
  assert.equal(await reached('shallow', middle, middle), true)
})
