// What each rung of a model ladder cost and passed, and whether it pays. Pure; docs/cost.md has the arithmetic.
import { groupBy } from '../engine/model/each-once.ts'
import type { TimelineEntry } from '../engine/model/state.ts'
import type { SessionEntry } from '../engine/model/usage.ts'
import { attemptKinds, attemptUsage } from '../engine/model/usage-totals.ts'
import { formatUsd, pluralize } from './figures.ts'

/** Attempts that a gate or a judge decided. `costUsd`: of their sessions, without those of a judge. */
export type Rung = { model: string; attempts: number; passed: number; costUsd: number }

/** Of the last 200 iterations, the cheapest attempts first. */
export function rungsOf(state: {
  timeline: readonly TimelineEntry[]
  sessions: readonly SessionEntry[]
}): Rung[] {
  const rungs = state.timeline.flatMap(({ model, result, storyId, startedAt }): Rung[] => {
    const isDecided = result === 'passed' || result === 'rejected'
    if (model === undefined || startedAt === undefined || !isDecided) return []
    const { costUsd } = attemptUsage(state, storyId, startedAt)
    const judged = attemptKinds(state, storyId, startedAt).get('judge')?.costUsd ?? 0
    return [{ model, attempts: 1, passed: result === 'passed' ? 1 : 0, costUsd: costUsd - judged }]
  })
  return sumOfRungs(rungs)
}

export function sumOfRungs(all: readonly Rung[]): Rung[] {
  const sum = (some: readonly Rung[], of: (one: Rung) => number) =>
    some.reduce((total, one) => total + of(one), 0)
  return [...groupBy(all, ({ model }) => model)]
    .map(([model, some]) => ({
      model,
      attempts: sum(some, ({ attempts }) => attempts),
      passed: sum(some, ({ passed }) => passed),
      costUsd: sum(some, ({ costUsd }) => costUsd),
    }))
    .sort((one, other) => costPerAttempt(one) - costPerAttempt(other))
}

/** Dollars an attempt. */
export function costPerAttempt({ attempts, costUsd }: Rung): number {
  return costUsd / attempts
}

/** Fewer say nothing of how often a model passes. */
const LEAST_ATTEMPTS = 5

/**
 * For people, a line for each rung that costs more than it saves: where an attempt costs a greater part of the next rung's than the
 * part of attempts that pass, to begin with the next one is cheaper.
 */
export function describeUnpaidRungs(rungs: readonly Rung[]): string[] {
  return rungs.flatMap((rung, at) => {
    const next = rungs[at + 1]
    if (next === undefined || rung.attempts < LEAST_ATTEMPTS || costPerAttempt(rung) === 0) return []
    const ratio = costPerAttempt(rung) / costPerAttempt(next)
    const passRate = rung.passed / rung.attempts
    if (ratio <= passRate) return []
    const price = `an attempt costs ${percent(ratio)} of one with ${next.model} (${formatUsd(costPerAttempt(rung))} to ${formatUsd(costPerAttempt(next))})`
    const passes = `${percent(passRate)} of ${pluralize(rung.attempts, 'attempt')} passed`
    return [`the rung ${rung.model} does not pay: ${price}, and ${passes}`]
  })
}

/** `haiku: 6 of 10 attempts passed, $0.12 each`. */
export function describeRung(rung: Rung): string {
  const cost = rung.costUsd === 0 ? '' : `, ${formatUsd(costPerAttempt(rung))} each`
  return `${rung.model}: ${rung.passed} of ${pluralize(rung.attempts, 'attempt')} passed${cost}`
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}
