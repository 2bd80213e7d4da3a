// Matches a text in three views: without line breaks, with escapes decoded, and with hex decoded to bytes.
import { type Matcher, Reader } from './matcher.ts'

/** Escapes of URLs and quoted-printable, of program text and shells, and of HTML. An escaped line break is decoded to nothing. */
const ESCAPE =
  /[%=]([0-9A-Fa-f]{2})|=\r?\n|\\(?:u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2})|([0-3][0-7]{2})|[nr]|([^A-Za-z0-9\r\n]))|&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|(amp|lt|gt|quot|apos));/y
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
/** A word of whole bytes: `73`, `7333`, `0x73`. Any other word ends a value. */
const HEX_WORD = /\b(?:0?[xX])?((?:[0-9A-Fa-f]{2})+)\b/g
/** The maximum number of characters between two hex words of one value: a separator, or a line break with indentation. */
const HEX_GAP = 24

/**
 * A match in a view, at `from` to `to` of the text. `length`: how many of its last units are a known value; 0 for none. `start`: the
 * number of the key start that ends there, from 1; 0 for none.
 */
export type Match = { length: number; start: number; from: number; to: number }

/** Matches consecutive texts: a value may begin in one and end in the next. */
export class Views {
  readonly #matcher: Matcher
  readonly #onSight: (sight: Match) => void
  readonly #plain: Reader
  readonly #undone: Reader
  readonly #hex: Reader
  /** Position of the last escape, or -1. The decoded view is matched only while a possible value contains an escape. */
  #escape = -1
  #hexEnd = Number.NEGATIVE_INFINITY

  constructor(matcher: Matcher, onMatch: (sight: Match) => void) {
    this.#matcher = matcher
    this.#onSight = onMatch
    this.#plain = new Reader(matcher)
    this.#undone = new Reader(matcher)
    this.#hex = new Reader(matcher)
  }

  /** `base` is the offset of the text in all texts. */
  read(text: string, base: number): void {
    this.#readUnits(text, base)
    this.#readHex(text, base)
  }

  reset(): void {
    for (const reader of [this.#plain, this.#undone, this.#hex]) reader.reset()
    this.#escape = -1
    this.#hexEnd = Number.NEGATIVE_INFINITY
  }

  /** Positions at which a value may begin of which at least `least` units were read and the rest is still to come. */
  beginnings(least: number): number[] {
    const readers = [this.#plain, this.#undone, this.#hex]
    return readers.filter(({ depth }) => depth >= least).map((it) => it.positionOf(it.depth))
  }

  #readUnits(text: string, base: number): void {
    const plain = this.#plain
    const { root } = this.#matcher
    let undoneTo = 0 // after the last escape
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at)
      if (at >= undoneTo && isEscapeStart(unit)) undoneTo = this.#readEscape(text, at, base)
      if (unit === 10 || unit === 13) continue
      if (plain.state !== 0 || root[unit] !== 0) {
        plain.take(unit, base + at)
        if (plain.state !== 0) this.#look(plain, base + at + 1)
      }
      if (this.#escape !== -1 && at >= undoneTo) this.#takeUndone(unit, base + at, base + at + 1)
    }
  }

  /** Decodes an escape at this position; gives the position after it, or `at` if there is none. */
  #readEscape(text: string, at: number, base: number): number {
    ESCAPE.lastIndex = at
    const match = ESCAPE.exec(text)
    if (match === null) return at
    if (this.#escape === -1) this.#undone.follow(this.#plain)
    this.#escape = base + at
    const units = decodeEscape(match)
    for (let index = 0; index < units.length && this.#escape !== -1; index += 1)
      this.#takeUndone(units.charCodeAt(index), base + at, base + ESCAPE.lastIndex)
    return ESCAPE.lastIndex
  }

  #takeUndone(unit: number, from: number, to: number): void {
    const undone = this.#undone
    undone.take(unit, from)
    if (undone.state !== 0) this.#look(undone, to)
    // If the possible value no longer contains an escape, the plain view finds it as well.
    if (undone.state === 0 || undone.positionOf(undone.depth) > this.#escape) {
      this.#escape = -1
      undone.reset()
    }
  }

  #readHex(text: string, base: number): void {
    const hex = this.#hex
    const isGap = (from: number, to: number): boolean =>
      base + to - this.#hexEnd <= HEX_GAP && !/\w/.test(text.slice(Math.max(0, from), to))
    HEX_WORD.lastIndex = 0
    for (let match = HEX_WORD.exec(text); match !== null; match = HEX_WORD.exec(text)) {
      const end = HEX_WORD.lastIndex
      if (hex.state !== 0 && !isGap(this.#hexEnd - base, match.index)) hex.reset()
      const prefix = match[0].length - (match[1] as string).length
      const bytes = Buffer.from(match[1] as string, 'hex')
      for (let index = 0; index < bytes.length; index += 1) {
        const at = base + match.index + (index === 0 ? 0 : prefix + 2 * index)
        this.#takeByte(bytes[index] as number, at, base + match.index + prefix + 2 * index + 2)
      }
      this.#hexEnd = base + end
    }
    if (hex.state !== 0 && !isGap(this.#hexEnd - base, text.length)) hex.reset()
  }

  /** Line breaks are left out in every view, and zeros so that UTF-16 is matched. */
  #takeByte(byte: number, from: number, to: number): void {
    if (byte === 0 || byte === 10 || byte === 13) return
    this.#hex.take(byte, from)
    if (this.#hex.state !== 0) this.#look(this.#hex, to)
  }

  #look(reader: Reader, to: number): void {
    const length = this.#matcher.value[reader.state] as number
    const start = this.#matcher.start[reader.state] as number
    if (length === 0 && start === 0) return
    this.#onSight({ length, start, from: reader.positionOf(length), to })
  }
}

function isEscapeStart(unit: number): boolean {
  return unit === 92 || unit === 37 || unit === 38 || unit === 61 // \ % & =
}

function decodeEscape([
  ,
  byte,
  unit,
  point,
  hex,
  octal,
  plain,
  decimal,
  hexPoint,
  name,
]: RegExpExecArray): string {
  if (plain !== undefined) return plain
  if (name !== undefined) return ENTITIES[name] ?? ''
  const inHex = byte ?? unit ?? point ?? hex ?? hexPoint
  const code = Number.parseInt(inHex ?? octal ?? decimal ?? '', inHex !== undefined ? 16 : octal ? 8 : 10)
  return Number.isNaN(code) || code > 0x10ffff ? '' : String.fromCodePoint(code)
}
