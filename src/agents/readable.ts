// A transcript as people read it: the agent's texts and tool calls, without the format of its events, and its usage.
import type { AgentEvent, Usage } from '../engine/model/agent-event.ts'
import { noUsage, type StreamParser } from './agent.ts'
import { hasReported } from './cost.ts'
import { findAgent } from './registry.ts'

/** The first line of a transcript, which names the agent and so the format of the other lines. */
export function transcriptHead(agent: string): string {
  return `agent: ${agent}`
}

/** The agent that a transcript's first line names, or null. */
export function agentOfHead(head: string): string | null {
  return /^agent: (\w+)$/.exec(head)?.[1] ?? null
}

/** Reads a transcript that may still grow, by whole lines. */
export class TranscriptReader {
  #agent: string | null
  #parser: StreamParser | null
  #isBegun = false
  /** The last text, held back because some vendors stream it in pieces. */
  #open: string[] = []

  /** `agent`: for a transcript whose first line is left out. */
  constructor(agent: string | null = null) {
    this.#agent = agent
    this.#parser = parserOf(agent)
  }

  /** The readable text of these lines, as far as it is complete. Lines of an unknown format stay unchanged. */
  read(added: readonly string[]): string[] {
    const [first] = this.#isBegun ? [] : added
    this.#isBegun = this.#isBegun || added.length > 0
    const agent = agentOfHead(first ?? '')
    if (agent !== null) [this.#agent, this.#parser] = [agent, parserOf(agent)]
    const lines = agent === null ? added : added.slice(1)
    return this.#parser === null ? [...lines] : this.#readableLines(lines, this.#parser)
  }

  /** The rest of the text, and the usage that the session reported; null for none. */
  end(): { lines: string[]; usage: Usage | null } {
    const usage = this.#parser?.end({ kind: 'exit', code: 0 }).usage ?? noUsage()
    return { lines: this.#open.splice(0), usage: hasReported(usage) ? usage : null }
  }

  #readableLines(lines: readonly string[], parser: StreamParser): string[] {
    const output = this.#open.splice(0)
    let isOpen = output.length > 0
    for (const line of lines) {
      // Usage is shown at the end only.
      const events = parser.line('stdout', line).filter(({ kind }) => kind !== 'usage')
      if (events.length === 0 && !line.startsWith('{')) {
        output.push(line)
        isOpen = false
      }
      for (const event of events) {
        const [first = '', ...others] = linesOf(event)
        const goesOn = event.kind === 'text' && event.goesOn === true
        output.push(goesOn ? `${output.pop() ?? ''}${first}` : first, ...others)
        // A custom command prints whole lines.
        isOpen = event.kind === 'text' && this.#agent !== 'custom'
      }
    }
    if (isOpen) this.#open = output.splice(-1)
    return output
  }
}

function parserOf(agent: string | null): StreamParser | null {
  return findAgent(agent ?? '')?.parser(Date.now) ?? null
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
      return [`! asks the model again (retry ${event.attempt})`]
    case 'step':
    case 'usage':
      return []
  }
}
