// Private keys in PEM: from header to footer, or as far as lines look like a key's.

type Span = { from: number; to: number }

const BORDER =
  /-----(?:BEGIN|(END)) (?:(?:RSA |EC |DSA |OPENSSH |ENCRYPTED |ANY )?PRIVATE KEY|PGP PRIVATE KEY BLOCK)-----/g
/** How far behind a header its footer is looked for (a 16,384 bit RSA key has 12,700 characters). */
const WINDOW = 16_384
const KEY_LINE = /[A-Za-z0-9+/=]{24,}/g
/** The last line of a key may be short. */
const WHOLE_LINE = /^[\s>|]*[A-Za-z0-9+/=]+\s*$/
const BLANK_OR_NOTE = /^\s*$|^\s*[\w-]+: /

/** Finds the private keys in texts of whole lines that follow each other: where they stand in each. */
export function privateKeyFinder(): (text: string) => Span[] {
  let base = 0 // offsets count from the first text
  let header = Number.NEGATIVE_INFINITY
  let inBody = false // the last line was the key's
  const isOpen = (at: number): boolean => at - header <= WINDOW

  const inLine = (line: string, at: number): Span[] => {
    const found: Span[] = []
    const wasOpen = isOpen(at)
    for (const match of line.matchAll(BORDER)) {
      const from = at + match.index
      const to = from + match[0].length
      if (match[1] === undefined) {
        if (!beginsKey(line, to - at)) continue
        header = from
        found.push({ from, to })
      } else if (isOpen(from)) {
        found.push({ from: header, to })
        header = Number.NEGATIVE_INFINITY
      }
    }
    const isBody = wasOpen && inBody && WHOLE_LINE.test(line)
    inBody = isOpen(at) && (isBody || found.length > 0 || (inBody && BLANK_OR_NOTE.test(line)))
    if (isBody) found.push({ from: at, to: at + line.length })
    else if (isOpen(at))
      for (const { index, 0: one } of line.matchAll(KEY_LINE))
        found.push({ from: at + index, to: at + index + one.length })
    return found
  }

  return (text) => {
    const began = base
    base += text.length + 1
    if (!isOpen(began) && !text.includes('-----')) return []
    let at = began
    return text.split('\n').flatMap((line) => {
      const found = inLine(line, at)
      at += line.length + 1
      return found.map(({ from, to }) => ({ from: Math.max(0, from - began), to: to - began }))
    })
  }
}

/** A line break follows a key's header, a real or an escaped one; code that only looks for the header has none. */
function beginsKey(text: string, at: number): boolean {
  return /^[ \t]*(?:$|[\r\n]|\\+[rn])/.test(text.slice(at, at + 16))
}
