// How the scripts of a release refuse: every mistake at once, where it is, and how to mend it; exit 64, as bad input has everywhere.
import { appendFileSync } from 'node:fs'

/** Prints the mistakes and ends the process, where there are any. A mistake: `{ path, found, expected, fix }`. */
export function refuse(mistakes) {
  if (mistakes.length === 0) return
  for (const { path, found, expected, fix } of mistakes)
    process.stderr.write(`error: ${path}: found ${found}, expected ${expected}\n  fix: ${fix}\n`)
  process.exit(64)
}

/** Prints each value, and gives it to the steps behind this one where a workflow runs it. */
export function output(values) {
  for (const [name, value] of Object.entries(values)) {
    process.stdout.write(`${name}=${value}\n`)
    const { GITHUB_OUTPUT } = process.env
    if (GITHUB_OUTPUT !== undefined) appendFileSync(GITHUB_OUTPUT, `${name}=${value}\n`)
  }
}
