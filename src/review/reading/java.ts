// Tests in Java: JUnit 3 to 5 and TestNG.

import {
  code,
  count,
  type Found,
  type Group,
  holders,
  isEmptyBlock,
  nesting,
  type Repeat,
  type TestCase,
  withGroups,
} from './shared.ts'
import { closing, elements, type Source, type Span } from './source.ts'

const JAVA_SKIPS =
  /@(?:[\w.]*\.)?(?:Disabled\w*|Ignore|EnabledIf\w*|EnabledOn\w*)\b|\benabled\s*=\s*false\b|\bexpected\s*=/g
const JAVA_BODY_SKIPS =
  /\b(?:assumeTrue|assumeFalse|assumeThat|assumingThat|abort)\s*\(|\b(?:Skip|TestAborted|AssumptionViolated)Exception\b/g

export function readJava(source: Source): Found {
  const tests: TestCase[] = []
  const groups: Group[] = []
  const repeats: Repeat[] = []
  const bases: { span: Span; name: string }[] = []
  for (const match of source.code.matchAll(/\b(class|interface|record)\s+(\w+)[^;{}()]{0,500}\{/g)) {
    const open = match.index + match[0].length - 1
    const from = javaMemberStart(source, match.index)
    const span = { from, to: closing(source, open) }
    const head = code(source, { from, to: open })
    groups.push({ span, skips: count(head, JAVA_SKIPS) })
    if (match[1] === 'class' && /\babstract\b/.test(head)) bases.push({ span, name: match[2] as string })
  }
  // What a set-up or a constructor assumes, each of the tests assumes.
  const setUps =
    /@(?:[\w.]*\.)?Before(?:Each|All|Class|Method)?\b|\b(?:public|protected)\s+[A-Z]\w*\s*(?=\()/g
  for (const match of source.code.matchAll(setUps)) {
    const method = javaMethod(source, match.index)
    if (method === null) continue
    const skips = count(
      code(source, { from: method.open, to: closing(source, method.open) }),
      JAVA_BODY_SKIPS,
    )
    if (skips > 0) groups.push({ span: { from: 0, to: source.code.length }, skips })
  }
  const baseAt = holders(bases)
  const seen = new Set<number>()
  const tooDeep = nesting()
  const heads =
    /@(?:[\w.]*\.)?(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b|\bpublic\s+void\s+test\w*\s*\(\s*\)/g
  for (const match of source.code.matchAll(heads)) {
    const method = javaMethod(source, match.index)
    if (method === null || seen.has(method.open)) continue
    seen.add(method.open)
    const from = javaMemberStart(source, match.index)
    const head = code(source, { from, to: method.open })
    if (/\bprivate\b/.test(head)) continue
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
      needs: baseAt(match.index).at(-1)?.name ?? null,
    })
  }
  return { tests: withGroups(tests, groups), repeats, focused: [], parts: [] }
}

/** Annotations and head of a member are not longer, comments left out; a bound, so that hostile text is read in linear time. */
const JAVA_HEAD = 1_500

/** After what stands before the member: `;`, `{` or `}` outside of an annotation's brackets. */
function javaMemberStart(source: Source, at: number): number {
  let steps = 0
  for (let back = at - 1; back >= 0 && steps < JAVA_HEAD; back -= 1) {
    const c = source.code[back] as string
    const open = source.partner[back] ?? -1
    if (c === ')' && open !== -1) back = open
    else if (c === ';' || c === '{' || c === '}') return back + 1
    if (!isBlank(c)) steps += 1
  }
  return steps < JAVA_HEAD ? 0 : at
}

/** The name of the method whose annotations or modifiers stand at `at`, and its opening brace. */
function javaMethod(source: Source, at: number): { name: string; open: number } | null {
  let name = ''
  for (let next = at, steps = 0; next < source.code.length && steps < JAVA_HEAD; next += 1) {
    const c = source.code[next] as string
    if (!isBlank(c)) steps += 1
    if (c === ';' || c === '}') return null
    if (c === '{') return name === '' ? null : { name, open: next }
    if (c !== '(') continue
    const word = /(@?[\w.]+)\s*$/.exec(source.code.slice(Math.max(0, next - 120), next))?.[1] ?? ''
    if (!word.startsWith('@')) name = word
    next = closing(source, next) - 1
  }
  return null
}

/** Of comments only blanks are left: however long they are, they are no part of a head. */
function isBlank(c: string): boolean {
  return c === ' ' || c === '\n' || c === '\r' || c === '\t'
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
