// What an agent claims in its final text. Hints only: "not done" and "stuck" are trusted, "done" is checked elsewhere.
import type { StoryEvidence } from '../engine/model/feature.ts'
import { oneLine } from '../engine/model/text.ts'

/** The verdict of a verification session; a reset beats an approval. */
export type ClaimedVerdict =
  | { kind: 'verified'; evidence?: StoryEvidence[] }
  /** `commands`: what fails because of it, by story. */
  | { kind: 'reset'; ids: string[]; reason: string; commands?: { storyId: string; run: string }[] }

/** Whether a change of what gates expect was asked for; a no beats a yes. */
export type ExpectationAnswer = { kind: 'expected' } | { kind: 'unexpected'; reason: string }

export type Signals = {
  /** A completion marker, and nothing that speaks against it. */
  done: boolean
  /** The reason, when the agent says that it cannot continue. */
  stuck: string | null
  /** The agent itself says that it is not done, or that tests fail. */
  notDone: boolean
  learnings: string[]
  verdict: ClaimedVerdict | null
}

const MAX_LEARNINGS = 10
const LEARNING_LIMIT = 500
const REASON_LIMIT = 2000
const MAX_IDS = 200
const IDS_LIMIT = 10_000
const MAX_EVIDENCE = 5_000
const EVIDENCE_LIMIT = 300
const COMMAND_LIMIT = 500

/** `text` is empty for `done`, `verified`, `expected` and `unexpected`. */
type Marker = {
  kind:
    | 'done'
    | 'verified'
    | 'stuck'
    | 'learning'
    | 'reason'
    | 'reset'
    | 'evidence'
    | 'counterexample'
    | 'expected'
    | 'unexpected'
  text: string
}

/**
 * Reads the markers that Ralph loops know: `<ralph>...</ralph>`, `<complete>` and `<stuck>`, `RALPH_DONE`, the
 * RALPH_STATUS block and `<promise>COMPLETE</promise>`. A marker counts only outside code fences, on a line that has nothing but
 * markers. LEARNING, REASON and stuck may run over several lines.
 */
export function readSignals(finalText: string): Signals {
  const lines = linesOf(finalText)
  const markers = markersOf(lines)
  const status = statusBlock(lines)
  const texts = (kind: Marker['kind']) =>
    markers.flatMap((marker) => (marker.kind === kind ? marker.text : []))
  const stuck = texts('stuck')[0] ?? status.stuck
  const claimsDone = status.done || texts('done').length > 0
  return {
    done: claimsDone && !status.notDone && stuck === null,
    stuck,
    notDone: status.notDone,
    learnings: [...new Set(texts('learning').filter((text) => text !== ''))].slice(0, MAX_LEARNINGS),
    verdict: verdictOf(texts),
  }
}

/**
 * The markers at the end of a text, which only empty lines may follow. For a session whose output may hold anything, such as the
 * text of files: there, no other marker counts.
 */
export function markersAtEnd(text: string): string {
  const lines = text.split(/\r\n|\n|\r/).map((line) => line.trim())
  let start = lines.length
  while (start > 0) {
    const length = markerLengthBefore(lines, start)
    if (length === 0) break
    start -= length
  }
  return lines.slice(start).join('\n')
}

/** How many lines the marker (or the empty line) has that ends before `end`; 0 for anything else. */
function markerLengthBefore(lines: readonly string[], end: number): number {
  const last = lines[end - 1] ?? ''
  if (markersOnLine(last) !== null) return 1
  const candidates = lines.slice(Math.max(0, end - MARKER_LINES), end)
  const begin = candidates.findLastIndex((line) => LONG_MARKER.test(line))
  if (begin === -1) return 0
  const block = candidates.slice(begin)
  return markersOnLine(block.join(' ')) === null ? 0 : block.length
}

function verdictOf(texts: (kind: Marker['kind']) => string[]): ClaimedVerdict | null {
  const resets = texts('reset')
  if (resets.length === 0) {
    if (texts('verified').length === 0) return null
    const evidence = evidenceIn(texts('evidence'))
    return evidence.length === 0 ? { kind: 'verified' } : { kind: 'verified', evidence }
  }
  const ids = new Set(resets.flatMap((text) => text.split(/[\s,;]+/)).filter((id) => id !== ''))
  const commands = commandsIn(texts('counterexample'))
  const reset = { kind: 'reset' as const, ids: [...ids].slice(0, MAX_IDS), reason: texts('reason').join(' ') }
  return commands.length === 0 ? reset : { ...reset, commands }
}

