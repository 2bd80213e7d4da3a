// Every check of an installation, one row each, and the one function that runs them all whatever one of them meets.
import type { Finding } from '../model/finding.ts'
import { messageOf, UserError } from '../system/errors.ts'
import { agents, keys } from './agent.ts'
import { gates } from './gates.ts'
import { gitVersion, isolation, nodeVersion } from './machine.ts'
import { checkout, configuration, identity, stories, workTree } from './repository.ts'
import { faultsOf, NotSeen, type Result, unknown } from './result.ts'
import type { Subject } from './subject.ts'

export type Check = {
  name: string
  look(subject: Subject, signal: AbortSignal): Result | Result[] | Promise<Result | Result[]>
  /** Its own steps have bounds, or it takes longer than the others. */
  timeoutMs?: number
  /** It needs the machine, or the work tree, to itself. */
  alone?: true
}

/** For a look at files, at the vendor and at GitHub, which answers in 10 s or not at all. */
const LOOK_MS = 45_000
const PROBE_MS = 3 * 60_000
/** Longer than any gate may take. */
const UNBOUNDED_MS = 2 ** 31 - 1

/** In the order in which they are told. */
export const CHECKS: readonly Check[] = [
  { name: 'node', look: nodeVersion },
  { name: 'git', look: gitVersion },
  { name: 'configuration', look: configuration },
  { name: 'checkout', look: checkout },
  { name: 'work tree', look: workTree },
  { name: 'identity', look: identity },
  { name: 'stories', look: stories },
  { name: 'isolation', look: isolation, timeoutMs: PROBE_MS, alone: true },
  { name: 'agent', look: agents, timeoutMs: PROBE_MS, alone: true },
  { name: 'key', look: keys },
  { name: 'gates', look: gates, timeoutMs: UNBOUNDED_MS, alone: true },
]

/** All findings in the table's order. Never throws for what a check meets; `heard` is told of each as it comes. */
export async function diagnose(
  subject: Subject,
  heard: (finding: Finding) => void = () => {},
  checks: readonly Check[] = CHECKS,
): Promise<Finding[]> {
  const found = new Map<Check, Finding[]>()
  const run = async (check: Check): Promise<void> => {
    const findings = await examined(check, subject)
    found.set(check, findings)
    for (const finding of findings) heard(finding)
  }
  await Promise.all(checks.filter(({ alone }) => alone !== true).map(run))
  for (const check of checks) if (check.alone === true) await run(check)
  return checks.flatMap((check) => found.get(check) ?? [])
}

async function examined(check: Check, subject: Subject): Promise<Finding[]> {
  const { name, timeoutMs = LOOK_MS } = check
  const stop = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Result>((resolve) => {
    timer = setTimeout(() => {
      stop.abort()
      const fix = 'run again when machine and network are less busy'
      resolve(unknown(`no answer within ${timeoutMs / 1000} seconds`, fix))
    }, timeoutMs)
  })
  try {
    const look = async () => check.look(subject, stop.signal)
    const results = await Promise.race([look(), late]).catch(failed)
    return [results].flat().map((result) => ({ name, ...result }))
  } finally {
    clearTimeout(timer)
  }
}

/** What keeps a run from beginning is a fault with its mend; what cannot be looked at is told as that. */
function failed(error: unknown): Result[] {
  if (error instanceof UserError) return faultsOf(error.mistakes)
  const fix = error instanceof NotSeen ? error.fix : 'look at it by hand'
  return [unknown(messageOf(error), fix)]
}
