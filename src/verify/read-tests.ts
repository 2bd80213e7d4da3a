// What the tests in a program text are: their names and marks, their assertions, the tables that repeat them.

import {
  closing,
  elements,
  type Language,
  languageOf,
  nextCode,
  readSource,
  type Source,
  type Span,
  statementEnd,
} from './source.ts'

/** A test, or a group of tests. `span` holds its marks too; `body` is what runs. */
export type TestCase = {
  name: string
  span: Span
  body: Span
  /** Marks that keep it from running, or from failing: its own, those inside, those of the groups around it. */
  skips: number
  /** Nothing in it, or it returns at once. */
  empty: boolean
}

/** A function that is no test, nor in one, and may hold assertions. */
export type Helper = { name: string; span: Span }

/** Code that runs once for each row of a table. */
export type Repeat = { span: Span; rows: Span[] }

export type TestFile = {
  path: string
  source: Source
  tests: TestCase[]
  helpers: Helper[]
  repeats: Repeat[]
  /** Statements that can fail a test; those on constants alone are left out. */
  assertions: Span[]
  /** Marks that keep all other tests from running. */
  focused: { at: number; text: string }[]
}

const NO_TESTS = /(?:^|\/)(?:node_modules|vendor|fixtures?|__fixtures__|testdata|__snapshots__)\//

const TEST_PATHS: Record<Language, RegExp> = {
  javascript:
    /(?:^|\/)(?:tests?|specs?|__tests?__|__specs?__|e2e|cypress)\/|[._-](?:test|spec|cy|e2e)\.[cm]?[jt]sx?$|(?:^|\/)tests?(?:-[^/]*)?\.[cm]?[jt]sx?$/i,
  python: /(?:^|\/)tests?\/|(?:^|\/)(?:tests?(?:_[^/]*)?|[^/]*_tests?)\.py$/,
  go: /_test\.go$/,
  rust: /(?:^|\/)tests\/|(?:^|\/)(?:tests?(?:_[^/]*)?|[^/]*_tests?)\.rs$/,
  java: /(?:^|\/)src\/[^/]*[tT]est[^/]*\/|(?:^|\/)tests?\/|(?:^|\/)(?:Test[A-Z][^/]*|[^/]*(?:Tests?|TestCase|IT|Spec))\.java$/,
}

/** Whether the file holds tests, by its path: JS and TS, Python, Go, Rust, Java. */
export function isTestFile(path: string): boolean {
  const language = languageOf(path)
  return language !== null && TEST_PATHS[language].test(path) && !NO_TESTS.test(path)
}

/** Whether the file must be looked at for tests: Rust has them beside the code. */
export function mayHoldTests(path: string): boolean {
  return isTestFile(path) || (languageOf(path) === 'rust' && !NO_TESTS.test(path))
}

/** Reads the tests of a file whose language is known. Never fails. */
export function readTests(path: string, raw: string, language: Language): TestFile {
  const source = readSource(raw, language)
  const tables = tablesOf(source)
  const found = READERS[language](source, tables)
  // Beside the code, what asserts outside of the parts for tests is the program's own.
  const parts = isTestFile(path) ? [{ span: { from: 0, to: source.raw.length } }] : found.parts
  const assertions = within(assertionsIn(source), parts, (span) => span)
  const inTest = holders(found.tests)
  const helpers = within(helpersIn(source, found.tests), parts, (helper) => helper.span).filter(
    ({ span }) => inTest(span.from).length === 0,
  )
  const repeats = [...found.repeats, ...loopsIn(source, tables)]
  const { tests, focused } = found
  return { path, source, tests, focused, repeats, helpers, assertions }
}

/** `parts`: where the tests are in a file that is not theirs alone. */
type Found = { tests: TestCase[]; repeats: Repeat[]; focused: TestFile['focused']; parts: { span: Span }[] }
type Group = { span: Span; skips: number }

const READERS: Record<Language, (source: Source, tables: Tables) => Found> = {
  javascript: readJavaScript,
  python: readPython,
  go: readGo,
  rust: readRust,
  java: readJava,
}

// ---------------------------------------------------------------- shared by the readers

function count(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length
}

function code(source: Source, { from, to }: Span): string {
  return source.code.slice(from, to)
}

