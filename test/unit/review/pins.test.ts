// Changes to a gate's own definition: what is shown, and what is no such change.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { commandsIn } from '../../../src/review/gate-commands.ts'
import { changedGateDefinitions, type PinnedFile } from '../../../src/review/pins.ts'

const changed = (path: string, before: string | null, after: string | null): PinnedFile => ({
  path,
  before,
  after,
})
const pkg = (scripts: Record<string, string>, more: object = {}): string =>
  JSON.stringify({ name: 'x', scripts, ...more })
const pinned = (files: PinnedFile[], ...gates: string[]): string[] =>
  changedGateDefinitions(files, gates).map((it) => `${it.path}: ${it.text}`)

const SCRIPTS = { test: 'vitest run', 'test:unit': 'node test/run.js', lint: 'eslint .', build: 'tsc -p .' }

test('a script that the gate names is pinned, however it is named', () => {
  const gates = [
    'npm test',
    'npm t',
    'npm run test',
    'npm run -s test -- --ci',
    'npm --prefix app test',
    'npm run test -w app',
    'pnpm test',
    'pnpm run test',
    'pnpm -r test',
    'pnpm --filter app test',
    'yarn test',
    'yarn run test',
    'yarn workspace app test',
    'bun run test',
    'node --run test',
    'CI=1 npm test',
    'cd app && npm test',
    'timeout 60 npm test',
    'npx npm-run-all lint test',
    'run-s lint test',
    'concurrently "npm:test"',
    'bash -c "npm test"',
    "sh -ec 'cd app; npm test'",
    'env A=b npm test',
    'turbo run test',
    '(npm ci && npm test)',
    'npm\\\n test',
    'nyc npm test',
    'time npm run "test"',
    'if true; then npm test; fi',
    'npm-run-all "te*"',
  ]
  for (const gate of gates) {
    const files = [changed('package.json', pkg(SCRIPTS), pkg({ ...SCRIPTS, test: 'true' }))]
    assert.deepEqual(pinned(files, gate), ['package.json: scripts.test: "vitest run" -> "true"'], gate)
    assert.equal(changedGateDefinitions(files, [gate])[0]?.gate, gate)
  }
})

test('scripts that are not named, and other parts of package.json, are not pinned', () => {
  const now = pkg(
    { ...SCRIPTS, build: 'rollup', dev: 'vite' },
    { dependencies: { a: '1' }, devDependencies: { vitest: '9' }, version: '2' },
  )
  assert.deepEqual(
    pinned(
      [changed('package.json', pkg(SCRIPTS), now)],
      'npm test',
      'npm run lint',
      'npm ci',
      'npm install',
      'bun test',
    ),
    [],
  )
  assert.deepEqual(
    pinned(
      [changed('package.json', pkg(SCRIPTS), pkg({ ...SCRIPTS, test: 'true' }))],
      'make',
      'echo npm test',
    ),
    [],
  )
})

test('hooks, and scripts called by scripts, are pinned', () => {
  const before = { ...SCRIPTS, ci: 'npm run lint && npm run test:unit' }
  const files = (after: Record<string, string>): PinnedFile[] => [
    changed('package.json', pkg(before), pkg(after)),
  ]
  assert.deepEqual(pinned(files({ ...before, lint: 'true' }), 'npm run ci'), [
    'package.json: scripts.lint: "eslint ." -> "true"',
  ])
  assert.deepEqual(pinned(files({ ...before, pretest: 'rm -r test' }), 'npm test'), [
    'package.json: scripts.pretest: nothing -> "rm -r test"',
  ])
  assert.deepEqual(pinned(files({ ...before, 'pretest:unit': 'x' }), 'npm run ci'), [
    'package.json: scripts.pretest:unit: nothing -> "x"',
  ])
  assert.deepEqual(pinned(files({ ...before, postlint: 'x' }), 'npm test'), [])
  assert.deepEqual(pinned(files({ ...before, build: 'x' }), 'npm run ci'), [])
})

test('a script that was removed, and a package.json that is new or broken, are pinned', () => {
  const { test: _, ...rest } = SCRIPTS
  assert.deepEqual(pinned([changed('package.json', pkg(SCRIPTS), pkg(rest))], 'npm test'), [
    'package.json: scripts.test: "vitest run" -> nothing',
  ])
  assert.deepEqual(pinned([changed('package.json', null, pkg(SCRIPTS))], 'npm test'), [
    'package.json: scripts.test: nothing -> "vitest run"',
  ])
  assert.deepEqual(pinned([changed('a/package.json', pkg(SCRIPTS), '{')], 'npm test'), [
    'a/package.json: scripts.test: "vitest run" -> nothing',
  ])
})

