// Commands that a project names in a file of its own, whatever its language is: one small project for each kind of file.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { detect } from '../../../../src/setup/init/detect.ts'

const found = (files: Record<string, string>) =>
  detect({ paths: Object.keys(files), text: (path) => files[path] ?? '' })
const ci = (...runs: string[]) => ({
  '.github/workflows/ci.yml': `on: pull_request\njobs:\n  a:\n    steps:\n${runs.map((run) => `      - run: ${run}\n`).join('')}`,
})
const variable = (name: string) => ['$', `{${name}}`].join('')
const PYTEST = { 'tests/test_a.py': 'def test_a():\n    pass\n' }

test('conventional targets are gates, whatever file has them', () => {
  const cases: [files: Record<string, string>, gates: Record<string, string>][] = [
    [
      { GNUmakefile: 'check:\n\t./run\nfmt-check:\n\tx\n', Makefile: 'test:\n\tgmake\n' },
      { format: 'make fmt-check', test: 'make check' },
    ],
    [
      { 'Taskfile.yml': 'tasks:\n  fmt: gofumpt -l .\n  build: { cmds: [go build] }\n  test: x\n' },
      { format: 'task fmt', test: 'task test', build: 'task build' },
    ],
    [{ justfile: 'fmt:\n  gofmt -w .\nlint:\n  x\n' }, { lint: 'just lint' }],
    [
      { 'mise.toml': '[tasks]\nlint = "shellcheck *.sh"\n[tasks."test"]\nrun = ["./a", "./b"]\n' },
      { lint: 'mise run lint', test: 'mise run test' },
    ],
    [
      {
        'deno.jsonc':
          '{\n  // ours\n  "tasks": { "test": "deno test -A", "check": "deno check", "lint": "deno lint" } }',
      },
      { lint: 'deno task lint', test: 'deno task test' },
    ],
    [{ 'deno.json': '{}', 'main_test.ts': '' }, { test: 'deno test' }],
    [
      {
        'mix.exs':
          'defmodule X do\n  defp aliases do\n    [\n      lint: ["format --check-formatted", "credo"],\n      "format.all": ["x"],\n      typecheck: "dialyzer"\n    ]\n  end\n  def other do\n    [build: 1]\n  end\nend\n',
      },
      { typecheck: 'mix typecheck', lint: 'mix lint', test: 'mix test' },
    ],
    [
      {
        Gemfile: '',
        Rakefile:
          'require "standard/rake"\nRSpec::Core::RakeTask.new(:spec)\ntask default: %i[spec standard]\nnamespace :a do\n  task :build\nend\n',
        'x.rb': '',
      },
      { lint: 'bundle exec rake standard', test: 'bundle exec rake spec' },
    ],
    [
      {
        ...PYTEST,
        'setup.py': '',
        'tox.ini': '[testenv]\ncommands = pytest\n[testenv:lint]\ncommands = doc8\n',
      },
      { lint: 'tox -e lint', test: '.venv/bin/python -m pytest' },
    ],
    [
      { ...PYTEST, 'setup.py': '', 'tox.toml': '[env.typing]\ncommands = [["ty", "check"]]\n' },
      { typecheck: 'tox -e typing', test: '.venv/bin/python -m pytest' },
    ],
    [
      {
        ...PYTEST,
        'setup.py': '',
        'noxfile.py': 'import nox\n\n@nox.session\ndef lint(session):\n    session.run("doc8")\n',
      },
      { lint: 'nox -s lint', test: '.venv/bin/python -m pytest' },
    ],
    [
      {
        ...PYTEST,
        Pipfile: '[dev-packages]\npytest = "*"\n[scripts]\nlint = "pylint calc"\n',
        'Pipfile.lock': '{}',
      },
      { lint: 'pipenv run lint', test: 'pipenv run pytest' },
    ],
    [
      {
        'x.c': '',
        '.pre-commit-config.yaml':
          'repos:\n  - repo: local\n    hooks:\n      - { id: lint, entry: ./lint.sh, args: [--all], language: script, pass_filenames: false }\n      - { id: check, entry: ./x, args: ["$(id)"], language: script, pass_filenames: false }\n      - { id: test, entry: ./test.sh, language: system }\n      - { id: build, entry: make, language: system, pass_filenames: false, stages: [manual] }\n      - { id: typecheck, entry: "x; y", language: system, pass_filenames: false }\n      - { id: format, entry: "fmt --check .", language: python, pass_filenames: false }\n',
      },
      { lint: './lint.sh --all' },
    ],
    [
      { 'composer.json': '{"scripts":{"cs:check":"x","test":"phpunit"}}' },
      { format: 'composer cs:check', test: 'composer test' },
    ],
    [
      { 'mix.exs': '', '.credo.exs': '' },
      { lint: 'mix credo', test: 'mix test' },
    ],
  ]
  for (const [files, gates] of cases)
    assert.deepEqual(found(files).gates, gates, Object.keys(files).join(' '))
})

