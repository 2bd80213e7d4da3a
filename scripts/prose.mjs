// The prose linter: textlint with a list of words to avoid (prose/rules.yml), a limit for sentences and one for table cells, over the
// documentation, the comments and the messages of src/. Run: node scripts/prose.mjs [--all] [part of a room's name ...]
// Each room may have as many findings as prose/limits.json says, where a missing room means none; `--lower` writes lower limits.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { TextlintKernel } from '@textlint/kernel'
import markdown from '@textlint/textlint-plugin-markdown'
import plainText from '@textlint/textlint-plugin-text'
import prh from 'textlint-rule-prh'
import { extract } from './prose/extract.mjs'
import longSentence from './prose/long-sentence.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const LIMITS = join(root, 'scripts/prose/limits.json')
const ruleContents = [readFileSync(join(root, 'scripts/prose/rules.yml'), 'utf8')]
const kernel = new TextlintKernel()

/** @returns {{ line: number, rule: string, text: string }[]} what is wrong with a text; `measure` is given each sentence and its words */
export async function lint(text, ext = '.md', measure = () => {}) {
  const { messages } = await kernel.lintText(text, {
    ext,
    plugins: [
      { pluginId: 'markdown', plugin: markdown.default ?? markdown },
      { pluginId: 'text', plugin: plainText.default ?? plainText },
    ],
    rules: [
      {
        ruleId: 'words',
        rule: prh.default ?? prh,
        options: { ruleContents, checkLink: true, checkBlockQuote: true, checkEmphasis: true },
      },
      { ruleId: 'sentence', rule: longSentence, options: { max: 25, maxCell: 30, measure } },
    ],
  })
  return messages.map(({ line, ruleId, message }) => ({
    line,
    rule:
      ruleId === 'words'
        ? message.replace(/^.* => /s, '')
        : message.replace(/ of .*$/s, '').replace(/^a /, 'long '),
    text: message,
  }))
}

/** The same for the comments or the messages of a TypeScript file. */
export async function lintSource(source, kind, measure) {
  const parts = extract(source).filter((part) => part.kind === kind)
  const found = await lint(parts.map(({ text }) => text.replace(/\s+/g, ' ')).join('\n\n'), '.txt', measure)
  return found.map((one) => ({ ...one, line: parts[Math.floor((one.line - 1) / 2)]?.line ?? 1 }))
}

const DOCS = ['*.md', 'docs/**/*.md', 'examples/**/*.md']
const DECISIONS = /^(?:docs\/adr\/|CHANGELOG)/

/** Findings of every room; `docs`, `docs/adr`, `src/gates messages`, `src/gates comments` ... */
async function lintAll(words) {
  const rooms = new Map()
  const wanted = (room) => words.length === 0 || words.some((word) => room.includes(word))
  const add = async (room, path, linted) => {
    if (!wanted(`${room} ${path}`)) return
    const known = rooms.get(room) ?? rooms.set(room, { findings: [], lengths: [] }).get(room)
    const measure = (count, text) => known.lengths.push({ count, text, path })
    for (const one of await linted(measure)) known.findings.push({ ...one, path })
  }
  for (const path of DOCS.flatMap((pattern) => globSync(pattern, { cwd: root })).sort()) {
    const text = readFileSync(join(root, path), 'utf8')
    await add(DECISIONS.test(path) ? 'docs/adr' : 'docs', path, (measure) => lint(text, '.md', measure))
  }
  for (const path of globSync('src/**/*.ts', { cwd: root }).sort()) {
    const room = path.split('/').slice(0, 2).join('/').replace(/\.ts$/, '')
    const source = readFileSync(join(root, path), 'utf8')
    for (const kind of ['messages', 'comments'])
      await add(`${room} ${kind}`, path, (measure) => lintSource(source, kind, measure))
  }
  return rooms
}

const counted = (names) => {
  const counts = new Map()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])
}

/** Median, 90th percentile and maximum of the words in a sentence. */
function lengthsOf(lengths) {
  const sorted = lengths
    .map(({ count }) => count)
    .filter((count) => count > 2)
    .sort((a, b) => a - b)
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return `${at(0.5)}, ${at(0.9)}, ${at(1)}`
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { all: { type: 'boolean', default: false }, lower: { type: 'boolean', default: false } },
  })
  const rooms = await lintAll(positionals)
  const limits = JSON.parse(readFileSync(LIMITS, 'utf8'))
  const out = (line) => process.stdout.write(`${line}\n`)
  let isOver = false
  for (const [room, { findings, lengths }] of rooms) {
    const limit = limits[room] ?? 0
    if (positionals.length === 0 && findings.length > limit) isOver = true
    if (values.all || positionals.length > 0 || findings.length > limit)
      for (const { path, line, text } of findings) out(`${path}:${line}: ${text.replace(/\s+/g, ' ')}`)
    out(
      `${String(findings.length).padStart(5)} of ${limit} allowed: ${room} (words in a sentence: ${lengthsOf(lengths)})`,
    )
  }
  out('\nBy rule:')
  for (const [rule, count] of counted(
    [...rooms.values()].flatMap(({ findings }) => findings.map(({ rule }) => rule)),
  ))
    out(`${String(count).padStart(5)} ${rule}`)
  if (values.lower) {
    const lower = [...rooms].flatMap(([room, { findings }]) => {
      const count = Math.min(limits[room] ?? 0, findings.length)
      return count === 0 ? [] : [[room, count]]
    })
    writeFileSync(LIMITS, `${JSON.stringify(Object.fromEntries(lower), null, 2)}\n`)
  }
  if (isOver) {
    out('\nSome rooms have more findings than they may. Rewrite the sentences listed above.')
    process.exitCode = 1
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
