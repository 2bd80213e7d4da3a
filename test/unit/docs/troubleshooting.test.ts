// docs/troubleshooting.md: every message that it explains is one that the source prints.
import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { ROOT } from '../../e2e/site.ts'

test('every message in docs/troubleshooting.md is in the source', async () => {
  const sources: string[] = []
  for await (const path of glob('src/**/*.ts', { cwd: ROOT }))
    sources.push(await readFile(join(ROOT, path), 'utf8'))
  const source = sources.join('\n').replaceAll("\\'", "'").replaceAll('`', '')
  const page = await readFile(join(ROOT, 'docs', 'troubleshooting.md'), 'utf8')
  const messages = [...page.matchAll(/^\| (`.*?`) \|/gm)].map(([, cell = '']) => cell.replaceAll('`', ''))
  assert.ok(messages.length > 40)
  const lost = messages.flatMap((message) =>
    message
      .split('…')
      .map((part) => part.trim().replace(/^[,:;(] ?|^\) ?/, ''))
      .filter((part) => part.length > 3 && !source.includes(part)),
  )
  assert.deepEqual(lost, [])
})
