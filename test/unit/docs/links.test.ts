// Every link of the documentation leads somewhere, and every page is reached from the index.
import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import test from 'node:test'
import { ROOT } from '../../e2e/site.ts'
import { readPages } from './pages.ts'

const pages = await readPages()
const byPath = new Map(pages.map((page) => [page.path, page]))

/** Where a relative link of a page leads, from the root; null: to another site. */
function target(from: string, link: string): { path: string; anchor: string | null } | null {
  if (/^[a-z]+:/i.test(link)) return null
  const [to = '', anchor = null] = link.split('#')
  return { path: to === '' ? from : posix.join(posix.dirname(from), decodeURI(to)), anchor }
}

test('every relative link in the documentation leads to a file, and every anchor to a heading', () => {
  const broken = pages.flatMap(({ path, links }) =>
    links.flatMap((link) => {
      const to = target(path, link)
      if (to === null) return []
      if (to.path.startsWith('..') || !existsSync(join(ROOT, to.path)))
        return [`${path}: ${link}: no such file`]
      const anchors = byPath.get(to.path)?.anchors
      const isThere = to.anchor === null || anchors === undefined || anchors.has(to.anchor)
      return isThere ? [] : [`${path}: ${link}: no such heading`]
    }),
  )
  assert.deepEqual(broken, [])
})

test('links to other sites use https, and none goes to our own files on GitHub', () => {
  for (const { path, links } of pages) {
    for (const link of links.filter((one) => target(path, one) === null)) {
      assert.match(link, /^https:\/\/[\w.-]+(?:[/?#].*)?$/, path)
      assert.doesNotMatch(link, /github\.com\/ralph\/action\/(?:blob|tree)\//, path)
    }
  }
})

test('every page of docs/ is reachable from the index through links of pages', () => {
  const seen = new Set(['docs/README.md'])
  for (const path of seen) {
    for (const link of byPath.get(path)?.links ?? []) {
      const to = target(path, link)?.path
      if (to === undefined || !existsSync(join(ROOT, to))) continue
      if (byPath.has(to)) seen.add(to)
      // Of a folder every page is reached: decisions are listed nowhere else.
      else if (statSync(join(ROOT, to)).isDirectory())
        for (const page of byPath.keys()) if (page.startsWith(`${to.replace(/\/$/, '')}/`)) seen.add(page)
    }
  }
  const lost = [...byPath.keys()].filter((path) => path.startsWith('docs/') && !seen.has(path))
  assert.deepEqual(lost, [])
})

test('documentation pages that messages, workflows and settings name exist', async () => {
  let named = 0
  for await (const path of glob(['src/**/*.ts', 'examples/**/*.y{a,}ml', 'action.yml'], { cwd: ROOT })) {
    const text = await readFile(join(ROOT, path), 'utf8')
    for (const [, page = ''] of text.matchAll(/(?:\(|see |\bof )(docs\/[\w/-]+\.md)\b/g)) {
      named += 1
      assert.ok(byPath.has(page), `${path} names ${page}`)
    }
  }
  assert.ok(named >= 8, String(named))
})

test('each page has one title, followed by one paragraph', () => {
  for (const { path, text } of pages.filter((page) => page.path.startsWith('docs/'))) {
    assert.match(text, /^# \S[^\n]*\n\n(?:[^\n#|>`!-]|`[^`])/, path)
    assert.equal(text.replaceAll(/^```[\s\S]*?^```/gm, '').match(/^# /gm)?.length, 1, path)
  }
})
