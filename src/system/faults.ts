// What is wrong with a value, as a typed value that travels in the issue of the zod schema that refuses it.
import type { core } from 'zod/mini'

/** What a value should be, and how to fix it. `found` replaces the value in the message; `known` has the valid keys after an unknown one. */
export type Fault = { expected: string; fix: string; found?: string; known?: readonly string[] }

/** The options of a zod schema or check that refuses values with these faults. */
export function faultOptions(fault: (input: unknown) => Fault) {
  // zod asks for the message before it copies the issue, so the copy has the fault.
  const error = (issue: { input?: unknown }) => {
    const params = fault(issue.input)
    Object.assign(issue, { params })
    return params.expected
  }
  return { error, fault }
}

/** The issue of a fault, for a check to add. */
export function faultIssue(input: unknown, params: Fault, path: (string | number)[] = []) {
  // zod replaces an empty message, and the fault with it, by those of the schema around the check.
  const message = params.expected === '' ? (params.found ?? params.fix) : params.expected
  return { code: 'custom' as const, input, params, path, message }
}

/** The fault that an issue carries; zod's own words if it carries none. */
export function faultOf(issue: core.$ZodIssue | undefined): Fault {
  const carried: Partial<Fault> | undefined = issue && 'params' in issue ? issue.params : undefined
  return { expected: issue?.message ?? '', fix: '', ...carried }
}