/** `US-001 node --test counterexample.test.js`: a story, and the command that fails because of it. */
function commandsIn(texts: readonly string[]): { storyId: string; run: string }[] {
  return texts.slice(0, MAX_IDS).flatMap((text) => {
    const [, storyId, run] = /^([^\s#]+):?\s+(\S.*)$/.exec(text) ?? []
    return storyId === undefined || run === undefined ? [] : [{ storyId, run }]
  })
}

/** The answer to the question whether a story asks for a change of what gates expect; null if the text has no answer. */
export function readExpectation(finalText: string): ExpectationAnswer | null {
  const markers = markersOf(linesOf(finalText))
  const has = (kind: Marker['kind']) => markers.some((marker) => marker.kind === kind)
  const reasons = markers.flatMap(({ kind, text }) => (kind === 'reason' ? text : []))
  if (has('unexpected')) return { kind: 'unexpected', reason: reasons.join(' ') }
  return has('expected') ? { kind: 'expected' } : null
}

/** `US-001#2 src/cart.test.ts:14 adds two items`: the story, its criterion by number, and what shows it. */
function evidenceIn(texts: readonly string[]): StoryEvidence[] {
  return texts.slice(0, MAX_EVIDENCE).flatMap((text) => {
    const [, storyId, criterion, shown] = /^([^\s#]+)#(\d{1,4}):?\s+(\S.*)$/.exec(text) ?? []
    if (storyId === undefined || shown === undefined) return []
    return [{ storyId, criterion: Number(criterion), shown }]
  })
}

/** The agent's own summary of its work and its note for the next session; empty if it has none. */
export type Closing = { summary: string; next: string }

/** A line with a note for the next session. */
const NOTE_FOR_NEXT = /^(?:[*_]{2})?note for next(?: iteration)?:?(?:[*_]{2})?:?\s*(\S.*)$/i

/**
 * `summary`: the last paragraph, without markers, headings, tables and rules. `next`: the note for the next session, or else the
 * RECOMMENDATION of a status block.
 */
export function readClosing(finalText: string): Closing {
  const lines = linesOf(finalText)
  const status = statusLines(lines)
  const isProse = (line: string, index: number) =>
    !status.includes(index) &&
    markersOnLine(line) === null &&
    !/^(?:RALPH_DONE$|#|-{3,}|\||<stuck>)/.test(line)
  const prose = lines.map((line, index) => (line !== '' && isProse(line, index) ? line : ''))
  const note = prose.findLast((line) => NOTE_FOR_NEXT.test(line)) ?? ''
  const summaryLines = prose.filter((line) => !NOTE_FOR_NEXT.test(line))
  const end = summaryLines.findLastIndex((line) => line !== '') + 1
  const begin = summaryLines.slice(0, end).lastIndexOf('') + 1
  const paragraph = summaryLines.slice(begin, end).slice(-PARAGRAPH_LINES)
  const next = NOTE_FOR_NEXT.exec(note)?.[1] ?? statusValues(lines).get('RECOMMENDATION') ?? ''
  return { summary: oneLine(paragraph.join(' '), CLOSING_LIMIT), next: oneLine(next, CLOSING_LIMIT) }
}

const PARAGRAPH_LINES = 8
const CLOSING_LIMIT = 300

/** The trimmed lines. A line inside a code fence is empty; as in CommonMark, a fence that is not closed runs to the end. */
export function linesOf(text: string): string[] {
  let fence: string | null = null
  return text.split(/\r\n|\n|\r/).map((raw) => {
    const line = raw.trim()
    const [, ticks, rest = ''] = /^(`{3,}|~{3,})(.*)$/.exec(line) ?? []
    if (fence !== null) {
      if (ticks?.startsWith(fence) === true && rest.trim() === '') fence = null
      return ''
    }
    if (ticks === undefined || (ticks.startsWith('`') && rest.includes('`'))) return line
    fence = ticks
    return ''
  })
}

const TAGS = ['ralph', 'promise', 'complete', 'stuck'] as const
type Tag = (typeof TAGS)[number]
/** LEARNING, REASON and stuck may run over this many lines. */
const MARKER_LINES = 20
const LONG_MARKER = /^<stuck>|^<ralph>(?:LEARNING|REASON)/

function markersOf(lines: readonly string[]): Marker[] {
  const found: Marker[] = []
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? ''
    if (line === 'RALPH_DONE') found.push({ kind: 'done', text: '' })
    if (!line.startsWith('<')) continue
    const markers = markersOnLine(line)
    found.push(...(markers ?? []))
    if (markers !== null || !LONG_MARKER.test(line)) continue
    const block = lines.slice(index, index + MARKER_LINES)
    const closing = line.startsWith('<stuck>') ? '</stuck>' : '</ralph>'
    const end = block.findIndex((later) => later.includes(closing))
    const longMarkers = end === -1 ? null : markersOnLine(block.slice(0, end + 1).join(' '))
    found.push(...(longMarkers ?? []))
    if (longMarkers !== null) index += end
  }
  return found
}

/** The markers of a line that has nothing else in it, else null. */
function markersOnLine(line: string): Marker[] | null {
  const found: Marker[] = []
  let rest = line
  while (rest !== '') {
    const tag = TAGS.find((name) => rest.startsWith(`<${name}>`))
    if (tag === undefined) return null
    const contentStart = `<${tag}>`.length
    const end = rest.indexOf(`</${tag}>`, contentStart)
    const content = rest.slice(contentStart, end)
    if (end === -1 || content.includes(`<${tag}>`)) return null
    const marker = markerOf(tag, content.trim())
    // A marker of an unknown kind is skipped, so that a RESET on the same line still counts.
    if (marker !== null) found.push(marker)
    rest = rest.slice(end + `</${tag}>`.length).trimStart()
  }
  return found
}

/** The kinds of `<ralph>WORD: text</ralph>` by their word, and the longest text of each. */
const RALPH_WORDS: ReadonlyMap<string, { kind: Marker['kind']; limit: number }> = new Map([
  ['LEARNING', { kind: 'learning', limit: LEARNING_LIMIT }],
  ['REASON', { kind: 'reason', limit: REASON_LIMIT }],
  ['EVIDENCE', { kind: 'evidence', limit: EVIDENCE_LIMIT }],
  ['COUNTEREXAMPLE', { kind: 'counterexample', limit: COMMAND_LIMIT }],
  ['RESET', { kind: 'reset', limit: IDS_LIMIT }],
])

function markerOf(tag: Tag, content: string): Marker | null {
  if (tag === 'promise') return content === 'COMPLETE' ? { kind: 'done', text: '' } : null
  if (tag === 'stuck') return { kind: 'stuck', text: oneLine(content, REASON_LIMIT) }
  if (tag === 'complete' || content === 'DONE') return { kind: 'done', text: '' }
  if (content === 'VERIFIED') return { kind: 'verified', text: '' }
  if (content === 'EXPECTED') return { kind: 'expected', text: '' }
  if (content === 'UNEXPECTED') return { kind: 'unexpected', text: '' }
  const colon = content.indexOf(':')
  const rule = RALPH_WORDS.get(content.slice(0, Math.max(colon, 0)).trimEnd())
  return rule === undefined ? null : { kind: rule.kind, text: oneLine(content.slice(colon + 1), rule.limit) }
}

/** Without a closing rule, a status block has so many lines. */
const OPEN_STATUS_LINES = 30

/** The line numbers of the last `---RALPH_STATUS---` block, from its opening to its closing rule. */
function statusLines(lines: readonly string[]): number[] {
  const begin = lines.lastIndexOf('---RALPH_STATUS---')
  if (begin === -1) return []
  const closing = lines.findIndex((line, index) => index > begin && /^---.*---$/.test(line))
  const last = closing === -1 ? Math.min(lines.length, begin + OPEN_STATUS_LINES) - 1 : closing
  return Array.from({ length: last - begin + 1 }, (_, offset) => begin + offset)
}

export function statusValues(lines: readonly string[]): Map<string, string> {
  return new Map(
    statusLines(lines).flatMap((index) => {
      const [, key, value] = /^([A-Z_]+)\s*:\s*(.*)$/.exec(lines[index] ?? '') ?? []
      return key === undefined || value === undefined ? [] : [[key, value.trim()] as const]
    }),
  )
}

/** The last `---RALPH_STATUS---` block. If an agent repeats the template (`COMPLETE | IN_PROGRESS`), its values count as unknown. */
function statusBlock(lines: readonly string[]): Pick<Signals, 'done' | 'notDone' | 'stuck'> {
  const values = statusValues(lines)
  const is = (key: string, value: string): boolean => values.get(key)?.toUpperCase() === value
  const isFailing = is('TESTS_STATUS', 'FAILING')
  const isBlocked = is('STATUS', 'BLOCKED')
  const advice = oneLine(values.get('RECOMMENDATION') ?? '', REASON_LIMIT)
  return {
    done: is('STATUS', 'COMPLETE') && !is('EXIT_SIGNAL', 'FALSE') && !isFailing,
    notDone: isFailing || isBlocked || is('STATUS', 'IN_PROGRESS') || is('EXIT_SIGNAL', 'FALSE'),
    stuck: isBlocked ? advice || 'the agent reports BLOCKED' : null,
  }
}
