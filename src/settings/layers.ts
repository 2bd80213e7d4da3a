// The three places a setting can come from: flags, inputs and the configuration file, each as trees by key.
import { agnosticKeys, type Given, readAgnosticKeys } from './agnostic-config.ts'
import { parseText } from './parse-text.ts'
import { below, isUnset, mistake, mistakeSaid, note, type Place, type Report, unknownKey } from './place.ts'
import { oneLine } from './show.ts'
import { kebab, type SettingRow, settingRows } from './table.ts'
import { isMap, type Tree } from './tree.ts'

/** What was given at one level, by configuration key. `rank`: the higher wins. */
export type Layer = { rank: number; given: Map<string, Given>; failed: Set<string> }

const everywhere = settingRows.filter((row) => row.group !== 'file only')
const byInput = new Map(everywhere.map((row) => [row.input, row]))
const byKey = new Map(everywhere.map((row) => [row.key, row]))
const fileOnly = new Set(
  settingRows.flatMap((row) => (row.group === 'file only' ? [row.key, row.input] : [])),
)

/** The action's inputs by kebab-case name; an empty one is not given. */
export function inputLayer(inputs: Readonly<Record<string, string>>, report: Report): Layer {
  const layer: Layer = { rank: 2, given: new Map(), failed: new Set() }
  for (const [name, value] of Object.entries(inputs)) {
    const at: Place = { root: `input ${oneLine(name)}`, keys: [], env: null, report }
    const row = byInput.get(name)
    if (row === undefined) unknown(at, name, [...byInput.keys()], (input) => input)
    else if (!isUnset(at, value)) giveText(layer, row, value, at)
  }
  return layer
}

/** The CLI's flags by camelCase key, without `gate`, which is no setting of its own. */
export function flagLayer(flags: Readonly<Record<string, unknown>>, report: Report): Layer {
  const layer: Layer = { rank: 3, given: new Map(), failed: new Set() }
  for (const [key, value] of Object.entries(flags)) {
    if (value === undefined || key === 'gate') continue
    const flag = `--${kebab(key)}`
    const at: Place = { root: oneLine(flag), keys: [], env: null, report }
    const row = byKey.get(key)
    const tree = row === undefined ? undefined : flagValue(row, value, at)
    if (row === undefined) unknown(at, key, [...byKey.keys(), 'gate'], (name) => `--${kebab(name)}`)
    else if (tree === undefined) layer.failed.add(row.key)
    else if (typeof tree === 'string' && !isUnset(at, tree)) giveText(layer, row, tree, at)
    else if (typeof tree !== 'string') layer.given.set(row.key, { value: tree, at })
  }
  return layer
}

function unknown(at: Place, name: string, valid: string[], written: (name: string) => string): void {
  if (fileOnly.has(name)) {
    const fix = 'write it into ralph.config.yml'
    mistakeSaid(at, 'a setting of the configuration file only', 'an input or flag', fix)
  } else {
    unknownKey(at, name, valid, written)
  }
}

function flagValue(row: SettingRow, value: unknown, at: Place): Tree | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') {
    return row.kind === 'boolean'
      ? value
      : mistakeSaid(at, String(value), 'a value', 'write one after the flag')
  }
  if (!Array.isArray(value)) return mistakeSaid(at, typeof value, 'a text', 'write a text')
  const items = value.filter((item) => typeof item === 'string')
  if (row.kind === 'list' || items.length === 0) return items
  return items.length === 1
    ? items[0]
    : mistakeSaid(at, `${items.length} values`, 'one value', 'give the flag once')
}

/** Maps and gates are YAML in an input; a model may be a plain name as well as a map. */
function giveText(layer: Layer, row: SettingRow, value: string, at: Place): void {
  const structured = row.kind === 'gates' || (row.kind === 'map' && /^\s*\{|:\s|:$|\n/.test(value.trim()))
  if (!structured) {
    layer.given.set(row.key, { value, at })
    return
  }
  const tree = parseText(at, 'yaml', value)
  if (tree === undefined) layer.failed.add(row.key)
  else if (!isUnset(at, tree)) layer.given.set(row.key, { value: tree, at })
}

const fileKeys = settingRows.map((row) => row.key)
const knownKeys = new Set<string>([...fileKeys, ...agnosticKeys])

/** The configuration file: YAML or JSON by its name's ending, our keys in camelCase or seed 4's. */
export function fileLayer(
  file: { path: string; text: string },
  env: Place['env'],
  unused: readonly string[],
  report: Report,
): Layer {
  const layer: Layer = { rank: 1, given: new Map(), failed: new Set() }
  const at: Place = { root: oneLine(file.path), keys: [], env, report }
  const tree = parseText(at, /\.json$/i.test(file.path) ? 'json' : 'yaml', file.text)
  if (tree === undefined || tree === null) return layer
  if (!isMap(tree)) {
    mistake(at, tree, 'a map of settings', 'write `key: value` lines')
    return layer
  }
  for (const [key, value] of tree) {
    // Editors find a schema by this key; it is no setting.
    if (key === '$schema' || unused.includes(key)) continue
    const place = below(at, key)
    if (!knownKeys.has(key)) unknownKey(place, key, [...knownKeys])
    else if (!agnosticKeys.some((name) => name === key) && !isUnset(place, value)) {
      layer.given.set(key, { value, at: place })
      remark(key, value, place)
    }
  }
  for (const [key, given] of readAgnosticKeys(tree, at)) layer.given.set(key, given)
  return layer
}

function remark(key: string, value: Tree, at: Place): void {
  if (key === 'configFile') note(at, 'has no effect inside the configuration file')
  const secret = key === 'token' || key === 'publishToken'
  if (secret && typeof value === 'string' && !value.includes('${')) {
    note(at, `a token written into the file can be read by everybody who reads it; write $\{NAME} instead`)
  }
}
