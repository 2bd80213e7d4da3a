// Two agents in the place of one: the state says which of them an attempt is for.
import type { AgentPort } from '../loop/ports.ts'

/** `second` works on attempts that were reserved for it, and judges while `first` is at its vendor's limit. */
export function withFallback(first: AgentPort, second: AgentPort | null, now: () => number): AgentPort {
  if (second === null) return first
  return {
    work: (state, attempt, how, signal) =>
      (attempt.agent === 'fallback' ? second : first).work(state, attempt, how, signal),
    judge: (state, stories, bounds, signal) => {
      const isLimited = (state.control.firstNotBefore ?? 0) > now()
      return (isLimited ? second : first).judge(state, stories, bounds, signal)
    },
  }
}
