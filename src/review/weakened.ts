// Whether a change makes the tests weaker: tests that are gone, skipped, emptied or shut out, and dropped assertions.
//
// Read from the text alone, so it is a hint and no proof: honest refactorings are let through where their words turn
// up again in tests that run (a renamed test, a table, a helper), and a cheat who writes those words is not found.

import { isCollected, namedIn, stemOf } from './reading/collected.ts'
import { isNarrower } from './reading/go.ts'
import { isTestFile, mayHoldTests, readTests } from './reading/read.ts'
import { holders, type TestCase, type TestFile } from './reading/shared.ts'
import { type Language, languageOf, type Source, type Span, statementEnd, wordsIn } from './reading/source.ts'

export { isTestFile, mayHoldTests }

export type FileChange = { path: string; before: string | null; after: string | null }

/** `text` is one line and names tests: it is as hostile as its author. */
export type Weakening = {
  path: string
  kind: 'deleted' | 'skipped' | 'focused' | 'emptied' | 'assertions' | 'unread'
  text: string
}

const MAX_WEAKENINGS = 100

/**
 * How the tests got weaker between two states, at most 100 findings. `files` are the changed files; those for which
 * `mayHoldTests` is false are left out. Renames come as a file without `after` and one without `before`. Tests that move between files, and tables that take over from single tests, are no weakening.
 */
export function weakenedTests(files: FileChange[]): Weakening[] {
  const { changed, left } = affordable(files.filter((it) => it.before !== it.after && mayHoldTests(it.path)))
  const found = left.filter(({ before }) => before !== null).map(({ path }) => unread(path))
  for (const language of new Set(changed.map((it) => languageOf(it.path)))) {
    if (language === null) continue
    const own = changed.filter((it) => languageOf(it.path) === language)
    const before = side(own, 'before', language, null)
    // Where tests stood before, their runner looked, whatever the file is called.
    const known = new Set(before.tests.map((it) => it.path))
    found.push(...weakenedIn(before, side(own, 'after', language, known)))
  }
  return found.slice(0, MAX_WEAKENINGS)
}

/** No more text than this is compared, so that a hostile change cannot hold us up for long. */
const MAX_TEXT = 16_000_000

/** A test file that nobody compared may have lost everything: that is said, too. */
export function unread(path: string): Weakening {
  return { path, kind: 'unread', text: 'too much text to see whether its tests were weakened' }
}

/** Those that stood before come first, for nothing else can get weaker; the small ones of them before the large ones. */
function affordable(files: FileChange[]): { changed: FileChange[]; left: FileChange[] } {
  const size = ({ before, after }: FileChange) => (before?.length ?? 0) + (after?.length ?? 0)
  const inOrder = [...files].sort(
    (a, b) => Number(a.before === null) - Number(b.before === null) || size(a) - size(b),
  )
  let sum = 0
  const isOver = (it: FileChange) => {
    sum += size(it)
    return sum > MAX_TEXT
  }
  const at = inOrder.findIndex(isOver)
  // As they came: findings are told in that order.
  const changed = new Set(at < 0 ? inOrder : inOrder.slice(0, at))
  return { changed: files.filter((it) => changed.has(it)), left: files.filter((it) => !changed.has(it)) }
}

// ---------------------------------------------------------------- one side of the change

/**
 * `collected`: whether its runner is sure to look for it. `strength`: its assertions, calls of helpers that assert
 * included. `text`: its body, as `plain` makes it.
 */
type Test = TestCase & {
  path: string
  source: Source
  collected: boolean
  strength: number
  text: string
  words: Bag
}
/** An assertion or the row of a table; `test` is the innermost test that it stands in. */
type Item = { path: string; test: Test | null; text: string; weight: number; words: Bag }
/** Functions with assertions in them: how many, and how often they are called in the changed files. */
type Calls = Map<string, { calls: number; size: number }>
type Side = {
  files: TestFile[]
  helpers: Calls
  tests: Test[]
  assertions: Item[]
  rows: Item[]
  total: number
}

/** The words of a part, with how often they stand there. */
type Bag = { literals: Map<string, number>; identifiers: Map<string, number> }
/** What may have taken over from tests that are gone. */
type Gain = Bag & { collected: boolean }

