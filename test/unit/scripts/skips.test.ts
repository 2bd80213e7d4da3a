// What was skipped is in the closing lines, with its reason.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

const REPORTER = new URL('../../../scripts/skips.mjs', import.meta.url)
const { skipLines }: { skipLines: (text: string) => string[] } = await import(REPORTER.href)

test('skipped tests are counted by their reason, the most frequent first', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-skips-'))
  t.after(() => rm(folder, { recursive: true }))
  const [file, skips] = [join(folder, 'some.test.mjs'), join(folder, 'skips')]
  await writeFile(skips, '')
  await writeFile(
    file,
    `import test from 'node:test'
    test('runs', () => {})
    test('one', { skip: 'needs root' }, () => {})
    test('two', { skip: 'needs nft' }, () => {})
    test('three', (t) => t.test('inner', (t) => t.skip('needs nft')))
    test('four', { skip: true }, () => {})
    test('five', { skip: false }, () => {})`,
  )
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const args = ['--test', `--test-reporter=${REPORTER.href}`, '--test-reporter-destination=stdout', file]
  await promisify(execFile)(process.execPath, args, { env: { ...env, RALPH_SKIPS: skips } })
  assert.deepEqual(skipLines(await readFile(skips, 'utf8')), [
    '== skipped: 4 tests',
    '2 x needs nft',
    '1 x needs root',
    '1 x no reason',
  ])
  assert.deepEqual(skipLines(''), ['== skipped: 0 tests'])
})
