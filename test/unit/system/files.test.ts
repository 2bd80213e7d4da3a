// Looking at folders that are not ours alone: closed ones, and those that go meanwhile, are nothing.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { removeNow, removeOdd } from '../../../src/system/files.ts'

test('pipes go at any depth; a folder that is none, or has a file above it, throws nothing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'odd-'))
  try {
    mkdirSync(join(folder, 'refs', 'heads', 'closed'), { recursive: true })
    writeFileSync(join(folder, 'refs', 'heads', 'main'), 'x')
    execFileSync('mkfifo', [join(folder, 'refs', 'heads', 'pipe'), join(folder, 'refs', 'top')])
    chmodSync(join(folder, 'refs', 'heads', 'closed'), 0)
    removeOdd(join(folder, 'refs'), true)
    const left = ['main', 'pipe'].map((name) => existsSync(join(folder, 'refs', 'heads', name)))
    assert.deepEqual([...left, existsSync(join(folder, 'refs', 'top'))], [true, false, false])
    removeOdd(join(folder, 'refs', 'heads', 'main'), true)
    removeOdd(join(folder, 'nothing'), true)
    removeNow(join(folder, 'refs', 'heads', 'main', 'below'))
    assert.equal(existsSync(join(folder, 'refs', 'heads', 'main')), true)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