test('settings of test tools in package.json are pinned', () => {
  const files = [
    changed('package.json', pkg({ test: 'jest' }), pkg({ test: 'jest' }, { jest: { testMatch: [] } })),
  ]
  assert.deepEqual(pinned(files, 'npm test'), ['package.json: "jest" was added'])
  assert.deepEqual(pinned(files, 'cargo test'), [])
})

test('files that the command runs are pinned; what is tested by a runner is not', () => {
  const gates: [string, string][] = [
    ['bash scripts/test.sh', 'scripts/test.sh'],
    ['./scripts/test.sh --all', 'scripts/test.sh'],
    ['node test/run.js', 'test/run.js'],
    ['python tools/check.py', 'tools/check.py'],
    ['python3 manage.py test', 'manage.py'],
    ['source env.sh && npm test', 'env.sh'],
    ['cd app && sh ./ci.sh', 'app/ci.sh'],
    ['./gradlew check', 'gradlew'],
  ]
  for (const [gate, path] of gates) {
    assert.deepEqual(
      pinned([changed(path, 'a', 'b')], gate),
      [`${path}: ${path.split('/').at(-1)}, which the gate runs, was changed`],
      gate,
    )
  }
  assert.deepEqual(
    pinned(
      [changed('test/a.test.js', 'a', 'b')],
      'node --test test/a.test.js',
      'node --check test/a.test.js',
      'deno check test/a.test.js',
      'pytest test/a.test.js',
      'npx vitest test/a.test.js',
    ),
    [],
  )
  assert.deepEqual(pinned([changed('src/run.js', 'a', 'b')], 'node test/run.js'), [])
})

test('shell files are read on', () => {
  const script = changed(
    'scripts/all.sh',
    'set -e\nnpm run lint\n# npm test\n',
    'set -e\nnpm run lint\n# npm test\n',
  )
  const files = [
    script,
    changed('package.json', pkg(SCRIPTS), pkg({ ...SCRIPTS, lint: 'true', test: 'true' })),
  ]
  assert.deepEqual(pinned(files, 'bash scripts/all.sh'), ['package.json: scripts.lint: "eslint ." -> "true"'])
})

const MAKE =
  'PYTHON ?= python3\nOTHER = 1\n\n.PHONY: test lint\n\nall: test lint\n\ntest: build\n\t$(PYTHON) -m pytest tests\n\nbuild:\n\techo built\n\nlint:\n\truff check .\n\ndocs:\n\tmkdocs\n'

test('make targets are pinned with what they need and the variables in them', () => {
  const make = (after: string): PinnedFile[] => [changed('Makefile', MAKE, after)]
  assert.deepEqual(pinned(make(MAKE.replace('pytest tests', 'pytest tests -k easy')), 'make test'), [
    'Makefile: target test was changed',
  ])
  assert.deepEqual(pinned(make(MAKE.replace('echo built', 'rm -r tests')), 'make -j 4 test'), [
    'Makefile: target build was changed',
  ])
  assert.deepEqual(pinned(make(MAKE.replace('?= python3', '?= true')), 'make test'), [
    'Makefile: variable PYTHON was changed',
  ])
  assert.deepEqual(pinned(make(`SHELL = /bin/true\n${MAKE}`), 'make lint'), [
    'Makefile: variable SHELL was changed',
  ])
  assert.deepEqual(pinned(make(`${MAKE}\ntest:\n\ttrue\n`), 'make test'), [
    'Makefile: target test was changed',
  ])
  assert.deepEqual(pinned(make(`include easy.mk\n${MAKE}`), 'make test'), [
    'Makefile: directives such as `include` were changed',
  ])
  assert.deepEqual(pinned(make(MAKE.replace('ruff check .', 'true')), 'make'), [
    'Makefile: target lint was changed',
  ])
  assert.deepEqual(pinned(make(MAKE.replace('mkdocs', 'mkdocs build')), 'make', 'make test', 'make lint'), [])
  assert.deepEqual(pinned(make(MAKE.replace('OTHER = 1', 'OTHER = 2')), 'make test'), [])
})