function side(
  changes: FileChange[],
  which: 'before' | 'after',
  language: Language,
  known: Set<string> | null,
): Side {
  const files = changes.flatMap((change) => {
    const text = change[which]
    return text === null ? [] : [withWholeFile(readTests(change.path, text, language))]
  })
  const helpers = callsOfHelpers(files)
  const namers = new Map<string, string[]>()
  if (known !== null) {
    for (const { path, source } of files) for (const name of namedIn(source)) push(namers, name, path)
  }
  const built: Side = { files, helpers, tests: [], assertions: [], rows: [], total: 0 }
  for (const file of files) {
    const { path, source } = file
    const isLookedInto =
      isCollected(path) || known?.has(path) || namers.get(stemOf(path))?.some((it) => it !== path) || false
    const around = holders(file.repeats.map((it) => ({ span: it.span, times: Math.max(1, it.rows.length) })))
    const inside = holders(file.helpers)
    // A call of a helper that asserts is no assertion itself: the helper's own count for each call.
    const afterReturn = holders(
      file.tests.map(({ span, body }) => ({ span: { from: body.to, to: span.to } })),
    )
    const own = file.assertions.filter(
      (span) => afterReturn(span.from).length === 0 && !helpers.has(calledAt(source, span)),
    )
    const starts = own.map((span) => span.from)
    const tests = file.tests.map((test): Test => {
      const calls =
        source.code.slice(test.body.from, test.body.to).match(/(?<![\w$])[A-Za-z_$][\w$]*(?=!?\s*\()/g) ?? []
      const strength =
        between(starts, test.span) + calls.reduce((total, name) => total + (helpers.get(name)?.size ?? 0), 0)
      return {
        ...test,
        path,
        source,
        collected:
          isLookedInto && (test.needs === undefined || test.needs === null || namers.has(test.needs)),
        strength,
        text: plain(source, test.body),
        words: bag(source, test.body),
      }
    })
    built.tests.push(...tests)
    const testAt = holders(tests)
    for (const span of own) {
      const helper = inside(span.from).at(-1)
      const calls = helper === undefined ? 1 : (helpers.get(helper.name)?.calls ?? 1)
      const times = around(span.from).reduce((product, it) => Math.min(1000, product * it.times), 1)
      const weight = calls * times
      const test = testAt(span.from).at(-1) ?? null
      built.total += weight
      built.assertions.push({ path, test, text: plain(source, span), weight, words: bag(source, span) })
    }
    built.assertions.push(...helperCalls(file, tests, own, helpers))
    const rowTest = holders(tests)
    for (const { span, rows } of file.repeats.toSorted((a, b) => a.span.from - b.span.from)) {
      if (between(starts, span) === 0) continue
      const test = rowTest(span.from).at(-1) ?? null
      for (const row of rows)
        built.rows.push({ path, test, text: plain(source, row), weight: 1, words: rowBag(source, row) })
    }
  }
  return built
}

/** The calls of helpers that assert, inside tests. They do not count in the total: there the helper's own do. */
function helperCalls({ path, source }: TestFile, tests: Test[], own: Span[], helpers: Calls): Item[] {
  if (helpers.size === 0) return []
  const testAt = holders(tests)
  const inAssertion = holders(own.map((span) => ({ span })))
  const found: Item[] = []
  for (const match of source.code.matchAll(/(?<![\w$.])[A-Za-z_$][\w$]*(?=!?\s*\()/g)) {
    const weight = helpers.get(match[0])?.size
    const test = testAt(match.index).at(-1)
    const asserts = inAssertion(match.index).length > 0
    if (weight === undefined || test === undefined || asserts) continue
    const span = { from: match.index, to: statementEnd(source, match.index) }
    found.push({ path, test, text: plain(source, span), weight, words: bag(source, span) })
  }
  return found
}

/** A file that only asserts, without tests that we know, is one test. */
function withWholeFile(file: TestFile): TestFile {
  const inside = holders(file.helpers)
  const bare = file.assertions.some((it) => inside(it.from).length === 0)
  if (file.tests.length > 0 || !bare || !isTestFile(file.path)) return file
  const span = { from: 0, to: file.source.code.length }
  return { ...file, tests: [{ name: '(whole file)', span, body: span, skips: 0, empty: false }] }
}

function callsOfHelpers(files: TestFile[]): Calls {
  const helpers: Calls = new Map()
  for (const file of files) {
    const starts = file.assertions.map((it) => it.from)
    for (const { name, span } of file.helpers) {
      const size = between(starts, span)
      if (size > 0) helpers.set(name, { calls: 0, size })
    }
  }
  if (helpers.size === 0) return helpers
  for (const { source, repeats } of files) {
    const around = holders(repeats.map((it) => ({ span: it.span, times: Math.max(1, it.rows.length) })))
    for (const match of source.code.matchAll(/(?<![\w$])([A-Za-z_$][\w$]*)!?\s*\(/g)) {
      const helper = helpers.get(match[1] as string)
      const before = source.code.slice(Math.max(0, match.index - 16), match.index)
      if (
        helper === undefined ||
        /\b(?:function\s*\*?|def|func|fn|void)\s+$|\bfunc\s*\([^)]*\)\s*$/.test(before)
      )
        continue
      helper.calls += around(match.index).reduce((product, it) => Math.min(1000, product * it.times), 1)
    }
  }
  return helpers
}

function calledAt(source: Source, span: Span): string {
  return /^[\w$]+/.exec(source.code.slice(span.from, span.from + 120))?.[0] ?? ''
}

/** How many of the ascending offsets are in the span. */
function between(offsets: number[], span: Span): number {
  return firstNotBelow(offsets, span.to) - firstNotBelow(offsets, span.from)
}

function firstNotBelow(offsets: number[], bound: number): number {
  let low = 0
  let high = offsets.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((offsets[middle] as number) < bound) low = middle + 1
    else high = middle
  }
  return low
}

/** Without blanks, quotes and trailing commas: what a formatter may change. */
function plain(source: Source, span: Span): string {
  return source.raw.slice(span.from, span.to).replace(/[\s"'`;]|,(?=\s*[)\]}])/g, '')
}

function bag(source: Source, span: Span): Bag {
  const words = wordsIn(source, span)
  return { literals: counted(words.literals), identifiers: counted(words.identifiers) }
}

/** A row may be one string with several values in it (`@CsvSource`). */
function rowBag(source: Source, span: Span): Bag {
  const words = wordsIn(source, span)
  const parts = words.literals.filter((it) => /[,|]/.test(it)).flatMap((it) => it.split(/[,|]/))
  const literals = [...words.literals, ...parts.map((it) => it.trim()).filter((it) => it !== '')]
  return { literals: counted(literals), identifiers: counted(words.identifiers) }
}

function emptyBag(): Bag {
  return { literals: new Map(), identifiers: new Map() }
}

function counted(words: string[]): Map<string, number> {
  const total = new Map<string, number>()
  for (const word of words) addCount(total, word, 1)
  return total
}

function addCount(total: Map<string, number>, word: string, number: number): void {
  total.set(word, (total.get(word) ?? 0) + number)
}

function addTo(total: Bag, { literals, identifiers }: Bag, sign = 1): void {
  for (const [word, number] of literals) addCount(total.literals, word, sign * number)
  for (const [word, number] of identifiers) addCount(total.identifiers, word, sign * number)
}

// ---------------------------------------------------------------- comparing the sides

function weakenedIn(before: Side, after: Side): Weakening[] {
  const pairs = matched(before.tests, after.tests)
  const gains = gainsOf(before, after, pairs)
  const running = pairs.gone.filter((test) => test.skips === 0 && !test.empty)
  const shared = sharedLiterals(pairs.gone)
  const lost = running.filter((test, index) => index >= MOST_COMPARED || !isAbsorbed(test, gains, shared))
  const found = sayGone(lost, after)

  const told = new Set(lost)
  for (const [old, now] of pairs.kept) {
    const weaker = weakerTest(old, now, gains)
    if (weaker === null) continue
    found.push(weaker)
    told.add(old)
  }
  return [...found, ...newlyFocused(before, after), ...droppedAssertions(before, after, pairs.kept, told)]
}

function weakerTest(old: Test, now: Test, gains: Gain[]): Weakening | null {
  const name = `test "${now.name}"`
  // Of two tests with other names, one for each version of Go, either may be the one that was left.
  const isShutOut = old.name === now.name && isNarrower(old.condition ?? '', now.condition ?? '')
  if (now.skips > old.skips || isShutOut)
    return { path: now.path, kind: 'skipped', text: `${name} is skipped, or may fail` }
  if (!isEmptied(old, now) || isAbsorbed(old, gains, new Set())) return null
  const text = now.empty ? `${name} has nothing in it any more` : `${name} has no assertion any more`
  return { path: now.path, kind: 'emptied', text }
}

function isEmptied(old: Test, now: Test): boolean {
  return (now.empty && !old.empty) || (now.strength === 0 && old.strength > 0)
}

type Matched = { kept: [Test, Test][]; gone: Test[]; fresh: Test[] }

/**
 * Pairs of the same test before and after: by name, in the same file first; then by the same or nearly the same
 * body, which is a test that got another name. What is left over is gone, or fresh. A test that was collected is not
 * kept by one that is not.
 */
function matched(before: Test[], after: Test[]): Matched {
  const taken = new Set<Test>()
  const kept: [Test, Test][] = []
  const pair = (left: Test[], keyOf: (test: Test) => string): Test[] => {
    const index = new Map<string, Test[]>()
    // Backwards, so that the first of the same key is taken first.
    for (const test of after.toReversed()) {
      if (!taken.has(test)) push(index, `${test.collected} ${keyOf(test)}`, test)
    }
    return left.filter((test) => {
      const next = (collected: boolean) => index.get(`${collected} ${keyOf(test)}`)?.pop()
      const partner = (test.collected ? undefined : next(false)) ?? next(true)
      if (partner === undefined) return true
      taken.add(partner)
      kept.push([test, partner])
      return false
    })
  }
  let gone = pair(before, (test) => `${test.path}\0${test.name}`)
  gone = pair(gone, (test) => test.name)
  gone = pair(gone, (test) => test.text)
  const fresh = after.filter((test) => !taken.has(test))
  gone = gone.filter((test, index) => {
    if (index >= MOST_COMPARED) return true
    const [partner, likeness] = mostLike(test, fresh)
    if (partner === undefined || likeness < ALIKE) return true
    fresh.splice(fresh.indexOf(partner), 1)
    kept.push([test, partner])
    return false
  })
  return { kept, gone, fresh }
}

const ALIKE = 0.7
/** More tests than this are not compared with each other: a test that is renamed and changed then counts as gone. */
const MOST_COMPARED = 300

function mostLike(test: Test, others: Test[]): [Test | undefined, number] {
  let best: [Test | undefined, number] = [undefined, 0]
  for (const other of others.slice(0, MOST_COMPARED)) {
    if (test.collected && !other.collected) continue
    const likeness = likenessOf(test.words, other.words)
    if (likeness > best[1]) best = [other, likeness]
  }
  return best
}

/** The part of all words that both have, from 0 to 1. */
function likenessOf(a: Bag, b: Bag): number {
  let common = 0
  let all = 0
  for (const kind of ['literals', 'identifiers'] as const) {
    for (const [word, number] of a[kind]) {
      common += Math.min(number, b[kind].get(word) ?? 0)
      all += number
    }
    for (const number of b[kind].values()) all += number
  }
  return all === 0 ? 0 : (2 * common) / all
}

function push<K, T>(map: Map<K, T[]>, key: K, value: T): void {
  const own = map.get(key)
  if (own === undefined) map.set(key, [value])
  else own.push(value)
}

/**
 * What may have taken over from tests that are gone: every fresh test, and every test that won words, each with the
 * tables and helpers that its file has won. Only tests that run.
 */
function gainsOf(before: Side, after: Side, { kept, gone, fresh }: Matched): Gain[] {
  const isGone = new Set(gone)
  const partsOf = (one: Side, span: (test: Test) => Span): { path: string; span: Span }[] =>
    one.tests.map((test) => ({ path: test.path, span: span(test) }))
  const around = wordsAround(
    after,
    partsOf(after, (test) => test.body),
  )
  // The tables of tests that are gone stand in their marks: they did not stay.
  const aroundBefore = wordsAround(
    before,
    partsOf(before, (test) => (isGone.has(test) ? test.span : test.body)),
  )
  for (const [path, words] of aroundBefore) {
    const own = around.get(path)
    if (own !== undefined) addTo(own, words, -1)
  }
  const gains: Gain[] = []
  const add = (now: Test, old: Test | null): void => {
    if (now.skips > 0 || now.empty || gains.length >= MOST_COMPARED) return
    const gain = { ...emptyBag(), collected: now.collected }
    addTo(gain, now.words)
    if (old !== null) for (const [word, number] of old.words.literals) addCount(gain.literals, word, -number)
    addTo(gain, around.get(now.path) ?? emptyBag())
    gains.push(gain)
  }
  for (const test of fresh) add(test, null)
  for (const [old, now] of kept) if (old.text !== now.text) add(now, old)
  return gains
}

/** By file, the words outside of these parts: of tables, and of helpers that assert and are called. */
function wordsAround(one: Side, parts: { path: string; span: Span }[]): Map<string, Bag> {
  const words = new Map<string, Bag>()
  const byFile = new Map<string, { span: Span }[]>()
  for (const part of parts) push(byFile, part.path, part)
  for (const { path, source, repeats, helpers } of one.files) {
    const spans = [...new Map(repeats.flatMap((it) => it.rows).map((row) => [row.from, row])).values()]
    for (const { name, span } of helpers) if ((one.helpers.get(name)?.calls ?? 0) > 0) spans.push(span)
    spans.sort((a, b) => a.from - b.from)
    const inParts = holders(byFile.get(path) ?? [])
    const total = emptyBag()
    for (const span of spans) if (inParts(span.from).length === 0) addTo(total, rowBag(source, span))
    words.set(path, total)
  }
  return words
}

/** Literals that all gone tests have: a table that took over from them holds these only once. */
function sharedLiterals(gone: Test[]): Set<string> {
  if (gone.length < 2) return new Set()
  const tests = new Map<string, number>()
  for (const { words } of gone) for (const word of words.literals.keys()) addCount(tests, word, 1)
  return new Set([...tests].filter(([, number]) => number === gone.length).map(([word]) => word))
}

const ENOUGH = 0.6
const ENOUGH_OF_TWO = 0.8
/** Names alone are weak evidence: tests of one file share most of them. */
const ENOUGH_NAMES = 0.8

/**
 * Whether one gain has most words of the test, or two together nearly all. Literals decide, where there are any. What
 * no runner looks for takes over from nothing that ran.
 */
function isAbsorbed({ words, collected }: Test, all: Gain[], shared: Set<string>): boolean {
  const gains = all.filter((it) => it.collected || !collected)
  const own = [...words.literals.keys()].filter((word) => !shared.has(word))
  if (own.length === 0) {
    const names = [...words.identifiers.keys()]
    const part = (gain: Bag): number =>
      names.filter((it) => (gain.identifiers.get(it) ?? 0) > 0).length / names.length
    return names.length > 0 && gains.some((gain) => part(gain) >= ENOUGH_NAMES)
  }
  const covers = gains.map((gain) => own.filter((it) => (gain.literals.get(it) ?? 0) > 0))
  covers.sort((a, b) => b.length - a.length)
  const [first = [], ...others] = covers
  if (first.length / own.length >= ENOUGH) return true
  const missing = own.filter((it) => !first.includes(it))
  return others.some(
    (it) => (first.length + missing.filter((word) => it.includes(word)).length) / own.length >= ENOUGH_OF_TWO,
  )
}

function sayGone(lost: Test[], after: Side): Weakening[] {
  const found: Weakening[] = []
  const paths = new Set(after.files.map((it) => it.path))
  const idle = new Map(after.tests.filter((it) => !it.collected).map((it) => [it.name, it.path]))
  const where = ({ name, collected }: Test) => {
    const path = collected ? idle.get(name) : undefined
    return path === undefined ? '' : `; no runner looks for the one in ${path}`
  }
  const byFile = new Map<string, Test[]>()
  for (const test of lost) push(byFile, test.path, test)
  for (const [path, tests] of byFile) {
    // A test inside a test that is gone is gone with it.
    const outer: Test[] = []
    for (const test of tests.toSorted((a, b) => a.span.from - b.span.from)) {
      if (test.span.from >= (outer.at(-1)?.span.to ?? 0)) outer.push(test)
    }
    if (!paths.has(path)) {
      const names = outer
        .slice(0, 3)
        .map((it) => `"${it.name}"`)
        .join(', ')
      found.push({
        path,
        kind: 'deleted',
        text: `the file is gone with ${plural(outer.length, 'test')}: ${names}${where(outer[0] as Test)}`,
      })
    } else
      for (const test of outer)
        found.push({ path, kind: 'deleted', text: `test "${test.name}" is gone${where(test)}` })
  }
  return found
}

function newlyFocused(before: Side, after: Side): Weakening[] {
  const old = before.files.flatMap((file) => file.focused.map((it) => it.text))
  return after.files.flatMap((file) =>
    file.focused.flatMap(({ text }) => {
      const at = old.indexOf(text)
      if (at !== -1) old.splice(at, 1)
      return at === -1
        ? [{ path: file.path, kind: 'focused' as const, text: `other tests do not run: ${text}` }]
        : []
    }),
  )
}

/**
 * Assertions and table rows that are gone without a trace: of tests that have fewer than before, and elsewhere as far
 * as the number of all assertions fell.
 */
function droppedAssertions(before: Side, after: Side, kept: [Test, Test][], told: Set<Test>): Weakening[] {
  const missing = without(before.assertions, after.assertions)
  const fresh = without(after.assertions, before.assertions)
  const fewer = countOf(missing, (item) => item.text)
  const [had, have] = [groupOf(before.assertions), groupOf(after.assertions)]

  const dropped: { path: string; number: number }[] = []
  for (const [old, now] of kept) {
    const fell = old.strength - now.strength
    if (fell <= 0 || told.has(old)) continue
    const [left, right] = [had.get(old) ?? [], have.get(now) ?? []]
    const gain = sum(without(right, left))
    // What stands elsewhere now has moved, unless it stood there before.
    const open = without(left, right).filter((item) => {
      const number = fewer.get(item.text) ?? 0
      if (number <= 0 || isAbsorbedItem(item.words, gain)) return false
      fewer.set(item.text, number - 1)
      return true
    })
    if (open.length > 0) dropped.push({ path: now.path, number: Math.min(fell, open.length) })
  }

  const explained = dropped.reduce((total, it) => total + it.number, 0)
  const fell = [...told].reduce((left, test) => left - test.strength, before.total - after.total - explained)
  const inTests = new Set(kept.map(([old]) => old))
  const outside = missing.filter(
    (item) => item.test === null || !(inTests.has(item.test) || told.has(item.test)),
  )
  const rows = without(before.rows, after.rows).filter((item) => item.test === null || !told.has(item.test))
  const gain = sum([...fresh, ...without(after.rows, before.rows)])
  const open = [...outside, ...rows].filter((item) => !isAbsorbedItem(item.words, gain))
  const number = Math.min(
    fell,
    open.reduce((total, item) => total + item.weight, 0),
  )
  if (number > 0) dropped.push({ path: open[0]?.path ?? '', number })

  const first = dropped[0]
  if (first === undefined) return []
  const all = dropped.reduce((total, it) => total + it.number, 0)
  return [
    { path: first.path, kind: 'assertions', text: `${plural(all, 'assertion')} of ${before.total} gone` },
  ]
}

function groupOf(items: Item[]): Map<Test | null, Item[]> {
  const groups = new Map<Test | null, Item[]>()
  for (const item of items) push(groups, item.test, item)
  return groups
}

function countOf<T>(items: T[], keyOf: (item: T) => string): Map<string, number> {
  return counted(items.map(keyOf))
}

/** Whether most words of one assertion turn up in the new ones, longer literals also as a part of another. */
function isAbsorbedItem(words: Bag, gain: Bag): boolean {
  const kind = words.literals.size > 0 ? 'literals' : 'identifiers'
  const own = [...words[kind].keys()]
  const stands = (word: string): boolean =>
    (gain[kind].get(word) ?? 0) > 0 ||
    (word.length > 5 && [...gain[kind].keys()].slice(0, 500).some((it) => it.includes(word)))
  return own.filter(stands).length / own.length >= ENOUGH
}

/** The items whose text does not stand on the other side, one for one. */
function without(items: Item[], others: Item[]): Item[] {
  const left = new Map<string, number>()
  for (const other of others) left.set(other.text, (left.get(other.text) ?? 0) + 1)
  return items.filter((item) => {
    const number = left.get(item.text) ?? 0
    left.set(item.text, number - 1)
    return number <= 0
  })
}

function sum(items: Item[]): Bag {
  const total = emptyBag()
  for (const { words } of items) addTo(total, words)
  return total
}

function plural(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`
}
