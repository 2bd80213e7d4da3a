// Any command line of the user's as an agent: prompt on stdin, exit 0 is a finished session (design, section 4).

import type { Exit } from '../system/process.ts'
import {
  type AgentEvent,
  type AgentVendor,
  type Classified,
  noUsage,
  type StreamParser,
  type Usage,
} from './agent.ts'
import { classified, ourEnding, silentEnding, stderrLine, withWords } from './ending.ts'
import { jsonObject, object } from './json.ts'

/** RALPH_MODE, RALPH_FEATURE, RALPH_STORY_ID, RALPH_ATTEMPT and RALPH_PROMPT_FILE are set by the caller. */
export const custom: AgentVendor = {
  name: 'custom',
  program: 'bash',
  install: 'install bash, which runs agent-command',
  npm: null,
  writesHome: false,
  env: [],
  login: null,
  command: (options) => ({
    // agent-args are the command's own: `agent-command: ./agent.sh "$@"`.
    // --norc: on a socket as stdin, which is what Node gives it, bash would read ~/.bashrc.
    args: ['--norc', '-c', options.commandLine ?? 'exit 64', 'agent-command', ...options.extraArgs],
    env: {},
    promptChannel: 'stdin',
  }),
  parser: () => new CustomParser(),
}

/** UTF-16 units of stdout that are kept as the final text. */
const TAIL_LIMIT = 64 * 1024

class CustomParser implements StreamParser {
  readonly #tail = textTail(TAIL_LIMIT)
  readonly #stderr = stderrLine()

  line(stream: 'stdout' | 'stderr', line: string): AgentEvent[] {
    if (stream === 'stderr') {
      this.#stderr.push(line)
      return []
    }
    this.#tail.push(line)
    return line.trim() === '' || usageOf(line) !== null ? [] : [{ kind: 'text', text: line }]
  }

  end(exit: Exit): Classified {
    const lines = this.#tail.lines()
    const last = lines.findLastIndex((line) => line.trim() !== '')
    const usage = usageOf(lines[last] ?? '')
    const text = (usage === null ? lines : lines.slice(0, last)).join('\n').trim()
    return classified(this.#ending(exit), usage ?? noUsage(), text)
  }

  #ending(exit: Exit) {
    if (exit.kind !== 'exit') return ourEnding(exit) ?? silentEnding(exit, this.#stderr.text())
    if (exit.code === 0) return { status: 'finished' as const, message: 'the session finished' }
    if (exit.code === 126 || exit.code === 127) return silentEnding(exit, this.#stderr.text())
    const message = withWords(`the agent command ended with exit code ${exit.code}`, this.#stderr.text())
    return { status: 'failed' as const, message }
  }
}

/** The last lines of a text, at most `limit` UTF-16 units with their line ends; the last line is always there. */
export function textTail(limit: number): { push(line: string): void; lines(): string[] } {
  const lines: string[] = []
  let size = 0
  const trim = (): void => {
    let first = 0
    for (; first < lines.length - 1 && size > limit; first += 1) size -= (lines[first] ?? '').length + 1
    lines.splice(0, first)
  }
  return {
    push(line) {
      const kept = line.length > limit ? line.slice(-limit) : line
      lines.push(kept)
      size += kept.length + 1
      // Not at every line: to take off the first one costs as much as there are, and a flood has millions.
      if (size > 2 * limit) trim()
    },
    lines() {
      trim()
      return [...lines]
    },
  }
}

/**
 * `{"usage":{"inputTokens":0,"outputTokens":0,"costUsd":0}}`, each of them optional; null when the line is anything
 * else, or one of the numbers is negative or none.
 */
export function usageOf(line: string): Usage | null {
  const given = object(jsonObject(line)?.usage)
  if (given === null) return null
  const numbers = ['inputTokens', 'outputTokens', 'cachedTokens', 'costUsd'].map((name) => given[name])
  const known = numbers.filter((value) => value !== undefined && value !== null)
  if (known.length === 0 || !known.every(isAmount)) return null
  const [input, output, cached, cost] = numbers
  const usage = noUsage()
  if (isAmount(input)) usage.inputTokens = input
  if (isAmount(output)) usage.outputTokens = output
  if (isAmount(cached)) usage.cachedTokens = cached
  if (isAmount(cost)) {
    usage.costUsd = cost
    usage.costSource = 'vendor'
  }
  return usage
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
