// What Node 20 cannot parse is found without it: in src/, and in the bundle, for what packages bring.
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { transform } from 'esbuild'
import { refusedByNode20 } from '../../../scripts/oldest-node.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const SRC = join(ROOT, 'src')

test('syntax newer than the oldest Node is found: duplicate group names and modifiers in regular expressions', () => {
  const twice = String.raw`/^\s*File "(?<name>[^"]+)"|^(?<name>\S+):\d$/`
  assert.deepEqual(refusedByNode20(`const traced = ${twice}.exec(line)`), [twice])
  assert.deepEqual(refusedByNode20('a=b/2;x=/(?i:a)b/.test(c)/d;y=/(?-i:a)/g'), ['/(?i:a)b/', '/(?-i:a)/g'])
  const fine = String.raw`/(?<a>x)(?<b>y)(?<=z)(?<!z)(?:w)(?=v)\(?<a>[(?<a>](?<a2>[\](?i:])\k<a>/`
  assert.deepEqual(refusedByNode20(`f("/(?<n>a)|(?<n>b)/", \`/(?i:a)/\`, ${fine}) // /(?i:a)/`), [])
})

test('no file of src/ has syntax newer than the oldest Node', async () => {
  const files = (await readdir(SRC, { recursive: true })).filter((file) => file.endsWith('.ts'))
  assert.ok(files.length > 300)
  for (const file of files) {
    const { code } = await transform(await readFile(join(SRC, file), 'utf8'), {
      loader: 'ts',
      target: 'node20',
    })
    assert.deepEqual(refusedByNode20(code), [], file)
  }
})

test('no chunk of the bundle has syntax newer than the oldest Node', async () => {
  const folder = join(ROOT, 'dist', 'bundle')
  const chunks = (await readdir(folder)).filter((file) => file.endsWith('ralph.js'))
  assert.ok(chunks.length > 10)
  for (const chunk of chunks)
    assert.deepEqual(refusedByNode20(await readFile(join(folder, chunk), 'utf8')), [], chunk)
})
