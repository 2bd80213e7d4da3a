// Finds places in files in the output of gates, so that a check can show each message at its line.

import type { Annotation } from '../engine/model/gate.ts'
import { truncate } from '../engine/model/text.ts'
import { withoutControls } from '../system/workflow-commands.ts'
import type { ResolvePath } from './resolver.ts'

const MAX_ANNOTATIONS = 50
/** More are found than are shown, because those in changed files are shown first. */
const MAX_FOUND = 500
const MAX_MESSAGE = 600
/** Characters of a line that are read. */
const MAX_LINE = 1_000

type LinePlace = { name: string; line: string }
type Level = Annotation['level']

/** Place and message in one line: tsc; maven; GitHub's own commands; kotlin; a test of gradle. */
const PLACED = [
  /^(?<name>[^()]+)\((?<line>\d{1,7}),\d{1,7}\): (?<level>error|warning|info|message)\b:?\s*(?<text>.*)$/,
  /^\[(?<level>ERROR|WARNING)\]\s+(?<name>[^\s[\]]+):\[(?<line>\d{1,7}),\d{1,7}\]\s*(?<text>.*)$/,
  /^::(?<level>error|warning|notice) file=(?<name>[^,:]+),line=(?<line>\d{1,7})[^:]*::(?<text>.*)$/,
  /^(?<level>[ew]): (?<name>\S{1,500}?):(?<line>\d{1,7}):\d{1,7}:? (?<text>.*)$/,
  /^\s+(?<text>[\w.$]{1,200}(?:Error|Exception|Failure)\w{0,50}) at (?<name>[\w.-]{1,200}):(?<line>\d{1,7})$/,
]
/** In a line that begins with a place: `:1:2: text`, `:1: text`, `:1:2 - error TS1: text`, `:1:2 lint/rule`. */
const PLACE_FIRST =
  /:(\d{1,7})(?::\d{1,7})?(?::(?=\s|$)| - | (?=(?:lint|parse|format|assist|suppressions)\b))\s*/
/** A place without a message, which belongs to the message before it: cargo and ruff, vitest, stack frames, node's TAP, go's panic. */
const FRAME = /^\s*(?:(?:-->|❯|at|location:|File:)\s|\/\S+ \+0x[\da-f]+$)/
const HEADING =
  /^(?:error|warning|panic)(?:\[\w+\])?:|^(?:[\w.]*(?:Error|Exception|Failure))\b|^(?:not ok\b|[✖✗×●]\s|FAIL\b|--- FAIL)|^[A-Z]{1,4}\d{3,4}\s/
/** The name of a test that failed. */
const TEST = /^(?:✖|✗|×|●|not ok|FAIL|--- FAIL)\s+([^:]*?)(?: \([\d.]+ ?m?s\))?$/
/** A message that pytest, testify and biome print near the place, not in its line. */
const NEARBY = /^\s*(?:Error:|[×✖!ℹi])\s+(.*)$/

/**
 * The first `most` places in known files that the output names, in its order, each with its message. It reads the output of tsc,
 * eslint, biome, node --test, jest, vitest, pytest, mypy, ruff, go, cargo, javac and maven. It also reads that of any tool that
 * writes `path:line:col: message`. A place in an unknown file is left out.
 */
export function annotationsFrom(output: string, resolve: ResolvePath, most = MAX_FOUND): Annotation[] {
  return new Reader(outputLines(output), resolve).read(most)
}

/** The annotations that a check shows: those in changed files first, without repetitions. */
export function selectAnnotations(
  found: readonly Annotation[],
  isChanged: (path: string) => boolean,
): Annotation[] {
  const own = new Map(
    found.map((one) => [`${one.path}\0${one.line}\0${one.message}`, one] as const).reverse(),
  )
  const all = [...own.values()].reverse()
  const [near, far] = [all.filter(({ path }) => isChanged(path)), all.filter(({ path }) => !isChanged(path))]
  return [...near, ...far].slice(0, MAX_ANNOTATIONS)
}

class Reader {
  readonly #lines: readonly string[]
  readonly #resolve: ResolvePath
  readonly #found = new Map<string, Annotation>()
  /** The last line with an error message; '' once a place was found for it. */
  #heading = ''
  /** The file that eslint's list is about. */
  #listed: string | null = null
  /** The innermost known place of a traceback. */
  #frame: LinePlace | null = null
  /** Pytest's message on the failure (`E ...`). */
  #pytestMessage = ''

  constructor(lines: readonly string[], resolve: ResolvePath) {
    this.#lines = lines
    this.#resolve = resolve
  }

