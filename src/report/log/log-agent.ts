// The lines of a log on an agent at work, one for each event.
import type { AgentEvent } from '../../engine/model/agent-event.ts'
import { oneLine } from '../../engine/model/text.ts'
import { formatUtc } from '../figures.ts'
import { type Line, type LineFacts, line } from './log-line.ts'

/** A line on what the agent writes or does: `[claude] Edit src/login.ts`; none for some events. The transcript has everything. */
export function agentLines(event: AgentEvent, { agent }: LineFacts): Line[] {
  const text = describeAgentEvent(event)
  if (event.kind === 'step') return [line('step', text)]
  return text === '' ? [] : [line(agent, text, 'dim')]
}

export function describeAgentEvent(event: AgentEvent): string {
  switch (event.kind) {
    case 'text':
      // Evidence is counted in the verdict's line.
      return event.text.startsWith('<ralph>EVIDENCE:') ? '' : shorten(event.text)
    case 'step':
      return shorten(event.text)
    case 'error':
      return shorten(event.message)
    case 'tool':
      return event.target === null ? event.name : `${event.name} ${event.target}`
    case 'limit':
      return event.resetsAt === null
        ? 'a usage or rate limit is reached'
        : `the usage limit is reached and resets at ${formatUtc(event.resetsAt)}`
    case 'retry': {
      const after = event.status === null ? 'a failed request' : `HTTP ${event.status}`
      return `asks the model again after ${after} (retry ${event.attempt})`
    }
    case 'usage':
      return ''
  }
}

/** How many characters of an agent's text a line shows. */
const MAX_TEXT_LENGTH = 300

function shorten(text: string): string {
  return oneLine(text, MAX_TEXT_LENGTH)
}
