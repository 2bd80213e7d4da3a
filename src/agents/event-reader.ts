// Reads a session's events, one JSON object in each line: the part that all vendors share. A vendor's reader adds the handlers.

import type { AgentEvent, Usage } from '../engine/model/agent-event.ts'
import { asObject, asString, type Json, jsonObject } from '../engine/model/json.ts'
import type { Exit } from '../system/process.ts'
import { noUsage, type ParsedEnd, type StreamParser, words } from './agent.ts'
import {
  type Ending,
  endingByExit,
  endingByRalph,
  failureEnding,
  lineWithoutKeys,
  optionEnding,
  type Retrying,
  stderrMessage,
  unknownOption,
} from './session-end.ts'

/** Handlers by event `type`; other events are ignored. */
export type Handlers = Readonly<Record<string, (event: Json) => AgentEvent[] | undefined>>

/** At least this many UTF-16 units at the end of a streamed answer are kept: markers are there. */
const TEXT_LIMIT = 64 * 1024

export abstract class EventReader implements StreamParser {
  /** The last answer so far. */
  protected text = ''
  /** Whether the stream says that the work is done. */
  protected isComplete = false
  /** Whether no more events are expected, although the program may still run. */
  protected isOver = false
  protected retrying: Retrying = null
  /** When the vendor's limit ends, epoch milliseconds. */
  protected resetsAt: number | null = null
  protected readonly usage: Usage = noUsage()
  protected readonly stderr = stderrMessage()
  readonly #refusals: readonly RegExp[]
  #refusal: string | null = null
  #unknownOption: string | null = null
  #hasBegun = false

  /**
   * `refusals`: lines that the program prints before any event, if it refuses the key, the account or the model. Some programs then
   * wait for a login, and some exit with 0.
   */
  constructor(refusals: readonly RegExp[] = []) {
    this.#refusals = refusals
  }

  protected abstract readonly handlers: Handlers

  line(stream: 'stdout' | 'stderr', line: string): AgentEvent[] {
    const event = stream === 'stdout' ? jsonEvent(line) : null
    if (event === null) {
      if (!this.#hasBegun && this.#refusals.some((refusal) => refusal.test(line)))
        this.#refusal ??= line.trim()
      if (!this.#hasBegun && stream === 'stderr') this.#unknownOption ??= unknownOption(line)
      return stream === 'stderr' ? this.onStderr(line) : []
    }
    const type = asString(event.type)
    if (type === null) return []
    if (this.isStartedBy(type)) this.#hasBegun = true
    return Object.hasOwn(this.handlers, type) ? (this.handlers[type]?.(event) ?? []) : []
  }

  end(exit: Exit): ParsedEnd {
    const ending = this.#ending(exit)
    return {
      status: ending.status,
      message: lineWithoutKeys(ending.message),
      finalText: ending.hasNoAnswer ? '' : this.text,
      usage: this.usage,
      resetsAt: ending.status === 'limit' ? (ending.resetsAt ?? null) : null,
    }
  }

  #ending(exit: Exit): Ending & { hasNoAnswer?: true } {
    const endedByRalph = exit.kind === 'aborted' || exit.kind === 'not-started'
    // A session that finished, or that has an answer, was not refused.
    if (this.#refusal !== null && !endedByRalph && !this.isComplete && this.text === '') {
      return { ...failureEnding('auth', this.#refusal), hasNoAnswer: true }
    }
    if (this.#unknownOption !== null && !this.#hasBegun && exit.kind === 'exit' && exit.code !== 0)
      return { ...optionEnding(this.#unknownOption), hasNoAnswer: true }
    // The session was finished, but its program did not exit.
    const isOverdue = (exit.kind === 'timeout' || exit.kind === 'idle') && this.isOver
    const byRalph = isOverdue ? null : endingByRalph(exit, this.retrying)
    if (byRalph !== null) return { resetsAt: this.resetsAt, ...byRalph, hasNoAnswer: true }
    const effectiveExit: Exit = isOverdue ? { kind: 'exit', code: 0 } : exit
    return this.failure(effectiveExit) ?? { status: 'finished', message: this.finishedMessage(isOverdue) }
  }

  /** Why the session is not finished; null when it is. */
  protected failure(exit: Exit): Ending | null {
    return this.isComplete && exit.kind === 'exit' && exit.code === 0
      ? null
      : endingByExit(exit, this.stderr.text())
  }

  protected onStderr(line: string): AgentEvent[] {
    this.stderr.push(line)
    return []
  }

  /** Whether an event of this type shows that the vendor accepted the key. */
  protected isStartedBy(_type: string): boolean {
    return true
  }

  /** `isOverdue`: the session was finished, but its program did not exit. */
  protected finishedMessage(_isOverdue: boolean): string {
    return 'the session finished'
  }

  /** Counts a turn; `input` includes `cached`. */
  protected addTurn(input: number, cached: number, output: number): AgentEvent[] {
    this.usage.turns = (this.usage.turns ?? 0) + 1
    this.usage.inputTokens += input
    this.usage.cachedTokens += cached
    this.usage.outputTokens += output
    return this.usageEvent()
  }

  protected usageEvent(): AgentEvent[] {
    return [{ kind: 'usage', usage: { ...this.usage } }]
  }

  /** The events of a failure, with the vendor's message for people. The session ends with it if nothing comes after it. */
  protected failedWith({ status, resetsAt = null }: Ending, vendorMessage: string): AgentEvent[] {
    const error: AgentEvent = { kind: 'error', message: vendorMessage }
    return status === 'limit' ? [{ kind: 'limit', resetsAt }, error] : [error]
  }

  protected retryEvent(status: number | null, attempt: number): AgentEvent[] {
    this.retrying = { status }
    return [{ kind: 'retry', status, attempt }]
  }
}

/**
 * The event on a line of a vendor's stream, or null. A warning of the program, or terminal codes, may precede the JSON on the same
 * line, if the program wrote them without a line end.
 */
function jsonEvent(line: string): Json | null {
  const start = line.indexOf('{')
  // A `{` after a quote is part of other output.
  return start < 0 || line.lastIndexOf('"', start) >= 0 ? null : jsonObject(line.slice(start))
}

export function toolUse(name: unknown, input: unknown): AgentEvent {
  return { kind: 'tool', name: asString(name) ?? 'tool', target: toolTarget(input) }
}

export function textEvent(text: string): AgentEvent[] {
  return text === '' ? [] : [{ kind: 'text', text }]
}

/** Appends to an answer. Its start is cut off at whole lines, because a part of a line could look like a marker. */
export function appendText(text: string, more: string): string {
  if (text.length + more.length <= 2 * TEXT_LIMIT) return text + more
  // Only the part that is kept is concatenated: otherwise each piece of a flood would create a large text.
  const tail = `${text.slice(text.length + more.length - TEXT_LIMIT)}${more}`.slice(-TEXT_LIMIT)
  return tail.slice(tail.indexOf('\n') + 1)
}

const TARGET_FIELDS = words('file_path filePath path notebook_path command pattern query url description')

/** What a tool was used on, for people: the first known field of its input, as one line of at most 200 characters. */
export function toolTarget(input: unknown): string | null {
  const fields = asObject(input) ?? {}
  const values = TARGET_FIELDS.map((name) => asString(fields[name]))
  const value = values.find((text) => text !== null && text !== '')
  return value?.replace(/\s+/g, ' ').slice(0, 200) ?? null
}