test('configuration is pinned for the gates whose tools read it', () => {
  const rows: [string, string, boolean][] = [
    ['vitest.config.ts', 'npx vitest run', true],
    ['packages/a/vitest.config.mts', 'node_modules/.bin/vitest', true],
    ['vitest.workspace.ts', 'vitest', true],
    ['vite.config.ts', 'vitest', true],
    ['jest.config.js', 'npx jest', true],
    ['jest.setup.ts', 'jest', true],
    ['playwright.config.ts', 'npx playwright test', true],
    ['.mocharc.yml', 'mocha', true],
    ['.nycrc', 'nyc mocha', true],
    ['.c8rc.json', 'c8 node --test', true],
    ['tsconfig.json', 'tsc --noEmit', true],
    ['tsconfig.build.json', 'npx tsc -p tsconfig.build.json', true],
    ['.eslintrc.json', 'eslint .', true],
    ['.eslintignore', 'eslint .', true],
    ['eslint.config.js', 'npx eslint .', true],
    ['biome.json', 'biome check', true],
    ['.prettierrc', 'prettier --check .', true],
    ['.cargo/config.toml', 'cargo test', true],
    ['.config/nextest.toml', 'cargo nextest run', true],
    ['clippy.toml', 'cargo clippy', true],
    ['conftest.py', 'pytest', true],
    ['tests/conftest.py', 'python -m pytest -q', true],
    ['pytest.ini', 'uv run pytest', true],
    ['tox.ini', 'tox -e py312', true],
    ['ruff.toml', 'poetry run ruff check', true],
    ['mypy.ini', 'mypy src', true],
    ['.golangci.yml', 'golangci-lint run', true],
    ['.pnpmfile.cjs', 'pnpm test', true],
    ['babel.config.js', 'npx jest', true],
    ['.swcrc', 'jest', true],
    ['web-test-runner.config.mjs', 'wtr', true],
    ['cucumber.js', 'npx cucumber-js', true],
    ['angular.json', 'ng test', true],
    ['lefthook.yml', 'lefthook run test', true],
    ['mise.toml', 'mise run test', true],
    ['bunfig.toml', 'bun test', true],
    ['.c8rc', 'c8 mocha', true],
    ['.mocharc.cjs', 'npx mocha', true],
    ['playwright.ci.config.ts', 'npx playwright test', true],
    ['pyrightconfig.json', 'pyright', true],
    ['.coveragerc', 'coverage run -m pytest', true],
    ['noxfile.py', 'nox -s tests', true],
    ['pytest.py', 'python -m pytest', true],
    ['sitecustomize.py', 'pytest', true],
    ['hatch.toml', 'hatch test', true],
    ['go.work', 'go test ./...', true],
    ['build.rs', 'cargo test', true],
    ['crates/a/build.rs', 'cargo test', true],
    ['rust-toolchain.toml', 'cargo test', true],
    ['.mvn/maven.config', 'mvn test', true],
    ['gradle/wrapper/gradle-wrapper.properties', './gradlew test', true],
    ['justfile', 'just test', true],
    ['Taskfile.dist.yml', 'task test', true],
    ['clippy.toml', 'cargo +nightly clippy -- -D warnings', true],
    ['.rustfmt.toml', 'cargo fmt --check', true],
    ['clippy.toml', 'cargo test', false],
    ['rustfmt.toml', 'cargo clippy', false],
    ['tox.ini', 'pytest', false],
    ['noxfile.py', 'pytest', false],
    ['.pre-commit-config.yaml', 'pre-commit run -a', true],
    ['.pre-commit-config.yaml', 'ruff check', false],
    ['src/build.rs', 'cargo test', false],
    ['lib/pytest.py', 'pytest', false],
    ['.pnpmfile.cjs', 'node --test', false],
    ['go.work', 'cargo test', false],
    ['vitest.config.ts', 'eslint .', false],
    ['tsconfig.json', 'eslint .', false],
    ['conftest.py', 'go test ./...', false],
    ['eslint.config.js', 'cargo test', false],
    ['src/vitest.ts', 'vitest', false],
    ['docs/pytest.md', 'pytest', false],
    ['node_modules/x/vitest.config.ts', 'vitest', false],
    ['go.mod', 'go test ./...', false],
  ]
  for (const [path, gate, expected] of rows) {
    for (const [before, after, word] of [
      ['a', 'b', 'changed'],
      [null, 'b', 'added'],
      ['a', null, 'removed'],
    ] as const) {
      const name = path.split('/').at(-1)
      assert.deepEqual(
        pinned([changed(path, before, after)], gate),
        expected ? [`${path}: ${name} was ${word}`] : [],
        `${path} ${gate}`,
      )
    }
  }
  assert.deepEqual(pinned([changed('biome.json', '{"a":1}', '{\n  "a": 1\n}\n')], 'biome check'), [])
})

