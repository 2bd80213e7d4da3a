// False alarms: what would be remarked on honest changes, consecutive releases of packages that ship their tests.
// Run: node bench/false-alarms.mjs [--list] [--only NAME] [--pair LANGUAGE OLD NEW]. Downloads into a temporary folder with
// npm, pip, cargo, go and mvn as this machine has them configured; a package that cannot be had is left out, and said.
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { changedGateDefinitions, isReadForPins } from '../src/review/pins.ts'
import { mayHoldTests } from '../src/review/test-files.ts'
import { weakenedTests } from '../src/review/weakened.ts'

const PACKAGES = {
  javascript: {
    fastify: '4.26.0 4.26.1 4.27.0 4.28.0 4.28.1 4.29.0',
    pino: '8.19.0 8.20.0 8.21.0 9.0.0 9.1.0 9.2.0',
    'find-my-way': '8.0.0 8.1.0 8.2.0 9.0.0 9.1.0',
    'fast-json-stringify': '5.13.0 5.14.0 5.15.0 5.16.0 6.0.0',
    'light-my-request': '5.11.0 5.12.0 5.13.0 6.0.0',
    qs: '6.10.3 6.11.0 6.12.0 6.13.0 6.14.0',
    'object-inspect': '1.12.0 1.12.2 1.13.0 1.13.2',
    resolve: '1.22.0 1.22.4 1.22.8 1.22.10',
  },
  python: {
    attrs: '22.1.0 22.2.0 23.1.0 23.2.0 24.1.0 24.2.0',
    click: '8.1.0 8.1.3 8.1.5 8.1.7 8.1.8',
    flask: '2.2.0 2.2.5 2.3.0 2.3.3 3.0.0 3.0.3 3.1.0',
    requests: '2.28.0 2.28.2 2.29.0 2.31.0 2.32.0 2.32.3',
    jinja2: '3.1.2 3.1.3 3.1.4 3.1.5',
    werkzeug: '2.3.0 2.3.8 3.0.0 3.0.3 3.1.0',
    packaging: '23.0 23.1 23.2 24.0 24.1 24.2',
  },
  go: {
    'github.com/spf13/cobra': 'v1.6.0 v1.6.1 v1.7.0 v1.8.0 v1.8.1 v1.9.0',
    'github.com/stretchr/testify': 'v1.8.0 v1.8.2 v1.8.4 v1.9.0 v1.10.0',
    'github.com/go-chi/chi/v5': 'v5.0.8 v5.0.10 v5.0.12 v5.1.0 v5.2.0',
    'github.com/pelletier/go-toml/v2': 'v2.0.6 v2.0.8 v2.1.0 v2.2.0 v2.2.3',
    'github.com/gin-gonic/gin': 'v1.8.2 v1.9.0 v1.9.1 v1.10.0',
    'github.com/google/uuid': 'v1.3.0 v1.3.1 v1.4.0 v1.5.0 v1.6.0',
    'github.com/rs/zerolog': 'v1.28.0 v1.29.0 v1.30.0 v1.31.0 v1.32.0 v1.33.0',
  },
  rust: {
    anyhow: '1.0.70 1.0.75 1.0.80 1.0.86 1.0.93',
    thiserror: '1.0.40 1.0.50 1.0.60 1.0.69',
    semver: '1.0.18 1.0.20 1.0.23 1.0.26',
    itertools: '0.10.5 0.11.0 0.12.0 0.13.0 0.14.0',
    indexmap: '2.0.0 2.2.6 2.4.0 2.7.0',
    base64: '0.20.0 0.21.0 0.21.7 0.22.0 0.22.1',
    bitflags: '2.3.0 2.4.0 2.5.0 2.6.0 2.8.0',
    smallvec: '1.10.0 1.11.0 1.13.2 1.15.0',
  },
  java: {
    'org.apache.commons:commons-lang3': '3.12.0 3.13.0 3.14.0 3.15.0',
    'org.apache.commons:commons-text': '1.10.0 1.11.0 1.12.0',
    'commons-codec:commons-codec': '1.15 1.16.0 1.16.1 1.17.0',
  },
}

const GATES = {
  javascript: ['npm test', 'npm run lint'],
  python: ['pytest', 'ruff check', 'mypy src'],
  go: ['go test ./...', 'golangci-lint run'],
  rust: ['cargo test', 'cargo clippy'],
  java: ['mvn test'],
}

const temporary = mkdtempSync(join(tmpdir(), 'ralph-alarms-'))
const run = (file, args, cwd = temporary) =>
  execFileSync(file, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 300_000 })

