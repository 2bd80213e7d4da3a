// Cost and passes of each rung of a model ladder, and whether the rung pays. Pure; docs/cost.md has the arithmetic.
import { groupBy } from '../engine/model/each-once.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import type { State, TimelineEntry } from '../engine/model/state.ts'
import type { SessionEntry } from '../engine/model/usage.ts'
import { attemptKinds, attemptUsage } from '../engine/model/usage-totals.ts'
import { ladderOf } from '../engine/state/model-ladder.ts'
import { formatUsd, pluralize } from './figures.ts'

/** The attempts with one model that a gate or a judge decided. `costUsd`: of their sessions, without those of a judge. */
export type Rung = { model: string; attempts: number; passed: number; costUsd: number }

/** Failures that count for a model. Other attempts fail by chance, or before a gate or a judge looks at their work. */
const DECIDED: readonly TimelineEntry['kind'][] = ['gates', 'judge', 'stuck']

type Attempts = { timeline: readonly TimelineEntry[]; sessions: readonly SessionEntry[] }

/** The rungs in the timeline (the last 200 iterations), the one with the cheapest attempts first. */
export function rungsOf(state: Attempts): Rung[] {
  return sumOfRungs(decidedAttempts(state))
}

function decidedAttempts(state: Attempts): (Rung & { storyId: string })[] {
  return state.timeline.flatMap(({ model, result, kind, storyId, startedAt }) => {
    const isDecided = result === 'passed' || (result === 'rejected' && DECIDED.includes(kind))
    if (model === undefined || startedAt === undefined || !isDecided) return []
    const { costUsd } = attemptUsage(state, storyId, startedAt)
    const judged = attemptKinds(state, storyId, startedAt).get('judge')?.costUsd ?? 0
    const passed = result === 'passed' ? 1 : 0
    return [{ storyId, model, attempts: 1, passed, costUsd: costUsd - judged }]
  })
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

/** Dollars for each attempt. */
export function costPerAttempt({ attempts, costUsd }: Rung): number {
  return costUsd / attempts
}

/** Fewer attempts show neither how often a model passes nor what it costs. */
const MIN_ATTEMPTS = 5

/**
 * One line for people for each rung that costs more than it saves. A rung saves money while its cost, divided by that of the next rung, is
 * below its share of passes. Otherwise it is cheaper to begin with the next rung. Each ladder counts only its own stories.
 */
export function describeUnpaidRungs(
  state: Attempts & Pick<State, 'prd'>,
  limits: Pick<Limits, 'ladders'> | null,
): string[] {
  if (limits?.ladders === undefined) return []
  const { userStories } = state.prd
  const attempts = decidedAttempts(state)
  const ladders = groupBy(userStories, (story) => JSON.stringify(ladderOf(limits, story)))
  return [...ladders].flatMap(([ladder, climbers]) => {
    const ids = new Set(climbers.map(({ id }) => id))
    return describeUnpaidRungsOf(
      JSON.parse(ladder),
      sumOfRungs(attempts.filter(({ storyId }) => ids.has(storyId))),
    )
  })
}

/** The same for one ladder: its models in order. */
export function describeUnpaidRungsOf(ladder: readonly string[], rungs: readonly Rung[]): string[] {
  const measuredRung = (model: string | undefined) =>
    rungs.find((rung) => rung.model === model && rung.attempts >= MIN_ATTEMPTS && rung.costUsd > 0)
  return ladder.flatMap((model, at) => {
    const [rung, next] = [measuredRung(model), measuredRung(ladder[at + 1])]
    if (rung === undefined || next === undefined || rung === next) return []
    const ratio = costPerAttempt(rung) / costPerAttempt(next)
    const passRate = rung.passed / rung.attempts
    if (ratio <= passRate) return []
    const price = `an attempt costs ${percent(ratio)} of what one with ${next.model} costs (${formatUsd(costPerAttempt(rung))} and ${formatUsd(costPerAttempt(next))})`
    const passes = `${percent(passRate)} of ${pluralize(rung.attempts, 'attempt')} passed`
    return [`the model ${rung.model} saves no money: ${price}, but only ${passes}`]
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
