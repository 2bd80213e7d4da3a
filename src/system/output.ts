// The text of a program's output: whole lines out of arbitrary chunks, and a bounded copy of everything.
import { StringDecoder } from 'node:string_decoder'

/** UTF-16 units. The rest of a longer line is dropped. */
const LINE_LIMIT = 1024 * 1024

/**
 * After this many lines, all lines of one chunk are delivered as one, for speed. A chunk with a `{` is split as before: it may have an
 * event.
 */
const MAX_SEPARATE_LINES = 50_000

/**
 * Takes bytes in any portions and calls `onLine` with whole lines. `push` returns the text that the portion decoded to.
 * - Bytes are decoded as UTF-8 across the borders of portions; bad bytes become U+FFFD.
 * - Lines end at `\n` only (but see MAX_SEPARATE_LINES). One `\r` before it is removed. U+2028 and a lone `\r` are ordinary characters.
 * - `end()` delivers what follows the last `\n`.
 */
export function lineSplitter(onLine: (line: string) => void, limit = LINE_LIMIT) {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let pending = ''
  let isCut = false
  let lineCount = 0

  const append = (text: string): void => {
    if (isCut) return
    pending += text
    if (pending.length <= limit) return
    // A surrogate pair is not cut in two.
    pending = pending.slice(0, limit).replace(/[\ud800-\udbff]$/, '')
    isCut = true
  }
  const deliver = (): void => {
    // If the line was cut, a `\r` at the cut is not its end.
    const line = !isCut && pending.endsWith('\r') ? pending.slice(0, -1) : pending
    pending = ''
    isCut = false
    lineCount += 1
    onLine(line)
  }
  const takeText = (text: string): string => {
    let start = 0
    if (lineCount >= MAX_SEPARATE_LINES && !text.includes('{') && !pending.includes('{')) {
      start = text.lastIndexOf('\n') + 1
      if (start > 0) {
        append(text.slice(0, start - 1))
        deliver()
      }
    }
    for (let end = text.indexOf('\n', start); end !== -1; end = text.indexOf('\n', start)) {
      append(text.slice(start, end))
      deliver()
      start = end + 1
    }
    if (start < text.length) append(text.slice(start))
    return text
  }
  return {
    push: (chunk: Uint8Array): string => takeText(decoder.decode(chunk, { stream: true })),
    end: (): string => {
      const rest = takeText(decoder.decode())
      if (pending !== '' || isCut) deliver()
      return rest
    },
  }
}

/** Shortens the text of a `capture` further. If the line of the first cut is lost, its count is added to that of the second. */
export function shortenCaptured(text: string, limitBytes: number): string {
  const copy = capture(limitBytes)
  copy.push(text)
  const shortened = copy.text()
  const firstCut = LEFT_OUT.exec(text)
  if (firstCut === null || shortened.includes(firstCut[0])) return shortened
  const [firstLine, firstBytes] = firstCut
  // The second cut has counted the line of the first one, which is not part of the original text.
  return shortened.replace(LEFT_OUT, (_, bytes: string) =>
    leftOutLine(Number(bytes) + Number(firstBytes) - firstLine.length),
  )
}

const LEFT_OUT = /\n\.\.\. (\d+) bytes left out \.\.\.\n/

function leftOutLine(bytes: number): string {
  return `\n... ${bytes} bytes left out ...\n`
}

/**
 * Keeps the head and the tail of a text of any length: at most `limitBytes` (UTF-8), half of it from each end. If something is missing,
 * the line `... N bytes left out ...` is between them. Characters are never cut in two.
 */
export function capture(limitBytes: number) {
  const limit = Math.max(0, Math.floor(limitBytes))
  const headLimit = Math.floor(limit / 2)
  const tailLimit = limit - headLimit
  let head = ''
  let headBytes = 0
  const tail: { text: string; bytes: number }[] = []
  let tailBytes = 0
  let leftOut = 0

  return {
    push(text: string): void {
      let rest = text
      if (headBytes < headLimit) {
        const bytes = Buffer.from(text, 'utf8')
        const room = headLimit - headBytes
        // Only whole characters. If the last one does not fit, its room stays unused.
        const part = new StringDecoder('utf8').write(bytes.subarray(0, room))
        head += part
        headBytes = Math.min(headBytes + bytes.length, headLimit)
        rest = text.slice(part.length)
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
    text(): string {
      const all = Buffer.from(tail.map(({ text }) => text).join(''), 'utf8')
      // While nothing is left out, the tail may also use the room that is free in the head's half.
      const room = limit - Buffer.byteLength(head)
      if (leftOut === 0 && all.length <= room) return head + all.toString('utf8')
      let start = Math.max(0, all.length - tailLimit)
      while (isContinuation(all[start])) start += 1
      return `${head}${leftOutLine(leftOut + start)}${all.toString('utf8', start)}`
    },
  }
}

/** Whether a byte of UTF-8 continues a character. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