/** The inside of a block: nothing but blanks, or a return before anything else. */
function isEmptyBlock(text: string): boolean {
  return /^\s*;*\s*$/.test(text) || /^\s*return\b\s*(?:;|\n|$|Ok\(\(\)\)|undefined|null|None)/.test(text)
}

/** One line of at most 80 characters. */
function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 80 ? `${line.slice(0, 77)}...` : line
}

/** Nobody nests tests, loops or functions deeper; and what is read once for each level must not take forever. */
const DEEPEST = 8

/** For spans that come in ascending order: whether the span is nested too deeply to be read. */
function nesting(): (span: Span) => boolean {
  let open: number[] = []
  return (span) => {
    open = open.filter((to) => to > span.from)
    if (open.length >= DEEPEST) return true
    open.push(span.to)
    return false
  }
}

/** For offsets that never go back: the items whose span holds the offset. */
export function holders<T extends { span: Span }>(items: T[]): (at: number) => T[] {
  const sorted = items.toSorted((a, b) => a.span.from - b.span.from)
  let next = 0
  let open: T[] = []
  return (at) => {
    for (let item = sorted[next]; item !== undefined && item.span.from <= at; item = sorted[next]) {
      open.push(item)
      next += 1
    }
    open = open.filter((item) => item.span.to > at)
    return open
  }
}

/** The items, ascending, that begin in one of the parts. */
function within<T>(items: T[], parts: { span: Span }[], spanOf: (item: T) => Span): T[] {
  const around = holders(parts)
  return items.filter((item) => around(spanOf(item).from).length > 0)
}

function withGroups(tests: TestCase[], groups: Group[]): TestCase[] {
  const around = holders(groups)
  return tests
    .toSorted((a, b) => a.span.from - b.span.from)
    .map((test) => ({
      ...test,
      skips: around(test.span.from).reduce((sum, group) => sum + group.skips, test.skips),
    }))
}

/** The rows of a table: of a literal in the expression, or of the one that a name in it stands for. */
function tableRows(source: Source, expression: Span, tables: Tables): Span[] {
  const own = literalRows(source, expression)
  if (own.length > 0) return own
  const words = code(source, { from: expression.from, to: Math.min(expression.to, expression.from + 500) })
  for (const name of words.match(/(?<![\w$.])[A-Za-z_$][\w$]*/g) ?? []) {
    const rows = tables(name)
    if (rows.length > 0) return rows
  }
  return []
}

/** The rows of the table of that name in the file. */
type Tables = (name: string) => Span[]

function tablesOf(source: Source): Tables {
  const definitions =
    /(?<![\w$.])([A-Za-z_$][\w$]*)\s*(?::(?![:=])[^=\n;(){}]{0,200}|\[\])?(?::=|=(?![=>]))\s*/g
  let starts: Map<string, number[]> | null = null
  const known = new Map<string, Span[]>()
  return (name) => {
    if (starts === null) {
      starts = new Map()
      for (const match of source.code.matchAll(definitions)) {
        const at = match.index + match[0].length
        const own = starts.get(match[1] as string)
        if (own === undefined) starts.set(match[1] as string, [at])
        else if (own.length < 20) own.push(at)
      }
    }
    const done = known.get(name)
    if (done !== undefined) return done
    let rows: Span[] = []
    for (const from of starts.get(name) ?? []) {
      if (rows.length === 0) rows = literalRows(source, { from, to: statementEnd(source, from) })
    }
    known.set(name, rows)
    return rows
  }
}

