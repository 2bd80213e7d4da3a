// What actions/checkout leaves for later steps, in all the ways that it has left it, is out of sight and comes back.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hideCredentials } from '../../../src/git/credentials.ts'

const TOKEN = 'ghs_abcdefghijklmnopqrstuvwxyz0123456789'
const ENCODED = Buffer.from(`x-access-token:${TOKEN}`).toString('base64')
const HEADER = `AUTHORIZATION: basic ${ENCODED}`
const KEY = 'http.https://github.example/.extraheader'

type Place = AsyncDisposable & {
  tree: string
  temp: string
  env: Record<string, string>
  git(...args: string[]): string
  /** The headers that a git of the agent would send. */
  visible(): string
}

async function openPlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-credentials-'))
  const [tree, temp, home] = [join(folder, 'tree'), join(folder, 'temp'), join(folder, 'home')]
  for (const one of [tree, temp, home]) await mkdir(one)
  const env = { PATH: process.env.PATH ?? '', HOME: home, RUNNER_TEMP: temp, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: tree, env, encoding: 'utf8' })
  git('init', '-q')
  git('config', 'core.autocrlf', 'input')
  return {
    tree,
    temp,
    env,
    git,
    visible: () =>
      git('config', '--list', '--includes')
        .split('\n')
        .filter((line) => line.includes('extraheader'))
        .join('\n'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

test('checkout v6 and later: the credentials file in RUNNER_TEMP, included for this repository, is hidden and restored', async () => {
  await using place = await openPlace()
  const file = join(place.temp, 'git-credentials-1234.config')
  place.git('config', '--file', file, KEY, HEADER)
  place.git('config', `includeIf.gitdir:${join(place.tree, '.git')}.path`, file)
  await chmod(file, 0o640)
  const before = await readFile(file, 'utf8')
  assert.match(place.visible(), /AUTHORIZATION/)

  const aside = await hideCredentials(place.tree, place.env)
  assert.equal(place.visible(), '')
  assert.doesNotMatch(await readFile(file, 'utf8'), /AUTHORIZATION/i)
  assert.deepEqual(aside.secrets.sort(), [ENCODED, TOKEN].sort())
  await aside.restore()
  assert.equal(await readFile(file, 'utf8'), before)
  assert.equal((await stat(file)).mode & 0o777, 0o640)
})

test('checkout before v6: credentials in .git/config, also of submodules, are hidden and restored', async () => {
  await using place = await openPlace()
  place.git('config', KEY, HEADER)
  const inner = join(place.tree, '.git', 'modules', 'lib', 'modules', 'deep')
  await mkdir(inner, { recursive: true })
  place.git('config', '--file', join(inner, 'config'), KEY, HEADER)
  const config = join(place.tree, '.git', 'config')
  const before = [await readFile(config, 'utf8'), await readFile(join(inner, 'config'), 'utf8')]

  const aside = await hideCredentials(place.tree, place.env)
  for (const file of [config, join(inner, 'config')])
    assert.doesNotMatch(await readFile(file, 'utf8'), /AUTHORIZATION/i)
  assert.equal(place.git('config', 'core.autocrlf').trim(), 'input', 'the rest stays')
  await aside.restore()
  assert.deepEqual([await readFile(config, 'utf8'), await readFile(join(inner, 'config'), 'utf8')], before)
})

test('checkout with ssh-key: the key file of core.sshCommand is hidden and restored', async () => {
  await using place = await openPlace()
  const key = join(place.temp, 'c0ffee')
  await writeFile(key, 'a private key\n', { mode: 0o600 })
  place.git('config', 'core.sshCommand', `"/usr/bin/ssh" -i "${key}" -o StrictHostKeyChecking=yes`)
  const aside = await hideCredentials(place.tree, place.env)
  assert.equal(await readFile(key, 'utf8'), '')
  await aside.restore()
  assert.equal(await readFile(key, 'utf8'), 'a private key\n')
  assert.equal((await stat(key)).mode & 0o777, 0o600)
})

test("an authorization header in the user's git configuration is reported and left, one of the repository is hidden", async () => {
  await using place = await openPlace()
  const global = join(place.env.HOME ?? '', '.gitconfig')
  place.git('config', '--file', global, KEY, HEADER)
  const aside = await hideCredentials(place.tree, place.env)
  assert.equal(aside.remaining.length, 1)
  assert.match(aside.remaining[0] ?? '', /\.gitconfig$/)
  assert.ok(aside.secrets.includes(TOKEN))
  assert.match(await readFile(global, 'utf8'), /AUTHORIZATION/)
  place.git(
    'config',
    'url.https://x-access-token:ghp_secretsecretsecret@github.example/.insteadOf',
    'https://github.example/',
  )
  place.git('config', 'http.extraheader', HEADER)
  const more = await hideCredentials(place.tree, place.env)
  assert.ok(more.secrets.includes('ghp_secretsecretsecret'))
  assert.equal(more.remaining.length, 2)
  assert.doesNotMatch(await readFile(join(place.tree, '.git', 'config'), 'utf8'), /AUTHORIZATION/)
  await more.restore()
  const none = await hideCredentials(place.temp, { ...place.env, HOME: place.temp })
  assert.deepEqual([none.secrets.length, none.remaining.length], [0, 0])
})

test('further checkouts: their files in RUNNER_TEMP and their configuration are hidden and restored', async () => {
  await using place = await openPlace()
  const temp = join(place.temp, 'git-credentials-2.config')
  place.git('config', '--file', temp, KEY, HEADER)
  const inside = join(place.tree, 'tools', 'one')
  await mkdir(inside, { recursive: true })
  place.git('init', '-q', inside)
  place.git('config', '--file', join(inside, '.git', 'config'), KEY, HEADER)
  const files = [temp, join(inside, '.git', 'config')]
  const before = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  const aside = await hideCredentials(place.tree, place.env)
  for (const file of files) assert.doesNotMatch(await readFile(file, 'utf8'), /AUTHORIZATION/i)
  assert.deepEqual([aside.secrets.sort(), aside.remaining], [[ENCODED, TOKEN].sort(), []])
  assert.deepEqual(await aside.restore(), [])
  assert.deepEqual(await Promise.all(files.map((file) => readFile(file, 'utf8'))), before)
})

for (const [what, replace] of [
  ['a link to a folder that is given away', 'mkdir "$2"; mv "$1" "$1-old"; ln -s "$2" "$1"'],
  ['itself, moved there', 'mkdir "$2"; mv "$1" "$2/x"; ln -s "$2/x" "$1"'],
  ['another folder', 'mv "$1" "$1-old"; mkdir "$1"'],
] as const)
  test(`credentials are not restored into a folder that is ${what}`, async () => {
    await using place = await openPlace()
    const file = join(place.temp, 'git-credentials-1.config')
    place.git('config', '--file', file, KEY, HEADER)
    const aside = await hideCredentials(place.tree, place.env)
    execFileSync('bash', ['-c', replace, 'bash', place.temp, join(place.tree, 'given')])
    assert.deepEqual(await aside.restore(), [file])
    const look = `grep -ril AUTHORIZATION "$@" || true`
    const said = execFileSync('bash', ['-c', look, 'bash', place.tree, place.temp], { encoding: 'utf8' })
    assert.equal(said, '')
  })
