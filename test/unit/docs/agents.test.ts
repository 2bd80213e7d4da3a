// The table of agents in docs/agents.md says what the registry and the real runs say.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import type { AgentVendor } from '../../../src/agents/agent.ts'
import { wayToModel } from '../../../src/agents/model-way.ts'
import { agentNames, findAgent } from '../../../src/agents/registry.ts'
import { clis } from '../../agents-real/clis.ts'

const PAGE = join(import.meta.dirname, '../../../docs/agents.md')

/** How a model is reached in the closed network, with the usual key alone. */
function wayOf(vendor: AgentVendor): string {
  const key = vendor.login?.keys[0]
  const way = wayToModel(vendor, (name) => name === key)
  if (way.kind === 'proxy') return 'proxy'
  return way.kind === 'hosts' || vendor.modelHosts !== undefined ? 'hosts' : 'your hosts'
}

function rowOf(vendor: AgentVendor): string {
  const driven = clis.find(({ name }) => name === vendor.name)
  const cells = [
    `\`${vendor.name}\``,
    vendor.npm === null ? 'no' : `\`${vendor.npm}\``,
    driven === undefined ? 'no' : driven.version,
    wayOf(vendor),
    vendor.keyless === undefined ? 'no' : 'yes',
    vendor.reports === 'cost' ? 'cost' : vendor.reports,
    driven === undefined ? 'not tried' : 'yes',
    driven?.tellsReset === true ? 'yes' : 'no',
  ]
  return `| ${cells.join(' | ')} |`
}

test('the table of agents is what the registry and the real runs say', () => {
  const rows = readFileSync(PAGE, 'utf8')
    .split('\n')
    .filter((line) => /^\| `\w+` \|/.test(line))
  const expected = agentNames.flatMap((name) => {
    const vendor = findAgent(name)
    return vendor === null ? [] : [rowOf(vendor)]
  })
  assert.deepEqual(rows, expected)
})