/** The elements of the last bracket that opens a literal in the expression (`[]struct{...}{ ... }`, `vec![...]`). */
function literalRows(source: Source, { from, to }: Span, depth = 4): Span[] {
  let open = -1
  for (let at = from; at < to; at += 1) {
    const c = source.code[at] as string
    if (c !== '[' && c !== '{' && c !== '(') continue
    const end = closing(source, at)
    if (end - 1 > at + 1 && (c !== '(' || open === -1)) open = at
    at = end - 1
  }
  if (open === -1) return []
  const rows = elements(source, open)
  const only = rows[0]
  // `List.of([...])`, `Object.entries({ ... })`: the table is one further in.
  if (source.code[open] === '(' && rows.length === 1 && only !== undefined) {
    return depth === 0 ? [] : literalRows(source, only, depth - 1)
  }
  // A call's arguments are a table only where the call makes a list of them.
  if (
    source.code[open] === '(' &&
    !/(?:^|[\s(,=&])(?:\w*\.)?(?:of|asList|listOf|Set|Map|arrayOf)?\s*$/.test(source.code.slice(from, open))
  ) {
    return []
  }
  return rows
}

// ---------------------------------------------------------------- JavaScript and TypeScript

const JS_CALL =
  /(?<![\w$.])(?:(?:t|tt|ctx|Deno|QUnit|browser)\.(test|it|describe|module)|(x?describe|fdescribe|x?context|suite|(?:x|f)?it|x?test|x?specify|fspecify))((?:\s*\.\s*[A-Za-z]+)*)\s*(?:<[^;(){}]{0,200}>\s*)?(?=[(`])/g
const JS_GROUPS = new Set(['describe', 'xdescribe', 'fdescribe', 'context', 'xcontext', 'suite', 'module'])
/** `test.describe` is a group; `test.step`, `test.use`, `it.extend` ... are neither test nor group. */
const JS_MODIFIERS = new Set(
  'skip only todo fixme failing fails fail concurrent sequential serial parallel each for describe runIf skipIf if shuffle describe slow configure'.split(
    ' ',
  ),
)
const JS_SKIPS = /^(?:skip|todo|fixme|failing|fails|fail|skipIf|runIf)$/
/** Inside a body: mocha, node, ava, tap, Playwright. */
const JS_BODY_SKIPS =
  /(?<![\w$.])(?:this|t|ctx|context|test|it)\.(?:skip|todo|fixme|fail)\s*\(|(?<![\w$.])pending\s*\(/g

function readJavaScript(source: Source, tables: Tables): Found {
  const tests: TestCase[] = []
  const groups: Group[] = []
  const repeats: Repeat[] = []
  const focused: TestFile['focused'] = []
  const tooDeep = nesting()
  for (const match of source.code.matchAll(JS_CALL)) {
    const base = match[1] ?? match[2] ?? ''
    const modifiers = (match[3] ?? '')
      .split('.')
      .map((it) => it.trim())
      .filter((it) => it !== '')
    if (modifiers.some((it) => !JS_MODIFIERS.has(it))) continue
    const from = match.index
    let open = from + match[0].length
    const table = modifiers.some((it) => it === 'each' || it === 'for')
    const rows = table ? jsEachRows(source, open, tables) : []
    if (table || modifiers.some((it) => it === 'skipIf' || it === 'runIf' || it === 'if')) {
      open = nextCode(source, source.code[open] === '(' ? closing(source, open) : jsTemplateEnd(source, open))
    }
    if (source.code[open] !== '(') continue
    const span = { from, to: closing(source, open) }
    if (tooDeep(span)) continue
    const args = elements(source, open)
    const first = args[0]
    if (first === undefined) continue
    const inside = code(source, { from: first.from, to: span.to })
    const callback = /=>|\bfunction\b/.exec(inside)
    const named = /^\s*["'`]/.test(code(source, first))
    if (!named && callback === null) continue // `test(value)`, `test.skip(condition)`

    const options = callback === null ? inside : inside.slice(0, callback.index)
    const optionSkips = named
      ? count(options, /[{,]\s*(?:skip|todo)\s*(?::(?!\s*(?:false|undefined)\b)|[,}])/g)
      : 0
    const isGroup = JS_GROUPS.has(base) || modifiers.includes('describe')
    const ownSkips =
      modifiers.filter((it) => JS_SKIPS.test(it)).length + (base.startsWith('x') ? 1 : 0) + optionSkips
    if (
      /^f(?:it|describe|specify)$/.test(base) ||
      modifiers.includes('only') ||
      /[{,]\s*only\s*:\s*true\b/.test(options)
    ) {
      focused.push({ at: from, text: oneLine(source.raw.slice(from, first.to)) })
    }
    if (rows.length > 0) repeats.push({ span, rows })
    if (isGroup) {
      groups.push({ span, skips: ownSkips })
      continue
    }
    const body = { from: named ? (args[1]?.from ?? first.to) : first.from, to: span.to }
    const block = callback === null ? '' : jsBlock(inside.slice(callback.index))
    const pending = callback === null && args.length === 1 ? 1 : 0
    tests.push({
      name: named
        ? oneLine(source.raw.slice(first.from, first.to)).replace(/^["'`]|["'`]$/g, '')
        : '(unnamed)',
      span,
      body,
      skips: ownSkips + pending + count(code(source, body), JS_BODY_SKIPS),
      // A callback that is only named may hold anything.
      empty: callback === null ? args.length === 1 : block !== null && isEmptyBlock(block),
    })
  }
  return { tests: withGroups(tests, groups), repeats, focused, parts: [] }
}

/** What is in the callback's braces; null for one without. `text` begins at its arrow or its keyword. */
function jsBlock(text: string): string | null {
  const open = /^(?:=>\s*\{|function\b[^{]*\{)/.exec(text)
  if (open === null) return null
  let depth = 1
  let at = open[0].length
  for (; at < text.length && depth > 0; at += 1) depth += text[at] === '{' ? 1 : text[at] === '}' ? -1 : 0
  return text.slice(open[0].length, at - 1)
}

/** The rows of `each`: of the list in the call, or the lines of the template after its headings. */
function jsEachRows(source: Source, open: number, tables: Tables): Span[] {
  if (source.code[open] === '(')
    return tableRows(source, { from: open + 1, to: closing(source, open) - 1 }, tables)
  const end = jsTemplateEnd(source, open)
  const rows: Span[] = []
  let from = open + 1
  for (const line of source.raw.slice(open + 1, end - 1).split('\n')) {
    if (line.trim() !== '') rows.push({ from, to: from + line.length })
    from += line.length + 1
  }
  return rows.slice(1)
}

/** After the backtick that closes the one at `open`: its parts are blanked, its holes are bracketed code. */
function jsTemplateEnd(source: Source, open: number): number {
  for (let at = open + 1; at < source.code.length; at += 1) {
    if (source.code[at] === '`') return at + 1
    if (source.code[at] === '{') at = closing(source, at) - 1
  }
  return source.code.length
}

// ---------------------------------------------------------------- Python

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

function readPython(source: Source, tables: Tables): Found {
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
function pyStatementEnd(source: Source, from: number): number {
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

// ---------------------------------------------------------------- Go

const GO_SKIPS = /(?<![\w$])[a-z]\w*\.(?:Skip|Skipf|SkipNow)\s*\(/g

function readGo(source: Source): Found {
  const tests: TestCase[] = []
  const head = source.raw.slice(0, Math.max(0, source.code.search(/^package\s/m)))
  const build = /^\/\/(?:go:build| ?\+build)\s/m.exec(head)
  const groups = [{ span: { from: 0, to: source.code.length }, skips: build === null ? 0 : 1 }]
  const add = (tooDeep: (span: Span) => boolean, name: string, from: number, open: number): void => {
    const to = closing(source, open)
    if (tooDeep({ from, to })) return
    const body = { from: open + 1, to: closing(source, open) - 1 }
    const text = code(source, body)
    tests.push({ name, span: { from, to }, body, skips: count(text, GO_SKIPS), empty: isEmptyBlock(text) })
  }
  for (const match of source.code.matchAll(
    /^func\s+(?:\([^)\n]*\)\s*)?((?:Test|Fuzz|Example)(?:[^a-z\W]\w*)?)\s*\([^)]*\)\s*\{/gm,
  )) {
    const open = match.index + match[0].length - 1
    add(() => false, match[1] as string, match.index, open)
  }
  const tooDeep = nesting()
  for (const match of source.code.matchAll(
    /(?<![\w$])[a-z]\w{0,20}\.Run\s*\(\s*["`][^"`]{0,500}["`]\s*,\s*func\s*\([^)]{0,200}\)\s*\{/g,
  )) {
    const open = match.index + match[0].length - 1
    const name = source.raw.slice(match.index, open)
    add(tooDeep, `Run ${oneLine(/["`]([^"`]*)["`]/.exec(name)?.[1] ?? '')}`, match.index, open)
  }
  return { tests: withGroups(tests, groups), repeats: [], focused: [], parts: [] }
}

// ---------------------------------------------------------------- Rust

function readRust(source: Source): Found {
  const tests: TestCase[] = []
  const groups: Group[] = []
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

// ---------------------------------------------------------------- Java

const JAVA_SKIPS =
  /@(?:[\w.]*\.)?(?:Disabled\w*|Ignore|EnabledIf\w*|EnabledOn\w*)\b|\benabled\s*=\s*false\b|\bexpected\s*=/g
const JAVA_BODY_SKIPS = /\b(?:assumeTrue|assumeFalse|assumeThat|assumingThat|abort)\s*\(|\bSkipException\b/g

function readJava(source: Source): Found {
  const tests: TestCase[] = []
  const groups: Group[] = []
  const repeats: Repeat[] = []
  for (const match of source.code.matchAll(/\b(?:class|interface|record)\s+\w+[^;{}()]{0,500}\{/g)) {
    const open = match.index + match[0].length - 1
    const from = javaMemberStart(source, match.index)
    const span = { from, to: closing(source, open) }
    groups.push({ span, skips: count(code(source, { from, to: open }), JAVA_SKIPS) })
  }
  const seen = new Set<number>()
  const tooDeep = nesting()
  const heads =
    /@(?:[\w.]*\.)?(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b|\bpublic\s+void\s+test\w*\s*\(\s*\)/g
  for (const match of source.code.matchAll(heads)) {
    const from = javaMemberStart(source, match.index)
    const method = javaMethod(source, match.index)
    if (method === null || seen.has(method.open)) continue
    seen.add(method.open)
    const head = code(source, { from, to: method.open })
    const span = { from, to: closing(source, method.open) }
    if (tooDeep(span)) continue
    const body = { from: method.open + 1, to: span.to - 1 }
    const rows = javaRows(source, { from, to: method.open })
    if (rows.length > 0) repeats.push({ span, rows })
    const text = code(source, body)
    tests.push({
      name: method.name,
      span,
      body,
      skips: count(head, JAVA_SKIPS) + count(text, JAVA_BODY_SKIPS),
      empty: isEmptyBlock(text),
    })
  }
  return { tests: withGroups(tests, groups), repeats, focused: [], parts: [] }
}

/** Annotations and head of a member are not longer; a bound, so that hostile text is read in linear time. */
const JAVA_HEAD = 1_500

/** After what stands before the member: `;`, `{` or `}` outside of an annotation's brackets. */
function javaMemberStart(source: Source, at: number): number {
  for (let back = at - 1; back >= Math.max(0, at - JAVA_HEAD); back -= 1) {
    const c = source.code[back] as string
    const open = source.partner[back] ?? -1
    if (c === ')' && open !== -1) back = open
    else if (c === ';' || c === '{' || c === '}') return back + 1
  }
  return at
}

/** The name of the method whose annotations or modifiers stand at `at`, and its opening brace. */
function javaMethod(source: Source, at: number): { name: string; open: number } | null {
  let name = ''
  for (let next = at, steps = 0; next < source.code.length && steps < JAVA_HEAD; next += 1, steps += 1) {
    const c = source.code[next] as string
    if (c === ';' || c === '}') return null
    if (c === '{') return name === '' ? null : { name, open: next }
    if (c !== '(') continue
    const word = /(@?[\w.]+)\s*$/.exec(source.code.slice(Math.max(0, next - 120), next))?.[1] ?? ''
    if (!word.startsWith('@')) name = word
    next = closing(source, next) - 1
  }
  return null
}

function javaRows(source: Source, head: Span): Span[] {
  for (const match of code(source, head).matchAll(/@(ValueSource|CsvSource|EnumSource|MethodSource)\s*\(/g)) {
    const open = head.from + match.index + match[0].length - 1
    if (match[1] === 'MethodSource') {
      // The rows are made by a method whose name may differ: all arguments in the file.
      const rows = [...source.code.matchAll(/\b(?:Arguments\.of|arguments)\s*\(/g)].map((it) => ({
        from: it.index,
        to: closing(source, it.index + it[0].length - 1),
      }))
      if (rows.length > 0) return rows
      continue
    }
    const block = source.raw.slice(open, closing(source, open)).match(/"""([\s\S]*?)"""/)
    if (block !== null) {
      const lines = (block[1] as string).split('\n').filter((it) => it.trim() !== '')
      return lines.map(() => ({ from: open, to: closing(source, open) }))
    }
    const brace = source.code.indexOf('{', open)
    if (brace !== -1 && brace < closing(source, open)) return elements(source, brace)
    return elements(source, open)
  }
  return []
}

// ---------------------------------------------------------------- loops

const LOOPS: Record<Language, RegExp> = {
  javascript: /\bfor\s*(?:await\s*)?\(|\.(?:forEach|map|flatMap)\s*\(/g,
  python: /^[ \t]*(?:async\s+)?for\s[^\n]{1,200}?\sin\s/gm,
  go: /\bfor\s[^{;\n]{0,200}?\brange\s/g,
  rust: /\bfor\s[^\n{;]{1,200}?\sin\s|\.for_each\s*\(/g,
  java: /\bfor\s*\(|\.forEach\s*\(/g,
}

/** Loops over tables that stand in the file. */
function loopsIn(source: Source, tables: Tables): Repeat[] {
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

// ---------------------------------------------------------------- helpers and assertions

const FUNCTIONS: Record<Language, RegExp> = {
  javascript:
    /\bfunction\s*\*?\s*([A-Za-z_$][\w$]*)\s*(?:<[^(){}]*>)?\(|\b(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::[^=\n]*)?=\s*(?:async\s*)?(?:function\b|\([^()]*(?:\([^()]*\)[^()]*)*\)\s*(?::[^={}]*)?=>|[A-Za-z_$][\w$]*\s*=>)/g,
  python: /^[ \t]*(?:async\s+)?def\s+(\w+)/gm,
  go: /^func\s+(?:\([^)]*\)\s*)?(\w+)/gm,
  rust: /\bfn\s+(\w+)|\bmacro_rules!\s*(\w+)/g,
  java: /\b(?:void|[A-Z][\w<>[\], ]{0,100}|boolean|int|long)\s+([a-z]\w*)\s*\(/g,
}

/** Functions that are not tests. */
function helpersIn(source: Source, tests: TestCase[]): Helper[] {
  const ends = new Set(tests.map((test) => `${test.name} ${test.span.to}`))
  const found: Helper[] = []
  const tooDeep = nesting()
  for (const match of source.code.matchAll(FUNCTIONS[source.language])) {
    const name = match[1] ?? match[2] ?? ''
    const span = functionSpan(source, match.index, match.index + match[0].length)
    if (name.length > 2 && span !== null && !tooDeep(span) && !ends.has(`${name} ${span.to}`))
      found.push({ name, span })
  }
  return found
}

function functionSpan(source: Source, start: number, end: number): Span | null {
  if (source.language === 'python') {
    const block = pyStatementEnd(source, start)
    const indent = /^[ \t]*/.exec(source.code.slice(start))?.[0].length ?? 0
    let to = block
    while (to < source.code.length) {
      const next = pyStatementEnd(source, to)
      const line = source.code.slice(to, next)
      if (line.trim() !== '' && line.length - line.trimStart().length <= indent) break
      to = next
    }
    return { from: start, to }
  }
  let at = end
  if (source.code.slice(start, end).endsWith('=>')) {
    at = nextCode(source, end)
    if (source.code[at] !== '{') return { from: start, to: statementEnd(source, at) }
  }
  if (source.code[at - 1] === '(') at = closing(source, at - 1)
  for (; at < source.code.length; at += 1) {
    const c = source.code[at] as string
    if (c === '{') return { from: start, to: closing(source, at) }
    if (c === ';' || c === '}') return null
    if (c === '(' || c === '[') at = closing(source, at) - 1
  }
  return null
}

/** A call by one of these names can fail a test. */
const ASSERT_NAME = '(?:assert|expect|check|verify|validate|ensure|must|should)'
const ASSERTIONS: Record<Language, RegExp> = {
  javascript: new RegExp(
    String.raw`(?<![\w$.])(?:expect(?:\.soft|\.poll)?|expectTypeOf|assertType|should|assert(?:\.\w+)*|sinon\.assert\.\w+|${ASSERT_NAME}[A-Z_]\w*)\s*(?:<[^;(){}]{0,200}>\s*)?\(|\.should\b|\.expect\s*\(|(?<![\w$.])(?:t|tt|ctx|QUnit|chai)\.(?:is|not|isNot|deepEqual|notDeepEqual|like|truthy|falsy|true|false|regex|notRegex|throws|throwsAsync|notThrows|notThrowsAsync|snapshot|assert(?:\.\w+)*|ok|notOk|equal|equals|strictEqual|notEqual|same|strictSame|notSame|match|rejects|resolves|error|ifError|expect)\s*\(`,
    'g',
  ),
  python: new RegExp(
    String.raw`(?<![\w.])assert\b|\.(?:assert\w+|fail|failUnless\w*)\s*\(|\bpytest\s*\.\s*(?:raises|warns|fail|approx_raises)\s*\(|(?<![\w.])raises\s*\(|(?<![\w.])${ASSERT_NAME}_\w+\s*\(|\bself\.(?:${ASSERT_NAME})_\w+\s*\(`,
    'g',
  ),
  go: new RegExp(
    String.raw`(?<![\w.])[a-z]\w{0,2}\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(|(?<![\w.])(?:assert|require|is|qt|cmp|td|must|check)\.[A-Z]\w*\s*\(|(?<![\w.])${ASSERT_NAME}[A-Z]\w*\s*\(|(?:Expect|Ω|Eventually|Consistently)\s*\(`,
    'g',
  ),
  rust: new RegExp(
    String.raw`(?<!\w)(?:debug_)?(?:assert|prop_assert|insta::assert)\w*!\s*[({[]|(?<![\w.])${ASSERT_NAME}_\w+\s*\(|(?<!\w)panic!\s*\(`,
    'g',
  ),
  java: new RegExp(
    String.raw`(?<![\w])(?:(?:Assertions|Assert|Truth|MatcherAssert)\.)?(?:assert[A-Z]\w*|fail|verify|verifyNoMoreInteractions|verifyNoInteractions|${ASSERT_NAME}[A-Z]\w*)\s*\(|\.(?:andExpect|expectNext|expectError|expectBody|expectStatus)\s*\(`,
    'g',
  ),
}
/** Words that a constant may consist of. */
const CONSTANT =
  /^(?:true|false|True|False|None|null|nil|undefined|Some|Ok|is|in|not|and|or|assert|msg|self|t|toBe|toEqual)$/

/** Of a longer one, only the start is compared. */
const LONGEST_ASSERTION = 600

function assertionsIn(source: Source): Span[] {
  const found: Span[] = []
  for (const match of source.code.matchAll(ASSERTIONS[source.language])) {
    const from = match.index
    if (isDefinition(source, from)) continue
    const open = match[0].endsWith('(') || /[[{]$/.test(match[0]) ? from + match[0].length - 1 : -1
    const end = Math.min(statementEnd(source, from), from + LONGEST_ASSERTION)
    const to = Math.max(end, from + match[0].length)
    if (!isConstant(source, { from, to }, match[0], open)) found.push({ from, to })
  }
  return found
}

/** `function assertUser(`, `def check_x(`, `func expectOk(` define, they do not call. */
function isDefinition(source: Source, at: number): boolean {
  return /\b(?:function\s*\*?|def|func|fn|void|class|struct|boolean|static|import|from)\s+$/.test(
    source.code.slice(Math.max(0, at - 24), at),
  )
}

/** An assertion on constants alone says nothing: `expect(true).toBe(true)`, `assert 1 == 1`. */
function isConstant(source: Source, span: Span, head: string, open: number): boolean {
  if (MEANS_FAILURE.test(head)) return false
  if (open !== -1 && source.code.slice(open + 1, closing(source, open) - 1).trim() === '') return false // `checkAll()`
  const rest = source.code.slice(span.from + head.length, span.to)
  if (rest.includes('`')) return false // a template with holes
  return !(rest.match(/(?<![\w$.])[A-Za-z_$][\w$]*/g) ?? []).some((word) => !CONSTANT.test(word))
}

/** These fail whatever they are given, or check what stands before them. */
const MEANS_FAILURE =
  /(?:\bfail\w*|\bFail\w*|\bErrorf?|\bFatalf?|\bpanic!|\bshould|\bverify\w*|\braises|\bwarns|\bassert_(?:called|awaited|has|any|not)\w*)\s*\(?$|^\.(?:andExpect|expect)/
