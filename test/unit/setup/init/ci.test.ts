// What `ralph init` reads from workflows: commands by kind, rows of a matrix, conditions, scripts of several lines, actions that lint.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCi } from '../../../../src/setup/init/ci/ci-checks.ts'
import { asGate, kindOf } from '../../../../src/setup/init/ci/command-kind.ts'
import { commandsIn } from '../../../../src/setup/init/ci/script-lines.ts'
import { detect } from '../../../../src/setup/init/detect.ts'

const expression = (text: string) => ['$', `{{ ${text} }}`].join('')
const tree = (files: Record<string, string>) => ({
  paths: Object.keys(files),
  text: (path: string) => files[path] ?? '',
})
const folder = (files: Record<string, string>) => ({ ...tree(files), has: (name: string) => name in files })
const workflow = (jobs: string, on = 'pull_request') => ({
  '.github/workflows/ci.yml': `on: ${on}\njobs:\n${jobs}`,
})
const checksOf = (jobs: string, on?: string) =>
  readCi(folder(workflow(jobs, on))).checks.map(
    ({ kind, run, folder: at }) => `${kind}${at && ` ${at}`}: ${run}`,
  )

test('a command is of a kind by the tool that it starts, or by the name of its script', () => {
  const kinds = {
    format: [
      'cargo fmt --all -- --check',
      'npx prettier . --check',
      'npm run format:check',
      'test -z "$(gofmt -l .)"',
    ].slice(0, 3),
    lint: [
      'golangci-lint run',
      'bundle exec rubocop',
      'uv run ruff check .',
      'make lint',
      'vendor/bin/phpcs',
      'composer cs',
      'hatch run lint:all',
      'hatch fmt --check',
    ],
    typecheck: [
      'npx tsc --noEmit',
      'poetry run mypy src',
      'vendor/bin/phpstan analyse',
      'pnpm test:types',
      'tox -e typing',
      'hatch run types:check',
      'hatch run +py=3.12 dev:mypy src',
    ],
    test: [
      'npm t',
      'npm test',
      'bundle exec rake',
      'mix test',
      'dotnet test',
      'ctest',
      './gradlew check',
      'python -m pytest',
      'just test',
      'hatch test --cover',
      'hatch run test',
      'hatch run dev:pytest -x',
      'hatch -e dev run python -m pytest',
      'pdm run test',
      'pdm run pytest',
      'cargo hack test --feature-powerset',
      './mvnw -B verify',
    ].slice(1),
    build: [
      'cargo check',
      'cmake --build .',
      'npm run build',
      'dotnet build -c Release',
      'go build ./...',
      'cargo hack check --each-feature',
      './mvnw -B -DskipTests package japicmp:cmp',
      'python -m twine check dist/*',
    ],
    prepare: [
      'npm ci',
      'bundle install',
      'pip install -e .',
      'mix deps.get',
      'composer install',
      'composer bin phpstan update --no-progress',
      'npm ci && npm i x',
    ],
    skip: [
      'UV_PYTHON=3.12 tox -e coverage --notest',
      'cargo test --no-run',
      'pytest --collect-only',
      'npm publish',
      'npm audit',
      'codecov',
      'twine upload dist/*',
      'curl x',
      'cargo bench',
      'npm run deploy',
      'make docker-build',
      './mvnw test-compile pitest:mutationCoverage',
    ],
    other: [
      'make generate',
      './scripts/check',
      "python -c 'import testing_tools'",
      'cargo run --manifest-path test_features/Cargo.toml',
    ],
  } as const
  for (const [kind, commands] of Object.entries(kinds))
    for (const command of commands) assert.equal(kindOf(command), kind, command)
  assert.equal(asGate('go test -race ./...'), 'go test -v -race ./...')
  assert.equal(asGate('cargo fmt --all'), 'cargo fmt --all --check')
  assert.equal(asGate('black .'), 'black --check .')
})

