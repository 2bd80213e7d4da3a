// The project's own programs on the PATH of its gates: those of the folder that a command changes into, then those of its own.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { withToolFolders } from '../../../src/gates/tool-folders.ts'

test("a gate finds the programs of the project that it changes into before the top's", async () => {
  const top = await mkdtemp(join(tmpdir(), 'ralph-tools-'))
  try {
    for (const folder of ['node_modules/.bin', 'api/.venv/bin', 'web/app/node_modules/.bin', 'own/.venv/bin'])
      await mkdir(join(top, folder), { recursive: true })
    const pathOf = (command: string, tracked: readonly string[] = []) =>
      (withToolFolders({ PATH: '/bin' }, top, command, tracked).PATH ?? '')
        .split(':')
        .map((folder) => folder.replace(`${top}/`, ''))
    assert.deepEqual(pathOf('pytest'), ['node_modules/.bin', '/bin'])
    assert.deepEqual(pathOf('cd api && pytest'), ['api/.venv/bin', 'node_modules/.bin', '/bin'])
    assert.deepEqual(pathOf('cd ./web/app/ && npm test')[0], 'web/app/node_modules/.bin')
    for (const command of ['cd ../api && pytest', 'cd /api && pytest', 'cd api/.. && pytest', 'pytest api'])
      assert.deepEqual(pathOf(command), ['node_modules/.bin', '/bin'])
    // A story could commit a program there.
    const committed = ['own/.venv/bin/git', 'node_modules/.bin/npm']
    assert.deepEqual(pathOf('cd own && pytest', committed), ['/bin'])
    // So could it by a link, which git tracks as one path.
    for (const link of ['own', 'own/.venv', 'own/.venv/bin', 'own/.VENV/Bin'])
      assert.deepEqual(pathOf('cd own && pytest', [link]), ['node_modules/.bin', '/bin'], link)
  } finally {
    await rm(top, { recursive: true, force: true })
  }
})
