// A digest of everything that a gate's result depends on: with the same key, a green result is reused (docs/adr/0017-…). It is made
// only of what Ralph itself knows, never of files that a session could have written.
import { createHash, scryptSync } from 'node:crypto'
import type { Gate } from '../engine/model/gate.ts'
import type { Service } from '../engine/model/service.ts'
import { VERSION } from '../engine/model/version.ts'

export type ReuseFacts = {
  /** The tree of a commit, of verified objects; null if there is none. */
  treeOf(commit: string): Promise<string | null>
  services: readonly Service[]
  prepare: string | null
  workingDirectory: string
  /** The isolation of gates: their user, and their network access. */
  isolation: string
  /** The machine's image and programs, as far as they are known. */
  machine: readonly string[]
  /** What gates see of the environment. */
  env: Readonly<Record<string, string>>
}

/** Variables that differ between processes, jobs or machines of the same kind, and so are not part of the key. */
const NEW_EACH_JOB: ReadonlySet<string> = new Set(
  'HOME HOSTNAME TMPDIR TEMP TMP RUNNER_TRACKING_ID RALPH_PORT RALPH_WORKER'.split(' '),
)

/** The key by gate; empty for a gate that must always run: with retries, coverage of the change, `reuse: false`, or after pages. */
export async function reuseKeys(
  gates: readonly Gate[],
  { commit, base }: { commit: string; base: string },
  { treeOf, services, env, ...facts }: ReuseFacts,
): Promise<Record<string, string>> {
  const tree = await treeOf(commit)
  // Never with services: those of the work tree may still use the ports that a clean room's would take.
  const isAlone = tree !== null && services.length === 0
  const values = isAlone && gates.some(isReusable) ? environmentDigest(env, tree) : ''
  const keyOf = (gate: Gate) =>
    isAlone && isReusable(gate) ? digest([VERSION, tree, commit, base, gate, facts, values]) : ''
  return Object.fromEntries(gates.map((gate) => [gate.name, keyOf(gate)]))
}

function isReusable({ reuse, retries = 0, coverage, behindPages }: Gate): boolean {
  return reuse !== false && retries === 0 && coverage === undefined && behindPages !== true
}

/**
 * A digest of all that gates see. It is slow on purpose (scrypt): keys are pushed with the state, and a `gate-env` variable may be a short
 * secret that could be guessed.
 */
function environmentDigest(env: ReuseFacts['env'], salt: string): string {
  const values = Object.entries(env).filter(([name]) => !NEW_EACH_JOB.has(name))
  return scryptSync(JSON.stringify(values.sort()), salt, 20).toString('hex')
}

function digest(parts: unknown): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40)
}
