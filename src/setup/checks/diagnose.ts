// Runs all checks for `ralph doctor`. An error in one check does not stop the others.
import { type Isolation, openIsolation } from '../../app/isolation.ts'
import type { Finding } from '../../engine/model/finding.ts'
import { mapTexts } from '../../engine/model/text.ts'
import { ACTION } from '../../engine/model/version.ts'
import { httpStatusOf } from '../../github/client.ts'
import { messageOf, UserError } from '../../system/errors.ts'
import { CHECKS, type Check } from './check-table.ts'
import {
  areSettingsUnread,
  type Checkout,
  type CheckResult,
  NoCheckoutError,
  NotCheckedError,
  type RunStart,
  type Subject,
  toFaults,
  unknownResult,
} from './subject.ts'
import { findCi } from './workflow-file.ts'

/** All findings in the table's order. Never throws for an error in a check. */
export async function diagnose(subject: Subject, checks: readonly Check[] = CHECKS): Promise<Finding[]> {
  const found = new Map<Check, Finding[] | 'needs a checkout'>()
  const run = async (check: Check) => found.set(check, await runCheck(check, subject))
  // Those of CI come last, so that a person reads about this machine first.
  for (const group of [
    checks.filter(({ ofCi }) => ofCi !== true),
    checks.filter(({ ofCi }) => ofCi === true),
  ]) {
    await Promise.all(group.filter(({ alone }) => alone !== true).map(run))
    for (const check of group) if (check.alone === true) await run(check)
  }
  const skipped = checks.filter((check) => found.get(check) === 'needs a checkout')
  const findings = checks.flatMap((check) => {
    const own = found.get(check) ?? []
    return own === 'needs a checkout' ? [] : own
  })
  if (skipped.length === 0) return findings
  const others = withoutCheckout(skipped)
  subject.onFinding?.(others)
  return [...findings, others]
}

/** One finding for all checks that need a checkout: the row `checkout` says what is wrong. */
function withoutCheckout(checks: readonly Check[]): Finding {
  const names = checks.map(({ name }) => name).join(', ')
  return {
    name: 'not checked',
    ...unknownResult(`these checks need a git checkout: ${names}`, 'fix the checkout first'),
  }
}

/** All findings, without secrets, with agent and gates isolated as in a run. `onOpen` is called once the isolation is open. */
export async function diagnoseIsolated(
  subject: Omit<Subject, 'mark' | 'isolation'>,
  { report, onOpen, mark }: { report(text: string): void; onOpen?(as: Isolation): void; mark: string },
  redact: (text: string) => string,
): Promise<Finding[]> {
  const { settings, env, checkout } = subject
  const open = async (): Promise<Isolation | null> => {
    if (!('workspace' in checkout)) return null
    const as = await openIsolation({ settings, env, clone: checkout.workspace.clone, report })
    if (as !== null) onOpen?.(as)
    return as
  }
  const opening: { isolation?: Promise<Isolation | null> } = {}
  const isolation = () => {
    opening.isolation ??= open()
    return opening.isolation
  }
  try {
    const onFinding = (finding: Finding) => subject.onFinding?.(mapTexts(finding, redact))
    const findings = await diagnose({ ...subject, mark, isolation, onFinding })
    return findings.map((finding) => mapTexts(finding, redact))
  } finally {
    await (await opening.isolation?.catch(() => null))?.close()
  }
}

/** Faults in files that keep runs in CI from working, as text with the fix. For runs here there is `findBlockingMistakes`. */
export async function faultsInCi(
  start: RunStart,
  defaultBranch: Checkout['defaultBranch'],
): Promise<string[]> {
  const { checkout, env } = start
  if (!('workspace' in checkout)) return []
  const ci = await findCi(checkout.workspace, defaultBranch.sha, env, ACTION)
  if (ci === null) return []
  const subject = { ...start, ...NOTHING_RUNS, checkout: { ...checkout, defaultBranch, ci }, action: ACTION }
  const rows = CHECKS.filter(({ seen, blocks }) => seen === 'files' && blocks === undefined)
  const faults = (await diagnose(subject, rows)).filter(({ state }) => state === 'fault')
  return faults.map(({ name, found, fix }) => `${name}: ${found}; fix: ${fix}`)
}

const NOTHING_RUNS = {
  ...{ notes: [], feature: null, github: null, withGates: false, asksAgent: false, atWork: null, mark: '' },
  signal: new AbortController().signal,
  onBegin: () => {},
  isolation: async () => null,
}

async function runCheck(
  { name, look, alone, reads }: Check,
  subject: Subject,
): Promise<Finding[] | 'needs a checkout'> {
  const skip = (finding: Finding) => {
    subject.onFinding?.(finding)
    return [finding]
  }
  if (subject.signal.aborted) return skip({ ...INTERRUPTED, name })
  if (reads !== undefined && areSettingsUnread(subject, reads)) return skip({ ...UNREAD, name })
  if (alone === true) subject.onBegin(name)
  const named = (result: CheckResult): Finding => ({
    name,
    ...result,
    found: result.found.replace(new RegExp(`^${name}: `), ''),
  })
  const isKnown = new Set<CheckResult>()
  const report = (result: CheckResult) => {
    if (!isKnown.has(result)) subject.onFinding?.(named(result))
    isKnown.add(result)
  }
  const looked = await (async () => look({ ...subject, onResult: report }))().catch((error: unknown) =>
    error instanceof NoCheckoutError ? null : resultOfError(error),
  )
  if (looked === null) return 'needs a checkout'
  const results = [looked].flat()
  results.forEach(report)
  return results.map(named)
}

const UNREAD = unknownResult(
  'not checked, because the configuration has mistakes',
  'fix the configuration first',
)
const INTERRUPTED = unknownResult('not checked, because you interrupted', 'run `ralph doctor` again')

/** A UserError becomes faults; any other error becomes an unknown finding. */
function resultOfError(error: unknown): CheckResult[] {
  if (error instanceof UserError) return toFaults(error.mistakes)
  const status = httpStatusOf(error)
  if (status === 401) return [unknownResult('GitHub rejects this token', 'set a valid token')]
  const fix = error instanceof NotCheckedError ? error.fix : 'check this yourself'
  // An answer without a body has no message.
  return [unknownResult(messageOf(error) || `GitHub answered ${status ?? 'nothing'}`, fix)]
}
