// Settings: inputs, flags and configuration file become one typed value, or all mistakes at once.
import * as z from 'zod/mini'
import type { Gate } from '../engine/model/gate.ts'
import { isObject } from '../engine/model/json.ts'
import type { Mistake } from '../system/errors.ts'
import { deriveSettings, type Origin } from './derive-settings.ts'
import { NO_GATES, withGateFlags } from './gate-settings.ts'
import { fileLayer, flagLayer, inputLayer, type Layer, stepsLayers } from './layers.ts'
import { defaultValue, remarksOf, type SettingRow, type Surface } from './setting.ts'
import { type SettingField, type Settings, settingRows, table, type Values } from './settings-table.ts'
import { addUnknownPipeline, choosePipeline, pipelinePath } from './step-settings.ts'
import { addNote, parseValue, type SettingsReport, type ValuePlace } from './value-place.ts'

export {
  describeGates,
  describeServices,
  describeSteps,
  type FlagRow,
  flagTable,
} from './describe.ts'
export type { Settings } from './settings-table.ts'

/** Where settings come from. A flag wins over an input, an input over the file, the file over the default. */
export type Sources = {
  /** The action's inputs by kebab-case name, from `actionInputs`; empty is not given. */
  inputs?: Readonly<Record<string, string>>
  /** The CLI's flags by camelCase name; `gate` holds the `NAME=COMMAND` of each `--gate`. */
  flags?: Readonly<Record<string, string | boolean | readonly string[] | undefined>>
  /** The configuration file as the base branch or the person's checkout has it, never as an agent left it. */
  file?: { path: string; text: string } | null
  /** The configuration of the Ralph with steps that `pipeline` names, from the same place. */
  stepsFile?: { path: string; text: string } | null
  /** Keys of the file that are skipped, so that the variables that they name may be missing. */
  unused?: readonly string[]
  /** The variables that `${NAME}` in the file may name. */
  env: Readonly<Record<string, string | undefined>>
  surface: Surface
}

/** With mistakes, `settings` has what could be read and defaults for the rest: for further checks, never for a run. */
export type SettingsResult = { settings: Settings; notes: string[] } & (
  | { ok: true }
  | { ok: false; mistakes: Mistake[] }
)

/** Reads all settings, or says everything that is wrong with them. Never throws, whatever the sources hold. */
export function readSettings(sources: Sources): SettingsResult {
  const report: SettingsReport = { mistakes: [], notes: [] }
  const stepsFileLayers = sources.stepsFile ? stepsLayers(sources.stepsFile, sources.env, report) : null
  const layers = [
    flagLayer(sources.flags ?? {}, report),
    inputLayer(sources.inputs ?? {}, report),
    ...(stepsFileLayers === null ? [] : [stepsFileLayers.above]),
    ...(sources.file ? [fileLayer(sources.file, sources.env, sources.unused ?? [], report)] : []),
    ...(stepsFileLayers === null ? [] : [stepsFileLayers.below]),
  ]
  const chosen = fieldRecord(
    settingRows.map((row) => [row.field, chooseValue(row, layers, sources.surface, report)]),
  )
  // Every field's value came from its own schema: TypeScript cannot follow that through the loop.
  const values = fieldRecord(Object.entries(chosen).map(([field, { value }]) => [field, value])) as Values
  const gates = gatesOf(values.gates === NO_GATES ? [] : values.gates, sources.flags, report)
  const ungated = values.gates === NO_GATES && gates.length === 0
  const pipeline = { name: values.pipeline, at: chosen.pipeline.at }
  const steps = chosen.steps.isReadable ? choosePipeline(values.steps, chosen.steps.at, pipeline) : null
  if (!chosen.steps.isReadable && pipeline.name !== null && stepsFileLayers === null) {
    // Steps with a mistake in them still have their names.
    const writtenPipelines = layers.map(({ values }) => values.get('steps')?.value).find(isObject) ?? {}
    if (!Object.hasOwn(writtenPipelines, pipeline.name))
      addUnknownPipeline(pipeline.at, pipeline.name, Object.keys(writtenPipelines))
  }
  const settings = deriveSettings({ ...values, surface: sources.surface, gates, ungated, steps }, chosen)
  const { mistakes, notes } = report
  return mistakes.length > 0 ? { ok: false, mistakes, settings, notes } : { ok: true, settings, notes }
}

function fieldRecord<T>(entries: [string, T][]): Record<SettingField, T> {
  return Object.fromEntries(entries) as Record<SettingField, T>
}

type Chosen = Origin & { value: unknown }

