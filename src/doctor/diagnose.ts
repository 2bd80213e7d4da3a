// Every check of an installation, one row each, and the one function that runs them all whatever one of them meets.
import { setMaxListeners } from 'node:events'
import { type Isolation, openIsolation } from '../app/isolation.ts'
import { statusOf } from '../github/client.ts'
import type { Finding } from '../model/finding.ts'
import { isService } from '../model/gate.ts'
import { mapTexts } from '../model/text.ts'
import { messageOf, UserError } from '../system/errors.ts'
import { agents, keys } from './agent.ts'
import { gates } from './gates.ts'
import { githubItself, pullRequests, release, rules, workflowState } from './github.ts'
import { limits } from './limits.ts'
import { browser, gitVersion, isolation, nodeVersion, services } from './machine.ts'
import { checkout, configuration, identity, prompts, stories, workTree } from './repository.ts'
import { faultsOf, NotSeen, type Result, type Subject, unknown } from './subject.ts'
import { permissions, workflow } from './workflow.ts'

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
  { name: 'prompts', look: prompts },
  { name: 'isolation', look: isolation, timeoutMs: PROBE_MS, alone: true },
  { name: 'agent', look: agents, timeoutMs: PROBE_MS, alone: true },
  { name: 'key', look: keys },
  { name: 'workflow', look: workflow },
  { name: 'github', look: githubItself },
  { name: 'workflow state', look: workflowState },
  { name: 'permissions', look: permissions },
  { name: 'pull requests', look: pullRequests },
  { name: 'branch rules', look: rules },
  { name: 'limits', look: limits },
  { name: 'release', look: release },
  { name: 'services', look: services },
  { name: 'browser', look: browser, timeoutMs: PROBE_MS, alone: true },
  { name: 'gates', look: gates, timeoutMs: UNBOUNDED_MS, alone: true },
]

/** All findings in the table's order. Never throws for what a check meets. */
export async function diagnose(subject: Subject, checks: readonly Check[] = CHECKS): Promise<Finding[]> {
  const found = new Map<Check, Finding[]>()
  // Every check listens for its end: that is no leak.
  setMaxListeners(0, subject.signal)
  const run = async (check: Check) => found.set(check, await examined(check, subject))
  await Promise.all(checks.filter(({ alone }) => alone !== true).map(run))
  for (const check of checks) if (check.alone === true) await run(check)
  const all = checks.flatMap((check) => found.get(check) ?? [])
  // What is in a service's way is seen before the gates, and met by them: it is one fault.
  const isAgain = (one: Finding, at: number) =>
    isService(one) && all.findIndex(({ name, state }) => name === one.name && state === 'fault') < at
  return all.filter((one, at) => !(one.state === 'fault' && isAgain(one, at)))
}

/** All findings, without secrets, where agent and gates run as they would in a run. `opened`: as whom, once they do. */
export async function examine(
  given: Omit<Subject, 'mark' | 'isolation'>,
  { say, opened, mark }: { say(text: string): void; opened?(as: Isolation): void; mark: string },
  redact: (text: string) => string,
): Promise<Finding[]> {
  const { settings, env, checkout } = given
  const open = async (): Promise<Isolation | null> => {
    if (!('workspace' in checkout)) return null
    const as = await openIsolation({ settings, env, clone: checkout.workspace.clone, say })
    if (as !== null) opened?.(as)
    return as
  }
  const isolation = onceOpened(open)
  const findings = await diagnose({ ...given, mark, isolation: isolation.open }).finally(isolation.close)
  return findings.map((finding) => mapTexts(finding, redact))
}

async function examined(check: Check, subject: Subject): Promise<Finding[]> {
  const { name, timeoutMs = LOOK_MS, alone = false } = check
  const { signal } = subject
  if (signal.aborted) return [{ ...INTERRUPTED, name }]
  if (alone) subject.begins(name)
  const stop = new AbortController()
  const look = async () => check.look(subject, AbortSignal.any([stop.signal, signal]))
  const late = unknown(`no answer within ${timeoutMs / 1000} seconds`, LATER)
  // What has the machine to itself puts it back in order before it ends.
  const ends = alone ? [] : [ended(signal, INTERRUPTED, stop.signal)]
  const results = await Promise.race([look(), after(timeoutMs, late, stop.signal), ...ends])
    .catch(failed)
    .finally(() => stop.abort())
  return [results].flat().map((result) => ({ name, ...result }))
}

const LATER = 'run again when machine and network are less busy'
const INTERRUPTED = unknown('not looked at: interrupted', 'run `ralph doctor` again')

/** Whatever comes first, `over` takes the timer away. */
function after(ms: number, result: Result, over: AbortSignal): Promise<Result> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, result)
    over.addEventListener('abort', () => clearTimeout(timer), { once: true })
  })
}

function ended(signal: AbortSignal, result: Result, over: AbortSignal): Promise<Result> {
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(result), { once: true, signal: over }),
  )
}

/** What keeps a run from beginning is a fault with its mend; what cannot be looked at is told as that. */
function failed(error: unknown): Result[] {
  if (error instanceof UserError) return faultsOf(error.mistakes)
  if (statusOf(error) === 401) return [unknown('GitHub does not know this token', 'give a valid one')]
  const fix = error instanceof NotSeen ? error.fix : 'look at it by hand'
  return [unknown(messageOf(error), fix)]
}

/** Something that is opened when it is first asked for, and closed if it was. */
function onceOpened<T extends { close(): Promise<void> }>(open: () => Promise<T | null>) {
  let opened: Promise<T | null> | null = null
  return {
    open: () => {
      opened ??= open()
      return opened
    },
    close: async () => {
      await (await opened?.catch(() => null))?.close()
    },
  }
}
