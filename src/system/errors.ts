// Errors: mistakes that a person can fix, with the fix, and damage.

import { withoutControls } from './workflow-commands.ts'

/**
 * One mistake that a person can fix. `path`: the place, such as `prd.json: userStories[2].dependsOn[0]`. `place`: the same for people,
 * such as `prd.json: US-003, dependsOn[0]`; left out if `path` is clear enough. `found`: a whole sentence if `expected` is empty.
 */
export type Mistake = { path: string; place?: string; found: string; expected: string; fix: string }

/** Bad input, with all of its mistakes. The program ends with outcome `error` and exit code 64, and has changed nothing. */
export class UserError extends Error {
  readonly mistakes: readonly Mistake[]
  constructor(found: Mistake | readonly Mistake[]) {
    const mistakes = 'path' in found ? [found] : found
    super(mistakes.map(formatMistake).join('\n'))
    this.name = 'UserError'
    this.mistakes = mistakes
  }
}

/** The result of `act`, or the UserError that it throws. Any other error is thrown again. */
export async function orUserError<T>(act: () => T | Promise<T>): Promise<T | UserError> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
}

/** One mistake as two lines without control characters. */
export function formatMistake(mistake: Mistake): string {
  const path = withoutControls(mistake.place ?? mistake.path)
  const found = withoutControls(mistake.found)
  const expected = withoutControls(mistake.expected)
  const problem = expected === '' ? found : `found ${found}, expected ${expected}`
  return `${path}: ${problem}\n  fix: ${withoutControls(mistake.fix)}`
}

/** An object of the clone is missing, or its content does not match its id. No attempt can be judged on it; a new clone helps. */
export class DamagedClone extends Error {
  constructor(damage: string) {
    super(`the clone is damaged: ${damage}`)
    this.name = 'DamagedClone'
  }
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