/** Chooses a setting's value. Every layer is read, so that a mistake shows even if a higher layer wins. Layers come highest first. */
function chooseValue(
  row: SettingRow,
  layers: readonly Layer[],
  surface: Surface,
  report: SettingsReport,
): Chosen {
  let best: Omit<Chosen, 'isReadable' | 'overridden'> | undefined
  let overridden: unknown
  let isReadable = true
  for (const { values, rank } of layers) {
    const entry = values.get(row.key)
    if (entry === undefined) continue
    const value =
      entry === null
        ? undefined
        : parseValue(row.schema, row.secret ? { ...entry, shownAs: '(hidden)' } : entry)
    if (entry === null || value === undefined) isReadable = false
    else if (best === undefined) best = { value, at: entry.at, rank }
    else overridden ??= value
  }
  if (best === undefined)
    return {
      at: placeOfUnset(row, surface, report),
      rank: 0,
      value: defaultValue(row, surface),
      isReadable,
      overridden,
    }
  for (const remark of remarksOf(row, best.value)) addNote(best.at, remark)
  return { ...best, isReadable, overridden }
}

/** The place where an unset setting could be set. */
function placeOfUnset(row: SettingRow, surface: Surface, report: SettingsReport): ValuePlace {
  const outside = surface === 'action' ? `input ${row.input}` : `--${row.input}`
  const root = row.group === 'file only' ? `ralph.config.yml: ${row.key}` : outside
  return { root, keys: [], env: null, report }
}

function gatesOf(base: readonly Gate[], flags: Sources['flags'], report: SettingsReport): Gate[] {
  const gate = flags?.gate
  const gateFlags = typeof gate === 'string' ? [gate] : Array.isArray(gate) ? gate : []
  return withGateFlags(base, gateFlags, { root: '--gate', keys: [], env: null, report })
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

/** The names a configuration file is looked for under, the first that exists counts. */
export const configFileNames = ['ralph.config.yml', 'ralph.config.yaml', 'ralph.config.json']

/**
 * The settings of a run, resolved: the configuration file is looked for, then everything is read. `look` gives the
 * text of a file of the trusted side, null if there is none; without it, no file is asked for.
 */
export async function resolveSettings(
  sources: Omit<Sources, 'file'>,
  look: ((path: string) => Promise<string | null>) | null,
): Promise<SettingsResult> {
  const namedFile = namedConfigFile(sources)
  const isAction = sources.surface === 'action'
  const found: { path: string; text: string }[] = []
  for (const path of look === null ? [] : namedFile === null ? configFileNames : [namedFile]) {
    const text = (await look?.(path)) ?? null
    if (text !== null) found.push({ path, text })
    // In the action, `look` can cost a request.
    if (text !== null && isAction) break
  }
  const [file = null, ...others] = found
  const first = readSettings({ ...sources, file })
  const stepsFile = look === null ? null : await stepsFileOf(first.settings, look)
  const result = stepsFile === null ? first : readSettings({ ...sources, file, stepsFile })
  const notes = [
    ...others.map(({ path }) => `${path} is ignored, because Ralph reads ${file?.path}`),
    ...result.notes,
  ]
  if (file !== null || namedFile === null || look === null) return { ...result, notes }
  const missing = isAction
    ? {
        path: 'input config-file',
        found: `the base branch has no file ${namedFile}.`,
        fix: 'commit the file to the base branch, or correct the path',
      }
    : { path: '--config-file', found: `Ralph cannot read the file ${namedFile}.`, fix: 'correct the path' }
  const mistakes = [{ ...missing, expected: '' }, ...(result.ok ? [] : result.mistakes)]
  return { ...result, ok: false, mistakes, notes }
}

/** The file that `pipeline` names, if `steps` has no such name. */
async function stepsFileOf({ pipeline, steps }: Settings, look: (path: string) => Promise<string | null>) {
  if (pipeline === null || steps !== null) return null
  const path = pipelinePath(pipeline)
  const text = await look(path)
  return text === null ? null : { path, text }
}

/** The file that flags or inputs name; null when none, or no usable one, is named. */
function namedConfigFile({ inputs, flags }: Pick<Sources, 'inputs' | 'flags'>): string | null {
  const flag = typeof flags?.configFile === 'string' ? flags.configFile.trim() : ''
  const named = flag === '' ? (inputs?.['config-file'] ?? '').trim() : flag
  const { success, data } = z.safeParse(table.configFile.schema, named)
  return success ? data : null
}

/** Settings of flags, inputs and file, by key, as they are written and unchecked: for writing them to another file. */
export function writtenSettings({
  flags,
  inputs,
  file,
  env,
}: Omit<Sources, 'surface'>): Record<string, unknown> {
  const report: SettingsReport = { mistakes: [], notes: [] }
  const layers = [
    ...(file ? [fileLayer(file, env, [], report)] : []),
    inputLayer(inputs ?? {}, report),
    flagLayer(flags ?? {}, report),
  ]
  const entries = layers.flatMap((layer) => [...layer.values])
  return Object.fromEntries(
    entries.flatMap(([key, one]) => (one === null ? [] : [[key, one.written ?? one.value]])),
  )
}
