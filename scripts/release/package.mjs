// Refuses a package that would not run: npm calls it before it packs or publishes (`prepack`).
// node scripts/release/package.mjs [folder]
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { refuse } from './refuse.mjs'
import { versionsIn } from './versions.mjs'

const root = resolve(process.argv[2] ?? '.')
/** Without one of these `ralph` does not start, or a licence is missing. */
const NEEDED = [
  'dist/cli/main.js',
  'dist/bundle/ralph.js',
  'dist/package.json',
  'dist/THIRD_PARTY_LICENSES',
  'README.md',
  'LICENSE',
]

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const missing = NEEDED.filter((path) => !existsSync(join(root, path))).map((path) => ({
  path,
  found: 'no file',
  expected: 'it in the package',
  fix: path.startsWith('dist/') ? 'npm run build' : 'git checkout -- README.md LICENSE',
}))
const needless = Object.keys(manifest.dependencies ?? {}).map((name) => ({
  path: `package.json: dependencies.${name}`,
  found: 'a package that npm would install beside ralph',
  expected: 'everything that runs in dist/',
  fix: 'move it to devDependencies: the build bundles it',
}))
refuse([...missing, ...needless, ...versionsIn(root).mistakes])