test('of files for many things, the sections for the gate count', () => {
  const project =
    '[project]\nname = "x"\ndependencies = ["a"]\n\n[tool.pytest.ini_options]\naddopts = "-q"\n\n[tool.ruff]\nline-length = 99\n'
  const py = (after: string, gate: string): string[] =>
    pinned([changed('pyproject.toml', project, after)], gate)
  assert.deepEqual(py(project.replace('"a"', '"a", "b"'), 'pytest'), [])
  assert.deepEqual(py(project.replace('-q', '-q -k easy'), 'pytest'), [
    'pyproject.toml: pyproject.toml was changed',
  ])
  assert.deepEqual(py(project.replace('99', '120'), 'pytest'), [])
  assert.deepEqual(py(project.replace('99', '120'), 'ruff check'), [
    'pyproject.toml: pyproject.toml was changed',
  ])
  assert.deepEqual(py(`${project}\n[tool.mypy]\nstrict = false\n`, 'mypy .'), [
    'pyproject.toml: pyproject.toml was changed',
  ])

  const cargo = '[package]\nname = "x"\nversion = "0.1.0"\n\n[dependencies]\nserde = "1"\n'
  const rs = (after: string): string[] => pinned([changed('Cargo.toml', cargo, after)], 'cargo test --all')
  assert.deepEqual(rs(cargo.replace('0.1.0', '0.2.0').replace('"1"', '"2"')), [])
  assert.deepEqual(rs(cargo.replace('version', 'autotests = false\nversion')), [
    'Cargo.toml: Cargo.toml was changed',
  ])
  assert.deepEqual(rs(`${cargo}\n[[test]]\nname = "it"\nharness = false\n`), [
    'Cargo.toml: Cargo.toml was changed',
  ])
  assert.deepEqual(rs(`${cargo}\n[[bench]]\nname = "it"\nharness = false\n`), [])
  assert.deepEqual(rs(`${cargo}\n[workspace.dependencies]\na = "1"\n`), [])

  const pom = '<project>\n<dependency>a</dependency>\n</project>'
  assert.deepEqual(pinned([changed('pom.xml', pom, pom.replace('>a<', '>b<'))], 'mvn -q verify'), [])
  assert.deepEqual(
    pinned(
      [changed('pom.xml', pom, pom.replace('</project>', '<skipTests>true</skipTests>\n</project>'))],
      './mvnw verify',
    ),
    ['pom.xml: pom.xml was changed'],
  )
  const lines: [string, string, string, boolean][] = [
    ['go.mod', 'require x v2', 'go test ./...', false],
    ['go.mod', 'toolchain go1.1', 'go test ./...', true],
    ['go.mod', 'replace example.com/check => ./mine', 'go test ./...', true],
    ['pnpm-workspace.yaml', 'catalog:\n  a: 2', 'pnpm -r test', false],
    ['pnpm-workspace.yaml', 'packages:\n  - app', 'pnpm -r test', true],
    ['pnpm-workspace.yaml', 'scriptShell: /bin/true', 'pnpm test', true],
    ['.yarnrc.yml', 'enableTelemetry: 0', 'yarn test', false],
    ['.yarnrc.yml', 'yarnPath: .yarn/mine.cjs', 'yarn test', true],
    ['.yarnrc.yml', 'plugins:\n  - path: ./mine.cjs', 'yarn test', true],
    ['Pipfile', '[packages]\na = "*"', 'pipenv run test', false],
    ['Pipfile', '[scripts]\ntest = "true"', 'pipenv run test', true],
    ['tox.ini', '[pytest]\naddopts = -k easy', 'pytest', true],
    ['tox.ini', '[testenv]\ncommands = pytest', 'tox', true],
    ['setup.cfg', '[metadata]\nname = x', 'pytest', false],
    ['setup.cfg', '[tool:pytest]\naddopts = -k easy', 'pytest', true],
    ['app/conventions.gradle.kts', 'tasks.test { enabled = false }', './gradlew test', true],
    ['app/build.gradle.kts', 'implementation("a:b:1")', './gradlew test', false],
    ['package.json', '{"packageManager":"pnpm@9"}', 'pnpm test', true],
    ['package.json', '{"packageManager":"pnpm@9"}', 'node --test', false],
    ['package.json', '{"mocha":{"spec":"one"}}', 'npx mocha', true],
  ]
  for (const [path, text, gate, expected] of lines)
    assert.equal(pinned([changed(path, null, text)], gate).length > 0, expected, `${path} ${text} ${gate}`)
  assert.deepEqual(pinned([changed('.npmrc', 'a=1', 'a=2')], 'npm test'), [])
  assert.deepEqual(pinned([changed('.npmrc', 'a=1', 'a=1\nscript-shell=/bin/true')], 'npm test'), [
    '.npmrc: .npmrc was changed',
  ])
})

