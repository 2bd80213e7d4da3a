// Two sides of a change compared: which tests are gone, which are weaker, and what took over from them.
import { grouped } from '../model/each.ts'
import { addTo, type Bag, counted, type Item, isLiteral, type Side, type Test } from './sides.ts'

/** `text` is one line and names tests: it is as hostile as its author. */
export type Weakening = {
  path: string
  kind: 'deleted' | 'skipped' | 'focused' | 'emptied' | 'assertions' | 'unread'
  text: string
}

/** How the tests of one language got weaker. */
export function weakenedIn(before: Side, after: Side): Weakening[] {
  const pairs = matched(before.tests, after.tests)
  const gains = gainsOf(before, after, pairs.gone)
  const running = pairs.gone.filter((test) => test.skips === 0 && !test.empty)
  const shared = sharedLiterals(pairs.gone)
  const lost = running.filter((test, index) => index >= MOST_COMPARED || !isAbsorbed(test, gains, shared))
  const found = goneFindings(lost, after)

  const reported = new Set(lost)
  for (const [old, now] of pairs.kept) {
    const weaker = weakerTest(old, now, gains)
    if (weaker === null) continue
    found.push(weaker)
    reported.add(old)
  }
  const names = counted(before.tests.map(({ name }) => name))
  for (const [old, now] of pairs.kept) {
    if (reported.has(old) || names.get(old.name) !== 1 || !hasLostValues(old, now, gains)) continue
    found.push({ path: now.path, kind: 'assertions', text: `test "${now.name}" has fewer values to check` })
    reported.add(old)
  }
  return [...found, ...newlyFocused(before, after), ...droppedAssertions(before, after, pairs.kept, reported)]
}

/** Several literals are gone from it and nothing else, as rows are from a table, and turn up nowhere. */
function hasLostValues(old: Test, now: Test, gains: Gain[]): boolean {
  const change: Bag = new Map(now.words)
  addTo(change, old.words, -1)
  const changed = [...change].filter(([, number]) => number !== 0)
  if (!changed.every(([word, number]) => isLiteral(word) && number < 0)) return false
  const lost = changed.reduce((sum, [, number]) => sum - number, 0)
  return lost > 1 && !gains.some(({ words }) => changed.some(([word]) => has(words, word)))
}

function has(words: Bag, word: string): boolean {
  return (words.get(word) ?? 0) > 0
}

function weakerTest(old: Test, now: Test, gains: Gain[]): Weakening | null {
  const name = `test "${now.name}"`
  if (now.skips > old.skips)
    return { path: now.path, kind: 'skipped', text: `${name} is skipped, or may fail` }
  const isEmptied = (now.empty && !old.empty) || (now.strength === 0 && old.strength > 0)
  if (!isEmptied || isAbsorbed(old, gains, new Set())) return null
  const text = now.empty ? `${name} has nothing in it any more` : `${name} has no assertion any more`
  return { path: now.path, kind: 'emptied', text }
}

type Matched = { kept: [Test, Test][]; gone: Test[] }

/**
 * Pairs of the same test before and after: by name, in the same file first; then by the same or nearly the same
 * body, which is a test that got another name. What is left over is gone. A test that was collected is not
 * kept by one that is not.
 */
function matched(before: Test[], after: Test[]): Matched {
  const taken = new Set<Test>()
  const kept: [Test, Test][] = []
  const pair = (left: Test[], keyOf: (test: Test) => string): Test[] => {
    // Backwards, so that the first of the same key is taken first.
    const others = after.toReversed().filter((test) => !taken.has(test))
    const index = grouped(others, (test) => `${test.collected} ${keyOf(test)}`)
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
  return { kept, gone }
}

type Gain = { words: Bag; collected: boolean }

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
  for (const [word, number] of a) common += Math.min(number, b.get(word) ?? 0)
  const all = [...a.values(), ...b.values()].reduce((sum, number) => sum + number, 0)
  return all === 0 ? 0 : (2 * common) / all
}

/** What may have taken over from tests that are gone: the words that a file has won. */
function gainsOf(before: Side, after: Side, gone: Test[]): Gain[] {
  const gains = new Map<string, Gain>()
  for (const [path, { words, collected }] of [...after.files].slice(0, MOST_COMPARED)) {
    const won: Bag = new Map(words)
    addTo(won, before.files.get(path)?.words ?? new Map(), -1)
    gains.set(path, { words: won, collected })
  }
  // What they had is no loss of others.
  for (const { path, words, skips, empty } of gone)
    if (skips === 0 && !empty) addTo(gains.get(path)?.words ?? new Map(), words)
  return [...gains.values()]
}

/** Literals that all gone tests have: a table that took over from them holds these only once. */
function sharedLiterals(gone: Test[]): Set<string> {
  if (gone.length < 2) return new Set()
  const tests = counted(gone.flatMap(({ words }) => [...words.keys()].filter(isLiteral)))
  return new Set([...tests].filter(([, number]) => number === gone.length).map(([word]) => word))
}

