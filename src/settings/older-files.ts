// Configurations of two earlier Ralphs, read as they are. A key with another meaning here gets a note.
import { agentOfProgram } from '../agents/registry.ts'
import { isObject } from '../engine/model/json.ts'
import { shellWord } from '../system/shell-word.ts'
import { parseText } from './settings-text.ts'
import { stepKeys } from './step-settings.ts'
import {
  addNote,
  addProblem,
  childPlace,
  type GivenValue,
  parseValue,
  type SettingsReport,
  substituteVariables,
  type ValuePlace,
} from './value-place.ts'
import * as v from './values.ts'

// ---- the ralph.config.json of the agent-agnostic Ralph: `provider`, `verify` and `maxRetries`

const commands = v.withDefault(v.listOf(v.lines), [])

/** The structures that only this configuration has. */
export const agnosticShape = {
  provider: v.structure({ command: v.text, args: commands, timeout: v.orNull(v.seconds) }),
  verify: v.structure({ default: commands, ui: commands }),
}

/** The settings that replace each key. */
const replacedBy: Readonly<Record<string, readonly string[]>> = {
  provider: ['agent', 'agentCommand', 'agentArgs'],
  verify: ['gates'],
  maxRetries: ['maxAttempts'],
}
export const agnosticKeys = Object.keys(replacedBy)

/** The settings that the older keys set. Notes say what differs here; a key and its replacement together are a mistake. */
export function readAgnosticKeys(
  older: ReadonlyMap<string, GivenValue>,
  current: ReadonlyMap<string, GivenValue>,
  at: ValuePlace,
): [string, GivenValue][] {
  const entries = [...older].flatMap(([key, value]) => {
    const replacement = replacedBy[key]?.find((name) => current.has(name))
    if (replacement === undefined) return settingsFrom(key, value)
    addProblem(value.at, `${key} and ${replacement} set the same thing.`, `remove ${key}, the older name`)
    return []
  })
  if ((older.has('provider') || older.has('verify')) && !current.has('maxIterations'))
    addNote(at, 'a run ends after 50 iterations; maxIterations: 0 removes this limit')
  const browser = current.get('browser')?.value
  if (isObject(browser) && 'screenshotDir' in browser) {
    const place = childPlace(at, 'browser', 'screenshotDir')
    addNote(
      place,
      'ignored: Ralph keeps screenshots with the state of the run, and in .git/ralph/screenshots of this clone',
    )
  }
  return entries
}

function settingsFrom(key: string, value: GivenValue): [string, GivenValue][] {
  if (key === 'provider') return readProvider(value)
  if (key === 'verify') return readVerify(value)
  addNote(value.at, 'read as maxAttempts, the number of failed attempts that block a story')
  return [['maxAttempts', value]]
}

function readProvider(provider: GivenValue): [string, GivenValue][] {
  const { at } = provider
  const read = parseValue(agnosticShape.provider, provider)
  if (read === undefined) return []
  // Text from a variable is not substituted again, and not shown.
  const derivedValue = (value: unknown): GivenValue => ({
    at,
    written: undefined,
    value,
    shownAs: 'provider',
  })
  const name = agentOfProgram(read.command)
  const entries: [string, GivenValue][] = []
  if (name !== null) {
    entries.push(['agent', derivedValue(name)], ['agentArgs', derivedValue(read.args)])
    addNote(at, `read as agent: ${name}; Ralph adds these args after its own`)
  } else {
    const program = /^[\w.-]+\s/.test(read.command) ? read.command : shellWord(read.command)
    const command = [program, ...read.args.map(shellWord)].join(' ')
    entries.push(['agent', derivedValue('custom')], ['agentCommand', derivedValue(command)])
    addNote(at, 'read as agent: custom, with this command as agentCommand')
  }
  if (read.timeout !== null)
    entries.push([
      'iterationTimeout',
      { ...derivedValue(`${read.timeout / 1000}s`), at: childPlace(at, 'timeout') },
    ])
  return entries
}

