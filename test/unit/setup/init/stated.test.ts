// What `ralph init` reads of a project's own commands and needs: shapes of real packages, each red as it was proposed before.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { detect } from '../../../../src/setup/init/detect.ts'

const found = (files: Record<string, string>) =>
  detect({ paths: Object.keys(files), text: (path) => files[path] ?? '' })
const PYTEST = { 'tests/test_calc.py': 'def test_a():\n    pass\n' }
const PROJECT = '[build-system]\nrequires = ["flit_core"]\n[project]\nname = "calc"\n'
const MAKE = 'python3 -m venv .venv && echo "*" > .venv/.gitignore'
const PIP = '.venv/bin/python -m pip install --quiet'

test('init: mypy checks what its settings, the project or its package name, never everything', () => {
  const typecheck = (files: Record<string, string>) => found({ ...PYTEST, ...files }).gates.typecheck
  const run = (words: string) => `.venv/bin/python -m ${words}`
  const configured = '[tool.mypy]\nfiles = ["src", "tests/typing"]\n'
  assert.equal(typecheck({ 'pyproject.toml': configured, 'src/calc.py': '' }), run('mypy'))
  const setup = { 'setup.cfg': '[mypy]\nfiles = calc\n', 'setup.py': '' }
  assert.equal(typecheck(setup), run('mypy'))
  const strict = '[tool.mypy]\nstrict = true\n'
  assert.equal(typecheck({ 'pyproject.toml': strict, 'src/calc/__init__.py': '' }), run('mypy src'))
  const two = { 'calc_lib/__init__.py': '', 'more/__init__.py': '' }
  const named = `[project]\nname = "calc-lib"\n${strict}`
  assert.equal(typecheck({ 'pyproject.toml': named, ...two }), run('mypy calc_lib'))
  assert.equal(
    typecheck({ 'mypy.ini': '[mypy]\n', 'calc/__init__.py': '', 'tests/__init__.py': '' }),
    run('mypy calc'),
  )
  const tox = '[testenv:mypy]\ndeps =\n    mypy==1.5.0\ncommands =\n    mypy --strict {posargs:calc}\n'
  const byTox = found({ ...PYTEST, 'pyproject.toml': strict, 'tox.ini': tox })
  assert.equal(byTox.gates.typecheck, run('mypy --strict calc'))
  assert.match(byTox.prepare ?? '', / mypy==1\.5\.0\b/)
})

test('init: flake8 excludes the environment of `prepare`, and a word in a text is no tool', () => {
  const { gates } = found({ ...PYTEST, '.flake8': '[flake8]\n' })
  assert.equal(gates.lint, '.venv/bin/python -m flake8 --extend-exclude .venv')
  const words = found({
    ...PYTEST,
    'pyproject.toml': '# once ruff, flake8 and mypy\n[project]\nname = "calc"\ndescription = "like mypy"\n',
    'requirements.txt': '# flake8\nmypy-extensions\n',
  })
  assert.deepEqual(Object.keys(words.gates), ['test'])
})

test('init: test dependencies are installed from where the project lists them', () => {
  const prepare = (files: Record<string, string>) => found({ ...PYTEST, ...files }).prepare
  const extras = `${PROJECT}[project.optional-dependencies]\ndocs = ["sphinx"]\ntest = ["pytest", "pretend"]\n`
  assert.equal(prepare({ 'pyproject.toml': extras }), `${MAKE} && ${PIP} -e '.[test]'`)
  const groups = `${PROJECT}[dependency-groups]\ndev = [{ include-group = "tests" }, "tox"]\ntests = ["pytest>=8"]\n`
  assert.equal(
    prepare({ 'pyproject.toml': groups }),
    `${MAKE} && ${PIP} --upgrade pip && ${PIP} -e . --group tests`,
  )
  assert.equal(
    prepare({
      'pyproject.toml': PROJECT,
      'requirements/tests.txt': 'pytest\npretend\n',
      'requirements/docs.txt': 'x\n',
    }),
    `${MAKE} && ${PIP} -r requirements/tests.txt -e .`,
  )
  const tox =
    '[testenv]\nextras = cli\ndeps =\n    -r dev.txt\n    pytest~=8.0\n    py38: mock\n    {env:X}\ncommands = pytest {posargs}\n'
  assert.equal(
    prepare({ 'setup.py': '', 'tox.ini': tox }),
    `${MAKE} && ${PIP} -r dev.txt 'pytest~=8.0' -e '.[cli]'`,
  )
  const byFile = {
    'setup.py': '',
    'pinned39.txt': 'pytest==8.4.2\npytest-cov\n',
    'tox.ini':
      '[testenv]\ndeps = -r pinned39.txt\ncommands = {envpython} -m pytest\n[testenv:pylint]\ndeps = pytest\n',
  }
  assert.equal(prepare(byFile), `${MAKE} && ${PIP} -r pinned39.txt -e .`)
  const nox =
    '@nox.session\ndef tests(session):\n    session.install("pytest", "pretend")\n    session.install("-e", ".[x]")\n    session.run("pytest", *session.posargs)\n'
  assert.equal(prepare({ 'setup.py': '', 'noxfile.py': nox }), `${MAKE} && ${PIP} pytest pretend -e '.[x]'`)
  const old = '[options.extras_require]\ntesting =\n    pytest\n    hypothesis\n'
  assert.equal(prepare({ 'setup.py': '', 'setup.cfg': old }), `${MAKE} && ${PIP} -e '.[testing]'`)
})

