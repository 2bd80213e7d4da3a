// Builds dist/: tsc to lib/, ncc to one graph of chunks, esbuild to minify them, fflate to pack those of packages alone.
// Byte-identical wherever it runs, so CI can compare. What people and runners start are three small files that load their
// part of the graph.
import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { transform } from 'esbuild'
import { gzipSync } from 'fflate'
import { refusedByNode20 } from './oldest-node.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const ncc = createRequire(import.meta.url)('@vercel/ncc')

await rm(join(root, 'lib'), { recursive: true, force: true })
// The types are only taken off: `npm run types` checks them.
const emit = ['-p', 'tsconfig.build.json', '--noCheck', '--singleThreaded']
execFileSync(join(root, 'node_modules', '.bin', 'tsc'), emit, { cwd: root, stdio: 'inherit' })
// Of `yaml` its ES modules, of which what nobody calls is left out: for Node it names CommonJS.
await mkdir(join(root, 'lib', 'node_modules'))
await symlink(join(root, 'node_modules', 'yaml', 'browser'), join(root, 'lib', 'node_modules', 'yaml'))

/** Path below dist/ to bytes: bundled first, written together, so that a running action sees one build or the other. */
const files = new Map([
  ['package.json', '{\n  "type": "module"\n}\n'],
  ['action/main.js', "import { startAction } from '../bundle/ralph.js'\n\nawait startAction()\n"],
  ['action/post.js', "import { startPost } from '../bundle/ralph.js'\n\nawait startPost()\n"],
  ['cli/main.js', "#!/usr/bin/env node\nimport { startCli } from '../bundle/ralph.js'\n\nawait startCli()\n"],
])
const { code, assets, stats } = await ncc(join(root, 'lib', 'bundle.js'), {
  target: 'es2023',
  quiet: true,
  cache: false,
  filename: 'ralph.js',
})
const outputs = Object.entries({ ...assets, 'ralph.js': { source: code } })
const whole = outputs
  .map(([path, { source }]) => (path.endsWith('ralph.js') ? String(source) : ''))
  .join('\n')
const ENDPOINTS = /^const Endpoints = (\{\n[\s\S]*?\n\});$/m
/** In place of a package's name. */
const OWN = 'ours'
/** The names of characters (`&amp;`): documents/markdown.ts reads Markdown without them, to the letter. */
const ENTITIES = /^const characterEntities = \{\n[\s\S]*?\n\}/m
if (!ENDPOINTS.test(whole)) throw new Error('octokit has no table of endpoints (any more)')
if (!ENTITIES.test(whole)) throw new Error('Markdown has no table of named characters (any more)')
const packages = packagesOf(stats)
for (const [path, { source }] of outputs.filter(([name]) => name !== 'package.json')) {
  // What is a file of its own is copied as it is; axe-core is packed, too (browser/check.ts).
  if (path === 'axe.min.js') files.set(`bundle/${path}.gz`, packed(source))
  else if (!path.endsWith('ralph.js')) files.set(`bundle/${path}`, source)
  else {
    const entities = String(source).replace(ENTITIES, 'const characterEntities = {}')
    const used = await onlyUsed(calledPlainly(onlyCalled(entities)))
    const names = [...(packages.get(path) ?? [OWN])]
    if (!names.includes(OWN)) await addPacked(path, used)
    else files.set(`bundle/${path}`, await minified(used))
  }
}
const bundled = new Set([...[...packages.values()].flatMap((names) => [...names]), 'axe-core'])
files.set('THIRD_PARTY_LICENSES', await licences(bundled))

if (!files.has('bundle/axe.min.js.gz'))
  throw new Error('ncc did not see the path of axe-core in browser/check.ts')

/** The packages of each chunk, by its path; `OWN` is ours. */
function packagesOf(stats) {
  const options = {
    all: false,
    modules: true,
    nestedModules: true,
    modulesSpace: Infinity,
    ids: true,
    chunks: true,
  }
  const byChunk = new Map()
  for (const { name, modules = [], chunks = [] } of stats.toJson(options).modules)
    for (const path of [name, ...modules.map((inner) => inner.name)])
      for (const chunk of chunks.map((id) => `${id}.ralph.js`)) {
        const found = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? OWN
        byChunk.set(chunk, (byChunk.get(chunk) ?? new Set()).add(found))
      }
  return byChunk
}

/** By JavaScript of its own: what Node's zlib gives differs from one processor to the other. */
function packed(bytes) {
  return gzipSync(bytes, { level: 9, mtime: 0 })
}

/** A chunk in two files: its modules, packed, and what unpacks them when webpack asks for the chunk. */
async function addPacked(path, source) {
  const [, ids, modules] =
    /^(export const id = .*\nexport const ids = .*\n)export const modules = (\{[\s\S]*\});?\s*$/.exec(source)
  const code = await minified(`Object.assign(modules, ${modules})`, 'cjs')
  files.set(`bundle/${path}.gz`, packed(Buffer.from(`'use strict';${code}`)))
  const door = `
    import { readFileSync } from 'node:fs'
    import { compileFunction } from 'node:vm'
    import { gunzipSync } from 'node:zlib'
    ${ids}
    export const modules = {}
    const file = new URL('${path}.gz', import.meta.url)
    const code = String(gunzipSync(readFileSync(file)))
    compileFunction(code, ['modules'], { filename: file.href })(modules)`
  files.set(`bundle/${path}`, await minified(door))
}

