// All features of a repository in one look: where each stands, and what was used by model, version and month. Pure.
import type { Outcome, Prd } from '../model/feature.ts'
import type { LedgerEntry } from '../model/state.ts'
import type { Usage } from '../model/usage.ts'
import { counts } from '../prd/select.ts'

/** A run of a feature. `ledger` is empty where only its prd.json is left. */
export type FeatureRun = {
  feature: string
  /** Without `.ralph/`. */
  folder: string
  outcome: Outcome | null
  isArchived: boolean
  stories: { passed: number; blocked: number; total: number }
  iterations: number
  jobs: number
  startedAt: string | null
  usage: Usage
  ledger: readonly LedgerEntry[]
}

export type Total = { name: string; calls: number; tokens: number; costUsd: number; agentSeconds: number }

export type Aggregate = {
  runs: readonly FeatureRun[]
  total: Total
  byModel: Total[]
  byVersion: Total[]
  byMonth: Total[]
}

export function runOf(
  { prd, ledger = [] }: { prd: Prd; ledger?: readonly LedgerEntry[] },
  where: Pick<FeatureRun, 'feature' | 'folder' | 'isArchived'>,
): FeatureRun {
  const { passed, blocked, total } = counts(prd)
  const { outcome, iterations, jobs, startedAt, usage } = prd.run
  return {
    ...where,
    outcome,
    stories: { passed, blocked, total },
    iterations,
    jobs,
    startedAt,
    usage,
    ledger,
  }
}

/** What no ledger tells, such as runs before there was one. */
const UNKNOWN = 'not known'

export function aggregate(runs: readonly FeatureRun[]): Aggregate {
  const entries = runs.flatMap((run) => [...run.ledger, rest(run)])
  const by = (keyOf: (entry: LedgerEntry) => string): Total[] => {
    const totals = new Map<string, Total>()
    for (const entry of entries) {
      const name = keyOf(entry)
      totals.set(name, plus(totals.get(name) ?? none(name), entry))
    }
    return [...totals.values()]
      .filter(({ calls, tokens, costUsd }) => calls > 0 || tokens > 0 || costUsd > 0)
      .map(rounded)
  }
  const dearest = (totals: Total[]) =>
    totals.sort((one, other) => other.costUsd - one.costUsd || other.tokens - one.tokens)
  return {
    runs: runs.map(withMoney).sort((one, other) => other.folder.localeCompare(one.folder)),
    total: rounded(entries.reduce(plus, none('all'))),
    byModel: dearest(by(({ agent, model }) => (model === null ? agent : `${agent} ${model}`))),
    byVersion: dearest(by(({ version }) => version)),
    byMonth: by(({ month }) => month).sort((one, other) => other.name.localeCompare(one.name)),
  }
}

/** What the run has used beyond its ledger. */
function rest({ usage, ledger, startedAt }: FeatureRun): LedgerEntry {
  const told = ledger.reduce(plus, none(''))
  return {
    month: ledger[0]?.month ?? startedAt?.slice(0, 7) ?? UNKNOWN,
    version: UNKNOWN,
    agent: UNKNOWN,
    model: null,
    calls: Math.max(0, usage.calls - told.calls),
    tokens: Math.max(0, usage.inputTokens + usage.outputTokens - told.tokens),
    costUsd: beyondNoise(usage.costUsd - told.costUsd),
    agentSeconds: beyondNoise(usage.agentSeconds - told.agentSeconds),
  }
}

/** Adding up loses the last digits. */
function beyondNoise(amount: number): number {
  return amount < 1e-6 ? 0 : amount
}

function none(name: string): Total {
  return { name, calls: 0, tokens: 0, costUsd: 0, agentSeconds: 0 }
}

function plus(total: Total, { calls, tokens, costUsd, agentSeconds }: Omit<Total, 'name'>): Total {
  return {
    name: total.name,
    calls: total.calls + calls,
    tokens: total.tokens + tokens,
    costUsd: total.costUsd + costUsd,
    agentSeconds: total.agentSeconds + agentSeconds,
  }
}

function withMoney(run: FeatureRun): FeatureRun {
  const { costUsd, estimatedCostUsd } = run.usage
  const ledger = run.ledger.map((entry) => ({ ...entry, costUsd: money(entry.costUsd) }))
  const usage = {
    ...run.usage,
    costUsd: money(costUsd),
    ...(estimatedCostUsd === undefined ? {} : { estimatedCostUsd: money(estimatedCostUsd) }),
  }
  return { ...run, usage, ledger }
}

function money(dollars: number): number {
  return Math.round(dollars * 1e6) / 1e6
}

function rounded(total: Total): Total {
  return {
    ...total,
    costUsd: money(total.costUsd),
    agentSeconds: Math.round(total.agentSeconds * 10) / 10,
  }
}
