// What makes a gate's result another one: everything that it can depend on, and nothing that a session could forge.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Gate } from '../../../src/engine/model/gate.ts'
import { type ReuseFacts, reuseKeys } from '../../../src/gates/reuse-key.ts'

const GATE: Gate = { name: 'test', run: 'npm test', timeoutMs: 1000, when: null, advisory: false }
const TREES: Readonly<Record<string, string>> = { one: 'tree-1', same: 'tree-1', lockfile: 'tree-2' }
const FACTS: ReuseFacts = {
  treeOf: async (commit) => TREES[commit] ?? null,
  ...{ services: [], prepare: 'npm ci', workingDirectory: '.', isolation: 'same-user open' },
  machine: ['linux', 'x64', '/usr/bin'],
  env: { FOO: '1', HOME: '/home/me', TMPDIR: '/tmp' },
}
const keyOf = async (
  commit: string,
  gate: Partial<Gate> = {},
  { base = 'base', ...facts }: Partial<ReuseFacts> & { base?: string } = {},
) => (await reuseKeys([{ ...GATE, ...gate }], { commit, base }, { ...FACTS, ...facts })).test
const web = {
  ...{ name: 'web', start: 'npm start', readyTimeoutMs: 1, when: null, inherit: [], environment: {} },
  ready: { kind: 'url' as const, url: 'http://localhost:1/' },
} as unknown as ReuseFacts['services'][number]

test('the same run has the same reuse key; another commit, another base or a changed lockfile has a different one', async () => {
  const key = await keyOf('one')
  assert.match(key ?? '', /^[0-9a-f]{40}$/)
  assert.equal(await keyOf('one'), key)
  assert.notEqual(await keyOf('same'), key, 'a gate may ask git for the commit')
  assert.notEqual(await keyOf('one', {}, { base: 'another' }), key, 'RALPH_BASE')
  assert.notEqual(await keyOf('lockfile'), key)
  assert.equal(await keyOf('gone'), '')
})

test('the reuse key depends on the definition of the gate, prepare, folder, isolation and machine', async () => {
  const all = await Promise.all([
    keyOf('one'),
    keyOf('one', { run: 'npm run test' }),
    keyOf('one', { timeoutMs: 2000 }),
    keyOf('one', { advisory: true }),
    keyOf('one', {}, { prepare: 'npm install' }),
    keyOf('one', {}, { prepare: null }),
    keyOf('one', {}, { workingDirectory: 'web' }),
    keyOf('one', {}, { isolation: 'same-user model' }),
    keyOf('one', {}, { isolation: 'other-user open' }),
    keyOf('one', {}, { machine: ['linux', 'x64', '/home/agent/bin:/usr/bin'] }),
  ])
  assert.equal(new Set(all).size, all.length)
  assert.ok(!all.includes(''))
})

test('the reuse key depends on variables of gates, but not on those that differ in each job', async () => {
  const key = await keyOf('one')
  const withEnv = (env: Record<string, string>) => keyOf('one', {}, { env: { ...FACTS.env, ...env } })
  assert.notEqual(await withEnv({ FOO: '0' }), key)
  assert.notEqual(await withEnv({ BAR: '' }), key)
  const anew = [
    'HOME',
    'HOSTNAME',
    'TMPDIR',
    'TEMP',
    'TMP',
    'RUNNER_TRACKING_ID',
    'RALPH_PORT',
    'RALPH_WORKER',
  ]
  for (const name of anew) assert.equal(await withEnv({ [name]: 'another' }), key, name)
})

test('no reuse key with retries, coverage of the change, `reuse: false`, or services', async () => {
  assert.equal(await keyOf('one', { retries: 1 }), '')
  assert.equal(await keyOf('one', { coverage: { file: 'lcov.info', threshold: null } }), '')
  assert.equal(await keyOf('one', { reuse: false }), '')
  assert.equal(await keyOf('one', { behindPages: true }), '')
  assert.equal(await keyOf('one', {}, { services: [web] }), '')
})