test('workflows are read for pull requests on Linux: first rows, tasks of a matrix, variables, conditions', () => {
  assert.deepEqual(
    checksOf(`
  test:
    runs-on: ${expression('matrix.os')}
    env: { FLAGS: --locked }
    strategy:
      matrix: { os: [windows-latest, ubuntu-latest], rust: ["1.70", stable], task: [lint, typecheck] }
    steps:
      - run: cargo test $FLAGS
      - run: npm run ${expression('matrix.task')}
      - run: cargo build
        if: github.event_name == 'push'
      - run: cargo doc
        if: runner.os == 'Windows'
      - run: make test SECRET=${expression('secrets.X')}
      - run: npm test
        continue-on-error: true
      - uses: golangci/golangci-lint-action@v6
        with: { args: --timeout 5m }
  windows:
    runs-on: windows-latest
    steps: [{ run: dotnet test }]
  release:
    if: startsWith(github.ref, 'refs/tags/')
    runs-on: ubuntu-latest
    steps: [{ run: npm run build }]
`),
    [
      'test: cargo test --locked',
      'lint: npm run lint',
      'typecheck: npm run typecheck',
      'lint: golangci-lint run --timeout 5m',
    ],
  )
  assert.deepEqual(checksOf('  a: { runs-on: ubuntu-latest, steps: [{ run: npm test }] }', 'schedule'), [])
  assert.deepEqual(
    checksOf('  a: { runs-on: ubuntu-latest, steps: [{ run: npm test }] }', '{ push: { branches: [main] } }'),
    ['test: npm test'],
  )
})

test('a script of several lines is split, keeps its folder, and stays whole where only a shell understands it', () => {
  assert.deepEqual(commandsIn('# a\ncd build\ncmake ..\nA=1\nmake \\\n  all', ''), [
    { run: 'cmake ..', folder: 'build' },
    { run: 'A=1 && make all', folder: 'build' },
  ])
  const script = 'files="$(go fmt ./...)"\nif [ -n "$files" ]; then\n  echo "$files"\n  exit 1\nfi'
  assert.deepEqual(commandsIn(script, ''), [
    {
      run: 'set -e; files="$(go fmt ./...)"; if [ -n "$files" ]; then echo "$files"; exit 1; fi',
      folder: '',
    },
  ])
  assert.deepEqual(commandsIn('cat <<EOF\nx\nEOF', ''), [])
  assert.deepEqual(commandsIn('list=$(\n  nox --list | jq .\n)', ''), [
    { run: 'set -e; list=$( nox --list | jq .; )', folder: '' },
  ])
})

test('variables of a step reach its command, and those with a value for their absence are known', () => {
  const step = (run: string, env = '') => `      - run: ${run}\n${env && `        env: { ${env} }\n`}`
  const checks = (steps: string) => checksOf(`  a:\n    steps:\n${steps}`)
  assert.deepEqual(checks(step('cargo doc', 'RUSTDOCFLAGS: "-D warnings"')), [
    "docs: RUSTDOCFLAGS='-D warnings' cargo doc",
  ])
  assert.deepEqual(checks(step('export A=1 && pytest', 'B: 2')), ['test: export B=2 && export A=1 && pytest'])
  const withDefault = ['./ci.sh test -d "$', '{BASE-HEAD}"'].join('')
  assert.deepEqual(checks(step(withDefault)), [`other: ${withDefault}`])
  assert.deepEqual(checks(step(withDefault.replace('-HEAD', ''))), [])
})

test('coverage of results that other jobs uploaded is not a test of the checkout', () => {
  const job = (first: string) =>
    checksOf(
      `  a:\n    steps:\n      - uses: ${first}\n      - run: tox -e coverage\n      - run: tox -e docs\n`,
    )
  assert.deepEqual(job('actions/checkout@v4'), ['test: tox -e coverage', 'docs: tox -e docs'])
  assert.deepEqual(job('actions/download-artifact@v4'), ['docs: tox -e docs'])
})

