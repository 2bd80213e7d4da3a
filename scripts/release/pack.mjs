// Packs the npm tarball, holds it to dist/ as it is built (scripts/release/tree.mjs holds that to git), and writes the checksums that are
// attested.
// node scripts/release/pack.mjs [folder]: ralph-action-<version>.tgz and SHA256SUMS come there (default: release/)
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { output, refuse } from './refuse.mjs'

const folder = resolve(process.argv[2] ?? 'release')
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const args = ['pack', '--json', '--pack-destination', folder]
// npm prints what `prepack` refused by itself.
const printed = execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
const [{ filename, files }] = JSON.parse(printed)

const distribution = readdirSync('dist', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .sort()
const wanted = new Set([...distribution, 'package.json', 'README.md', 'LICENSE'])
const packed = new Set(files.map(({ path }) => path))
refuse([
  ...[...wanted].filter((path) => !packed.has(path)).map((path) => mistake(path, 'no such file in it')),
  ...[...packed]
    .filter((path) => !wanted.has(path))
    .map((path) => mistake(path, 'a file that does not belong there')),
])

const sums = [...distribution.map((path) => [sha256(path), path]), [sha256(join(folder, filename)), filename]]
writeFileSync(join(folder, 'SHA256SUMS'), sums.map(([sum, path]) => `${sum}  ${path}\n`).join(''))
output({ tarball: filename })

function mistake(path, found) {
  return {
    path: `${filename}: ${path}`,
    found,
    expected: 'all of dist/, package.json, README.md and LICENSE, and nothing else',
    fix: 'npm run build, and look at `files` of package.json',
  }
}

function sha256(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