/** The folder with the package's files as they were published. */
const GET = {
  javascript(name, version, folder) {
    const made = run('npm', ['pack', `${name}@${version}`, '--silent', '--pack-destination', folder]).trim()
    run('tar', ['-xzf', join(folder, basename(made)), '-C', folder])
    return only(folder)
  },
  python(name, version, folder) {
    const quiet = ['--disable-pip-version-check', '-q', '-d', folder]
    run('pip', ['download', '--no-deps', '--no-binary', name, ...quiet, `${name}==${version}`])
    const [archive = ''] = readdirSync(folder)
    run('tar', ['-xzf', join(folder, archive), '-C', folder])
    return only(folder)
  },
  go: (name, version) => JSON.parse(run('go', ['mod', 'download', '-json', `${name}@${version}`])).Dir,
  rust(name, version, folder) {
    mkdirSync(join(folder, 'src'))
    writeFileSync(join(folder, 'src/lib.rs'), '')
    const head = '[package]\nname = "empty"\nversion = "0.0.0"\nedition = "2021"\n'
    writeFileSync(join(folder, 'Cargo.toml'), `${head}[dependencies]\n${name} = "=${version}"\n`)
    run('cargo', ['vendor', '-q', '--versioned-dirs', 'vendor'], folder)
    return join(folder, 'vendor', `${name}-${version}`)
  },
  java(name, version, folder) {
    const artifact = `-Dartifact=${name}:${version}:jar:test-sources`
    run('mvn', ['-q', '-B', 'dependency:copy', artifact, `-DoutputDirectory=${folder}`])
    const [archive = ''] = readdirSync(folder)
    mkdirSync(join(folder, 'all/src/test/java'), { recursive: true })
    run('jar', ['xf', join(folder, archive)], join(folder, 'all/src/test/java'))
    return join(folder, 'all')
  },
}

function only(folder) {
  const [found = ''] = readdirSync(folder, { withFileTypes: true }).filter((it) => it.isDirectory())
  return join(folder, found.name ?? '')
}

const cache = new Map()
function get(language, name, version) {
  const key = `${language} ${name} ${version}`
  if (!cache.has(key)) {
    const folder = join(temporary, String(cache.size))
    mkdirSync(folder)
    try {
      cache.set(key, GET[language](name, version, folder))
    } catch (error) {
      console.error(`left out: ${key}: ${String(error.message).split('\n')[0]}`)
      cache.set(key, null)
    }
  }
  return cache.get(key)
}

function filesOf(folder) {
  const found = new Map()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    if (statSync(path).size < 1024 * 1024) found.set(relative(folder, path), readFileSync(path, 'utf8'))
  }
  // cargo writes Cargo.toml anew when it publishes; people's own stands beside it.
  const own = found.get('Cargo.toml.orig')
  if (own !== undefined) found.set('Cargo.toml', own).delete('Cargo.toml.orig')
  return found
}

/** The remarks that a reviewer would see. */
async function remarksOn(language, old, now) {
  const [before, after] = [filesOf(old), filesOf(now)]
  const all = [...new Set([...before.keys(), ...after.keys()])].map((path) => ({
    path,
    before: before.get(path) ?? null,
    after: after.get(path) ?? null,
  }))
  const changed = all.filter((it) => it.before !== it.after)
  const sources = all.filter((it) => it.before === it.after && isReadForPins(it.path))
  const tests = changed.filter((it) => mayHoldTests(it.path))
  return {
    tests: tests.length,
    weakened: (await weakenedTests(tests)).map(({ path, kind, text }) => `${path} [${kind}] ${text}`),
    pins: changedGateDefinitions([...changed, ...sources], GATES[language]).map(
      ({ path, gates, text }) => `${path} (${gates.join(', ')}): ${text}`,
    ),
  }
}

const args = process.argv.slice(2)
const isListed = args.includes('--list')
const chosen = args.includes('--only') ? args[args.indexOf('--only') + 1] : null
const judged = new Map()
const verdicts = join(dirname(import.meta.filename), 'false-alarms.txt')
if (existsSync(verdicts)) {
  for (const line of readFileSync(verdicts, 'utf8').split('\n')) {
    const [, verdict, key] = /^(true|false|open)\t([^\t]+)/.exec(line) ?? []
    if (key !== undefined) judged.set(key, verdict)
  }
}

const table = []
try {
  if (args.includes('--pair')) {
    const [language, old, now] = args.slice(args.indexOf('--pair') + 1)
    console.log(await remarksOn(language, old, now))
  } else {
    for (const [language, packages] of Object.entries(PACKAGES)) {
      const row = { language, pairs: 0, tests: 0, weakened: 0, quiet: 0, pins: 0, true: 0, false: 0 }
      for (const [name, listed] of Object.entries(packages)) {
        if (chosen !== null && chosen !== name && chosen !== language) continue
        const versions = listed.split(' ')
        for (let at = 1; at < versions.length; at += 1) {
          const [old, now] = [versions[at - 1], versions[at]].map((it) => get(language, name, it))
          if (old === null || now === null) continue
          const seen = await remarksOn(language, old, now)
          row.pairs += 1
          row.tests += seen.tests
          row.weakened += seen.weakened.length
          row.quiet += seen.weakened.length === 0 ? 1 : 0
          row.pins += seen.pins.length
          for (const text of [...seen.weakened, ...seen.pins]) {
            const key = `${name} ${versions[at]} ${text}`
            const verdict = judged.get(key)
            if (verdict === 'true' || verdict === 'false') row[verdict] += 1
            if (isListed) console.log(`${verdict ?? '?'}\t${key}`)
          }
        }
      }
      if (row.pairs > 0) table.push(row)
    }
    console.log(
      '| language | pairs | test files changed | pairs without a remark on tests | remarks on tests | remarks on gates | judged true | judged false |',
    )
    console.log('|---|---|---|---|---|---|---|---|')
    for (const it of table)
      console.log(
        `| ${it.language} | ${it.pairs} | ${it.tests} | ${it.quiet} | ${it.weakened} | ${it.pins} | ${it.true} | ${it.false} |`,
      )
  }
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
