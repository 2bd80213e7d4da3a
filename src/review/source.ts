// A program text and its syntax tree, with comments and strings set apart. The text is hostile: the parse is bounded.
import type { Parser, SyntaxNodeRef, Tree } from '@lezer/common'

export type Language = 'javascript' | 'python' | 'go' | 'rust' | 'java'

export type Span = { from: number; to: number }

/** `code` has the length of `raw`, with blanks for comments and for what is in strings. */
export type Source = { raw: string; code: string; strings: Span[] }

const EXTENSIONS: [Language, RegExp][] = [
  ['javascript', /\.[cm]?[jt]sx?$/],
  ['python', /\.py$/],
  ['go', /\.go$/],
  ['rust', /\.rs$/],
  ['java', /\.java$/],
]

/** The language by the file's name, or null. */
export function languageOf(path: string): Language | null {
  return EXTENSIONS.find(([, extension]) => extension.test(path))?.[0] ?? null
}

/** Loaded only where a file of the language changed. */
const PARSERS: Record<Language, (path: string) => Promise<Parser>> = {
  async javascript(path) {
    const { parser } = await import('@lezer/javascript')
    // `<T>value` is TypeScript, and in its place JSX would begin an element.
    const dialects = [/\.[cm]?tsx?$/.test(path) ? 'ts' : '', /\.[cm]?ts$/.test(path) ? '' : 'jsx']
    return parser.configure({ dialect: dialects.join(' ').trim() })
  },
  python: async () => (await import('@lezer/python')).parser,
  go: async () => (await import('@lezer/go')).parser,
  rust: async () => (await import('@lezer/rust')).parser,
  java: async () => (await import('@lezer/java')).parser,
}

/** Longer texts are not read: no person's test file is. */
export const MAX_TEXT = 500_000
/** The parser copies what is open whenever it is in doubt: deep nesting takes time by the square. */
const DEEPEST = 200

/** What is left for the texts of one change: characters, and processor time in milliseconds. */
export type Budget = { text: number; time: number }

/** The text read as a program; null where that would take too long. */
export async function readSource(
  path: string,
  raw: string,
  language: Language,
  budget: Budget,
): Promise<{ source: Source; tree: Tree } | null> {
  if (raw.length > MAX_TEXT || isDeep(raw, DEEPEST)) return null
  const parser = await PARSERS[language](path)
  const parse = parser.startParse(raw)
  const start = process.cpuUsage()
  const spent = () => {
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  }
  const allowed = Math.min(budget.time, 300 + raw.length / 100)
  let tree: Tree | null = null
  for (let step = 1; tree === null; step += 1) {
    if (step % 64 === 0 && spent() > allowed) break
    tree = parse.advance()
  }
  budget.time -= spent()
  return tree === null ? null : { tree, source: { raw, ...setApart(raw, tree) } }
}

/** Whether brackets stand deeper in each other; those in strings count too. */
export function isDeep(text: string, deepest: number): boolean {
  let depth = 0
  for (const [bracket] of text.matchAll(/[[\](){}]/g)) {
    depth = Math.max(0, depth + ('[({'.includes(bracket) ? 1 : -1))
    if (depth > deepest) return true
  }
  return false
}

const COMMENT = /Comment$/
const STRING =
  /^(?:String|StringLiteral|TextBlock|CharacterLiteral|TemplateString|RegExp|FormatString|Rune|Char|RawString)$/
const HOLE = /^(?:Interpolation|FormatReplacement)$/

function setApart(raw: string, tree: Tree): { code: string; strings: Span[] } {
  const blanks: Span[] = []
  const strings: Span[] = []
  const add = (node: SyntaxNodeRef): void => {
    let from = node.from
    for (let hole = node.node.firstChild; hole !== null; hole = hole.nextSibling) {
      if (!HOLE.test(hole.name)) continue
      strings.push({ from, to: hole.from })
      from = hole.to
    }
    strings.push({ from, to: node.to })
  }
  tree.iterate({
    enter(node) {
      if (COMMENT.test(node.name)) blanks.push({ from: node.from, to: node.to })
      else if (STRING.test(node.name)) add(node)
    },
  })
  const inner = strings.map((it) => withoutQuotes(raw, it)).sort((a, b) => a.from - b.from)
  const parts: string[] = []
  let done = 0
  for (const { from, to } of [...blanks, ...inner].sort((a, b) => a.from - b.from)) {
    parts.push(
      raw.slice(done, Math.max(done, from)),
      raw.slice(Math.max(done, from), to).replace(/[^\r\n]/g, ' '),
    )
    done = Math.max(done, to)
  }
  parts.push(raw.slice(done))
  return { code: parts.join(''), strings: inner }
}

function withoutQuotes(raw: string, { from, to }: Span): Span {
  const open =
    /^(?:[a-zA-Z]{0,3}#{0,9}(?:"""|'''|["'`])|\/)?/.exec(raw.slice(from, Math.min(to, from + 16)))?.[0]
      .length ?? 0
  const close =
    /(?:(?:"""|'''|["'`])#{0,9}|\/[a-z]*)?$/.exec(raw.slice(Math.max(from + open, to - 16), to))?.[0]
      .length ?? 0
  return { from: from + open, to: Math.max(from + open, to - close) }
}

export type Words = { literals: string[]; identifiers: string[] }

/** The words of a part of the text: strings and numbers, and identifiers. */
export function wordsIn({ raw, code, strings }: Source, { from, to }: Span): Words {
  const literals: string[] = []
  for (let index = firstNotBelow(strings, from); index < strings.length; index += 1) {
    const span = strings[index] as Span
    if (span.from >= to) break
    const text = raw.slice(span.from, Math.min(span.to, to)).trim()
    if (text !== '') literals.push(text)
  }
  const part = code.slice(from, to)
  literals.push(...(part.match(/(?<![\w$])\d[\w.]*/g) ?? []))
  return { literals, identifiers: part.match(/(?<![\w$])[A-Za-z_$][\w$]*/g) ?? [] }
}

function firstNotBelow(spans: Span[], bound: number): number {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle] as Span).from < bound) low = middle + 1
    else high = middle
  }
  return low
}
