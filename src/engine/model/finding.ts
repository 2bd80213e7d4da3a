// A finding of a check of the installation, and its fix.

/** `unknown`: it cannot be checked here, and `fix` says where to look. Only a `fault` keeps a run from working. */
export type FindingState = 'ok' | 'warning' | 'fault' | 'unknown'

/** `expected` and `fix` are empty where nothing is wrong. */
export type Finding = { name: string; state: FindingState; found: string; expected: string; fix: string }
