// What the agent's final words claim. Hints only: "not done" and "stuck" are believed, "done" is checked elsewhere.

/** The verdict of a verification session; a reset beats an approval. */
export type Verdict = { kind: 'verified' } | { kind: 'reset'; ids: string[]; reason: string }

export type Signals = {
  /** A completion marker, and nothing that speaks against it. */
  done: boolean
  /** The reason, when the agent says that it cannot go on. */
  stuck: string | null
  /** The agent itself says that it is not done (seed 5: also with failing tests). */
  notDone: boolean
  learnings: string[]
  verdict: Verdict | null
}

const LEARNINGS = 10
const LEARNING_LIMIT = 500
const REASON_LIMIT = 2000
const IDS = 200

type Marker =
  | { kind: 'done' | 'verified' }
  | { kind: 'stuck' | 'learning' | 'reason'; text: string }
  | { kind: 'reset'; ids: string[] }

/**
 * Reads the markers of all five seeds: `<ralph>...</ralph>` (seed 4), `<complete>` and `<stuck>` (seed 1),
 * `RALPH_DONE` (seed 3), the RALPH_STATUS block (seed 5) and `<promise>COMPLETE</promise>`. A marker counts only when
 * it (or several of them) is all that stands on its line, outside code fences; LEARNING, REASON and stuck may
 * run over several lines.
 */
export function readSignals(finalText: string): Signals {
  const lines = plainLines(finalText)
  const markers = markersOf(lines)
  const status = statusBlock(lines)

  const texts = (kind: 'stuck' | 'learning' | 'reason'): string[] =>
    markers.flatMap((marker) => (marker.kind === kind ? [marker.text] : []))
  const stuck = texts('stuck')[0] ?? status.stuck
  const notDone = status.notDone
  const claimed = status.done || markers.some((marker) => marker.kind === 'done')
  const done = claimed && !notDone && stuck === null
  return {
    done,
    stuck,
    notDone,
    learnings: [...new Set(texts('learning').filter((text) => text !== ''))].slice(0, LEARNINGS),
    verdict: verdictOf(markers, texts('reason').join(' ')),
  }
}

function verdictOf(markers: readonly Marker[], reason: string): Verdict | null {
  const resets = markers.flatMap((marker) => (marker.kind === 'reset' ? [marker.ids] : []))
  if (resets.length > 0) return { kind: 'reset', ids: [...new Set(resets.flat())].slice(0, IDS), reason }
  return markers.some((marker) => marker.kind === 'verified') ? { kind: 'verified' } : null
}

