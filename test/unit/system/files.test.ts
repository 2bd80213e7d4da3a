// Looking at folders that are not ours alone: closed ones, and those that go meanwhile, are nothing.
import assert from 'node:assert/strict'
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { removeSpecialFiles, removeSync, replaceFile } from '../../../src/system/files.ts'

test('named pipes are removed at any depth, and a path below a file throws nothing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'odd-'))
  try {
    mkdirSync(join(folder, 'refs', 'heads', 'closed'), { recursive: true })
    writeFileSync(join(folder, 'refs', 'heads', 'main'), 'x')
    execFileSync('mkfifo', [join(folder, 'refs', 'heads', 'pipe'), join(folder, 'refs', 'top')])
    chmodSync(join(folder, 'refs', 'heads', 'closed'), 0)
    removeSpecialFiles(join(folder, 'refs'), true)
    const left = ['main', 'pipe'].map((name) => existsSync(join(folder, 'refs', 'heads', name)))
    assert.deepEqual([...left, existsSync(join(folder, 'refs', 'top'))], [true, false, false])
    removeSpecialFiles(join(folder, 'refs', 'heads', 'main'), true)
    removeSpecialFiles(join(folder, 'nothing'), true)
    removeSync(join(folder, 'refs', 'heads', 'main', 'below'))
    assert.equal(existsSync(join(folder, 'refs', 'heads', 'main')), true)
  } finally {
    // Closed to its owner, too, who is not root.
    chmodSync(join(folder, 'refs', 'heads', 'closed'), 0o700)
    rmSync(folder, { recursive: true })
  }
})

test('processes that replace a file at the same time all succeed, and the file is whole', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'replace-'))
  try {
    const file = join(folder, 'config')
    const source = JSON.stringify(new URL('../../../src/system/files.ts', import.meta.url).href)
    const script = `const { replaceFile } = await import(${source})
      for (let round = 0; round < 100; round += 1) await replaceFile(process.argv[1], process.argv[2].repeat(1000))`
    const at = (letter: string) =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, '--', file, letter])
    await Promise.all(['a', 'b', 'c'].map(at))
    assert.match(readFileSync(file, 'utf8'), /^(?:a{1000}|b{1000}|c{1000})$/)
    assert.deepEqual(readdirSync(folder), ['config'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the partial file of a killed process is removed when the file is replaced, that of a running one is kept', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'replace-'))
  try {
    const { pid: dead } = spawnSync('true')
    const names = [dead, process.ppid].map((pid) => `config.ralph-${pid}`)
    for (const name of [...names, 'config.ralph-x', `other.ralph-${dead}`])
      writeFileSync(join(folder, name), 'half')
    await replaceFile(join(folder, 'config'), 'whole')
    const left = ['config', 'config.ralph-x', `config.ralph-${process.ppid}`, `other.ralph-${dead}`]
    assert.deepEqual(readdirSync(folder).sort(), left.sort())
    assert.equal(readFileSync(join(folder, 'config'), 'utf8'), 'whole')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
