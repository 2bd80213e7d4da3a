// What went wrong, and how to fix it. Mistakes are collected; exceptions are for surprises.

import { withoutControls } from './workflow-commands.ts'

/**
 * One mistake in something a person wrote. `found` is a whole sentence if `expected` is empty. `path` is the place
 * (`prd.json: userStories[2].dependsOn[0]`).
 */
export type Mistake = { path: string; found: string; expected: string; fix: string }

/** Bad input: every mistake at once; ends as outcome `error`, exit 64, with nothing changed. */
export class UserError extends Error {
  readonly mistakes: readonly Mistake[]
  constructor(found: Mistake | readonly Mistake[]) {
    const mistakes = 'path' in found ? [found] : found
    super(mistakes.map(formatMistake).join('\n'))
    this.name = 'UserError'
    this.mistakes = mistakes
  }
}

/** The result of `act`, or the UserError that it throws; any other error is thrown on. */
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
  const [path, found, expected, fix] = [mistake.path, mistake.found, mistake.expected, mistake.fix].map(
    withoutControls,
  )
  const problem = expected === '' ? found : `found ${found}, expected ${expected}`
  return `${path}: ${problem}\n  fix: ${fix}`
}

/** An object of the clone is missing or has other bytes than its id says. No attempt can be judged on it; a new clone helps. */
export class DamagedClone extends Error {
  constructor(damage: string) {
    super(`the clone is damaged: ${damage}`)
    this.name = 'DamagedClone'
  }
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