function readVerify(verify: GivenValue): [string, GivenValue][] {
  const read = parseValue(agnosticShape.verify, verify)
  if (read === undefined) return []
  addNote(
    verify.at,
    'read as gates. Gates of verify.ui run after the browser checks, for stories with the tag ui. In the final verification, all gates run',
  )
  const gates: Record<string, unknown> = {}
  for (const run of read.default) gates[freeName(run, 'default', gates)] = run
  for (const run of read.ui) gates[freeName(run, 'ui', gates)] = { run, when: 'ui', behindPages: true }
  return [['gates', { at: verify.at, written: undefined, value: gates, shownAs: 'verify' }]]
}

/**
 * The command as a name, made unique: `bun-run-test-unit`; `default` if it holds neither letter nor digit. Variables and
 * options may hold a secret, and a name is shown everywhere.
 */
function freeName(command: string, group: string, taken: object): string {
  const names = new Set(Object.keys(taken).map((key) => key.toLowerCase()))
  const stem =
    command
      .split(/\s+/)
      .filter((word) => !/^(?:-|\w+=)/.test(word))
      .slice(0, 3)
      .join('-')
      .replace(/[^A-Za-z0-9]+/g, '-')
      .slice(0, 40)
      .replace(/^[-\d]+|-+$/g, '') || group
  let name = stem
  for (let count = 2; names.has(name.toLowerCase()); count += 1) name = `${stem}-${count}`
  return name
}

// ---- configs/*.json of the Ralph with steps

/** The steps of the file, and its limit of attempts. */
export function readStepsFile(
  file: { path: string; text: string },
  env: ValuePlace['env'],
  report: SettingsReport,
): { steps: GivenValue | null; maxAttempts: GivenValue | null } {
  const at: ValuePlace = { root: file.path, keys: [], env, report }
  const tree = parseText(at, 'json', file.text)
  if (!isObject(tree) || !Array.isArray(tree.steps)) {
    if (tree !== undefined) addProblem(at, 'this file has no list `steps`.', 'add "steps": [...]')
    return { steps: null, maxAttempts: null }
  }
  const { steps: written, max_loops_per_task: loops, ...others } = tree
  for (const key of Object.keys(others).filter((one) => !['name', 'description', '$schema'].includes(one)))
    addNote(childPlace(at, key), 'ignored, because Ralph does not use this key')
  const place = childPlace(at, 'max_loops_per_task')
  if (loops === 0)
    addNote(place, '0 meant no limit. Here max-attempts (default: 3) limits the failed attempts of a story')
  else if (!v.isEmpty(loops))
    addNote(place, 'read as maxAttempts, the number of failed attempts that block a story')
  return {
    steps: substituteVariables(
      childPlace(at, 'steps'),
      written.map((one, index) => withoutUnknownKeys(one, childPlace(at, 'steps', index))),
    ),
    maxAttempts: v.isEmpty(loops) || loops === 0 ? null : substituteVariables(place, loops),
  }
}

/** A step without unknown keys, which its own program ignored as well. */
function withoutUnknownKeys(step: unknown, at: ValuePlace): unknown {
  if (!isObject(step)) return step
  const knownKeysOf = (map: Readonly<Record<string, unknown>>, keys: readonly string[], place: ValuePlace) =>
    Object.fromEntries(
      Object.entries(map).filter(([key]) => {
        const isKnown = keys.includes(v.toCamelCase(key)) || keys.includes(key)
        if (!isKnown) addNote(childPlace(place, key), 'ignored, because Ralph does not use this key')
        return isKnown
      }),
    )
  const inner = isObject(step.config)
    ? { config: knownKeysOf(step.config, stepKeys.config, childPlace(at, 'config')) }
    : {}
  return { ...knownKeysOf(step, stepKeys.step, at), ...inner }
}
