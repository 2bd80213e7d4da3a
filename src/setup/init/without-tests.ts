// The same command without the tests that are red on the project as it is: for a base with a few red tests. Pure.
import { shellWord } from '../../system/shell-word.ts'

export type Reduced = { run: string; tests: string[] }

type Runner = {
  command: RegExp
  /** A failed test in its output, by name. */
  failed: RegExp
  without(run: string, tests: readonly string[]): string | null
}

/** With more red tests the base is broken, and not only a few of its tests. */
export const MAX_RED = 10
const MAX_NAME = 200

const RUNNERS: readonly Runner[] = [
  {
    command: /\bpytest\b/,
    failed: /^(?:FAILED|ERROR) (\S+::.+?)(?: - .*)?$/gm,
    without: (run, tests) => `${run} ${tests.map((name) => shellWord(`--deselect=${name}`)).join(' ')}`,
  },
  {
    command: /\bgo test\b/,
    failed: /^--- FAIL: (Test\w+)/gm,
    without: (run, tests) => run.replace(/\bgo test\b/, () => `go test -skip '^(?:${tests.join('|')})$'`),
  },
  {
    command: /^cargo (?:\S+ )*test\b(?!.* -- )/,
    failed: /^test (\S+)(?: - should panic)? \.\.\. FAILED$/gm,
    without: (run, tests) =>
      `${run} -- --exact ${tests.map((name) => `--skip ${shellWord(name)}`).join(' ')}`,
  },
  {
    command: /^\S*mvnw?\b(?!.*-Dtest=)/,
    failed: /^\[ERROR\] {2,}(?:\w+\.)*(\w+\.\w+):\d+/gm,
    without: (run, tests) =>
      `${run} ${shellWord(`-Dtest=${tests.map((name) => `!${name.replace('.', '#')}`).join(',')}`)}`,
  },
]

/** Null if the runner is not known, names no failed test, or names more than a few. */
export function withoutRedTests(run: string, output: string): Reduced | null {
  const runner = RUNNERS.find(({ command }) => command.test(run))
  if (runner === undefined) return null
  const tests = [...new Set([...output.matchAll(runner.failed)].map(([, name = '']) => name.trim()))]
  const isPlain = tests.every((name) => name.length <= MAX_NAME && !/[$`\\\n]/.test(name))
  if (tests.length === 0 || tests.length > MAX_RED || !isPlain) return null
  const reduced = runner.without(run, tests)
  return reduced === null ? null : { run: reduced, tests }
}
