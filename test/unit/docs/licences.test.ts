// dist/THIRD_PARTY_LICENSES: every package that our source imports, and all that these need, with its licence's text.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { ROOT } from '../../e2e/site.ts'

/** `@scope/name` or `name` of what is imported, without what is Node's own or ours. */
async function imported(): Promise<Set<string>> {
  const names = new Set<string>()
  const files = await readdir(join(ROOT, 'src'), { recursive: true })
  for (const file of files.filter((one) => one.endsWith('.ts'))) {
    const text = await readFile(join(ROOT, 'src', file), 'utf8')
    for (const [, name = ''] of text.matchAll(/(?:from|import\()\s*'((?:@[\w-]+\/)?[\w-]+)[^':]*'/g))
      names.add(name)
  }
  return names
}

/** Types, what only development builds of others import, and what nothing that we import of a package needs. */
const NO_CODE = new RegExp(
  `/(?:${[
    '@octokit/(?:openapi-)?types|@types/\\w+|devtools-protocol|typed-query-selector|webdriver-bidi-protocol',
    'devlop|dequal|micromark-util-(?:symbol|types)',
    'micromark-util-(?:encode|sanitize-uri)', // of the writer of HTML
    '@puppeteer/browsers|chromium-bidi|ws', // of the installer, of Firefox and of browsers that are connected to by a port
  ].join('|')})$`,
)

/** The folder of a package, as Node finds it from another's. */
function folderOf(name: string, from: string): string | null {
  const places = createRequire(join(from, 'package.json')).resolve.paths(name) ?? []
  const found = places.map((place) => join(place, name)).find((one) => existsSync(join(one, 'package.json')))
  return found ?? null
}

test('every bundled package is listed with version, licence and text', async () => {
  const text = await readFile(join(ROOT, 'dist', 'THIRD_PARTY_LICENSES'), 'utf8')
  const entries = new Map(
    text.split(`\n${'-'.repeat(80)}\n\n`).flatMap((entry) => {
      const [heads = '', ...body] = entry.split('\n\n')
      // Whose it is stands below the name, further in.
      return heads.split('\n').map((head): [string, string] => [head, [heads, ...body].join('\n\n')])
    }),
  )
  const queue: [name: string, from: string][] = [...(await imported())].map((name) => [name, ROOT])
  assert.ok(queue.length > 10)
  const seen = new Set<string>()
  for (const [name, from] of queue) {
    const folder = folderOf(name, from)
    if (folder === null || seen.has(folder) || NO_CODE.test(folder)) continue
    seen.add(folder)
    const {
      version,
      license,
      dependencies = {},
      private: isOurs,
    } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    if (isOurs !== true) {
      const body = entries.get(`${name} ${version} (${license})`) ?? ''
      assert.match(body, /copyright|permission|licen[cs]e/i, `${name} ${version}`)
      assert.ok(body.length > 300, name)
    }
    for (const needed of Object.keys(dependencies)) queue.push([needed, dirname(join(folder, 'x'))])
  }
  assert.ok(seen.size > 20)
})
