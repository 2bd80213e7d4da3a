// What a runner downloads for `uses:` is git's archive of the commit: the bundle and what people read first, but no sources or tests.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

test('the archive that a runner downloads has action.yml, the bundle and the license, and neither sources nor tests', () => {
  const archive = execFileSync('git', ['archive', '--worktree-attributes', 'HEAD'], { maxBuffer: 2 ** 28 })
  const names = execFileSync('tar', ['-t'], { input: archive, encoding: 'utf8' }).split('\n')
  for (const name of ['action.yml', 'LICENSE', 'README.md', 'package.json', 'dist/action/main.js'])
    assert.ok(names.includes(name), `${name} is missing`)
  const folders = new Set(names.filter((name) => name.includes('/')).map((name) => name.split('/')[0]))
  assert.deepEqual([...folders], ['dist'])
})
