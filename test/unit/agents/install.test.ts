// agent-version: a package installed once, by an npm of our own that notes what it was asked for.

import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { agentCaches, installAgent } from '../../../src/agents/install.ts'
import { findAgent } from '../../../src/agents/registry.ts'
import { UserError } from '../../../src/system/errors.ts'

let folder = ''
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'install-'))
})
after(() => rmSync(folder, { recursive: true }))

/** Makes a package whose program needs its own postinstall, as claude's does; `view` knows three versions. */
const GOOD = `
case "$1" in
view) echo '["1.2.3", "1.3.0", "2.0.0-rc.1"]' ;;
install)
  package=node_modules/@anthropic-ai/claude-code
  mkdir -p $package node_modules/.bin .npm
  echo '{"version":"1.2.3","scripts":{"postinstall":"fill"}}' >$package/package.json
  ln -s ../@anthropic-ai/claude-code/claude node_modules/.bin/claude ;;
run) printf '#!/bin/bash\\necho 1.2.3\\n' >claude; chmod +x claude ;;
esac
`

function bench(name: string, npm = GOOD) {
  const at = join(folder, name)
  mkdirSync(join(at, 'bin'), { recursive: true })
  const log = join(at, 'npm.log')
  const script = `#!/bin/bash\necho "$PWD $*" >>'${log}'\nenv >'${at}/env.txt'\n${npm}\n`
  writeFileSync(join(at, 'bin', 'npm'), script)
  chmodSync(join(at, 'bin', 'npm'), 0o755)
  const said: string[] = []
  const install = (version: string, more: Partial<Parameters<typeof installAgent>[0]> = {}) => {
    const vendor = findAgent('claude')
    assert.ok(vendor)
    return installAgent({
      vendor,
      version,
      env: { PATH: `${join(at, 'bin')}:/usr/bin:/bin`, SHLVL: '1' },
      caches: [join(at, 'cache')],
      report: (line) => said.push(line),
      ...more,
    })
  }
  const calls = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [])
  const left = () => (existsSync(join(at, 'cache/claude')) ? readdirSync(join(at, 'cache/claude')) : [])
  return { at, install, calls, left, said }
}

async function refusal(promise: Promise<unknown>) {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof UserError, String(error))
  const [mistake] = error.mistakes
  assert.ok(mistake)
  assert.equal(mistake.path, 'agent-version')
  return mistake
}

test('an installed agent can be started by other users', async () => {
  const { at, install } = bench('readable')
  await install('1.2.3')
  assert.equal(statSync(join(at, 'cache/claude/1.2.3')).mode & 0o777, 0o755)
})

test('an agent is installed once, without scripts of other packages, and its start and end are logged', async () => {
  const { at, install, calls, left, said } = bench('once')
  const first = await install('1.2.3')
  assert.deepEqual(first, { version: '1.2.3', bin: join(at, 'cache/claude/1.2.3/node_modules/.bin') })
  assert.ok(existsSync(join(first.bin, 'claude')))
  assert.deepEqual(left(), ['1.2.3'])
  const [installing, own] = calls()
  assert.match(installing ?? '', /install --ignore-scripts .* @anthropic-ai\/claude-code@1\.2\.3$/)
  assert.match(own ?? '', /node_modules\/@anthropic-ai\/claude-code run --silent postinstall$/)
  assert.match(said.join('\n'), /^installing @anthropic-ai\/claude-code@1\.2\.3\ninstalled \S+ in \d+\.\d s$/)
  assert.deepEqual(await install('1.2.3'), first)
  assert.equal(calls().length, 2)
  assert.equal(said.length, 2)
  const seen = readFileSync(join(at, 'env.txt'), 'utf8')
  assert.doesNotMatch(seen, /^HOME=/m, 'no more than it was given')
})