test('what CI does not run is not proposed from these files if CI runs tests', () => {
  const files = {
    Gemfile: '',
    Rakefile: 'Rake::TestTask.new\nRuboCop::RakeTask.new\n',
    Makefile: 'build:\n\tx\n',
    'x.rb': '',
  }
  assert.deepEqual(Object.keys(found(files).gates), ['lint', 'test', 'build'])
  assert.deepEqual(found(files).languages, ['Ruby'])
  assert.deepEqual(found({ Makefile: 'test:\n\tx\n' }).languages, ['targets'])
  assert.deepEqual(found({ ...files, ...ci('bundle exec rake test') }).gates, {
    test: 'bundle exec rake test',
  })
  assert.deepEqual(found({ ...files, ...ci('bundle exec rake test', 'bundle exec rake rubocop') }).gates, {
    lint: 'bundle exec rake rubocop',
    test: 'bundle exec rake test',
  })
})

test('pipenv installs what its lock file lists, and the workflow gets pipenv', () => {
  const Pipfile = '[packages]\nrequests = "*"\n[dev-packages]\npytest = "*"\n'
  const locked = found({ ...PYTEST, Pipfile, 'Pipfile.lock': '{}' })
  assert.equal(locked.prepare, 'pipenv sync --dev')
  assert.deepEqual(locked.setups, ['pipx install pipenv'])
  assert.equal(found({ ...PYTEST, Pipfile }).prepare, 'pipenv install --dev --skip-lock')
  assert.deepEqual(found({ ...PYTEST, Pipfile, 'uv.lock': '' }).managers, ['uv'])
})

test('CMake is configured, built and tested by the presets for Linux', () => {
  const gates = (presets: unknown) =>
    found({
      'CMakeLists.txt': 'enable_testing()',
      'x.c': '',
      'CMakePresets.json': typeof presets === 'string' ? presets : JSON.stringify(presets),
    }).gates
  const base = {
    name: 'base',
    hidden: true,
    binaryDir: `${variable('sourceDir')}/out/${variable('presetName')}`,
  }
  const configurePresets = [
    base,
    { name: 'vs', inherits: 'base', generator: 'Visual Studio 17 2022' },
    { name: 'mac', condition: { type: 'equals', lhs: variable('hostSystemName'), rhs: 'Darwin' } },
    { name: 'release', inherits: ['base'] },
    { name: 'dev', inherits: 'base' },
  ]
  const ends = '--output-on-failure --no-tests=error'
  assert.deepEqual(gates({ configurePresets }), {
    test: `ctest --test-dir out/dev ${ends}`,
    build: 'cmake --preset dev && cmake --build out/dev --parallel 4',
  })
  const named = {
    configurePresets,
    buildPresets: [{ name: 'all', configurePreset: 'dev' }],
    testPresets: [{ name: 'unit', configurePreset: 'dev' }],
  }
  assert.deepEqual(gates(named), {
    test: `ctest --preset unit ${ends}`,
    build: 'cmake --preset dev && cmake --build --preset all --parallel 4',
  })
  const plain = {
    test: `ctest --test-dir build ${ends}`,
    build: 'cmake -S . -B build && cmake --build build --parallel 4',
  }
  for (const presets of [
    'no JSON',
    { configurePresets: [base] },
    { configurePresets: [{ name: 'dev', binaryDir: '/opt/x' }] },
    { configurePresets: [{ name: 'a; id', binaryDir: 'x' }] },
  ])
    assert.deepEqual(gates(presets), plain)
})

test('.NET is found by a solution next to other projects, and told which of several', () => {
  const files = { 'package.json': '{"scripts":{"test":"x"}}', 'A.sln': '', 'a/a.csproj': '' }
  assert.deepEqual(found(files).languages, ['JavaScript', '.NET'])
  const two = found({ 'A.sln': '', 'B C.slnx': '', 'a/a.csproj': '' })
  assert.deepEqual(two.gates, { build: 'dotnet build A.sln --no-restore', test: 'dotnet test A.sln' })
  assert.equal(two.prepare, 'dotnet restore A.sln')
})

test('a language without a row, whose CI cannot run here, is named with the commands of its CI', () => {
  const runs = ['docker compose run app raku -Ilib t/test.raku', 'sudo make check', 'docker build .']
  const { gates, notes } = found({ 'lib/a.jl': '', 'lib/b.jl': '', 'x.sh': '', ...ci(...runs) })
  assert.deepEqual(gates, {})
  assert.deepEqual(notes, [
    'init does not know how to test Julia. CI runs `docker compose run app raku -Ilib t/test.raku`, `sudo make check`. Name the command that runs the tests: --gate test=COMMAND',
  ])
  const ruby = found({ Gemfile: '', 'a.rb': '', ...ci('docker compose run app rspec') })
  assert.match(ruby.notes.join(), /^init found no Ruby test\. CI runs `docker compose run app rspec`/)
  const tested = found({ 'go.mod': 'module x\n', ...ci('docker compose run app rspec') })
  assert.deepEqual(tested.notes, [])
})
