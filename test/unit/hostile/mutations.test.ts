// The mutations that switch defences off (test/hostile/mutate.mjs) still find what they change.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { ROOT } from '../../e2e/site.ts'
import { MUTATIONS } from '../../hostile/mutations.ts'

test('every mutation of the hostile tests finds the source text that it changes', async () => {
  const stale: string[] = []
  for (const { name, file, from, also = [] } of MUTATIONS)
    for (const [path, words] of [[file, from] as const, ...also])
      if (!(await readFile(join(ROOT, path), 'utf8')).includes(words))
        stale.push(`${name}: ${path} has no longer: ${words}`)
  assert.deepEqual(stale, [])
})

test('docs/internals/hostile-agent.md has a row for every mutation, with its file', async () => {
  const page = await readFile(join(ROOT, 'docs', 'internals', 'hostile-agent.md'), 'utf8')
  const [, table = ''] = page.split('| switched off | where |')
  const rows = [...table.matchAll(/^\| (?!---)(.+?) \| `([^`]+)`/gm)].map(([, name, file]) => [
    name,
    `src/${file}`,
  ])
  assert.deepEqual(
    rows,
    MUTATIONS.map(({ name, file }) => [name, file]),
  )
})
