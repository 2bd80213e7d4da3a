// What can fail a test: assertions, and the helper functions that hold some.

import { pyStatementEnd } from './python.ts'
import { type Helper, nesting, type TestCase } from './shared.ts'
import { closing, elements, type Language, nextCode, type Source, type Span, statementEnd } from './source.ts'

const FUNCTIONS: Record<Language, RegExp> = {
  javascript:
    /\bfunction\s*\*?\s*([A-Za-z_$][\w$]*)\s*(?:<[^(){}]*>)?\(|\b(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::[^=\n]*)?=\s*(?:async\s*)?(?:function\b|\([^()]*(?:\([^()]*\)[^()]*)*\)\s*(?::[^={}]*)?=>|[A-Za-z_$][\w$]*\s*=>)/g,
  python: /^[ \t]*(?:async\s+)?def\s+(\w+)/gm,
  go: /^func\s+(?:\([^)]*\)\s*)?(\w+)/gm,
  rust: /\bfn\s+(\w+)|\bmacro_rules!\s*(\w+)/g,
  java: /\b(?:void|[A-Z][\w<>[\], ]{0,100}|boolean|int|long)\s+([a-z]\w*)\s*\(/g,
}

/** Functions that are not tests. */
export function helpersIn(source: Source, tests: TestCase[]): Helper[] {
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
/** Of a suite or an object of testify's: `s.Require().Equal(` anywhere, `s.Equal(` where nobody takes what it says. */
const TESTIFY = String.raw`(?<![\w.])[a-z]\w{0,20}\.(?:Require|Assert)\(\)\.[A-Z]\w*\s*\(|(?<=[\n;{][ \t]{0,40}(?:if !?)?)[a-z]\w{0,20}\.(?:NoError|Error(?:Is|As|Contains)|(?:Not)?(?:Equal|Nil|True|False|Contains|Len|Empty|Zero|Same|Regexp|Panics|Greater|Less|Positive|Negative|ElementsMatch|Subset|InDelta|InEpsilon|WithinDuration|JSONEq|YAMLEq|IsType|Implements|Condition|Never|FileExists|DirExists))\w*\s*\(`
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
    String.raw`(?<![\w.])[a-z]\w{0,2}\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(|(?<![\w.])(?:assert|require|is|qt|cmp|td|must|check)\.[A-Z]\w*\s*\(|(?<![\w.])${ASSERT_NAME}[A-Z]\w*\s*\(|(?:Expect|Ω|Eventually|Consistently)\s*\(|${TESTIFY}`,
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

export function assertionsIn(source: Source): Span[] {
  const found: Span[] = []
  for (const match of source.code.matchAll(ASSERTIONS[source.language])) {
    const from = match.index
    if (isDefinition(source, from)) continue
    const open = match[0].endsWith('(') || /[[{]$/.test(match[0]) ? from + match[0].length - 1 : -1
    const end = Math.min(statementEnd(source, from), from + LONGEST_ASSERTION)
    const to = Math.max(end, from + match[0].length)
    if (isUnfinished(source, match[0], open)) continue
    if (!isConstant(source, { from, to }, match[0], open)) found.push({ from, to })
  }
  return found
}

/** `expect(value)` without a word of what is expected says nothing; with two arguments it is a function of its own. */
function isUnfinished(source: Source, head: string, open: number): boolean {
  if (source.language !== 'javascript' || open === -1 || !/^expect(?:\.soft|\.poll)?\s*[<(]/.test(head))
    return false
  return source.code[nextCode(source, closing(source, open))] !== '.' && elements(source, open).length === 1
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