test('settings are found however they are written', () => {
  const tox =
    '[tool.tox.env_run_base]\ndeps = ["pytest"]\ncommands = [\n    ["pytest", "tests"],\n]\n\n[tool.ruff]\na = 1\n'
  const rows: [string, string, string, string, boolean][] = [
    ['pyproject.toml', tox, tox.replace('"pytest", "tests"', '"python", "-c", "pass"'), 'tox', true],
    ['pyproject.toml', tox, tox.replace('a = 1', 'a = 2'), 'tox', false],
    ['pyproject.toml', '', '[tool.tox]\nlegacy_tox_ini = """\n[tox]\n[testenv]\n"""', 'tox', true],
    ['pyproject.toml', '', 'tool.pytest.ini_options.addopts = "-k easy"', 'pytest', true],
    ['pyproject.toml', '', '[tool]\npytest.ini_options.addopts = "-k easy"', 'pytest', true],
    ['pyproject.toml', '', 'tool = { pytest = { ini_options = { addopts = "-k easy" } } }', 'pytest', true],
    ['pyproject.toml', '', '[tool."pytest".ini_options]\naddopts = "-k easy"', 'pytest', true],
    ['pyproject.toml', '', '[ tool . \'pytest\' . "ini_options" ] # why\naddopts = ""', 'pytest', true],
    ['pyproject.toml', '', '[tool."py\\u0074est".ini_options]\naddopts = "-k easy"', 'pytest', true],
    ['pyproject.toml', '', '[tool.x]\na = """\n[tool.pytest.ini_options]\n"""', 'pytest', false],
    ['pyproject.toml', '', '[tool.typos]\na = 1', 'mypy .', false],
    ['Cargo.toml', '', 'package.autotests = false', 'cargo test', true],
    ['Cargo.toml', '', '[package]\nautotests = false', 'cargo test', true],
    ['Cargo.toml', '', 'package = { name = "a", autotests = false }', 'cargo test', true],
    ['Cargo.toml', '', '[[bin]]\nname = "a"\ntest = false', 'cargo test', true],
    ['Cargo.toml', '', 'bin = [{ name = "a", test = false }]', 'cargo test', true],
    ['Cargo.toml', '', '[[bin]]\nname = "a"\npath = "a.rs"', 'cargo test', false],
    ['Cargo.toml', '', '[package]\nname = "a"\nversion = "2"', 'cargo test', false],
    ['Cargo.toml', '', '[workspace.dependencies.test]\nversion = "1"', 'cargo test', false],
    ['setup.cfg', '', '[options]\nx =\n    a\n[tool:pytest]\naddopts = -k easy', 'pytest', true],
    ['tox.ini', '[pytest]\naddopts =\n  -q\n', '[pytest]\naddopts =\n  [x]\n  -k easy\n', 'pytest', true],
  ]
  for (const [path, before, after, gate, expected] of rows)
    assert.equal(pinned([changed(path, before, after)], gate).length > 0, expected, `${gate} ${after}`)
})

test('what stood before comes first, for any number of new files', () => {
  const added = Array.from({ length: 150 }, (_, index) => changed(`a${index}/conftest.py`, null, ''))
  const settings = '[tool.pytest.ini_options]\naddopts = "-q"\n'
  const project = changed('pyproject.toml', settings, settings.replace('-q', '-k easy'))
  const found = changedGateDefinitions([...added, project], ['tox -e py', 'pytest'])
  assert.equal(found.length, 100)
  assert.equal(found[0]?.path, 'pyproject.toml')
  assert.equal(found[1]?.path, 'pyproject.toml')
})

