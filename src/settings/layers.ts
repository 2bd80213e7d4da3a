// The three sources of settings: flags, inputs and the configuration file, each as values by key.

import { isObject } from '../engine/model/json.ts'
import { oneLine } from '../engine/model/text.ts'
import { agnosticKeys, readAgnosticKeys, readStepsFile } from './older-files.ts'
import { isInputAndFlag, type SettingRow, toKebabCase } from './setting.ts'
import { settingRows } from './settings-table.ts'
import { parseText } from './settings-text.ts'
import { describeFound } from './show.ts'
import {
  addMistake,
  addNote,
  addProblem,
  addUnknownKey,
  childPlace,
  type GivenValue,
  type SettingsReport,
  substituteVariables,
  type ValuePlace,
} from './value-place.ts'
import { isEmpty } from './values.ts'

/** The values of one source, by configuration key; null if a value could not be read. The higher `rank` wins. */
export type Layer = { rank: number; values: Map<string, GivenValue | null> }

const everywhere = settingRows.filter(isInputAndFlag)
const byInput = new Map(everywhere.map((row) => [row.input, row]))
const byKey = new Map(everywhere.map((row) => [row.key, row]))
const fileOnly = new Set(settingRows.flatMap((row) => (isInputAndFlag(row) ? [] : [row.key, row.input])))

/** The action's inputs by kebab-case name; an empty one is not given. */
export function inputLayer(inputs: Readonly<Record<string, string>>, report: SettingsReport): Layer {
  const values: Layer['values'] = new Map()
  for (const [name, value] of Object.entries(inputs)) {
    const at: ValuePlace = { root: `input ${oneLine(name, 80)}`, keys: [], env: null, report }
    const row = byInput.get(name)
    if (row === undefined) addUnknownName(at, name, [...byInput.keys()], (input) => input)
    else addValue(values, row, value, at)
  }
  return { rank: 2, values }
}

/** The CLI's flags by camelCase key, without `gate`, which is not a setting by itself. */
export function flagLayer(flags: Readonly<Record<string, unknown>>, report: SettingsReport): Layer {
  const values: Layer['values'] = new Map()
  for (const [key, value] of Object.entries(flags)) {
    if (value === undefined || key === 'gate') continue
    const at: ValuePlace = { root: oneLine(`--${toKebabCase(key)}`, 80), keys: [], env: null, report }
    const row = byKey.get(key)
    if (row === undefined)
      addUnknownName(at, key, [...byKey.keys(), 'gate'], (name) => `--${toKebabCase(name)}`)
    else addValue(values, row, flagValue(row, value, at), at)
  }
  return { rank: 3, values }
}

function addUnknownName(
  at: ValuePlace,
  name: string,
  valid: string[],
  written: (name: string) => string,
): void {
  if (!fileOnly.has(name)) addUnknownKey(at, name, valid, written)
  else {
    addProblem(at, 'this setting works only in the configuration file.', 'write it into ralph.config.yml')
  }
}

/** Undefined after a mistake. */
function flagValue(row: SettingRow, value: unknown, at: ValuePlace): unknown {
  if (
    typeof value === 'string' ||
    (typeof value === 'boolean' && (row.kind === 'boolean' || row.values.includes(String(value))))
  )
    return value
  if (!Array.isArray(value))
    return addProblem(at, 'this flag needs a value.', 'write the value after the flag')
  if (row.kind === 'list' || value.length === 0) return value
  if (value.length === 1) return value[0]
  return addMistake(at, `${value.length} values`, 'one value', 'give the flag once')
}

/** Maps and gates are YAML in a text; a model may be a plain name as well as a map. */
function addValue(values: Layer['values'], row: SettingRow, value: unknown, at: ValuePlace): void {
  const isYaml =
    typeof value === 'string' &&
    (row.kind === 'gates' || (row.kind === 'map' && /^\s*\{|:\s|:$|\n/.test(value.trim())))
  const written = isYaml ? parseText(at, 'yaml', value) : value
  if (written === undefined) values.set(row.key, null)
  else if (!isEmpty(written)) values.set(row.key, substituteVariables(at, written))
}

/** The file that `pipeline` names: its steps win over those of the configuration file, its other settings do not. */
export function stepsLayers(
  file: { path: string; text: string },
  env: ValuePlace['env'],
  report: SettingsReport,
): { above: Layer; below: Layer } {
  const { steps, maxAttempts } = readStepsFile(file, env, report)
  const limits: Layer['values'] = new Map(maxAttempts === null ? [] : [['maxAttempts', maxAttempts]])
  return { above: { rank: 1, values: new Map([['steps', steps]]) }, below: { rank: 1, values: limits } }
}

const fileKeys = settingRows.map((row) => row.key)

/** The configuration file: YAML or JSON by its name's ending, our keys in camelCase or the older ones. */
export function fileLayer(
  file: { path: string; text: string },
  env: ValuePlace['env'],
  unused: readonly string[],
  report: SettingsReport,
): Layer {
  const at: ValuePlace = { root: oneLine(file.path, 80), keys: [], env, report }
  const tree = parseText(at, /\.json$/i.test(file.path) ? 'json' : 'yaml', file.text) ?? {}
  if (!isObject(tree)) addMistake(at, describeFound(tree), 'a map of settings', 'write `key: value` lines')
  const current = new Map<string, GivenValue>()
  const older = new Map<string, GivenValue>()
  for (const [key, written] of isObject(tree) ? Object.entries(tree) : []) {
    // Editors find a schema by `$schema`; it is not a setting.
    if (key === '$schema' || unused.includes(key)) continue
    const place = childPlace(at, key)
    const target = fileKeys.includes(key) ? current : agnosticKeys.includes(key) ? older : null
    if (target === null) addUnknownKey(place, key, [...fileKeys, ...agnosticKeys])
    else {
      const value = substituteVariables(place, written)
      if (!isEmpty(value.value)) target.set(key, value)
      addKeyNotes(key, written, place)
    }
  }
  return { rank: 1, values: new Map([...current, ...readAgnosticKeys(older, current, at)]) }
}

const SECRETS = ['token', 'publishToken', 'examplesKey', 'signingKey']

function addKeyNotes(key: string, written: unknown, at: ValuePlace): void {
  if (isEmpty(written)) return
  if (key === 'configFile') addNote(at, 'has no effect inside the configuration file')
  const isSecret = SECRETS.includes(key)
  if (isSecret && typeof written === 'string' && !written.includes('${'))
    addNote(
      at,
      `everyone who can read this file can read this secret; write $\{NAME}, and set the variable NAME`,
    )
}
