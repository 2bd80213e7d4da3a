// The text of a program's output: whole lines out of arbitrary chunks, and a bounded copy of everything.

/** A line longer than this many UTF-16 units is delivered cut; the rest of it is dropped. */
export const LINE_LIMIT = 1024 * 1024

/** After so many lines of a stream, those of a portion come together, unless a `{` stands in it, which may begin an event. */
const MOST_LINES = 50_000

/** Takes bytes in any portions and hands out whole lines. `push` returns the text that the portion decoded to. */
export type LineSplitter = { push(chunk: Uint8Array): string; end(): string }

/**
 * Lines decoded as UTF-8 across chunk borders (bad bytes become U+FFFD), split at `\n` only (but see MOST_LINES), one
 * `\r` before it trimmed; what follows the last `\n` is delivered by `end()`. U+2028 and a lone `\r` are ordinary characters.
 */
export function lineSplitter(onLine: (line: string) => void, limit = LINE_LIMIT): LineSplitter {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let pending = ''
  let cut = false
  let count = 0

  const keep = (text: string): void => {
    if (cut) return
    pending += text
    if (pending.length <= limit) return
    // Never between the halves of a surrogate pair, and never cut off a `\r` that may belong to the line end.
    pending = pending.slice(0, isHighSurrogate(pending.charCodeAt(limit - 1)) ? limit - 1 : limit)
    cut = true
  }
  const deliver = (): void => {
    const line = !cut && pending.endsWith('\r') ? pending.slice(0, -1) : pending
    pending = ''
    cut = false
    count += 1
    onLine(line)
  }
  const take = (text: string): string => {
    let start = 0
    if (count >= MOST_LINES && !text.includes('{') && !pending.includes('{')) {
      start = text.lastIndexOf('\n') + 1
      if (start > 0) keep(text.slice(0, start - 1))
      if (start > 0) deliver()
    }
    for (let end = text.indexOf('\n', start); end !== -1; end = text.indexOf('\n', start)) {
      keep(text.slice(start, end))
      deliver()
      start = end + 1
    }
    if (start < text.length) keep(text.slice(start))
    return text
  }
  return {
    push: (chunk) => take(decoder.decode(chunk, { stream: true })),
    end: () => {
      const rest = take(decoder.decode())
      if (pending !== '' || cut) deliver()
      return rest
    },
  }
}

/** What `capture` kept, cut further; what both left out is counted together. */
export function cutAgain(text: string, limitBytes: number): string {
  const kept = capture(limitBytes)
  kept.push(text)
  const cut = kept.text()
  const first = LEFT_OUT.exec(text)
  if (first === null || cut.includes(first[0])) return cut
  return cut.replace(LEFT_OUT, (_, bytes: string) =>
    leftOutLine(Number(bytes) + Number(first[1]) - first[0].length),
  )
}

const LEFT_OUT = /\n\.\.\. (\d+) bytes left out \.\.\.\n/

function leftOutLine(bytes: number): string {
  return `\n... ${bytes} bytes left out ...\n`
}

/** Keeps the head and the tail of a text of any length. */
export type Capture = { push(text: string): void; text(): string }

/**
 * At most `limitBytes` (UTF-8) of what was pushed, half of it from the start and half from the end, with a line
 * `... N bytes left out ...` between them when something is missing. Characters are never cut in two.
 */
export function capture(limitBytes: number): Capture {
  const limit = Math.max(0, Math.floor(limitBytes))
  const headLimit = Math.floor(limit / 2)
  const tailLimit = limit - headLimit
  let head = ''
  let headBytes = 0
  const tail: { text: string; bytes: number }[] = []
  let tailBytes = 0
  let leftOut = 0

  return {
    push(text) {
      let rest = text
      if (headBytes < headLimit) {
        const bytes = Buffer.from(text, 'utf8')
        const fits = wholeCharacters(bytes.subarray(0, headLimit - headBytes))
        const part = bytes.toString('utf8', 0, fits)
        head += part
        // What is left of a character that does not fit is no room for others.
        headBytes = fits < bytes.length ? headLimit : headBytes + fits
        rest = rest.slice(part.length)
      }
      if (rest === '') return
      const bytes = Buffer.byteLength(rest)
      tail.push({ text: rest, bytes })
      tailBytes += bytes
      while (tail[0] !== undefined && tailBytes - tail[0].bytes >= tailLimit) {
        leftOut += tail[0].bytes
        tailBytes -= tail[0].bytes
        tail.shift()
      }
    },
    text() {
      const all = Buffer.from(tail.map(({ text }) => text).join(''), 'utf8')
      const room = limit - Buffer.byteLength(head) // of the head's half, too, as long as nothing is missing
      if (leftOut === 0 && all.length <= room) return head + all.toString('utf8')
      const cut = all.subarray(Math.max(0, all.length - tailLimit))
      const last = cut.subarray(firstCharacter(cut))
      return `${head}${leftOutLine(leftOut + all.length - last.length)}${last.toString('utf8')}`
    },
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

/** Index of the first byte that begins a character. */
function firstCharacter(bytes: Uint8Array): number {
  let at = 0
  while (at < bytes.length && isContinuation(bytes[at])) at += 1
  return at
}

/** Length without an unfinished last character. The bytes are valid UTF-8 apart from the cut. */
function wholeCharacters(bytes: Uint8Array): number {
  let lead = bytes.length - 1
  while (lead >= 0 && isContinuation(bytes[lead])) lead -= 1
  if (lead < 0) return 0
  const first = bytes[lead] ?? 0
  const size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  return lead + size <= bytes.length ? bytes.length : lead
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
