// `ralph init` tries what it proposes, once and in a copy: what is green is written, what is red is named and left out.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { openProject, type Project } from './init-project.ts'

const pack = (scripts: Record<string, string>) => ({ 'package.json': JSON.stringify({ name: 'x', scripts }) })
const PIN = ['--pin', 'a'.repeat(40)]
const gatesIn = async (project: Project) => parse(await project.read('ralph.config.yml')).gates

test('init leaves out a red gate, with its last line and how to add it back, and leaves no files of it', async () => {
  const scripts = {
    lint: 'echo working; echo "error: a.js is not clean" >&2; exit 3',
    test: 'echo seen > written-by-test',
    build: 'test ! -e ignored && mkdir built',
  }
  await using project = await openProject({ ...pack(scripts), '.gitignore': 'ignored\n', ignored: '' })
  execFileSync('git', ['init', '-q'], { cwd: project.folder })
  const { code, out } = project.ralph('init', '--yes', ...PIN)
  assert.equal(code, 0)
  assert.match(out, /runs the project's own code on this machine \(--no-try/)
  assert.match(out, /^ {2}red +lint: npm run lint \(.*\) exit 3: error: a\.js is not clean$/m)
  assert.match(out, /^ {2}green +test: npm test/m)
  assert.match(out, /^ {6}lint: npm run lint$/m)
  assert.deepEqual(await gatesIn(project), { test: 'npm test', build: 'npm run build' })
  assert.ok(!('written-by-test' in (await project.all())))
  assert.deepEqual(
    readdirSync(project.temporary).filter((name) => name.startsWith('ralph-')),
    [],
  )
  assert.match(project.ralph('init', '--yes', ...PIN).out, /^Nothing was written/m)
  assert.doesNotMatch(project.ralph('init', '--yes', ...PIN).out, /Trying/)
})

test('init replaces a red test gate by a script that only tests; --no-try and named gates run nothing', async () => {
  const scripts = { lint: 'exit 1', test: 'npm run lint && npm run unit', unit: 'echo ran' }
  await using project = await openProject(pack(scripts))
  const { tried } = JSON.parse(project.ralph('init', '--json', ...PIN).out)
  assert.deepEqual(
    tried.map(({ name, run, state }: Record<string, string>) => `${state} ${name} ${run}`),
    [
      ...['red lint npm run lint', 'red lint npm run lint'],
      ...['red test npm test', 'red test npm test', 'green test npm run unit'],
    ],
  )
  assert.deepEqual(await gatesIn(project), { test: 'npm run unit' })

  await using shown = await openProject(pack(scripts))
  const screen = shown.ralph('init', '--yes', ...PIN).out.replace(/\n +/g, ' ')
  assert.match(
    screen,
    /warning: `npm test` fails here \(exit 1\), so gate test runs `npm run unit` instead\. If that is not enough, fix `npm test`/,
  )
  assert.match(
    screen,
    /^Missing .*a passing `npm test`: it fails here, so gate test runs `npm run unit` instead/m,
  )

  for (const flags of [
    ['--no-try'],
    ['--gates', 'test: touch ran'],
    ['--no-try', '--gate', 'test=touch ran'],
  ]) {
    await using other = await openProject(pack({ test: 'touch ran' }))
    const { code, out } = other.ralph('init', '--yes', ...PIN, ...flags)
    assert.equal(code, 0)
    assert.doesNotMatch(out, /Trying|green/)
  }
})

test('init with only red gates writes nothing, and names each', async () => {
  await using project = await openProject(pack({ test: 'echo "Error: no database"; exit 2' }))
  const { code, err } = project.ralph('init', '--yes', ...PIN)
  assert.equal(code, 64)
  assert.match(err, /every gate fails on the project as it is: test \(npm test\) exit 2: Error: no database/)
  assert.match(err, /--no-try/)
  const { tried } = JSON.parse(project.ralph('init', '--json', ...PIN).out)
  assert.deepEqual([tried[0].state, tried[0].run], ['red', 'npm test'])
  assert.deepEqual(Object.keys(await project.all()), ['package.json'])
})

test('init writes gates that it cannot try, with a warning: a missing program, a prepare that fails', async () => {
  await using missing = await openProject({
    Makefile: 'test:\n\t./run\n',
    'go.mod': 'module x\n',
    'x.go': 'package x\n',
  })
  await missing.write({ '.git/bin/go': '#!/bin/sh\nexit 127\n' })
  execFileSync('chmod', ['+x', `${missing.folder}/.git/bin/go`])
  execFileSync('git', ['init', '-q'], { cwd: missing.folder })
  const { out } = missing.ralph('init', '--yes', ...PIN)
  assert.match(out, /warning: Ralph could not try gate test here \(exit 127/)
  assert.deepEqual(Object.keys(await gatesIn(missing)), ['vet', 'test', 'build'])

  await using unprepared = await openProject(pack({ test: 'touch ran' }))
  const failing = unprepared.ralph('init', '--yes', ...PIN, '--prepare', 'echo "error: offline"; exit 5')
  assert.match(failing.out, /warning: prepare exit 5 here \(error: offline\), so no gate was tried/)
  assert.deepEqual(await gatesIn(unprepared), { test: 'npm test' })
  await using uninstalled = await openProject(pack({ test: 'touch ran' }))
  const without = uninstalled.ralph('init', '--yes', ...PIN, '--prepare', 'no-such-installer install')
  assert.match(
    without.out,
    /warning: prepare needs no-such-installer, which is not on this machine, so no gate was/,
  )
})

test('init leaves out a gate whose program is missing, names it, and tries the others', async () => {
  const make = 'lint:\n\tno-such-linter run -v\ntypecheck:\n\t@no-such-checker | cat; exit 3\n'
  const scripts = { test: 'no-such-runner && npm run unit', unit: 'echo ran' }
  await using project = await openProject({ ...pack(scripts), Makefile: make })
  const { code, out } = project.ralph('init', '--yes', ...PIN)
  assert.equal(code, 0)
  assert.match(
    out,
    /^ {2}missing +lint: make lint \(.*\) needs no-such-linter, which is not on this machine$/m,
  )
  assert.match(out, /^ {2}red +typecheck: make typecheck/m)
  assert.match(out, /^ {2}lint: needs no-such-linter, which is not on this machine$/m)
  assert.match(
    out.replace(/\s+/g, ' '),
    /warning: gate lint is left out, because no-such-linter is not on this machine\. Install no-such-linter, then add the lines below/,
  )
  assert.match(out, /^ {2}missing +test: npm test \(.*\) needs no-such-runner/m)
  assert.doesNotMatch(out, /could not be judged/)
  assert.deepEqual(await gatesIn(project), { test: 'npm run unit' })
})

test('init warns about a project whose gates run no test', async () => {
  const files = { 'pyproject.toml': '[tool.mypy]\n', 'calc.py': '' }
  await using project = await openProject(files)
  const { code, out } = project.init('--yes')
  assert.equal(code, 0)
  assert.match(out, /warning: no gate runs tests/)
  await using tested = await openProject({ ...files, 'test_calc.py': 'def test_a():\n    pass\n' })
  assert.doesNotMatch(tested.init('--yes').out, /no gate runs tests/)
})

/** Puts an npm into the project's PATH that does what these lines of a shell say. */
async function withNpm(project: Project, ...lines: string[]): Promise<void> {
  await project.write({ '.git/bin/npm': `#!/bin/sh\n${lines.join('\n')}\n` })
  execFileSync('chmod', ['+x', `${project.folder}/.git/bin/npm`])
  execFileSync('git', ['init', '-q'], { cwd: project.folder })
}

test('each of several projects is prepared by another command of its manager if the first fails', async () => {
  const files = (path: string) => ({
    [`${path}/package.json`]: JSON.stringify({
      name: path,
      scripts: { test: 'true' },
      dependencies: { x: '1' },
    }),
    [`${path}/package-lock.json`]: '{}',
  })
  await using project = await openProject({ ...files('api'), ...files('web') })
  await withNpm(project, 'case "$1 $PWD" in "ci "*/web) exit 1 ;; esac')
  project.ralph('init', '--yes', ...PIN)
  const { prepare, gates } = parse(await project.read('ralph.config.yml'))
  assert.equal(prepare, '(cd api && npm ci) && (cd web && npm install --no-package-lock)')
  assert.deepEqual(Object.keys(gates), ['api-test', 'web-test'])
})

test('if prepare fails, gates that pass without it are written, and prepare is not', async () => {
  const files = {
    'package.json': JSON.stringify({
      name: 'x',
      scripts: { lint: 'x', test: 'x' },
      devDependencies: { x: '1' },
    }),
    'package-lock.json': '{}',
  }
  const install = 'case $1 in ci|install) touch installed; exit 1 ;; esac'
  await using project = await openProject(files)
  await withNpm(
    project,
    install,
    '[ "$1" != test ] || echo "# pass 3"',
    '[ "$1" != run ] || [ -e installed ]',
  )
  const { out } = project.ralph('init', '--yes', ...PIN)
  assert.match(
    out.replace(/\s+/g, ' '),
    /warning: `npm ci` failed here \(exit 1\), so there is no `prepare`, and the gates that need it are left out/,
  )
  const config = parse(await project.read('ralph.config.yml'))
  assert.deepEqual([config.prepare, config.gates], [undefined, { test: 'npm test' }])

  await using untested = await openProject(files)
  await withNpm(untested, install, '[ "$1" != test ]')
  assert.match(untested.ralph('init', '--yes', ...PIN).out, /prepare exit 1 here, so no gate was tried/)
  assert.equal(parse(await untested.read('ralph.config.yml')).prepare, 'npm ci')
})

test('test files that cannot be loaded are left out by the runner, and named', async () => {
  await using project = await openProject(pack({ test: 'vitest run' }))
  await withNpm(
    project,
    'case "$*" in *--exclude=test/tax.test.js*) echo " Tests  8 passed (8)"; exit 0 ;; esac',
    'echo " RUN  v3.2.7 /shop"; echo " FAIL  test/tax.test.js [ test/tax.test.js ]"; echo " Tests  8 passed (8)"; exit 1',
  )
  const screen = project.ralph('init', '--yes', ...PIN).out.replace(/\s+/g, ' ')
  assert.match(
    screen,
    /1 test file is red before any change, and gate test does not run it: test\/tax\.test\.js\. Fix it, then set the gate to `test: npm test`/,
  )
  assert.deepEqual(await gatesIn(project), { test: 'npm test -- --exclude=test/tax.test.js' })
})

test('a program that is missing is listed with the command that installs it', async () => {
  const make = 'lint:\n\tgolangci-lint run\nformat-check:\n\tgolangci-lint fmt --diff\n'
  await using project = await openProject({ ...pack({ test: 'echo ran' }), Makefile: make })
  execFileSync('git', ['init', '-q'], { cwd: project.folder })
  const out = project.ralph('init', '--yes', ...PIN).out.replace(/\s+/g, ' ')
  const install = 'go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@latest'
  assert.ok(out.includes(`golangci-lint, for gates format, lint: ${install}`), out)
  assert.ok(out.includes(`Run \`${install}\`, then add the lines below`), out)
  assert.deepEqual(await gatesIn(project), { test: 'npm test' })
})
