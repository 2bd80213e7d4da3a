// A changed path of a diff, and the result of the guard and the watchers for all of them.
import type { Failure } from './attempt.ts'

/** Modes are git's (`100644`, `120000`, `160000`, `000000` for none). A rename is a deletion and an addition. */
export type Change = {
  status: 'A' | 'M' | 'D' | 'T'
  path: string
  oldMode: string
  newMode: string
  oldOid: string
  newOid: string
}

/** `dropped`: paths that may not go into the saved work. */
export type Examination = {
  failure: Failure | null
  dropped: string[]
  remarks: string[]
  /** Every changed file is a test or a support file of tests. */
  testsOnly?: true
}
