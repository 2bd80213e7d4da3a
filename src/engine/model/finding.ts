// A finding of `ralph doctor`, and its fix.

/** `unknown`: not possible to check here; `fix` says where to look. Only a `fault` keeps a run from working. */
export type FindingState = 'ok' | 'warning' | 'fault' | 'unknown'

/** `expected` and `fix` are empty if nothing is wrong. */
export type Finding = { name: string; state: FindingState; found: string; expected: string; fix: string }
