// What cannot be had of another user is an error with its mend, never a step down.
import { type Mistake, UserError } from '../errors.ts'

/** By name, and never by itself. */
export const STEP_DOWN = 'write isolation: same-user, where the agent can take the tokens of the job'

export type Fault = Omit<Mistake, 'path'>

export function refused(faults: readonly Fault[]): UserError {
  return new UserError(faults.map((fault) => ({ path: 'isolation: other-user', ...fault })))
}