test('init: if a list for any purpose cannot be installed, what the tests need is', () => {
  const { prepare, prepareInstead } = found({
    ...PYTEST,
    'pyproject.toml': PROJECT,
    'requirements.txt': 'sphinx\nplots\n',
    'tox.ini': '[testenv]\ndeps =\n    pytest\n    pytest-cov\ncommands = pytest\n',
  })
  assert.equal(prepare, `${MAKE} && ${PIP} -r requirements.txt pytest pytest-cov -e .`)
  assert.deepEqual(prepareInstead, [
    `${MAKE} && ${PIP} pytest pytest-cov -e .`,
    `${MAKE} && ${PIP} -r requirements.txt pytest pytest-cov`,
  ])
})

test("init: a linter has the project's pinned version, without text that a shell or workflow would evaluate", () => {
  const hooks =
    'repos:\n  - repo: https://example.com/ruff\n    rev: v0.4.2\n    hooks: [{ id: ruff }, { id: ruff-format }]\n  - repo: x\n    rev: main\n    hooks: [{ id: mypy }]\n'
  const pinned = found({
    ...PYTEST,
    '.pre-commit-config.yaml': hooks,
    'pyproject.toml': '[tool.ruff]\n[tool.mypy]\n',
  })
  assert.match(pinned.prepare ?? '', / pytest ruff==0\.4\.2 mypy$/)
  const [expression, call] = ['$', '$('].map((start) => `${start}{{ secrets.KEY }}; ${start}(id)`)
  const tox = `[testenv]\ndeps =\n    pytest\n    ${expression}\n    a; ${call}\n    \`id\`\ncommands = pytest ${expression}\n`
  const hostile = found({ ...PYTEST, 'setup.py': '', 'tox.ini': tox })
  assert.equal(hostile.prepare, `${MAKE} && ${PIP} pytest -e .`)
  assert.equal(hostile.gates.test, '.venv/bin/python -m pytest')
  const word = expression?.replace(/[ ;].*/, '{secrets.KEY}}')
  const names = `[testenv]\nextras = ${word}, cli\ndependency_groups = ${word} more\n`
  const uv = found({
    ...PYTEST,
    'setup.py': '',
    'uv.lock': '',
    'pyproject.toml': '',
    'tox.ini': tox.replace('[testenv]\n', names),
  })
  assert.equal(uv.prepare, 'uv sync --locked --group more --extra cli')
  assert.equal(uv.gates.test, 'uv run --with pytest pytest')
  const plugin = '[testenv]\ndeps =\n    pytest-cov\ncommands = pytest\n'
  const plugged = found({ ...PYTEST, 'uv.lock': '', 'pyproject.toml': '', 'tox.ini': plugin })
  assert.equal(plugged.gates.test, 'uv run --with pytest-cov --with pytest pytest')
})

test('init: a tool of pre-commit has the packages that its hook installs with it', () => {
  const hook = '{ id: mypy, additional_dependencies: [types-toml, "attrs>=23", "-r x.txt", "$(id)"] }'
  const config = `repos:\n- repo: https://example.com/mirrors-mypy\n  rev: v1.10.0\n  hooks:\n  - ${hook}\n`
  const files = { ...PYTEST, 'pyproject.toml': `${PROJECT}[tool.mypy]\n`, '.pre-commit-config.yaml': config }
  assert.match(found(files).prepare ?? '', / mypy==1\.10\.0 types-toml 'attrs>=23'$/)
  const typecheck = found({ ...files, 'uv.lock': '' }).gates.typecheck ?? ''
  assert.match(typecheck, /^uv run --with mypy==1\.10\.0 --with types-toml --with 'attrs>=23' mypy /)
})

