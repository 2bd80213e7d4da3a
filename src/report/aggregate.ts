// All features of a repository in one look: where each stands, and what was used by model and version. Pure.
import { grouped } from '../model/each.ts'
import type { Prd } from '../model/feature.ts'
import type { LedgerEntry } from '../model/state.ts'
import { counts } from '../prd/select.ts'

export type FeatureRun = ReturnType<typeof runOf>
export type Total = ReturnType<typeof totalOf>
export type Aggregate = ReturnType<typeof aggregate>

/** A run of a feature. `folder` is without `.ralph/`; `ledger` empty where only its prd.json is left. */
export function runOf(
  { prd, ledger = [] }: { prd: Prd; ledger?: readonly LedgerEntry[] },
  where: { feature: string; folder: string; isArchived: boolean },
) {
  const { passed, blocked, total } = counts(prd)
  const { outcome, iterations, jobs, startedAt, usage } = prd.run
  const stories = { passed, blocked, total }
  return { ...where, outcome, stories, iterations, jobs, startedAt, usage, ledger }
}

/** What no ledger tells, such as runs before there was one. */
const UNKNOWN = 'not known'

export function aggregate(runs: readonly FeatureRun[]) {
  const entries = runs.flatMap((run) => [...run.ledger, rest(run)])
  const by = (keyOf: (entry: LedgerEntry) => string): Total[] =>
    [...grouped(entries, keyOf)]
      .map(([name, some]) => totalOf(name, some))
      .filter(({ calls, tokens, costUsd }) => calls > 0 || tokens > 0 || costUsd > 0)
      .sort((one, other) => other.costUsd - one.costUsd || other.tokens - one.tokens)
  return {
    runs: runs.map(withoutNoise).sort((one, other) => other.folder.localeCompare(one.folder)),
    total: totalOf('all', entries),
    byModel: by(({ agent, model }) => (model === null ? agent : `${agent} ${model}`)),
    byVersion: by(({ version }) => version),
  }
}

/** What the run has used beyond its ledger. */
function rest({ usage, ledger }: FeatureRun): LedgerEntry {
  const told = totalOf('', ledger)
  const beyond = (all: number, of: number) => Math.max(0, withoutNoise(all - of))
  return {
    version: UNKNOWN,
    agent: UNKNOWN,
    model: null,
    calls: beyond(usage.calls, told.calls),
    tokens: beyond(usage.inputTokens + usage.outputTokens, told.tokens),
    costUsd: beyond(usage.costUsd, told.costUsd),
    agentSeconds: beyond(usage.agentSeconds, told.agentSeconds),
  }
}

function totalOf(name: string, entries: readonly LedgerEntry[]) {
  const sum = (of: 'calls' | 'tokens' | 'costUsd' | 'agentSeconds') =>
    withoutNoise(entries.reduce((total, entry) => total + entry[of], 0))
  return {
    name,
    calls: sum('calls'),
    tokens: sum('tokens'),
    costUsd: sum('costUsd'),
    agentSeconds: sum('agentSeconds'),
  }
}

/** The same with six digits behind the point: adding up loses the last ones. */
function withoutNoise<T>(value: T): T {
  const digits = (_key: string, one: unknown) => (typeof one === 'number' ? Math.round(one * 1e6) / 1e6 : one)
  return JSON.parse(JSON.stringify(value, digits))
}
