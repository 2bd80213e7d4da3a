// What a claim job does once its iteration is begun: the next jobs must find it, also where GitHub is slow or this job is killed.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { handOver } from '../../../../src/action/jobs/claim-iteration.ts'
import { stateOf, stories } from '../../engine/samples.ts'

test('a claim job saves the state, then sets its outputs, then waits for GitHub', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outputs-'))
  const file = join(folder, 'output')
  writeFileSync(file, '')
  const before = process.env.GITHUB_OUTPUT
  process.env.GITHUB_OUTPUT = file
  const seen: [what: string, outputs: string[]][] = []
  const see = (what: string) => {
    const names = [...readFileSync(file, 'utf8').matchAll(/^(\w+)<</gm)].map(([, name]) => name ?? '')
    seen.push([what, names])
  }
  try {
    await handOver({ step: { kind: 'prepare' }, state: stateOf(stories('US-001')) }, 'base', false, {
      store: { save: async () => see('saved') },
      reporter: { handedOver: async () => see('reported') },
    })
  } finally {
    if (before === undefined) delete process.env.GITHUB_OUTPUT
    else process.env.GITHUB_OUTPUT = before
    rmSync(folder, { recursive: true })
  }
  assert.deepEqual(seen, [
    ['saved', []],
    ['reported', ['handover', 'next', 'feature', 'branch']],
  ])
})
