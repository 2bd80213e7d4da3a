// What `ralph init` makes of forty real packages, as they were published: which gates it proposes, which are green where it
// has tried them, and whether everything that it writes is green in a clean clone without an edit.
// Run: node bench/init.mjs [--only NAME,...] [--no-try] [--quick] [--within SECONDS]; --totals FILE counts the rows of a table
// that several runs made. Downloads into a temporary folder with npm, pip, go and cargo
// as this machine has them configured; a package that cannot be had is left out, and named.
// With `--from FOLDER` the repositories of init-repositories.mjs instead, FOLDER/owner+name/repo each, which are cloned from there;
// with `--fresh`, those of its second set; with `--third`, of its third. `--answers FOLDER` also keeps what init printed with --json.
// A repository's CI was green with the linters of its newest commit's day. So pip and uv install what PyPI had then; with `--today`, the
// newest. uv does not if the project has a uv.lock, which fixes the versions and records the setting. Go is the one of that day as well.
// npm, pnpm and cargo install the newest in any case. `--tools FOLDER`: programs that CI gets by an action. FOLDER/owner+name is on the PATH before FOLDER/common.
// bench/init.txt is the table of one run.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

import { checksWithGates, FRESH, REPOSITORIES, THIRD } from './init-repositories.mjs'

const argsOf = process.argv.slice(2)
const from = argsOf.includes('--from') ? argsOf[argsOf.indexOf('--from') + 1] : null
const SET = argsOf.includes('--third') ? THIRD : argsOf.includes('--fresh') ? FRESH : REPOSITORIES
const PACKAGES =
  from !== null
    ? { github: Object.keys(SET).join(' ') }
    : {
        npm: 'bl@6.0.16 process-warning@4.0.0 fast-json-stringify@6.0.0 fastq@1.17.1 secure-json-parse@3.0.1 find-my-way@9.1.0 light-my-request@6.3.0 split2@4.2.0 rfdc@1.4.1 fast-uri@3.0.3',
        pypi: 'attrs click packaging iniconfig pluggy h11 idna more-itertools blinker itsdangerous cachetools wcwidth',
        go: [
          'github.com/pkg/errors github.com/google/uuid github.com/spf13/pflag github.com/gorilla/mux github.com/fatih/color',
          'github.com/BurntSushi/toml github.com/mattn/go-isatty github.com/spf13/cobra github.com/go-chi/chi/v5',
        ].join(' '),
        crates: 'itoa semver either smallvec hex humantime scopeguard unicode-segmentation base64',
      }

const ROOT = dirname(import.meta.dirname)
const MAIN = join(ROOT, 'test', 'start', 'cli.ts')
const args = argsOf
/** What init has tried is believed; else everything runs once more in a clean clone. */
const isQuick = args.includes('--quick')
/** No package's init may take longer. */
const WITHIN_MS = 1000 * (args.includes('--within') ? Number(args[args.indexOf('--within') + 1]) : 1800)
const chosen = args.includes('--only') ? args[args.indexOf('--only') + 1].split(',') : null
const answersIn = args.includes('--answers') ? args[args.indexOf('--answers') + 1] : null
const tools = args.includes('--tools') ? args[args.indexOf('--tools') + 1] : null
const isToday = from === null || args.includes('--today')
const temporary = mkdtempSync(join(tmpdir(), 'ralph-bench-init-'))
const run = (file, words, cwd = temporary) =>
  execFileSync(file, words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 300_000 })

