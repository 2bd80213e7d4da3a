// A transcript for people: what the agent said and did, without the events around it.
import type { AgentEvent } from './agent.ts'
import { agentNames, findAgent } from './registry.ts'

/** So many lines show whose format it is. */
const SAMPLE = 500

/** The lines of a transcript as people read them; those that no agent's format knows stay as they are. */
export function readableLines(lines: readonly string[]): string[] {
  const sample = lines.slice(0, SAMPLE)
  const known = agentNames
    .filter((name) => name !== 'custom')
    .map((name) => ({ name, score: eventsBy(name, sample).filter(({ length }) => length > 0).length }))
    .reduce((best, one) => (one.score > best.score ? one : best), { name: 'custom', score: 0 })
  if (known.score === 0) return [...lines]
  const events = eventsBy(known.name, lines)
  const said: string[] = []
  for (const [at, line] of lines.entries()) {
    const found = events[at] ?? []
    if (found.length === 0 && !line.startsWith('{')) said.push(line)
    for (const event of found) {
      const [first = '', ...others] = linesOf(event)
      const goesOn = event.kind === 'text' && event.goesOn === true
      said.push(goesOn ? `${said.pop() ?? ''}${first}` : first, ...others)
    }
  }
  return said
}

/** By line; usage is no news to anybody. */
function eventsBy(name: string, lines: readonly string[]): AgentEvent[][] {
  const parser = findAgent(name)?.parser(Date.now)
  return lines.map((line) => parser?.line('stdout', line).filter(({ kind }) => kind !== 'usage') ?? [])
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
    case 'usage':
      return []
  }
}
