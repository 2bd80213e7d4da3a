// One side of a change: what all of its files of one language hold of tests, helpers and assertions.
import type { Tree } from '@lezer/common'
import { go } from './languages/go.ts'
import { java } from './languages/java.ts'
import { javascript } from './languages/javascript.ts'
import { python } from './languages/python.ts'
import { rust } from './languages/rust.ts'
import { type Language, type Source, type Span, wordsIn } from './source.ts'
import { isCollected, isTestFile } from './test-files.ts'
import { type Frame, framesFrom, type Rules, Walk } from './walk.ts'

const RULES: Record<Language, Rules> = { javascript, python, go, rust, java }

/** The words of a part, with how often they stand there: names as they are, literals with LITERAL before them. */
export type Bag = Map<string, number>
const LITERAL = '"'
/**
 * `collected`: whether its runner is sure to look for it. `strength`: its assertions, those of the helpers that it
 * calls included. `text`: its body, as `plain` makes it; `words`: with its marks and tables, but for its name.
 */
export type Test = {
  path: string
  name: string
  span: Span
  body: Span
  skips: number
  empty: boolean
  collected: boolean
  strength: number
  text: string
  words: Bag
}
/** An assertion; `test` is the innermost test that it stands in. */
export type Item = { path: string; test: Test | null; text: string; words: Bag }
/** `words`: of each file, but for its tests that do not run. */
export type Side = {
  files: Map<string, { words: Bag; collected: boolean }>
  tests: Test[]
  assertions: Item[]
  /** Of assertions, those of a helper once. */
  total: number
  focused: { path: string; text: string }[]
}
/** Functions with assertions in them, and how many. */
type Helpers = ReadonlyMap<string, number>

export function readTests(path: string, source: Source, tree: Tree, language: Language): Walk {
  return new Walk(path, source, RULES[language], isTestFile(path)).run(tree)
}

/** `known`: files whose tests a runner looked for before, whatever they are called. */
export function sideOf(walks: Walk[], known: ReadonlySet<string>): Side {
  const helpers = helpersOf(walks)
  const side: Side = { files: new Map(), tests: [], assertions: [], total: 0, focused: [] }
  const called = new Set(walks.flatMap(({ calls }) => calls.map(({ name }) => name)))
  for (const walk of walks)
    addFile(side, walk, helpers, called, isCollected(walk.path) || known.has(walk.path))
  return side
}

/** `called`: names of functions, in all files. */
function addFile(
  side: Side,
  walk: Walk,
  helpers: Helpers,
  called: ReadonlySet<string>,
  collected: boolean,
): void {
  const { path } = walk
  const tests = new Map<Frame, Test>()
  for (const frame of framesOfTests(walk)) tests.set(frame, testOf(frame, walk, collected))
  const testsAround = (frame: Frame) => framesFrom(frame).flatMap((it) => tests.get(it) ?? [])
  // A call of a helper that asserts is no assertion itself: the helper's own count.
  const own = walk.assertions.filter((it) => !helpers.has(it.callee) && !isAfterReturn(it, it.frame))
  side.total += own.length
  for (const { frame, from, to } of own) {
    const around = testsAround(frame)
    for (const test of around) test.strength += 1
    side.assertions.push(itemOf({ from, to }, walk, around[0]))
  }
  for (const { name, frame, from, to } of walk.calls) {
    const size = helpers.get(name) ?? 0
    if (size === 0 || isAfterReturn({ from, to }, frame)) continue
    const around = testsAround(frame).filter(({ body }) => from >= body.from)
    for (const test of around) test.strength += size
    if (around[0] !== undefined) side.assertions.push(itemOf({ from, to }, walk, around[0]))
  }
  side.files.set(path, { words: wordsThatRun(walk, tests, called), collected })
  side.tests.push(...tests.values())
  side.focused.push(...walk.focused.map((text) => ({ path, text })))
}