test('files that flags of the command name are pinned', () => {
  const rows: [string, string, boolean][] = [
    ['jest --config ./test/jest-e2e.json', 'test/jest-e2e.json', true],
    ['jest --config=test/jest-e2e.json', 'test/jest-e2e.json', true],
    ['npm exec jest -- --config ./cfg/e2e.json', 'cfg/e2e.json', true],
    ['vitest --config cfg/unit.ts', 'cfg/unit.ts', true],
    ['tsc -p build/ts.json', 'build/ts.json', true],
    ['eslint -c cfg/e.js src', 'cfg/e.js', true],
    ['pytest -c cfg/p.ini', 'app/cfg/p.ini', true],
    ['cd app && pytest -c ../cfg/p.ini', 'cfg/p.ini', true],
    ['node --require ./setup.js test/run.js', 'setup.js', true],
    ['node --import ./x.mjs --test', 'x.mjs', true],
    ['node --import=./x.mjs --test', 'x.mjs', true],
    ['node -r ./x.js --test', 'x.js', true],
    ['mocha -r ./test/setup', 'test/setup.js', true],
    ['make -f build/rules', 'build/rules', true],
    ['node --import tsx --test', 'src/tsx.ts', false],
    ['pytest --junitxml=report.xml test/a.py', 'report.xml', false],
    ['eslint --fix src/a.js', 'src/a.js', false],
    ['pip install -r requirements.txt', 'requirements.txt', false],
    ['python -m pip install -r requirements.txt && pytest', 'requirements.txt', false],
    ['cargo test --manifest-path rust/Cargo.toml', 'rust/Cargo.toml', false],
  ]
  for (const [gate, path, expected] of rows)
    assert.deepEqual(
      pinned([changed(path, 'a', 'b')], gate),
      expected ? [`${path}: ${path.split('/').at(-1)} was changed`] : [],
      gate,
    )
  for (const line of [
    'source "$(dirname "$0")/lib.sh"',
    '. $(dirname $0)/lib.sh',
    'source "$DIR/../lib.sh"',
  ]) {
    const files = [changed('ci.sh', line, line), changed('lib.sh', 'a', 'b')]
    assert.deepEqual(pinned(files, './ci.sh'), ['lib.sh: lib.sh, which the gate runs, was changed'], line)
  }
})

test('a tool is found behind flags, versions and quotes', () => {
  for (const gate of [
    'uv run --group dev pytest',
    'uv run --extra dev pytest',
    'uvx --with x pytest@8 -q',
    'out="$(pytest)"',
  ])
    assert.equal(pinned([changed('pytest.ini', 'a', 'b')], gate).length, 1, gate)
  for (const gate of ['npx vitest@3 run', 'npm exec -c "vitest run"', 'npx -c "vitest run"', 'bun x vitest'])
    assert.equal(pinned([changed('vitest.config.ts', 'a', 'b')], gate).length, 1, gate)
  const files = [changed('package.json', pkg(SCRIPTS), pkg({ ...SCRIPTS, test: 'true' }))]
  for (const gate of [
    'npm cit',
    'npm it',
    'npm install-test',
    "bun --filter '*' test",
    'make -j test || npm t',
  ])
    assert.equal(pinned(files, gate).length, 1, gate)
})

test('a package that is no longer among the workspaces is pinned where a gate runs over them', () => {
  const spaces = (...workspaces: string[]): string => pkg(SCRIPTS, { workspaces })
  const less = [changed('package.json', spaces('a', 'b'), spaces('a'))]
  for (const gate of ['npm test --workspaces', 'npm test -ws', 'yarn workspaces run test', 'turbo run test'])
    assert.deepEqual(pinned(less, gate), ['package.json: "workspaces" was changed'], gate)
  assert.deepEqual(pinned(less, 'npm test'), [])
  assert.deepEqual(pinned([changed('package.json', spaces('a'), spaces('a', 'b'))], 'npm test -ws'), [])
  assert.equal(pinned([changed('package.json', spaces('*'), spaces('*', '!b'))], 'npm test -ws').length, 1)
})