/** Trimmed lines; those inside a code fence (as CommonMark has it; an open one runs to the end) are empty. */
function plainLines(text: string): string[] {
  let fence: string | null = null
  return text.split(/\r\n|\n|\r/).map((raw) => {
    const line = raw.trim()
    const ticks = /^(`{3,}|~{3,})(.*)$/.exec(line)
    if (fence !== null) {
      const closes = ticks?.[1]?.startsWith(fence) === true && ticks[2]?.trim() === ''
      if (closes) fence = null
      return ''
    }
    if (ticks?.[1] === undefined || (ticks[1].startsWith('`') && ticks[2]?.includes('`') === true))
      return line
    fence = ticks[1]
    return ''
  })
}

const TAGS = ['ralph', 'promise', 'complete', 'stuck'] as const
type Tag = (typeof TAGS)[number]
/** LEARNING, REASON and stuck may run over this many lines. */
const MARKER_LINES = 20

function markersOf(lines: readonly string[]): Marker[] {
  const found: Marker[] = []
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (line === 'RALPH_DONE') found.push({ kind: 'done' })
    if (!line.startsWith('<')) continue
    const markers = markersOnLine(line)
    if (markers !== null) {
      found.push(...markers)
    } else if (mayRunOn(line)) {
      const block = lines.slice(at, at + MARKER_LINES)
      const closing = line.startsWith('<stuck>') ? '</stuck>' : '</ralph>'
      const end = block.findIndex((later) => later.includes(closing))
      const whole = end === -1 ? null : markersOnLine(block.slice(0, end + 1).join(' '))
      if (whole !== null) {
        found.push(...whole)
        at += end
      }
    }
  }
  return found
}

function mayRunOn(line: string): boolean {
  return line.startsWith('<stuck>') || /^<ralph>(?:LEARNING|REASON)/.test(line)
}

/** The markers that make up the line, or null when anything else stands there too. */
function markersOnLine(line: string): Marker[] | null {
  const found: Marker[] = []
  let rest = line
  while (rest !== '') {
    const tag = TAGS.find((name) => rest.startsWith(`<${name}>`))
    if (tag === undefined) return null
    const opened = tag.length + 2
    const end = rest.indexOf(`</${tag}>`, opened)
    if (end === -1) return null
    const content = rest.slice(opened, end)
    if (content.includes(`<${tag}>`)) return null
    const marker = markerOf(tag, content.trim())
    // A word we do not know takes nothing away from a RESET beside it.
    if (marker !== null) found.push(marker)
    rest = rest.slice(end + opened + 1).trimStart()
  }
  return found
}

function markerOf(tag: Tag, content: string): Marker | null {
  if (tag === 'promise') return content === 'COMPLETE' ? { kind: 'done' } : null
  if (tag === 'complete') return { kind: 'done' }
  if (tag === 'stuck') return { kind: 'stuck', text: plain(content, REASON_LIMIT) }
  if (content === 'DONE') return { kind: 'done' }
  if (content === 'VERIFIED') return { kind: 'verified' }
  const colon = content.indexOf(':')
  const word = content.slice(0, Math.max(colon, 0)).trimEnd()
  const value = content.slice(colon + 1)
  if (word === 'LEARNING') return { kind: 'learning', text: plain(value, LEARNING_LIMIT) }
  if (word === 'REASON') return { kind: 'reason', text: plain(value, REASON_LIMIT) }
  if (word !== 'RESET') return null
  const ids = plain(value, 10_000).split(/[\s,;]+/)
  return { kind: 'reset', ids: ids.filter((id) => id !== '').slice(0, IDS) }
}

/** The last `---RALPH_STATUS---` block (seed 5); the template itself (`COMPLETE | IN_PROGRESS`) has no value we know. */
function statusBlock(lines: readonly string[]): { done: boolean; notDone: boolean; stuck: string | null } {
  const begin = lines.lastIndexOf('---RALPH_STATUS---')
  if (begin === -1) return { done: false, notDone: false, stuck: null }
  const length = lines.slice(begin + 1).findIndex((line) => /^---.*---$/.test(line))
  const block = lines.slice(begin + 1, length === -1 ? begin + 30 : begin + 1 + length)
  const values = new Map<string, string>()
  for (const line of block) {
    const [, key, value] = /^([A-Z_]+)\s*:\s*(.*)$/.exec(line) ?? []
    if (key !== undefined && value !== undefined) values.set(key, value.trim())
  }
  const is = (key: string, value: string): boolean => values.get(key)?.toUpperCase() === value
  const failing = is('TESTS_STATUS', 'FAILING')
  const blocked = is('STATUS', 'BLOCKED')
  const advice = values.get('RECOMMENDATION') ?? ''
  return {
    done: is('STATUS', 'COMPLETE') && !is('EXIT_SIGNAL', 'FALSE') && !failing,
    notDone: failing || blocked || is('STATUS', 'IN_PROGRESS') || is('EXIT_SIGNAL', 'FALSE'),
    stuck: blocked ? plain(advice === '' ? 'the agent reports BLOCKED' : advice, REASON_LIMIT) : null,
  }
}

/** One printable line of at most `limit` UTF-16 units. */
function plain(text: string, limit: number): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029\s]+/gu, ' ').trim()
  return line
    .slice(0, limit)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trim()
}
