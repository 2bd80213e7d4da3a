// What one check gives: a finding that has the check's name unless it brings another.
import type { Finding } from '../model/finding.ts'
import type { Mistake } from '../system/errors.ts'

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
    this.name = 'NotSeen'
    this.fix = fix
  }
}