/**
 * Name, version and licence of every package that is in the bundle, each text once below those who hold the copyright.
 */
async function licences(bundled) {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
  const apache = await readFile(join(root, 'node_modules', 'typescript', 'LICENSE'), 'utf8')
  const used = Object.keys(packages).filter((path) => !packages[path].dev && !packages[path].link)
  const entries = used
    .filter((path) => bundled.has(path.replace(/.*node_modules\//, '')))
    .sort()
    .map(async (path) => {
      const folder = join(root, path)
      const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
      const own = (await readdir(folder)).filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file))
      const texts = await Promise.all(own.sort().map((file) => readFile(join(folder, file), 'utf8')))
      const text = texts.map((one) => one.replaceAll('\r\n', '\n').trim()).join('\n\n')
      const lines = text
        .split('\n')
        .filter((line) => !/^(?:the )?mit license(?: \(mit\))?$/i.test(line.trim()))
      const holders = lines.filter(isHolder).map((line) => line.trim())
      const head = [`${name} ${version} (${license})`, ...holders].join('\n  ')
      // One of two has its holder below the text, and the other brings no text of it.
      if (license === 'Apache-2.0') return { head, terms: apache }
      if (text === '') throw new Error(`${name} ${version} has no text of its licence`)
      // Long ones say more than whose the package is between their lines.
      const isShort = text.length < 2_000
      if (!isShort) return { head: head.split('\n')[0], terms: text }
      return { head, terms: lines.filter((line) => !isHolder(line)).join('\n') }
    })
  const byTerms = Map.groupBy(await Promise.all(entries), ({ terms }) => terms.replace(/\s+/g, ' ').trim())
  const parts = [...byTerms.values()].map((packages) => {
    const heads = packages.map(({ head }) => head).join('\n')
    return `${heads}\n\n${packages[0].terms.trim()}\n`
  })
  return parts.join(`\n${'-'.repeat(80)}\n\n`)
}

/** Of octokit's thousand endpoints those that `api.rest` is asked for. */
function onlyCalled(source) {
  return source.replace(ENDPOINTS, (_, text) => {
    const all = runInNewContext(`(${text})`)
    const used = {}
    for (const [call, scope, method] of whole.matchAll(/\bapi\.rest\b(?:\s*\.(\w+)\s*\.(\w+))?/g)) {
      const endpoint = all[scope]?.[method]
      if (endpoint === undefined)
        throw new Error(`${call}: write api.rest.SCOPE.METHOD, so that it is bundled`)
      used[scope] = { ...used[scope], [method]: endpoint }
    }
    return `const Endpoints = ${JSON.stringify(used)};`
  })
}

/** `a.b()` for `(0,a.b)()`, by which webpack keeps `a` from being `this`: functions that are imported look at none. */
function calledPlainly(source) {
  const call = /(?<![\w$)\]])\(0,([\w$]+(?:\/\*[^*]*\*\/)? *\.[\w$]+)\)(?= ?[(`])/g
  return source.replace(call, '$1')
}

/** Without the functions of a module that nothing in it calls: in webpack's wrapper esbuild would keep them. */
async function onlyUsed(source) {
  const modules = /^(\/\*{3}\/ \(\(.*__webpack_exports__.*\) => \{\n)([\s\S]*?)(?=\n\/\*{3}\/ \}\))/gm
  const parts = await Promise.all(
    Array.from(source.matchAll(modules), async ({ 0: all, 1: head, 2: body, index }) => {
      const { code } = await transform(body, { format: 'esm', treeShaking: true, target: 'node20' })
      return { index, end: index + all.length, text: head + code }
    }),
  )
  let from = 0
  const texts = parts.map(({ index, end, text }) => {
    const before = source.slice(from, index)
    from = end
    return before + text
  })
  return texts.join('') + source.slice(from)
}

/** A line that says whose the package is. */
function isHolder(line) {
  return /^\s*(?:mit license )?(?:\(c\) \d|copyright (?:\(c\)|©|\d{4})).*$/i.test(line)
}

/** Names, white space and syntax, for the oldest Node that runs it: 20. */
async function minified(source, format = 'esm') {
  const { code } = await transform(source, {
    format,
    minify: true,
    target: 'node20',
    legalComments: 'none',
  })
  const refused = refusedByNode20(code)
  if (refused.length > 0) throw new Error(`Node 20 cannot parse ${refused.join(' and ')}`)
  return code
}

await rm(join(root, 'dist.new'), { recursive: true, force: true })
for (const [path, bytes] of files) {
  const file = join(root, 'dist.new', path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, bytes)
}
await rm(join(root, 'dist'), { recursive: true, force: true })
await rename(join(root, 'dist.new'), join(root, 'dist'))