test('init: a linter has the version that a line of CI names', () => {
  const prepareWith = (run: string) =>
    found({
      ...PYTEST,
      'pyproject.toml': PROJECT,
      'ruff.toml': '',
      '.github/workflows/lint.yml': `on: push\njobs:\n  lint:\n    steps:\n      - run: ${run}\n`,
    }).prepare
  for (const run of [
    "pip install mypy 'ruff==0.4.1'",
    'uvx ruff@0.4.1 check',
    'pipx run ruff==0.4.1 check .',
  ])
    assert.match(prepareWith(run) ?? '', / ruff==0\.4\.1(?: |$)/, run)
  for (const run of [
    'pip install ruff==$VERSION',
    'pip install my-ruff==0.4.1',
    'pip install ruff==0.4.1rc1x/..',
  ])
    assert.doesNotMatch(prepareWith(run) ?? '', / ruff==/, run)
})

test('init: the command of CI replaces a red test gate, and uv installs a tool that is not listed', () => {
  const workflow =
    'jobs:\n  a:\n    steps:\n      - uses: x\n      - run: |\n          # all\n          uv run --frozen pytest -q tests/unit\n'
  const { gates, alternatives, prepare } = found({
    ...PYTEST,
    'pyproject.toml': `${PROJECT}[tool.ruff]\n[tool.uv]\n[dependency-groups]\ntest = ["pytest"]\n[project.optional-dependencies]\ntest = ["a"]\n`,
    '.github/workflows/ci.yml': workflow,
    '.pre-commit-config.yaml': 'repos: [{ rev: v0.4.2, hooks: [{ id: ruff }] }]\n',
  })
  assert.deepEqual(gates, { lint: 'uv run --with ruff==0.4.2 ruff check .', test: 'uv run pytest' })
  assert.equal(alternatives.test?.[0], 'uv run pytest -q tests/unit')
  assert.equal(prepare, 'uv sync --group test --extra test')
})

test('init: uv has the groups of the tests, locked versions, and tox commands by factor', () => {
  const groups =
    '[tool.mypy]\n[tool.pyright]\n[tool.ruff]\n[dependency-groups]\ntests = ["pytest"]\ndev = [{ include-group = "tests" }]\npyright = ["pyright"]\n'
  const uv = found({
    ...PYTEST,
    'pyproject.toml': `${PROJECT}${groups}`,
    'uv.lock': 'version = 1\n\n[[package]]\nname = "mypy"\nversion = "1.19.1"\nsource = { registry = "x" }\n',
    'tox.ini':
      '[testenv]\ndependency_groups =\n    tests: tests\ncommands =\n    tests: pytest {posargs:-n auto}\n    mypy: mypy typing-examples\n    mypy: pytest -k test_mypy\n    pypy: pytest tests/test_calc.py\n',
    '.pre-commit-config.yaml':
      'repos: [{ rev: v0.15.6, hooks: [{ id: ruff-check }, { id: ruff-format }] }]\n',
  })
  assert.equal(uv.prepare, 'uv sync --locked --group tests')
  assert.deepEqual(uv.gates, {
    format: 'uv run --with ruff==0.15.6 ruff format --check .',
    typecheck: 'uv run --with mypy==1.19.1 mypy typing-examples',
    lint: 'uv run --with ruff==0.15.6 ruff check .',
    test: 'uv run pytest',
  })
  assert.deepEqual(uv.alternatives.test?.slice(0, 2), [
    'uv run pytest -n auto',
    'uv run pytest tests/test_calc.py',
  ])
  const prepare = (more: string) =>
    found({ ...PYTEST, 'pyproject.toml': `${PROJECT}${more}`, 'uv.lock': '' }).prepare
  assert.equal(prepare('[dependency-groups]\ndev = ["pytest"]\ndocs = ["sphinx"]\n'), 'uv sync --locked')
  assert.equal(
    prepare('[tool.uv]\ndefault-groups = ["testing"]\n[dependency-groups]\ntesting = ["pytest"]\n'),
    'uv sync --locked',
  )
  assert.equal(prepare('[dependency-groups]\nall = ["a"]\n'), 'uv sync --locked --all-groups')
  const tox = found({
    ...PYTEST,
    'uv.lock': '',
    'tox.ini': '[testenv]\ndeps =\n    pytest\n    pretend\n    -r more.txt\ncommands = pytest\n',
    'pyproject.toml': PROJECT,
  })
  assert.equal(tox.gates.test, 'uv run --with pytest --with pretend --with-requirements more.txt pytest')
})

