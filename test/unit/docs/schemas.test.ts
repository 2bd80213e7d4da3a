// The JSON Schemas that editors read: what the definitions say, and what the files that people copy obey.
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { Ajv } from 'ajv'
import { FEATURE, PROJECT } from '../../../src/cli/demo-project.ts'
import { parsePrd } from '../../../src/prd/parse.ts'
import { serializePrd } from '../../../src/prd/serialize.ts'
import { ROOT } from '../../e2e/site.ts'
import { fixture } from '../prd/samples.ts'

const { schemas }: { schemas: Array<[string, string]> } = await import(
  new URL('../../../scripts/schemas.mjs', import.meta.url).href
)
const prdSchema = JSON.parse(await readFile(join(ROOT, 'schemas', 'prd.schema.json'), 'utf8'))
const isPrd = new Ajv({ strictTypes: false }).compile(prdSchema)
const example = await readFile(join(ROOT, 'examples', 'prd.json'), 'utf8')

test('the files in schemas/ are what the definitions give (node scripts/schemas.mjs)', async () => {
  assert.deepEqual((await readdir(join(ROOT, 'schemas'))).sort(), schemas.map(([name]) => name).sort())
  for (const [name, text] of schemas)
    assert.equal(await readFile(join(ROOT, 'schemas', name), 'utf8'), text, name)
})

test('the example, the demo and what Ralph writes obey the schema of prd.json', () => {
  const demo = PROJECT[`.ralph/2026-01-31-${FEATURE}/prd.json`] ?? ''
  for (const text of [example, demo, fixture('ours.json')]) {
    const result = parsePrd(text, 'prd.json')
    assert.ok(result.ok)
    for (const value of [JSON.parse(text), JSON.parse(serializePrd(result.prd))])
      assert.ok(isPrd(value), JSON.stringify(isPrd.errors))
  }
})

test('the schema refuses what the reader refuses', () => {
  const story = { id: 'US-001', title: 'a', acceptanceCriteria: ['b'] }
  const withStory = (fields: object) => ({ schemaVersion: 2, userStories: [{ ...story, ...fields }] })
  for (const wrong of [
    { schemaVersion: 2, userStories: [] },
    withStory({ id: 'a b' }),
    withStory({ title: 4 }),
    withStory({ acceptanceCriteria: [] }),
    withStory({ dependsOn: 'US-002' }),
    withStory({ priority: 'high' }),
    withStory({ lastResult: { commit: '--upload-pack' } }),
    { ...withStory({}), run: 4 },
  ]) {
    assert.equal(isPrd(wrong), false, JSON.stringify(wrong))
    assert.equal(parsePrd(JSON.stringify(wrong), 'prd.json').ok, false)
  }
  assert.ok(isPrd({ ...withStory({ id: 7, mine: { a: 1 } }), mine: 1 }))
})

test('a file names its schema, in its first line, also after Ralph has written it', () => {
  const result = parsePrd(example, 'prd.json')
  assert.ok(result.ok)
  assert.equal(result.prd.$schema, prdSchema.$id)
  assert.match(serializePrd(result.prd), /^\{\n {2}"\$schema": /)
})
