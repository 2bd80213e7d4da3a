// A counterexample runs as a gate: its files are there while it runs, whatever they are called.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { counterexampleGate } from '../../../src/gates/counterexample-gate.ts'

function inFolder(act: (top: string) => void) {
  const top = mkdtempSync(join(tmpdir(), 'ralph-counterexample-'))
  try {
    act(top)
  } finally {
    rmSync(top, { recursive: true, force: true })
  }
}
const ran = (run: string, cwd: string) =>
  spawnSync('bash', ['--noprofile', '--norc', '-c', run], { cwd, encoding: 'utf8' })

test('files with any name and text are written, the exit code is that of the command, and the files go', () => {
  inFolder((top) => {
    const path = "a folder/it's $(touch gone) `x`.txt"
    const text = 'a\n"b" $HOME \\ é\n'
    const run = `cat "a folder/"* && exit 3`
    const gate = counterexampleGate({ storyId: 'US-001', run, files: [{ path, text }] }, { top, cwd: top }, 0)
    const { status, stdout } = ran(gate.run, top)
    assert.deepEqual([status, stdout], [3, text])
    assert.equal(existsSync(join(top, path)), false)
    assert.equal(existsSync(join(top, 'gone')), false)
  })
})

test('paths are from the top of the repository, and a name that begins with a dash is a path', () => {
  inFolder((top) => {
    mkdirSync(join(top, 'app'))
    const files = [{ path: '-rf', text: 'x' }]
    const gate = counterexampleGate(
      { storyId: 'US-001', run: 'cat ../-rf', files },
      { top, cwd: join(top, 'app') },
      1,
    )
    assert.equal(gate.name, 'counterexample US-001 (2)')
    assert.deepEqual(ran(gate.run, join(top, 'app')).stdout, 'x')
  })
})

test('a file that the story has in the same place is replaced while it runs', () => {
  inFolder((top) => {
    execFileSync('ln', ['-s', '/dev/null', join(top, 'check.sh')])
    writeFileSync(join(top, 'product'), 'one')
    const files = [{ path: 'check.sh', text: 'grep -q one product' }]
    const gate = counterexampleGate({ storyId: 'US-001', run: 'bash check.sh', files }, { top, cwd: top }, 0)
    assert.equal(ran(gate.run, top).status, 0)
    assert.equal(readFileSync(join(top, 'product'), 'utf8'), 'one')
  })
})
