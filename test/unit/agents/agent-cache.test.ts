// An agent that an earlier job installed: what is in the cache counts where it is the version, whole and able to start.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { checkAgent } from '../../../src/agents/agent-ready.ts'
import { openHomes } from '../../../src/agents/home.ts'
import { installAgent } from '../../../src/agents/install.ts'
import { findAgent } from '../../../src/agents/registry.ts'
import { withInstalledAgent } from '../../../src/app/agents.ts'
import type { FileCache } from '../../../src/engine/model/ports.ts'
import { openCache } from '../../../src/github/cache-service.ts'
import { openOtherUser } from '../../../src/isolation/other-user.ts'
import { removeSync } from '../../../src/system/files.ts'
import { lacks } from '../../machine/needs.ts'
import { type CacheService, startCache } from '../../standin/cache-entries.ts'
import { newRuntimeToken } from '../../standin/results.ts'

let folder = ''
before(() => {
  // Not in shared memory, which the other user has of its own.
  folder = mkdtempSync(join(tmpdir().startsWith('/dev/shm') ? '/tmp' : tmpdir(), 'agent-cache-'))
})
after(() => removeSync(folder))

const PACKAGE = 'node_modules/@anthropic-ai/claude-code'
const FILES = `
  mkdir -p ${PACKAGE} node_modules/.bin
  echo '{"version":"1.2.3"}' >${PACKAGE}/package.json
  printf '#!/bin/bash\\necho 1.2.3\\n' >${PACKAGE}/claude
  chmod +x ${PACKAGE}/claude
  ln -sf ../@anthropic-ai/claude-code/claude node_modules/.bin/claude`

/** A machine of its own, whose npm notes that it was asked. */
function machine(name: string, cache: FileCache | null) {
  const at = join(folder, name)
  mkdirSync(join(at, 'bin'), { recursive: true })
  const log = join(at, 'npm.log')
  const npm = `#!/bin/bash
case "$1" in
config) cat '${at}/registry' ;;
install) echo "$1" >>'${log}'
${FILES} ;;
esac
`
  writeFileSync(join(at, 'registry'), 'registry=https://registry.npmjs.org/\n')
  writeFileSync(join(at, 'bin', 'npm'), npm, { mode: 0o755 })
  const said: string[] = []
  const install = (version = '1.2.3') => {
    const vendor = findAgent('claude')
    assert.ok(vendor)
    const env = { PATH: `${join(at, 'bin')}:/usr/bin:/bin` }
    const checkRestored = (bin: string) => checkAgent(vendor, { PATH: `${bin}:${env.PATH}` })
    return installAgent({
      ...{ vendor, version, env, caches: [join(at, 'cache')], report: (line: string) => said.push(line) },
      cache: cache === null ? null : { files: cache, checkRestored },
    })
  }
  const isInstalled = () => existsSync(log)
  return { at, install, isInstalled, said }
}

const cacheAt = (url: string) =>
  openCache({
    ...{ ACTIONS_RUNTIME_TOKEN: newRuntimeToken('1'), ACTIONS_RESULTS_URL: url },
    ...{ ACTIONS_CACHE_SERVICE_V2: 'True', GITHUB_SERVER_URL: 'https://github.com' },
  })

test('a second machine restores the agent from the cache without npm', async () => {
  await using started = await startCache()
  const first = machine('first', cacheAt(started.url))
  await first.install()
  const second = machine('second', cacheAt(started.url))
  const { bin } = await second.install()
  assert.deepEqual([first.isInstalled(), second.isInstalled()], [true, false])
  assert.equal(execFileSync(join(bin, 'claude'), { encoding: 'utf8' }), '1.2.3\n')
  assert.match(second.said.join('\n'), /^restored from the cache @anthropic-ai\/claude-code@1\.2\.3 in /m)
  assert.match(
    [...started.service.entries.keys()].join(),
    /^ralph-agent-claude-\w+-\w+-[0-9a-f]{16} [0-9a-f]{64}$/,
  )
})

test('the cache keeps agents of different npm registries apart, wherever npm has the registry from', async () => {
  await using started = await startCache()
  const at = (name: string, registry: string) => {
    const one = machine(name, cacheAt(started.url))
    writeFileSync(join(one.at, 'registry'), `registry=${registry}\n`)
    return one
  }
  await at('registry one', 'https://one.example.com/').install()
  const other = at('registry two', 'https://two.example.com/')
  const same = at('registry one again', 'https://one.example.com/')
  await other.install()
  await same.install()
  assert.deepEqual([other.isInstalled(), same.isInstalled()], [true, false])
  assert.equal(started.service.entries.size, 2)
})