test('what CI builds it checks, imports and runs: each has a gate after its build', () => {
  const { gates } = detect(
    tree({
      'pyproject.toml': '[project]\nname = "jot"\n',
      'tests/test_a.py': 'def test_a(): pass\n',
      ...workflow(
        '  a:\n    steps:\n      - run: pytest\n      - run: python -m build\n      - run: python -m twine check dist/*\n      - run: python -c "import jot"\n',
      ),
    }),
  )
  assert.deepEqual(Object.keys(gates), ['test', 'import-jot', 'build', 'build-twine-check-dist'])
  const rust = detect(
    tree({
      'Cargo.toml': '[package]\n',
      'src/lib.rs': '#[test]\nfn a() {}\n',
      'levels/Cargo.toml': '[package]\n',
      'levels/main.rs': 'fn main() {}\n',
      ...workflow(
        '  a:\n    steps:\n      - run: cargo test\n      - run: cargo hack test --each-feature\n      - run: cargo run --manifest-path levels/Cargo.toml\n',
      ),
    }),
  )
  assert.deepEqual(rust.gates, {
    test: 'cargo test',
    'test-hack-each-feature': 'cargo hack test --each-feature',
    'run-manifest-path-levels': 'cargo run --manifest-path levels/Cargo.toml',
    build: 'cargo build',
    // No file of it has a test.
    'levels-build': 'cd levels && cargo build',
  })
})

test('init proposes what CI runs: in the place of its own proposal, beside it, and for languages it knows little of', () => {
  const ruby = detect(
    tree({
      Gemfile: '',
      ...workflow(
        '  a: { runs-on: ubuntu-latest, steps: [{ run: bundle install }, { run: bundle exec rake spec }, { run: bundle exec standardrb }] }',
      ),
    }),
  )
  assert.deepEqual(ruby.gates, { lint: 'bundle exec standardrb', test: 'bundle exec rake spec' })
  assert.equal(ruby.prepare, 'bundle install')
  const go = detect(
    tree({
      'go.mod': 'module x\n',
      ...workflow(
        '  a: { runs-on: ubuntu-latest, steps: [{ run: go test -race ./... }, { run: make generate }] }',
      ),
    }),
  )
  assert.equal(go.gates.test, 'go test -v -race ./...')
  assert.deepEqual(go.alternatives.test, ['go test -v ./...'])
  assert.equal(go.gates.generate, 'make generate')
  const rust = detect(
    tree({
      'Cargo.toml': '[package]\nname = "x"\n',
      ...workflow(
        '  a: { runs-on: ubuntu-latest, steps: [{ run: cargo fmt --check }, { run: cargo test }, { run: cargo test --features a }] }',
      ),
    }),
  )
  assert.deepEqual(Object.entries(rust.gates), [
    ['format', 'cargo fmt --check'],
    ['test', 'cargo test'],
    ['test-features-a', 'cargo test --features a'],
    ['build', 'cargo build'],
  ])
})

test('of two build tools in one folder one has the gate called test', () => {
  const { gates } = detect(tree({ 'pom.xml': '<project/>', 'build.gradle': '', gradlew: '' }))
  assert.deepEqual(
    Object.keys(gates).filter((name) => name.endsWith('test')),
    ['test', 'java-test'],
  )
})

test('what CI runs and is no gate is named; nothing is proposed that reaches out of the checkout, or has no valid name', () => {
  const steps = [
    'rm -rf ~/.cache && go test ./a',
    'git config --global x y',
    'make 123',
    'go test -run A ./b',
    'go test -run B ./b',
    'go test -run C ./b',
  ]
  const { gates, notes } = detect(
    tree({
      'go.mod': 'module x\n',
      ...workflow(
        `  a: { runs-on: ubuntu-latest, steps: [${steps.map((run) => `{ run: "${run}" }`).join(', ')}] }`,
      ),
    }),
  )
  assert.deepEqual(Object.values(gates), [
    'go test -v ./...',
    'go test -v -run A ./b',
    'go test -v -run B ./b',
    'go build ./...',
  ])
  assert.deepEqual(notes, ['CI also runs: make 123; go test -v -run C ./b. To add one: --gate NAME=COMMAND'])
  assert.ok(Object.keys(gates).every((name) => /^(?!\d+$)[a-z0-9][a-z0-9-]{0,63}$/.test(name)))
})

test('commands that change files, and jobs that commit the change, check nothing', () => {
  for (const run of ['pnpm lint:fix', 'npx eslint . --fix', 'prettier --write .', 'pnpm automd'])
    assert.equal(kindOf(run), 'skip', run)
  assert.deepEqual(
    checksOf(`  fix:
    runs-on: ubuntu-latest
    steps:
      - run: npm run format
      - uses: autofix-ci/action@v1
  test:
    runs-on: ubuntu-latest
    steps:
      - run: npm test
`),
    ['test: npm test'],
  )
})