test('makefiles are taken as one', () => {
  const rows: [Record<string, string>, string, string, string, string, string[]][] = []
  const row = (main: string, before: string, after: string, path: string, gate: string, ...said: string[]) =>
    rows.push([path === 'Makefile' ? {} : { Makefile: main }, path, before, after, gate, said])
  const base =
    'GO = go\nARGS = -v\nCMD = $(GO) test $(ARGS)\n.PHONY: test docs\ntest:\n\t$(CMD)\ndocs:\n\tx\n'
  const make = (after: string, ...said: string[]) => row('', base, after, 'Makefile', 'make test', ...said)
  make(`.IGNORE:\n${base}`, 'target .IGNORE was added')
  make(`.ONESHELL:\n${base}`, 'target .ONESHELL was added')
  make(`.SUFFIXES:\n${base}`)
  make(`export GOFLAGS = -run=^$\n${base}`, 'variable GOFLAGS was changed')
  make(`export PYTEST_ADDOPTS := -k nothing\n${base}`, 'variable PYTEST_ADDOPTS was changed')
  make(base.replace('-v', '-run=^$'), 'variable ARGS was changed')
  make(base.replace('PHONY: test', 'PHONY:'), 'target test is no longer phony')
  make(base.replace('PHONY: test', 'PHONY: test more'))
  make(base.replace('\tx', '\ty'))
  make(`${base}more:\n\ty\nOTHER = 1\nifdef OTHER\nmore: docs\nendif\n`)
  make(`test: private export X = 1\n${base}`, 'target test was changed')
  const both = 'test:\nifdef CI\n\tgo test\nelse\n\tgo vet\nendif\n'
  row(
    '',
    both,
    both.replace('test\nelse', 'test || true\nelse'),
    'Makefile',
    'make',
    'target test was changed',
  )
  const run = 'define run\n\t$(1)\nendef\ntest:\n\t$(call run,go test)\n'
  row('', run, run.replace('$(1)', 'true $(1)'), 'Makefile', 'make test', 'variable run was changed')
  row(
    '',
    'run = $(1)\ntest:\n\t$(call run,x)',
    'run=true $(1)\ntest:\n\t$(call run,x)',
    'Makefile',
    'make',
    'variable run was changed',
  )
  const all = 'ALL = one two\ntest: $(ALL)\none:\n\tx\nthree:\n\tx\n'
  row('', all, all.replace('\tx', '\ty'), 'Makefile', 'make test', 'target one was changed')
  row('', all, all.replace(' two', ''), 'Makefile', 'make test', 'variable ALL was changed')
  row('', all, all.replace(/x\n$/, 'y\n'), 'Makefile', 'make test')
  const some = 'test: test-a $(addprefix lint-,a b)\ntest-%:\n\tgo test ./$*\nlint-a:\n\tx\nother-%:\n\tx\n'
  row('', some, some.replace('go test', 'true'), 'Makefile', 'make test', 'target test-% was changed')
  row('', some, some.replace('\tx', '\ty'), 'Makefile', 'make test', 'target lint-a was changed')
  row('', some, some.replace(/x\n$/, 'y\n'), 'Makefile', 'make test')
  row(
    'include vars.mk\ntest:\n\t$(GO) test\n',
    'GO = go\nX = 1',
    'GO = true ||\nX = 1',
    'vars.mk',
    'make test',
    'variable GO was changed',
  )
  row('include vars.mk\ntest:\n\t$(GO) test\n', 'GO = go\nX = 1', 'GO = go\nX = 2', 'vars.mk', 'make test')
  const unit = 'unit:\n\tgo test\ndocs:\n\tx\n'
  for (const after of [unit.replace('go test', 'true'), unit.replace('\tx', '\ty')])
    row(
      'include build/test.mk\ntest: unit\n',
      unit,
      after,
      'build/test.mk',
      'make test',
      ...(after.includes('true') ? ['target unit was changed'] : []),
    )
  for (const gate of ['make -f build/x.make', 'make -fbuild/x.make test', 'make --file=build/x.make test'])
    row('', 'test:\n\tx', 'test:\n\ttrue', 'build/x.make', gate, 'target test was changed')
  row('-include ci.env\ntest:\n\tx\n', 'A=1', 'A=2', 'ci.env', 'make test', 'ci.env was changed')
  row(
    '.DEFAULT_GOAL := b\na:\n\tx\n-include b.mk\n',
    'b:\n\tx',
    'b:\n\ty',
    'b.mk',
    'make',
    'target b was changed',
  )
  row('', 'a:\n\tx\nb:\n\tx', 'b:\n\tx\na:\n\tx', 'Makefile', 'make', 'the first target is another one')
  for (const [others, path, before, after, gate, said] of rows) {
    const more = Object.entries(others).map(([name, text]) => changed(name, text, text))
    assert.deepEqual(
      pinned([...more, changed(path, before, after)], gate),
      said.map((it) => `${path}: ${it}`),
      `${gate}: ${after}`,
    )
  }
})

test('a gate whose script is not among the files may use any tool of its kind', () => {
  const config = [
    changed('vitest.config.ts', 'a', 'b'),
    changed('eslint.config.js', 'a', 'b'),
    changed('tsconfig.json', 'a', 'b'),
  ]
  assert.deepEqual(pinned(config, 'npm test'), ['vitest.config.ts: vitest.config.ts was changed'])
  assert.deepEqual(pinned(config, 'npm run lint'), ['eslint.config.js: eslint.config.js was changed'])
  assert.deepEqual(pinned(config, 'npm run typecheck'), ['tsconfig.json: tsconfig.json was changed'])
  assert.equal(pinned(config, 'make').length, 3)
  const known = [...config, changed('package.json', pkg({ test: 'mocha' }), pkg({ test: 'mocha' }))]
  assert.deepEqual(pinned(known, 'npm test'), [])
})