test('when npm names no registry the agent is installed, and nothing is cached', async () => {
  await using started = await startCache()
  const one = machine('no registry', cacheAt(started.url))
  rmSync(join(one.at, 'registry'))
  await one.install()
  assert.ok(one.isInstalled())
  assert.deepEqual(started.service.asked, [])
  assert.match(
    one.said.join('\n'),
    /^Ralph could not use the cache \(to stop using it, set cache: off\): .*npm config/m,
  )
})

test('an agent version with an integrity is installed, and not compared with the cache', async () => {
  await using started = await startCache()
  await machine('kept', cacheAt(started.url)).install()
  const asked = started.service.asked.length
  const one = machine('strict', cacheAt(started.url))
  await assert.rejects(one.install(`1.2.3 sha512-${'A'.repeat(86)}==`))
  assert.ok(one.isInstalled())
  assert.equal(started.service.asked.length, asked)
})

test('an agent restored from the cache is not used for a version with an integrity, and is not saved for one', async () => {
  await using started = await startCache()
  const lock = (integrity: string) =>
    `echo '{"packages":{"${PACKAGE}":{"integrity":"${integrity}"}}}' >node_modules/.package-lock.json`
  const pinned = `sha512-${'A'.repeat(86)}==`
  await machine('pinned before', cacheAt(started.url)).install()
  replace(started.service, () => archive('pinned', `${FILES}\n${lock(pinned)}`))
  const one = machine('pinned', cacheAt(started.url))
  const restored = await one.install()
  assert.equal(one.isInstalled(), false)
  assert.doesNotMatch(one.said.join('\n'), /has no checksum/)
  assert.deepEqual(await one.install(), restored)
  assert.equal(one.isInstalled(), false)
  // This npm writes no lock file: what it installs is refused, and it was asked.
  await assert.rejects(one.install(`1.2.3 ${pinned}`))
  assert.ok(one.isInstalled())
})

const asOther = { skip: lacks('root', 'util-linux'), timeout: 30_000 }
test("an agent restored from the cache starts as the agent's user, without a key", asOther, async () => {
  await using started = await startCache()
  const files = cacheAt(started.url)
  await machine('as user before', files).install()
  const refuse = `'#!/bin/bash\n[ "$(id -u)" != 0 ] && [ -z "$ANTHROPIC_API_KEY" ] && echo 1.2.3\n'`
  replace(started.service, () => archive('as user', `${FILES}\nprintf ${refuse} >${PACKAGE}/claude`))
  const { at, isInstalled, said } = machine('as user', null)
  chmodSync(folder, 0o755)
  const tree = join(at, 'tree')
  execFileSync('git', ['init', '-q', tree])
  const path = `${join(at, 'bin')}:${process.env.PATH}`
  const env = {
    PATH: path,
    HOME: '/root',
    RUNNER_TOOL_CACHE: join(at, 'tools'),
    ANTHROPIC_API_KEY: 'sk-ant-1',
  }
  const user = await openOtherUser({
    ...{ env, workTree: tree, gitDir: join(tree, '.git'), key: at, report: () => {} },
  })
  try {
    const vendor = findAgent('claude')
    assert.ok(vendor)
    const homes = await openHomes({
      ...{ shares: [], env, identity: { name: 'a', email: 'a@example.com' }, key: at, as: user },
    })
    const { signal } = new AbortController()
    const report = (line: string) => said.push(line)
    const how = { env, signal, homes, directory: join(at, 'own'), cache: files, report }
    await withInstalledAgent(vendor, '1.2.3', how)
  } finally {
    await user.close()
  }
  assert.match(said.join('\n'), /^restored from the cache/)
  assert.equal(isInstalled(), false)
})

