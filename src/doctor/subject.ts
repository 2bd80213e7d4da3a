// What is looked at: an installation as the CLI or the action found it, and what it could not open of it.
import type { Isolation } from '../app/isolation.ts'
import type { Workspace } from '../app/workspace.ts'
import type { GitHub } from '../github/client.ts'
import type { Settings } from '../settings/index.ts'
import type { Mistake } from '../system/errors.ts'
import type { Environment } from '../system/untrusted-env.ts'
import type { Ci } from './ci.ts'
import { NotSeen } from './result.ts'

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
  /** Of every process that is started: by it, those that outlive us are ended. */
  mark: string
  /** A person does not want to wait any longer. */
  signal: AbortSignal
  /** What takes its time begins. */
  begins(what: string): void
  /** As whom agent and gates run; opened when it is first asked for, closed by whoever made the subject. */
  isolation(): Promise<Isolation | null>
}

export function checkoutOf({ checkout }: Subject): Checkout {
  if ('workspace' in checkout) return checkout
  throw new NotSeen('not looked at: there is no checkout', 'mend the checkout first')
}

/** Something that is opened when it is first asked for, and closed if it was. */
export function onceOpened<T extends { close(): Promise<void> }>(open: () => Promise<T | null>) {
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