/** The words of a file without its idle parts: tests that do not run, functions that nobody calls, what follows a return. */
function wordsThatRun(walk: Walk, tests: ReadonlyMap<Frame, Test>, called: ReadonlySet<string>): Bag {
  const { source } = walk
  // Beside the code only what is for tests counts.
  const isForTests = (frame: Frame) => frame.holdsTests === true || tests.has(frame)
  const parts = new Set(isTestFile(walk.path) ? [walk.root] : outermost(walk.frames.filter(isForTests)))
  const isIdle = (frame: Frame) => {
    if (!framesFrom(frame).some((it) => parts.has(it))) return false
    const test = tests.get(frame)
    if (test !== undefined) return test.skips > 0 || test.empty
    return frame.kind === 'never' || (frame.kind === 'helper' && !called.has(frame.name))
  }
  const words: Bag = new Map()
  for (const part of parts) addTo(words, bag(source, part))
  for (const frame of outermost(walk.frames.filter(isIdle))) addTo(words, bag(source, frame), -1)
  return words
}

function outermost(frames: readonly Frame[]): Frame[] {
  const all = new Set(frames)
  return frames.filter((frame) => framesFrom(frame).every((it) => it === frame || !all.has(it)))
}

/** The tests that somebody runs. */
function framesOfTests(walk: Walk): Frame[] {
  const isRun = (frame: Frame) => framesFrom(frame).every(({ kind }) => kind !== 'never')
  return walk.frames.filter((it) => it.kind === 'test' && isRun(it))
}

function testOf(frame: Frame, walk: Walk, collected: boolean): Test {
  const { name, body, skips, from, to } = frame
  const groups = framesFrom(frame).filter((it) => it !== frame && it.kind === 'group')
  const words = bag(walk.source, { from, to })
  for (const part of name.split(/[,|]/)) words.delete(LITERAL + part.trim())
  return {
    path: walk.path,
    name,
    span: { from, to },
    body,
    skips: groups.reduce((sum, group) => sum + group.skips, skips),
    empty: frame.empty ?? false,
    collected,
    strength: 0,
    text: plain(walk.source, body),
    words,
  }
}

function helpersOf(walks: Walk[]): Helpers {
  const helpers = new Map<string, number>()
  for (const { frame } of walks.flatMap(({ assertions }) => assertions))
    for (const { kind, name } of framesFrom(frame))
      if (kind === 'helper' && name.length > 2) helpers.set(name, (helpers.get(name) ?? 0) + 1)
  return helpers
}

function isAfterReturn({ from }: Span, frame: Frame): boolean {
  return framesFrom(frame).some(({ kind, body }) => kind === 'test' && from >= body.to)
}

function itemOf(span: Span, { path, source }: Walk, test: Test | undefined): Item {
  return { path, test: test ?? null, text: plain(source, span), words: bag(source, span) }
}

/** Without blanks, quotes and trailing commas: what a formatter may change. */
function plain({ raw }: Source, { from, to }: Span): string {
  return raw.slice(from, to).replace(/[\s"'`;]|,(?=\s*[)\]}])/g, '')
}

/** The row of a table may be one string with several values in it (`@CsvSource`). */
function bag(source: Source, span: Span): Bag {
  const { literals, identifiers } = wordsIn(source, span)
  const values = literals.flatMap((it) => it.split(/[,|]/)).map((it) => LITERAL + it.trim())
  return counted([...values.filter((it) => it !== LITERAL), ...identifiers])
}

export function isLiteral(word: string): boolean {
  return word.startsWith(LITERAL)
}

export function addTo(total: Bag, words: Bag, sign = 1): void {
  for (const [word, number] of words) total.set(word, (total.get(word) ?? 0) + sign * number)
}

export function counted(words: string[]): Map<string, number> {
  const total = new Map<string, number>()
  for (const word of words) total.set(word, (total.get(word) ?? 0) + 1)
  return total
}
