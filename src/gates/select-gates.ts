// Selects the gates of a run, and the variables that describe the change to them.
import ignore from 'ignore'
import { BROWSER_GATE, furtherName, type Gate } from '../engine/model/gate.ts'
import type { GateRun } from '../engine/model/ports.ts'
import { isFor } from '../engine/model/service.ts'
import type { CodeReader } from './gate-evidence.ts'

/** In bytes. A longer list of files is not passed on, because the size of an environment is limited. */
const MAX_LISTED_BYTES = 64 * 1024
/** If a file name has such a character, the list of files is left out: the name would not be a single line of it. */
const UNLISTED = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u

/** `touches`: whether the change has a file that matches; null if `paths` are not considered. */
export type ChangeFacts = {
  touches: ((patterns: readonly string[]) => boolean) | null
  env: Readonly<Record<string, string>>
}

/** The change for gates. The baseline, the final verification and pushed commits are checked by all gates. */
export async function readChange(
  run: GateRun,
  { gates, code }: { gates: readonly Gate[]; code: CodeReader },
): Promise<ChangeFacts> {
  const { of, from, commit, fork } = run
  // A step before the gates has no commit to look at yet.
  if (commit === '') return { touches: null, env: {} }
  const env = { RALPH_BASE: from }
  if (of !== 'story') return { touches: null, env }
  const paths = await code.changedPaths(from, commit)
  const listed = paths.join('\n')
  const isWhole = Buffer.byteLength(listed) <= MAX_LISTED_BYTES && !paths.some((path) => UNLISTED.test(path))
  const files = isWhole ? { RALPH_CHANGED_FILES: listed } : {}
  const hasPaths = gates.some((gate) => gate.paths !== undefined)
  const touches = (patterns: readonly string[]) => {
    const rules = ignore().add([...patterns])
    return paths.some((path) => rules.ignores(path))
  }
  const gateEnv = fork === undefined ? { ...env, ...files } : { RALPH_BASE: fork }
  return { touches: hasPaths ? touches : null, env: gateEnv }
}

/**
 * The gates for the stories' tags and for the change. A gate whose `paths` do not match runs if another gate needs it. If no blocking gate
 * would run, all gates for the tags do. A run of some gates (`only`) includes those that they need, since these make files that they use.
 */
export function selectGates(
  gates: readonly Gate[],
  run: GateRun,
  touches: ChangeFacts['touches'],
): readonly Gate[] {
  const { only, tags, also = [] } = run
  if (only !== undefined) {
    // The browser check runs after the gates, so it includes all that are not `behindPages`.
    const pages = only.includes(BROWSER_GATE) ? gates.filter(({ behindPages }) => behindPages !== true) : []
    const named = gates.filter((gate) => only.includes(gate.name) || pages.includes(gate))
    return withNeeded(named, gates, (gate) => gate.needs ?? writtenBefore(gate, gates))
  }
  const selected = gates.filter(({ name, when }) => isFor(when, tags) || also.includes(name))
  if (touches === null) return selected
  const touched = selected.filter(
    ({ name, paths }) => paths === undefined || also.includes(name) || touches(paths),
  )
  if (!touched.some(({ advisory }) => !advisory)) return selected
  return withNeeded(touched, selected, ({ needs = [] }) => needs)
}

/** Whether a gate is one of `only`. Other gates run only because those need their files: their results neither count nor block. */
export function isAskedFor({ only, further }: Pick<GateRun, 'only' | 'further'>, name: string): boolean {
  return only === undefined || only.some((one) => name === one || name === furtherName(one, further))
}

/** The gates with all that they need, directly or indirectly, in the order of `all`. */
function withNeeded(
  some: readonly Gate[],
  all: readonly Gate[],
  needsOf: (gate: Gate) => readonly string[],
): Gate[] {
  const found = new Set(some)
  for (const gate of found) for (const one of all) if (needsOf(gate).includes(one.name)) found.add(one)
  return all.filter((gate) => found.has(gate))
}

/** The gates that run before this one: a gate without `needs` may use the files of all of them. Those `behindPages` come last. */
function writtenBefore(gate: Gate, gates: readonly Gate[]): string[] {
  const isLate = ({ behindPages }: Gate) => behindPages === true
  const inOrder = [...gates.filter((one) => !isLate(one)), ...gates.filter(isLate)]
  return inOrder.slice(0, inOrder.indexOf(gate)).map(({ name }) => name)
}
