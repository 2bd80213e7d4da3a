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
      ['actions/setup-node', 'v7.0.0', { 'node-version': '22', 'package-manager-cache': 'false' }],
    ],
  )
  assert.equal(tools[0]?.commit, SHA)
  assert.deepEqual(setups, [], 'the action installs pnpm')
  assert.deepEqual(
    wanted.map(({ name, version }) => `${name} ${version}`),
    ['pnpm 9', 'node 22'],
  )

  for (const name of ['ralph.yml', 'ralph-separate.yml']) {
    const template = await readFile(join(EXAMPLES, name), 'utf8')
    const text = fillWorkflow(template, { inputs: { agent: 'claude' }, keys: [], setups, tools, pin: null })
    const { steps } = parse(text).jobs.work
    const at = steps.findIndex(
      ({ uses }: { uses?: string }) => uses?.startsWith('actions/setup-node@') === true,
    )
    assert.equal(steps[at].with['node-version'], '22')
    assert.match(steps[at + 1].uses, /^ralph\/action@/)
  }
})

test('without such a step in CI, a version file of the project chooses the version', () => {
  const cases: [files: Record<string, string>, step: string, wanted: string][] = [
    [{ '.nvmrc': 'v20\n' }, 'setup-node node-version-file=.nvmrc', 'node 20'],
    [{ '.nvmrc': 'lts/*\n' }, 'setup-node node-version-file=.nvmrc', ''],
    [{ '.node-version': '22.1.0' }, 'setup-node node-version-file=.node-version', 'node 22.1.0'],
    [{ 'mise.toml': '[tools]\nnode = "22"\n' }, 'setup-node node-version=22', 'node 22'],
    [
      { 'package.json': '{"engines":{"node":">=20"}}' },
      'setup-node node-version-file=package.json',
      'node 20+',
    ],
    [
      { '.python-version': '# ours\n3.12\n' },
      'setup-python python-version-file=.python-version',
      'python3 3.12',
    ],
    [
      { '.tool-versions': 'python 3.12.1\n' },
      'setup-python python-version-file=.tool-versions',
      'python3 3.12.1',
    ],
    [{ 'go.mod': 'module x\n\ngo 1.22\n' }, 'setup-go go-version-file=go.mod', 'go 1.22+'],
    [{ '.ruby-version': 'ruby-3.3.1\n' }, 'setup-ruby', 'ruby 3.3.1'],
    [{ Gemfile: "source 'x'\nruby '~> 3.2'\n" }, 'setup-ruby ruby-version=3.2', 'ruby 3.2'],
    [
      { '.java-version': '17\n' },
      'setup-java distribution=temurin java-version-file=.java-version',
      'java 17',
    ],
    [
      { '.tool-versions': 'java corretto-21.0.2\n' },
      'setup-java distribution=corretto java-version=21.0.2',
      'java 21.0.2',
    ],
    [
      { '.sdkmanrc': 'java=21.0.5-tem\n' },
      'setup-java distribution=temurin java-version=21.0.5',
      'java 21.0.5',
    ],
    [
      { '.tool-versions': 'erlang 27.1\nelixir 1.17.2\n' },
      'setup-beam version-file=.tool-versions version-type=strict',
      'elixir 1.17.2',
    ],
    [
      { 'global.json': '{"sdk":{"version":"8.0.100"}}' },
      'setup-dotnet global-json-file=global.json',
      'dotnet 8.0.100',
    ],
    [{ 'composer.json': '{"config":{"platform":{"php":"8.2.0"}}}' }, 'setup-php php-version=8.2', 'php 8.2'],
    [{ '.bun-version': '1.1.0' }, 'setup-bun bun-version-file=.bun-version', 'bun 1.1.0'],
    [{ '.swift-version': '6.0\n' }, 'setup-swift swift-version=6.0', 'swift 6.0'],
    [{ 'mise.toml': '[tools]\ndeno = "2.1"\n' }, 'setup-deno deno-version=2.1', 'deno 2.1'],
    [
      { 'api/go.mod': 'module x\n\ngo 1.22\n', 'api/x_test.go': '' },
      'setup-go go-version-file=api/go.mod',
      'go 1.22+',
    ],
    [
      { 'app/Gemfile': '', 'app/.rspec': '', 'app/.ruby-version': '3.3.1\n' },
      'setup-ruby ruby-version=3.3.1',
      'ruby 3.3.1',
    ],
    [{ 'package.json': '{}', 'mise.toml': 'no TOML [' }, '', ''],
    [{ '.nvmrc': '$(id)' }, 'setup-node node-version-file=.nvmrc', ''],
    [{ 'mise.toml': '[tools]\nnode = "$(id)"\n' }, '', ''],
  ]
  for (const [files, step, version] of cases) {
    const { tools, wanted } = project(files)
    const off = ['cache', 'package-manager-cache', 'no-cache']
    const shown = tools.map(({ action, inputs }) => {
      const kept = Object.entries(inputs).filter(([name]) => !off.includes(name))
      const words = kept.map(([name, value]) => `${name}=${value}`).sort()
      return [action.replace(/^.*\//, ''), ...words].join(' ')
    })
    assert.deepEqual(shown.join(), step, JSON.stringify(files))
    const wishes = wanted.map((one) => `${one.name} ${one.version}${one.isLeast ? '+' : ''}`)
    assert.equal(wishes.join(), version, JSON.stringify(files))
  }
})

const uses = (...lines: string[]) =>
  ci(
    `    steps:\n${[...lines.map((line) => `uses: ${line}`), 'run: make test'].map((line) => `      - { ${line} }\n`).join('')}`,
  )

test('each setup action has its row: with a commit, and without a cache that is saved after the agent has worked', () => {
  const { tools, notes } = project(
    uses(
      'jdx/mise-action@v2, with: { version: 2026.1.0, cache: true }',
      'pdm-project/setup-pdm@v4, with: { python-version: 3.12, cache: true }',
      'actions/setup-go@v5, with: { go-version: 1.24 }',
      'gradle/actions/setup-gradle@v4, with: { gradle-version: "8.10" }',
      'astral-sh/setup-uv@v5, with: { enable-cache: true }',
      'oven-sh/setup-bun@v2',
      'denoland/setup-deno@v2, with: { deno-version: v2.x }',
      'swift-actions/setup-swift@v2, with: { swift-version: "6.0" }',
    ),
  )
  assert.deepEqual(
    tools.map(({ action, inputs }) => [action.split('/').at(-1), inputs]),
    [
      ['mise-action', { version: '2026.1.0', cache: 'false' }],
      ['setup-pdm', { 'python-version': '3.12' }],
      ['setup-go', { 'go-version': '1.24', cache: 'false' }],
      ['setup-gradle', { 'gradle-version': '8.10', 'cache-disabled': 'true' }],
      ['setup-uv', { 'enable-cache': 'false' }],
      ['setup-bun', { 'no-cache': 'true' }],
      ['setup-deno', { 'deno-version': 'v2.x' }],
      ['setup-swift', { 'swift-version': '6.0' }],
    ],
  )
  for (const { commit } of tools) assert.match(commit, /^[0-9a-f]{40}$/)
  assert.deepEqual(notes, [])
  assert.deepEqual(project(uses('gradle/actions/setup-gradle@v4')).tools, [], 'it would only cache')
  const older = project(
    ci(`    steps:\n      - uses: actions/setup-node@${SHA} # v4.1.0\n      - run: npm test\n`),
  ).tools
  assert.deepEqual(older[0]?.inputs, {}, 'this release does not know the input')
})

test('an action without a row is named with the step to add, with the tag that CI has', () => {
  const { tools, notes } = project(
    uses(
      'haskell-actions/setup@v2, with: { ghc-version: "9.10" }',
      'docker/setup-buildx-action@v3',
      'actions/upload-artifact@v4',
    ),
  )
  assert.deepEqual(tools, [])
  assert.equal(notes.length, 1)
  assert.match(
    notes[0] ?? '',
    /haskell-actions\/setup@v2, .* before ralph\/action: - \{ uses: haskell-actions\/setup@v2, with: \{ ghc-version: "9\.10" \}/,
  )
})

test('Rust comes by a line of rustup, with the toolchain of CI or of its file', () => {
  const lineOf = (files: Record<string, string>) => project(files).setups.join()
  const line = (channel: string, flags = '') =>
    `rustup toolchain install ${channel} --profile minimal${flags} && rustup default ${channel}`
  assert.equal(lineOf(uses('dtolnay/rust-toolchain@1.75.0')), line('1.75.0'))
  assert.equal(
    lineOf(
      uses(
        'dtolnay/rust-toolchain@nightly',
        'dtolnay/rust-toolchain@stable, with: { components: "rustfmt, clippy" }',
        'dtolnay/rust-toolchain@stable, with: { targets: wasm32-unknown-unknown }',
      ),
    ),
    line('stable', ' --component rustfmt --component clippy --target wasm32-unknown-unknown'),
  )
  assert.equal(lineOf(uses(`dtolnay/rust-toolchain@${SHA}, with: { toolchain: "1.80" }`)), line('1.80'))
  assert.equal(lineOf(uses('actions-rust-lang/setup-rust-toolchain@v1')), line('stable'))
  assert.equal(lineOf(uses('dtolnay/rust-toolchain@master, with: { toolchain: "$(id)" }')), line('stable'))
  assert.equal(lineOf({ '.tool-versions': 'rust 1.81.0\n' }), line('1.81.0'))
  const byFile = project({ 'rust-toolchain.toml': '[toolchain]\nchannel = "1.79"\n' })
  assert.deepEqual(byFile.setups, ['rustup toolchain install'])
  assert.deepEqual(
    byFile.wanted.map(({ args }) => args),
    [['run', '1.79', 'rustc', '--version']],
  )
})

test('programs that gates start are installed in the job, with the version of CI', () => {
  const poetry = { 'poetry.lock': '', 'pyproject.toml': '[tool.poetry]\nname = "x"\n', 'tests/test_a.py': '' }
  assert.deepEqual(
    project({ ...poetry, ...uses('snok/install-poetry@v1, with: { version: 1.8.3 }') }).setups,
    ['pipx install poetry==1.8.3'],
  )
  assert.deepEqual(project(poetry).setups, ['pipx install poetry'])
  assert.deepEqual(project({ justfile: 'test:\n  go test\n' }).setups, ['pipx install rust-just'])
  assert.deepEqual(project({ 'Taskfile.yml': 'tasks: { test: go test }' }).setups, [
    'pipx install go-task-bin',
  ])
  const just = uses('extractions/setup-just@v3, with: { just-version: 1.36.0 }')
  const justfile = { justfile: 'verify:\n  go test\n', Makefile: 'test:\n\tjust verify\n' }
  const started = uses(
    'extractions/setup-just@v3, with: { just-version: 1.36.0 }',
    '"x" }\n      - { run: just verify',
  )
  assert.deepEqual(project({ ...justfile, ...started }).setups, ['pipx install rust-just==1.36.0'])
  assert.deepEqual(project(just).setups, [], 'no gate starts it')
  const installed = '&& sudo install'
  const golangci = (version: string) =>
    project({ 'go.mod': 'module x\n', ...uses(`golangci/golangci-lint-action@v8${version}`) }).setups.join()
  const path = 'github.com/golangci/golangci-lint'
  assert.match(golangci(''), new RegExp(`^go install ${path}/v2/cmd/golangci-lint@latest ${installed}`))
  assert.match(
    golangci(', with: { version: v1.64.8 }'),
    new RegExp(`^go install ${path}/cmd/golangci-lint@v1\\.64\\.8 ${installed}`),
  )
  // As most workflows write it; the newest version of all could not read the project's settings.
  assert.match(golangci(', with: { version: v1.64 }'), /golangci-lint\/cmd\/golangci-lint@v1\.64 &&/)
  const short = uses(
    'extractions/setup-just@v3, with: { just-version: "1.36" }',
    '"x" }\n      - { run: just verify',
  )
  assert.deepEqual(project({ ...justfile, ...short }).setups, ['pipx install rust-just'])
  const nextest = {
    'Cargo.toml': '[package]\n',
    ...ci('\n    steps: [{ run: cargo nextest run }]\n'),
  }
  assert.match(project(nextest).setups.join(), /^cargo install --locked cargo-nextest && sudo install/)
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