test('an entry of `include` that no axis has is a row of its own', () => {
  const checks = checksOf(`  test:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        python: ["3.12"]
        command: [pytest]
        include:
          - { python: "3.12", command: "python setup.py check --strict" }
    steps:
      - run: ${expression('matrix.command')}
`)
  assert.deepEqual(checks, ['test: pytest', 'lint: python setup.py check --strict'])
})

test('an environment of tox that is named after a task is a gate next to those of the project', () => {
  const files = {
    'setup.py': '',
    'tox.ini': '[testenv]\ncommands = pytest\n[testenv:doc8]\ncommands = doc8 docs\n',
    'tests/test_a.py': 'def test_a(): pass\n',
    'ruff.toml': '',
    ...workflow(`  checks:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        check: [type, lint, doc8, py312]
    steps:
      - run: pip install tox
      - run: tox -e ${expression('matrix.check')}
`),
  }
  const { gates, setups } = detect(tree(files))
  assert.equal(gates.doc8, 'tox -e doc8')
  // The project has settings for a linter, and none for a type checker.
  assert.equal(gates.typecheck, 'tox -e type')
  assert.match(gates.lint ?? '', /ruff check/)
  assert.equal(
    Object.values(gates).some((run) => /py312|-e lint/.test(run)),
    false,
  )
  assert.ok(setups.includes('pipx install tox'))
})

test('a linter that CI installs into its workspace is called by its name', () => {
  const step = '      - run: $GITHUB_WORKSPACE/golangci-lint run ./...\n'
  assert.deepEqual(checksOf(`  lint:\n    runs-on: ubuntu-latest\n    steps:\n${step}`), [
    'lint: golangci-lint run ./...',
  ])
})

test('what no file of the project runs is proposed only if CI runs no tests', () => {
  const files = { 'go.mod': 'module x\n', 'x.go': 'package x\n' }
  const ci = (run: string) =>
    workflow(`  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: ${run}\n`)
  assert.deepEqual(Object.keys(detect(tree(files)).gates), ['vet', 'test', 'build'])
  assert.deepEqual(Object.keys(detect(tree({ ...files, ...ci('go test ./...') })).gates), ['test', 'build'])
  const both = { ...files, ...ci('go vet ./... && go test ./...'), ...ci('go vet ./...') }
  assert.equal('vet' in detect(tree(both)).gates, true)
})

test('steps of a composite action count where it is used, with its inputs', () => {
  const action = [
    'inputs:',
    '  python-version: { default: "3.11" }',
    '  lint: { default: "false" }',
    '  command: {}',
    'runs:',
    '  using: composite',
    '  steps:',
    '    - uses: actions/setup-python@v6',
    `      with: { python-version: "${expression('inputs.python-version')}" }`,
    `    - { run: "ruff check .", shell: bash, if: "inputs.lint == 'true'" }`,
    `    - { run: mypy src, shell: bash, if: "inputs.lint != 'true'" }`,
    `    - { run: "${expression('inputs.command')}", shell: bash }`,
  ].join('\n')
  const steps = (inputs: string) =>
    readCi(
      folder({
        ...workflow(`  test:\n    steps:\n      - uses: ./.github/actions/check/\n        with: ${inputs}`),
        '.github/actions/check/action.yml': action,
      }),
    )
  const called = steps(`{ lint: true, command: pytest -q, python-version: "3.13" }`)
  assert.deepEqual(
    called.checks.map(({ run }) => run),
    ['ruff check .', 'pytest -q'],
  )
  assert.deepEqual(called.uses[0]?.inputs, { 'python-version': '3.13' })
  assert.deepEqual(steps('{}').uses[0]?.inputs, { 'python-version': '3.11' })
  // Only a run knows this command.
  const unknown = steps(`{ command: "${expression('steps.find.outputs.tests')}" }`)
  assert.deepEqual(
    unknown.checks.map(({ run }) => run),
    ['mypy src'],
  )
})

