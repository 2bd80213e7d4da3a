// What the readers of all languages share: the shape of what they find, tables, nesting.

import { closing, elements, type Source, type Span, statementEnd } from './source.ts'

/** A test, or a group of tests. `span` holds its marks too; `body` is what runs: what follows a `return` does not. */
export type TestCase = {
  name: string
  span: Span
  body: Span
  /** Marks that keep it from running, or from failing: its own, those inside, those of the groups around it. */
  skips: number
  /** Nothing in it, or it returns at once. */
  empty: boolean
  /** A class that does not run by itself, and holds the test: only where another file or class names it, it runs. */
  needs?: string | null
  /** Go: the constraint under which its file is built. */
  condition?: string
}

/** A function that is no test, nor in one, and may hold assertions. */
export type Helper = { name: string; span: Span }

/** Code that runs once for each row of a table. */
export type Repeat = { span: Span; rows: Span[] }

export type TestFile = {
  path: string
  source: Source
  tests: TestCase[]
  helpers: Helper[]
  repeats: Repeat[]
  /** Statements that can fail a test; those on constants alone are left out. */
  assertions: Span[]
  /** Marks that keep other tests from running. */
  focused: { at: number; text: string }[]
}
/** `parts`: where the tests are in a file that is not theirs alone. */
export type Found = {
  tests: TestCase[]
  repeats: Repeat[]
  focused: TestFile['focused']
  parts: { span: Span }[]
}
export type Group = { span: Span; skips: number }

export function count(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length
}

export function code(source: Source, { from, to }: Span): string {
  return source.code.slice(from, to)
}

/** The inside of a block: nothing but blanks, or a return before anything else. */
export function isEmptyBlock(text: string): boolean {
  return (
    /^\s*;*\s*$/.test(text) ||
    /^\s*return\b[ \t]*(?:;|\n|$|Ok\(\(\)\)|(?:undefined|null|None|[Tt]rue|[Ff]alse|\d+)[ \t]*(?:;|\n|$))/.test(
      text,
    )
  )
}

/** One line of at most 80 characters. */
export function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 80 ? `${line.slice(0, 77)}...` : line
}

/** Nobody nests tests, loops or functions deeper; and what is read once for each level must not take forever. */
const DEEPEST = 8

/** For spans that come in ascending order: whether the span is nested too deeply to be read. */
export function nesting(): (span: Span) => boolean {
  let open: number[] = []
  return (span) => {
    open = open.filter((to) => to > span.from)
    if (open.length >= DEEPEST) return true
    open.push(span.to)
    return false
  }
}

/** For offsets that never go back: the items whose span holds the offset. */
export function holders<T extends { span: Span }>(items: T[]): (at: number) => T[] {
  const sorted = items.toSorted((a, b) => a.span.from - b.span.from)
  let next = 0
  let open: T[] = []
  return (at) => {
    for (let item = sorted[next]; item !== undefined && item.span.from <= at; item = sorted[next]) {
      open.push(item)
      next += 1
    }
    open = open.filter((item) => item.span.to > at)
    return open
  }
}

/** The items, ascending, that begin in one of the parts. */
export function within<T>(items: T[], parts: { span: Span }[], spanOf: (item: T) => Span): T[] {
  const around = holders(parts)
  return items.filter((item) => around(spanOf(item).from).length > 0)
}

export function withGroups(tests: TestCase[], groups: Group[]): TestCase[] {
  // Of the same span, and that may be the whole file, there may be thousands: each test then sums up one.
  const bySpan = new Map<string, Group>()
  for (const { span, skips } of groups) {
    if (skips === 0) continue
    const key = `${span.from} ${span.to}`
    bySpan.set(key, { span, skips: skips + (bySpan.get(key)?.skips ?? 0) })
  }
  const around = holders([...bySpan.values()])
  return tests
    .toSorted((a, b) => a.span.from - b.span.from)
    .map((test) => ({
      ...test,
      skips: around(test.span.from).reduce((sum, group) => sum + group.skips, test.skips),
    }))
}

/** The rows of a table: of a literal in the expression, or of the one that a name in it stands for. */
export function tableRows(source: Source, expression: Span, tables: Tables): Span[] {
  const own = literalRows(source, expression)
  if (own.length > 0) return own
  const words = code(source, { from: expression.from, to: Math.min(expression.to, expression.from + 500) })
  for (const name of words.match(/(?<![\w$.])[A-Za-z_$][\w$]*/g) ?? []) {
    const rows = tables(name)
    if (rows.length > 0) return rows
  }
  return []
}

/** The rows of the table of that name in the file. */
export type Tables = (name: string) => Span[]

export function tablesOf(source: Source): Tables {
  const definitions =
    /(?<![\w$.])([A-Za-z_$][\w$]*)\s*(?::(?![:=])[^=\n;(){}]{0,200}|\[\])?(?::=|=(?![=>]))\s*/g
  let starts: Map<string, number[]> | null = null
  const known = new Map<string, Span[]>()
  return (name) => {
    if (starts === null) {
      starts = new Map()
      for (const match of source.code.matchAll(definitions)) {
        const at = match.index + match[0].length
        const own = starts.get(match[1] as string)
        if (own === undefined) starts.set(match[1] as string, [at])
        else if (own.length < 20) own.push(at)
      }
    }
    const done = known.get(name)
    if (done !== undefined) return done
    let rows: Span[] = []
    for (const from of starts.get(name) ?? []) {
      if (rows.length === 0) rows = literalRows(source, { from, to: statementEnd(source, from) })
    }
    known.set(name, rows)
    return rows
  }
}

/** The elements of the last bracket that opens a literal in the expression (`[]struct{...}{ ... }`, `vec![...]`). */
function literalRows(source: Source, { from, to }: Span, depth = 4): Span[] {
  let open = -1
  for (let at = from; at < to; at += 1) {
    const c = source.code[at] as string
    if (c !== '[' && c !== '{' && c !== '(') continue
    const end = closing(source, at)
    if (end - 1 > at + 1 && (c !== '(' || open === -1)) open = at
    at = end - 1
  }
  if (open === -1) return []
  const rows = elements(source, open)
  const only = rows[0]
  // `List.of([...])`, `Object.entries({ ... })`: the table is one further in.
  if (source.code[open] === '(' && rows.length === 1 && only !== undefined) {
    return depth === 0 ? [] : literalRows(source, only, depth - 1)
  }
  // A call's arguments are a table only where the call makes a list of them.
  if (
    source.code[open] === '(' &&
    !/(?:^|[\s(,=&])(?:\w*\.)?(?:of|asList|listOf|Set|Map|arrayOf)?\s*$/.test(source.code.slice(from, open))
  ) {
    return []
  }
  return rows
}
