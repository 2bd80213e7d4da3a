// The agent's HOME: the user's where it is of use, else one of Ralph's.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { homeFor } from '../../../src/agents/home.ts'
import { agentNames, findAgent } from '../../../src/agents/registry.ts'

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'home-'))
})
after(() => rmSync(folder, { recursive: true }))

const vendor = (name: string) => {
  const found = findAgent(name)
  assert.ok(found)
  return found
}

test("the user's own HOME is kept, and nothing is left in it", async () => {
  const home = join(folder, 'user')
  mkdirSync(home)
  for (const name of agentNames) assert.equal(await homeFor(vendor(name), home, join(folder, 'ours')), home)
  assert.deepEqual(readdirSync(home), [])
  assert.equal(existsSync(join(folder, 'ours')), false)
})

test('a HOME that is missing is one of ours, for every vendor', async () => {
  for (const name of agentNames) {
    for (const home of [undefined, '', 'relative']) {
      const ours = join(folder, name, 'home')
      assert.equal(await homeFor(vendor(name), home, ours), ours)
      assert.ok(existsSync(ours))
    }
  }
})

test('one that cannot be written stays for those who only read it', async () => {
  const ours = join(folder, 'writable')
  assert.equal(await homeFor(vendor('claude'), '/proc', ours), '/proc')
  for (const name of ['codex', 'gemini', 'opencode', 'copilot', 'amp', 'cursor']) {
    assert.equal(await homeFor(vendor(name), '/proc', ours), ours, name)
  }
})
