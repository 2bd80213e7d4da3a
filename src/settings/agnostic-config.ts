// Seed 4's ralph.config.json: `provider`, `verify` and `maxRetries` read as the settings that they are here.

import { agentOfProgram } from '../agents/registry.ts'
import { shellWord } from '../system/shell-word.ts'
import { below, isUnset, mistakeSaid, note, type Place } from './place.ts'
import { duration, listOf, optional, required, structure, text } from './readers.ts'
import { isMap, type Tree, type TreeMap } from './tree.ts'

/** A value and where it was written. */
export type Given = { value: Tree; at: Place }

/** The keys that only this shape has. */
export const agnosticKeys = ['provider', 'verify', 'maxRetries'] as const

const commandLine = text({ lines: true })

const readProvider = structure({
  command: required(text()),
  args: optional(listOf(commandLine), () => []),
  timeoutMs: optional<number | null>(duration({ seconds: true }), () => null),
})

const readVerify = structure({
  default: optional(listOf(commandLine), () => []),
  ui: optional(listOf(commandLine), () => []),
})

/** The settings that seed 4's keys stand for, by configuration key; notes say what means something else here. */
export function readAgnosticKeys(file: TreeMap, at: Place): Map<string, Given> {
  const given = new Map<string, Given>()
  const take = (
    key: (typeof agnosticKeys)[number],
    own: readonly string[],
    read: (value: Tree, place: Place) => void,
  ) => {
    const place = below(at, key)
    const value = file.get(key) ?? null
    if (isUnset(place, value)) return
    const beside = own.find((name) => file.has(name))
    if (beside === undefined) read(value, place)
    else
      mistakeSaid(
        place,
        `${key} beside ${beside}`,
        'one of the two',
        `remove ${key}, which is the older form`,
      )
  }
  take('maxRetries', ['maxAttempts'], (value, place) => {
    note(place, 'read as maxAttempts: failed attempts on a story before it is blocked')
    given.set('maxAttempts', { value, at: place })
  })
  take('provider', ['agent', 'agentCommand', 'agentArgs'], (value, place) => {
    for (const [key, entry] of provider(value, place)) given.set(key, entry)
  })
  take('verify', ['gates'], (value, place) => {
    const gates = verify(value, place)
    if (gates !== undefined) given.set('gates', { value: gates, at: { ...place, env: null } })
  })
  if ((file.has('provider') || file.has('verify')) && !file.has('maxIterations')) {
    note(at, 'the loop ends after 50 iterations here; maxIterations: 0 gives a loop without end')
  }
  const browser = file.get('browser') ?? null
  if (isMap(browser) && browser.has('screenshotDir')) {
    note(
      below(below(at, 'browser'), 'screenshotDir'),
      'screenshots are never committed here: they become an artifact',
    )
  }
  return given
}

function provider(value: Tree, place: Place): [string, Given][] {
  const read = readProvider(value, place)
  if (read === undefined) return []
  // Variables are already replaced, and must not be replaced (or shown) again.
  const at = { ...place, env: null, shownAs: 'provider' }
  const entries: [string, Given][] = []
  const name = agentOfProgram(read.command)
  if (name !== null) {
    entries.push(['agent', { value: name, at }], ['agentArgs', { value: read.args, at }])
    note(place, `read as agent: ${name}; its args come after those that Ralph itself gives it`)
  } else {
    const program = /^[\w.-]+\s/.test(read.command) ? read.command : shellWord(read.command)
    const command = [program, ...read.args.map(shellWord)].join(' ')
    entries.push(['agent', { value: 'custom', at }], ['agentCommand', { value: command, at }])
    note(place, 'read as agent: custom with this command as agentCommand')
  }
  if (read.timeoutMs !== null) {
    entries.push(['iterationTimeout', { value: `${read.timeoutMs / 1000}s`, at: below(at, 'timeout') }])
  }
  return entries
}

function verify(value: Tree, place: Place): TreeMap | undefined {
  const read = readVerify(value, place)
  if (read === undefined) return undefined
  note(
    place,
    'read as gates; those of verify.ui run for stories with the tag ui, and all run at the final verification',
  )
  const gates = new Map<string, Tree>()
  for (const run of read.default) gates.set(freeName(run, 'default', gates), run)
  for (const run of read.ui) {
    gates.set(
      freeName(run, 'ui', gates),
      new Map([
        ['run', run],
        ['when', 'ui'],
      ]),
    )
  }
  return gates
}

/** A readable name from the command, made unique; `default-1` where the command gives none. */
function freeName(command: string, group: string, taken: TreeMap): string {
  const name = nameFrom(command)
  const names = new Set([...taken.keys()].map((key) => key.toLowerCase()))
  if (name !== '' && !names.has(name.toLowerCase())) return name
  const stem = name === '' ? group : name
  for (let count = name === '' ? 1 : 2; ; count += 1) {
    if (!names.has(`${stem}-${count}`.toLowerCase())) return `${stem}-${count}`
  }
}

const runners = new Set(['npm', 'pnpm', 'yarn', 'bun', 'npx', 'bunx', 'deno', 'make', 'just', 'task', 'node'])
const verbs = new Set(['run', 'run-script', 'exec', 'dlx', 'x', 'task'])

/** `test-unit` from `CI=1 bun run test:unit --quiet`, `cargo-test` from `cargo test`; '' when nothing is left. */
function nameFrom(command: string): string {
  const words = command
    .slice(0, 200)
    .trim()
    .split(/\s+/)
    .filter((word) => !/^(-|[A-Za-z_]\w*=)/.test(word))
  const [first = '', ...rest] = words
  const plain = rest.filter((word) => !verbs.has(word))
  const second = /^[a-z][\w:-]*$/i.test(plain[0] ?? '') ? plain[0] : undefined
  const parts = runners.has(first)
    ? [plain[0] ?? first]
    : [baseName(first), ...(second === undefined ? [] : [second])]
  return parts
    .map(baseName)
    .join('-')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 40)
    .replace(/[^A-Za-z0-9]+$/, '')
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
