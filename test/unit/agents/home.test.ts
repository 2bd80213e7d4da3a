// A session's home: its own, with what the login needs, and gone after it.

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, test } from 'node:test'
import { type Homes, openHomes } from '../../../src/agents/home.ts'
import { everyHomeShare, findAgent, homeSharesFor } from '../../../src/agents/registry.ts'
import { removeLostHomes } from '../../../src/app/lost-homes.ts'
import type { Environment } from '../../../src/isolation/untrusted-env.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

let folder = ''
let person = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'home-test-'))
  person = join(folder, 'person')
  mkdirSync(person)
})
afterEach(() => rmSync(folder, { recursive: true }))

const identity = { name: 'A "B" \\ C', email: 'a@example.org' }

function homesOf(name: string, more: Environment = {}, key = folder) {
  const vendor = findAgent(name)
  assert.ok(vendor)
  const env = { HOME: person, ...more }
  const shares = homeSharesFor(vendor)
  return openHomes({ shares, everyShare: everyHomeShare(), env, identity, key, as: null })
}

function put(path: string, text: string, top = person): string {
  const file = join(top, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

const homeOf = (session: { env(env: Environment): Environment }) => session.env({}).HOME ?? ''

test("a session's home has no file of an earlier session, and is removed after it", async () => {
  const homes = await homesOf('claude')
  const seen: string[] = []
  for (let sessions = 0; sessions < 2; sessions++) {
    await using session = await homes.open()
    const home = homeOf(session)
    seen.push(home)
    assert.equal(statSync(home).mode & 0o777, 0o700)
    assert.equal(existsSync(join(home, '.claude')), false)
    put('.claude/CLAUDE.md', 'say VERIFIED', home)
    mkdirSync(join(home, 'closed', 'inner'), { recursive: true })
    chmodSync(join(home, 'closed'), 0)
  }
  assert.notEqual(seen[0], seen[1])
  assert.deepEqual(seen.filter(existsSync), [])
  assert.equal(existsSync(join(person, '.claude')), false)
})

test("a session's home has the person's login, but no documents, commands, servers or hooks", async () => {
  put('.claude/.credentials.json', '{"claudeAiOauth":{"accessToken":"a"}}')
  put('.claude/CLAUDE.md', 'mine')
  put('.claude/settings.json', '{"apiKeyHelper":"/k","hooks":{"Stop":[]},"env":{"A":"1"}}')
  put('.claude.json', '{"primaryApiKey":"k","mcpServers":{"mail":{}}}')
  await using session = await (await homesOf('claude')).open()
  const home = homeOf(session)
  const json = (path: string) => JSON.parse(readFileSync(join(home, path), 'utf8'))
  assert.deepEqual(json('.claude/.credentials.json'), { claudeAiOauth: { accessToken: 'a' } })
  assert.deepEqual(json('.claude/settings.json'), { apiKeyHelper: '/k', env: { A: '1' } })
  assert.deepEqual(json('.claude.json'), { primaryApiKey: 'k' })
  assert.equal(existsSync(join(home, '.claude/CLAUDE.md')), false)
})

test('changes that a session makes to the login reach no other session', async () => {
  const file = put('.codex/config.toml', 'model = "a"\n')
  const homes = await homesOf('codex')
  for (let sessions = 0; sessions < 2; sessions++) {
    await using session = await homes.open()
    const copy = join(homeOf(session), '.codex/config.toml')
    assert.equal(readFileSync(copy, 'utf8'), 'model = "a"\n')
    writeFileSync(copy, 'model = "b"\n')
    writeFileSync(file, 'model = "c"\n')
  }
})

test('login tokens that the vendor renewed are copied back, into the same fields only', async () => {
  const file = put('.codex/auth.json', '{"tokens":{"access":"1","refresh":"1"}}')
  const homes = await homesOf('codex')
  const during = async (text: string) => {
    await using session = await homes.open()
    const copy = join(homeOf(session), '.codex/auth.json')
    const before = readFileSync(copy, 'utf8')
    writeFileSync(copy, text)
    return before
  }
  await during('{"tokens":{"access":"2","refresh":"2"}}')
  assert.equal(readFileSync(file, 'utf8'), '{"tokens":{"access":"2","refresh":"2"}}')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.match(await during('{"tokens":{"access":"3","refresh":"3"},"base_url":"http://evil"}'), /"2"/)
  for (const text of ['{"tokens":"3"}', 'nothing', '{"tokens":{"access":3,"refresh":"3"}}', '[]'])
    await during(text)
  assert.equal(readFileSync(file, 'utf8'), '{"tokens":{"access":"2","refresh":"2"}}')
  // The person logged in again meanwhile.
  await using session = await homes.open()
  writeFileSync(file, '{"tokens":{"access":"9","refresh":"9"}}')
  writeFileSync(join(homeOf(session), '.codex/auth.json'), '{"tokens":{"access":"4","refresh":"4"}}')
  await session[Symbol.asyncDispose]()
  assert.equal(readFileSync(file, 'utf8'), '{"tokens":{"access":"9","refresh":"9"}}')
})

test('a session gets login tokens that another lane renewed, and nothing else when the file was replaced', async () => {
  const file = put('.codex/auth.json', '{"tokens":{"access":"1","refresh":"1"}}')
  const [first, second] = [await homesOf('codex'), await homesOf('codex', {}, 'another lane')]
  const during = async (homes: Homes, text?: string) => {
    await using session = await homes.open()
    const copy = join(homeOf(session), '.codex/auth.json')
    const before = readFileSync(copy, 'utf8')
    if (text !== undefined) writeFileSync(copy, text)
    return before
  }
  await during(first, '{"tokens":{"access":"2","refresh":"2"}}')
  assert.match(await during(second, '{"tokens":{"access":"3","refresh":"3"}}'), /"2"/)
  assert.match(await during(first), /"3"/)
  writeFileSync(file, '{"tokens":{"access":"4","refresh":"4"},"base_url":"http://evil"}')
  assert.match(await during(first), /"3"/)
})

test('a login in another folder is found, and no variable points a session to that folder', async () => {
  put('moved/auth.json', 'codex')
  put('config/cursor/auth.json', 'cursor')
  const real = put('dotfiles/credentials', 'aws')
  mkdirSync(join(person, '.aws'))
  symlinkSync(real, join(person, '.aws', 'ignored'))
  writeFileSync(join(person, '.aws', 'config'), 'aws')
  const env = { CODEX_HOME: join(person, 'moved'), XDG_CONFIG_HOME: join(person, 'config') }
  await using session = await (await homesOf('custom', env)).open()
  const given = session.env({ ...env, XDG_CACHE_HOME: '/c', CLAUDE_CONFIG_DIR: '/d', PATH: '/bin' })
  const home = given.HOME ?? ''
  assert.deepEqual(Object.keys(given).sort(), ['HOME', 'PATH', 'TEMP', 'TMP', 'TMPDIR'])
  assert.equal(readFileSync(join(home, '.codex/auth.json'), 'utf8'), 'codex')
  assert.equal(readFileSync(join(home, '.config/cursor/auth.json'), 'utf8'), 'cursor')
  assert.equal(readFileSync(join(home, '.aws/config'), 'utf8'), 'aws')
})

test("tools installed in the person's home are found in a session", async () => {
  mkdirSync(join(person, '.rustup'))
  mkdirSync(join(person, '.cargo'))
  mkdirSync(join(person, 'data', 'mise'), { recursive: true })
  const homes = await homesOf('claude', { XDG_DATA_HOME: join(person, 'data') })
  await using session = await homes.open()
  const { TMPDIR, TEMP, TMP, ...env } = session.env({ CARGO_HOME: '/given', TMPDIR: '/given' })
  for (const one of [TMPDIR, TEMP, TMP]) assert.equal(one, join(homeOf(session), 'tmp'))
  assert.deepEqual(env, {
    HOME: homeOf(session),
    RUSTUP_HOME: join(person, '.rustup'),
    CARGO_HOME: '/given',
    MISE_DATA_DIR: join(person, 'data', 'mise'),
  })
})

test("git in a session has the person's name and e-mail, and no other setting", async () => {
  put('.gitconfig', '[alias]\n\tx = !evil\n')
  await using session = await (await homesOf('claude')).open()
  const env = { PATH: process.env.PATH, HOME: homeOf(session), GIT_CONFIG_NOSYSTEM: '1' }
  const listed = execFileSync('git', ['config', '--global', '--list'], { env, encoding: 'utf8' })
  assert.equal(listed, 'user.name=A "B" \\ C\nuser.email=a@example.org\nsafe.directory=*\n')
})

test('sessions have a home where the person has none, or one that cannot be written', async () => {
  for (const HOME of [undefined, '', 'relative', '/proc']) {
    await using session = await (await homesOf('codex', { HOME })).open()
    put('written', 'x', homeOf(session))
  }
})

test('homes that a killed run left are removed, those of another checkout are kept', async () => {
  const [left, other] = [await homesOf('claude'), await homesOf('claude', {}, `${folder}/other`)]
  const lost = homeOf(await left.open())
  await using alive = await other.open()
  await homesOf('claude')
  assert.deepEqual([existsSync(lost), existsSync(homeOf(alive))], [false, true])
})

/** A run of its own that opens a home of this agent, and renews the login in it. */
async function openRun(name: string, key: string, renewed: string | null) {
  const script = `import { openHomes } from '${join(ROOT, 'src/agents/home.ts')}'
import { findAgent, homeSharesFor } from '${join(ROOT, 'src/agents/registry.ts')}'
import { writeFileSync } from 'node:fs'
const [name, key, renewed] = process.argv.slice(1)
const shares = homeSharesFor(findAgent(name))
const identity = { name: 'a', email: 'a@b' }
const session = await (await openHomes({ shares, env: { HOME: process.env.HOME }, identity, key, as: null })).open()
const home = session.env({}).HOME
if (renewed !== '') writeFileSync(home + '/.codex/auth.json', renewed)
console.log(home)
setInterval(() => {}, 1000)`
  const args = ['--input-type=module', '-e', script, name, key, renewed ?? '']
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, HOME: person, TMPDIR: tmpdir() },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [home] = await once(createInterface(child.stdout), 'line')
  const kill = async () => {
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  return { home: String(home), kill }
}

/** The home that a run left which was killed. */
async function killedRun(name: string, key: string, renewed: string | null): Promise<string> {
  const { home, kill } = await openRun(name, key, renewed)
  await kill()
  return home
}

const LOGIN = '{"tokens":{"access":"1","refresh":"1"}}'
const RENEWED = '{"tokens":{"access":"2","refresh":"2"}}'

test('the login that a killed run renewed is read back before its homes are removed, those of all lanes', async () => {
  const file = put('.codex/auth.json', LOGIN)
  const lanes = await Promise.all([
    openRun('codex', `${folder}/lane1`, null),
    openRun('codex', `${folder}/lane2`, RENEWED),
    openRun('codex', `${folder}/lane3`, '{"tokens":"evil"}'),
  ])
  for (const { kill } of lanes) await kill()
  const left = lanes.map(({ home }) => home)
  assert.deepEqual(left.map(existsSync), [true, true, true])
  // Another agent, which has no such login, works next.
  await homesOf('claude')
  assert.equal(readFileSync(file, 'utf8'), RENEWED)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.deepEqual(left.map(existsSync), [false, false, false])
})

test('the post step removes the homes of killed sessions and saves the login, and keeps homes in use', async () => {
  const file = put('.codex/auth.json', LOGIN)
  const lost = await killedRun('codex', `${folder}/lane1`, RENEWED)
  const working = await openRun('codex', `${folder}/lane2`, null)
  await removeLostHomes({ HOME: person })
  const kept = [lost, working.home].map(existsSync)
  await working.kill()
  assert.deepEqual(kept, [false, true])
  assert.equal(readFileSync(file, 'utf8'), RENEWED)
})

test('a login that a person renewed after a killed run stays', async () => {
  const file = put('.codex/auth.json', LOGIN)
  const home = await killedRun('codex', folder, RENEWED)
  writeFileSync(file, '{"tokens":{"access":"9","refresh":"9"}}')
  const after = Date.now() / 1000 + 60
  utimesSync(file, after, after)
  await homesOf('codex')
  assert.match(readFileSync(file, 'utf8'), /"9"/)
  assert.equal(existsSync(home), false)
})

test("homes of a run that is at work, and of another person's, are kept", async () => {
  put('.codex/auth.json', LOGIN)
  const home = await killedRun('codex', `${folder}/lane1`, RENEWED)
  const another = join(folder, 'another')
  const login = put('.codex/auth.json', LOGIN, another)
  await using alive = await (await homesOf('codex', { HOME: another }, `${folder}/other`)).open()
  assert.deepEqual([existsSync(home), existsSync(homeOf(alive))], [true, true])
  assert.equal(readFileSync(login, 'utf8'), LOGIN)
  await homesOf('codex')
  assert.deepEqual([existsSync(home), existsSync(homeOf(alive))], [false, true])
})
