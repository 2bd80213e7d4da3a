// Tests in JavaScript and TypeScript: node:test, jest, vitest, mocha, ava, tap, Playwright, Cypress.

import { helpersIn } from './assertions.ts'
import {
  code,
  count,
  type Found,
  type Group,
  holders,
  isEmptyBlock,
  nesting,
  oneLine,
  type Repeat,
  type Tables,
  type TestCase,
  type TestFile,
  tableRows,
  withGroups,
  within,
} from './shared.ts'
import { closing, elements, nextCode, type Source, type Span, statementEnd } from './source.ts'

const JS_CALL =
  /(?<![\w$.])(?:(?:t|tt|ctx|Deno|QUnit|browser)\.(test|it|describe|module)|(x?describe|fdescribe|x?context|suite|(?:x|f)?it|x?test|x?specify|fspecify))((?:\s*\.\s*[A-Za-z]+)*)\s*(?:<[^;(){}]{0,200}>\s*)?(?=[(`])/g
const JS_GROUPS = new Set(['describe', 'xdescribe', 'fdescribe', 'context', 'xcontext', 'suite', 'module'])
/** `test.describe` is a group; `test.step`, `test.use`, `it.extend` ... are neither test nor group. */
const JS_MODIFIERS = new Set(
  'skip only todo fixme failing fails fail concurrent sequential serial parallel each for describe runIf skipIf if shuffle describe slow configure'.split(
    ' ',
  ),
)
const JS_SKIPS = /^(?:skip|todo|fixme|failing|fails|fail|skipIf|runIf|if)$/
/** Inside a body: mocha, node, ava, tap, Playwright. */
const JS_BODY_SKIPS =
  /(?<![\w$.])(?:this|t|ctx|context|test|it)\.(?:skip|todo|fixme|fail)\s*\(|(?<![\w$.])pending\s*\(/g

/** What is run before each test of a group, or before all of them. */
const JS_SET_UP =
  /(?<![\w$.])(?:[A-Za-z_$][\w$]{0,20}\.)?(?:before|beforeEach|beforeAll|setup|suiteSetup)\s*(?=\()/g

export function readJavaScript(source: Source, tables: Tables): Found {
  const tests: TestCase[] = []
  const groups: Group[] = []
  const repeats: Repeat[] = []
  const focused: TestFile['focused'] = []
  const conditions: { from: number }[] = []
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
    if (base === 'test' && jsIsCondition(source, modifiers, args)) {
      conditions.push({ from })
      continue
    }
    if (first === undefined) continue
    const inside = code(source, { from: first.from, to: span.to })
    const callback = /=>|\bfunction\b/.exec(inside)
    const named = /^\s*["'`]/.test(code(source, first))
    if (!named && callback === null) continue // `test(value)`

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
    const block = callback === null ? '' : jsBlock(inside.slice(callback.index))
    const body = { from: named ? (args[1]?.from ?? first.to) : first.from, to: span.to }
    if (callback !== null && block !== null) {
      const brace = inside.indexOf('{', callback.index)
      body.to = jsReturns(source, first.from + brace) ?? span.to
    }
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
  const skips = [...jsSetUpSkips(source), ...jsOutside(source, conditions)].sort((a, b) => a.from - b.from)
  const own = new Set(within(skips, tests, ({ from }) => ({ from, to: from }))) // the test has counted them
  const groupAt = holders(groups)
  const whole = { from: 0, to: source.code.length }
  const around = skips
    .filter((it) => !own.has(it))
    .map(({ from, skips }) => ({ span: groupAt(from).at(-1)?.span ?? whole, skips }))
  return { tests: withGroups(tests, [...groups, ...around]), repeats, focused, parts: [] }
}

/** Playwright: `test.skip()`, `test.skip(condition)`, `test.skip(condition, 'why')`. */
function jsIsCondition(source: Source, modifiers: string[], [first, why, ...more]: Span[]): boolean {
  const isText = (it: Span) => /^\s*["'`]/.test(code(source, it))
  if (modifiers.length !== 1 || !/^(?:skip|fixme|fail)$/.test(modifiers[0] as string)) return false
  if (first === undefined) return true
  if (isText(first) || more.length > 0) return false
  return why === undefined ? !/=>|\bfunction\b/.test(code(source, first)) : isText(why)
}

type Skips = { from: number; skips: number }

/** What a set-up skips, each of the tests around it skips. */
function jsSetUpSkips(source: Source): Skips[] {
  const found: Skips[] = []
  const tooDeep = nesting()
  for (const match of source.code.matchAll(JS_SET_UP)) {
    const from = match.index
    const span = { from, to: closing(source, from + match[0].length) }
    if (tooDeep(span)) continue
    const skips = count(code(source, span), JS_BODY_SKIPS)
    if (skips > 0) found.push({ from, skips })
  }
  return found
}

/** Of the conditions those that stand for a group or the file: in no set-up, and in no function of another use. */
function jsOutside(source: Source, conditions: { from: number }[]): Skips[] {
  if (conditions.length === 0) return []
  const setUps = [...source.code.matchAll(JS_SET_UP)].map(({ index, 0: head }) => ({
    span: { from: index, to: closing(source, index + head.length) },
  }))
  const others = [...setUps, ...helpersIn(source, [])]
  const inside = new Set(within(conditions, others, ({ from }) => ({ from, to: from })))
  return conditions.filter((it) => !inside.has(it)).map(({ from }) => ({ from, skips: 1 }))
}

/** Where the block whose brace is at `open` returns whatever happens; null where it does not. */
function jsReturns(source: Source, open: number): number | null {
  const to = source.partner[open] ?? -1
  let before = open // the last code character that is not blank
  for (let at = open + 1; at < to; at += 1) {
    const c = source.code[at] as string
    if (/\s/.test(c)) continue
    const isWord = c === 'r' && /^[^\w$.]return(?![\w$])/.test(source.code.slice(at - 1, at + 7))
    if (isWord && !jsIsGuarded(source, before)) {
      const end = Math.min(statementEnd(source, at), to)
      // A function that stands behind it is there before it.
      return /\bfunction\b/.test(source.code.slice(end, to)) ? null : end
    }
    if (c === '(' || c === '[' || c === '{') at = closing(source, at) - 1
    before = at
  }
  return null
}

/** Whether what ends there is `else` or the head of an `if` or a loop. */
function jsIsGuarded(source: Source, end: number): boolean {
  const open = source.code[end] === ')' ? (source.partner[end] ?? -1) : end + 1
  return /\b(?:if|for|while|else|await)\s*$/.test(
    source.code.slice(Math.max(0, open - 20), Math.max(0, open)),
  )
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
