// What cannot be had of another user is an error with its mend, never a step down.
import { type Mistake, UserError } from '../errors.ts'

export type Fault = Omit<Mistake, 'path'>

export function refused(faults: readonly Fault[]): UserError {
  return new UserError(faults.map((fault) => ({ path: 'isolation: other-user', ...fault })))
}