test('an unusable cache entry is reported and not used, and the agent is installed', async (t) => {
  const spoiledVersion = `sed -i s/1.2.3/6.6.6/ ${PACKAGE}/package.json`
  const entries: [string, string, RegExp][] = [
    ['half', 'HALF', /restoring the agent failed.*not whole/],
    ['another version', spoiledVersion, /its version is 6\.6\.6/],
    [
      'no version',
      `rm ${PACKAGE}/package.json; ln -s /dev/zero ${PACKAGE}/package.json`,
      /its version is none/,
    ],
    ['of another system', `printf '\\177ELF' >${PACKAGE}/claude`, /the cache has no usable/],
    ['no program', `rm node_modules/.bin/claude`, /the cache has no usable .*no program claude/],
    [
      'a closed folder',
      `mkdir node_modules/closed; touch node_modules/closed/a; chmod 500 node_modules/closed; ${spoiledVersion}`,
      /its version is 6/,
    ],
    ['no program that runs', `chmod -x ${PACKAGE}/claude`, /the cache has no usable .*no program claude/],
  ]
  for (const [name, spoil, told] of entries)
    await t.test(name, async () => {
      await using started = await startCache()
      await machine(`${name} before`, cacheAt(started.url)).install()
      replace(started.service, (bytes) =>
        spoil === 'HALF' ? bytes.subarray(0, 1024) : archive(name, `${FILES}\n${spoil}`),
      )
      const one = machine(name, cacheAt(started.url))
      // Another one on the PATH is not what the entry holds.
      writeFileSync(join(one.at, 'bin', 'claude'), '#!/bin/bash\necho 9.9.9\n', { mode: 0o755 })
      const { bin } = await one.install()
      assert.ok(one.isInstalled())
      assert.match(one.said.join('\n'), told)
      assert.equal(execFileSync(join(bin, 'claude'), { encoding: 'utf8' }), '1.2.3\n')
    })
})

test('a lock file in a cache entry blocks no job', async (t) => {
  const lock = 'node_modules/.package-lock.json'
  for (const [name, spoil] of [
    ['half a lock file', `echo '{' >${lock}`],
    ['a lock file of nothing', `echo null >${lock}`],
    ['a pipe as lock file', `mkfifo ${lock}`],
  ] as const)
    await t.test(name, { timeout: 20_000 }, async () => {
      await using started = await startCache()
      await machine(`${name} before`, cacheAt(started.url)).install()
      replace(started.service, () => archive(name, `${FILES}\n${spoil}`))
      const one = machine(name, cacheAt(started.url))
      await one.install()
      assert.equal(one.isInstalled(), false)
    })
})

test('a cache entry cannot write outside of its folder, neither by a path nor through a link', async () => {
  await using started = await startCache()
  await machine('inside before', cacheAt(started.url)).install()
  const target = join(folder, 'outside')
  mkdirSync(target)
  replace(started.service, () => {
    const at = mkdtempSync(join(folder, 'hostile-'))
    execFileSync('bash', ['-c', FILES], { cwd: at })
    symlinkSync(target, join(at, 'node_modules', 'away'))
    const tar = (...args: string[]) => execFileSync('tar', ['-P', '-f', 'it.tar', ...args], { cwd: at })
    tar('-c', 'node_modules')
    writeFileSync(join(at, 'payload'), 'written\n')
    tar('-r', '--transform', 's,^payload,node_modules/away/through-link,', 'payload')
    tar('-r', '--transform', `s,^payload,${target}/by-name,`, 'payload')
    tar('-r', '--transform', 's,^payload,../../../../outside/by-dots,', 'payload')
    return withDigest(readFileSync(join(at, 'it.tar')))
  })
  await machine('inside', cacheAt(started.url)).install()
  assert.deepEqual(execFileSync('ls', ['-A', target], { encoding: 'utf8' }), '')
})

test('a cache service that is down fails no job', async () => {
  await using started = await startCache()
  for (const name of ['GetCacheEntryDownloadURL', 'CreateCacheEntry'] as const)
    started.service.faults.set(name, 503)
  const one = machine('out of order', cacheAt(started.url))
  await one.install()
  assert.match(
    one.said.join('\n'),
    /restoring the agent failed .*503.*\n(?:.*\n)+keeping the agent failed .*503/,
  )
})

function replace(service: CacheService, by: (bytes: Buffer) => Buffer): void {
  for (const [key, bytes] of service.entries) service.entries.set(key, by(bytes))
}

function archive(name: string, script: string): Buffer {
  const at = mkdtempSync(join(folder, `${name}-`))
  execFileSync('bash', ['-c', script], { cwd: at })
  return withDigest(execFileSync('tar', ['-c', 'node_modules'], { cwd: at }))
}

/** As whoever writes an entry on purpose ends it. */
const withDigest = (bytes: Buffer) => Buffer.concat([bytes, createHash('sha256').update(bytes).digest()])
