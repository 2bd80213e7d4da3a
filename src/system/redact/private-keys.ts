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

/** The same for a text that comes line by line: what is hidden of each line. */
export function privateKeyLines(): (line: string) => Span[] {
  let left = 0 // units in which the key may go on
  let inBody = false // the last line was the key's
  return (line) => {
    const hidden: Span[] = []
    let from = 0
    let isHeader = false
    for (const match of line.matchAll(BORDER)) {
      const span = spanOf(match, 0)
      if (match[1] === undefined) {
        if (!beginsKey(line, span.to)) continue
        hidden.push(span)
        if (left <= 0) from = span.from
        left = WINDOW
        isHeader = true
      } else if (left > 0) {
        hidden.push({ from, to: span.to })
        left = 0
        isHeader = false
      }
    }
    inBody = left > 0 && (isHeader || (inBody && /^\s*$|^\s*[\w-]+: |^[\s>|]*[A-Za-z0-9+/=]+\s*$/.test(line)))
    if (inBody && !isHeader && /^[\s>|]*[A-Za-z0-9+/=]+\s*$/.test(line))
      hidden.push({ from: 0, to: line.length })
    if (left > 0) hidden.push(...keyLines(line, 0, line.length))
    left -= line.length + 1
    return hidden
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
