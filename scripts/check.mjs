// `npm test`: lint, types, the bundle rebuilt and compared, every test of units, and of the rest what test/quick.json names.
// `npm run test:full`: the bundle and every test; `-- --shard 2/5`: that part of the files. Stops at the first thing that is wrong.
// The last lines say what was skipped, and why.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { lacks } from '../test/machine/needs.ts'
import { skipLines } from './skips.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { full, shard } = parseArgs({
  options: { full: { type: 'boolean', default: false }, shard: { type: 'string' } },
}).values
if (shard !== undefined && !full) throw new Error('--shard is for npm run test:full')

// Tests make and remove thousands of repositories, and wait until each is on the disk: in memory they take a third less.
const inMemory = hasRoomInMemory()
const folder = mkdtempSync(join(inMemory ? '/dev/shm' : tmpdir(), 'ralph-'))
// Other users pass through, as they do through /tmp: a database refuses to be root.
chmodSync(folder, 0o711)
// Where a step failed, what runs beside it may still write there.
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))
const started = {
  ...(inMemory ? { TMPDIR: folder } : {}),
  // Hundreds of processes load the same files: TypeScript is stripped and compiled once for all of them.
  NODE_COMPILE_CACHE: join(folder, 'compiled'),
  // Tests of commands start what was just built out of src/: it loads in half the time (test/unit/cli/place.ts).
  RALPH_CLI: join(root, 'dist', 'cli', 'main.js'),
  RALPH_SKIPS: join(folder, 'skips'),
}
writeFileSync(started.RALPH_SKIPS, '')
// Looked for, and fetched, once for all files; then on the PATH of what is started from here.
lacks('postgres')
const noBrowser = lacks('chrome')
if (noBrowser) process.stdout.write(`SKIPPED, every test with a browser: ${noBrowser}\n`)

/** Whether there are some gigabytes of shared memory, as Linux has it, from which programs may be started. */
function hasRoomInMemory() {
  if (process.platform !== 'linux') return false
  let probe
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    if (Math.min(bavail * bsize, freemem()) < 4 * 2 ** 30) return false
    probe = mkdtempSync('/dev/shm/ralph-')
    writeFileSync(join(probe, 'program'), '#!/bin/sh\n', { mode: 0o755 })
    return spawnSync(join(probe, 'program')).status === 0
  } catch {
    return false
  } finally {
    if (probe !== undefined) rmSync(probe, { recursive: true })
  }
}

const running = new Set()
process.on('exit', () => {
  for (const child of running) child.kill()
})

/** `beside`: what it prints comes when it has ended, since others print meanwhile. */
async function step(name, command, args, { env = {}, beside = false } = {}) {
  const began = Date.now()
  if (!beside) process.stdout.write(`\n== ${name}\n`)
  const stdio = ['inherit', beside ? 'pipe' : 'inherit', 'inherit']
  const child = spawn(command, args, { cwd: root, stdio, env: { ...process.env, ...started, ...env } })
  running.add(child)
  const printed = child.stdout === null ? '' : text(child.stdout)
  const [status, signal] = await once(child, 'close')
  running.delete(child)
  if (beside) process.stdout.write(`\n== ${name}\n${await printed}`)
  if (status !== 0) {
    process.stdout.write(`== ${name}: FAILED (exit ${status ?? signal})\n`)
    process.exit(1)
  }
  process.stdout.write(`== ${name}: ok, ${((Date.now() - began) / 1000).toFixed(1)} s\n`)
}

function testData(name) {
  return JSON.parse(readFileSync(join(root, 'test', name), 'utf8'))
}

process.stdout.write(`node ${process.version}\n`)
// Tests that show a known defect are named with it, said loudly, and left out until it is mended.
const known = testData('known-defects.json')
for (const [name, why] of Object.entries(known)) {
  process.stdout.write(`SKIPPED for a known defect: ${name} (${why})\n`)
}
const skips = Object.keys(known).map((name) => `--test-skip-pattern=${name}`)
function tests(name, files, { more = [], ...how } = {}) {
  const reporters = ['spec', './scripts/skips.mjs'].flatMap((one) => [
    `--test-reporter=${one}`,
    '--test-reporter-destination=stdout',
  ])
  return step(name, process.execPath, ['--test', ...reporters, ...skips, ...more, ...files], how)
}

async function build() {
  await step('build', process.execPath, ['scripts/build.mjs'])
  const changed = execFileSync('git', ['status', '--porcelain', '--', 'dist'], {
    cwd: root,
    encoding: 'utf8',
  })
  if (changed === '') return
  process.stdout.write(`== dist/ is not what src/ builds: run npm run build and commit it\n${changed}`)
  process.exit(1)
}

if (full) {
  await build()
  const part = shard === undefined ? [] : [`--test-shard=${shard}`]
  const [two, one] = [2, 1].map((files) => [`--test-concurrency=${files}`, ...part])
  await tests('tests', ['test/unit/**/*.test.ts', 'test/engine/**/*.test.ts', 'test/e2e/**/*.test.ts'], {
    more: two,
    env: { RALPH_RUNS: '10' },
  })
  // The kill matrices and the soak in their small size, and the real agent CLIs, installed by the test itself (one that
  // cannot be installed is named and skipped there). Each of them works on several things at a time by itself.
  await tests('faults and real agents', ['test/faults/**/*.test.ts', 'test/agents-real/**/*.test.ts'], {
    more: one,
  })
} else {
  // Most of their files take less time than a process of their own to start in: they share one, beside all else.
  const rooms = 'app engine notify plan report settings'.split(' ')
  const together = tests('unit tests of what touches little', [`test/unit/{${rooms}}/**/*.test.ts`], {
    more: ['--test-isolation=none'],
    beside: true,
  })
  await step('lint', 'biome', ['check', '--error-on-warnings', '.'])
  await step('imports', 'depcruise', ['src'])
  await step('prose', process.execPath, ['scripts/prose.mjs'])
  await step('types', 'tsc', ['--noEmit', '-p', 'tsconfig.json'])
  await build()
  // On two processors: two of four files wait at any time, for a disk, a browser, a process, or a clock.
  const four = '--test-concurrency=4'
  const others = `test/unit/!(${rooms.join('|')})/**/*.test.ts`
  await tests('unit tests of the rest', [others], { more: [four] })
  await together
  const { env, tests: chosen } = testData('quick.json')
  const names = Object.values(chosen).flat()
  const only = names.map((name) => `--test-name-pattern=^${RegExp.escape(name)}$`)
  await tests('one of each promise', Object.keys(chosen), { more: [four, ...only], env })
}
process.stdout.write(`\n${skipLines(readFileSync(started.RALPH_SKIPS, 'utf8')).join('\n')}\n`)