const ENOUGH = 0.7
const ENOUGH_OF_TWO = 0.8
/** Names alone are weak evidence: tests of one file share most of them. */
const ENOUGH_NAMES = 0.8

/**
 * Whether one gain has most words of the test, or two together nearly all. Literals decide, where there are any. What
 * no runner looks for takes over from nothing that ran.
 */
function isAbsorbed({ words, collected }: Test, all: Gain[], shared: Set<string>): boolean {
  const gains = all.filter((it) => it.collected || !collected)
  const literals = [...words.keys()].filter((word) => isLiteral(word) && !shared.has(word))
  const names = [...words.keys()].filter((word) => !isLiteral(word))
  const own = literals.length > 0 ? literals : names
  const covers = gains.map((gain) => own.filter((word) => has(gain.words, word)))
  const [first = [], ...others] = covers.sort((a, b) => b.length - a.length)
  const enough = literals.length > 0 ? ENOUGH : ENOUGH_NAMES
  if (own.length > 0 && first.length / own.length >= enough) return true
  if (literals.length === 0) return false
  const missing = literals.filter((word) => !first.includes(word))
  return others.some(
    (it) =>
      (first.length + missing.filter((word) => it.includes(word)).length) / literals.length >= ENOUGH_OF_TWO,
  )
}

function goneFindings(lost: Test[], after: Side): Weakening[] {
  return [...grouped(lost, ({ path }) => path)].flatMap(([path, tests]): Weakening[] => {
    // A test inside a test that is gone is gone with it.
    const outer: Test[] = []
    for (const test of tests.toSorted((a, b) => a.span.from - b.span.from)) {
      if (test.span.from >= (outer.at(-1)?.span.to ?? 0)) outer.push(test)
    }
    const names = outer.map(({ name }) => `"${name}"`)
    const whole = `the file is gone with ${plural(outer.length, 'test')}: ${names.slice(0, 3).join(', ')}`
    const texts = after.files.has(path) ? names.map((name) => `test ${name} is gone`) : [whole]
    return texts.map((text) => ({ path, kind: 'deleted', text }))
  })
}

function newlyFocused(before: Side, after: Side): Weakening[] {
  const old = counted(before.focused.map(({ text }) => text))
  return after.focused.flatMap(({ path, text }) => {
    const stood = old.get(text) ?? 0
    old.set(text, stood - 1)
    return stood > 0 ? [] : [{ path, kind: 'focused' as const, text: `other tests do not run: ${text}` }]
  })
}

/**
 * Assertions that are gone without a trace: of tests that have fewer than before, and elsewhere as far as the number of
 * all assertions fell.
 */
function droppedAssertions(
  before: Side,
  after: Side,
  kept: [Test, Test][],
  reported: Set<Test>,
): Weakening[] {
  const missing = without(before.assertions, after.assertions)
  const fresh = without(after.assertions, before.assertions)
  const fewer = counted(missing.map((item) => item.text))
  const [had, have] = [before, after].map((side) => grouped(side.assertions, ({ test }) => test))
  let all = 0
  let first: string | null = null
  const drop = (number: number, path: string) => {
    if (number <= 0) return
    all += number
    first ??= path
  }

  for (const [old, now] of kept) {
    if (reported.has(old)) continue
    const [left, right] = [had?.get(old) ?? [], have?.get(now) ?? []]
    const gain = sum(without(right, left))
    // What stands elsewhere now has moved, unless it stood there before.
    const open = without(left, right).filter((item) => {
      const number = fewer.get(item.text) ?? 0
      if (number <= 0 || isAbsorbedItem(item.words, gain)) return false
      fewer.set(item.text, number - 1)
      return true
    })
    drop(Math.min(old.strength - now.strength, open.length), now.path)
  }

  const ofReported = [...reported].reduce((total, test) => total + test.strength, 0)
  const fell = before.total - after.total - all - ofReported
  const gain = sum(fresh)
  const open = missing.filter((item) => item.test === null && !isAbsorbedItem(item.words, gain))
  drop(Math.min(fell, open.length), open[0]?.path ?? '')
  if (first === null) return []
  return [{ path: first, kind: 'assertions', text: `${plural(all, 'assertion')} of ${before.total} gone` }]
}

/** Whether most words of one assertion turn up in the new ones. */
function isAbsorbedItem(words: Bag, gain: Bag): boolean {
  const hasLiterals = [...words.keys()].some(isLiteral)
  const own = [...words.keys()].filter((word) => isLiteral(word) === hasLiterals)
  return own.filter((word) => has(gain, word)).length / own.length >= ENOUGH
}

/** The items whose text does not stand on the other side, one for one. */
function without(items: Item[], others: Item[]): Item[] {
  const left = counted(others.map(({ text }) => text))
  return items.filter((item) => {
    const number = left.get(item.text) ?? 0
    left.set(item.text, number - 1)
    return number <= 0
  })
}

function sum(items: Item[]): Bag {
  const total: Bag = new Map()
  for (const { words } of items) addTo(total, words)
  return total
}

function plural(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`
}
