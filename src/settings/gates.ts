// Gates: named commands that must exit 0; from the workflow's YAML, the file's map or `--gate NAME=COMMAND`.
import type { Gate } from '../model/gate.ts'
import { gateNameFault } from './names.ts'
import { below, isUnset, mistake, mistakeSaid, type Place } from './place.ts'
import { boolean, duration, list, optional, type Read, required, structure, text } from './readers.ts'
import { oneLine } from './show.ts'
import { isMap, type Tree } from './tree.ts'

const standardTimeoutMs = 15 * 60_000

const command = text({ lines: true })

const readTags = list(text())

const tags: Read<string[]> = (value, at) => {
  const read = readTags(value, at)
  if (read?.length === 0)
    return mistake(at, value, 'at least one tag', 'write a tag such as ui, or leave `when` out')
  return read === undefined ? undefined : [...new Set(read)]
}

const longForm = structure({
  run: required(command),
  timeoutMs: optional(duration(), () => standardTimeoutMs),
  when: optional<string[] | null>(tags, () => null),
  advisory: optional(boolean, () => false),
})

/** Said outright: this run has no gate, and nothing of it claims to have passed one. */
export const NO_GATES = 'none'

/** Short form `test: npm test`, long form `test: { run, timeout, when, advisory }`, or `none`; the order is kept. */
export const gates: Read<Gate[] | typeof NO_GATES> = (value, at) => {
  if (value === NO_GATES) return NO_GATES
  if (!isMap(value))
    return mistake(at, value, 'a map with a gate a line, such as `test: npm test`, or none', 'write a map')
  const names = new Set<string>()
  const read = [...value].map(([name, item]) => {
    const place = below(at, name)
    // Logs are files, and some file systems do not tell `Test` from `test`.
    const twice = names.has(name.toLowerCase())
    names.add(name.toLowerCase())
    if (twice)
      return mistakeSaid(
        place,
        'a second gate of this name',
        'names that differ by more than case',
        'rename one',
      )
    return gate(name, item, place)
  })
  const sound = read.flatMap((one) => (one === undefined ? [] : [one]))
  return sound.length === read.length ? sound : undefined
}

function gate(name: string, item: Tree, at: Place): Gate | undefined {
  const fault = gateNameFault(name)
  if (fault !== null) mistakeSaid(at, `the name "${oneLine(name, 60)}"`, fault.expected, fault.fix)
  const read = readGate(item, at)
  return fault === null && read !== undefined ? { name, ...read } : undefined
}

function readGate(item: Tree, at: Place): Omit<Gate, 'name'> | undefined {
  if (isMap(item)) return longForm(item, at)
  const expected = 'a command, or a map with run, timeout, when or advisory'
  if (typeof item !== 'string' || isUnset(at, item)) return mistake(at, item, expected, 'write a command')
  const run = command(item, at)
  return run === undefined ? undefined : { run, timeoutMs: standardTimeoutMs, when: null, advisory: false }
}

/** The gates with `--gate NAME=COMMAND` flags applied: a known name is replaced where it stands, others follow. */
export function withGateFlags(base: readonly Gate[], flags: readonly string[], at: Place): Gate[] {
  const byName = new Map(base.map((one) => [one.name.toLowerCase(), one]))
  for (const flag of flags) {
    const split = flag.indexOf('=')
    const name = flag.slice(0, Math.max(split, 0)).trim()
    const run = flag.slice(split + 1)
    if (split === -1 || run.trim() === '') {
      mistake(at, flag, 'NAME=COMMAND', 'write for example --gate "test=npm test"')
      continue
    }
    const fault = gateNameFault(name)
    if (fault !== null) mistakeSaid(at, `the name "${oneLine(name, 60)}"`, fault.expected, fault.fix)
    const read = command(run, at)
    const one = { name, run: read ?? '', timeoutMs: standardTimeoutMs, when: null, advisory: false }
    if (fault === null && read !== undefined) byName.set(name.toLowerCase(), one)
  }
  return [...byName.values()]
}
