// What `ralph init` finds in a project of each kind, and that what it proposes runs there and sees a mistake.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { openTree } from '../../../../src/cli/init-look.ts'
import { detect } from '../../../../src/setup/init/detect.ts'
import { findProgram } from '../../../../src/system/program.ts'
import { SAMPLES, type Sample } from './samples.ts'

const PATH = process.env.PATH ?? ''
/** Registries are asked by hand only. */
const withNetwork = process.env.RALPH_SAMPLES_NETWORK === '1'

async function inProject(
  files: Sample['files'],
  act: (folder: string, put: typeof write) => unknown,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-sample-'))
  const write = async (texts: Sample['files']) => {
    for (const [path, text] of Object.entries(texts)) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
  }
  try {
    await write(files)
    await act(folder, write)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
declare function write(texts: Sample['files']): Promise<void>

function run(command: string, folder: string): { code: number | null; said: string } {
  // No cache of a language may take one tree for another, and what a run of the tests sets is none of theirs.
  const { NODE_TEST_CONTEXT: _ours, ...host } = process.env
  const env = { ...host, CI: 'true', GOFLAGS: '-count=1', PYTHONDONTWRITEBYTECODE: '1' }
  const { status, stdout, stderr } = spawnSync('bash', ['-c', command], {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  return { code: status, said: `${command}\n${stdout}${stderr}` }
}

/** A launcher of tool chains (rustup) may be there without one. */
function works(tool: string): boolean {
  if (findProgram(tool, PATH) === null) return false
  return spawnSync(tool, [tool === 'go' ? 'version' : '--version']).status === 0
}

for (const sample of SAMPLES) {
  test(`init in ${sample.name}: gates and set-up that are proposed`, () =>
    inProject(sample.files, (folder) => {
      const { languages, managers, prepare, gates, setups, notes } = detect(openTree(folder))
      const wanted = { setups: [], ...sample.finds }
      assert.deepEqual({ languages, managers, prepare, gates, setups }, wanted)
      assert.deepEqual(Object.keys(gates), Object.keys(wanted.gates))
      assert.deepEqual(notes, [])
    }))

  const missing = sample.tools.filter((tool) => !works(tool))
  const skip =
    missing.length > 0
      ? `${missing.join(', ')} not on this machine`
      : sample.needsNetwork === true && !withNetwork && 'needs a registry'
  test(`init in ${sample.name}: the proposed commands run, and find an error`, { skip }, () =>
    inProject(sample.files, async (folder, put) => {
      const { prepare, gates } = sample.finds
      for (const command of [...(prepare === null ? [] : [prepare]), ...Object.values(gates)]) {
        const { code, said } = run(command, folder)
        assert.equal(code, 0, said)
      }
      await put(sample.broken)
      const codes = Object.entries(gates)
        .filter(([name]) => name.endsWith('test'))
        .map(([, command]) => run(command, folder).code)
      assert.ok(codes.some((code) => code !== 0))
    }),
  )
}

const found = (files: Record<string, string>) =>
  detect({ paths: Object.keys(files), text: (path) => files[path] ?? '' })

test('init ignores a folder whose name is an expression or more than a word', () => {
  const pack = JSON.stringify({ scripts: { test: 'node --test' } })
  const { gates, notes } = found({
    '${{ secrets.KEY }}/package.json': pack,
    'a; rm/package.json': pack,
  })
  assert.deepEqual(gates, {})
  assert.match(notes.join(), /2 folders/)
})

test('init notes more projects than it proposes', () => {
  const many = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`p${at}/go.mod`, 'module x\n']))
  const { gates, notes } = found(many)
  assert.equal(Object.keys(gates).length, 24)
  assert.match(notes.join(), /12 projects/)
})

test('init gives two folders with the same gate name two gates', () => {
  const { gates } = found({
    'a/b/go.mod': 'module x\n',
    'a-b/go.mod': 'module y\n',
    'c/go.mod': 'module z\n',
  })
  assert.equal(new Set(Object.values(gates)).size, 9)
  for (const name of Object.keys(gates)) assert.match(name, /^[a-z][a-z0-9-]{0,63}$/)
})

test('init goes on with an invalid or empty package.json', () => {
  for (const text of ['{', '[]', 'null', '{"scripts": 4}', '{"scripts": {"test": 5}}'])
    assert.deepEqual(found({ 'package.json': text }).gates, {})
})

test('init takes Python files with tests as a project, by unittest, or by pytest for test functions', () => {
  const found = (files: Record<string, string>) =>
    detect({ paths: Object.keys(files), text: (path) => files[path] ?? '' })
  const classes = 'import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n'
  const plain = found({ 'calc.py': '', 'test_calc.py': classes })
  assert.deepEqual(plain.languages, ['Python'])
  assert.deepEqual([plain.gates, plain.prepare], [{ test: 'python3 -m unittest discover' }, null])
  const functions = found({ 'calc.py': '', 'tests/test_calc.py': 'def test_a():\n    pass\n' })
  assert.deepEqual(functions.gates, { test: '.venv/bin/python -m pytest' })
  assert.match(functions.prepare ?? '', /pip install --quiet pytest$/)
  assert.deepEqual(functions.alternatives, {}, 'unittest would find no test, and be green')
  assert.deepEqual(found({ 'go.mod': '', 'scripts/test_x.py': classes }).languages, ['Go'])
  assert.deepEqual(found({ 'calc.py': '' }).gates, {})
})

test('init proposes installs: lock files or none, berry, several folders, tools of Python', () => {
  const pack = (more: object) => JSON.stringify({ scripts: { test: 'x' }, ...more })
  const deps = { devDependencies: { typescript: '5' } }
  for (const [files, prepare, setups = []] of [
    [{ 'package.json': pack({}) }, null],
    [{ 'package.json': pack(deps) }, 'npm install --no-package-lock'],
    [
      { 'package.json': pack(deps), 'bun.lockb': '' },
      'bun install --frozen-lockfile',
      ['npm install --global bun@latest'],
    ],
    [
      { 'package.json': pack({ packageManager: 'yarn@4.1.0+sha224.abc' }), 'yarn.lock': '' },
      'yarn install --immutable',
      ['corepack enable'],
    ],
    [
      { 'package.json': pack({}), 'pnpm-workspace.yaml': '', 'pnpm-lock.yaml': '' },
      'pnpm install --frozen-lockfile',
      ['npm install --global pnpm@latest'],
    ],
    [
      { 'web/package.json': pack({}), 'web/package-lock.json': '', 'api/go.mod': '', 'api/go.sum': '' },
      '(cd web && npm ci) && (cd api && go mod download)',
    ],
    [
      { 'pyproject.toml': '[tool.poetry]\n', 'poetry.lock': '' },
      'poetry install --no-interaction',
      ['pipx install poetry'],
    ],
    [{ 'pyproject.toml': '', 'uv.lock': '' }, 'uv sync --locked', ['pipx install uv']],
  ] as const) {
    const project = found(files as Record<string, string>)
    assert.deepEqual([project.prepare, project.setups], [prepare, setups], JSON.stringify(files))
  }
  const typed = found({ 'package.json': pack(deps), 'tsconfig.json': '{}' })
  assert.deepEqual(typed.gates, { typecheck: 'npx --no-install tsc --noEmit', test: 'npm test' })
  const rust = found({ 'Cargo.toml': '[lints.clippy]\n', 'Cargo.lock': '', 'rustfmt.toml': '' })
  assert.deepEqual(Object.keys(rust.gates), ['format', 'lint', 'test', 'build'])
  const spotless = found({ 'pom.xml': '<artifactId>spotless-maven-plugin</artifactId>', mvnw: '' })
  assert.equal(spotless.gates.lint, './mvnw --batch-mode --quiet spotless:check')
})
