// Gates: named commands that must exit 0; from the workflow's YAML, the file's map or `--gate NAME=COMMAND`.
import * as z from 'zod/mini'
import type { Gate } from '../engine/model/gate.ts'
import { faultIssue } from '../system/faults.ts'
import { gateName, reportPath } from './setting-names.ts'
import { describeFound } from './show.ts'
import { addMistake, parseValue, substituteVariables, type ValuePlace } from './value-place.ts'
import * as v from './values.ts'

/** `gates: none`: this run has no gate, and reports none as passed. */
export const NO_GATES = 'none'

export const DEFAULT_TIMEOUT_MS = 15 * 60_000

/** Tags of the stories that a gate, service or check runs for. */
export const tags = v.list(v.text).check(
  z.minLength(1, v.expects('at least one tag', 'write a tag such as ui, or leave `when` out')),
  z.overwrite((names) => [...new Set(names)]),
)

const coverage = z.pipe(
  z.union(
    [reportPath, v.structure({ file: reportPath, threshold: v.orNull(v.integer({ most: 100 })) })],
    v.expects('the path of an lcov or Cobertura file, or a map with file and threshold', 'write a path'),
  ),
  z.transform((parsed) => (typeof parsed === 'string' ? { file: parsed, threshold: null } : parsed)),
)

const longForm = v.structure({
  run: v.lines,
  timeout: v.withDefault(v.duration, '15m'),
  when: v.orNull(tags),
  advisory: v.withDefault(v.boolean, false),
  report: v.orNull(v.list(reportPath)),
  retries: v.withDefault(v.integer({ zero: 'no retry', most: 3 }), 0),
  coverage: v.orNull(coverage),
  needs: v.orNull(v.list(gateName)),
  alone: v.withDefault(v.boolean, false),
  reuse: v.withDefault(v.boolean, true),
  paths: v.orNull(v.list(v.text)),
  behindPages: v.withDefault(v.boolean, false),
})

const gate = z.pipe(
  z.union(
    [v.lines, longForm],
    v.expects(
      'a command, or a map with run, timeout, when, advisory, report, retries, coverage, needs, alone, paths, reuse or behindPages',
      'write a command',
    ),
  ),
  z.transform((parsed) => {
    if (typeof parsed === 'string') return plainGate(parsed)
    const { run, timeout: timeoutMs, when, advisory, report, retries, coverage, needs, alone, paths } = parsed
    const { behindPages, reuse } = parsed
    return {
      ...{ run, timeoutMs, when, advisory },
      ...(report === null ? {} : { report }),
      ...(retries === 0 ? {} : { retries }),
      ...(coverage === null ? {} : { coverage }),
      ...(needs === null ? {} : { needs }),
      ...(alone ? { alone: true as const } : {}),
      ...(paths === null ? {} : { paths }),
      ...(reuse ? {} : { reuse: false as const }),
      ...(behindPages ? { behindPages: true as const } : {}),
    }
  }),
)

function plainGate(run: string): Omit<Gate, 'name'> {
  return { run, timeoutMs: DEFAULT_TIMEOUT_MS, when: null, advisory: false }
}

const distinct = v.distinctNames<object>('gate', (map) =>
  Object.keys(map).map((name) => ({ name, path: [name] })),
)

/** Each need names an existing gate, and no gate waits for itself. */
const checkNeeds = z.check<Record<string, { needs?: readonly string[] }>>(({ value, issues }) => {
  const names = Object.keys(value)
  for (const [name, { needs = [] }] of Object.entries(value)) {
    const fix = 'name another gate, or leave `needs` out'
    for (const [at, need] of needs.entries()) {
      if (names.includes(need)) continue
      const fault = { found: `there is no gate ${describeFound(need)}.`, expected: '', fix }
      issues.push(faultIssue(value, fault, [name, 'needs', at]))
    }
    if (!waitsForGate(value, name, name)) continue
    const circle = { found: 'this gate waits for itself.', expected: '', fix }
    issues.push(faultIssue(value, circle, [name, 'needs']))
  }
})

function waitsForGate(
  gates: Record<string, { needs?: readonly string[] }>,
  name: string,
  target: string,
  seen = new Set<string>(),
): boolean {
  if (seen.has(name)) return false
  seen.add(name)
  return (gates[name]?.needs ?? []).some((need) => need === target || waitsForGate(gates, need, target, seen))
}

const GATES_MESSAGE = v.expects(
  'a map with one gate per line, such as `test: npm test`, or the word none',
  'write a map',
)

/** Short form `test: npm test`, long form `test: { run, timeout, when, advisory }`, or `none`; the order is kept. */
export const gates = z
  .union(
    [
      z.literal(NO_GATES),
      z.pipe(
        z.record(gateName, gate, GATES_MESSAGE).check(distinct, checkNeeds),
        z.transform((map) => Object.entries(map).map(([name, one]): Gate => ({ name, ...one }))),
      ),
    ],
    GATES_MESSAGE,
  )
  .register(v.kinds, { kind: 'gates' })

/** The gates with `--gate NAME=COMMAND` flags applied: a known name is replaced instead, new ones follow. */
export function withGateFlags(base: readonly Gate[], flags: readonly string[], at: ValuePlace): Gate[] {
  const byName = new Map(base.map((one) => [one.name.toLowerCase(), one]))
  for (const flag of flags) {
    const split = flag.indexOf('=')
    const name = flag.slice(0, Math.max(split, 0)).trim()
    const run = flag.slice(split + 1).trim()
    if (split === -1 || run === '') {
      addMistake(at, describeFound(flag), 'NAME=COMMAND', 'write for example --gate "test=npm test"')
      continue
    }
    const [validName, command] = [
      parseValue(gateName, substituteVariables(at, name)),
      parseValue(v.lines, substituteVariables(at, run)),
    ]
    if (validName !== undefined && command !== undefined)
      byName.set(name.toLowerCase(), { name, ...plainGate(command) })
  }
  return [...byName.values()]
}
