// A new agent is one file and one line: what others have to know of it is derived from there.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { agentVariables } from '../../../src/agents/agent.ts'
import { agentNames, agentSettings, findAgent } from '../../../src/agents/registry.ts'

const ROOT = join(import.meta.dirname, '../../..')
const SOURCES = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.ts'),
)

const vendors = agentNames.flatMap((name) => findAgent(name) ?? [])

test('every agent in the registry has the required fields, and no two share a name or a program', () => {
  assert.equal(vendors.length, agentNames.length)
  for (const names of [vendors.map(({ name }) => name), vendors.map(({ program }) => program)]) {
    assert.equal(new Set(names).size, vendors.length)
  }
  for (const { name, install, login, settings, keyShapes } of vendors) {
    assert.ok(install.length > 5, name)
    assert.ok(login === null || login.keys.length > 0, name)
    for (const path of settings) assert.equal(path, path.toLowerCase(), name)
    for (const { starts, key } of keyShapes) {
      assert.ok(starts.length > 0 && key.sticky, name)
    }
  }
})

/** The code of a file, without its comments. */
function codeOf(path: string): string {
  return readFileSync(join(ROOT, 'src', path), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$|^import [^;]*?from .*$/gm, '')
}

test("an agent's name, program, variables and files are only in its own source file", () => {
  // `custom` is Ralph's own word, and every shell script says bash.
  const named = vendors.filter(({ name }) => name !== 'custom')
  // Not only an agent's.
  const shared = ['AWS_REGION', '.env', '.agents', 'API_TIMEOUT_MS']
  const words = new Set(
    named.flatMap((vendor) => [
      vendor.name,
      vendor.program,
      ...(vendor.npm === null ? [] : [vendor.npm]),
      ...agentVariables(vendor),
      ...(vendor.withheld ?? []),
      ...agentSettings,
    ]),
  )
  for (const word of shared) words.delete(word)
  const own = new Set(['stream-json.ts', ...agentNames.map((name) => `${name}.ts`)])
  const found: string[] = []
  const isOwn = (path: string) =>
    path.startsWith('agents/keyless/') || (path.startsWith('agents/') && own.has(path.slice(7)))
  for (const path of SOURCES.filter((path) => !isOwn(path))) {
    const code = codeOf(path)
    for (const word of words) {
      const plain = word.replaceAll('.', '\\.')
      // A bare word such as `cursor` may be a name in the code.
      const around = /^[a-z]+$/.test(word) ? '[\'"`/]' : '[\'"`/ ]'
      if (new RegExp(`${around}${plain}${around}`).test(code)) found.push(`${path}: ${word}`)
    }
  }
  assert.deepEqual(found, [])
})

const TENTH = `
import { type AgentVendor, flag } from './agent.ts'
import { custom } from './custom.ts'

export const tenth: AgentVendor = {
  name: 'tenth',
  program: 'tenth-agent',
  install: 'npm install -g @tenth/agent',
  npm: '@tenth/agent',
  env: ['TENTH_MODEL'],
  login: { keys: ['TENTH_API_KEY'], others: [], files: [], project: [] },
  keyShapes: [{ what: 'a Tenth key', starts: ['tnth_'], key: /tnth_[a-z0-9]{20,}/y }],
  settings: ['.tenth', '.github/tenth'],
  reports: 'nothing',
  args: ({ model, extraArgs }) => [...flag('--model', model), ...extraArgs],
  parser: custom.parser,
}
`

/** Run in the copy: what everybody who has to know says of the tenth agent. */
const ASK = `
import { installAgent } from './src/agents/install.ts'
import { agentOfProgram, agentSettings, findAgent, isModelKey } from './src/agents/registry.ts'
import { redactorFor } from './src/app/redactor.ts'
import { judgeChanges } from './src/gates/guard.ts'
import { flagTable, readSettings } from './src/settings/read-settings.ts'
import { gateEnv } from './src/isolation/untrusted-env.ts'

const redactor = redactorFor([])
const change = (path) => ({ path, status: 'A', oldMode: '000000', newMode: '100644', size: 1, content: Buffer.from('x') })
const rules = { protectedPaths: [], configFile: null, agentSettings, secrets: redactor }
const load = (flags) => readSettings({ surface: 'cli', flags: { gates: 'none', ...flags }, env: {} })
const vendor = findAgent('tenth')
const npm = await installAgent({
  vendor, version: '1.2.3', env: { PATH: '/nowhere' }, caches: ['/dev/null/cache'], report: () => {},
}).catch((error) => error.mistakes[0].found)
console.log(JSON.stringify({
  agent: load({ agent: 'tenth' }).settings.agent,
  cost: load({ agent: 'tenth', maxCostUsd: '5' }).mistakes.map((mistake) => mistake.found),
  program: agentOfProgram('tenth-agent'),
  help: JSON.stringify(flagTable()).includes('tenth'),
  guarded: ['a/.tenth/x.json', '.github/tenth/y', 'src/.github'].map((path) => judgeChanges([change(path)], rules)[0]?.reason),
  redacted: redactor.redact('key tnth_' + 'a1'.repeat(10) + ' end'),
  isModelKey: isModelKey('TENTH_API_KEY'),
  gate: gateEnv({ TENTH_API_KEY: 'x', TENTH_MODEL: 'm' }, { extra: ['TENTH_API_KEY', 'TENTH_MODEL'], isModelKey }),
  npm,
}))
`

test('a tenth agent needs one file and one line: flags, help, guard, redaction, gates and install include it', () => {
  const copy = mkdtempSync(join(tmpdir(), 'tenth-'))
  try {
    cpSync(join(ROOT, 'src'), join(copy, 'src'), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    writeFileSync(join(copy, 'package.json'), '{"type":"module"}')
    writeFileSync(join(copy, 'src/agents/tenth.ts'), TENTH)
    const registry = readFileSync(join(ROOT, 'src/agents/registry.ts'), 'utf8')
    const line = "import { tenth } from './tenth.ts'\n"
    writeFileSync(
      join(copy, 'src/agents/registry.ts'),
      line + registry.replace(/\n {2}custom,\n/, '\n  tenth,\n  custom,\n'),
    )
    writeFileSync(join(copy, 'ask.ts'), ASK)
    const said = JSON.parse(execFileSync(process.execPath, [join(copy, 'ask.ts')], { encoding: 'utf8' }))
    assert.deepEqual(said, {
      agent: 'tenth',
      cost: ['Ralph cannot enforce a cost limit with tenth, which reports neither cost nor tokens.'],
      program: 'tenth',
      help: true,
      guarded: Array(3).fill("only people may change an agent's settings"),
      redacted: 'key *** end',
      isModelKey: true,
      gate: { env: { SHLVL: '1', TENTH_MODEL: 'm' }, refused: ['TENTH_API_KEY'] },
      npm: 'npm, which installs version 1.2.3, is not on the PATH.',
    })
  } finally {
    rmSync(copy, { recursive: true })
  }
})