test('the scripts of the package that the program is in are run, if it is another one', async () => {
  const { install, calls } = bench(
    'elsewhere',
    `case "$1" in
install)
  own=node_modules/@anthropic-ai/claude-code program=node_modules/@elsewhere/cli
  mkdir -p $own $program/bin node_modules/other node_modules/.bin .npm
  echo '{"version":"1.2.3"}' >$own/package.json
  echo '{"scripts":{"postinstall":"fill"}}' >$program/package.json
  echo '{"scripts":{"postinstall":"evil"}}' >node_modules/other/package.json
  ln -s ../@elsewhere/cli/bin/claude.exe node_modules/.bin/claude ;;
run) printf '#!/bin/bash\\necho 1.2.3\\n' >bin/claude.exe; chmod +x bin/claude.exe ;;
esac`,
  )
  await install('1.2.3')
  assert.deepEqual(
    calls()
      .slice(1)
      .map((call) => call.replace(/^.*node_modules/, '')),
    ['/@elsewhere/cli run --silent postinstall'],
  )
})

test('what another user starts is installed in a folder that it can enter, whatever the umask is', async () => {
  const home = join(folder, 'closed')
  mkdirSync(join(home, '.cache'), { recursive: true })
  chmodSync(home, 0o700)
  const at = (isForOthers: boolean) => agentCaches({ HOME: home }, '/last', isForOthers)
  assert.deepEqual(at(false), [join(home, '.cache/ralph-agents'), '/last'])
  assert.deepEqual(at(true), ['/var/cache/ralph-agents', '/last'])
  const tools = { RUNNER_TOOL_CACHE: '/usr/ralph-tools', HOME: home }
  assert.deepEqual(agentCaches(tools, '/last', true), ['/usr/ralph-tools/ralph-agents', '/last'])
  const umask = process.umask(0o077)
  try {
    const { at, install } = bench('umask')
    await install('1.2.3', { caches: [join(at, 'cache', 'ralph-agents')] })
    const made = ['cache/ralph-agents', 'cache/ralph-agents/claude', 'cache/ralph-agents/claude/1.2.3']
    for (const path of made) assert.equal(statSync(join(at, path)).mode & 0o777, 0o755, path)
  } finally {
    process.umask(umask)
  }
})

test('a version range or tag of an agent is resolved by the registry', async () => {
  const { install, calls, left } = bench('range')
  assert.equal((await install('^1')).version, '2.0.0-rc.1')
  assert.match(calls()[0] ?? '', /view @anthropic-ai\/claude-code@\^1 version --json/)
  assert.deepEqual(left(), ['2.0.0-rc.1'])
})

test('two installations at the same time do not damage each other', async () => {
  const { install, left } = bench('two')
  const [one, other] = await Promise.all([install('1.2.3'), install('1.2.3')])
  assert.deepEqual(one, other)
  assert.deepEqual(left(), ['1.2.3'])
})

test('an install folder that cannot be written is skipped for the next one', async () => {
  const { at, install } = bench('readonly')
  const caches = ['/dev/null/cache', join(at, 'last')]
  assert.match((await install('1.2.3', { caches })).bin, /last\/claude\/1\.2\.3/)
  const mistake = await refusal(install('1.2.4', { caches: ['/dev/null/cache'] }))
  assert.match(mistake.fix, /make one of these folders writable: .*\/dev\/null/)
})

test('an agent that cannot be installed is refused, and leaves no files', async () => {
  const none = findAgent('cursor')
  assert.ok(none)
  const { install, calls } = bench('none')
  assert.match((await refusal(install('1.2.3', { vendor: none }))).fix, /cursor\.com/)
  for (const spec of ['../x', 'a b', '-g', 'file:x', '@scope/x', 'git+ssh://x', '']) {
    assert.equal((await refusal(install(spec))).found, spec)
  }
  assert.match(
    (await refusal(install('1.2.3', { env: { PATH: '/nowhere' } }))).found,
    /^npm, which installs .* is not on the PATH/,
  )
  assert.deepEqual(calls(), [])
})

test('a killed installation is cleared, but not one that may still run', async () => {
  const { at, install, left } = bench('killed')
  const cache = join(at, 'cache/claude')
  for (const name of ['.installing-old', '.installing-new', 'other'])
    mkdirSync(join(cache, name), { recursive: true })
  for (const name of ['.installing-old', 'other']) utimesSync(join(cache, name), 0, 0)
  await install('1.2.3')
  assert.deepEqual(left().sort(), ['.installing-new', '1.2.3', 'other'])
})

