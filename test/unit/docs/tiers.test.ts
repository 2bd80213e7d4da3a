// No protection is lost between the tiers of docs/internals/tests.md: every file has its promise, and every name its test.
import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { ROOT } from '../../e2e/site.ts'

const text = await readFile(join(ROOT, 'docs', 'internals', 'tests.md'), 'utf8')
const quick: { tests: Record<string, string[]> } = JSON.parse(
  await readFile(join(ROOT, 'test', 'quick.json'), 'utf8'),
)

test('docs/internals/tests.md names every file of end-to-end tests, and only existing ones', async () => {
  const named = [...text.matchAll(/`((?:engine|e2e|faults|agents-real)\/[\w-]+)`/g)].map(([, name]) => name)
  const files: string[] = []
  for await (const file of glob('{engine,e2e,faults,agents-real}/*.test.ts', { cwd: join(ROOT, 'test') }))
    files.push(file)
  assert.deepEqual([...new Set(named)].sort(), files.map((file) => file.replace('.test.ts', '')).sort())
})

test('tests that the details of the earlier designs name exist', async () => {
  const [, section = ''] = text.split('## The five designs, detail by detail')
  const named = [...section.matchAll(/`((?:unit|engine|e2e)\/[\w/-]+)`/g)].map(([, name = '']) => name)
  assert.ok(named.length > 40)
  const files: string[] = []
  for await (const file of glob('{unit,engine,e2e}/**/*.test.ts', { cwd: join(ROOT, 'test') }))
    files.push(file)
  for (const name of named) assert.ok(files.includes(`${name}.test.ts`), name)
})

test('every test in test/quick.json exists in its file', async () => {
  for (const [file, names] of Object.entries(quick.tests)) {
    const source = await readFile(join(ROOT, file), 'utf8')
    assert.notEqual(names.length, 0, file)
    for (const name of names) {
      const quotes = ["'", '"', '`'].map((quote) => `${quote}${name}${quote}`)
      assert.ok(
        quotes.some((quoted) => source.includes(quoted)),
        `${file} has no test of this name: ${name}`,
      )
    }
  }
})

test('the shards of ci.yml and .ci/run cover all tests', async () => {
  const workflow = await readFile(join(ROOT, '.github', 'workflows', 'ci.yml'), 'utf8')
  const [, list = ''] = /shard: \[([\d, ]+)\]/.exec(workflow) ?? []
  const shards = list.split(',').map(Number)
  assert.deepEqual(
    shards,
    shards.map((_, index) => index + 1),
  )
  assert.match(workflow, new RegExp(`--shard "\\$SHARD/${shards.length}"`))
  assert.match(await readFile(join(ROOT, '.ci', 'run'), 'utf8'), new RegExp(`^shards=${shards.length}$`, 'm'))
})
