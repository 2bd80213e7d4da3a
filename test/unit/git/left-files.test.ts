// Files that a judge left are hostile: only regular files with text are read, and not many.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readLeftFiles } from '../../../src/git/left-files.ts'

test('links, pipes, binary and large files are left out, and a link to a folder is not followed', async () => {
  const outside = await mkdtemp(join(tmpdir(), 'ralph-outside-'))
  const top = await mkdtemp(join(tmpdir(), 'ralph-left-'))
  try {
    await writeFile(join(outside, 'secret'), 'secret')
    await symlink(join(outside, 'secret'), join(top, 'link'))
    await symlink(outside, join(top, 'folder'))
    execFileSync('mkfifo', [join(top, 'pipe')])
    await mkdir(join(top, 'check'))
    await writeFile(join(top, 'check', 'a.sh'), 'exit 1\n')
    await writeFile(join(top, 'binary'), Buffer.from([0xff, 0xfe, 0]))
    await writeFile(join(top, 'large'), 'x'.repeat(101))
    await writeFile(join(top, 'b'), 'b')
    const paths = ['link', 'folder/secret', 'pipe', 'binary', 'large', 'gone', '../b', 'check/a.sh', 'b']
    const found = await readLeftFiles(top, paths, { files: 10, bytes: 100 })
    assert.deepEqual(found, [
      { path: 'check/a.sh', text: 'exit 1\n' },
      { path: 'b', text: 'b' },
    ])
    assert.equal((await readLeftFiles(top, ['check/a.sh', 'b'], { files: 1, bytes: 100 })).length, 1)
    assert.deepEqual(await readLeftFiles(top, ['check/a.sh', 'b'], { files: 9, bytes: 7 }), [found[0]])
  } finally {
    await rm(top, { recursive: true, force: true })
    await rm(outside, { recursive: true, force: true })
  }
})
