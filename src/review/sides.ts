// One side of a change: what all of its files of one language hold of tests, helpers, assertions and tables.
import type { Tree } from '@lezer/common'
import { go } from './languages/go.ts'
import { java } from './languages/java.ts'
import { javascript } from './languages/javascript.ts'
import { python } from './languages/python.ts'
import { rust } from './languages/rust.ts'
import { type Language, type Source, type Span, wordsIn } from './source.ts'
import { isCollected, isTestFile, namedIn, stemOf } from './test-files.ts'
import { type Assertion, type Frame, framesFrom, type NamedCall, type Rules, Walk } from './walk.ts'

const RULES: Record<Language, Rules> = { javascript, python, go, rust, java }

/** The words of a part, with how often they stand there. */
export type Bag = { literals: Map<string, number>; identifiers: Map<string, number> }
/**
 * `collected`: whether its runner is sure to look for it. `strength`: its assertions, those of the helpers that it
 * calls included. `text`: its body, as `plain` makes it.
 */
export type Test = {
  path: string
  name: string
  span: Span
  body: Span
  skips: number
  empty: boolean
  condition: string
  collected: boolean
  strength: number
  text: string
  words: Bag
}
/** An assertion or the row of a table; `test` is the innermost test that it stands in. */
export type Item = { path: string; test: Test | null; text: string; weight: number; words: Bag }
/** Words of tables, and of helpers that assert and are called. */
export type Around = { path: string; spans: Span[]; source: Source }
export type Side = {
  paths: Set<string>
  tests: Test[]
  assertions: Item[]
  rows: Item[]
  /** All assertions, each as often as it runs. */
  total: number
  focused: { path: string; text: string }[]
  around: Around[]
}
type Helpers = Map<string, { calls: number; size: number }>

export function readTests(path: string, source: Source, tree: Tree, language: Language): Walk {
  return new Walk(path, source, RULES[language], isTestFile(path)).run(tree)
}

/** `known`: files whose tests a runner looked for before, whatever they are called; null for the side before. */
export function sideOf(walks: Walk[], language: Language, known: Set<string> | null): Side {
  const helpers = helpersOf(walks)
  const namers = new Map<string, string[]>()
  for (const { path, source } of known === null ? [] : walks)
    for (const name of namedIn(source, language)) push(namers, name, path)
  const side: Side = {
    paths: new Set(walks.map(({ path }) => path)),
    tests: [],
    assertions: [],
    rows: [],
    total: 0,
    focused: [],
    around: [],
  }
  for (const walk of walks) {
    const isNamed = namers.get(stemOf(walk.path))?.some((it) => it !== walk.path) ?? false
    const isLookedInto = isCollected(walk.path) || known?.has(walk.path) || isNamed
    const runs = (needs: string | null | undefined) => isLookedInto && (!needs || namers.has(needs))
    addFile(side, walk, helpers, runs)
  }
  return side
}

function addFile(side: Side, walk: Walk, helpers: Helpers, runs: (needs?: string | null) => boolean): void {
  const { path, source, frames } = walk
  const tests = new Map<Frame, Test>()
  for (const frame of framesOfTests(walk)) tests.set(frame, testOf(frame, walk, runs(frame.needs)))
  const testAt = (frame: Frame) => framesFrom(frame).find((it) => tests.has(it))
  // A call of a helper that asserts is no assertion itself: the helper's own count for each call.
  const own = walk.assertions.filter((it) => !helpers.has(it.callee) && !isAfterReturn(it, it.frame))
  const busy = new Set<Frame>()
  for (const { frame, from, to } of own) {
    const around = framesFrom(frame)
    for (const it of around) {
      busy.add(it)
      const test = tests.get(it)
      if (test !== undefined) test.strength += 1
    }
    const inner = testAt(frame)
    const helper = inner === undefined ? around.find(({ kind }) => kind === 'helper') : undefined
    const weight = (helper === undefined ? 1 : (helpers.get(helper.name)?.calls ?? 1)) * times(frame)
    side.total += weight
    side.assertions.push(itemOf({ from, to }, walk, tests.get(inner as Frame), weight))
  }
  const counted = new Set(own)
  for (const call of walk.calls) addCall(side, walk, call, helpers, tests, counted)
  for (const frame of frames) {
    if (frame.rows.length === 0 || !busy.has(frame)) continue
    const test = tests.get(testAt(frame) as Frame) ?? null
    for (const row of frame.rows)
      side.rows.push({ path, test, text: plain(source, row), weight: 1, words: rowBag(source, row) })
  }
  side.tests.push(...tests.values())
  side.focused.push(...walk.focused.map((text) => ({ path, text })))
  if (walk.root.focus !== undefined && tests.size === 0) side.focused.push({ path, text: walk.root.focus })
  const called = frames.filter((it) => it.kind === 'helper' && (helpers.get(it.name)?.calls ?? 0) > 0)
  const rows = new Map(frames.flatMap((it) => it.rows).map((row) => [row.from, row]))
  side.around.push({ path, source, spans: [...rows.values(), ...called].sort((a, b) => a.from - b.from) })
}

