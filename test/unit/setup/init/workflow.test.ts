// The workflows that `ralph init` writes are those of examples/, with the answers in them and nothing else.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { parse } from 'yaml'
import { PLAN_LABEL } from '../../../../src/action/github-event.ts'
import { agentNames, findAgent } from '../../../../src/agents/registry.ts'
import { requestFromIssue } from '../../../../src/app/plan-request.ts'
import { writtenSettings } from '../../../../src/settings/read-settings.ts'
import { readWorkflow } from '../../../../src/setup/checks/workflow-file.ts'
import { secretsOfAgent } from '../../../../src/setup/init/agent-secrets.ts'
import { type FoundFacts, resolveAnswers } from '../../../../src/setup/init/answers.ts'
import { TOOL_ACTIONS } from '../../../../src/setup/init/ci/tool-actions.ts'
import { detect } from '../../../../src/setup/init/detect.ts'
import { fillWorkflow } from '../../../../src/setup/init/init-files.ts'
import { ROOT } from '../../../e2e/site.ts'
import { actionlint } from '../../../machine/actionlint.ts'

const example = (name: string) => readFile(join(ROOT, 'examples', name), 'utf8')
const NAMES = [
  'ralph.yml',
  'ralph-separate.yml',
  'ralph-parallel.yml',
  'ralph-separate-parallel.yml',
  'ralph-resume.yml',
]
const withoutHead = (text: string) => text.replace(/^(?:#.*\n)+/, '')
const inputsIn = (text: string): Record<string, string> =>
  Object.assign({}, ...(readWorkflow('x.yml', text, 'ralph/action')?.jobs ?? []).map(({ inputs }) => inputs))
const PIN = 'c'.repeat(40)
const NOTHING: FoundFacts = {
  project: detect({ paths: [], text: () => '' }),
  isEmpty: false,
  agent: { name: 'claude', version: null },
  installedAgents: [],
  olderGates: {},
  olderSettings: {},
  olderNotes: [],
  budgetUsd: null,
  baseBranch: null,
}

test("init with the example's answers writes each example workflow byte for byte", async () => {
  for (const name of NAMES) {
    const text = await example(name)
    const person = writtenSettings({ inputs: inputsIn(text), env: {} })
    const { inputs } = resolveAnswers({ person, config: {} }, NOTHING)
    const filled = fillWorkflow(text, {
      inputs,
      keys: ['ANTHROPIC_API_KEY'],
      setups: [],
      tools: [],
      pin: null,
    })
    assert.equal(withoutHead(filled), withoutHead(text))
    const pinned = fillWorkflow(text, {
      inputs,
      keys: ['ANTHROPIC_API_KEY'],
      setups: [],
      tools: [],
      pin: PIN,
    })
    assert.ok(!pinned.includes('<sha>'))
    assert.equal(pinned.replaceAll(`@${PIN}`, '@<sha>'), filled)
  }
})

test("init proposes independent gates side by side, the others alone, but not beside a person's gates", () => {
  const scripts = { lint: 'eslint .', test: 'jest', build: 'tsc' }
  const text = JSON.stringify({ scripts })
  const project = detect({ paths: ['package.json'], text: (path) => (path === 'package.json' ? text : '') })
  const found = { ...NOTHING, project }
  const proposed = resolveAnswers({ person: {}, config: {} }, found)
  const build = { run: 'npm run build', alone: true }
  for (const { gates, gatesParallel } of [proposed.inputs, proposed.config])
    assert.deepEqual([gates, gatesParallel], [{ lint: 'npm run lint', test: 'npm test', build }, 2])
  const chosen = { gates: { lint: 'npm run lint', test: 'npm test' } }
  assert.equal(resolveAnswers({ person: chosen, config: {} }, found).inputs.gatesParallel, 2)
  const without = [
    { person: { gate: ['e2e=npm run e2e'] }, config: {} },
    { person: { gates: { test: 'npm test', build } }, config: {} },
    { person: {}, config: { gates: { lint: 'npm run lint', test: 'npm test' } } },
  ]
  for (const given of without) assert.equal(resolveAnswers(given, found).inputs.gatesParallel, undefined)
})

test('init gives tests that run build output a need, and keeps the written order where unsure', () => {
  const proposed = (test: string, more: { pretest?: string } = {}, files: string[] = []) => {
    const text = JSON.stringify({ scripts: { lint: 'eslint .', build: 'tsc', test, ...more } })
    const paths = ['package.json', ...files]
    const project = detect({ paths, text: (path) => (path === 'package.json' ? text : '') })
    return resolveAnswers({ person: {}, config: {} }, { ...NOTHING, project }).config
  }
  const [build, test] = [
    { run: 'npm run build', alone: true },
    { run: 'npm test', needs: ['build'] },
  ]
  for (const line of [
    'node --test dist/**/*.test.js',
    "mocha 'dist/test/*.js'",
    'node ./build/test/all.js',
  ]) {
    const { gates, gatesParallel } = proposed(line)
    assert.deepEqual([gates, gatesParallel], [{ lint: 'npm run lint', build, test }, 2], line)
    assert.deepEqual(Object.keys(gates as object), ['lint', 'build', 'test'])
  }
  const unsure = [
    proposed('jest --coverageDirectory dist/coverage'),
    proposed('vitest run --exclude dist/**'),
    proposed('tsc && node --test dist/*.test.js'),
    proposed('node --test dist/*.test.js', { pretest: 'npm run build' }),
    proposed('node --test lib/*.test.js', {}, ['lib/one.test.js']),
    proposed('rimraf dist/old && jest'),
  ]
  for (const { gates } of unsure)
    assert.deepEqual(Object.entries(gates as object), [
      ['lint', 'npm run lint'],
      ['test', 'npm test'],
      ['build', build],
    ])
})

test("init's cost limit comes from earlier runs, else 20; a person, or an agent without costs, overrides it", () => {
  const limit = (person: Record<string, unknown>, budgetUsd: number | null) =>
    resolveAnswers({ person, config: {} }, { ...NOTHING, budgetUsd }).inputs.maxCostUsd
  assert.equal(limit({}, 35), 35)
  assert.equal(limit({}, null), 20)
  assert.equal(limit({ maxCostUsd: '7' }, 35), 7)
  assert.equal(limit({ agent: 'codex' }, 35), undefined)
})

test('init proposes a limit of cost or time for every agent, unless a person gives one', () => {
  const limits = (person: Record<string, unknown>) => {
    const { inputs } = resolveAnswers({ person, config: {} }, NOTHING)
    return [inputs.maxCostUsd, inputs.maxAgentTime]
  }
  for (const agent of agentNames) {
    const [cost, time] = limits({ agent })
    const reports = findAgent(agent)?.reports
    assert.equal(cost, reports === 'cost' ? 20 : undefined, agent)
    assert.equal(time, reports === 'cost' && agent !== 'custom' ? undefined : '8h', agent)
  }
  assert.deepEqual(limits({ agent: 'codex', maxTokens: '1000' }), [undefined, undefined])
})

test('init names the hosts of a model that the closed network would keep from the agent', () => {
  const written = (person: Record<string, unknown>, set: string[] = []) => {
    const { inputs, config } = resolveAnswers({ person, config: {} }, NOTHING, (name) => set.includes(name))
    return [inputs.networkAllow, config.networkAllow]
  }
  for (const agent of ['claude', 'codex', 'gemini', 'custom'])
    assert.deepEqual(written({ agent }), [undefined, undefined], agent)
  assert.deepEqual(written({ agent: 'copilot' }), [['api.github.com', '*.githubcopilot.com'], undefined])
  assert.deepEqual(written({ agent: 'opencode' }, ['GROQ_API_KEY']), [
    ['models.dev', 'api.groq.com'],
    undefined,
  ])
  assert.deepEqual(written({ agent: 'amp', network: 'open' }), [undefined, undefined])
  assert.deepEqual(written({ agent: 'amp', isolation: 'same-user' }), [undefined, undefined])
  // The jobs of a wave read the configuration.
  const [input, inFile] = written({ agent: 'cursor', maxParallel: '2' })
  assert.deepEqual([input, inFile], [['*.cursor.sh'], ['*.cursor.sh']])
})

test('init with every agent, any command and tools passes actionlint but for `queue`, with unchanged permissions', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-workflows-'))
  try {
    for (const name of NAMES) {
      const text = await example(name)
      const { permissions, jobs } = parse(text)
      for (const agent of agentNames) {
        const inputs = {
          agent,
          prepare: 'a: b # c',
          gates: {
            test: 'it\'s "quoted" # && more: than',
            long: { run: 'one\ntwo', when: ['ui', 'e2e'], timeout: '20m' },
          },
          maxIterations: 5,
          networkAllow: ['npm', '*.example.com'],
        }
        const filled = fillWorkflow(text, {
          inputs,
          keys: secretsOfAgent(agent, () => false),
          setups: ['npm install --global pnpm@9.1.0'],
          tools: TOOL_ACTIONS.map(({ action, commit, tag, version, uncached }) => ({
            action,
            commit,
            tag,
            inputs: { [version]: '>=1.20', ...uncached?.inputs },
          })),
          pin: PIN,
        })
        await writeFile(join(folder, `${agent}-${name}`), filled)
        const written = parse(filled)
        assert.deepEqual(written.permissions, permissions)
        for (const [job, { permissions: own }] of Object.entries<{ permissions: unknown }>(jobs))
          assert.deepEqual(written.jobs[job].permissions, own)
        if (name === 'ralph.yml')
          assert.deepEqual(writtenSettings({ inputs: inputsIn(filled), env: {} }), {
            ...inputs,
            maxIterations: '5',
            networkAllow: 'npm\n*.example.com',
          })
      }
    }
    const said = await actionlint(ROOT, `${folder}/*.yml`)
    const findings = said.split('\n').filter((line) => /\.yml:\d+:\d+/.test(line))
    assert.equal(findings.filter((line) => /"queue"/.test(line)).length, 4 * agentNames.length, said)
    assert.deepEqual(
      findings.filter((line) => !/"queue"/.test(line)),
      [],
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test("init puts the tools' set-up step before agent and gates only, never where a write token could be misused", async () => {
  const filled = fillWorkflow(await example('ralph-separate.yml'), {
    inputs: {},
    keys: ['K'],
    setups: ['pipx install uv'],
    tools: [],
    pin: null,
  })
  const { jobs } = parse(filled)
  type Step = { run?: string; with?: { command?: string } }
  for (const [name, { steps }] of Object.entries<{ steps: Step[] }>(jobs)) {
    const at = steps.findIndex(({ run }) => run === 'pipx install uv')
    assert.equal(at >= 0, ['work', 'gate'].includes(name), name)
    if (at >= 0) assert.equal(steps[at + 1]?.with?.command, name)
  }
})

test('the workflow checks out submodules as CI does, and init names those that are missing here', async () => {
  const ci = (submodules: string) =>
    `on: pull_request\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@v7\n${submodules}      - run: npm test\n`
  const files = (submodules: string, more: Record<string, string> = {}) => ({
    'package.json': '{"scripts":{"test":"node --test"}}',
    '.github/workflows/ci.yml': ci(submodules),
    '.gitmodules': '[submodule "data"]\n\tpath = test/data\n\turl = https://example.com/data\n',
    ...more,
  })
  const found = (all: Record<string, string>) =>
    detect({ paths: Object.keys(all), text: (path) => all[path] ?? '' })
  const taken = found(files('        with:\n          submodules: recursive\n'))
  assert.equal(taken.submodules, 'recursive')
  assert.match(
    taken.notes.join(),
    /the submodule is not checked out here.*test\/data.*git submodule update --init/,
  )
  const left = found(files('', { 'test/data/a.json': '{}' }))
  assert.equal(left.submodules, null)
  assert.doesNotMatch(left.notes.join(), /submodule/)
  const tree = files('')
  const gitFile = { 'test/data/.git': 'gitdir: ../../.git/modules/data\n' }
  const unlisted = detect({
    paths: Object.keys(tree),
    text: (path) => ({ ...tree, ...gitFile })[path] ?? '',
  })
  assert.doesNotMatch(unlisted.notes.join(), /submodule/, 'in a folder that is not looked into')

  for (const name of ['ralph.yml', 'ralph-separate.yml']) {
    const values = { inputs: {}, keys: ['K'], setups: [], tools: [], pin: null }
    const { jobs } = parse(fillWorkflow(await example(name), { ...values, submodules: 'recursive' }))
    type Step = { uses?: string; with?: Record<string, unknown> }
    const steps = Object.values<{ steps: Step[] }>(jobs).flatMap((job) => job.steps)
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))
    assert.ok(checkouts.length > 0)
    for (const { with: inputs } of checkouts) assert.equal(inputs?.submodules, 'recursive', name)
  }
})

test('the issue form as GitHub renders it: its label starts a plan, its first field names the feature', async () => {
  const { labels, body } = parse(await example('ISSUE_TEMPLATE/ralph.yml'))
  assert.deepEqual(labels, [PLAN_LABEL])
  type Field = {
    type: string
    id: string
    attributes: { label: string }
    validations?: { required?: boolean }
  }
  const fields: Field[] = body
  assert.equal(new Set(fields.map(({ id }) => id)).size, fields.length)
  const answers: Record<string, string> = {
    feature: 'auth',
    goal: 'People sign in with a passkey.',
    gates: 'e2e: x',
    limits: '9 dollars',
  }
  const rendered = fields
    .map(({ id, attributes: { label } }) => `### ${label}\n\n${answers[id] ?? '_No response_'}`)
    .join('\n\n')
  const issue = { number: 7, title: 'Plan: passkeys', body: rendered, comments: [] }
  const { feature, plan } = requestFromIssue(issue, { known: null, today: '2026-01-31', gates: ['test'] })
  assert.equal(feature.name, 'auth')
  assert.match(plan.brief, /People sign in with a passkey/)
  assert.match(plan.questions.join(), /gate e2e.*9 dollars/)
  assert.deepEqual(
    fields.filter(({ validations }) => validations?.required).map(({ id }) => id),
    ['feature', 'goal'],
  )
})

test('with auth: oidc the workflow has no secret, and the job may ask for its identity', async () => {
  const keyless = findAgent('claude')?.keyless?.find(({ when }) => when === null)
  for (const name of ['ralph.yml', 'ralph-parallel.yml']) {
    const filled = fillWorkflow(await example(name), {
      inputs: { agent: 'claude', auth: 'oidc' },
      keys: [],
      keyless: keyless ?? null,
      setups: [],
      tools: [],
      pin: null,
    })
    assert.doesNotMatch(filled, /secrets\.ANTHROPIC/)
    const { jobs } = parse(filled)
    for (const job of Object.values<{ permissions: Record<string, string>; steps: { env?: object }[] }>(
      jobs,
    )) {
      const hasIds = job.steps.some(({ env = {} }) => 'ANTHROPIC_FEDERATION_RULE_ID' in env)
      assert.equal(job.permissions['id-token'], hasIds ? 'write' : undefined)
    }
    assert.match(filled, /ANTHROPIC_SERVICE_ACCOUNT_ID: \$\{\{ vars\.ANTHROPIC_SERVICE_ACCOUNT_ID \}\}/)
  }
})
