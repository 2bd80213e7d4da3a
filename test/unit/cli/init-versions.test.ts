// The note of `init` on versions of tools that this machine lacks.
import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { versionNotes } from '../../../src/cli/init-versions.ts'

test('versions that this machine lacks are named in one line; newer ones are good for a minimum', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-versions-'))
  try {
    const program = async (name: string, script: string) => {
      await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`)
      await chmod(join(folder, name), 0o755)
    }
    await program('node', 'echo v20.11.1')
    await program('go', 'test "$GOTOOLCHAIN" = local && echo go version go1.26.1 linux/amd64')
    await program('java', 'echo openjdk 17.0.9 >&2')
    await program('rustup', '[ "$2" = 1.80 ] && echo rustc 1.80.1')
    const env = { PATH: `${folder}:/usr/bin:/bin` }
    const wish = (name: string, version: string, isLeast = false, args: readonly string[] = []) => ({
      name,
      program: name === 'rust' ? 'rustup' : name,
      args,
      version,
      isLeast,
    })
    const rust = (version: string) => wish('rust', version, false, ['run', version, 'rustc', '--version'])
    const good = [wish('node', '20'), wish('node', '18.2', true), wish('go', '1.9', true), rust('1.80')]
    assert.deepEqual(await versionNotes(good, folder, env), [])
    const bad = [
      wish('node', '22', true),
      wish('java', '21'),
      wish('ruby', '3.3'),
      rust('1.79'),
      wish('go', '1.26'),
    ]
    assert.deepEqual(await versionNotes(bad, folder, env), [
      'this machine lacks versions that the project requires: node 22 or newer (here: 20.11.1), java 21 (here: 17.0.9), ruby 3.3 (here: none), rust 1.79 (here: none). Gates may give other results here than in CI',
    ])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
