// What a reviewer is told of a diff: also by files that did not change.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRedactor } from '../../../src/system/redact.ts'
import { createExamine } from '../../../src/verify/examine.ts'

type Sides = { before: string | null; after: string | null }

/** Remarks on the change from one set of files to another; `null` for no such file. */
async function remarksOn(
  files: Record<string, string | Sides>,
  gateCommands: string[],
  weakenedTests: 'warn' | 'off' = 'warn',
): Promise<string[]> {
  const blobs = new Map<string, string>()
  const changes = []
  for (const [path, sides] of Object.entries(files)) {
    if (typeof sides === 'string') {
      blobs.set(`green:${path}`, sides)
      continue
    }
    const { before, after } = sides
    if (before !== null) blobs.set(`old ${path}`, before).set(`green:${path}`, before)
    if (after !== null) blobs.set(`new ${path}`, after)
    const status = before === null ? ('A' as const) : after === null ? ('D' as const) : ('M' as const)
    changes.push({
      path,
      status,
      oldMode: before === null ? '000000' : '100644',
      newMode: after === null ? '000000' : '100644',
      oldOid: `old ${path}`,
      newOid: `new ${path}`,
    })
  }
  const objects = {
    info: async (name: string) => {
      const text = blobs.get(name)
      return text === undefined ? null : { size: Buffer.byteLength(text) }
    },
    contents: async (name: string) => {
      const text = blobs.get(name)
      return text === undefined ? null : Buffer.from(text)
    },
  }
  const examine = createExamine({
    protectedPaths: [],
    configFile: null,
    weakenedTests,
    gateCommands,
    redactor: createRedactor([]),
  })
  return (await examine(changes, objects, 'green')).remarks
}

const CHANGED: Sides = { before: 'a', after: 'b' }
const packageWith = (scripts: Record<string, string>) => JSON.stringify({ scripts })

test('a script that an unchanged package.json or Makefile names is pinned', async () => {
  const rows: [Record<string, string>, string, string][] = [
    [{ 'package.json': packageWith({ test: 'node scripts/test.mjs' }) }, 'npm test', 'scripts/test.mjs'],
    [{ 'package.json': packageWith({ test: 'npm run all', all: 'tsx run.ts' }) }, 'npm test', 'run.ts'],
    [{ 'package.json': packageWith({ pretest: './prepare.sh' }) }, 'npm test', 'prepare.sh'],
    [{ Makefile: 'test: lint\n\tpython tools/check.py\n' }, 'make test', 'tools/check.py'],
    [{ 'app/package.json': packageWith({ test: 'node run.js' }) }, 'npm --prefix app test', 'app/run.js'],
    [{ 'ci.sh': 'set -e\nbash tools/deep.sh\n', 'tools/deep.sh': './last\n' }, 'bash ci.sh', 'last'],
  ]
  for (const [files, gate, path] of rows) {
    const remarks = await remarksOn({ ...files, [path]: CHANGED }, [gate])
    assert.equal(remarks.length, 1, `${gate}: ${remarks}`)
    assert.ok(remarks[0]?.startsWith(`${path} (gate ${gate}):`), remarks[0])
    assert.deepEqual(await remarksOn({ ...files, 'other.js': CHANGED }, [gate]), [])
  }
})

test('with its package.json known, a gate is not told of tools that it does not use', async () => {
  const files = { 'package.json': packageWith({ test: 'vitest run' }) }
  assert.equal((await remarksOn({ ...files, 'vitest.config.ts': CHANGED }, ['npm test'])).length, 1)
  assert.deepEqual(await remarksOn({ ...files, 'jest.config.js': CHANGED }, ['npm test']), [])
})

test('circles of scripts end', async () => {
  const files = { 'a.sh': 'bash b.sh\n', 'b.sh': 'bash a.sh\n' }
  assert.deepEqual(await remarksOn({ ...files, 'c.sh': CHANGED }, ['bash a.sh']), [])
})

test('tests beside the code are watched in Rust', async () => {
  const code = 'pub fn one() -> u8 { 1 }\n'
  const tests =
    '#[cfg(test)]\nmod tests {\n  #[test]\n  fn one_is_one() { assert_eq!(super::one(), 1); }\n}\n'
  const files = { 'src/lib.rs': { before: code + tests, after: code } }
  assert.equal((await remarksOn(files, [])).length, 1)
  assert.deepEqual(await remarksOn(files, [], 'off'), [])
})