/** A helper's call in a test counts for what it asserts, but not in the total: there the helper's own do. */
function addCall(
  side: Side,
  walk: Walk,
  call: NamedCall,
  helpers: Helpers,
  tests: Map<Frame, Test>,
  counted: Set<Assertion>,
): void {
  const size = helpers.get(call.name)?.size
  if (size === undefined || isAfterReturn(call, call.frame)) return
  let inner: Test | undefined
  for (const frame of framesFrom(call.frame)) {
    const test = tests.get(frame)
    if (test === undefined || call.from < test.body.from) continue
    test.strength += size
    inner ??= test
  }
  const isInAssertion = call.within !== null && counted.has(call.within)
  if (inner !== undefined && call.isPlain && !isInAssertion)
    side.assertions.push(itemOf({ from: call.from, to: call.to }, walk, inner, size))
}

/** The tests that somebody runs; a file that only asserts is one test. */
function framesOfTests(walk: Walk): Frame[] {
  const isRun = (frame: Frame) => framesFrom(frame).every(({ kind }) => kind !== 'never')
  const tests = walk.frames.filter((it) => it.kind === 'test' && isRun(it))
  if (tests.length > 0 || !isTestFile(walk.path)) return tests
  const isOutside = ({ kind }: Frame) => kind !== 'helper' && kind !== 'never' && kind !== 'test'
  const isBare = walk.assertions.some(({ frame }) => framesFrom(frame).every(isOutside))
  if (isBare) walk.root.name = '(whole file)'
  return isBare ? [walk.root] : []
}

function testOf(frame: Frame, walk: Walk, collected: boolean): Test {
  const { name, body, skips } = frame
  const groups = framesFrom(frame).filter((it) => it !== frame && it.kind === 'group')
  return {
    path: walk.path,
    name,
    span: { from: frame.from, to: frame.to },
    body,
    skips: groups.reduce((sum, group) => sum + group.skips, frame === walk.root ? 0 : skips),
    empty: frame.empty ?? false,
    condition: walk.condition,
    collected,
    strength: 0,
    text: plain(walk.source, body),
    words: bag(walk.source, body),
  }
}

/** Functions with assertions in them: how many, and how often they are called in the changed files. */
function helpersOf(walks: Walk[]): Helpers {
  const helpers: Helpers = new Map()
  for (const { assertions } of walks) {
    for (const { frame } of assertions) {
      for (const { kind, name } of framesFrom(frame)) {
        if (kind !== 'helper' || name.length <= 2) continue
        const helper = helpers.get(name) ?? { calls: 0, size: 0 }
        helpers.set(name, { ...helper, size: helper.size + 1 })
      }
    }
  }
  for (const { calls } of helpers.size === 0 ? [] : walks) {
    for (const { name, frame } of calls) {
      const helper = helpers.get(name)
      if (helper !== undefined) helper.calls += times(frame)
    }
  }
  return helpers
}

function isAfterReturn({ from }: Span, frame: Frame): boolean {
  return framesFrom(frame).some(({ kind, body }) => kind === 'test' && from >= body.to)
}

/** How often the part runs. */
function times(frame: Frame): number {
  return framesFrom(frame).reduce(
    (product, { rows }) => Math.min(1000, product * Math.max(1, rows.length)),
    1,
  )
}

function itemOf(span: Span, { path, source }: Walk, test: Test | undefined, weight: number): Item {
  return { path, test: test ?? null, text: plain(source, span), weight, words: bag(source, span) }
}

/** Without blanks, quotes and trailing commas: what a formatter may change. */
function plain({ raw }: Source, { from, to }: Span): string {
  return raw.slice(from, to).replace(/[\s"'`;]|,(?=\s*[)\]}])/g, '')
}

function bag(source: Source, span: Span): Bag {
  const words = wordsIn(source, span)
  return { literals: counted(words.literals), identifiers: counted(words.identifiers) }
}

/** A row may be one string with several values in it (`@CsvSource`). */
export function rowBag(source: Source, span: Span): Bag {
  const words = wordsIn(source, span)
  const parts = words.literals.filter((it) => /[,|]/.test(it)).flatMap((it) => it.split(/[,|]/))
  const literals = [...words.literals, ...parts.map((it) => it.trim()).filter((it) => it !== '')]
  return { literals: counted(literals), identifiers: counted(words.identifiers) }
}

export function counted(words: string[]): Map<string, number> {
  const total = new Map<string, number>()
  for (const word of words) total.set(word, (total.get(word) ?? 0) + 1)
  return total
}

export function push<K, T>(map: Map<K, T[]>, key: K, value: T): void {
  const own = map.get(key)
  if (own === undefined) map.set(key, [value])
  else own.push(value)
}
