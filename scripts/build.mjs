// Builds dist/: tsc to lib/, then ncc bundles each entry. Byte-identical wherever it runs, so CI can compare.
import { execFileSync } from 'node:child_process'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const require = createRequire(import.meta.url)
const ncc = require('@vercel/ncc')
const entries = ['cli/main', 'action/main', 'action/post']

await rm(join(root, 'lib'), { recursive: true, force: true })
execFileSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})

/** Path below dist/ to bytes: bundled first, written together, so that a running action sees one build or the other. */
const files = new Map([['package.json', '{\n  "type": "module"\n}\n']])
for (const entry of entries) {
  const [folder, name] = entry.split('/')
  const { code, assets } = await ncc(join(root, 'lib', `${entry}.js`), {
    minify: true,
    target: 'es2023',
    quiet: true,
    cache: false,
    filename: `${name}.js`,
  })
  files.set(`${folder}/${name}.js`, code)
  for (const [path, asset] of Object.entries(assets)) {
    if (path !== 'package.json') files.set(`${folder}/${path}`, asset.source)
  }
}

await rm(join(root, 'dist.new'), { recursive: true, force: true })
for (const [path, bytes] of files) {
  const file = join(root, 'dist.new', path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, bytes)
}
await rm(join(root, 'dist'), { recursive: true, force: true })
await rename(join(root, 'dist.new'), join(root, 'dist'))
