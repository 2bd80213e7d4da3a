// All features of a repository together: the status of each, and the usage by model and by version of Ralph. Pure.
import { groupBy } from '../engine/model/each-once.ts'
import type { Prd } from '../engine/model/feature.ts'
import type { State } from '../engine/model/state.ts'
import { emptyUsage, type SessionEntry, sumOfUsage, tokensOf, type Usage } from '../engine/model/usage.ts'
import { type LedgerRow, ledgerOf, runUsage } from '../engine/model/usage-totals.ts'
import { counts } from '../engine/prd/select.ts'
import { type Merged, resultsOf } from './run-results.ts'
import { rungsOf, sumOfRungs } from './rungs.ts'

export type RunWithRows = ReturnType<typeof featureRun>
export type Aggregate = ReturnType<typeof aggregate>
export type FeatureRun = Aggregate['runs'][number]
export type Total = Aggregate['total']

/** A run of a feature. `folder` is without `.ralph/`. Without `sessions` only prd.json is left, and usage is the sum that it holds. */
export function featureRun(
  {
    prd,
    sessions,
    timeline,
  }: {
    prd: Prd & { run: { usage?: Usage } }
    sessions?: readonly SessionEntry[]
    timeline?: State['timeline']
  },
  where: { feature: string; folder: string; isArchived: boolean },
  merged: Merged | null = null,
) {
  const { passed, blocked, total } = counts(prd)
  const { outcome, iterations, jobs, startedAt } = prd.run
  const stories = { passed, blocked, total }
  const usage = sessions === undefined ? (prd.run.usage ?? emptyUsage()) : runUsage({ sessions })
  const rows = sessions === undefined ? [{ ...UNKNOWN_OWNER, ...usage }] : ledgerOf(sessions)
  const ledger = rows.flatMap(({ version, agent, model, ...used }) =>
    agent === null ? [] : [{ version, agent, model, ...amountsOf(used) }],
  )
  const rungs = rungsOf({ timeline: timeline ?? [], sessions: sessions ?? [] })
  const results = resultsOf({ prd, timeline, costUsd: usage.costUsd }, merged)
  return { ...where, results, outcome, stories, iterations, jobs, startedAt, usage, ledger, rows, rungs }
}

/** The name for usage without an agent: sessions of lost jobs, and runs that are older than the list of sessions. */
const UNKNOWN = 'not known'
const UNKNOWN_OWNER = { version: '', agent: null, model: null }

export function aggregate(runs: readonly RunWithRows[]) {
  const entries = runs.flatMap(({ rows }) => rows)
  const by = (keyOf: (entry: LedgerRow) => string) =>
    [...groupBy(entries, (entry) => (entry.agent === null ? UNKNOWN : keyOf(entry)))]
      .map(([name, some]) => totalOf(name, some))
      .filter(({ calls, tokens, costUsd }) => calls > 0 || tokens > 0 || costUsd > 0)
      .sort((one, other) => other.costUsd - one.costUsd || other.tokens - one.tokens)
  const rungs = roundNumbers(sumOfRungs(runs.flatMap((run) => run.rungs)))
  return {
    runs: runs
      .map(({ rows: _rows, rungs: _rungs, ...run }) => roundNumbers(run))
      .sort((one, other) => other.folder.localeCompare(one.folder)),
    total: totalOf('all', entries),
    byModel: by(({ agent, model }) => (model === null ? String(agent) : `${agent} ${model}`)),
    byVersion: by(({ version }) => version),
    /** Rungs of model ladders. Whether a rung pays is left out, because the order of the rungs in earlier runs is not known. */
    rungs,
  }
}

function totalOf(name: string, entries: readonly LedgerRow[]) {
  return roundNumbers({ name, ...amountsOf(sumOfUsage(entries)) })
}

function amountsOf(usage: Usage) {
  const { calls, costUsd, agentSeconds } = usage
  return { calls, tokens: tokensOf(usage), costUsd, agentSeconds }
}

/** All numbers rounded to six decimals, since sums of floats differ after that. */
function roundNumbers<T>(value: T): T {
  const digits = (_key: string, one: unknown) => (typeof one === 'number' ? Math.round(one * 1e6) / 1e6 : one)
  return JSON.parse(JSON.stringify(value, digits))
}
