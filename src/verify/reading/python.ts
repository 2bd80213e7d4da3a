// Tests in Python: pytest and unittest. Blocks by their indentation.

import {
  code,
  count,
  type Found,
  type Group,
  isEmptyBlock,
  type Repeat,
  type Tables,
  type TestCase,
  tableRows,
  withGroups,
} from './shared.ts'
import { closing, elements, type Source, type Span } from './source.ts'

const PY_SKIP_MARKS =
  /\bmark\.(?:skip|skipif|xfail)\b|\bunittest\.(?:skip\w*|expectedFailure)\b|@\s*(?:skip\w*|xfail|expectedFailure)\b/g
const PY_OWN_MARKS =
  /^[ \t]*(?:pytestmark\b[^\n=]*=[^\n]*\bmark\.(?:skip|skipif|xfail)\b|__test__\s*=\s*False)/gm
const PY_BODY_SKIPS = /\bpytest\s*\.\s*(?:skip|xfail|importorskip)\s*\(|\.skipTest\s*\(|\bSkipTest\b/g

/** `collected`: whether pytest or unittest looks for tests in what stands around it. */
type PyBlock = {
  indent: number
  kind: 'def' | 'class' | 'never' | 'other'
  name: string
  collects: boolean
  collected: boolean
  span: Span
  body: Span
}

export function readPython(source: Source, tables: Tables): Found {
  const blocks = pyBlocks(source)
  const groups: Group[] = []
  const tests: TestCase[] = []
  const repeats: Repeat[] = []
  let top = '' // what is in no block
  let done = 0
  for (const { indent, span } of blocks) {
    if (indent > 0 || span.from < done) continue
    top += source.code.slice(done, span.from)
    done = span.to
  }
  top += source.code.slice(done)
  const moduleSkips = count(top, PY_OWN_MARKS) + count(top, PY_BODY_SKIPS)
  groups.push({ span: { from: 0, to: source.code.length }, skips: moduleSkips })
  for (const block of blocks) {
    const header = code(source, { from: block.span.from, to: block.body.from })
    for (const mark of header.matchAll(/\bparametrize\s*\(/g)) {
      const args = elements(source, block.span.from + mark.index + mark[0].length - 1)
      const rows = args[1] === undefined ? [] : tableRows(source, args[1], tables)
      if (rows.length > 0) repeats.push({ span: block.span, rows })
    }
    if (block.kind === 'class') {
      groups.push({
        span: block.span,
        skips: count(header, PY_SKIP_MARKS) + count(code(source, block.body), PY_OWN_MARKS),
      })
    }
    if (block.kind !== 'def' || !/^test/.test(block.name) || !block.collected) continue
    const body = code(source, block.body)
    const statements = body.replace(/^\s*(?:[rRbBuUfF]{0,2}("""|''')\s*\1|"\s*"|'\s*')/, '') // the docstring
    tests.push({
      name: block.name,
      span: block.span,
      body: block.body,
      skips: count(header, PY_SKIP_MARKS) + count(body, PY_BODY_SKIPS),
      empty: /^\s*(?:(?:pass|\.\.\.)\s*)*$/.test(statements) || isEmptyBlock(statements),
    })
  }
  return { tests: withGroups(tests, groups), repeats, focused: [], parts: [] }
}

/** Functions, classes and other indented blocks, each with its decorators. */
function pyBlocks(source: Source): PyBlock[] {
  const blocks: PyBlock[] = []
  const open: PyBlock[] = []
  let decorators = -1
  let at = 0
  while (at < source.code.length) {
    const from = at
    at = pyStatementEnd(source, from)
    const line = source.code.slice(from, at)
    const text = line.trimStart()
    if (text.trim() === '') continue
    const indent = line.length - text.length
    for (let last = open.at(-1); last !== undefined && last.indent >= indent; last = open.at(-1)) {
      const end = decorators === -1 ? from : decorators
      last.span.to = end
      last.body.to = end
      open.pop()
    }
    if (text.startsWith('@')) {
      if (decorators === -1) decorators = from
      continue
    }
    const head = /^(?:async\s+)?(def|class)\s+(\w+)/.exec(text)
    const colon = /:\s*$/.test(text)
    if (head !== null || colon || /^(?:if|while)\s/.test(text)) {
      const start = head !== null && decorators !== -1 ? decorators : from
      const inline = head !== null && !colon ? pyInlineBody(source, from, at) : at
      const kind =
        head?.[1] === 'def' || head?.[1] === 'class'
          ? head[1]
          : /^(?:if|while)\s*\(?\s*(?:False|0|None)\b/.test(text)
            ? 'never'
            : 'other'
      const name = head?.[2] ?? ''
      const collects =
        kind === 'other' ||
        (kind === 'class' && (name.startsWith('Test') || text.slice(head?.[0].length).includes('Test')))
      const collected = open.every((it) => it.collects)
      const end = source.code.length
      const block: PyBlock = {
        indent,
        kind,
        name,
        collects,
        collected,
        span: { from: start, to: end },
        body: { from: inline, to: end },
      }
      blocks.push(block)
      open.push(block)
    }
    decorators = -1
  }
  return blocks
}

/** Where a logical line ends: at a line break outside brackets and strings. */
export function pyStatementEnd(source: Source, from: number): number {
  for (let at = from; at < source.code.length; at += 1) {
    const c = source.code[at] as string
    if (c === '(' || c === '[' || c === '{') at = closing(source, at) - 1
    else if (c === '\n' && source.code[at - 1] !== '\\' && !isInString(source, at)) return at + 1
  }
  return source.code.length
}

function isInString(source: Source, at: number): boolean {
  const { strings } = source
  let low = 0
  let high = strings.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((strings[middle] as Span).to <= at) low = middle + 1
    else high = middle
  }
  const span = strings[low]
  return span !== undefined && span.from <= at
}

/** `def test(): pass`: after the colon. */
function pyInlineBody(source: Source, from: number, to: number): number {
  for (let at = from; at < to; at += 1) {
    const c = source.code[at] as string
    if (c === '(' || c === '[' || c === '{') at = closing(source, at) - 1
    else if (c === ':') return at + 1
  }
  return to
}
