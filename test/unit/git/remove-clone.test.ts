// A clean room is removed although its folders are read-only, as Go makes its module cache.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const CLEAN_CLONE = new URL('../../../src/git/clean-clone.ts', import.meta.url).href
/** Root removes every file, so root gives that power up. */
const WITHOUT_POWERS =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search,-fowner'] : ['env']

test('a clone with read-only folders is removed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-clone-'))
  const module = join(folder, 'go', 'pkg', 'mod', 'example.com@v1.0.0')
  await mkdir(module, { recursive: true })
  await writeFile(join(module, 'go.mod'), 'module example.com')
  await chmod(module, 0o555)
  const script = `import { removeClone } from '${CLEAN_CLONE}'; await removeClone('${folder}')`
  const [file = '', ...args] = [...WITHOUT_POWERS, process.execPath, '--input-type=module', '-e', script]
  execFileSync(file, args, { stdio: 'pipe' })
  assert.equal(existsSync(folder), false)
})
