// `.ralph/aggregate.json` of another Ralph tool, with the usage of the last run. An existing file is updated in that tool's format.
import { isObject, jsonObject } from '../engine/model/json.ts'
import type { State } from '../engine/model/state.ts'
import { runUsage } from '../engine/model/usage-totals.ts'

type Run = Pick<State, 'prd' | 'sessions' | 'nonce'>

/** The file with this run's figures, other fields unchanged; null if it has these figures already, or is not a JSON object. */
export function updateAggregate(text: string, { prd, sessions, nonce }: Run): string | null {
  const file = jsonObject(text)
  if (file === null || sessions.length === 0) return null
  const { startedAt, completedAt } = prd.run
  const { calls, inputTokens, outputTokens, costUsd } = runUsage({ sessions })
  const last = Math.max(...sessions.map(({ to }) => to))
  const elapsed = startedAt === null ? {} : { elapsed_sec: Math.round((last - Date.parse(startedAt)) / 1000) }
  const metrics = {
    ...(startedAt === null ? {} : { started_at: startedAt }),
    updated_at: new Date(last).toISOString(),
    ...(completedAt === null ? {} : { completed_at: completedAt }),
    total_claude_calls: calls,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    total_cost_usd: costUsd,
    last_run_id: nonce,
    ...elapsed,
  }
  const { version, model } = sessions.at(-1) ?? {}
  const after = {
    ...file,
    ...(version ? { version: `ralph-action ${version}` } : {}),
    ...(model == null ? {} : { model }),
    metrics: { ...(isObject(file.metrics) ? file.metrics : {}), ...metrics },
  }
  return JSON.stringify(after) === JSON.stringify(file) ? null : `${JSON.stringify(after, null, 4)}\n`
}
