// What is looked at - an installation as the CLI or the action found it - and what a check says of it.
import type { Isolation } from '../app/isolation.ts'
import type { Workspace } from '../app/workspace.ts'
import type { GitHub } from '../github/client.ts'
import type { Finding } from '../model/finding.ts'
import type { Settings } from '../settings/index.ts'
import type { Mistake } from '../system/errors.ts'
import type { Environment } from '../system/untrusted-env.ts'
import type { Ci } from './workflow-file.ts'

export type Checkout = {
  workspace: Workspace
  /** Where a run would start from: gates are run there. */
  base: { branch: string; sha: string }
  /** Its workflow files count. */
  defaultBranch: { name: string; sha: string }
  /** The workflow that works on features there; null where there is none. */
  ci: Ci | null
}

export type Subject = {
  env: Environment
  directory: string
  /** As far as they could be read. */
  settings: Settings
  /** What is wrong with them, and what means something else than it seems. */
  mistakes: readonly Mistake[]
  notes: readonly string[]
  /** Null: all of them. */
  feature: string | null
  /** The checkout, or why there is none. */
  checkout: Checkout | readonly Mistake[]
  /** Null: nobody may ask GitHub from here. */
  github: GitHub | null
  /** The action's own repository, `owner/repo`. */
  action: string
  withGates: boolean
  /** Whether the agent may be asked a word, which costs a session. */
  asksAgent: boolean
  /** Who has the work tree to itself; null: nobody. */
  atWork: string | null
  /** Of every process that is started: by it, those that outlive us are ended. */
  mark: string
  /** A person does not want to wait any longer. */
  signal: AbortSignal
  /** What takes its time begins. */
  begins(what: string): void
  /** A finding, as soon as it is known. */
  finds?(finding: Finding): void
  /** Of a check that takes its time: a result before its end, where it gives all of them. */
  known?(result: Result): void
  /** As whom agent and gates run; opened when it is first asked for, closed by whoever made the subject. */
  isolation(): Promise<Isolation | null>
}

/** What one check gives: a finding that has the check's name unless it brings another. */
export type Result = Omit<Finding, 'name'> & { name?: string }

export function fine(found: string): Result {
  return { state: 'ok', found, expected: '', fix: '' }
}

export function warning(found: string, expected: string, fix: string): Result {
  return { state: 'warning', found, expected, fix }
}

export function fault(found: string, expected: string, fix: string): Result {
  return { state: 'fault', found, expected, fix }
}

export function unknown(found: string, fix: string): Result {
  return { state: 'unknown', found, expected: '', fix }
}

export function faultsOf(mistakes: readonly Mistake[]): Result[] {
  return mistakes.map(({ path, found, expected, fix }) => fault(`${path}: ${found}`, expected, fix))
}

/** Thrown by a check that cannot look: an unknown finding. */
export class NotSeen extends Error {
  readonly fix: string
  constructor(found: string, fix: string) {
    super(found)
    this.fix = fix
  }
}

/** Throws NotSeen while a run is at work: its changes are its own. */
export function refuseAtWork({ atWork }: Subject): void {
  if (atWork !== null)
    throw new NotSeen(`not looked at: ${atWork}`, 'run `ralph doctor` again when that has ended')
}

export function checkoutOf({ checkout }: Subject): Checkout {
  if ('workspace' in checkout) return checkout
  throw new NotSeen('not looked at: there is no checkout', 'mend the checkout first')
}

/** The commit that a run would start from. */
export function startOf(subject: Subject): string {
  const { workspace, base } = checkoutOf(subject)
  return subject.settings.surface === 'action' ? base.sha : (workspace.clone.head ?? base.sha)
}
