// Builds dist/: tsc to lib/, then ncc bundles each entry. Byte-identical wherever it runs, so CI can compare.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const require = createRequire(import.meta.url)
const ncc = require('@vercel/ncc')
const entries = ['cli/main', 'action/main', 'action/post']

await rm(join(root, 'lib'), { recursive: true, force: true })
await rm(join(root, 'dist'), { recursive: true, force: true })
execFileSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})

for (const entry of entries) {
  const input = join(root, 'lib', `${entry}.js`)
  if (!existsSync(input)) continue
  const [folder, name] = entry.split('/')
  // Each entry has a folder of its own chunks: two entries must not overwrite each other's.
  const out = join(root, 'dist', folder)
  const chunks = name === 'main' ? '' : `${name}/`
  const { code, assets } = await ncc(input, {
    minify: true,
    target: 'es2023',
    quiet: true,
    cache: false,
    filename: `${name}.js`,
  })
  await mkdir(out, { recursive: true })
  await writeFile(join(out, `${name}.js`), code)
  for (const [path, asset] of Object.entries(assets)) {
    if (path === 'package.json') continue
    const file = join(out, chunks, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, asset.source)
  }
}
await writeFile(join(root, 'dist', 'package.json'), '{\n  "type": "module"\n}\n')
