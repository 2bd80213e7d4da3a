// Program text made safe to search: comments and strings blanked out, brackets paired, literals set apart.

export type Language = 'javascript' | 'python' | 'go' | 'rust' | 'java'

export type Span = { from: number; to: number }

/** A program text. `code` has the same length as `raw`, with blanks for comments and for what is in strings. */
export type Source = {
  language: Language
  raw: string
  code: string
  /** The contents of strings, in order. */
  strings: Span[]
  /** For the offset of a bracket, that of its partner; -1 elsewhere. */
  partner: Int32Array
}

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

/** Longer texts are cut: no person's test file is. */
const MAX_TEXT = 500_000

/** Reads a program text. Never fails: broken text only hides or shows more than it should. Linear. */
export function readSource(text: string, language: Language): Source {
  const raw = text.slice(0, MAX_TEXT)
  const { code, strings } = blanked(raw, language)
  return { language, raw, code, strings, partner: pairs(code) }
}

// ---------------------------------------------------------------- comments and strings

/** Where a comment or a string goes to. `content` is left out for comments. */
type Piece = { to: number; content?: Span }

function blanked(raw: string, language: Language): { code: string; strings: Span[] } {
  const out: string[] = []
  const strings: Span[] = []
  let done = 0
  let before = '' // the last code character that is not blank
  let templates: number[] = [] // depth of braces at each open `${`
  let depth = 0

  const blankOut = ({ from, to }: Span): void => {
    out.push(raw.slice(done, from), raw.slice(from, to).replace(/[^\r\n]/g, ' '))
    done = to
  }
  const template = (start: number): number => {
    const end = templateEnd(raw, start)
    blankOut({ from: start, to: end })
    strings.push({ from: start, to: end })
    if (raw[end] === '$') {
      templates.push(depth)
      depth += 1
      return end + 2
    }
    return end + 1
  }

  for (let at = 0; at < raw.length; ) {
    const c = raw[at] as string
    if (language === 'javascript') {
      if (c === '`') {
        before = '`'
        at = template(at + 1)
        continue
      }
      if (c === '{') depth += 1
      if (c === '}') {
        depth -= 1
        if (templates.length > 0 && depth === templates.at(-1)) {
          templates = templates.slice(0, -1)
          before = '`'
          at = template(at + 1)
          continue
        }
      }
    }
    const piece = MAY_START.has(c) ? pieceAt(raw, at, language, before) : null
    if (piece === null) {
      if (c !== ' ' && c !== '\n' && c !== '\t' && c !== '\r') before = c
      at += 1
      continue
    }
    if (piece.content === undefined) blankOut({ from: at, to: piece.to })
    else {
      blankOut(piece.content)
      strings.push(piece.content)
      before = '"'
    }
    at = Math.max(piece.to, at + 1)
  }
  out.push(raw.slice(done))
  return { code: out.join(''), strings }
}

const MAY_START = new Set(['/', '#', '"', "'", '`'])

function pieceAt(raw: string, at: number, language: Language, before: string): Piece | null {
  const c = raw[at]
  if (language === 'python') {
    if (c === '#') return { to: lineEnd(raw, at) }
    if (c !== '"' && c !== "'") return null
    return raw.startsWith(c.repeat(3), at) ? quoted(raw, at, c.repeat(3), true) : quoted(raw, at, c, false)
  }
  if (c === '#' || (c === '`' && language !== 'go')) return null
  if (c === '/') {
    if (raw[at + 1] === '/') return { to: lineEnd(raw, at) }
    if (raw[at + 1] === '*')
      return { to: language === 'rust' ? nestedEnd(raw, at) : after(raw, '*/', at + 2) }
    return language === 'javascript' ? expressionAt(raw, at, before) : null
  }
  if (c === '`') return { to: after(raw, '`', at + 1), content: { from: at + 1, to: upTo(raw, '`', at + 1) } }
  if (language === 'rust') return rustString(raw, at)
  if (language === 'java' && raw.startsWith('"""', at)) return quoted(raw, at, '"""', true)
  return quoted(raw, at, c as string, false)
}

function quoted(raw: string, at: number, quote: string, lines: boolean): Piece {
  const from = at + quote.length
  let end = from
  while (end < raw.length && !raw.startsWith(quote, end)) {
    if (!lines && raw[end] === '\n') return { to: end, content: { from, to: end } } // an apostrophe in prose
    end += raw[end] === '\\' ? 2 : 1
  }
  const to = Math.min(end, raw.length)
  return { to: Math.min(to + quote.length, raw.length), content: { from, to } }
}

function rustString(raw: string, at: number): Piece | null {
  if (raw[at] === "'") {
    const char = /^'(?:\\[^\n]{1,10}?|[^\\'\n]{1,2})'/.exec(raw.slice(at, at + 16)) // otherwise a lifetime
    return char === null
      ? null
      : { to: at + char[0].length, content: { from: at + 1, to: at + char[0].length - 1 } }
  }
  const hashes = /r(#*)$/.exec(raw.slice(Math.max(0, at - 12), at))?.[1]
  if (hashes === undefined) return quoted(raw, at, '"', true)
  const close = raw.indexOf(`"${hashes}`, at + 1)
  const to = close === -1 ? raw.length : close
  return { to: Math.min(to + 1 + hashes.length, raw.length), content: { from: at + 1, to } }
}

