// A transcript for people: what the agent said and did, without the events around it, and what it used.
import { type AgentEvent, noUsage, type StreamParser, type Usage } from './agent.ts'
import { agentNames, findAgent } from './registry.ts'

/** So many lines show whose format it is. */
const SAMPLE = 500

/** The lines of a transcript as people read them; those that no agent's format knows stay as they are. */
export function readableLines(lines: readonly string[]): string[] {
  const reader = new TranscriptReader()
  return [...reader.read(lines), ...reader.end().lines]
}

type Candidate = { name: string; parser: StreamParser; score: number }

/** Reads a transcript that may still grow, by whole lines. */
export class TranscriptReader {
  /** Whose format it may be; one in the end, or none where it is nobody's. */
  #candidates: Candidate[]
  #sampled = 0
  /** Lines that no candidate has understood yet. */
  #waiting: string[] = []
  /** What was said last: some vendors say it in pieces, and more may come behind it. */
  #open: string[] = []
  #lastLine = ''

  /** `agent`: whose it probably is, where the first lines could be of several. */
  constructor(agent: string | null = null) {
    const names = agentNames.filter((name) => name !== 'custom')
    this.#candidates = names
      .sort((one, other) => Number(other === agent) - Number(one === agent))
      .flatMap((name) => {
        const parser = findAgent(name)?.parser(Date.now)
        return parser === undefined ? [] : [{ name, parser, score: 0 }]
      })
  }

  /** What people read of these lines, as far as it is whole. */
  read(lines: readonly string[]): string[] {
    this.#lastLine = lines.findLast((line) => line.trim() !== '') ?? this.#lastLine
    const sample = lines.slice(0, Math.max(0, SAMPLE - this.#sampled))
    const seen = new Map(
      this.#candidates.map((one) => [one, sample.map((line) => eventsOn(one.parser, line))]),
    )
    for (const [one, events] of seen) one.score += events.filter(({ length }) => length > 0).length
    const leader = this.#leader()
    this.#sampled += sample.length
    if (this.#sampled >= SAMPLE) this.#candidates = leader === null ? [] : [leader]
    if (leader !== null) {
      const rest = lines.slice(sample.length).map((line) => eventsOn(leader.parser, line))
      // Those that waited were events that say nothing.
      const waited = this.#waiting.splice(0)
      const events = [...waited.map(() => []), ...(seen.get(leader) ?? []), ...rest]
      return this.#said(events, [...waited, ...lines])
    }
    this.#waiting.push(...lines)
    const event = this.#candidates.length === 0 ? -1 : this.#waiting.findIndex((line) => line.startsWith('{'))
    return this.#waiting.splice(0, event < 0 ? this.#waiting.length : event)
  }

  #leader(): Candidate | null {
    const [first, ...others] = this.#candidates
    if (first === undefined) return null
    const best = others.reduce((one, other) => (other.score > one.score ? other : one), first)
    return best.score === 0 ? null : best
  }

  /** The rest, when nothing more comes; and what the session says that it used, null where it says nothing. */
  end(): { lines: string[]; usage: Usage | null } {
    const lines = [...this.#waiting.splice(0), ...this.#open.splice(0)]
    const leader = this.#leader()
    const parser = leader?.parser ?? findAgent('custom')?.parser(Date.now)
    if (leader === null) parser?.line('stdout', this.#lastLine)
    const usage = parser?.end({ kind: 'exit', code: 0 }).usage ?? noUsage()
    if (usage.inputTokens + usage.outputTokens === 0 && usage.costUsd === null) return { lines, usage: null }
    // Of a command of the user's own that line says it.
    if (leader === null && lines.at(-1) === this.#lastLine) lines.pop()
    return { lines, usage }
  }

  /** `events`: by line. */
  #said(events: readonly (readonly AgentEvent[])[], lines: readonly string[]): string[] {
    const said = this.#open.splice(0)
    let isOpen = said.length > 0
    for (const [at, line] of lines.entries()) {
      const found = events[at] ?? []
      if (found.length === 0 && !line.startsWith('{')) {
        said.push(line)
        isOpen = false
      }
      for (const event of found) {
        const [first = '', ...others] = linesOf(event)
        const goesOn = event.kind === 'text' && event.goesOn === true
        said.push(goesOn ? `${said.pop() ?? ''}${first}` : first, ...others)
        isOpen = event.kind === 'text'
      }
    }
    if (isOpen) this.#open = said.splice(-1)
    return said
  }
}

/** Usage is no news to anybody while it goes on. */
function eventsOn(parser: StreamParser, line: string): AgentEvent[] {
  return parser.line('stdout', line).filter(({ kind }) => kind !== 'usage')
}

function linesOf(event: AgentEvent): string[] {
  switch (event.kind) {
    case 'text':
      return event.text.split('\n')
    case 'tool':
      return [`> ${event.name}${event.target === null ? '' : ` ${event.target}`}`]
    case 'error':
      return [`! ${event.message}`]
    case 'limit':
      return ['! a usage or rate limit is reached']
    case 'retry':
      return [`! asks its server again (attempt ${event.attempt})`]
    case 'step':
    case 'usage':
      return []
  }
}
