// Changes to a gate's own definition: what is shown, and what is no such change.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { FileChange } from '../../../../src/gates/remarks/changed-tests.ts'
import { changedGateDefinitions } from '../../../../src/gates/remarks/gate-definitions.ts'
import { runs } from '../../runs.ts'

const changed = (path: string, before: string | null, after: string | null): FileChange => ({
  path,
  before,
  after,
})
const pkg = (scripts: Record<string, string>, more: object = {}): string =>
  JSON.stringify({ name: 'x', scripts, ...more })
const pinned = (files: FileChange[], ...gates: string[]): string[] =>
  changedGateDefinitions(files, gates).map((it) => `${it.path}: ${it.text}`)

const SCRIPTS = { test: 'vitest run', 'test:unit': 'node test/run.js', lint: 'eslint .', build: 'tsc -p .' }

test('a changed script that the gate names is reported, however it is named', () => {
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
    assert.deepEqual(changedGateDefinitions(files, [gate])[0]?.gates, [gate])
  }
})

test('changes of other scripts and other parts of package.json are not reported', () => {
  const now = pkg(
    { ...SCRIPTS, build: 'rollup', dev: 'vite' },
    { dependencies: { a: '1' }, devDependencies: { vitest: '9' }, version: '2' },
  )
  assert.deepEqual(
    pinned([changed('package.json', pkg(SCRIPTS), now)], 'npm test', 'npm run lint', 'npm ci', 'npm install'),
    [],
  )
  assert.deepEqual(
    pinned([changed('package.json', pkg(SCRIPTS), pkg({ ...SCRIPTS, test: 'true' }))], 'make'),
    [],
  )
})

