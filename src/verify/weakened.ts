// Whether a change makes the tests weaker: tests that are gone, skipped, emptied or shut out, and dropped assertions.
//
// Read from the text alone, so it is a hint and no proof: honest refactorings are let through where their words turn
// up again in tests that run (a renamed test, a table, a helper), and a cheat who writes those words is not found.

import { holders, isTestFile, mayHoldTests, readTests, type TestCase, type TestFile } from './read-tests.ts'
import { type Language, languageOf, type Source, type Span, wordsIn } from './source.ts'

export { isTestFile, mayHoldTests }

export type FileChange = { path: string; before: string | null; after: string | null }

/** `text` is one line and names tests: it is as hostile as its author. */
export type Weakening = {
  path: string
  kind: 'deleted' | 'skipped' | 'focused' | 'emptied' | 'assertions'
  text: string
}

const MAX_WEAKENINGS = 100

/**
 * How the tests got weaker between two states, at most 100 findings. `files` are the changed files; those for which
 * `mayHoldTests` is false are left out. Renames come as a file without `after` and one without `before`. Tests that move between files, and tables that take over from single tests, are no weakening.
 */
export function weakenedTests(files: FileChange[]): Weakening[] {
  const found: Weakening[] = []
  const changed = files.filter((it) => it.before !== it.after && mayHoldTests(it.path))
  for (const language of new Set(changed.map((it) => languageOf(it.path)))) {
    if (language === null) continue
    const own = changed.filter((it) => languageOf(it.path) === language)
    found.push(...weakenedIn(side(own, 'before', language), side(own, 'after', language)))
  }
  return found.slice(0, MAX_WEAKENINGS)
}

// ---------------------------------------------------------------- one side of the change

/** `strength`: its assertions, calls of helpers that assert included. `text`: its body, as `plain` makes it. */
type Test = TestCase & { path: string; source: Source; strength: number; text: string; words: Bag }
type Item = { path: string; text: string; weight: number; words: Bag }
type Calls = Map<string, { calls: number }>
type Side = { files: TestFile[]; helpers: Calls; tests: Test[]; assertions: Item[]; rows: Item[]; total: number }

/** The words of a part, with how often they stand there. */
type Bag = { literals: Map<string, number>; identifiers: Map<string, number> }