test("a failed installation reports npm's own message, and leaves no partial installation", async () => {
  const gone = bench(
    'gone',
    'echo "npm error code ETARGET" >&2; echo "npm error no such version" >&2; exit 1',
  )
  const mistake = await refusal(gone.install('9.9.9'))
  assert.match(
    mistake.found,
    /^npm install could not get \S+@9\.9\.9 from the registry \(exit code 1\): no such version$/,
  )
  assert.equal(mistake.fix, 'use a version that exists')
  assert.deepEqual(gone.left(), [])

  const broken = bench('broken', GOOD.replace('echo 1.2.3', 'echo broken; exit 3'))
  assert.match(
    (await refusal(broken.install('1.2.3'))).found,
    /claude --version ended with exit code 3: broken/,
  )
  assert.deepEqual(broken.left(), [])

  const slow = bench('slow', 'exec sleep 600')
  const stop = new AbortController()
  const cancelled = refusal(slow.install('1.2.3', { signal: stop.signal, report: () => stop.abort() }))
  assert.match((await cancelled).found, /aborted/)
  assert.deepEqual(slow.left(), [])
})

test('an integrity that does not match is an error, and nothing of the package runs', async () => {
  const [right, wrong] = [`sha512-${'a'.repeat(86)}==`, `sha512-${'b'.repeat(86)}==`]
  const lock = JSON.stringify({
    packages: { 'node_modules/@anthropic-ai/claude-code': { integrity: right } },
  })
  const locking = GOOD.replace('  ln -s', `  echo '${lock}' >node_modules/.package-lock.json\n  ln -s`)
  const { install, calls, left, said } = bench('integrity', locking)
  const mistake = await refusal(install(`1.2.3 ${wrong}`))
  assert.equal(mistake.found, `@anthropic-ai/claude-code@1.2.3 with ${right}`)
  assert.equal(mistake.expected, wrong)
  assert.equal(calls().length, 1, 'no script of its own')
  assert.deepEqual(left(), [])

  assert.equal((await install(`1.2.3 ${right}`)).version, '1.2.3')
  assert.equal(said.filter((line) => line.includes('has no checksum')).length, 0)
  assert.equal((await refusal(install(`1.2.3 ${wrong}`))).expected, wrong, 'what is there already, too')
  assert.equal((await install('1.2.3')).version, '1.2.3')

  await install('1.3.0')
  assert.match(said.at(-1) ?? '', new RegExp(`has no checksum\\. .*agent-version: 1\\.3\\.0 ${right}`))
  for (const spec of [
    `latest ${right}`,
    `^1 ${right}`,
    '1.2.3 sha512-x',
    `1.2.3 ${right} x`,
    `1.2.3  ${right}`,
  ])
    assert.equal((await refusal(install(spec))).expected, 'one version and its integrity', spec)

  const none = bench('no-lock')
  assert.match((await refusal(none.install(`1.2.3 ${right}`))).found, /with no integrity$/)
})

test("agents are installed in the runner's tool cache, else in the user's cache, else in Ralph's own folder", () => {
  assert.deepEqual(agentCaches({ RUNNER_TOOL_CACHE: '/tools', HOME: '/home/me' }, '/last'), [
    '/tools/ralph-agents',
    '/last',
  ])
  assert.deepEqual(agentCaches({ XDG_CACHE_HOME: '/cache', HOME: '/home/me' }, '/last'), [
    '/cache/ralph-agents',
    '/last',
  ])
  assert.deepEqual(agentCaches({ HOME: '/home/me' }, '/last'), ['/home/me/.cache/ralph-agents', '/last'])
  assert.deepEqual(agentCaches({ HOME: 'relative' }, '/last'), ['/last'])
  assert.deepEqual(agentCaches({}, '/last'), ['/last'])
})

test('an unreadable lock file of an installation gives no integrity', async () => {
  for (const [name, spoil] of [
    ['half', `echo '{' >node_modules/.package-lock.json`],
    ['nothing', `echo null >node_modules/.package-lock.json`],
    ['pipe', `mkfifo node_modules/.package-lock.json`],
  ] as const) {
    const { install, said } = bench(`lock ${name}`, `${GOOD}\n[ "$1" != install ] || ${spoil}`)
    await install('1.2.3')
    assert.doesNotMatch(said.join('\n'), /has no checksum/)
    assert.match((await refusal(install(`1.2.3 sha512-${'A'.repeat(86)}==`))).found, /with no integrity$/)
  }
})