test('changed pre and post scripts, and scripts called by scripts, are reported', () => {
  const before = { ...SCRIPTS, ci: 'npm run lint && npm run test:unit' }
  const files = (after: Record<string, string>): FileChange[] => [
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

test('a removed script, and a new or broken package.json, are reported', () => {
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

test('changed settings of test tools in package.json are reported', () => {
  const files = [
    changed('package.json', pkg({ test: 'jest' }), pkg({ test: 'jest' }, { jest: { testMatch: [] } })),
  ]
  assert.deepEqual(pinned(files, 'npm test'), ['package.json: "jest" was added'])
  assert.deepEqual(pinned(files, 'cargo test'), [])
})

test('changed files that the command runs are reported; test files that a runner is given are not', () => {
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
      [`${path}: ${path.split('/').at(-1)} was changed`],
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

test('shell scripts are followed to the files that they name', () => {
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

test('a changed makefile is reported as a whole, and files that it names are followed', () => {
  const make = 'test: unit\n\ninclude ci/all.mk\nunit:\n\tnpx vitest run\n\tpython tools/check.py\n'
  const rows: [string, string, boolean][] = [
    ['Makefile', 'make test', true],
    ['Makefile', 'make -j 4', true],
    ['Makefile', 'cargo test', false],
    ['ci/all.mk', 'make test', true],
    ['vitest.config.ts', 'make test', true],
    ['jest.config.ts', 'make test', false],
    ['tools/check.py', 'make test', true],
    ['tools/other.py', 'make test', false],
  ]
  for (const [path, gate, expected] of rows) {
    const files = [changed(path, 'a', 'b')]
    if (path !== 'Makefile') files.push(changed('Makefile', make, make))
    const name = path.split('/').at(-1)
    assert.deepEqual(pinned(files, gate), expected ? [`${path}: ${name} was changed`] : [], `${path} ${gate}`)
  }
})

test('a changed settings file is reported for the gates whose tools read it', () => {
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
    ['tox.ini', 'pytest', true],
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

test('a changed file that is not parsed is reported as a whole; a change of blanks is not', () => {
  for (const [path, gate] of [
    ['pyproject.toml', 'pytest'],
    ['pyproject.toml', 'ruff check'],
    ['pyproject.toml', 'mypy .'],
    ['setup.cfg', 'pytest'],
    ['Cargo.toml', 'cargo test --all'],
    ['pom.xml', './mvnw verify'],
    ['go.mod', 'go test ./...'],
    ['pnpm-workspace.yaml', 'pnpm -r test'],
    ['.yarnrc.yml', 'yarn test'],
    ['.npmrc', 'npm test'],
    ['Pipfile', 'pipenv run test'],
    ['app/build.gradle.kts', './gradlew test'],
    ['package-lock.json', 'npm test'],
    ['Cargo.lock', 'cargo test'],
  ] as const) {
    assert.equal(pinned([changed(path, 'a = 1\n', 'a = 2\n')], gate).length, 1, `${path} ${gate}`)
    assert.deepEqual(pinned([changed(path, 'a = 1\n', 'a=1\n')], gate), [], path)
    assert.deepEqual(pinned([changed(path, 'a = 1\n', 'a = 2\n')], 'echo'), [], path)
  }
  for (const [text, gate, expected] of [
    ['{"packageManager":"pnpm@9"}', 'pnpm test', true],
    ['{"packageManager":"pnpm@9"}', 'node --test', false],
    ['{"mocha":{"spec":"one"}}', 'npx mocha', true],
  ] as const)
    assert.equal(pinned([changed('package.json', null, text)], gate).length > 0, expected, `${text} ${gate}`)
})

test('files that existed before are reported first, however many are new', () => {
  const added = Array.from({ length: 150 }, (_, index) => changed(`a${index}/conftest.py`, null, ''))
  const settings = '[tool.pytest.ini_options]\naddopts = "-q"\n'
  const project = changed('pyproject.toml', settings, settings.replace('-q', '-k easy'))
  const found = changedGateDefinitions([...added, project], ['tox -e py', 'pytest'])
  assert.equal(found.length, 100)
  assert.equal(found[0]?.path, 'pyproject.toml')
  assert.deepEqual(found[0]?.gates, ['tox -e py', 'pytest'])
})

test('changed files that flags of the command name are reported', () => {
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
    ['pip install -r requirements.txt', 'requirements.txt', true],
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
    assert.deepEqual(pinned(files, './ci.sh'), ['lib.sh: lib.sh was changed'], line)
  }
})

test('a tool is recognised after flags, versions and quotes', () => {
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

test('a package that was removed from the workspaces is reported', () => {
  const spaces = (...workspaces: string[]): string => pkg(SCRIPTS, { workspaces })
  const less = [changed('package.json', spaces('a', 'b'), spaces('a'))]
  for (const gate of ['npm test --workspaces', 'npm test -ws', 'yarn workspaces run test', 'turbo run test'])
    assert.deepEqual(pinned(less, gate), ['package.json: "workspaces" was changed'], gate)
  assert.deepEqual(pinned(less, 'cargo test'), [])
})

test('a gate whose script is not among the files may use any tool', () => {
  const config = [changed('vitest.config.ts', 'a', 'b'), changed('eslint.config.js', 'a', 'b')]
  assert.equal(pinned(config, 'npm test').length, 2)
  assert.equal(pinned(config, 'make').length, 2)
  const known = [...config, changed('package.json', pkg({ test: 'mocha' }), pkg({ test: 'mocha' }))]
  assert.deepEqual(pinned(known, 'npm test'), [])
})

test('a package.json that is nested too deeply is not parsed, and is reported', () => {
  const deep = `{"scripts":{"test":"vitest run"},"jest":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
  assert.deepEqual(pinned([changed('package.json', pkg(SCRIPTS), deep)], 'npm test'), [
    'package.json: scripts.test: "vitest run" -> nothing',
  ])
})

test('scripts that call each other in a circle end, and at most 100 changes are reported', () => {
  const circle = { test: 'npm run a', a: 'npm run b', b: 'npm run test && npm run a' }
  assert.deepEqual(
    pinned([changed('package.json', pkg(circle), pkg({ ...circle, b: 'true' }))], 'npm test'),
    ['package.json: scripts.b: "npm run test && npm run a" -> "true"'],
  )
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

test('no content of a file makes the search for gate changes slow', () => {
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

test('no content of a file makes the search for gate changes throw', () => {
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
        for (const pin of pins) assert.ok(pin.gates.length > 0 && pin.gates.every((it) => gates.includes(it)))
      },
    ),
    runs(150),
  )
})
