// Two agents in the place of one: an attempt says which of them it is for.
import type { AgentPort } from '../model/ports.ts'
import type { Attempt, State } from '../model/state.ts'

/** `second` works on attempts that were reserved for it; `judge` says which of them judges. */
export function withFallback(
  first: AgentPort,
  second: AgentPort | null,
  judge: (state: State) => Attempt['agent'],
): AgentPort {
  if (second === null) return first
  const of = (which: Attempt['agent']) => (which === 'fallback' ? second : first)
  return {
    work: (state, attempt, how, signal) => of(attempt.agent).work(state, attempt, how, signal),
    setUp: (state, attempt, bounds, signal) => of(attempt.agent).setUp(state, attempt, bounds, signal),
    judge: (state, task, bounds, signal) => of(judge(state)).judge(state, task, bounds, signal),
    plan: (state, task, bounds, signal) => of(judge(state)).plan(state, task, bounds, signal),
  }
}