test('a called workflow reads what its caller gives it', () => {
  const files = {
    ...workflow(
      '  a:\n    uses: ./.github/workflows/shared.yml\n    with: { task: lint }\n  b:\n    uses: ./.github/workflows/shared.yml',
    ),
    '.github/workflows/shared.yml': `on:\n  workflow_call:\n    inputs:\n      task: { default: test }\njobs:\n  one:\n    steps:\n      - run: npm run ${expression('inputs.task')}`,
  }
  assert.deepEqual(
    readCi(folder(files)).checks.map(({ run }) => run),
    ['npm run lint', 'npm run test'],
  )
})

test('workflows and actions that call each other are read once on every way, and come to an end', () => {
  const both = (to: string) =>
    `on: [pull_request, workflow_call]\njobs:\n  own:\n    steps: [{ run: npm test }, { uses: ./loop }]\n` +
    ['one', 'two', 'three'].map((name) => `  ${name}:\n    uses: ./.github/workflows/${to}.yml`).join('\n')
  const loop = 'runs: { using: composite, steps: [{ uses: ./loop }, { run: npm run lint, shell: bash }] }'
  const many = Array.from({ length: 30 }, (_, at) => [
    `.github/workflows/w${at}.yml`,
    both(`w${(at + 1) % 30}`),
  ])
  const files = { ...Object.fromEntries(many), 'loop/action.yaml': loop }
  const { checks } = readCi(folder(files))
  assert.deepEqual([...new Set(checks.map(({ run }) => run))].sort(), ['npm run lint', 'npm test'])
})

test('what CI installs with pip before a check is installed for its gate, and no linter of CI is lost to another one', () => {
  const workflow = `on: pull_request
jobs:
  types:
    steps:
      - run: |
          python -m pip install --upgrade pip
          pip install -e . 'pyright==1.1.400' -r docs/requirements.txt --index-url https://example.com/simple
      - run: pyright --verifytypes calc
  package:
    steps:
      - run: pip install "build>=1" "$EXTRA"
      - run: pip install build[uv]
      - run: python -m build
  test:
    steps:
      - run: pip install tox
      - run: tox -e py
`
  const files = {
    'pyproject.toml': '[project]\nname = "calc"\n[tool.mypy]\nfiles = ["calc"]\n',
    'tests/test_calc.py': 'def test_a():\n    pass\n',
    '.github/workflows/ci.yml': workflow,
  }
  const { gates, alternatives, prepare, prepareInstead } = detect(tree(files))
  assert.deepEqual(gates, {
    typecheck: 'pyright --verifytypes calc',
    test: '.venv/bin/python -m pytest',
    build: 'python -m build',
  })
  assert.deepEqual(alternatives.typecheck, ['.venv/bin/python -m mypy'])
  const pip =
    'python3 -m venv .venv && echo "*" > .venv/.gitignore && .venv/bin/python -m pip install --quiet'
  const own = '-e . pytest mypy'
  assert.equal(prepare, `${pip} ${own} pip pyright==1.1.400 -r docs/requirements.txt 'build[uv]'`)
  assert.equal(prepareInstead[0], `${pip} ${own}`)

  const uv = detect(tree({ ...files, 'uv.lock': '' }))
  assert.match(
    uv.prepare ?? '',
    / && uv pip install pip pyright==1\.1\.400 -r docs\/requirements\.txt 'build\[uv\]'$/,
  )
})

test('a script next to a comment on the pull request is not a check; tests next to one are', () => {
  const job = (run: string, comment: string) => `  a:\n    steps:\n      - run: ${run}\n      - ${comment}\n`
  const script =
    '{ uses: actions/github-script@v9, with: { script: "github.rest.issues.createComment({})" } }'
  for (const comment of [
    script,
    '{ uses: peter-evans/create-or-update-comment@v5 }',
    '{ run: gh pr comment 7 }',
  ]) {
    assert.deepEqual(checksOf(job('./scripts/summary.sh', comment)), [])
    assert.deepEqual(checksOf(job('npm test', comment)), ['test: npm test'])
  }
  assert.deepEqual(checksOf(job('./scripts/summary.sh', '{ uses: actions/checkout@v7 }')), [
    'other: ./scripts/summary.sh',
  ])
})

