// The settings for people: gates, services and steps in a line, the flags of the CLI.

import { formatPipeline } from '../engine/model/pipeline-step.ts'
import { oneLine } from '../engine/model/text.ts'
import { DEFAULT_TIMEOUT_MS } from './gate-settings.ts'
import { isInputAndFlag, type SettingRow } from './setting.ts'
import { type Settings, settingRows } from './settings-table.ts'
import { formatDuration } from './show.ts'

/** The pipeline in a line; empty if there is only the session. Its command lines may hold a secret. */
export function describeSteps({ steps, agent }: Settings): string {
  return steps === null ? '' : oneLine(formatPipeline(steps, agent), 1000)
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
    gate.timeoutMs === DEFAULT_TIMEOUT_MS ? '' : formatDuration(gate.timeoutMs),
    gate.when === null ? '' : `when ${gate.when.join(' or ')}`,
    gate.advisory ? 'advisory' : '',
    gate.retries === undefined ? '' : `retries ${gate.retries}`,
    gate.paths === undefined ? '' : `for ${gate.paths.join(', ')}`,
    gate.needs === undefined ? '' : `after ${gate.needs.join(', ')}`,
    gate.alone === true ? 'alone' : '',
    gate.coverage?.threshold == null ? '' : `coverage ${gate.coverage.threshold} %`,
  ].filter((mark) => mark !== '')
  return oneLine(marks.length === 0 ? gate.name : `${gate.name} (${marks.join(', ')})`)
}

export type FlagRow = Pick<SettingRow, 'key' | 'defaultText' | 'description' | 'group' | 'values'> & {
  /** `--max-cost-usd`. */
  flag: string
  /** False for booleans: `--flag`, `--no-flag`, and `--flag false`. */
  takesValue: boolean
  /** May be given several times; the values arrive as a list. */
  repeatable: boolean
}

/** Every flag that is a setting; `--gate` comes after `--gates`. */
export function flagTable(): FlagRow[] {
  return settingRows.filter(isInputAndFlag).flatMap((row) => {
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
  description: 'A gate as NAME=COMMAND. Ralph adds it to the gates, or replaces the gate with this name.',
}