  read(most: number): Annotation[] {
    for (const [at, line] of this.#lines.entries()) {
      if (this.#found.size >= most) break
      if (line.trim() === '') this.#listed = null
      else if (!this.#readLine(line, at)) this.#remember(line.trim())
    }
    return [...this.#found.values()]
  }

  /** Tries lines with place and message first, then places whose message is before or after them. */
  #readLine(line: string, at: number): boolean {
    for (const pattern of PLACED) {
      const { name = '', line: number = '', level, text = '' } = pattern.exec(line)?.groups ?? {}
      if (name !== '') return this.#add({ name, line: number }, text, levelOf(level))
    }
    return (
      this.#readListed(line) ||
      this.#readPanic(line, at) ||
      this.#readTrace(line) ||
      this.#readPlain(line, at) ||
      this.#readFrame(line)
    )
  }

  #add({ name, line }: LinePlace, message: string, level: Level): boolean {
    const path = this.#resolve(name)
    const number = Number(line)
    if (path === null || !Number.isSafeInteger(number) || number < 1) return false
    const text = truncate(message.trim(), MAX_MESSAGE)
    const key = `${path}\0${number}\0${text}`
    if (!this.#found.has(key)) this.#found.set(key, { path, line: number, message: text, level })
    return true
  }

  /** eslint's list: the path on its own line, then `  1:2  error  text  rule`. */
  #readListed(line: string): boolean {
    const [item, number = '', level] = /^\s+(\d{1,7}):\d{1,7}\s+(error|warning)\s+/.exec(line) ?? []
    if (item !== undefined && this.#listed !== null) {
      const text = line.slice(item.length).replace(/ {2,}/g, ' - ')
      return this.#add({ name: this.#listed, line: number }, text, levelOf(level))
    }
    if (/^\s|\s$|:\d/.test(line) || this.#resolve(line) === null) return false
    this.#listed = line
    return true
  }

  #readPlain(line: string, at: number): boolean {
    const [match, number = ''] = PLACE_FIRST.exec(line) ?? []
    if (match === undefined) return false
    const [start, rest] = [line.indexOf(match), line.slice(line.indexOf(match) + match.length)]
    const before = line.slice(0, start).trim()
    const name = this.#resolve(before) === null ? (before.split(/[\s(]/).at(-1) ?? '') : before
    const [kind = '', word] = /^(?:fatal )?(error|warning|note|info|notice)\b:?\s*/i.exec(rest) ?? []
    const text = rest.slice(kind.length)
    const isWithoutMessage =
      /^(?:\w+(?:Error|Exception|Failed|Exit))?$|^(?:lint|parse|format|assist|suppressions)\b/.test(text)
    const near = isWithoutMessage
      ? this.#pytestMessage || this.#after(at) || this.#heading || text || 'failed here'
      : text
    // eslint's unix format says the level at the end: `[Warning/rule]`.
    const isWarning = word === undefined && /\[Warning(?:\/[^\]]*)?\]$/.test(line)
    if (!this.#add({ name, line: number }, near, isWarning ? 'warning' : levelOf(word))) return false
    this.#pytestMessage = ''
    return true
  }

  /** Rust: `thread 'x' panicked at path:1:2:` with the text below. */
  #readPanic(line: string, at: number): boolean {
    const place = line.includes('panicked at ') ? placeAtEnd(line.replace(/:$/, '')) : null
    return place !== null && this.#add(place, (this.#lines[at + 1] ?? 'panicked here').trim(), 'failure')
  }

  /** The innermost known `File "path", line 1` (Python) or `path:1` (Node) belongs to the error below it. */
  #readTrace(line: string): boolean {
    // Two expressions: Node 20 refuses one with the same group name twice.
    const python = /^\s*File "(?<name>[^"]+)", line (?<number>\d{1,7})/
    const node = /^(?<name>\S+):(?<number>\d{1,7})$/
    const { name = '', number = '' } = (python.exec(line) ?? node.exec(line))?.groups ?? {}
    const frame = name === '' ? undefined : line
    const message = /^E\s{1,8}(\S.*)$/.exec(line)?.[1]
    if (frame !== undefined && this.#resolve(name) !== null) this.#frame = { name, line: number }
    if (message !== undefined) this.#pytestMessage ||= message
    if (frame !== undefined || message !== undefined) return true
    const place = this.#frame
    if (place === null || !/^[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Failure)\b/.test(line))
      return false
    this.#frame = null
    return this.#add(place, line, 'failure')
  }

  /** A stack frame: the first one in a known file gets the heading as its message. */
  #readFrame(line: string): boolean {
    if (!FRAME.test(line)) return false
    const place = placeAtEnd(line.trim().replace(/[)'"]$| \+0x[\da-f]+$/, ''))
    const level = levelOf(/^warning/.exec(this.#heading)?.[0])
    if (place !== null && this.#heading !== '' && this.#add(place, this.#heading, level)) this.#heading = ''
    return true
  }

  /** Remembers an error message for a place that follows. */
  #remember(text: string): void {
    // The error that a test threw is printed below the test's name.
    const name = TEST.exec(this.#heading)?.[1]
    const isThrown = name !== undefined && /^[\w.]*(?:Error|Exception|Failure)\b/.test(text)
    if (HEADING.test(text)) this.#heading = isThrown ? `${name}: ${text}` : text
    if (/^_{3,}|^={3,}/.test(text)) this.#pytestMessage = ''
  }

  /** A message in one of the next lines, or ''. */
  #after(at: number): string {
    for (const line of this.#lines.slice(at + 1, at + 12)) {
      const text = NEARBY.exec(line)?.[1]
      if (text !== undefined) return text.trim()
    }
    return ''
  }
}

function placeAtEnd(text: string): LinePlace | null {
  const end = /:(\d{1,7})(?::\d{1,7})?$/.exec(text)
  const name = /[^('" ]*$/.exec(text.slice(0, end?.index))?.[0] ?? ''
  return end === null ? null : { name, line: end[1] ?? '' }
}

function levelOf(word: string | undefined): Annotation['level'] {
  if (word === undefined || /^(?:fatal|e)/i.test(word)) return 'failure'
  return /^w/i.test(word) ? 'warning' : 'notice'
}

function outputLines(output: string): string[] {
  return output.split(/\r\n|\n|\r/).map((line) => withoutControls(unwrapGoTest(line.slice(0, MAX_LINE))))
}

/** The line of output inside of an event of `go test -json`; any other line is returned unchanged. */
function unwrapGoTest(line: string): string {
  const at = line.startsWith('{"Time":') ? line.indexOf(OUTPUT) : -1
  return at === -1 ? line : line.slice(at + OUTPUT.length).replace(/(?:\\n)?"\}$/, '')
}
const OUTPUT = '"Output":"'
