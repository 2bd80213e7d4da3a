// The npm package: what a person gets by `npx @ralph/action` holds what runs, and runs alone.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { ROOT } from './site.ts'

const script = (name: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [join(ROOT, 'scripts', 'release', name), ...args], { cwd: ROOT })

test('the npm package, installed from its tarball into an empty folder, completes the demo', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-packed-'))
  t.after(() => rm(folder, { recursive: true }))
  const { stdout } = await script('pack.mjs', folder)
  const tarball = /^tarball=(ralph-action-\d+\.\d+\.\d+\.tgz)$/m.exec(stdout)?.[1] ?? ''
  const sums = (await readFile(join(folder, 'SHA256SUMS'), 'utf8')).trim().split('\n')
  const sumOf = async (path: string) =>
    createHash('sha256')
      .update(await readFile(path))
      .digest('hex')
  assert.equal(sums.at(-1), `${await sumOf(join(folder, tarball))}  ${tarball}`)
  assert.ok(sums.includes(`${await sumOf(join(ROOT, 'dist/cli/main.js'))}  dist/cli/main.js`))
  const tried = await script('try.mjs', join(folder, tarball))
  assert.match(tried.stdout, /the demo is complete/)
})
