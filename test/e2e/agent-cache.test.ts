// The agent that the first job of a chain installed serves the second from GitHub's cache; a cache that holds something else
// serves nobody, and the token of the service is in no session.
import assert from 'node:assert/strict'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { goodTurn, openSite, outputsOf, ROOT, type SiteOptions, story } from './site.ts'

const KEY = 'sk-ant-canary-0123456789abcdefghijkl'
const VERSION = '2.1.0'
const stories = {
  stories: [story('US-001', 'one'), story('US-002', 'two')],
  script: { 'US-001': [goodTurn('one', 1)], 'US-002': [goodTurn('two', 2)] },
}

/** A machine without a claude, whose npm notes every installation and installs the fake one. */
async function openNpm() {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-npm-'))
  const at = (name: string) => join(folder, name)
  const where = { key: KEY, script: at('script.json'), sessions: at('sessions'), saw: at('saw') }
  await mkdir(at('bin'))
  for (const name of ['claude.mjs', 'agent.mjs']) await copyFile(join(ROOT, 'test/fakes', name), at(name))
  for (const name of ['sessions', 'saw', 'installed']) await writeFile(at(name), '')
  await writeFile(at('where.json'), JSON.stringify({ ...where, outside: '127.0.0.1:9' }))
  await writeFile(at('script.json'), JSON.stringify(stories.script))
  const own = 'node_modules/@anthropic-ai/claude-code'
  const npm = `#!/bin/bash
[ "$1" = install ] || exit 0
echo "$*" >>'${at('installed')}'
mkdir -p ${own} node_modules/.bin
echo '{"version":"${VERSION}"}' >${own}/package.json
printf '#!/bin/bash\\nexec node "${at('claude.mjs')}" "${at('where.json')}" "$@"\\n' >${own}/claude
chmod +x ${own}/claude
ln -s ../@anthropic-ai/claude-code/claude node_modules/.bin/claude
`
  await writeFile(at('bin/npm'), npm, { mode: 0o755 })
  const lines = async (name: string) => (await readFile(at(name), 'utf8')).split('\n').filter(Boolean)
  return {
    bin: at('bin'),
    installations: async () => (await lines('installed')).length,
    sessions: async () => (await lines('sessions')).map((line): { env: string[] } => JSON.parse(line)),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

const siteOf = (bin: string, inputs: Record<string, string> = {}): SiteOptions => ({
  ...stories,
  inputs: { agent: 'claude', 'agent-version': VERSION, 'iterations-per-job': '1', ...inputs },
  workflow: (text) => text.replace(/^ +agent-command: .*\n/m, ''),
  runner: { path: [bin], secrets: { ANTHROPIC_API_KEY: KEY } },
})

test("with the agent cache only the first job of a chain installs the agent, and no session gets the cache's token", async () => {
  await using npm = await openNpm()
  await using site = await openSite(siteOf(npm.bin))
  const run = await site.go()
  assert.equal(outputsOf(run).outcome, 'complete', site.log())
  assert.ok(site.runner.runs.length >= 2)
  assert.equal(await npm.installations(), 1, site.log())
  assert.match(site.log(), /restored from the cache @anthropic-ai\/claude-code@2\.1\.0 in/)
  const sessions = await npm.sessions()
  assert.ok(sessions.length >= 2)
  for (const { env } of sessions)
    assert.deepEqual(
      env.filter((name) => name.startsWith('ACTIONS_')),
      [],
    )
  assert.equal(site.github.world.cache.entries.size, 1)
})

test('`cache: off` sends no request to the cache service', async () => {
  await using npm = await openNpm()
  await using site = await openSite(siteOf(npm.bin, { cache: 'off' }))
  assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
  assert.equal(await npm.installations(), site.runner.runs.length)
  assert.deepEqual(site.github.world.cache.asked, [])
})

test('a poisoned cache entry, or a cache service that is down, costs an installation and fails no job', async () => {
  await using npm = await openNpm()
  await using site = await openSite(siteOf(npm.bin))
  const { cache } = site.github.world
  cache.faults.set('FinalizeCacheEntryUpload', 500)
  const speak = cache.answer.bind(cache)
  const put = { key: '', bytes: Buffer.from('not what was kept') }
  cache.answer = (method, url, headers, bytes) => {
    if (url.pathname.endsWith('/CreateCacheEntry')) {
      const { key, version } = JSON.parse(bytes.toString())
      put.key = `${key} ${version}`
    }
    // Between the two jobs somebody else writes the entry.
    if (url.pathname.endsWith('/GetCacheEntryDownloadURL') && put.key !== '')
      cache.entries.set(put.key, put.bytes)
    return speak(method, url, headers, bytes)
  }
  assert.equal(outputsOf(await site.go()).outcome, 'complete', site.log())
  assert.equal(await npm.installations(), site.runner.runs.length)
  assert.match(site.log(), /keeping the agent failed .*500/)
  assert.match(site.log(), /restoring the agent failed .*the entry is not whole/)
})
