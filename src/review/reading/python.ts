// Tests in Python: pytest and unittest. Blocks by their indentation.

import {
  code,
  count,
  type Found,
  type Group,
  isEmptyBlock,
  oneLine,
  type Repeat,
  type Tables,
  type TestCase,
  type TestFile,
  tableRows,
  withGroups,
} from './shared.ts'
import { closing, elements, type Source, type Span, wordsIn } from './source.ts'

const PY_SKIP_MARKS =
  /\bmark\.(?:skip|skipif|xfail)\b|\bunittest\.(?:skip\w*|expectedFailure)\b|@\s*(?:skip\w*|xfail|expectedFailure)\b/g
const PY_OWN_MARKS = /^[ \t]*(?:pytestmark\b[^\n=]*=|__test__\s*=\s*False)/gm
const PY_BODY_SKIPS = /\bpytest\s*\.\s*(?:skip|xfail|importorskip)\s*\(|\.skipTest\s*\(|\bSkipTest\b/g

/** What is run before each test, or before all of them. */
const PY_SET_UP = /^(?:setUp\w*|asyncSetUp|setup(?:_(?:method|class|module|function))?)$/
const PY_AUTOUSE = /\bautouse\s*=\s*True\b/

type PyBlock = {
  indent: number
  kind: 'def' | 'class' | 'never' | 'other'
  name: string
  parent: PyBlock | null
  /** Whether pytest or unittest looks for tests in it. */
  collects: boolean
  /** A class whose base, which we do not see, may make it one of tests. */
  isDoubtful: boolean
  /** Another of its name stands further down, or the name is deleted. */
  isShadowed: boolean
  isShutOut: boolean
  span: Span
  body: Span
  /** What is defined in it, by name. */
  names: Map<string, PyBlock>
}

export function readPython(source: Source, tables: Tables, path: string): Found {
  const blocks = pyBlocks(source)
  const groups: Group[] = []
  const tests: TestCase[] = []
  const repeats: Repeat[] = []
  const focused = pyIgnored(source, path)
  const whole = { from: 0, to: source.code.length }
  const top: Span[] = [] // what is in no block
  let done = 0
  for (const { indent, span } of blocks) {
    if (indent > 0 || span.from < done) continue
    top.push({ from: done, to: span.from })
    done = span.to
  }
  top.push({ from: done, to: source.code.length })
  for (const span of top) {
    groups.push({ span: whole, skips: pyOwnMarks(source, span) + count(code(source, span), PY_BODY_SKIPS) })
  }
  // For what stands in a block: nothing, or the class that it needs; undefined where no tests are looked for.
  const needs = new Map<PyBlock | null, string | null>([[null, null]])
  for (const block of blocks) {
    const around = needs.get(block.parent)
    if (around !== undefined && block.collects && !block.isShadowed) {
      needs.set(block, around ?? (block.isDoubtful ? block.name : null))
    }
    const header = code(source, { from: block.span.from, to: block.body.from })
    for (const mark of header.matchAll(/\bparametrize\s*\(/g)) {
      const args = elements(source, block.span.from + mark.index + mark[0].length - 1)
      const rows = args[1] === undefined ? [] : tableRows(source, args[1], tables)
      if (rows.length > 0) repeats.push({ span: block.span, rows })
    }
    if (block.kind === 'class') {
      groups.push({
        span: block.span,
        skips: count(header, PY_SKIP_MARKS) + pyOwnMarks(source, block.body) + Number(block.isShutOut),
      })
    }
    if (block.kind !== 'def') continue
    const body = code(source, block.body)
    const isAutomatic = PY_AUTOUSE.test(header)
    if (isAutomatic || PY_SET_UP.test(block.name)) {
      // What a set-up skips, each of the tests around it skips.
      const skips = count(body, PY_BODY_SKIPS)
      groups.push({ span: pyClassOf(block)?.span ?? whole, skips })
      if (skips > 0 && isAutomatic && isConftest(path)) {
        focused.push({ at: block.span.from, text: oneLine(header.slice(0, 200)) })
      }
    }
    if (!/^test/.test(block.name) || around === undefined || block.isShadowed) continue
    const statements = body.replace(/^\s*(?:[rRbBuUfF]{0,2}("""|''')\s*\1|"\s*"|'\s*')/, '') // the docstring
    tests.push({
      name: block.name,
      span: block.span,
      body: block.body,
      needs: around,
      skips: count(header, PY_SKIP_MARKS) + count(body, PY_BODY_SKIPS) + Number(block.isShutOut),
      empty: /^\s*(?:(?:pass|\.\.\.)\s*)*$/.test(statements) || isEmptyBlock(statements),
    })
  }
  return { tests: withGroups(tests, groups), repeats, focused, parts: [] }
}

/** The marks that a module or a class gives all of its tests. */
function pyOwnMarks(source: Source, span: Span): number {
  let skips = 0
  let done = 0
  for (const match of code(source, span).matchAll(PY_OWN_MARKS)) {
    const from = span.from + match.index + match[0].length
    if (match[0].endsWith('False')) skips += 1
    else if (from > done) {
      done = pyStatementEnd(source, from)
      skips += count(code(source, { from, to: done }), PY_SKIP_MARKS)
    }
  }
  return skips
}

function pyClassOf(block: PyBlock): PyBlock | null {
  let around = block.parent
  while (around !== null && around.kind !== 'class') around = around.parent
  return around
}

function isConftest(path: string): boolean {
  return /(?:^|\/)conftest\.py$/.test(path)
}

/** The statements of a conftest.py that keep files with tests from being collected. */
function pyIgnored(source: Source, path: string): TestFile['focused'] {
  const found: TestFile['focused'] = []
  if (!isConftest(path)) return found
  let done = 0
  for (const match of source.code.matchAll(/^[ \t]*collect_ignore(?:_glob)?\b[^\n=(]*[=(]/gm)) {
    if (match.index < done) continue
    const value = match.index + match[0].length
    done = pyStatementEnd(source, match.index)
    const { literals, identifiers } = wordsIn(source, { from: value, to: done })
    // `setup.py` and the like hold no tests; a folder, a pattern and what is computed may.
    const ignored = literals.filter((it) => !/^[^*]*\.py$/.test(it) || /test/i.test(it))
    const texts = ignored.map((it) => `collect_ignore: ${it}`)
    if (literals.length === 0 && identifiers.length > 0) texts.push(source.raw.slice(match.index, done))
    found.push(...texts.map((text) => ({ at: match.index, text: oneLine(text) })))
  }
  return found
}

/** Functions, classes and other indented blocks, each with its decorators. */
function pyBlocks(source: Source): PyBlock[] {
  const blocks: PyBlock[] = []
  const open: PyBlock[] = []
  const names = new Map<string, PyBlock>()
  const cases = new Set<string>() // classes that are of tests by their base
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
    const parent = open.at(-1) ?? null
    const siblings = parent?.names ?? names
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
      const bases =
        kind === 'class' ? (text.slice(head?.[0].length, inline - from - indent).match(/\w+/g) ?? []) : []
      const isCase = bases.some((it) => /Test|Case/.test(it) || cases.has(it))
      if (isCase) cases.add(name)
      const isDoubtful = !isCase && !name.startsWith('Test') && bases.some((it) => !PY_NO_BASES.test(it))
      const collects =
        kind === 'other' || (kind === 'class' && (name.startsWith('Test') || isCase || isDoubtful))
      const end = source.code.length
      const block: PyBlock = {
        indent,
        kind,
        name,
        parent,
        collects,
        isDoubtful,
        isShadowed: false,
        isShutOut: false,
        span: { from: start, to: end },
        body: { from: inline, to: end },
        names: new Map(),
      }
      blocks.push(block)
      open.push(block)
      if (head !== null) {
        shadow(siblings, name)
        siblings.set(name, block)
      }
    } else rebind(text, siblings)
    decorators = -1
  }
  return blocks
}

const PY_NO_BASES = /^(?:object|ABC|abc|metaclass|Enum|Exception|dict|list|str|int)$/

/** What a statement does to the tests that stand before it: the last that a name is given counts. */
function rebind(text: string, names: Map<string, PyBlock>): void {
  const [, deleted, shutOut, assigned, value = ''] =
    /^(?:del\s+([\w\s,()]+)|(\w+)\.__test__\s*=\s*False\b|(\w+)\s*=(?!=)(.*))/s.exec(text) ?? []
  for (const name of deleted?.match(/\w+/g) ?? []) shadow(names, name)
  if (assigned !== undefined && names.has(assigned) && !value.match(/\w+/g)?.includes(assigned)) {
    shadow(names, assigned)
  }
  const block = shutOut === undefined ? undefined : names.get(shutOut)
  if (block !== undefined) block.isShutOut = true
}

function shadow(names: Map<string, PyBlock>, name: string): void {
  const block = names.get(name)
  if (block !== undefined) block.isShadowed = true
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
