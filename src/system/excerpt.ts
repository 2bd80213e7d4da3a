// The important lines of a long output: what failed, at which place, and how it ended. Knows kinds of lines, not single tools. Pure.
import { withoutControls } from './workflow-commands.ts'

/** UTF-16 units. Of a longer output only the first half and the last half of this size are read. */
const MAX_INPUT = 1024 * 1024
/** UTF-16 units. A longer line is cut before it is classified. */
const MAX_LINE = 1000
const MARK = '[...]'
/** Passed tests, tables, progress: shown only if there is nothing else. */
const NOISE = 0
/** From this value on, a line raises the value of its neighbours. */
const IMPORTANT = 3
/** The least value of the last line, which says how the program ended. */
const LAST_LINE = 6
/** Lines of a smaller value are left out. */
const LEAST_VALUE = 0.3

/** How much a line helps to fix the failure: the first row that matches counts. */
const KINDS: readonly (readonly [worth: number, pattern: RegExp])[] = [
  // Passed tests, whatever words are in their names.
  [
    NOISE,
    /^\s*(?:[✓✔√]|ok\s+\S|PASS\b|--- (?:PASS|SKIP)|=== [A-Z]+\s|# Subtest:|not ok\b.*# (?:TODO|SKIP)\b)/,
  ],
  [NOISE, /(?:\.\.\. ok|\bPASSED(?:\s+\[\s*\d+%\])?)$/],
  // Tables of coverage, rules, progress.
  [NOISE, /(?:\|(?:\s*[\d.]+%?\s*|\s{3,})(?=\||$)){2}|\|\s*(?:% |line %)|\s\d+\s+\d+\s+\d+%(?:\s|$)/],
  [NOISE, /^[\sℹ#[\]A-Z]*[-=+⎯─━_*.|]{8,}$|^\[[A-Z]+\]$/],
  [NOISE, /\d%\s?[|[]|[█▓▒░━⠀-⣿]{3,}|\[[=#]{3,}[>\s.-]*\]|^(?:\S+\s+)?[.sxFE]{5,}\s*(?:\[\s*\d+%\])?$/],
  // Stack frames outside the project, and the advice that tools print under every failure.
  [
    NOISE,
    /^\s*(?:at |File "|❯ |\/).*(?:node_modules\/|node:|site-packages\/|<frozen|\/rustc\/|\/usr\/(?:lib|local)\/|java\.base\/|org\.junit\.)|\((?:node_modules\/|node:)\S+\)$/,
  ],
  [
    NOISE,
    /\[Help \d\]|\bre-run Maven\b|^\[ERROR\] For more information|^npm (?:ERR!|error) (?:code|path|command|A complete log)/i,
  ],
  // Headings that are the same for every failure.
  [NOISE, /^\s*(?:✖ failing tests:|'test failed')$|^ImportError: Failed to import test module: /],
  // The first line of an uncaught error.
  [10, /^(?:Uncaught )?[A-Z]\w*(?:Error|Exception)(?: \[\w+\])?: \S/],
  // What failed.
  [
    10,
    /^\s*(?:not ok\b|[✖✗✕✘×●]\s(?!\d+ problems?\b)|(?:--- )?FAIL(?:ED|URES?)?\b|E\s{2,}\S|(?:error|ERROR)(?:\[\w+\])?:|\[ERROR\]\s+\S|panic:|fatal(?: error)?:)/,
  ],
  [
    7,
    /\b(?:[A-Z]\w*)?(?:Error|Exception|Failure)\b(?: \[\w+\])?(?::|$)|\berror [A-Z]+\d+:|^\s*\d+:\d+\s+error\s|:\d+:\s*(?:fatal )?error\b|\bpanicked at\b|\.\.\. (?:FAILED|FAIL|ERROR)\b/,
  ],
  // Where Python stopped parsing: such an error has no traceback frame.
  [9, /^\s*File ".*", line \d+$/],
  // Two values that should be equal, both on one line.
  [9, /^\s*(?:[-\d'"`[{(]|(?:true|false|null|undefined|None|nil|NaN)\b).{0,200}\s(?:!==?|≠)\s\S/],
  // The difference between actual and expected.
  [
    8,
    /^\s*(?:[+-]\s*\S|(?:expect(?:ed\b|\()|(?:actual|received|left|right|got|want(?:ed)?)\b).*(?:[:=]|\b(?:got|but|to)\b))|:\d+: .*\b(?:expected|got|should|want(?:ed)?)\b/i,
  ],
  // Places in files.
  [
    4,
    /\w\.[A-Za-z]\w{0,5}(?::\d+|\(\d+,\d+\))|^\s*File ".*", line \d+|^\s*>\s*\d+\s*\||^[\s|]*[~^]+(?:\s|$)/,
  ],
  // Numbers of failures; zero failures are noise.
  [
    4,
    /\b[1-9]\d* (?:errors?|fail(?:ed|ures?|ing)?)\b|\b(?:errors?|fail(?:ed|ures?)?)\s{0,3}[:=]?\s{0,3}[1-9]/i,
  ],
  [
    NOISE,
    /\b(?:0|no) (?:errors?|fail(?:ed|ures?|ing)?)\b|\b(?:errors?|fail(?:ed|ures?)?)\s{0,3}[:=]?\s{0,3}0\b/i,
  ],
  [
    2,
    /\b(?:errors?|fail(?:ed|ures?|s|ing)?|exception|assert\w*|timed? ?out|cannot|undefined|refused|denied|not found)\b/i,
  ],
]

/** Erases the line, or goes back to its first column. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OVERWRITES = /\u001b\[(?:2K|[01]?G)/g

/** The lines as a terminal shows them at the end, without colours. Of overwritten text, only failures are kept. */
export function terminalLines(output: string): string[] {
  return output.split('\n').flatMap((line) => {
    const parts = line.replace(OVERWRITES, '\r').split('\r').map(withoutControls)
    const last = parts.findLastIndex((part) => part.trim() !== '')
    const isImportant = (part: string) => valueOfKind(kindOf(part.slice(0, MAX_LINE).trimEnd())) >= IMPORTANT
    return last < 0 ? [''] : parts.filter((part, at) => at === last || isImportant(part))
  })
}

/** The lines as a terminal shows them, redacted. Control sequences go first: one in the middle of a key would hide the key. */
export function cleanLines(output: string, redact: (text: string) => string): string {
  return redact(terminalLines(output).join('\n'))
}

/**
 * At most `bound` bytes (UTF-8) of `output`: the most important lines and their neighbours, in order.
 * Long lines are cut first. `[...]` marks what was left out.
 */
export function excerpt(output: string, bound: number): string {
  const lines = terminalLines(clipMiddle(output)).map((line) => line.trimEnd())
  const text = lines.join('\n')
  if (utf8Bytes(text) <= bound) return text
  if (bound < MARK.length) return ''
  const maxLineLength = Math.min(MAX_LINE, Math.max(40, Math.floor(bound / 6)))
  const cut = text
    .trim()
    .split('\n')
    .map((line) => shortenLine(line, maxLineLength))
  return selectLines(cut, bound, (line) => utf8Bytes(line) + 1, MARK.length + 1)
    .map((lineOrGap) => (typeof lineOrGap === 'number' ? MARK : lineOrGap))
    .join('\n')
}

/** How many rows of KINDS are passed tests. */
const PASSED_KINDS = 2
/** Shorter runs of passed tests stay: they may be the context of a failure. */
const SHORT_RUN = 3

/** The output of a failure for people: of long runs of passed tests only a mark is left. Unchanged if nothing in it reports a failure. */
export function withoutPassed(output: string): string {
  const lines = terminalLines(clipMiddle(output))
  const kinds = lines.map((line) => kindOf(line.slice(0, MAX_LINE).trimEnd()))
  if (!kinds.some((kind) => valueOfKind(kind) >= IMPORTANT)) return output
  const isPassed = kinds.map((kind) => kind >= 0 && kind < PASSED_KINDS)
  const shown: string[] = []
  for (let at = 0; at < lines.length; ) {
    let end = at
    while (isPassed[end] === true) end += 1
    if (end - at > SHORT_RUN) shown.push(MARK)
    else shown.push(...lines.slice(at, Math.max(end, at + 1)))
    at = Math.max(end, at + 1)
  }
  return shown.join('\n')
}

/**
 * The most important lines, in order. A number stands for that many lines left out at that place. Everything together costs at most
 * `budget`; a number costs `gap`.
 */
export function selectLines(
  lines: readonly string[],
  budget: number,
  cost: (line: string) => number,
  gap: number,
): (string | number)[] {
  const kinds = lines.map(kindOf)
  const values = lineValues(lines, kinds)
  const kept = new Array<boolean>(lines.length).fill(false)
  let room = budget - gap
  const keep = (at: number): void => {
    const gaps = 1 - Number(at === 0 || kept[at - 1]) - Number(at === lines.length - 1 || kept[at + 1])
    const price = cost(lines[at] as string) + gap * gaps
    if (kept[at] || price > room) return
    kept[at] = true
    room -= price
  }
  const best = [...values.keys()].filter((at) => (values[at] as number) >= LEAST_VALUE)
  for (const at of best.sort((one, other) => (values[other] as number) - (values[one] as number))) keep(at)
  // No line reports a failure: then the end is shown, as much of it as fits.
  if (!kinds.some((kind) => valueOfKind(kind) >= IMPORTANT)) {
    for (let at = lines.length - 1; at >= 0; at -= 1) keep(at)
  }
  const selected: (string | number)[] = []
  for (const [at, line] of lines.entries()) {
    const before = selected.at(-1)
    if (kept[at] && (line !== '' || (kept[at - 1] && kept[at + 1]))) selected.push(line)
    else if (typeof before === 'number') selected[selected.length - 1] = before + 1
    else selected.push(1)
  }
  return selected
}

/** The `most` most important lines, in order and without indentation. */
export function importantLines(output: string, maxLines: number): string[] {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  return selectLines(lines, maxLines, () => 1, 0).flatMap((line) =>
    typeof line === 'string' ? [line.trim()] : [],
  )
}

/** A command that a runner of scripts prints before it runs it. */
const ECHOED = /^(?:>|\$) \S/

/** The line that says best what failed, without indentation: of equal ones the first. Without any, the last line that is not noise. */
export function tellingLine(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '' && !ECHOED.test(line))
  const values = lines.map((line) => valueOfKind(kindOf(line.slice(0, MAX_LINE).trimEnd())))
  const best = Math.max(...values.slice(0, 100_000), 0)
  const at = best >= IMPORTANT ? values.indexOf(best) : values.findLastIndex((value) => value !== NOISE)
  return shortenLine((lines[at] ?? '').trim(), MAX_LINE)
}

/** The index of the row of KINDS that matches, or -1. */
function kindOf(line: string): number {
  return line === '' ? -1 : KINDS.findIndex(([, pattern]) => pattern.test(line))
}

/** A line of no known kind has a small value: it is neither noise nor important. */
function valueOfKind(kind: number): number {
  return KINDS[kind]?.[0] ?? LEAST_VALUE / 2
}

/** The value of each line at its index: repeated lines of one kind lose value, neighbours of important lines gain some. */
function lineValues(lines: readonly string[], kinds: readonly number[]): number[] {
  const values = lines.map(() => 0)
  for (const [kind, places] of placesByKind(lines, kinds)) {
    places.forEach((at, rank) => {
      values[at] = valueOfKind(kind) / (1 + Math.min(rank, 2 * (places.length - 1 - rank)) / 8)
    })
  }
  const isNoise = (at: number) => valueOfKind(kinds[at] ?? -1) === NOISE
  const last = lines.findLastIndex((line, at) => line !== '' && !isNoise(at))
  if (last >= 0) values[last] = Math.max(LAST_LINE, values[last] ?? 0)
  for (const [at, heading] of headings(lines).entries())
    if (heading >= 0) values[heading] = Math.max(0.7 * (values[at] ?? 0), values[heading] ?? 0)
  const [below, above] = [fadingValues(values, 0.8), fadingValues(values.toReversed(), 0.6).reverse()]
  const near = values.map((value, at) => (isNoise(at) ? 0 : value + (below[at] ?? 0) + (above[at] ?? 0)))
  return withWholeDifferences(lines, near)
}

/** A line of a difference: added or removed. */
const DIFFERENCE = /^\s*([+-])\s*\S/
/** Longer differences are cut like other text. */
const LONGEST_DIFFERENCE = 12

/** Gives the lines of a short difference the value of its best line: one side without the other says nothing. */
function withWholeDifferences(lines: readonly string[], values: readonly number[]): number[] {
  const whole = [...values]
  for (let at = 0; at < lines.length; ) {
    const signs = new Set<string>()
    let end = at
    for (let sign = signOf(lines[end]); sign !== null; sign = signOf(lines[++end])) signs.add(sign)
    const isShort = end - at <= LONGEST_DIFFERENCE
    if (signs.size === 2 && isShort) whole.fill(Math.max(...values.slice(at, end)), at, end)
    at = Math.max(end, at + 1)
  }
  return whole
}

function signOf(line: string | undefined): string | null {
  return DIFFERENCE.exec(line ?? '')?.[1] ?? null
}

/** The value that each line gains from important lines before it; it shrinks with every line in between. */
function fadingValues(values: readonly number[], share: number): number[] {
  let carried = 0
  return values.map((value) => {
    const gained = carried
    carried = share * Math.max(value < IMPORTANT ? 0 : value, carried)
    return gained
  })
}

/** The places of the lines of each kind. Of equal lines the last one counts, as it has the most context. */
function placesByKind(lines: readonly string[], kinds: readonly number[]): Map<number, number[]> {
  const found = new Map<number, number[]>()
  const seenTexts = new Set<string>()
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    const kind = kinds[at] ?? -1
    const text = (lines[at] as string).trim()
    if (kind < 0 || valueOfKind(kind) === NOISE || seenTexts.has(text)) continue
    seenTexts.add(text)
    const places = found.get(kind)
    if (places === undefined) found.set(kind, [at])
    else places.push(at)
  }
  for (const places of found.values()) places.reverse()
  return found
}

/** For each line, the last line before it with less indentation, or -1: the file of a message, the test of a difference. */
function headings(lines: readonly string[]): number[] {
  const above: { at: number; indent: number }[] = []
  return lines.map((line, at) => {
    if (line === '') return -1
    const indent = line.search(/\S/)
    while ((above.at(-1)?.indent ?? -1) >= indent) above.pop()
    const heading = above.at(-1)?.at ?? -1
    above.push({ at, indent })
    return heading
  })
}

function clipMiddle(output: string): string {
  if (output.length <= MAX_INPUT) return output
  return `${output.slice(0, MAX_INPUT / 2)}\n${MARK}\n${output.slice(-MAX_INPUT / 2)}`
}

/** Cuts the middle out: a long line begins with its subject, and ends with its result. */
function shortenLine(line: string, maxLength: number): string {
  if (line.length <= maxLength) return line
  const head = Math.floor(maxLength * 0.7)
  const tail = maxLength - head - MARK.length - 2
  return `${withoutHalves(line.slice(0, head))} ${MARK} ${withoutHalves(line.slice(-tail))}`
}

/** Removes halves of surrogate pairs, and joiners at a border: a terminal shows a box for the first, and hides the second. */
function withoutHalves(part: string): string {
  return part.replace(HALVES, '').replace(/^(?:\u200c|\u200d|[\ufe0e\ufe0f])+|(?:\u200c|\u200d)+$/g, '')
}
const HALVES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

const encoder = new TextEncoder()
export function utf8Bytes(text: string): number {
  return encoder.encode(text).length
}
