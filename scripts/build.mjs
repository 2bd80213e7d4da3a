// Builds dist/: tsc compiles src/ to lib/, ncc bundles that and every package as one graph of chunks, esbuild minifies each.
// The bytes are the same in every folder and with every Node, so CI can compare them. What people and runners start are three
// small files that load their part of the graph; dist/bundle/modules.txt says where in it each source file is.
import { execFileSync } from 'node:child_process'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import { licences } from './licences.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const ncc = createRequire(import.meta.url)('@vercel/ncc')

await rm(join(root, 'lib'), { recursive: true, force: true })
// The types are only taken off: `npm run types` checks them.
const emit = ['-p', 'tsconfig.build.json', '--noCheck']
execFileSync(join(root, 'node_modules', '.bin', 'tsc'), emit, { cwd: root, stdio: 'inherit' })
const { code, assets, stats } = await ncc(join(root, 'lib', 'bundle.js'), {
  target: 'es2023',
  quiet: true,
  cache: false,
  filename: 'ralph.js',
})
const { 'package.json': packageJson, ...bundled } = { ...assets, 'ralph.js': { source: code } }

/** Path below dist/ to bytes. */
const files = new Map([
  ['package.json', packageJson.source],
  ['action/main.js', "import { startAction } from '../bundle/ralph.js'\n\nawait startAction()\n"],
  ['action/post.js', "import { startPost } from '../bundle/ralph.js'\n\nawait startPost()\n"],
  ['cli/main.js', "#!/usr/bin/env node\nimport { startCli } from '../bundle/ralph.js'\n\nawait startCli()\n"],
])
for (const [path, { source }] of Object.entries(bundled))
  files.set(`bundle/${path}`, path.endsWith('ralph.js') ? await minified(source) : source)
const modules = moduleNames()
files.set('bundle/modules.txt', `${modules.join('\n')}\n`)
// axe-core is a file beside the bundle.
const paths = [...modules.map((line) => line.split(' ')[2]), 'node_modules/axe-core/axe.min.js']
files.set('THIRD_PARTY_LICENSES', await licences(root, paths))

// Written together, so that a running action sees one build or the other.
await rm(join(root, 'dist.new'), { recursive: true, force: true })
for (const [path, bytes] of files) {
  const file = join(root, 'dist.new', path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, bytes)
}
await rm(join(root, 'dist'), { recursive: true, force: true })
await rename(join(root, 'dist.new'), join(root, 'dist'))

/** In the syntax of Node 20, the oldest that runs it. */
async function minified(source) {
  const how = { format: 'esm', minify: true, target: 'node20', legalComments: 'none' }
  return (await transform(String(source), how)).code
}

/** A line for each source file: its chunk, the number of its module in there, its path. Names are ncc's (webpack's). */
function moduleNames() {
  const what = { chunks: true, modules: true, nestedModules: true, modulesSpace: Infinity, ids: true }
  const { chunks, modules } = stats.toJson({ all: false, ...what })
  const fileOf = new Map(chunks.map(({ id, files }) => [id, files[0]]))
  const lines = modules.flatMap(({ name = '', id, modules: inner = [], chunks: ids = [] }) => {
    const names = [name, ...inner.map((one) => one.name)]
    const paths = names.filter((one) => /^\.\/(?:lib|node_modules)\/\S+$/.test(one))
    const sources = paths.map((path) => path.replace('./', '').replace(/^lib\/(.*)\.js$/, 'src/$1.ts'))
    return ids.flatMap((chunk) => sources.map((path) => `${fileOf.get(chunk)} ${id} ${path}`))
  })
  return [...new Set(lines)].sort()
}
