// Every check of an installation, one row each, and the one function that runs them all whatever one of them meets.
import { type Isolation, openIsolation } from '../app/isolation.ts'
import { statusOf } from '../github/client.ts'
import type { Finding } from '../model/finding.ts'
import { mapTexts } from '../model/text.ts'
import { messageOf, UserError } from '../system/errors.ts'
import { actionlint } from './actionlint.ts'
import { agents, keys } from './agent.ts'
import { answers } from './agent-answer.ts'
import { gates } from './gates.ts'
import { githubItself, pullRequests, release } from './github.ts'
import { limits } from './limits.ts'
import { browser, gitVersion, isolation } from './machine.ts'
import { checkout, configuration, identity, owner, prompts, stories, workTree } from './repository.ts'
import { requiredChecks } from './required.ts'
import { faultsOf, NotSeen, type Result, type Subject, unknown } from './subject.ts'
import { trust } from './trust.ts'
import { permissions, workflow } from './workflow.ts'

/** Each has bounds of its own. */
export type Check = {
  name: string
  look(subject: Subject): Result | Result[] | Promise<Result | Result[]>
  /** It needs the machine, or the work tree, to itself. */
  alone?: true
  /** Settings whose defaults say nothing where they could not be read. */
  reads?: readonly string[]
}

/** In the order in which they are told. */
export const CHECKS: readonly Check[] = [
  { name: 'git', look: gitVersion },
  { name: 'configuration', look: configuration },
  { name: 'checkout', look: checkout },
  { name: 'owner', look: owner },
  { name: 'work tree', look: workTree },
  { name: 'identity', look: identity },
  { name: 'stories', look: stories },
  { name: 'prompts', look: prompts },
  { name: 'isolation', look: isolation, alone: true, reads: ['isolation'] },
  { name: 'agent', look: agents, alone: true, reads: ['agent', 'agentCommand', 'fallbackAgent'] },
  { name: 'key', look: keys, reads: ['agent'] },
  { name: 'agent answers', look: answers, alone: true },
  { name: 'workflow', look: workflow },
  { name: 'github', look: githubItself },
  { name: 'permissions', look: permissions },
  { name: 'pull requests', look: pullRequests },
  { name: 'required checks', look: requiredChecks },
  { name: 'actionlint', look: actionlint },
  { name: 'limits', look: limits, reads: [] },
  { name: 'trust', look: trust, reads: ['gates', 'weakenedTests', 'cleanRoom', 'isolation', 'prepare'] },
  { name: 'release', look: release },
  { name: 'browser', look: browser },
  { name: 'gates', look: gates, alone: true, reads: ['gates', 'services'] },
]

/** All findings in the table's order. Never throws for what a check meets. */
export async function diagnose(subject: Subject, checks: readonly Check[] = CHECKS): Promise<Finding[]> {
  const found = new Map<Check, Finding[]>()
  const run = async (check: Check) => found.set(check, await examined(check, subject))
  await Promise.all(checks.filter(({ alone }) => alone !== true).map(run))
  for (const check of checks) if (check.alone === true) await run(check)
  return checks.flatMap((check) => found.get(check) ?? [])
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
  const asked: { isolation?: Promise<Isolation | null> } = {}
  const isolation = () => {
    asked.isolation ??= open()
    return asked.isolation
  }
  try {
    const finds = (finding: Finding) => given.finds?.(mapTexts(finding, redact))
    const findings = await diagnose({ ...given, mark, isolation, finds })
    return findings.map((finding) => mapTexts(finding, redact))
  } finally {
    await (await asked.isolation?.catch(() => null))?.close()
  }
}

async function examined({ name, look, alone, reads }: Check, subject: Subject): Promise<Finding[]> {
  const unseen = (finding: Finding) => {
    subject.finds?.(finding)
    return [finding]
  }
  if (subject.signal.aborted) return unseen({ ...INTERRUPTED, name })
  if (reads !== undefined && isUnread(subject, reads)) return unseen({ ...UNREAD, name })
  if (alone === true) subject.begins(name)
  const named = (result: Result): Finding => ({
    name,
    ...result,
    found: result.found.replace(new RegExp(`^${name}: `), ''),
  })
  const isKnown = new Set<Result>()
  const known = (result: Result) => {
    if (!isKnown.has(result)) subject.finds?.(named(result))
    isKnown.add(result)
  }
  const results = [await (async () => look({ ...subject, known }))().catch(failed)].flat()
  results.forEach(known)
  return results.map(named)
}

/** Of mistakes in a file: `ralph.config.yml: gates.test.timeout`; at a line and column nothing of it was read. */
function isUnread({ mistakes }: Subject, reads: readonly string[]): boolean {
  return mistakes.some(({ path }) => {
    const [, key = ''] = path.split(': ')
    return key.startsWith('line ') || reads.includes(key.split(/[.[]/)[0] ?? '')
  })
}

const UNREAD = unknown('not looked at: the configuration cannot be read', 'mend that first')
const INTERRUPTED = unknown('not looked at: interrupted', 'run `ralph doctor` again')

/** What keeps a run from beginning is a fault with its mend; what cannot be looked at is told as that. */
function failed(error: unknown): Result[] {
  if (error instanceof UserError) return faultsOf(error.mistakes)
  if (statusOf(error) === 401) return [unknown('GitHub does not know this token', 'give a valid one')]
  const fix = error instanceof NotSeen ? error.fix : 'look at it by hand'
  return [unknown(messageOf(error), fix)]
}
