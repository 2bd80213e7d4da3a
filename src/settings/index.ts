// Settings: inputs, flags and configuration file become one typed value, or all mistakes at once.

import type { Gate } from '../model/gate.ts'
import type { Mistake } from '../system/errors.ts'
import { NO_GATES, withGateFlags } from './gates.ts'
import { fileLayer, flagLayer, inputLayer, type Layer } from './layers.ts'
import { givenAt, note, type Place, type Report, readAs } from './place.ts'
import { remarksOf, type SettingRow, type Surface, standardOf } from './setting.ts'
import { settle } from './settle.ts'
import { type SettingField, type Settings, settingRows, table, type Values } from './table.ts'

export {
  describeGates,
  describeSettings,
  type FlagRow,
  flagTable,
} from './describe.ts'
export type { Surface } from './setting.ts'
export type { Settings } from './table.ts'

/** Where settings come from. A flag wins over an input, an input over the file, the file over the default. */
export type Sources = {
  /** The action's inputs by kebab-case name, from `actionInputs`; empty is not given. */
  inputs?: Readonly<Record<string, string>>
  /** The CLI's flags by camelCase name; `gate` holds the `NAME=COMMAND` of each `--gate`. */
  flags?: Readonly<Record<string, string | boolean | readonly string[] | undefined>>
  /** The configuration file as it stands on the trusted side. */
  file?: { path: string; text: string } | null
  /** Keys of the file that this reader has no use for: they are not looked at, nor the variables that they name. */
  unused?: readonly string[]
  /** The variables that `${NAME}` in the file may name. */
  env: Readonly<Record<string, string | undefined>>
  surface: Surface
}

/** `settings` beside mistakes: what could be read, the default for the rest; good for looking on, never for a run. */
export type SettingsResult = { settings: Settings; notes: string[] } & (
  | { ok: true }
  | { ok: false; mistakes: Mistake[] }
)

/** Reads all settings, or says everything that is wrong with them. Never throws, whatever the sources hold. */
export function readSettings(sources: Sources): SettingsResult {
  const report: Report = { mistakes: [], notes: [] }
  const layers = [
    flagLayer(sources.flags ?? {}, report),
    inputLayer(sources.inputs ?? {}, report),
    ...(sources.file ? [fileLayer(sources.file, sources.env, sources.unused ?? [], report)] : []),
  ]
  const chosen = new Map<string, Chosen>()
  for (const row of settingRows) chosen.set(row.field, choose(row, layers, sources.surface, report))
  const of = (field: SettingField): Chosen => chosen.get(field) ?? noSetting(field)
  // Every field's value came from its own schema: TypeScript cannot follow that through the loop.
  const read = Object.fromEntries([...chosen].map(([field, { value }]) => [field, value])) as Values
  const gates = gatesOf(read.gates === NO_GATES ? [] : read.gates, sources.flags, report)
  const settings = settle(
    { ...read, surface: sources.surface, gates, ungated: read.gates === NO_GATES && gates.length === 0 },
    { of, sound: (...fields) => fields.every((field) => of(field).sound) },
  )
  const { mistakes, notes } = report
  return mistakes.length > 0 ? { ok: false, mistakes, settings, notes } : { ok: true, settings, notes }
}

/** A field's value, whether all that was given for it could be read, and where it came from. */
type Chosen = { value: unknown; sound: boolean; at: Place; rank: number }

/** Every level is read, so that a mistake shows also where a higher level wins. Layers come highest first. */
function choose(row: SettingRow, layers: readonly Layer[], surface: Surface, report: Report): Chosen {
  let best: Omit<Chosen, 'sound'> | undefined
  let sound = true
  for (const { given, rank } of layers) {
    const one = given.get(row.key)
    if (one === undefined) continue
    const value =
      one === null ? undefined : readAs(row.schema, row.secret ? { ...one, shownAs: '(hidden)' } : one)
    if (one === null || value === undefined) sound = false
    else best ??= { value, at: one.at, rank }
  }
  if (best === undefined)
    return { at: unset(row, surface, report), rank: 0, value: standardOf(row, surface), sound }
  for (const remark of remarksOf(row, best.value)) note(best.at, remark)
  return { ...best, sound }
}

/** Where a setting that nobody gave would be given. */
function unset(row: SettingRow, surface: Surface, report: Report): Place {
  const outside = surface === 'action' ? `input ${row.input}` : `--${row.input}`
  const root = row.group === 'file only' ? `ralph.config.yml: ${row.key}` : outside
  return { root, keys: [], env: null, report }
}

function noSetting(field: string): never {
  throw new Error(`no setting ${field}`)
}

function gatesOf(base: readonly Gate[], flags: Sources['flags'], report: Report): Gate[] {
  const gate = flags?.gate
  const given = typeof gate === 'string' ? [gate] : Array.isArray(gate) ? gate : []
  return withGateFlags(base, given, { root: '--gate', keys: [], env: null, report })
}

/**
 * The jobs that a chain may take: `max-jobs`, else three times what the iterations need, and five. Infinity when
 * the iterations have no end (the loop's own guards against idle jobs still end such a chain).
 */
export function maxJobs(settings: Pick<Settings, 'maxJobs' | 'maxIterations' | 'iterationsPerJob'>): number {
  if (settings.maxJobs !== null) return settings.maxJobs
  if (settings.maxIterations === 0) return Number.POSITIVE_INFINITY
  const jobs =
    settings.iterationsPerJob === 0 ? 1 : Math.ceil(settings.maxIterations / settings.iterationsPerJob)
  return 3 * jobs + 5
}

/**
 * The inputs by kebab-case name out of a step's environment. The runner upper-cases a name, keeps hyphens and
 * turns spaces into `_`; it exports unknown `with:` keys too, after a mere warning.
 */
export function actionInputs(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const inputs = Object.entries(env).flatMap(([name, value]): [string, string][] => {
    if (!/^INPUT_./i.test(name) || value === undefined) return []
    return [[name.slice('INPUT_'.length).toLowerCase(), value]]
  })
  return Object.fromEntries(inputs)
}

/** The names a configuration file is looked for under, the first that exists counts. */
export const configFileNames = ['ralph.config.yml', 'ralph.config.yaml', 'ralph.config.json'] as const

/** The file that flags or inputs name, to be read before `readSettings`; null when none, or no usable one, is named. */
export function wantedConfigFile(sources: Pick<Sources, 'inputs' | 'flags'>): string | null {
  const report: Report = { mistakes: [], notes: [] }
  const flag = sources.flags?.configFile
  const named =
    typeof flag === 'string' && flag.trim() !== '' ? flag : (sources.inputs?.['config-file'] ?? '')
  if (named.trim() === '') return null
  return (
    readAs(table.configFile.schema, givenAt({ root: 'config-file', keys: [], env: null, report }, named)) ??
    null
  )
}

/** A copy of this process's environment. Beside the door of the action (clean-env.ts) nothing else reads `process.env`. */
export function hostEnvironment(): Record<string, string> {
  const set = Object.entries(process.env).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  )
  return Object.fromEntries(set)
}
