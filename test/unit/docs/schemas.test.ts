// The JSON Schemas that editors read: what the definitions say, and what the files that people copy obey.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${NAME}` is what the settings replace.
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import { FEATURE, PROJECT } from '../../../src/cli/demo-project.ts'
import { parsePrd } from '../../../src/engine/prd/parse.ts'
import { serializePrd } from '../../../src/engine/prd/serialize.ts'
import { readSettings } from '../../../src/settings/read-settings.ts'
import { settingRows } from '../../../src/settings/settings-table.ts'
import { ROOT } from '../../e2e/site.ts'
import { fixture } from '../engine/prd/samples.ts'

const { schemas }: { schemas: Array<[string, string]> } = await import(
  new URL('../../../scripts/schemas.mjs', import.meta.url).href
)
const prdSchema = JSON.parse(await readFile(join(ROOT, 'schemas', 'prd.schema.json'), 'utf8'))
const isPrd = new Ajv({ strictTypes: false }).compile(prdSchema)
const example = await readFile(join(ROOT, 'examples', 'prd.json'), 'utf8')
const configSchema = JSON.parse(await readFile(join(ROOT, 'schemas', 'ralph.config.schema.json'), 'utf8'))
const isConfig = new Ajv({ strictTypes: false }).compile(configSchema)
const config = await readFile(join(ROOT, 'examples', 'ralph.config.yaml'), 'utf8')

const readConfig = (text: string, path = 'ralph.config.json') =>
  readSettings({ file: { path, text }, env: { KEY: '3' }, surface: 'action' })

test('schemas/ is generated from the definitions (node scripts/schemas.mjs)', async () => {
  assert.deepEqual((await readdir(join(ROOT, 'schemas'))).sort(), schemas.map(([name]) => name).sort())
  for (const [name, text] of schemas)
    assert.equal(await readFile(join(ROOT, 'schemas', name), 'utf8'), text, name)
})

test('the example, the demo and files that Ralph writes are valid against the schema of prd.json', () => {
  const demo = PROJECT[`.ralph/2026-01-31-${FEATURE}/prd.json`] ?? ''
  for (const text of [example, demo, fixture('ours.json')]) {
    const result = parsePrd(text, 'prd.json')
    assert.ok(result.ok)
    for (const value of [JSON.parse(text), JSON.parse(serializePrd(result.prd))])
      assert.ok(isPrd(value), JSON.stringify(isPrd.errors))
  }
})

test('the schema of prd.json rejects what the parser rejects', () => {
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

test('files name their schema in the first line, also after Ralph wrote them', () => {
  const result = parsePrd(example, 'prd.json')
  assert.ok(result.ok)
  assert.equal(result.prd.$schema, prdSchema.$id)
  assert.match(serializePrd(result.prd), /^\{\n {2}"\$schema": /)
})

test("the configuration's parser accepts what the schema accepts, such as the example", () => {
  assert.ok(isConfig(parse(config)), JSON.stringify(isConfig.errors))
  assert.ok(readConfig(config, 'ralph.config.yaml').ok)
  assert.ok(config.startsWith(`# yaml-language-server: $schema=${configSchema.$id}\n`))
  for (const right of [
    {},
    { $schema: configSchema.$id, gates: 'none' },
    { agent: 'codex', model: 'm', maxAttempts: '${KEY}', protectedPaths: 'a\nb', agentArgs: ['--x'] },
    {
      provider: { command: 'amp', args: ['--x'], timeout: 1800 },
      services: [{ name: 'dev', ready: 'http://x.example', readyTimeout: 30 }],
      verify: { default: ['bun test'], ui: [] },
      browser: { enabled: true, screenshotDir: 'shots' },
      maxRetries: 4,
    },
    {
      steps: [
        {
          name: 'a',
          type: 'agent',
          timeout: '20m',
          config: { promptFile: '.ralph/prompts/a.md', endRunOn: [] },
        },
      ],
    },
  ]) {
    assert.ok(isConfig(right), JSON.stringify([right, isConfig.errors]))
    const read = readConfig(JSON.stringify(right))
    assert.ok(read.ok, JSON.stringify(read))
  }
})

test("the configuration's schema rejects what the parser rejects", () => {
  for (const wrong of [
    { agent: 'cluade' },
    { agnet: 'claude' },
    { maxAttempts: 0 },
    { maxAttempts: '3 times' },
    { iterationTimeout: '10 min' },
    { iterationTimeout: 10 },
    { redispatch: 'yes' },
    { gates: { test: { timeout: '1m' } } },
    { gates: { test: { run: 'x', whn: 'ui' } } },
    { gates: 'npm test' },
    { model: { plans: 'x' } },
    { prices: { m: { input: 1 } } },
    { breaker: { outputDecline: 101 } },
    { services: [{ name: 'a' }] },
    { provider: { args: [] } },
    { maxRetries: 0 },
  ]) {
    assert.equal(isConfig(wrong), false, JSON.stringify(wrong))
    assert.equal(readConfig(JSON.stringify(wrong)).ok, false, JSON.stringify(wrong))
  }
})

test("every setting is in the configuration's schema, with a description", () => {
  for (const { key, description } of settingRows)
    assert.equal(configSchema.properties[key]?.description, description, key)
})
