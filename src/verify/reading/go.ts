// Tests in Go: functions of the testing package, and subtests with a name.

import {
  code,
  count,
  type Found,
  isEmptyBlock,
  nesting,
  oneLine,
  type TestCase,
  withGroups,
} from './shared.ts'
import { closing, type Source, type Span } from './source.ts'

const GO_SKIPS = /(?<![\w$])[a-z]\w*\.(?:Skip|Skipf|SkipNow)\s*\(/g

export function readGo(source: Source): Found {
  const tests: TestCase[] = []
  const head = source.raw.slice(0, Math.max(0, source.code.search(/^package\s/m)))
  const build = /^\/\/(?:go:build| ?\+build)\s/m.exec(head)
  const skips = (build === null ? 0 : 1) + (runsNothing(source) ? 1 : 0)
  const groups = [{ span: { from: 0, to: source.code.length }, skips }]
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

/** A `TestMain` that never says `m.Run()`: no test of the package runs. */
function runsNothing(source: Source): boolean {
  const main = /^func\s+TestMain\s*\([^)]*\)\s*\{/m.exec(source.code)
  if (main === null) return false
  const open = main.index + main[0].length - 1
  return !/\bm\b/.test(source.code.slice(open, closing(source, open)))
}
