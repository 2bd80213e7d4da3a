// Any command line of the user's as an agent: prompt on stdin, exit 0 is a finished session.

import type { AgentEvent, Usage } from '../engine/model/agent-event.ts'
import { asNumber, asObject, jsonObject } from '../engine/model/json.ts'
import type { Exit } from '../system/process.ts'
import { type AgentVendor, noUsage, type ParsedEnd, type StreamParser } from './agent.ts'
import { appendText } from './event-reader.ts'
import {
  type Ending,
  endingByExit,
  lineWithoutKeys,
  stderrMessage,
  withVendorMessage,
} from './session-end.ts'

/** RALPH_MODE, RALPH_FEATURE, RALPH_STORY_ID, RALPH_ATTEMPT, RALPH_CANDIDATE and RALPH_PROMPT_FILE are set by the caller. */
export const custom: AgentVendor = {
  name: 'custom',
  program: 'bash',
  install: 'install bash, which runs agent-command',
  npm: null,
  env: [],
  login: null,
  keyShapes: [],
  // Ralph cannot know which files steer the user's command: the user names them in `protected-paths`.
  settings: [],
  reports: 'cost',
  answersInOutput: true,
  // The user's command gets agent-args as its arguments: `agent-command: ./agent.sh "$@"`.
  // --norc: Node connects stdin to a socket, and bash reads ~/.bashrc if its stdin is a socket.
  args: ({ commandLine, extraArgs }) => [
    ...['--norc', '-c', commandLine ?? 'exit 64', 'agent-command'],
    ...extraArgs,
  ],
  parser: () => new CustomReader(),
}

class CustomReader implements StreamParser {
  #text = ''
  #lastLine = ''
  #usage: Usage | null = null
  readonly #stderr = stderrMessage()

  line(stream: 'stdout' | 'stderr', line: string): AgentEvent[] {
    if (stream === 'stderr') {
      this.#stderr.push(line)
      return []
    }
    this.#text = appendText(this.#text, `${line}\n`)
    const text = line.trim()
    if (text === '') return []
    this.#lastLine = text
    this.#usage = usageOf(text)
    return this.#usage === null ? [{ kind: 'text', text: line }] : []
  }

  end(exit: Exit): ParsedEnd {
    const { status, message } = this.#ending(exit)
    const text = this.#text.trim()
    // A last line with the usage is not part of the answer.
    const textEnd = this.#usage === null ? text.length : text.lastIndexOf(this.#lastLine)
    const finalText = text.slice(0, Math.max(textEnd, 0)).trim()
    return {
      status,
      message: lineWithoutKeys(message),
      finalText,
      usage: this.#usage ?? noUsage(),
      resetsAt: null,
    }
  }

  #ending(exit: Exit): Ending {
    const stderr = this.#stderr.text()
    if (exit.kind !== 'exit' || exit.code === 126 || exit.code === 127) return endingByExit(exit, stderr)
    if (exit.code === 0) return { status: 'finished', message: 'the session finished' }
    const message = withVendorMessage(`the agent command ended with exit code ${exit.code}`, stderr)
    return { status: 'failed', message }
  }
}

/**
 * `{"usage":{"inputTokens":0,"outputTokens":0,"costUsd":0}}`, each of them optional; null when the line is anything
 * else, or one of the values is negative or not a number.
 */
function usageOf(line: string): Usage | null {
  const usageFields = asObject(jsonObject(line)?.usage) ?? {}
  const names = AMOUNTS.filter((name) => usageFields[name] !== undefined && usageFields[name] !== null)
  if (names.length === 0) return null
  const usage = noUsage()
  for (const name of names) {
    const value = asNumber(usageFields[name])
    if (value === null || value < 0) return null
    usage[name] = value
  }
  return usage
}

const AMOUNTS = ['inputTokens', 'outputTokens', 'cachedTokens', 'costUsd'] as const
