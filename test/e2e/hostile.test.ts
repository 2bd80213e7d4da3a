// A hostile agent tries everything that we could think of, through the committed bundle; docs/internals/hostile-agent.md has the table.
// RALPH_UPDATE_DOCS=1 writes it there again.
import '../fakes/disk.ts'
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { judge, prove, table } from '../hostile/prove.ts'
import { lacks } from '../machine/needs.ts'
import { ROOT } from './site.ts'

const DOCUMENT = join(ROOT, 'docs', 'internals', 'hostile-agent.md')
const SECTION = /(<!-- attempts: test\/e2e\/hostile\.test\.ts -->\n\n)[\s\S]*(\n<!-- \/attempts -->)/

test('docs/internals/hostile-agent.md has the table of attack attempts', async () => {
  const text = await readFile(DOCUMENT, 'utf8')
  assert.match(text, SECTION)
  const wanted = text.replace(SECTION, (_whole, before, after) => `${before}${table()}${after}`)
  if (process.env.RALPH_UPDATE_DOCS === '1') await writeFile(DOCUMENT, wanted)
  else assert.equal(text, wanted, 'RALPH_UPDATE_DOCS=1 node --test test/e2e/hostile.test.ts')
})

test('same-user: every attack attempt is stopped, or is a known open one', async () => {
  judge(await prove('same-user'), 'same-user')
})

const options = { skip: lacks('root') }
test('other-user: every attempt is stopped, or known to be open', options, async () => {
  judge(await prove('other-user'), 'other-user')
  process.stdout.write(table())
})
