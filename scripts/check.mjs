// `npm test`: lint, types, the bundle rebuilt and compared, every test of units and of the engine, and of the rest what test/quick.json names.
// `npm run test:full`: the bundle and every test; `-- --shard 2/5`: that part of the files. Stops at the first thing that is wrong.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { full, shard } = parseArgs({
  options: { full: { type: 'boolean', default: false }, shard: { type: 'string' } },
}).values
if (shard !== undefined && !full) throw new Error('--shard is for npm run test:full')

// Hundreds of processes load the same files: TypeScript is stripped and compiled once for all of them.
const compiled = mkdtempSync(join(tmpdir(), 'ralph-compiled-'))
process.on('exit', () => rmSync(compiled, { recursive: true, force: true }))
// Tests of commands start what was just built out of src/: it loads in half the time (test/unit/cli/place.ts).
const started = { NODE_COMPILE_CACHE: compiled, RALPH_CLI: join(root, 'dist', 'cli', 'main.js') }

function step(name, command, args, more = {}) {
  const began = Date.now()
  process.stdout.write(`\n== ${name}\n`)
  const env = { ...process.env, ...started, ...more }
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit', env })
  if (result.status !== 0) {
    process.stdout.write(
      `== ${name}: FAILED (exit ${result.status ?? result.signal ?? result.error?.message})\n`,
    )
    process.exit(1)
  }
  process.stdout.write(`== ${name}: ok, ${((Date.now() - began) / 1000).toFixed(1)} s\n`)
}

function testData(name) {
  return JSON.parse(readFileSync(join(root, 'test', name), 'utf8'))
}

process.stdout.write(`node ${process.version}\n`)
if (!full) {
  step('lint', 'biome', ['check', '--error-on-warnings', '.'])
  step('types', 'tsc', ['--noEmit', '-p', 'tsconfig.json'])
}
step('build', process.execPath, ['scripts/build.mjs'])
const changed = execFileSync('git', ['status', '--porcelain', '--', 'dist'], { cwd: root, encoding: 'utf8' })
if (changed !== '') {
  process.stdout.write(`== dist/ is not what src/ builds: run npm run build and commit it\n${changed}`)
  process.exit(1)
}
// Tests that show a known defect are named with it, said loudly, and left out until it is mended.
const known = testData('known-defects.json')
for (const [name, why] of Object.entries(known)) {
  process.stdout.write(`SKIPPED for a known defect: ${name} (${why})\n`)
}
const skips = Object.keys(known).map((name) => `--test-skip-pattern=${name}`)
function tests(name, files, { more = [], env = {} } = {}) {
  step(name, process.execPath, ['--test', '--test-reporter=spec', ...skips, ...more, ...files], env)
}

if (full) {
  const part = shard === undefined ? [] : [`--test-shard=${shard}`]
  const [two, one] = [2, 1].map((files) => [`--test-concurrency=${files}`, ...part])
  tests('tests', ['test/unit/**/*.test.ts', 'test/engine/**/*.test.ts', 'test/e2e/**/*.test.ts'], {
    more: two,
    env: { RALPH_RUNS: '10' },
  })
  // The kill matrices and the soak in their small size, and the real agent CLIs, installed by the test itself (one that
  // cannot be installed is named and skipped there). Each of them works on several things at a time by itself.
  tests('faults and real agents', ['test/faults/**/*.test.ts', 'test/agents-real/**/*.test.ts'], {
    more: one,
  })
} else {
  // On two processors: one of three files waits at any time, for a disk, a browser, or a clock.
  const three = '--test-concurrency=3'
  tests('unit tests, and the engine with real git', ['test/unit/**/*.test.ts', 'test/engine/**/*.test.ts'], {
    more: [three],
  })
  const { env, tests: chosen } = testData('quick.json')
  const names = Object.values(chosen).flat()
  const only = names.map((name) => `--test-name-pattern=^${RegExp.escape(name)}$`)
  tests('one of each promise', Object.keys(chosen), { more: [three, ...only], env })
}
