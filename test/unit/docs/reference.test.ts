// docs/reference/ is what the tables of the source say, and the README has the table of sealed sets of docs/trust.md.
import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { ROOT } from '../../e2e/site.ts'

type Written = {
  referencePages: () => Promise<Record<string, string>>
  withSealed: (readme: string, trust: string) => string
  FILE_NAMES: string[]
}
const { referencePages, withSealed, FILE_NAMES }: Written = await import(
  new URL('../../../scripts/docs.mjs', import.meta.url).href
)
const read = (path: string) => readFile(join(ROOT, path), 'utf8')

test('the reference pages are generated from their tables (node scripts/docs.mjs)', async () => {
  const pages = await referencePages()
  const there: string[] = []
  for await (const path of glob('docs/reference/*.md', { cwd: ROOT })) there.push(path)
  assert.deepEqual(there.sort(), Object.keys(pages).sort())
  for (const [path, text] of Object.entries(pages)) assert.equal(await read(path), text, path)
})

test('the README has the table of sealed sets of docs/trust.md (node scripts/docs.mjs)', async () => {
  const readme = await read('README.md')
  assert.equal(readme, withSealed(readme, await read('docs/trust.md')))
})

test('every file in the list of files is named in the source', async () => {
  const sources: string[] = []
  for await (const path of glob('src/**/*.ts', { cwd: ROOT })) sources.push(await read(path))
  const source = sources.join('\n')
  for (const path of FILE_NAMES) {
    const [name = ''] =
      /[\w.-]+\/?$/.exec(path.replace(/<[^>]*>-?(?:<\w+>)?/g, '').replace(/NAME\.json$|\/$/, '')) ?? []
    assert.ok(source.includes(name), `${path}: ${name}`)
  }
})
