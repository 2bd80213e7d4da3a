// Settings text (YAML or JSON) as a tree; whatever is wrong with the text becomes mistakes with line and column.
import { LineCounter, parseDocument } from 'yaml'
import { messageOf } from '../system/errors.ts'
import { parseJson } from './json-text.ts'
import { addMistake, mistakeSaid, type Place, pathOf } from './place.ts'
import { oneLine, shown } from './show.ts'
import type { Tree } from './tree.ts'

/** A settings file is a page or two; these are generous, and keep a hostile one cheap. */
const mostCharacters = 100_000
/** One slip can make every line after it wrong. */
const mostFaults = 10
const mostValues = 20_000
const mostAliases = 100
const deepest = 64

/** The tree, or undefined after mistakes that leave nothing to read. Duplicate keys are mistakes, but are read on. */
export function parseText(at: Place, language: 'yaml' | 'json', raw: string): Tree | undefined {
  const text = raw.startsWith('\uFEFF') ? raw.slice(1) : raw
  if (text.length > mostCharacters) {
    return mistakeSaid(at, `${text.length} characters`, `at most ${mostCharacters}`, 'shorten it')
  }
  if (text.trim() === '') return null
  return language === 'json' ? readJson(at, text) : readYaml(at, text)
}

function readJson(at: Place, text: string): Tree | undefined {
  const { tree, faults } = parseJson(text)
  for (const { offset, said } of faults.slice(0, mostFaults)) {
    const before = text.slice(0, offset).split('\n')
    faultAt(
      at,
      before.length,
      (before.at(-1)?.length ?? 0) + 1,
      textFrom(text, offset),
      said,
      'mend the JSON there',
    )
  }
  return tree === null && faults.length > 0 ? undefined : tree
}

function readYaml(at: Place, text: string): Tree | undefined {
  const lineCounter = new LineCounter()
  try {
    // Without known tags, `!!binary`, `!!set` and the rest of YAML 1.1 are as unknown as `!custom`: a warning each.
    const document = parseDocument(text, {
      version: '1.2',
      resolveKnownTags: false,
      prettyErrors: false,
      lineCounter,
    })
    let readable = true
    for (const { code, message, pos } of [...document.errors, ...document.warnings].slice(0, mostFaults)) {
      const { line, col } = lineCounter.linePos(pos[0])
      const twice = code === 'DUPLICATE_KEY'
      const expected = twice ? 'every key once in a map' : `valid YAML (${oneLine(message)})`
      const fix = twice
        ? 'remove one of the two'
        : 'mend the YAML there (a text with `: ` or `#` needs quotes)'
      faultAt(at, line, col, textFrom(text, pos[0]), expected, fix)
      readable &&= twice
    }
    if (!readable) return undefined
    return plain(document.toJS({ mapAsMap: true, maxAliasCount: mostAliases }), { left: mostValues }, 0)
  } catch (error) {
    // Thousands of open brackets exhaust the parser's stack; too many aliases make it throw as well.
    const found = error instanceof RangeError ? 'a text nested too deeply' : oneLine(messageOf(error))
    return mistakeSaid(
      at,
      found,
      'YAML made of texts, numbers, booleans, lists and maps',
      'write it out plainly',
    )
  }
}

/** The parser's values as a tree; throws where YAML can say what settings cannot. */
function plain(value: unknown, budget: { left: number }, depth: number): Tree {
  budget.left -= 1
  if (budget.left < 0) throw new Error(`more than ${mostValues} values`)
  if (depth > deepest) throw new Error(`more than ${deepest} levels`)
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (Array.isArray(value)) return value.map((item) => plain(item, budget, depth + 1))
  if (!(value instanceof Map)) throw new Error('a value with a tag')
  const entries = new Map<string, Tree>()
  for (const [key, item] of value) {
    const name = typeof key === 'number' || typeof key === 'boolean' ? String(key) : key
    if (typeof name !== 'string') throw new Error('a key that is no text')
    // `1: a` and `"1": b` are two keys for YAML, and one name here.
    if (entries.has(name)) throw new Error(`the key ${shown(name)} twice`)
    entries.set(name, plain(item, budget, depth + 1))
  }
  return entries
}

function faultAt(
  at: Place,
  line: number,
  column: number,
  found: string,
  expected: string,
  fix: string,
): void {
  addMistake(at.report, { path: `${pathOf(at)}: line ${line}, column ${column}`, found, expected, fix })
}

function textFrom(text: string, offset: number): string {
  const rest = text.slice(offset, offset + 40).split('\n')[0] ?? ''
  return rest.trim() === ''
    ? offset >= text.trimEnd().length
      ? 'the end'
      : 'the end of the line'
    : shown(rest.trimEnd())
}
