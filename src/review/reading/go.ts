// Tests in Go: functions of the testing package, and subtests with a name.

import {
  code,
  count,
  type Found,
  type Group,
  isEmptyBlock,
  nesting,
  oneLine,
  type Tables,
  type TestCase,
  type TestFile,
  withGroups,
} from './shared.ts'
import { closing, type Source } from './source.ts'

/** Of the testing package, of testify's suites, of Ginkgo. */
const GO_SKIPS =
  /(?<![\w$])[a-z]\w*\.(?:T\(\)\.)?(?:Skip|Skipf|SkipNow)\s*\(|(?<![\w$.])(?:ginkgo\.)?Skip\s*\(/g
const GO_SET_UP = /^func\s+\([^)\n]*\)\s*(?:SetupTest|SetupSuite|BeforeTest)\s*\([^)]*\)\s*\{/gm

export function readGo(source: Source, _tables: Tables, path: string): Found {
  const tests: TestCase[] = []
  const focused: TestFile['focused'] = []
  const head = source.raw.slice(0, Math.max(0, source.code.search(/^package\s/m)))
  const own = constraintOf(head)
  const system = SYSTEM.exec(path)?.[0].slice(1, -'_test.go'.length).replace('_', '&&') ?? ''
  const condition = [own, system].filter((it) => it !== '').join('&&')
  const span = { from: 0, to: source.code.length }
  const groups: Group[] = [{ span, skips: own === '' ? 0 : 1 }]
  for (const match of source.code.matchAll(GO_SET_UP)) {
    const open = match.index + match[0].length - 1
    groups.push({ span, skips: count(code(source, { from: open, to: closing(source, open) }), GO_SKIPS) })
  }
  const add = (name: string, from: number, open: number, marks = 0): void => {
    const to = closing(source, open)
    const body = { from: open + 1, to: closing(source, open) - 1 }
    const text = code(source, body)
    const skips = marks + count(text, GO_SKIPS)
    tests.push({ name, span: { from, to }, body, skips, empty: isEmptyBlock(text), condition })
  }
  for (const match of source.code.matchAll(
    /^func\s+(?:\([^)\n]*\)\s*)?((?:Test|Fuzz|Example)(?:[^a-z\W]\w*)?)\s*\([^)]*\)\s*\{/gm,
  )) {
    if (match[1] === 'TestMain' && /\.M\s*\)/.test(match[0])) continue
    const open = match.index + match[0].length - 1
    add(match[1] as string, match.index, open)
  }
  const tooDeep = nesting()
  for (const match of source.code.matchAll(
    /(?<![\w$])[a-z]\w{0,20}\.Run\s*\(\s*["`][^"`]{0,500}["`]\s*,\s*func\s*\([^)]{0,200}\)\s*\{/g,
  )) {
    const open = match.index + match[0].length - 1
    const name = source.raw.slice(match.index, open)
    if (tooDeep({ from: match.index, to: closing(source, open) })) continue
    add(`Run ${oneLine(/["`]([^"`]*)["`]/.exec(name)?.[1] ?? '')}`, match.index, open)
  }
  const tooDeepForGinkgo = nesting()
  for (const match of source.code.matchAll(GINKGO)) {
    const from = match.index
    const open = from + match[0].length - 1
    const to = closing(source, open)
    const inside = code(source, { from: open, to })
    const callback = /\bfunc\s*\([^)]*\)\s*\{/.exec(inside)
    if (callback === null || tooDeepForGinkgo({ from, to })) continue
    const [, mark = '', kind = ''] = match
    const decorators = inside.slice(0, callback.index)
    const skips = Number(/[PX]/.test(mark)) + count(decorators, /\bPending\b/g)
    const text = oneLine(source.raw.slice(from, open + 80).split('\n', 1)[0] ?? '')
    if (mark === 'F' || /\bFocus\b/.test(decorators)) focused.push({ at: from, text })
    if (/^(?:It|Specify)$/.test(kind)) {
      const name = `${kind} ${oneLine(/["`]([^"`]*)["`]/.exec(source.raw.slice(open, open + 500))?.[1] ?? '')}`
      add(name, from, open + callback.index + callback[0].length - 1, skips)
    } else groups.push({ span: { from, to }, skips })
  }
  const main = /^func\s+TestMain\s*\([^)]*\)\s*\{/m.exec(source.code)
  if (main !== null && provesNothing(source, main.index + main[0].length - 1)) {
    // In a file of its own it is the tests of others that do not run.
    if (tests.length === 0) focused.push({ at: main.index, text: oneLine(main[0]) })
    groups.push({ span, skips: 1 })
  }
  return { tests: withGroups(tests, groups), repeats: [], focused, parts: [] }
}

const GINKGO =
  /(?<![\w$.])(?:ginkgo\.)?([FPX]?)(It|Specify|Describe|Context|When|DescribeTable)\s*\((?=\s*["`])/g

/** A `TestMain` that never says `m.Run()`, or leaves with success whatever that said. */
function provesNothing(source: Source, open: number): boolean {
  const body = source.code.slice(open, closing(source, open))
  if (!/\bm\b/.test(body)) return true
  const exits = body.slice(body.lastIndexOf('m.Run')).match(/\bos\.Exit\s*\([^)]*\)/g) ?? []
  return exits.length > 0 && exits.every((it) => /\(\s*0\s*\)$/.test(it))
}

// ---------------------------------------------------------------- where a file is built

/** In a file's name: other systems and processors than Linux and amd64. */
const SYSTEM =
  /(?:_(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|netbsd|openbsd|plan9|solaris|wasip1|windows))?(?:_(?:386|arm|arm64|loong64|mips\w*|ppc64\w*|riscv64|s390x|wasm))?_test\.go$/

/** What must hold for the file to be built, without blanks; in the form of `//go:build`. */
function constraintOf(head: string): string {
  const build = /^\/\/go:build\s+([^\n]{1,500})/m.exec(head)?.[1]
  const lines = [...head.matchAll(/^\/\/ ?\+build\s+([^\n]{1,500})/gm)].map((it) => {
    const ways = (it[1] as string).trim().split(/\s+/)
    return ways.join('||').replaceAll(',', '&&')
  })
  const old = lines.map((it) => (lines.length > 1 && it.includes('||') ? `(${it})` : it)).join('&&')
  return (build ?? old).replace(/\s/g, '')
}

/** Whether something met the old constraint that does not meet the new one. */
export function isNarrower(old: string, now: string): boolean {
  const [before, after] = [waysOf(old), waysOf(now)]
  return before.some((way) => !after.some((other) => other.every((tag) => way.includes(tag))))
}

const MOST_WAYS = 50
/** What holds where the action mostly runs. */
const HOLDS = /^(?:go1\.[12]?\d|linux|unix|amd64|cgo|gc)?$/

/** The ways to meet a constraint, each the tags that it needs. What is in brackets is not taken apart. */
function waysOf(condition: string): string[][] {
  if (/[()]/.test(condition)) return [[condition]]
  const ways = condition.split('||', MOST_WAYS)
  return ways.map((way) => way.split('&&', MOST_WAYS).filter((tag) => !HOLDS.test(tag)))
}
