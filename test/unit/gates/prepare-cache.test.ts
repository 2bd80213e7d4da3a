// What `prepare` made, kept for later jobs: what is restored, when it is saved, and what an entry that somebody else wrote can do.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createGates } from '../../../src/gates/gates.ts'
import { openPrepareCache, type PrepareCacheOptions } from '../../../src/gates/prepare-cache.ts'
import { openCache } from '../../../src/github/cache-service.ts'
import { openOtherUser } from '../../../src/isolation/other-user.ts'
import { createRedactor } from '../../../src/isolation/redact.ts'
import { removeSync } from '../../../src/system/files.ts'
import { lacks } from '../../machine/needs.ts'
import { type StartedCache, startCache } from '../../standin/cache-entries.ts'
import { newRuntimeToken } from '../../standin/results.ts'
import { NO_CODE } from './gate-run.ts'

let folder = ''
before(() => {
  // Not in shared memory, which the other user has of its own.
  folder = mkdtempSync(join(tmpdir().startsWith('/dev/shm') ? '/tmp' : tmpdir(), 'prepare-cache-'))
})
after(() => removeSync(folder))

const BASE = 'the base'
const ENV = { PATH: process.env.PATH ?? '' }
const soon = () => AbortSignal.timeout(20_000)
/** What `prepare` does in most tests: a program, and a link to it. */
const INSTALL = `
  mkdir -p node_modules/dep node_modules/.bin
  echo 'echo dep' >node_modules/dep/run
  chmod +x node_modules/dep/run
  ln -s ../dep/run node_modules/.bin/dep`

/** The checkout of a job: always at the same path, as on GitHub. */
function checkout(prepare = ''): string {
  const top = join(folder, 'checkout')
  removeSync(top)
  mkdirSync(top)
  execFileSync('git', ['init', '-q'], { cwd: top })
  writeFileSync(join(top, '.gitignore'), 'node_modules/\nvendor/\n.env\n')
  shell(top, prepare)
  return top
}

function shell(cwd: string, script: string): void {
  execFileSync('bash', ['-ec', script], { cwd })
}

/** A job's cache of what `prepare` made, and what it reported. */
function jobCache({ url }: StartedCache, more: Partial<PrepareCacheOptions> = {}) {
  const top = join(folder, 'checkout')
  const files = openCache({
    ...{ ACTIONS_RUNTIME_TOKEN: newRuntimeToken('1'), ACTIONS_RESULTS_URL: url },
    ...{ ACTIONS_CACHE_SERVICE_V2: 'True', GITHUB_SERVER_URL: 'https://github.com' },
  })
  assert.ok(files)
  const listIgnored = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory']
  const reports: string[] = []
  const cache = openPrepareCache({
    ...{ files, trusted: BASE, restores: true, paths: ['node_modules'], identity: ['npm ci'] },
    lockfiles: async () => ['package-lock.json 1'],
    ignored: async () =>
      execFileSync('git', listIgnored, { cwd: top, encoding: 'utf8' }).split('\0').filter(Boolean),
    ...{ top, own: join(folder, 'own'), env: ENV, report: (line: string) => reports.push(line) },
    ...more,
  })
  return { cache, reports }
}

/** Prepares and saves as the first job of a feature does. */
async function firstJob(service: StartedCache, prepare = INSTALL, more: Partial<PrepareCacheOptions> = {}) {
  const top = checkout()
  const { cache, reports } = jobCache(service, more)
  assert.equal(await cache.restore(BASE, soon()), false)
  shell(top, prepare)
  await cache.save(soon())
  return reports
}

test('a later job has the folders, with their links and programs, for a commit of the same lockfiles', async () => {
  await using service = await startCache()
  assert.deepEqual(await firstJob(service), [])
  const top = checkout()
  const { cache, reports } = jobCache(service)
  assert.equal(await cache.restore('a story', soon()), true)
  assert.equal(execFileSync('bash', ['node_modules/.bin/dep'], { cwd: top, encoding: 'utf8' }), 'dep\n')
  assert.equal(statSync(join(top, 'node_modules/dep/run')).mode & 0o100, 0o100)
  assert.deepEqual(reports, [])
})

test('other lockfiles, another command, machine, path or list of folders: nothing is restored', async () => {
  await using service = await startCache()
  await firstJob(service)
  for (const other of [
    { lockfiles: async () => ['package-lock.json 2'] },
    { lockfiles: async () => ['package-lock.json 1', 'web/package-lock.json 1'] },
    { identity: ['npm ci --omit=dev'] },
    { paths: ['node_modules', 'vendor'] },
  ]) {
    checkout()
    assert.equal(await jobCache(service, other).cache.restore(BASE, soon()), false)
  }
})

