// The settings for people: a listing for the log, the flags of the CLI.

import { sayPipeline } from '../model/pipeline.ts'
import { oneLine } from '../model/text.ts'
import { standardTimeoutMs } from './gates.ts'
import { isEverywhere, type SettingRow, standardOf } from './setting.ts'
import { durationText } from './show.ts'
import { type Settings, settingRows } from './table.ts'

/** Listed even at their defaults: what a reader of a log looks for first. */
const always: ReadonlySet<string> = new Set([
  ...['command', 'feature', 'agent', 'model', 'gates', 'isolation'],
  ...['iterationsPerJob', 'maxIterations', 'maxAttempts', 'iterationTimeoutMs', 'maxCostUsd'],
])

/**
 * A line for each setting that matters: the essential ones and what differs from its default. Values that are
 * secrets, or command lines that may hold one, are never in it.
 */
export function describeSettings(settings: Settings): string {
  const values = new Map<string, unknown>(Object.entries(settings))
  const lines = settingRows.flatMap((row) => {
    const value = values.get(row.field)
    if (row.field === 'steps') return settings.steps === null ? [] : [`steps: ${describeSteps(settings)}`]
    const changed = JSON.stringify(value) !== JSON.stringify(standardOf(row, settings.surface))
    return changed || always.has(row.field) ? [`${row.input}: ${valueText(row, value, settings)}`] : []
  })
  return lines.join('\n')
}

function valueText(row: SettingRow, value: unknown, settings: Settings): string {
  if (row.kind === 'gates') return describeGates(settings)
  if (row.field === 'services') return describeServices(settings)
  if (value === null) return 'not set'
  if (row.hidden === true || row.secret === true) return 'set'
  if (row.kind === 'duration' && typeof value === 'number') return durationText(value)
  if (row.field === 'model') return modelText(settings)
  if (Array.isArray(value)) return oneLine(value.join(', '), 200)
  return oneLine(typeof value === 'object' ? JSON.stringify(value) : String(value), 200)
}

/** The pipeline in a line; empty for the session alone. Its command lines may hold a secret. */
export function describeSteps({ steps, agent }: Settings): string {
  return steps === null ? '' : oneLine(sayPipeline(steps, agent), 1000)
}

/** The names of the gates with what is special about them; their command lines may hold a secret. */
export function describeGates({ gates }: Settings): string {
  return gates.map(gateText).join(', ') || 'none'
}

/** Their names; commands and environment may hold a secret. */
export function describeServices({ services }: Settings): string {
  return oneLine(services.map(({ name }) => name).join(', '), 200) || 'none'
}

function gateText(gate: Settings['gates'][number]): string {
  const marks = [
    gate.timeoutMs === standardTimeoutMs ? '' : durationText(gate.timeoutMs),
    gate.when === null ? '' : `when ${gate.when.join(' or ')}`,
    gate.advisory ? 'advisory' : '',
    gate.retries === undefined ? '' : `retries ${gate.retries}`,
    gate.coverage?.threshold == null ? '' : `coverage ${gate.coverage.threshold} %`,
  ].filter((mark) => mark !== '')
  return oneLine(marks.length === 0 ? gate.name : `${gate.name} (${marks.join(', ')})`)
}

function modelText({ model }: Settings): string {
  const names = [...new Set(Object.values(model))]
  const only = names.length === 1 ? names[0] : undefined
  if (only !== undefined) return only === null ? "the agent's own" : oneLine(only)
  const modes = Object.entries(model).map(([mode, name]) => `${mode} ${name ?? "the agent's own"}`)
  return oneLine(modes.join(', '), 200)
}

/** A flag as a command line takes it. */
export type FlagRow = Pick<SettingRow, 'key' | 'standard' | 'description' | 'group'> & {
  /** `--max-cost-usd`. */
  flag: string
  /** False for booleans: `--flag`, `--no-flag`, and `--flag false`. */
  takesValue: boolean
  /** May be given several times; the values arrive as a list. */
  repeatable: boolean
}

/** Every flag that is a setting, `--gate` behind `--gates`. */
export function flagTable(): FlagRow[] {
  return settingRows.filter(isEverywhere).flatMap((row) => {
    const flag = {
      ...row,
      flag: `--${row.input}`,
      takesValue: row.kind !== 'boolean',
      repeatable: row.kind === 'list',
    }
    return row.kind === 'gates' ? [flag, { ...flag, ...gateFlag }] : [flag]
  })
}

const gateFlag = {
  flag: '--gate',
  key: 'gate',
  repeatable: true,
  description: 'A gate as NAME=COMMAND; adds to the gates, or replaces the one of that name.',
}