test('circles end, and the findings are bounded', () => {
  const circle = { test: 'npm run a', a: 'npm run b', b: 'npm run test && npm run a' }
  assert.deepEqual(
    pinned([changed('package.json', pkg(circle), pkg({ ...circle, b: 'true' }))], 'npm test'),
    ['package.json: scripts.b: "npm run test && npm run a" -> "true"'],
  )
  assert.deepEqual(pinned([changed('Makefile', 'a: b\nb: a\n\tx\n', 'a: b\nb: a\n\ty\n')], 'make a'), [
    'Makefile: target b was changed',
  ])
  const many = Array.from({ length: 500 }, (_, index) => changed(`p${index}/jest.config.js`, 'a', 'b'))
  assert.equal(pinned(many, 'jest').length, 100)
  const long = changedGateDefinitions(
    [
      changed(
        'package.json',
        pkg({ test: 'x'.repeat(9999) }),
        pkg({ test: `a\n::error::\u001b[31m${'y'.repeat(9999)}` }),
      ),
    ],
    ['npm test'],
  )
  assert.ok(long[0] !== undefined && long[0].text.length <= 300 && !/\p{Cc}/u.test(long[0].text))
})

test('shell words', () => {
  assert.deepEqual(commandsIn('a "b c" \'d;e\' f\\ g # h; i\nj|k&&l;m'), [
    ['a', 'b c', 'd;e', 'f g'],
    ['j'],
    ['k'],
    ['l'],
    ['m'],
  ])
  assert.deepEqual(commandsIn(''), [])
})

test('no text makes it slow', () => {
  const lines = (count: number, line: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => line(index)).join('')
  const rows: [string, string][] = [
    ['pyproject.toml', `"${'\\"'.repeat(400_000)}`],
    ['pyproject.toml', `[${'a'.repeat(400_000)}]\n${'a=1\n'.repeat(100_000)}`],
    ['setup.cfg', `[${' '.repeat(800_000)}`],
    ['Makefile', `${'a b c '.repeat(80_000)}:\n\t${'x '.repeat(200_000)}`],
    ['Makefile', `A=${'x '.repeat(9000)}\n${'$(A):\n\tx\n'.repeat(80_000)}`],
    ['Makefile', `A=$(B)$(B)$(B)\nB=$(A)$(A)$(A)\ntest: $(A)\n${'\t$(B)\n'.repeat(100_000)}`],
    [
      'Makefile',
      `test: t0\ninclude ${'a.mk '.repeat(50_000)}\n${lines(600, (at) => `t${at}: t${at + 1}\n\tx\n`)}`,
    ],
    ['Makefile', `test: a\n${lines(50_000, (at) => `a%${at}: b\n`)}`],
    ['Makefile', `${lines(50_000, (at) => `V${at}=$(V${at + 1})\n`)}test:\n\t$(V0)\n`],
    ['a.sh', '"$('.repeat(250_000)],
  ]
  for (const [path, text] of rows) {
    const start = process.cpuUsage()
    changedGateDefinitions(
      [changed(path, text, `${text.slice(0, -3)}y\n`)],
      ['make test', 'pytest', 'sh a.sh'],
    )
    const { user } = process.cpuUsage(start)
    assert.ok(user < 5_000_000, `${path} ${text.slice(0, 40)}: ${user / 1000} ms`)
  }
})

test('no text makes it fail', () => {
  const piece = fc.constantFrom(
    'npm test',
    'yarn ',
    'pnpm ',
    'make ',
    'bash -c "',
    "'",
    '"',
    '\\',
    '\n',
    ';',
    '&&',
    'npx ',
    'node ',
    '-r',
    '--run',
    '-m',
    'python ',
    '$(',
    '(',
    ')',
    '`',
    '*',
    'workspaces',
    'run ',
    ' ',
    '{',
    '__proto__',
    'constructor',
    ': a\n\t',
    '=',
    'include x',
    '$(a b)',
    '.PHONY:',
    '%',
    'ifdef A\n',
    'define x\n',
    '[tool.pytest',
    '"""',
    '{"scripts":{"test":"',
  )
  const text = fc
    .array(fc.oneof(piece, fc.string({ maxLength: 4 })), { maxLength: 15 })
    .map((it) => it.join(''))
  const path = fc.constantFrom(
    'package.json',
    'Makefile',
    'a/pyproject.toml',
    'Cargo.toml',
    'scripts/a.sh',
    'setup.cfg',
    'jest.config.js',
    '__proto__',
  )
  fc.assert(
    fc.property(
      fc.array(fc.tuple(path, fc.option(text), fc.option(text)), { maxLength: 5 }),
      fc.array(text, { maxLength: 3 }),
      (files, gates) => {
        const pins = changedGateDefinitions(
          files.map(([name, before, after]) => changed(name, before, after)),
          gates,
        )
        for (const pin of pins) assert.ok(gates.includes(pin.gate))
      },
    ),
    { numRuns: 1500 },
  )
})
