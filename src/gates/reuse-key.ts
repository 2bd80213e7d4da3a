// What a gate's result depends on, as a digest: where it is the same, a green result counts again (docs/adr/0017-…). It is made of
// what Ralph knows by itself, never of files that a session could have written.
import { createHash, scryptSync } from 'node:crypto'
import type { Gate } from '../engine/model/gate.ts'
import type { Service } from '../engine/model/service.ts'
import { VERSION } from '../engine/model/version.ts'

export type ReuseFacts = {
  /** The tree of a commit, by objects that hold what their names say; null where there is none. */
  treeOf(commit: string): Promise<string | null>
  services: readonly Service[]
  prepare: string | null
  workingDirectory: string
  /** As whom gates run, and what of the network they have. */
  isolation: string
  /** The machine's image and programs, as far as they are known. */
  machine: readonly string[]
  /** What gates see of the environment. */
  env: Readonly<Record<string, string>>
}

/** Every process or job has them anew, or another machine of the same kind has others. */
const ANEW: ReadonlySet<string> = new Set(
  'HOME HOSTNAME TMPDIR TEMP TMP RUNNER_TRACKING_ID RALPH_PORT RALPH_WORKER'.split(' '),
)

/** By gate; empty for one that has to run in any case: it was made to run again, looks at the change, or was said to. */
export async function reuseKeys(
  gates: readonly Gate[],
  { commit, base }: { commit: string; base: string },
  { treeOf, services, env, ...facts }: ReuseFacts,
): Promise<Record<string, string>> {
  const tree = await treeOf(commit)
  // Services of the work tree may still hold the ports that a clean room's would take. The other user's home is made anew for the
  // final verification alone: before it, what a session left there makes gates green.
  const isAlone = tree !== null && services.length === 0 && !facts.isolation.startsWith('other-user')
  const values = isAlone && gates.some(isReusable) ? environmentDigest(env, tree) : ''
  const keyOf = (gate: Gate) =>
    isAlone && isReusable(gate) ? digest([VERSION, tree, commit, base, gate, facts, values]) : ''
  return Object.fromEntries(gates.map((gate) => [gate.name, keyOf(gate)]))
}

function isReusable({ reuse, retries = 0, coverage, behindPages }: Gate): boolean {
  return reuse !== false && retries === 0 && coverage === undefined && behindPages !== true
}

/** Keys are pushed with the state, and a variable of `gate-env` may be a short secret: to try secrets out has to take time. */
function environmentDigest(env: ReuseFacts['env'], salt: string): string {
  const values = Object.entries(env).filter(([name]) => !ANEW.has(name))
  return scryptSync(JSON.stringify(values.sort()), salt, 20).toString('hex')
}

function digest(parts: unknown): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40)
}
