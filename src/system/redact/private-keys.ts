// Private keys in PEM: from header to footer, in a text and line by line.

export const PRIVATE_KEY = 'a private key'

const BORDER =
  /-----(?:BEGIN|(END)) (?:(?:RSA |EC |DSA |OPENSSH |ENCRYPTED |ANY )?PRIVATE KEY|PGP PRIVATE KEY BLOCK)-----/g
/** How far behind a header its footer is looked for (a 16,384 bit RSA key has 12,700 characters). */
const WINDOW = 16_384
const KEY_LINE = /[A-Za-z0-9+/=]{24,}/g

type Span = { from: number; to: number }

/** Where private keys stand; of one without its end, its header and what looks like its lines. */
export function privateKeysIn(text: string): Span[] {
  const keys: Span[] = []
  let open: Span[] = []
  let done = 0 // lines of keys without an end were looked for up to here
  const giveUp = (before: number): void => {
    while (open[0] !== undefined && open[0].from + WINDOW < before) {
      const header = open.shift() as Span
      const end = header.from + WINDOW
      keys.push(header, ...keyLines(text, Math.max(header.to, done), end))
      done = end
    }
  }
  for (const match of text.matchAll(BORDER)) {
    const span = spanOf(match, 0)
    giveUp(span.to)
    if (match[1] === undefined) {
      if (beginsKey(text, span.to)) open.push(span)
    } else if (open[0] !== undefined) {
      keys.push({ from: open[0].from, to: span.to })
      open = []
    }
  }
  giveUp(Number.POSITIVE_INFINITY)
  return keys
}

/** The same for what comes in whole lines: what is hidden of them. */
export function privateKeyLines(): (text: string) => Span[] {
  let left = 0 // units in which the key may go on
  let inBody = false // the last line was the key's
  const inLine = (line: string): Span[] => {
    const found: Span[] = []
    let from = 0
    const wasOpen = left > 0
    for (const match of line.matchAll(BORDER)) {
      const span = spanOf(match, 0)
      if (match[1] === undefined && beginsKey(line, span.to)) {
        if (left <= 0) from = span.from
        left = WINDOW
        found.push(span)
      } else if (match[1] !== undefined && left > 0) {
        left = 0
        found.push({ from, to: span.to })
      }
    }
    const isBody = wasOpen && inBody && /^[\s>|]*[A-Za-z0-9+/=]+\s*$/.test(line)
    inBody = left > 0 && (isBody || found.length > 0 || (inBody && /^\s*$|^\s*[\w-]+: /.test(line)))
    if (left > 0) found.push(...(isBody ? [{ from: 0, to: line.length }] : keyLines(line, 0, line.length)))
    left -= line.length + 1
    return found
  }
  return (text) => {
    if (left <= 0 && !text.includes('-----')) return []
    let base = 0
    return text.split('\n').flatMap((line) => {
      const at = base
      base += line.length + 1
      return inLine(line).map(({ from, to }) => ({ from: at + from, to: at + to }))
    })
  }
}

/** A line break follows a key's header, a real or an escaped one; code that only looks for the header has none. */
function beginsKey(text: string, at: number): boolean {
  return /^[ \t]*(?:$|[\r\n]|\\+[rn])/.test(text.slice(at, at + 16))
}

function keyLines(text: string, from: number, to: number): Span[] {
  return from >= to ? [] : [...text.slice(from, to).matchAll(KEY_LINE)].map((match) => spanOf(match, from))
}

function spanOf(match: RegExpExecArray, base: number): Span {
  return { from: base + match.index, to: base + match.index + match[0].length }
}