function side(changes: FileChange[], which: 'before' | 'after', language: Language): Side {
  const files = changes.flatMap((change) => {
    const text = change[which]
    return text === null ? [] : [withWholeFile(readTests(change.path, text, language))]
  })
  const helpers = callsOfHelpers(files)
  const built: Side = { files, helpers, tests: [], assertions: [], rows: [], total: 0 }
  for (const file of files) {
    const { path, source } = file
    const around = holders(file.repeats.map((it) => ({ span: it.span, times: Math.max(1, it.rows.length) })))
    const inside = holders(file.helpers)
    const starts: number[] = []
    for (const span of file.assertions) {
      // A helper's assertion counts for each call of the helper; the call itself does not count then.
      if (helpers.has(calledAt(source, span))) continue
      const helper = inside(span.from).at(-1)
      const calls = helper === undefined ? 1 : (helpers.get(helper.name)?.calls ?? 1)
      const times = around(span.from).reduce((product, it) => Math.min(1000, product * it.times), 1)
      const weight = calls * times
      starts.push(span.from)
      built.total += weight
      built.assertions.push({ path, text: plain(source, span), weight, words: bag(source, span) })
    }
    for (const { span, rows } of file.repeats) {
      if (!file.assertions.some((it) => it.from >= span.from && it.from < span.to)) continue
      for (const row of rows) built.rows.push({ path, text: plain(source, row), weight: 1, words: rowBag(source, row) })
    }
    for (const test of file.tests) {
      const calls = source.code.slice(test.body.from, test.body.to).match(/(?<![\w$])[A-Za-z_$][\w$]*(?=!?\s*\()/g) ?? []
      const strength = between(starts, test.span) + calls.filter((name) => helpers.has(name)).length
      built.tests.push({ ...test, path, source, strength, text: plain(source, test.body), words: bag(source, test.body) })
    }
  }
  return built
}

/** A file that only asserts, without tests that we know, is one test. */
function withWholeFile(file: TestFile): TestFile {
  const inside = holders(file.helpers)
  const bare = file.assertions.some((it) => inside(it.from).length === 0)
  if (file.tests.length > 0 || !bare || !isTestFile(file.path)) return file
  const span = { from: 0, to: file.source.code.length }
  return { ...file, tests: [{ name: '(whole file)', span, body: span, skips: 0, empty: false }] }
}

/** Functions with assertions in them, and how often they are called in the changed files. */
function callsOfHelpers(files: TestFile[]): Calls {
  const helpers: Calls = new Map()
  for (const file of files) {
    const starts = file.assertions.map((it) => it.from)
    for (const { name, span } of file.helpers) if (between(starts, span) > 0) helpers.set(name, { calls: 0 })
  }
  if (helpers.size === 0) return helpers
  for (const { source, repeats } of files) {
    const around = holders(repeats.map((it) => ({ span: it.span, times: Math.max(1, it.rows.length) })))
    for (const match of source.code.matchAll(/(?<![\w$])([A-Za-z_$][\w$]*)!?\s*\(/g)) {
      const helper = helpers.get(match[1] as string)
      const before = source.code.slice(Math.max(0, match.index - 16), match.index)
      if (helper === undefined || /\b(?:function\s*\*?|def|func|fn|void)\s+$|\bfunc\s*\([^)]*\)\s*$/.test(before)) continue
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
  for (const word of words) total.set(word, (total.get(word) ?? 0) + 1)
  return total
}

function addTo(total: Bag, { literals, identifiers }: Bag, sign = 1): void {
  for (const [word, number] of literals) total.literals.set(word, (total.literals.get(word) ?? 0) + sign * number)
  for (const [word, number] of identifiers) {
    total.identifiers.set(word, (total.identifiers.get(word) ?? 0) + sign * number)
  }
}

// ---------------------------------------------------------------- comparing the sides

function weakenedIn(before: Side, after: Side): Weakening[] {
  const { kept, gone, fresh } = matched(before.tests, after.tests)
  const found: Weakening[] = []
  const gained = gainedWords(before, after, kept, gone, fresh)
  const lost = gone.filter((test) => test.skips === 0 && !test.empty && !isAbsorbed(test.words, gained, gone))
  found.push(...sayGone(lost, after))

  const told: Told[] = lost.map((test) => ({ test, strength: test.strength }))
  for (const [old, now] of kept) {
    const weaker = weakerTest(old, now, gained)
    if (weaker === null) continue
    found.push(weaker)
    told.push({ test: old, strength: Math.max(0, old.strength - now.strength) })
  }
  found.push(...newlyFocused(before, after), ...droppedAssertions(before, after, told))
  return found
}

function weakerTest(old: Test, now: Test, gained: Bag): Weakening | null {
  const name = `test "${now.name}"`
  if (now.skips > old.skips) return { path: now.path, kind: 'skipped', text: `${name} is skipped, or may fail` }
  if (!isEmptied(old, now) || isAbsorbed(old.words, gained, [])) return null
  const text = now.empty ? `${name} has nothing in it any more` : `${name} has no assertion any more`
  return { path: now.path, kind: 'emptied', text }
}

function isEmptied(old: Test, now: Test): boolean {
  return (now.empty && !old.empty) || (now.strength === 0 && old.strength > 0)
}

type Matched = { kept: [Test, Test][]; gone: Test[]; fresh: Test[] }

/**
 * Pairs of the same test before and after: by name, in the same file first; then by the same or nearly the same
 * body, which is a test that got another name. What is left over is gone, or fresh.
 */
function matched(before: Test[], after: Test[]): Matched {
  const taken = new Set<Test>()
  const kept: [Test, Test][] = []
  const pair = (left: Test[], keyOf: (test: Test) => string): Test[] => {
    const index = new Map<string, Test[]>()
    // Backwards, so that the first of the same key is taken first.
    for (const test of after.toReversed()) if (!taken.has(test)) push(index, keyOf(test), test)
    return left.filter((test) => {
      const partner = index.get(keyOf(test))?.pop()
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
  gone = gone.filter((test) => {
    const [partner, likeness] = mostLike(test, fresh)
    if (partner === undefined || likeness < ALIKE) return true
    fresh.splice(fresh.indexOf(partner), 1)
    kept.push([test, partner])
    return false
  })
  return { kept, gone, fresh }
}

const ALIKE = 0.65
/** More tests than this are not compared with each other: a test that is renamed and changed then counts as gone. */
const MOST_COMPARED = 300

function mostLike(test: Test, others: Test[]): [Test | undefined, number] {
  let best: [Test | undefined, number] = [undefined, 0]
  for (const other of others.slice(0, MOST_COMPARED)) {
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

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const own = map.get(key)
  if (own === undefined) map.set(key, [value])
  else own.push(value)
}

/** The words that tests which run, their tables and their helpers have won, apart from what stayed. */
function gainedWords(before: Side, after: Side, kept: [Test, Test][], gone: Test[], fresh: Test[]): Bag {
  const gained = emptyBag()
  const runs = (test: Test): boolean => test.skips === 0 && !test.empty
  for (const test of fresh) if (runs(test)) addTo(gained, test.words)
  for (const [old, now] of kept) {
    if (old.text === now.text || !runs(now)) continue
    addTo(gained, now.words)
    addTo(gained, old.words, -1)
  }
  const isGone = new Set(gone)
  const outside = (one: Side, span: (test: Test) => Span): Bag => wordsAround(one, one.tests.map((test) => ({ path: test.path, span: span(test) })))
  addTo(gained, outside(after, (test) => test.body))
  // The tables of tests that are gone stand in their marks: they did not stay.
  addTo(gained, outside(before, (test) => (isGone.has(test) ? test.span : test.body)), -1)
  return gained
}

/** The words outside of these parts: of tables, and of helpers that assert and are called. */
function wordsAround(one: Side, parts: { path: string; span: Span }[]): Bag {
  const total = emptyBag()
  const byFile = new Map<string, { span: Span }[]>()
  for (const part of parts) push(byFile, part.path, part)
  for (const { path, source, repeats, helpers } of one.files) {
    const spans = [...new Map(repeats.flatMap((it) => it.rows).map((row) => [row.from, row])).values()]
    for (const { name, span } of helpers) if ((one.helpers.get(name)?.calls ?? 0) > 0) spans.push(span)
    spans.sort((a, b) => a.from - b.from)
    const within = holders(byFile.get(path) ?? [])
    for (const span of spans) if (within(span.from).length === 0) addTo(total, rowBag(source, span))
  }
  return total
}

const ENOUGH = 0.6

/** Whether these words turn up among the gained ones. Literals decide; words that all gone tests share do not. */
function isAbsorbed(words: Bag, gained: Bag, gone: Test[]): boolean {
  const shared = (word: string): boolean => gone.length > 1 && gone.every((test) => test.words.literals.has(word))
  const own = [...words.literals.keys()].filter((word) => !shared(word))
  if (own.length > 0) return own.filter((it) => (gained.literals.get(it) ?? 0) > 0).length / own.length >= ENOUGH
  const names = [...words.identifiers.keys()]
  return names.length > 0 && names.filter((it) => (gained.identifiers.get(it) ?? 0) > 0).length / names.length >= ENOUGH
}

function sayGone(lost: Test[], after: Side): Weakening[] {
  const found: Weakening[] = []
  const paths = new Set(after.files.map((it) => it.path))
  const byFile = new Map<string, Test[]>()
  for (const test of lost) push(byFile, test.path, test)
  for (const [path, tests] of byFile) {
    // A test inside a test that is gone is gone with it.
    const outer = tests.filter((it) => !tests.some((other) => other !== it && holds(other.span, it.span)))
    if (!paths.has(path)) {
      const names = outer.slice(0, 3).map((it) => `"${it.name}"`).join(', ')
      found.push({ path, kind: 'deleted', text: `the file is gone with ${plural(outer.length, 'test')}: ${names}` })
    } else for (const test of outer) found.push({ path, kind: 'deleted', text: `test "${test.name}" is gone` })
  }
  return found
}

function holds(outer: Span, inner: Span): boolean {
  return outer.from <= inner.from && outer.to >= inner.to && outer.to - outer.from > inner.to - inner.from
}

function newlyFocused(before: Side, after: Side): Weakening[] {
  const old = before.files.flatMap((file) => file.focused.map((it) => it.text))
  return after.files.flatMap((file) =>
    file.focused.flatMap(({ text }) => {
      const at = old.indexOf(text)
      if (at !== -1) old.splice(at, 1)
      return at === -1 ? [{ path: file.path, kind: 'focused' as const, text: `other tests do not run: ${text}` }] : []
    }),
  )
}

/** A test of the side before that was reported, and how many assertions went with that. */
type Told = { test: Test; strength: number }

/** Assertions and table rows that are gone, as far as the number of assertions fell and nothing else explains it. */
function droppedAssertions(before: Side, after: Side, told: Told[]): Weakening[] {
  const fell = before.total - after.total - told.reduce((sum, it) => sum + it.strength, 0)
  if (fell <= 0) return []
  const gained = gainedIn([...after.assertions, ...after.rows], [...before.assertions, ...before.rows])
  const open = [...without(before.assertions, after.assertions), ...without(before.rows, after.rows)].filter((item) => {
    if (told.some(({ test }) => test.path === item.path && test.text.includes(item.text))) return false
    return !isAbsorbed(item.words, gained, [])
  })
  const dropped = Math.min(fell, open.reduce((sum, item) => sum + item.weight, 0))
  const first = open[0]
  if (dropped <= 0 || first === undefined) return []
  const text = `${plural(dropped, 'assertion')} of ${before.total} gone`
  return [{ path: first.path, kind: 'assertions', text }]
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

function gainedIn(items: Item[], others: Item[]): Bag {
  const total = emptyBag()
  for (const { words } of without(items, others)) addTo(total, words)
  return total
}

function plural(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`
}