test('if CI tests the top, a project below it that CI leaves out has no gates', () => {
  const files = (steps: string) => ({
    'Cargo.toml': '[package]\n',
    'check/Cargo.toml': '[package]\n',
    ...workflow(`  a:\n    steps:\n${steps}`),
  })
  const names = (steps: string) => Object.keys(detect(tree(files(steps))).gates)
  const top = '      - run: cargo test\n'
  assert.deepEqual(names(top), ['test', 'build'])
  assert.match(
    detect(tree(files(top))).notes.join(),
    /your CI runs nothing in check, so these folders have no gates/,
  )
  for (const step of [
    '      - run: cargo build\n        working-directory: check\n',
    '      - run: cargo build --manifest-path check/Cargo.toml\n',
    `      - { name: others, run: "cargo test -p ${expression('steps.a.outputs.b')}" }\n`,
  ])
    assert.ok(names(top + step).includes('check-test'), step)
  assert.ok(names('      - run: cargo build\n').includes('check-test'))
  const makefile = { Makefile: 'check:\n\tcd ./check && cargo test\n' }
  assert.ok('check-test' in detect(tree({ ...files(top), ...makefile })).gates)
})

test('files that pip installs from are those of the folder of their step; packages serve all checks of the job', () => {
  const jobs = `  test:
    steps:
      - run: pip install -q --upgrade --platform any build tox -r requirements.txt
        working-directory: docs
      - run: pip install --no-binary lxml pytest
      - run: pytest
      - run: pytest
        working-directory: docs
`
  const { checks } = readCi(folder(workflow(jobs)))
  assert.deepEqual(
    checks.map(({ folder: at, installs }) => [at, installs]),
    [
      ['', ['pytest']],
      ['docs', ['build', 'tox', '-r', 'requirements.txt', 'pytest']],
    ],
  )
})

test('a job with a nightly toolchain checks what a stable one may not build', () => {
  const job = (name: string, step: string) =>
    `  ${name}:\n    steps:\n      - ${step}\n      - run: ci/${name}.sh test\n`
  const nightly = [
    'run: rustup update nightly && rustup default nightly',
    'run: rustup default $toolchain',
    'uses: dtolnay/rust-toolchain@nightly',
    '{ uses: actions-rs/toolchain@v1, with: { toolchain: nightly-2024-09-15 } }',
  ]
  const text = nightly.map((step, at) => job(`n${at}`, step)).join('')
  const tests = '      - run: cargo test\n'
  const stable = job('s', '{ uses: dtolnay/rust-toolchain@v1, with: { toolchain: stable } }') + tests
  const files = {
    '.github/workflows/ci.yml': `on: pull_request\nenv:\n  toolchain: nightly-2024-09-15\njobs:\n${text}${stable}`,
  }
  assert.deepEqual(
    readCi(folder(files)).checks.map(({ run }) => run),
    ['ci/s.sh test', 'cargo test'],
  )
  const onlyNightly = job('n', 'uses: dtolnay/rust-toolchain@nightly') + tests
  assert.deepEqual(checksOf(onlyNightly), ['other: ci/n.sh test', 'test: cargo test'], 'no other job tests')
  const both = job('b', 'uses: dtolnay/rust-toolchain@nightly').replace(
    '- run: ci',
    '- uses: dtolnay/rust-toolchain@stable\n      - run: ci',
  )
  assert.deepEqual(checksOf(both), ['other: ci/b.sh test'], 'a job that has a stable one too')
  const own = { ...files, 'rust-toolchain.toml': '[toolchain]\nchannel = "nightly-2024-09-15"\n' }
  assert.equal(readCi(folder(own)).checks.length, 6, 'a project that is built with a nightly one itself')
})

test('settings of clippy and rustfmt are a gate only if CI runs them, or runs no tests', () => {
  const files = { 'Cargo.toml': '[package]\n[lints.clippy]\n', 'rustfmt.toml': '' }
  const names = (more: Record<string, string>) => Object.keys(detect(tree({ ...files, ...more })).gates)
  assert.deepEqual(names({}), ['format', 'lint', 'test', 'build'])
  assert.deepEqual(names(workflow('  a:\n    steps:\n      - run: cargo test\n')), ['test', 'build'])
  assert.deepEqual(
    names(workflow('  a:\n    steps:\n      - run: cargo test\n      - run: cargo clippy\n')),
    ['lint', 'test', 'build'],
  )
})
