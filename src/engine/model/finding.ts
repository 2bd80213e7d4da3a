// What a look at an installation found, and how it is mended.

/** `unknown`: it could not be looked at here; `fix` then says where to look. Only a `fault` keeps a run from working. */
export type FindingState = 'ok' | 'warning' | 'fault' | 'unknown'

/** `expected` and `fix` are empty where everything is well. */
export type Finding = { name: string; state: FindingState; found: string; expected: string; fix: string }