/** The folder with the package's files as they were published, and its version. */
const GET = {
  github(name, folder) {
    const top = join(folder, name.split('/')[1])
    run('git', ['clone', '-q', join(from, name.replace('/', '+'), 'repo'), top])
    run('git', ['-C', top, 'checkout', '-q', '-B', 'main'])
    return { top, version: run('git', ['-C', top, 'rev-parse', '--short', 'HEAD']).trim() }
  },
  npm(name, folder) {
    const made = run('npm', ['pack', name, '--silent', '--pack-destination', folder]).trim()
    run('tar', ['--no-same-owner', '-xzf', join(folder, basename(made)), '-C', folder])
    const top = only(folder)
    return { top, version: JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')).version }
  },
  pypi(name, folder) {
    run('pip', ['download', '--no-deps', '--no-binary', name, '-q', '-d', folder, name])
    const [archive = ''] = readdirSync(folder)
    run('tar', ['--no-same-owner', '-xzf', join(folder, archive), '-C', folder])
    return { top: only(folder), version: /-([\d.]+)\.tar\.gz$/.exec(archive)?.[1] ?? '' }
  },
  go(name, folder) {
    const { Dir, Version } = JSON.parse(run('go', ['mod', 'download', '-json', `${name}@latest`]))
    run('cp', ['-r', Dir, join(folder, 'top')])
    run('chmod', ['-R', 'u+w', join(folder, 'top')])
    return { top: join(folder, 'top'), version: Version }
  },
  crates(name, folder) {
    mkdirSync(join(folder, 'src'))
    writeFileSync(join(folder, 'src/lib.rs'), '')
    const head = '[package]\nname = "empty"\nversion = "0.0.0"\nedition = "2021"\n'
    writeFileSync(join(folder, 'Cargo.toml'), `${head}[dependencies]\n${name} = "*"\n`)
    run('cargo', ['vendor', '-q', '--versioned-dirs', 'vendor'], folder)
    const found = readdirSync(join(folder, 'vendor')).find((it) => new RegExp(`^${name}-\\d`).test(it)) ?? ''
    const top = join(folder, 'top')
    renameSync(join(folder, 'vendor', found), top)
    rmSync(join(top, '.cargo-checksum.json'))
    rmSync(join(folder, 'Cargo.toml'))
    // cargo writes Cargo.toml anew when it publishes; people's own stands beside it, and may name folders that are not there.
    const own = readFileSync(join(top, 'Cargo.toml.orig'), 'utf8')
    if (!/\bpath = "\.\./.test(own) && !own.includes('[workspace]'))
      renameSync(join(top, 'Cargo.toml.orig'), join(top, 'Cargo.toml'))
    return { top, version: found.slice(name.length + 1) }
  },
}

function only(folder) {
  const [found = ''] = readdirSync(folder, { withFileTypes: true }).filter((it) => it.isDirectory())
  return join(folder, found.name ?? '')
}

const git = (top, ...words) =>
  run('git', ['-C', top, '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], top)

/** A repository with one commit, as somebody who begins with Ralph has it. */
function asRepository(top) {
  rmSync(join(top, 'ralph.config.yml'), { force: true })
  if (from !== null) return
  git(top, 'init', '-q', '-b', 'main')
  git(top, 'add', '-A')
  git(top, 'commit', '-qm', 'as published')
}

/** When a Go came out (https://go.dev/doc/devel/release). `GOTOOLCHAIN` can name those since 1.21. */
const GO = [
  ['2026-02-10', 'go1.26.0'],
  ['2025-08-12', 'go1.25.0'],
  ['2025-02-11', 'go1.24.0'],
  ['2024-08-13', 'go1.23.0'],
  ['2024-02-06', 'go1.22.0'],
  ['2023-08-08', 'go1.21.0'],
]

/** The programs of `--tools` on the PATH, and the settings of pip, uv and Go for the day of the newest commit. `stop` ends the index. */
async function machineFor(name, top) {
  const folders = tools === null ? [] : [join(tools, name.replace('/', '+')), join(tools, 'common')]
  const PATH = [...folders.filter(existsSync), process.env.PATH].join(':')
  if (isToday) return { env: { ...process.env, PATH }, day: null, stop() {} }
  const time = run('git', ['-C', top, 'log', '-1', '--format=%cI']).trim()
  const index = spawn(process.execPath, [join(import.meta.dirname, 'init-index.mjs'), time], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [address] = await once(index.stdout, 'data')
  const settings = mkdtempSync(join(temporary, 'settings-'))
  // Gates get no PIP_* and UV_* variables, but the files of the person's own settings.
  mkdirSync(join(settings, 'pip'))
  writeFileSync(join(settings, 'pip/pip.conf'), `[global]\nindex-url = ${String(address).trim()}\n`)
  mkdirSync(join(settings, 'uv'))
  if (!existsSync(join(top, 'uv.lock')))
    writeFileSync(join(settings, 'uv/uv.toml'), `exclude-newer = "${time}"\n`)
  const day = time.slice(0, 10)
  // The newest Go that came out before; the machine's own, if it is the same.
  const [, go = 'local'] = GO.slice(1).find(([from]) => day >= from && day < GO[0][0]) ?? []
  return {
    env: { ...process.env, PATH, XDG_CONFIG_HOME: settings, GOTOOLCHAIN: go },
    day,
    stop: () => index.kill(),
  }
}

function bash(command, cwd, environment) {
  const env = { ...environment, CI: 'true' }
  const began = Date.now()
  const { status, stdout, stderr } = spawnSync('timeout', ['-k', '5', '900', 'bash', '-c', command], {
    cwd,
    env,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  return { ok: status === 0, seconds: Math.round((Date.now() - began) / 1000), output: `${stdout}${stderr}` }
}

/** What init writes, and how it ends in a clean clone with exactly that. */
function judged(top, name, env) {
  const how = [
    'init',
    '--yes',
    '--json',
    '--pin',
    'a'.repeat(40),
    ...(args.includes('--no-try') ? ['--no-try'] : []),
  ]
  const began = Date.now()
  const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, ...how], {
    cwd: top,
    env,
    encoding: 'utf8',
    timeout: WITHIN_MS,
  })
  const seconds = Math.round((Date.now() - began) / 1000)
  const answer = JSON.parse(stdout || '{}')
  if (answersIn !== null) writeFileSync(join(answersIn, `${name.replaceAll('/', '+')}.json`), stdout)
  const tried = answer.tried ?? []
  if (seconds * 1000 >= WITHIN_MS) return { seconds, error: `not done within ${seconds} s`, tried, gates: {} }
  if (status !== 0)
    return { seconds, error: answer.errors?.[0]?.found ?? stderr.slice(-300), tried, gates: {} }
  const { prepare = null } = answer.settings
  const gates = answer.settings.gates === 'none' ? {} : answer.settings.gates
  if (isQuick) return { seconds, results: [], tried, gates }
  const clone = `${top}-clone`
  run('git', ['clone', '-q', top, clone])
  const results = []
  try {
    if (prepare !== null) results.push({ name: 'prepare', run: prepare, ...bash(prepare, clone, env) })
    for (const [name, run] of Object.entries(gates)) results.push({ name, run, ...bash(run, clone, env) })
  } finally {
    rmSync(clone, { recursive: true, force: true })
  }
  return { seconds, results, tried, gates }
}

const isTest = ({ name }) => /(?:^|-)test$/.test(name)

/** A row: what was proposed, what became of it, and how the whole ends in a clean clone. */
function rowOf(registry, name, version, day, { seconds, error, results, tried, gates }) {
  const trials = tried.filter((one) => one.name !== 'prepare')
  const first = trials.filter((one, at) => trials.findIndex((it) => it.name === one.name) === at)
  const written = Object.entries(gates).map(([name, run]) => ({
    ...(trials.findLast((it) => it.name === name && it.run === (run.run ?? run)) ?? {
      name,
      state: 'unknown',
      ended: 'not tried',
    }),
    run: run.run ?? run,
  }))
  const prepare = tried.find((one) => one.name === 'prepare')
  const kept = written.find(isTest)
  // Written although it is red: the base may fail its named tests.
  const state = (kept?.state === 'red' ? 'known-red' : kept?.state) ?? first.find(isTest)?.state ?? 'none'
  const test = state === 'unknown' ? 'undecided' : state
  const red = (results ?? []).filter(({ ok }) => !ok)
  const why = (it) => `${it.name} (${it.run}): ${it.ended}${it.line && `: ${it.line}`}`
  const checks = registry === 'github' ? checksWithGates(name, [...written, ...first]) : null
  const empty = written.filter(
    (it) => it.state === 'green' && isTest(it) && it.tests != null && it.tests.passed + it.tests.failed === 0,
  )
  const uncounted = written.filter((it) => it.state === 'green' && isTest(it) && it.tests == null)
  const notes = [
    ...(day === null ? [] : [`as of ${day}`]),
    ...(checks === null
      ? []
      : [
          `checks of CI ${checks.found}/${checks.all}${checks.missing.length > 0 ? ` (without ${checks.missing.join(', ')})` : ''}`,
        ]),
    ...empty.map(({ name: gate }) => `RUNS NOTHING ${gate}`),
    ...uncounted.map(({ name: gate }) => `no count ${gate}`),
    ...(error === undefined ? [] : [error]),
    ...(prepare === undefined || prepare.state === 'green'
      ? []
      : [`prepare ${prepare.ended}: ${prepare.line}`]),
    ...first.flatMap((one) => {
      const stands = written.find((it) => it.name === one.name)
      if (stands === undefined) return [`left out ${why(one)}`]
      return stands.run === one.run ? [] : [`gave way: ${why(one)}`]
    }),
    ...written
      .filter(({ state }) => state !== 'green')
      .map((it) => `${it.state === 'red' ? 'known-red' : 'undecided'} ${it.name}: ${it.ended}`),
    ...red.map((it) => `RED ${it.name} (${it.run})`),
  ]
  const greenFirst = first.filter(({ state }) => state === 'green').length
  return [
    registry,
    `${name} ${version}`,
    `${greenFirst}/${Math.max(first.length, written.length)}`,
    written.map((it) => `${it.name}: ${it.run}`).join('; ') || '-',
    test,
    results === undefined || isQuick ? '-' : red.length === 0 ? 'green' : 'red',
    `${seconds} s`,
    notes.join('; ').slice(0, 600),
  ].join('\t')
}

/** How many of the checks that CI runs on a pull request were proposed. */
function checksOf(rows) {
  const counts = rows.flatMap((row) => /checks of CI (\d+)\/(\d+)/.exec(row[7] ?? '') ?? [])
  const sum = (at) => counts.filter((_, index) => index % 3 === at).reduce((all, one) => all + Number(one), 0)
  return counts.length === 0 ? [] : [`checks of CI proposed ${sum(1)}/${sum(2)}`]
}

/** How many of a registry's packages: all proposals green before any was tried, all that is written green, a test gate. */
function totalsOf(rows) {
  const line = (name, some) => {
    const count = (isSo) => `${some.filter(isSo).length}/${some.length}`
    const isWritten = ([, , , written]) => written !== undefined && written !== '-'
    return [
      `# ${name}`,
      `all green as proposed ${count(([, , green = '0/0']) => /^([1-9]\d*)\/\1$/.test(green))}`,
      `all that is written green ${count((row) => isWritten(row) && !/undecided /.test(row[7] ?? ''))}`,
      `test gate green ${count((row) => row[4] === 'green')}`,
      `test gate of which the base may fail named tests ${count((row) => row[4] === 'known-red')}`,
      `undecided ${count((row) => row[4] === 'undecided')}`,
      `red of itself and left out ${count((row) => row[4] === 'red' || row[4] === 'missing')}`,
      `runs nothing ${count((row) => /RUNS NOTHING/.test(row[7] ?? ''))}`,
      ...checksOf(some),
      `none found ${count((row) => row[4] === 'none' || row[4] === undefined)}`,
    ].join(', ')
  }
  const each = Object.keys(PACKAGES).map((name) => [name, rows.filter(([registry]) => registry === name)])
  return [...each, ['all', rows]]
    .filter(([, some]) => some.length > 0)
    .map(([name, some]) => line(name, some))
}

const rows = []
function show(row) {
  rows.push(row.split('\t'))
  console.log(row)
}

if (args.includes('--totals')) {
  const text = readFileSync(args[args.indexOf('--totals') + 1], 'utf8')
  const listed = text.split('\n').map((line) => line.split('\t'))
  for (const line of totalsOf(listed.filter(([registry]) => registry in PACKAGES))) console.log(line)
  process.exit()
}

const HEAD = 'registry\tpackage\tgreen as proposed\twritten\ttest gate\tclean clone\tinit\tremarks'
try {
  console.log(HEAD)
  for (const [registry, listed] of Object.entries(PACKAGES)) {
    for (const wanted of listed.split(' ')) {
      const name = wanted.split('@')[0]
      if (chosen !== null && !chosen.includes(name) && !chosen.includes(registry)) continue
      const folder = mkdtempSync(join(temporary, 'p-'))
      try {
        const { top, version } = GET[registry](registry === 'npm' ? wanted : name, folder)
        asRepository(top)
        const { env, day, stop } = await machineFor(name, top)
        try {
          show(rowOf(registry, name, version, day, judged(top, name, env)))
        } finally {
          stop()
        }
      } catch (error) {
        show(`${registry}\t${name}\tnot to be had: ${String(error.message).split('\n')[0]}`)
      } finally {
        spawnSync('chmod', ['-R', 'u+w', folder])
        rmSync(folder, { recursive: true, force: true })
      }
    }
  }
  for (const line of totalsOf(rows)) console.log(line)
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
