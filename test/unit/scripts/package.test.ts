// What refuses a package before npm packs it: everything that is missing or disagrees, at once.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const NAMES_VERSION = [
  'package.json',
  'package-lock.json',
  '.release-please-manifest.json',
  'src/engine/model/version.ts',
  'CHANGELOG.md',
  'README.md',
  'LICENSE',
]

/** A folder with what the check reads, and an empty file for each of dist/ that it needs. */
async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ralph-package-'))
  t.after(() => rm(folder, { recursive: true }))
  for (const path of [...NAMES_VERSION, 'scripts/release'])
    await cp(join(ROOT, path), join(folder, path), { recursive: true })
  const built = ['cli/main.js', 'bundle/ralph.js', 'package.json', 'THIRD_PARTY_LICENSES']
  for (const path of built) await write(folder, `dist/${path}`, '')
  return folder
}

async function write(folder: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}

async function change(folder: string, path: string, from: string, to: string): Promise<void> {
  const text = await readFile(join(folder, path), 'utf8')
  assert.ok(text.includes(from), path)
  await writeFile(join(folder, path), text.replace(from, to))
}

function check(folder: string) {
  const script = join(ROOT, 'scripts', 'release', 'package.mjs')
  const { status, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' })
  return {
    status,
    where: stderr.split('\n').flatMap((line) => /^error: ([^:]+)/.exec(line)?.[1] ?? []),
    stderr,
  }
}

test('files of this repository that have a version agree', async (t) => {
  const { status, stderr } = check(await folderOf(t))
  assert.equal(stderr, '')
  assert.equal(status, 0)
})

test('a package without dist, with dependencies, or with two versions is refused, with every mistake', async (t) => {
  const folder = await folderOf(t)
  await rm(join(folder, 'dist', 'bundle'), { recursive: true })
  await rm(join(folder, 'dist', 'cli'), { recursive: true })
  await change(
    folder,
    'package.json',
    '"devDependencies": {',
    '"dependencies": { "zod": "4" }, "devDependencies": {',
  )
  await change(folder, 'src/engine/model/version.ts', "VERSION = '", "VERSION = '9")
  await change(folder, 'CHANGELOG.md', '\n## ', '\n## 0.9.0\n\n## ')
  const { status, where, stderr } = check(folder)
  assert.equal(status, 64)
  assert.deepEqual(where, [
    'dist/cli/main.js',
    'dist/bundle/ralph.js',
    'package.json',
    'src/engine/model/version.ts',
    'CHANGELOG.md',
  ])
  assert.match(stderr, /dependencies\.zod: found a package that npm would install beside ralph/)
  assert.match(stderr, /fix: npm run build/)
})

test('an invalid version is reported alone', async (t) => {
  const folder = await folderOf(t)
  await write(folder, 'package.json', '{ "version": "1.x" }')
  assert.deepEqual(check(folder).where, ['package.json'])
})

test('npm pack fails without dist', async (t) => {
  const folder = await folderOf(t)
  await rm(join(folder, 'dist'), { recursive: true })
  const packed = spawnSync('npm', ['pack', '--dry-run'], { cwd: folder, encoding: 'utf8' })
  assert.notEqual(packed.status, 0)
  assert.match(packed.stderr, /dist\/cli\/main\.js: found no file/)
})
