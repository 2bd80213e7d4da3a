// Events of an agent's session, the same for all agents.

/** An event while a session runs, for the live display, the transcript and the budget. */
export type AgentEvent =
  /** `goesOn`: continues the text before it without a line break. */
  | { kind: 'text'; text: string; goesOn?: true }
  | { kind: 'tool'; name: string; target: string | null }
  /** The session's usage so far, as a total. */
  | { kind: 'usage'; usage: Usage }
  /** The vendor's usage limit was reached; `resetsAt` in epoch milliseconds. */
  | { kind: 'limit'; resetsAt: number | null }
  /** The vendor's program repeats a request; `status` is the HTTP status, null for a broken connection. */
  | { kind: 'retry'; status: number | null; attempt: number }
  | { kind: 'error'; message: string }
  /** From Ralph itself: progress of a pipeline. `agent`: the one that speaks next, if it is not the run's own. */
  | { kind: 'step'; text: string; agent: string | null }

/**
 * What a session used; times are in seconds. `calls` counts sessions (1 for one that was started). `inputTokens` is everything sent,
 * and `cachedTokens` the part of it that came from the vendor's cache. `turns` is the vendor's own count.
 */
export type Usage = {
  calls: number
  inputTokens: number
  outputTokens: number
  cachedTokens: number
  costUsd: number | null
  agentSeconds: number
  turns: number | null
}
