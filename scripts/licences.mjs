// The text of dist/THIRD_PARTY_LICENSES.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Name, version, licence and its text of every package that one of these files belongs to; paths are below `root`. */
export async function licences(root, paths) {
  const folders = paths.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [])
  const entries = [...new Set(folders)].sort().map((folder) => licence(root, folder))
  entries.push(rules(root))
  return (await Promise.all(entries)).join(`\n${'-'.repeat(80)}\n\n`)
}

/** The rules for keys that src/isolation/redact/key-rules.ts is made of. */
async function rules(root) {
  const text = await readFile(join(root, 'src/isolation/redact/LICENSE.gitleaks'), 'utf8')
  return `gitleaks, rules for keys (MIT)\n\n${text.trim()}\n`
}

async function licence(root, folder) {
  const { name, version, license } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'))
  const names = await readdir(join(root, folder))
  const files = names.filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file)).sort()
  const paths = files.map((file) => join(folder, file))
  if (paths.length === 0) {
    if (license !== 'Apache-2.0') throw new Error(`${name} ${version} has no text of its licence`)
    // puppeteer-core names the licence and brings no text of it.
    paths.push('node_modules/@typescript/native/LICENSE')
  }
  const texts = await Promise.all(paths.map((path) => readFile(join(root, path), 'utf8')))
  return `${name} ${version} (${license})\n\n${texts.join('\n\n').replaceAll('\r\n', '\n').trim()}\n`
}
