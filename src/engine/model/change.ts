// A changed path of a diff, and what guard and watchers say of all of them.
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

/** `dropped` may not be kept for a later attempt. */
export type Examination = {
  failure: Failure | null
  dropped: string[]
  remarks: string[]
  /** Every file is a test, or stands beside one. */
  testsOnly?: true
}
