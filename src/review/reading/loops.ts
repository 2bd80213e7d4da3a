// Loops over tables: what is in them runs once for each row.

import { pyStatementEnd } from './python.ts'
import { nesting, type Repeat, type Tables, tableRows } from './shared.ts'
import { closing, type Language, nextCode, type Source, type Span, statementEnd } from './source.ts'

const LOOPS: Record<Language, RegExp> = {
  javascript: /\bfor\s*(?:await\s*)?\(|\.(?:forEach|map|flatMap)\s*\(/g,
  python: /^[ \t]*(?:async\s+)?for\s[^\n]{1,200}?\sin\s/gm,
  go: /\bfor\s[^{;\n]{0,200}?\brange\s/g,
  rust: /\bfor\s[^\n{;]{1,200}?\sin\s|\.for_each\s*\(/g,
  java: /\bfor\s*\(|\.forEach\s*\(/g,
}

/** Loops over tables that stand in the file. */
export function loopsIn(source: Source, tables: Tables): Repeat[] {
  const found: Repeat[] = []
  const tooDeep = nesting()
  for (const match of source.code.matchAll(LOOPS[source.language])) {
    const end = match.index + match[0].length
    const loop = match[0].startsWith('.')
      ? callLoop(source, match.index, end - 1)
      : forLoop(source, match.index, end)
    if (loop === null || tooDeep(loop.span)) continue
    const rows = tableRows(source, loop.over, tables)
    if (rows.length > 0) found.push({ span: loop.span, rows })
  }
  return found
}

function callLoop(source: Source, dot: number, open: number): { span: Span; over: Span } | null {
  let from = dot
  const last = source.partner[dot - 1] ?? -1
  if (last !== -1) from = last
  const word = /[\w$.!]+$/.exec(source.code.slice(Math.max(0, from - 120), from))?.[0] ?? ''
  return { span: { from: open, to: closing(source, open) }, over: { from: from - word.length, to: dot } }
}

function forLoop(source: Source, start: number, end: number): { span: Span; over: Span } | null {
  if (source.language === 'javascript' || source.language === 'java') {
    const close = closing(source, end - 1)
    const head = source.code.slice(end, close - 1)
    const split = source.language === 'java' ? /:(?!:)/.exec(head) : /\s(?:of|in)\s/.exec(head)
    if (split === null) return null
    const body = nextCode(source, close)
    const to = source.code[body] === '{' ? closing(source, body) : statementEnd(source, body)
    return { span: { from: body, to }, over: { from: end + split.index + split[0].length, to: close - 1 } }
  }
  if (source.language === 'python') {
    const to = pyStatementEnd(source, start)
    const indent = /^[ \t]*/.exec(source.code.slice(start))?.[0].length ?? 0
    let last = to
    while (last < source.code.length) {
      const next = pyStatementEnd(source, last)
      const line = source.code.slice(last, next)
      if (line.trim() !== '' && line.length - line.trimStart().length <= indent) break
      last = next
    }
    const colon = source.code.lastIndexOf(':', to)
    return { span: { from: to, to: last }, over: { from: end, to: colon > end ? colon : to } }
  }
  // Go and Rust: the body is the last brace of the statement; one before it belongs to a literal.
  let open = end
  for (let steps = 0; steps < LONGEST_LOOP_HEAD && open < source.code.length; steps += 1) {
    const c = source.code[open] as string
    if (c === '(' || c === '[') open = closing(source, open)
    else if (c !== '{') open += 1
    else {
      const close = closing(source, open)
      if (!/^[ \t]*\{/.test(source.code.slice(close, close + 8))) {
        return { span: { from: open, to: close }, over: { from: end, to: open } }
      }
      open = nextCode(source, close)
    }
  }
  return null
}

/** In steps: a bracket with all in it is one. */
const LONGEST_LOOP_HEAD = 500