test('only what prepare made of the trusted commit is saved', async () => {
  await using service = await startCache()
  await firstJob(service, INSTALL, { trusted: null })
  await firstJob(service, INSTALL, { trusted: 'another commit' })
  assert.deepEqual(service.service.entries.size, 0)
  await firstJob(service)
  assert.equal(service.service.entries.size, 1)
})

test('nothing is saved, and the reason is reported, where the folders are not all that prepare made', async () => {
  await using service = await startCache()
  const reasons: [string, string, Partial<PrepareCacheOptions>, RegExp][] = [
    ['another folder', `${INSTALL}; mkdir vendor; touch vendor/a`, {}, /prepare also made vendor\//],
    ['a file', `${INSTALL}; touch .env`, {}, /prepare also made \.env/],
    ['no folder', 'true', {}, /prepare made no folder node_modules/],
    ['a link', 'ln -s /usr node_modules', {}, /prepare made no folder node_modules/],
    ['no lockfile', INSTALL, { lockfiles: async () => [] }, /no lockfile/],
  ]
  for (const [name, prepare, more, reason] of reasons)
    assert.match((await firstJob(service, prepare, more)).join('\n'), reason, name)
  assert.equal(service.service.entries.size, 0)
})

test('a machine that stays has the folders already: nothing is restored over them, and nothing of them is saved', async () => {
  await using service = await startCache()
  await firstJob(service)
  const top = checkout('mkdir node_modules; touch node_modules/older')
  const { cache, reports } = jobCache(service)
  assert.equal(await cache.restore(BASE, soon()), false)
  assert.deepEqual(existsSync(join(top, 'node_modules/dep')), false)
  assert.match(reports.join(), /node_modules is in the checkout already/)
  service.service.entries.clear()
  await cache.save(soon())
  assert.equal(service.service.entries.size, 0)
})

test('a link in the commit leads nothing out of the checkout', async () => {
  await using service = await startCache()
  const paths = ['web/node_modules']
  await firstJob(service, `mkdir web; cd web; ${INSTALL}`, { paths })
  mkdirSync(join(folder, 'away'))
  checkout('ln -s ../away web')
  assert.equal(await jobCache(service, { paths }).cache.restore('a story', soon()), false)
  assert.deepEqual(execFileSync('ls', ['-A', join(folder, 'away')], { encoding: 'utf8' }), '')
})

test('a job that must not restore still saves, once', async () => {
  await using service = await startCache()
  const neverRestores = { restores: false }
  await firstJob(service, INSTALL, neverRestores)
  assert.equal(service.service.entries.size, 1)
  assert.deepEqual(await firstJob(service, INSTALL, neverRestores), [])
  const created = service.service.asked.filter(({ path }) => path.endsWith('/CreateCacheEntry'))
  assert.equal(created.length, 1)
})

test('an entry that somebody else wrote fails no job, leaves nothing half, and writes into its folders alone', async (t) => {
  const HOSTILE = `${INSTALL}; mkdir -p src .git/hooks; echo hostile >src/app.js; echo hostile >.git/hooks/post-checkout`
  const entries: [string, (bytes: Buffer) => Buffer, boolean][] = [
    ['half an archive', (bytes) => bytes.subarray(0, 512), false],
    ['not an archive', () => withDigest(Buffer.from('hello')), false],
    ['none of the folders', () => archive('mkdir other', 'other'), false],
    ['a link in the place of the folder', () => archive('ln -s /usr node_modules', 'node_modules'), false],
    ['more than the folders', () => archive(HOSTILE, 'node_modules', 'src', '.git'), true],
  ]
  for (const [name, replace, isRestored] of entries)
    await t.test(name, async () => {
      await using service = await startCache()
      await firstJob(service)
      for (const [key, bytes] of service.service.entries) service.service.entries.set(key, replace(bytes))
      const top = checkout()
      const { cache, reports } = jobCache(service)
      assert.equal(await cache.restore(BASE, soon()), isRestored, reports.join('\n'))
      assert.equal(existsSync(join(top, 'node_modules')), isRestored)
      assert.deepEqual(
        [existsSync(join(top, 'src')), existsSync(join(top, '.git/hooks/post-checkout'))],
        [false, false],
      )
      if (!isRestored) assert.match(reports.join('\n'), /^prepare-paths: restoring did not succeed/)
    })
})

test('a cache service that is down fails nothing', async () => {
  for (const [name, expected] of [
    ['GetCacheEntryDownloadURL', /^prepare-paths: restoring did not succeed.*503/],
    ['CreateCacheEntry', /^prepare-paths: saving did not succeed.*503/],
  ] as const) {
    await using service = await startCache()
    service.service.faults.set(name, 503)
    const reports = await firstJob(service)
    assert.equal(reports.length, 1)
    assert.match(reports[0] ?? '', expected)
  }
})

test('nothing is saved where git ignores files before prepare runs, which an earlier job may have left', async () => {
  await using service = await startCache()
  const top = checkout('touch .env')
  const { cache, reports } = jobCache(service)
  assert.equal(await cache.restore(BASE, soon()), false)
  shell(top, INSTALL)
  await cache.save(soon())
  assert.match(reports.join(), /nothing is saved, for git ignores \.env before prepare has run/)
  assert.equal(service.service.entries.size, 0)
})

const asOther = { skip: lacks('root', 'util-linux'), timeout: 60_000 }
test(
  'at `other-user` the folders are packed and unpacked as the user of gates, and belong to it',
  asOther,
  async () => {
    await using service = await startCache()
    chmodSync(folder, 0o755)
    const top = checkout()
    const env = { PATH: ENV.PATH, HOME: '/root' }
    const user = await openOtherUser({
      ...{ env, workTree: top, gitDir: join(top, '.git'), key: folder, report: () => {} },
    })
    try {
      // A tar that notes who started it.
      const bin = join(folder, 'bin')
      mkdirSync(bin)
      writeFileSync(join(bin, 'tar'), '#!/bin/bash\nid -u >>who\nPATH=/usr/bin:/bin exec tar "$@"\n', {
        mode: 0o755,
      })
      const asUser = { as: user, env: { PATH: `${bin}:${ENV.PATH}` } }
      const first = jobCache(service, asUser)
      assert.equal(await first.cache.restore(BASE, soon()), false)
      shell(top, INSTALL)
      await first.cache.save(soon())
      assert.deepEqual(first.reports, [])
      shell(top, 'rm -r node_modules')
      assert.equal(await jobCache(service, asUser).cache.restore('a story', soon()), true)
      const uid = statSync(join(top, 'node_modules/dep/run')).uid
      assert.notEqual(uid, process.getuid?.())
      assert.equal(readFileSync(join(top, 'who'), 'utf8'), `${uid}\n${uid}\n`)
    } finally {
      await user.close()
    }
  },
)

test('`prepare` does not run where its folders are restored; it runs when a lockfile changed, and for a tree that is made anew', async () => {
  await using service = await startCache()
  const top = join(folder, 'checkout')
  const job = (prepare: string) => {
    checkout()
    return createGates({
      ...{ gates: [], prepare, ...NO_CODE, top, cwd: top, env: ENV, logs: null },
      lockfileChanged: async (_, to) => to === 'new lockfile',
      prepareCache: jobCache(service, { identity: [prepare] }).cache,
      redactor: createRedactor([]),
      ...{ onStart: () => {}, onEnd: () => {} },
    })
  }
  const red = job(`${INSTALL}; exit 1`)
  assert.equal((await red.prepare(BASE, soon()))?.ok, false)
  assert.equal(service.service.entries.size, 0)

  const first = job(`${INSTALL}; echo ran >>ran`)
  assert.equal((await first.prepare(BASE, soon()))?.remarks, undefined)
  assert.equal(service.service.entries.size, 1)

  const later = job(`rm -rf node_modules; ${INSTALL}; echo ran >>ran`)
  const runs = () => (existsSync(join(top, 'ran')) ? readFileSync(join(top, 'ran'), 'utf8') : '')
  const other = await later.prepare('a story', soon())
  assert.deepEqual([other?.ok, runs()], [true, 'ran\n'], 'another command has other folders')

  const same = job(`${INSTALL}; echo ran >>ran`)
  assert.match((await same.prepare('a story', soon()))?.remarks?.join() ?? '', /^not run/)
  assert.equal(runs(), '')
  assert.equal(await same.prepare('the next one', soon()), null)
  await same.prepare('new lockfile', soon())
  assert.equal(runs(), 'ran\n')

  const anew = job(`${INSTALL}; echo ran >>ran`)
  await anew.renew()
  await anew.prepare('a story', soon())
  assert.equal(runs(), 'ran\n')
})

function archive(script: string, ...paths: string[]): Buffer {
  const at = mkdtempSync(join(folder, 'hostile-'))
  shell(at, script)
  return withDigest(execFileSync('tar', ['-c', ...paths], { cwd: at }))
}

/** As whoever writes an entry on purpose ends it. */
const withDigest = (bytes: Buffer) => Buffer.concat([bytes, createHash('sha256').update(bytes).digest()])