test("init: npm's audit is not part of the test gate, and scripts that only test replace it", () => {
  const pack = (scripts: object) => found({ 'package.json': JSON.stringify({ scripts }) })
  const audited = pack({
    lint: 'eslint .',
    pretest: 'npm run lint',
    test: 'npm run tests-only',
    'tests-only': "nyc tape 'test/**/*.js'",
    posttest: "npx npm@'>=10.2' audit --production",
  })
  assert.equal(audited.gates.test, 'npm test --ignore-scripts')
  assert.deepEqual(audited.alternatives.test, ['npm run tests-only'])
  const built = pack({
    pretest: 'npm run build',
    test: 'tape test',
    posttest: 'aud --production',
    build: 'x',
  })
  assert.equal(built.gates.test, 'npm run pretest && npm test --ignore-scripts')
  assert.equal(pack({ test: 'x', posttest: 'node check.js' }).gates.test, 'npm test')
  assert.deepEqual(pack({ test: 'standard && tap test/*.js && tsd' }).alternatives.test, [
    'npx --no-install tap test/*.js',
  ])
})

test('init: a red npm test script is replaced by the test files and scripts that it names', () => {
  const others = (scripts: object) => found({ 'package.json': JSON.stringify({ scripts }) }).alternatives.test
  const types = 'tsc --noEmit test/test.js'
  assert.deepEqual(
    others({ test: 'npm run lint && npm run test:types && node test/test.js | faucet', 'test:types': types }),
    ['node test/test.js'],
  )
  assert.deepEqual(others({ test: 'tape test/*.js | tap-spec' }), ['npx --no-install tape test/*.js'])
  assert.deepEqual(
    others({ test: 'npm run build && npm run test:core && npm run test:lint', 'test:core': 'x' }),
    ['npm run test:core'],
  )
  assert.equal(others({ test: 'node build.js && node --eval "x"' }), undefined)
})

test('init: targets of a Makefile, Taskfile or justfile add gates that the language lacks', () => {
  const make =
    '.PHONY: test lint\nX := 1\nall: test\n\ntest: build\n\t@./run-tests\nlint:\n\t-shellcheck *.sh\nbuild:\n\tcc x.c\n'
  assert.deepEqual(found({ 'x.c': '', Makefile: make }).gates, {
    lint: 'make lint',
    test: 'make test',
    build: 'make build',
  })
  const task = 'version: "3"\ntasks:\n  test: ./run\n  lint: { cmds: [a, { cmd: b }] }\n'
  assert.deepEqual(found({ 'Taskfile.yml': task }).gates, { lint: 'task lint', test: 'task test' })
  assert.deepEqual(found({ justfile: 'set shell := ["sh"]\ntest *args:\n    ./run {{args}}\n' }).gates, {
    test: 'just test',
  })
  const go = found({ 'go.mod': 'module x\n', Makefile: make })
  assert.deepEqual(go.gates, {
    lint: 'make lint',
    vet: 'go vet ./...',
    test: 'go test -v ./...',
    build: 'go build ./...',
  })
  assert.deepEqual(found({ Makefile: 'all:\n\tcc x.c\n', 'x.c': '' }).gates, {})
  const python = found({
    ...PYTEST,
    'pyproject.toml': '[tool.mypy]\n',
    Makefile: 'types:\n\tmypy --strict calc\n',
  })
  assert.equal(python.gates.typecheck, '.venv/bin/python -m mypy --strict calc')
})

test('init: Django by manage.py, PDM by its lock file, ruff of no group of poetry by pipx, a file of requirements once', () => {
  const django = found({
    'requirements.txt': 'django\n',
    'manage.py': 'import django\n',
    'tox.ini': '[testenv]\ndeps = -r requirements.txt\n',
  })
  assert.equal(django.gates.test, '.venv/bin/python manage.py test')
  assert.match(django.prepare ?? '', /-r requirements\.txt$/)
  assert.equal(django.prepare?.split('requirements.txt').length, 2)
  const pdm = found({ ...PYTEST, 'pyproject.toml': PROJECT, 'pdm.lock': '' })
  assert.deepEqual([pdm.prepare, pdm.gates.test], ['pdm install', 'pdm run pytest'])
  const group = (tool: string) =>
    `[tool.poetry]\n[tool.poetry.group.dev.dependencies]\n${tool} = "*"\npytest = "*"\n[tool.ruff]\n`
  const lint = (tool: string) =>
    found({ ...PYTEST, 'pyproject.toml': group(tool), 'poetry.lock': '' }).gates.lint
  assert.equal(lint('ruff'), 'poetry run ruff check .')
  assert.equal(lint('flask'), 'pipx run ruff check .')
})

test('init: what a marker leaves out of a current Python counts as not listed', () => {
  const { prepare } = found({ ...PYTEST, 'requirements-dev.txt': 'pytest; python_version < "3.8"\nruff\n' })
  assert.match(prepare ?? '', / -r requirements-dev\.txt pytest$/)
})
