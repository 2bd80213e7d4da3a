// Finds places in files in what gates print, so that a check can show each message where it belongs.

import type { Annotation } from '../model/gate.ts'
import { withoutControls } from '../system/workflow-commands.ts'

const MAX_ANNOTATIONS = 50
const MAX_MESSAGE = 600
/** Only so much of a line, and of the output, is looked at. */
const MAX_LINE = 1_000
const MAX_OUTPUT = 4_000_000
const MAX_LINES = 200_000

/**
 * At most 50 places in known files that the output names, in its order, each with what was said about it: tsc, eslint,
 * biome, node --test, jest, vitest, pytest, mypy, ruff, go, cargo, javac, maven and whatever writes
 * `path:line:col: message`. `knownPaths` are the repository's, with `/`; a place elsewhere is left out. Absolute
 * paths and paths from a folder count when they can only mean one known file.
 */
export function annotationsFrom(output: string, knownPaths: Set<string>): Annotation[] {
  const lines = plainLines(output)
  const resolve = resolver(knownPaths)
  const found = new Map<string, Annotation>()
  const add = (name: string, line: string | number, message: string, level: Annotation['level']): boolean => {
    const path = resolve(name)
    const number = Number(line)
    if (path === null || !(number >= 1 && number <= 9_999_999)) return false
    const text = bounded(message)
    const key = `${path}\0${number}\0${text}`
    if (found.size < MAX_ANNOTATIONS && !found.has(key))
      found.set(key, { path, line: number, message: text, level })
    return true
  }
  const reader: Reader = {
    lines,
    resolve,
    add,
    heading: '',
    level: 'failure',
    listed: null,
    frame: null,
    said: '',
  }
  for (let at = 0; at < lines.length && found.size < MAX_ANNOTATIONS; at += 1) {
    const line = lines[at] as string
    if (line.trim() !== '') readLine(reader, line, at)
    else reader.listed = null
  }
  return [...found.values()]
}

type Reader = {
  lines: string[]
  resolve: (name: string) => string | null
  add: (name: string, line: string | number, message: string, level: Annotation['level']) => boolean
  /** The last line that says what went wrong; '' once a place was found for it. */
  heading: string
  level: Annotation['level']
  /** The file that eslint's list is about. */
  listed: string | null
  /** The innermost known place of a Python traceback. */
  frame: { name: string; line: string } | null
  /** What pytest says about the failure (`E ...`). */
  said: string
}

function readLine(reader: Reader, line: string, at: number): void {
  // In this order: what says both place and message, then places that belong to a message before or after them.
  for (const read of [
    readBracketed,
    readCommand,
    readListed,
    readNodeTest,
    readPanic,
    readPython,
    readPlain,
    readFrame,
  ]) {
    if (read(reader, line, at)) return
  }
  remember(reader, line)
}

// ---------------------------------------------------------------- place and message in one line

/** `a.ts(1,2): error TS1: text` (tsc), `[ERROR] /a/B.java:[1,2] text` (maven). */
function readBracketed({ add }: Reader, line: string): boolean {
  const tsc = /\((\d{1,7}),\d{1,7}\): (error|warning|info|message)\b:?\s*/.exec(line)
  if (tsc !== null)
    return add(
      line.slice(0, tsc.index),
      tsc[1] as string,
      line.slice(tsc.index + tsc[0].length),
      levelOf(tsc[2]),
    )
  const maven = /^\[(ERROR|WARNING)\]\s+([^\s[\]]+):\[(\d{1,7}),\d{1,7}\]\s*/.exec(line)
  return (
    maven !== null &&
    add(maven[2] as string, maven[3] as string, line.slice(maven[0].length), levelOf(maven[1]))
  )
}

/** `::error file=a.ts,line=1::text`, which some tools write when they see GitHub Actions. */
function readCommand({ add }: Reader, line: string): boolean {
  const command = /^::(error|warning|notice)\s([^:]*(?::(?!:)[^:]*)*)::(.*)$/.exec(line)
  if (command === null) return false
  const file = /(?:^|[\s,])file=([^,]+)/.exec(command[2] as string)?.[1]
  const number = /(?:^|[\s,])line=(\d{1,7})/.exec(command[2] as string)?.[1]
  return (
    file !== undefined && number !== undefined && add(file, number, command[3] as string, levelOf(command[1]))
  )
}

