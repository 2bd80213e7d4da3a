// What checks look at (a run that is about to begin, or an installation), and their results.
import type { ClaimRequest } from '../../app/claim-feature.ts'
import type { Isolation } from '../../app/isolation.ts'
import type { Workspace } from '../../app/workspace.ts'
import type { Finding } from '../../engine/model/finding.ts'
import type { State } from '../../engine/model/state.ts'
import type { GitHub } from '../../github/client.ts'
import type { Environment } from '../../isolation/untrusted-env.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { type Mistake, orUserError, UserError } from '../../system/errors.ts'
import type { Ci } from './workflow-file.ts'

export type OpenCheckout = {
  workspace: Workspace
  base: ClaimRequest['base']
  /** Set if HEAD is detached and nothing names the branch that a run on this machine would start from. */
  detached?: Mistake
  /** The commit that a run continues from: gates are run there. */
  commit: string
  /** A file as the next session finds it. */
  read(path: string): Promise<string | null>
}

/** The facts about a run that is about to begin, by which it may be refused. */
export type RunStart = {
  env: Environment
  directory: string
  /** As far as they could be read. */
  settings: Settings
  /** Mistakes in the settings. */
  mistakes: readonly Mistake[]
  /** The checkout, or why there is none. */
  checkout: OpenCheckout | readonly Mistake[]
  /** The features of the run as it would find them, and mistakes in their files. */
  features: { states: readonly State[]; mistakes: readonly Mistake[] }
  /** `--force`: a feature that is complete is worked on again. */
  anew: boolean
}

export type Checkout = OpenCheckout & {
  /** GitHub starts workflows from the files on this branch. */
  defaultBranch: { name: string; sha: string }
  /** The workflow that works on features there; null if there is none. */
  ci: Ci | null
}

export type Subject = Omit<RunStart, 'checkout'> & {
  /** Notes of reading the settings. */
  notes: readonly string[]
  /** Null: all of them. */
  feature: string | null
  checkout: Checkout | readonly Mistake[]
  /** Null: there is no token for GitHub. */
  github: GitHub | null
  /** The action's own repository, `owner/repo`. */
  action: string
  withGates: boolean
  /** Whether the agent may be sent a short question, which costs a session. */
  asksAgent: boolean
  /** The run that holds the work tree; null: no run holds it. */
  atWork: string | null
  /** Marks every process that is started, so that those that outlive this one can be ended. */
  mark: string
  /** Aborted when a person interrupts. */
  signal: AbortSignal
  /** Called when a slow check begins. */
  onBegin(what: string): void
  /** A finding, as soon as it is known. */
  onFinding?(finding: Finding): void
  /** Called by a slow check with each result, before it returns all of them. */
  onResult?(result: CheckResult): void
  /** The isolation of agent and gates. Opened at the first call; the creator of the subject closes it. */
  isolation(): Promise<Isolation | null>
}

/** A finding of a check; its name is the check's unless it has its own. */
export type CheckResult = Omit<Finding, 'name'> & { name?: string }

export function okResult(found: string): CheckResult {
  return { state: 'ok', found, expected: '', fix: '' }
}

export function warningResult(found: string, expected: string, fix: string): CheckResult {
  return { state: 'warning', found, expected, fix }
}

export function faultResult(found: string, expected: string, fix: string): CheckResult {
  return { state: 'fault', found, expected, fix }
}

export function unknownResult(found: string, fix: string): CheckResult {
  return { state: 'unknown', found, expected: '', fix }
}

export function toFaults(mistakes: readonly Mistake[]): CheckResult[] {
  return mistakes.map(({ path, place = path, found, expected, fix }) =>
    faultResult(`${place}: ${found}`, expected, fix),
  )
}

/** Thrown by a check that cannot be done: it becomes an unknown finding. */
export class NotCheckedError extends Error {
  readonly fix: string
  constructor(found: string, fix: string) {
    super(found)
    this.fix = fix
  }
}

/** Thrown by a check of the checkout if there is none. The row `checkout` says why. */
export class NoCheckoutError extends Error {}

/** Throws NotCheckedError while a run is at work: its changes are its own. */
export function refuseDuringRun({ atWork }: Subject): void {
  if (atWork !== null)
    throw new NotCheckedError(`not checked: ${atWork}`, 'run `ralph doctor` again when that run has ended')
}

export function requireCheckout<C extends OpenCheckout>({
  checkout,
}: {
  checkout: C | readonly Mistake[]
}): C {
  if ('workspace' in checkout) return checkout
  throw new NoCheckoutError('there is no checkout')
}

/** The mistakes that `check` returns, or throws as UserError; none if it needs a checkout and there is none. */
export async function collectMistakes(
  check: () => readonly Mistake[] | undefined | Promise<readonly Mistake[] | undefined>,
): Promise<readonly Mistake[]> {
  const found = await orUserError(check).catch((error: unknown) => {
    if (error instanceof NoCheckoutError) return []
    throw error
  })
  return found instanceof UserError ? found.mistakes : (found ?? [])
}

/** Whether settings that a check reads are invalid: a check on their defaults would mislead. */
export function areSettingsUnread(
  { mistakes }: Pick<RunStart, 'mistakes'>,
  reads: readonly string[] = [],
): boolean {
  return mistakes.some(({ path }) => {
    // Of mistakes in a file: `ralph.config.yml: gates.test.timeout`; at a line and column nothing of it was read.
    const [file, key = ''] = path.split(': ')
    return file === '--config-file' || key.startsWith('line ') || reads.includes(key.split(/[.[]/)[0] ?? '')
  })
}
