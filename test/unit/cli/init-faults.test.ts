// `ralph init` on projects whose first answer misleads: gates without tests, files that git tracks although it ignores them, gates
// that need a build, gates that are red once.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { parse } from 'yaml'
import { openProject, type Project } from './init-project.ts'

const pack = (scripts: Record<string, string>) => ({ 'package.json': JSON.stringify({ name: 'x', scripts }) })
const PIN = ['--pin', 'a'.repeat(40)]
const gatesIn = async (project: Project) => parse(await project.read('ralph.config.yml')).gates
const git = (project: Project, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.test', ...args], { cwd: project.folder })

test('init leaves out a test gate that counts no tests, and says so under Missing', async () => {
  const scripts = { lint: 'echo fine', test: 'echo "Ran 0 tests in 0.000s"; echo; echo OK' }
  await using project = await openProject(pack(scripts))
  const { code, out } = project.ralph('init', '--yes', ...PIN)
  assert.equal(code, 0)
  assert.match(out, /^ {2}red +test: npm test \(.*\) exit 0, but it ran no test/m)
  assert.deepEqual(await gatesIn(project), { lint: 'npm run lint' })
  assert.match(out, /a gate that runs tests/)
})

test('init tries gates in a copy that has the tracked files which .gitignore matches', async () => {
  await using project = await openProject({
    ...pack({ test: 'cat build.sh && sh build.sh' }),
    '.gitignore': '*.sh\nlocal\n',
    'build.sh': 'test ! -e local && echo built\n',
  })
  git(project, 'init', '-q')
  git(project, 'add', '-A')
  git(project, 'add', '-f', 'build.sh')
  git(project, 'commit', '-qm', 'one')
  await project.write({ local: 'ignored and not tracked\n' })
  project.ralph('init', '--yes', ...PIN)
  assert.deepEqual(await gatesIn(project), { test: 'npm test' })
})

test('init puts the console scripts of .venv on the PATH of gates, but not a folder that git tracks', async () => {
  const prepare =
    'mkdir -p .venv/bin && printf "#!/bin/sh\\necho hi\\n" > .venv/bin/greet && chmod +x .venv/bin/greet'
  await using project = await openProject({
    ...pack({ lint: 'true', test: 'greet' }),
    '.gitignore': '.venv\n',
  })
  project.ralph('init', '--yes', ...PIN, '--prepare', prepare)
  assert.deepEqual(await gatesIn(project), { lint: 'npm run lint', test: 'npm test' })

  await using tracked = await openProject({
    ...pack({ lint: 'true', test: 'npm run x', x: 'npm2' }),
    '.venv/bin/npm2': '#!/bin/sh\n',
  })
  execFileSync('chmod', ['+x', '.venv/bin/npm2'], { cwd: tracked.folder })
  git(tracked, 'init', '-q')
  git(tracked, 'add', '-A')
  git(tracked, 'commit', '-qm', 'one')
  const { out } = tracked.ralph('init', '--yes', ...PIN)
  assert.match(out, /missing +test: .* needs npm2/)
})

test('init tries a gate that needs the build again once the build is green, and writes that it needs it', async () => {
  const scripts = { test: 'cat made/x', build: 'mkdir -p made && echo 1 > made/x' }
  await using project = await openProject(pack(scripts))
  const { tried } = JSON.parse(project.ralph('init', '--json', ...PIN).out)
  assert.equal(tried.findLast(({ name }: { name: string }) => name === 'test').state, 'green')
  assert.deepEqual(await gatesIn(project), {
    build: 'npm run build',
    test: { run: 'npm test', needs: ['build'] },
  })
})

test('init tries a red gate twice, and writes one that is green the second time with a warning', async () => {
  const flaky = 'test -e seen && exit 0; touch seen; echo "Error: busy" && exit 1'
  await using project = await openProject(pack({ test: flaky }))
  const { code, out } = project.ralph('init', '--yes', ...PIN)
  assert.equal(code, 0)
  assert.match(out, /warning: gate test failed, then passed on a second try/)
  assert.deepEqual(await gatesIn(project), { test: 'npm test' })
})

test('init shows the most telling line of a red gate, not the advice below it', async () => {
  const scripts = {
    lint: 'true',
    test: 'echo "Error: no such table: users"; echo "get help at https://example.com/help"; exit 1',
  }
  await using project = await openProject(pack(scripts))
  const { out } = project.ralph('init', '--yes', ...PIN)
  assert.match(out, /^ {2}red +test: npm test \(.*\) exit 1: Error: no such table: users$/m)
})

test('init leaves out a formatter that changes files instead of checking them', async () => {
  const scripts = { lint: 'true', 'format:check': 'echo more >> a.txt' }
  await using project = await openProject({ ...pack(scripts), 'a.txt': 'x\n' })
  git(project, 'init', '-q')
  git(project, 'add', '-A')
  git(project, 'commit', '-qm', 'one')
  const { out } = project.ralph('init', '--yes', ...PIN)
  assert.match(out, /red +format: .*exit 0, but it changes files/)
})

test('init runs a test gate without the few tests that are red before any change, and names them', async () => {
  const go = `#!/bin/sh
case "$*" in
  *-skip*TestOld*) echo "--- PASS: TestNew (0.0s)"; exit 0 ;;
  test*) echo "--- PASS: TestNew (0.0s)"; echo "--- FAIL: TestOld (0.0s)"; echo "FAIL"; exit 1 ;;
esac
`
  await using project = await openProject({ 'go.mod': 'module x\n', '.git/bin/go': go })
  execFileSync('chmod', ['+x', `${project.folder}/.git/bin/go`])
  git(project, 'init', '-q')
  const { out } = project.ralph('init', '--yes', ...PIN)
  assert.equal((await gatesIn(project)).test, "go test -skip '^(?:TestOld)$' -v ./...")
  assert.match(
    out,
    /warning: 1 test is red before any change, and gate test does not run it: TestOld\. Fix it/,
  )
})

test('init lets a base fail the tests that no option of its runner leaves out, and names them', async () => {
  const script =
    "console.log('✖ failing tests:\\n\\ntest at test/a.test.js:3:1\\n✖ adds old prices (1.5ms)\\n\\nℹ pass 8\\nℹ fail 1'); process.exit(1)"
  await using project = await openProject({
    'package.json': JSON.stringify({ name: 'x', scripts: { test: 'node run.js' } }),
    'run.js': script,
  })
  git(project, 'init', '-q')
  const { out } = project.ralph('init', '--yes', ...PIN)
  assert.equal((await gatesIn(project)).test, 'npm test')
  assert.match(await project.read('ralph.config.yml'), /^baseline: known-red$/m)
  assert.match(out, /May fail +test \(1 test: test\/a\.test\.js: adds old prices\); baseline: known-red/)
})

test('init tries the other projects of a repository when one of them cannot be prepared', async () => {
  await using project = await openProject({
    'package.json': JSON.stringify({ name: 'x', scripts: { test: 'echo "1 passing (3ms)"' } }),
    'package-lock.json': JSON.stringify({ name: 'x', lockfileVersion: 3, packages: { '': { name: 'x' } } }),
    'tools/package.json': JSON.stringify({
      name: 'y',
      scripts: { test: 'true' },
      dependencies: { z: 'file:../gone.tgz' },
    }),
    'tools/package-lock.json': '{ broken',
  })
  const { out } = project.ralph('init', '--yes', ...PIN)
  const { gates, prepare } = parse(await project.read('ralph.config.yml'))
  assert.deepEqual(gates, { test: 'npm test' })
  assert.equal(prepare, 'npm ci')
  assert.match(out, /warning: \(cd tools && npm ci\) failed .*, so Ralph left out gate tools-test/)
})
