// Tests in Rust: functions with a test attribute, in files of their own and beside the code.

import {
  code,
  count,
  type Found,
  type Group,
  isEmptyBlock,
  nesting,
  type Repeat,
  type TestCase,
  withGroups,
} from './shared.ts'
import { closing, type Source, type Span } from './source.ts'

export function readRust(source: Source): Found {
  const tests: TestCase[] = []
  // `#![cfg(...)]` at the top shuts the whole file out.
  const inner = count(source.code, /#!\[\s*cfg\s*\((?!\s*test\s*\))/g)
  const groups: Group[] = [{ span: { from: 0, to: source.code.length }, skips: inner }]
  const repeats: Repeat[] = []
  const parts: { span: Span }[] = []
  const tooDeep = nesting()
  for (const match of source.code.matchAll(
    /\b(?:pub(?:\s*\([^)\n]*\))?\s+)?(?:(?:async|const|unsafe)\s+)*(fn|mod)\s+(\w+)/g,
  )) {
    const open = rustBody(source, match.index + match[0].length)
    if (open === -1) continue
    const from = rustAttributes(source, match.index)
    const attributes = source.code.slice(from, match.index)
    const span = { from, to: closing(source, open) }
    if (tooDeep(span)) continue
    const skips =
      count(attributes, /\bignore\b|\bshould_panic\b/g) + count(attributes, /\bcfg\s*\((?!\s*test\s*\))/g)
    if (match[1] === 'mod') {
      groups.push({ span, skips })
      if (/\bcfg\s*\([^)]*\btest\b/.test(attributes)) parts.push({ span })
      continue
    }
    const cases = [...attributes.matchAll(/#\[\s*(?:case|test_case|case::\w+)\b/g)]
    if (!/#\[\s*(?:\w+::)*(?:test|rstest|test_case|wasm_bindgen_test|quickcheck)\b/.test(attributes)) continue
    if (cases.length > 0) {
      const rows = cases.map((it) => ({ from: from + it.index, to: closing(source, from + it.index + 1) }))
      repeats.push({ span, rows })
    }
    const body = { from: open + 1, to: span.to - 1 }
    tests.push({ name: match[2] as string, span, body, skips, empty: isEmptyBlock(code(source, body)) })
  }
  return { tests: withGroups(tests, groups), repeats, focused: [], parts: [...parts, ...tests] }
}

/** The brace that opens the body; -1 for a declaration without one. */
function rustBody(source: Source, at: number): number {
  for (let next = at; next < source.code.length; next += 1) {
    const c = source.code[next] as string
    if (c === '{') return next
    if (c === ';' || c === '}') return -1
    if (c === '(' || c === '[') next = closing(source, next) - 1
  }
  return -1
}

/** Where the attributes before `at` begin. */
function rustAttributes(source: Source, at: number): number {
  let from = at
  for (;;) {
    let back = from - 1
    while (back >= 0 && /\s/.test(source.code[back] as string)) back -= 1
    const open = source.code[back] === ']' ? (source.partner[back] ?? -1) : -1
    if (open < 1 || source.code[open - 1] !== '#') return from
    from = open - 1
  }
}
