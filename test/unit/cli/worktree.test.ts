// `ralph worktree`: the printed commands work as they are typed, and no branch is left over.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openClone } from '../../fakes/clone.ts'
import { COMPILED, MAIN } from './place.ts'

const PRD = {
  schemaVersion: 2,
  project: 'shop',
  branchName: 'ralph/billing',
  userStories: [
    { id: 'US-001', title: 't', description: 'd', acceptanceCriteria: ['a'], priority: 1, passes: false },
  ],
}
const FILES = { '.ralph/2026-01-01-billing/prd.json': JSON.stringify(PRD) }

test('worktree makes a work tree at the base, on no branch, and prints commands that work', async () => {
  await using clone = await openClone(MAIN, FILES, COMPILED)
  const made = await clone.start(['worktree', 'billing', '--json']).ended
  assert.equal(made.code, 0, made.err)
  const { path } = JSON.parse(made.out)
  try {
    const git = (...args: string[]) => execFileSync('git', ['-C', path, ...args], { encoding: 'utf8' }).trim()
    assert.equal(git('rev-parse', '--abbrev-ref', 'HEAD'), 'HEAD')
    assert.equal(git('rev-parse', 'HEAD'), clone.git('rev-parse', 'HEAD'))
    assert.equal(clone.git('for-each-ref', '--format=%(refname)', 'refs/heads').split('\n').length, 1)
    const again = await clone.start(['worktree', 'billing']).ended
    assert.match(
      again.out,
      /-billing already exists\nNext: cd \.\.\/\S+-billing && ralph run billing --base-branch main\n/,
    )
    const [, next = ''] = /^Next: (.*)$/m.exec(again.out) ?? []
    const agent = `--agent custom --agent-command 'echo hi >hi.txt; echo "<ralph>DONE</ralph>"'`
    const flags = `${agent} --gate test=true --baseline off --weakened-tests off --no-final-verification`
    const typed = next.replace('ralph run', `"${process.execPath}" "${MAIN}" run`)
    const options = { cwd: clone.repository, env: clone.env, encoding: 'utf8', stdio: 'pipe' } as const
    execFileSync('bash', ['-c', `${typed} ${flags}`], options)
    assert.equal(git('show', 'ralph/billing:hi.txt'), 'hi')
    assert.equal(clone.git('rev-parse', '--abbrev-ref', 'HEAD'), 'main', 'this checkout is left alone')
  } finally {
    await rm(path, { recursive: true, force: true })
  }
})

test('a work tree whose folder was deleted is made again', async () => {
  await using clone = await openClone(MAIN, FILES, COMPILED)
  const { out } = await clone.start(['worktree', 'billing', '--json']).ended
  const { path } = JSON.parse(out)
  await rm(path, { recursive: true })
  try {
    const again = await clone.start(['worktree', 'billing']).ended
    assert.equal(again.code, 0, again.err)
    assert.match(again.out, /^created \.\.\/\S+-billing at main/)
    assert.equal(existsSync(join(path, '.git')), true)
  } finally {
    await rm(path, { recursive: true, force: true })
  }
})

test('a folder with the name of the work tree is not taken for it', async () => {
  await using clone = await openClone(MAIN, FILES, COMPILED)
  const path = `${clone.repository}-billing`
  await mkdir(path)
  await writeFile(join(path, 'mine.txt'), 'mine')
  const { code, err, out } = await clone.start(['worktree', 'billing']).ended
  assert.equal(code, 64, out)
  assert.match(err, /git could not create the work tree: fatal: '\S+-billing' already exists/)
})

test('worktree for a feature that is not there is one error with those that are', async () => {
  await using clone = await openClone(MAIN, FILES, COMPILED)
  const { code, err } = await clone.start(['worktree', 'checkout']).ended
  assert.equal(code, 64)
  assert.match(err, /there is no feature checkout here\.\n {2}fix: use one of: ralph worktree billing/)
})