/** A regular expression, where a value may begin; otherwise the stroke divides. */
function expressionAt(raw: string, at: number, before: string): Piece | null {
  const word = /[A-Za-z$_]+$/.exec(raw.slice(Math.max(0, at - 12), at).trimEnd())?.[0] ?? ''
  if (
    !/^$|[(,=:[!&|?{;+*%~^-]/.test(before) &&
    !/^(?:return|typeof|case|of|in|await|yield|void|else|do)$/.test(word)
  ) {
    return null
  }
  let inClass = false
  for (let end = at + 1; end < raw.length && raw[end] !== '\n'; end += 1) {
    const c = raw[end]
    if (c === '\\') end += 1
    else if (c === '[') inClass = true
    else if (c === ']') inClass = false
    else if (c === '/' && !inClass) return { to: end + 1, content: { from: at + 1, to: end } }
  }
  return null
}

function templateEnd(raw: string, start: number): number {
  let end = start
  while (end < raw.length && raw[end] !== '`' && !(raw[end] === '$' && raw[end + 1] === '{')) {
    end += raw[end] === '\\' ? 2 : 1
  }
  return Math.min(end, raw.length)
}

function nestedEnd(raw: string, at: number): number {
  const marks = /\/\*|\*\//g
  marks.lastIndex = at
  let depth = 0
  for (let mark = marks.exec(raw); mark !== null; mark = marks.exec(raw)) {
    depth += mark[0] === '/*' ? 1 : -1
    if (depth === 0) return marks.lastIndex
  }
  return raw.length
}

function lineEnd(raw: string, at: number): number {
  return upTo(raw, '\n', at)
}

function upTo(raw: string, mark: string, from: number): number {
  const at = raw.indexOf(mark, from)
  return at === -1 ? raw.length : at
}

function after(raw: string, mark: string, from: number): number {
  const at = raw.indexOf(mark, from)
  return at === -1 ? raw.length : at + mark.length
}

// ---------------------------------------------------------------- brackets

const CLOSES: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

function pairs(code: string): Int32Array {
  const partner = new Int32Array(code.length).fill(-1)
  const open: number[] = []
  for (let at = 0; at < code.length; at += 1) {
    const c = code[at] as string
    if (c === '(' || c === '[' || c === '{') open.push(at)
    else if (c === ')' || c === ']' || c === '}') {
      // A bracket that does not fit closes nothing, unless what it would close is just below.
      const fits = code[open.at(-1) ?? -1] === CLOSES[c] ? 1 : code[open.at(-2) ?? -1] === CLOSES[c] ? 2 : 0
      if (fits === 2) open.pop()
      const start = fits === 0 ? undefined : open.pop()
      if (start === undefined) continue
      partner[start] = at
      partner[at] = start
    }
  }
  return partner
}

/** The offset after the bracket that closes the one at `open`; the end of its line, or near, when none does. */
export function closing(source: Source, open: number): number {
  const to = source.partner[open] ?? -1
  return to === -1 ? open + Math.max(1, upTo(source.code.slice(open, open + 200), '\n', 0)) : to + 1
}

/** The first offset from `at` on that is not blank. */
export function nextCode(source: Source, at: number): number {
  let next = at
  while (next < source.code.length && /\s/.test(source.code[next] as string)) next += 1
  return next
}

/** No statement is followed further: a chain of a million calls must not be walked once for each of them. */
const STATEMENT_STEPS = 4_000

/** Where the statement that begins at `from` ends: at `;`, at a bracket it stands in, or at a line's end. */
export function statementEnd(source: Source, from: number): number {
  const { code } = source
  let at = from
  for (let steps = 0; at < code.length && steps < STATEMENT_STEPS; steps += 1) {
    const c = code[at] as string
    if (c === '(' || c === '[' || c === '{') {
      at = closing(source, at)
      continue
    }
    if (c === ';' || c === ')' || c === ']' || c === '}') return at
    if (c === '\n') {
      const next = nextCode(source, at)
      // The next line goes on when it begins with a dot or an operator, and this one when it ends with one.
      let last = at - 1
      while (last > from && /\s/.test(code[last] as string)) last -= 1
      if (!/[.?:&|+*=%<>]/.test(code[next] ?? '') && !/[=,&|+.:?<>-]/.test(code[last] ?? '')) return at
      at = next
      continue
    }
    at += 1
  }
  return Math.min(at, code.length)
}

/** What stands between the commas inside the bracket at `open`; empty places left out. */
export function elements(source: Source, open: number): Span[] {
  const end = closing(source, open) - 1
  const found: Span[] = []
  let from = open + 1
  const take = (to: number): void => {
    if (source.code.slice(from, to).trim() !== '') found.push({ from, to })
    from = to + 1
  }
  for (let at = from; at < end; at += 1) {
    const c = source.code[at] as string
    if (c === ',') take(at)
    else if (c === '(' || c === '[' || c === '{') at = closing(source, at) - 1
  }
  if (from < end) take(end)
  return found
}

// ---------------------------------------------------------------- words

export type Words = { literals: string[]; identifiers: string[] }

/** The words of a part of the text: strings and numbers, and identifiers. */
export function wordsIn(source: Source, { from, to }: Span): Words {
  const literals: string[] = []
  for (let index = firstFrom(source.strings, from); index < source.strings.length; index += 1) {
    const span = source.strings[index] as Span
    if (span.from >= to) break
    const text = source.raw.slice(span.from, Math.min(span.to, to)).trim()
    if (text !== '') literals.push(text)
  }
  const code = source.code.slice(from, to)
  for (const number of code.match(/(?<![\w$])\d[\w.]*/g) ?? []) literals.push(number)
  return { literals, identifiers: code.match(/(?<![\w$])[A-Za-z_$][\w$]*/g) ?? [] }
}

function firstFrom(spans: Span[], from: number): number {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle] as Span).from < from) low = middle + 1
    else high = middle
  }
  return low
}