/** eslint's list: the path on a line of its own, then `  1:2  error  text  rule`. */
function readListed(reader: Reader, line: string): boolean {
  const item = /^\s+(\d{1,7}):\d{1,7}\s+(error|warning)\s+/.exec(line)
  if (item !== null && reader.listed !== null) {
    return reader.add(
      reader.listed,
      item[1] as string,
      line.slice(item[0].length).replace(/ {2,}/g, ' - '),
      levelOf(item[2]),
    )
  }
  if (/^\s|\s$|:\d/.test(line) || reader.resolve(line) === null) return false
  reader.listed = line
  return true
}

/** `path:1:2: text`, `path:1: text`, `path:1:2 - error TS1: text`, `path:1:2 lint/rule`. */
function readPlain(reader: Reader, line: string, at: number): boolean {
  const place =
    /:(\d{1,7})(?::(\d{1,7}))?(?::(?=\s|$)| - | (?=(?:lint|parse|format|assist|suppressions)\b))\s*/.exec(
      line,
    )
  if (place === null) return false
  const before = line.slice(0, place.index).trim()
  const name = reader.resolve(before) === null ? (before.split(/[\s(]/).at(-1) ?? '') : before
  const rest = line.slice(place.index + place[0].length)
  const kind = /^(?:fatal )?(error|warning|note|info|notice)\b:?\s*/i.exec(rest)
  const text = kind === null ? rest : rest.slice(kind[0].length)
  const biome = /^(?:lint|parse|format|assist|suppressions)\b/.test(rest)
  const message = biome ? after(reader, at, /^\s*[×✖!ℹi]\s+(.*)$/, rest) : text
  // pytest ends with the bare name of the error, testify with nothing: the text is near.
  const bare = /^(?:\w+(?:Error|Exception|Failed|Exit))?$/.test(message)
  const full = !bare
    ? message
    : reader.said || after(reader, at, /^\s*Error:\s+(.*)$/, reader.heading || message || 'failed here')
  if (
    !reader.add(name, place[1] as string, full, kind === null ? levelInText(reader, line) : levelOf(kind[1]))
  )
    return false
  reader.said = ''
  return true
}

// ---------------------------------------------------------------- place before or after the message

/** node --test: `test at path:1:2` before the name, or `location: 'path:1:2'` after it. */
function readNodeTest(reader: Reader, line: string, at: number): boolean {
  const start = /^\s*(?:test at |location: ['"]?)/.exec(line)
  const place = start === null ? null : placeAtEnd(line.slice(start[0].length).replace(/['"]$/, ''))
  if (start === null || place === null) return false
  const isTap = line.includes('location:')
  const name = isTap ? reader.heading : (reader.lines[at + 1] ?? '').trim()
  const error = isTap
    ? after(reader, at, /^\s*error: ['"]?(.*?)['"]?$/, '')
    : (reader.lines[at + 2] ?? '').trim()
  return reader.add(place.name, place.line, [name, error].filter((it) => it !== '').join('\n'), 'failure')
}

/** Rust: `thread 'x' panicked at path:1:2:` with the text below, or `panicked at 'text', path:1:2`. */
function readPanic(reader: Reader, line: string, at: number): boolean {
  const start = line.indexOf('panicked at ')
  if (start === -1) return false
  const rest = line.slice(start + 12)
  const place = placeAtEnd(rest.replace(/:$/, ''))
  if (place === null) return false
  const quoted = /^'(.*)', /.exec(rest)?.[1]
  return reader.add(
    place.name,
    place.line,
    quoted ?? (reader.lines[at + 1] ?? 'panicked here').trim(),
    'failure',
  )
}

/** Python: the innermost known `File "path", line 1` belongs to the error at the end of the traceback. */
function readPython(reader: Reader, line: string): boolean {
  const frame = /^\s*File "([^"]+)", line (\d{1,7})/.exec(line)
  if (frame !== null) {
    if (reader.resolve(frame[1] as string) !== null)
      reader.frame = { name: frame[1] as string, line: frame[2] as string }
    return true
  }
  const said = /^E\s{1,8}(\S.*)$/.exec(line)
  if (said !== null) {
    if (reader.said === '') reader.said = said[1] as string
    return true
  }
  if (reader.frame === null || !/^[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Failure)\b/.test(line))
    return false
  const { name, line: number } = reader.frame
  reader.frame = null
  return reader.add(name, number, line, 'failure')
}

/** `--> path:1:2` (cargo, ruff), `❯ path:1:2` (vitest), `at f (path:1:2)`: the first known one after a heading. */
function readFrame(reader: Reader, line: string): boolean {
  if (!/^\s*(?:-->|❯|at)\s/.test(line)) return false
  const place = placeAtEnd(line.trim().replace(/\)$/, ''))
  if (place === null) return true
  if (reader.heading === '') return true
  if (reader.add(place.name, place.line, reader.heading, reader.level)) reader.heading = ''
  return true
}

function placeAtEnd(text: string): { name: string; line: string } | null {
  const end = /:(\d{1,7})(?::\d{1,7})?$/.exec(text)
  if (end === null) return null
  const before = text.slice(0, end.index)
  const start = Math.max(
    before.lastIndexOf('('),
    before.lastIndexOf(' '),
    before.lastIndexOf("'"),
    before.lastIndexOf('"'),
  )
  return { name: before.slice(start + 1), line: end[1] as string }
}

/** Keeps a line that says what went wrong, for a place that follows. */
function remember(reader: Reader, line: string): void {
  const text = line.trim()
  if (
    /^(?:error|warning)(?:\[\w+\])?:|^(?:[\w.]*(?:Error|Exception|Failure))\b|^(?:not ok\b|[✖✗×●]\s|FAIL\b|--- FAIL)|^[A-Z]{1,4}\d{3,4}\s/.test(
      text,
    )
  ) {
    reader.heading = text
    reader.level = levelOf(/^warning/.test(text) ? 'warning' : 'error')
  }
  if (/^_{3,}|^={3,}/.test(text)) reader.said = ''
}

/** The first of the next lines that fits, its first group; otherwise the fallback. */
function after(reader: Reader, at: number, pattern: RegExp, fallback: string): string {
  for (let next = at + 1; next < Math.min(at + 12, reader.lines.length); next += 1) {
    const match = pattern.exec(reader.lines[next] as string)
    if (match !== null) return (match[1] as string).trim()
  }
  return fallback
}

// ---------------------------------------------------------------- texts and paths

function levelOf(word: string | undefined): Annotation['level'] {
  if (word === undefined || /^(?:fatal|err)/i.test(word)) return 'failure'
  return /^warn/i.test(word) ? 'warning' : 'notice'
}

/** eslint's unix format says the level at the end: `[Warning/rule]`. */
function levelInText(_: Reader, line: string): Annotation['level'] {
  return /\[Warning(?:\/[^\]]*)?\]$/.test(line) ? 'warning' : 'failure'
}

function plainLines(output: string): string[] {
  const text =
    output.length > MAX_OUTPUT
      ? `${output.slice(0, MAX_OUTPUT / 2)}\n${output.slice(-MAX_OUTPUT / 2)}`
      : output
  const lines = text.split(/\r\n|\n|\r/)
  const kept =
    lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES / 2), ...lines.slice(-MAX_LINES / 2)] : lines
  return kept.map((line) => withoutControls(line.slice(0, MAX_LINE)))
}

function bounded(message: string): string {
  const text = message.trim()
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE - 3)}...` : text
}

/** Which known file a name means: itself, the known end of an absolute path, or the only one that ends so. */
function resolver(known: Set<string>): (name: string) => string | null {
  const done = new Map<string, string | null>()
  let byBase: Map<string, string[]> | null = null
  const endsWith = (name: string): string | null => {
    if (byBase === null) {
      byBase = new Map()
      for (const path of known) {
        const base = path.slice(path.lastIndexOf('/') + 1)
        const own = byBase.get(base)
        if (own === undefined) byBase.set(base, [path])
        else own.push(path)
      }
    }
    const fits = (byBase.get(name.slice(name.lastIndexOf('/') + 1)) ?? []).filter((path) =>
      path.endsWith(`/${name}`),
    )
    return fits.length === 1 ? (fits[0] as string) : null
  }
  const find = (name: string): string | null => {
    const plain = name
      .trim()
      .replace(/^file:\/\//, '')
      .replaceAll('\\', '/')
      .replace(/^(?:\.\/)+/, '')
    if (known.has(plain)) return plain
    if (!/[./]/.test(plain) || plain.length > 500) return null
    if (!/^(?:\/|[A-Za-z]:\/)/.test(plain)) return endsWith(plain.replace(/^(?:\.\.\/)+/, ''))
    for (let at = plain.indexOf('/'); at !== -1; at = plain.indexOf('/', at + 1)) {
      if (known.has(plain.slice(at + 1))) return plain.slice(at + 1)
    }
    return null
  }
  return (name) => {
    const before = done.get(name)
    if (before !== undefined) return before
    const path = find(name)
    if (done.size < 10_000) done.set(name, path)
    return path
  }
}
