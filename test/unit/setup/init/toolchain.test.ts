// Tools in the generated workflow: the steps of the project's CI, with its versions and pins, or what version files say.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { detect } from '../../../../src/setup/init/detect.ts'
import { fillWorkflow } from '../../../../src/setup/init/init-files.ts'

const expression = (text: string) => ['$', `{{ ${text} }}`].join('')
const EXAMPLES = join(import.meta.dirname, '..', '..', '..', '..', 'examples')
const project = (files: Record<string, string>) =>
  detect({ paths: Object.keys(files), text: (path) => files[path] ?? '' })
const ci = (job: string) => ({ '.github/workflows/ci.yml': `on: pull_request\njobs:\n  test:\n${job}` })
const SHA = 'b'.repeat(40)

test('setup steps of CI come with the newest version of its matrix, its own pins, and without caches or secrets', async () => {
  const { tools, setups, wanted } = project({
    'package.json': '{"scripts":{"test":"node --test"}}',
    'pnpm-lock.yaml': '',
    ...ci(`
    runs-on: ubuntu-latest
    strategy: { matrix: { node: [18, 20.x, 22, "24-nightly"] } }
    steps:
      - uses: pnpm/action-setup@${SHA} # v4.1.0
        with: { version: 9 }
      - uses: actions/setup-node@v4
        with: { node-version: "${expression('matrix.node')}", cache: pnpm, token: "${expression('secrets.X')}" }
      - run: pnpm test
`),
  })
  assert.deepEqual(
    tools.map(({ action, tag, inputs }) => [action, tag, inputs]),
    [
      ['pnpm/action-setup', 'v4.1.0', { version: '9' }],
      ['actions/setup-node', 'v7.0.0', { 'node-version': '22' }],
    ],
  )
  assert.equal(tools[0]?.commit, SHA)
  assert.deepEqual(setups, [], 'the action installs pnpm')
  assert.deepEqual(
    wanted.map(({ program, version }) => `${program} ${version}`),
    ['pnpm 9', 'node 22'],
  )

  for (const name of ['ralph.yml', 'ralph-separate.yml']) {
    const template = await readFile(join(EXAMPLES, name), 'utf8')
    const text = fillWorkflow(template, { inputs: { agent: 'claude' }, keys: [], setups, tools, pin: null })
    const { steps } = parse(text).jobs.work
    const at = steps.findIndex(
      ({ uses }: { uses?: string }) => uses?.startsWith('actions/setup-node@') === true,
    )
    assert.deepEqual(steps[at].with, { 'node-version': '22' })
    assert.match(steps[at + 1].uses, /^ralph\/action@/)
  }
})

test('without such a step in CI, a version file of the project chooses the version', () => {
  const stepsOf = (files: Record<string, string>) =>
    project(files).tools.map(({ action, inputs }) => [action, inputs])
  assert.deepEqual(stepsOf({ 'package.json': '{}', '.nvmrc': '20\n' }), [
    ['actions/setup-node', { 'node-version-file': '.nvmrc' }],
  ])
  assert.deepEqual(stepsOf({ 'go.mod': 'module x\n\ngo 1.22\n', '.tool-versions': 'python 3.12.1\n' }), [
    ['actions/setup-python', { 'python-version-file': '.tool-versions' }],
    ['actions/setup-go', { 'go-version-file': 'go.mod' }],
  ])
  assert.deepEqual(stepsOf({ 'package.json': '{"engines":{"node":">=20"}}' }), [
    ['actions/setup-node', { 'node-version-file': 'package.json' }],
  ])
  assert.deepEqual(stepsOf({ 'package.json': '{}' }), [])
})

test('a service of CI is named with the line to add', () => {
  const { notes } = project({
    'go.mod': 'module x\n',
    ...ci(`
    runs-on: ubuntu-latest
    services:
      postgres: { image: "postgres:16", env: { POSTGRES_PASSWORD: x }, ports: ["5432:5432"] }
    steps: [{ run: go test ./... }]
`),
  })
  assert.equal(notes.length, 1)
  assert.match(
    notes[0] ?? '',
    /^CI starts the service postgres .*under services: \{ postgres: \{ image: postgres:16,.*5432:5432/,
  )
})
