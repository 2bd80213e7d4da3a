// How many tests ran, by the summaries of test runners. Pure.
import type { TestCounts } from '../engine/model/gate.ts'

const NUMBER_FIRST = /(\d+) ([a-z]+)/g
const WORD_FIRST = /((?:expected )?[a-z]+)(?:: |=| {1,4})(\d+)/g

/** Summary lines by runner, and in which each has pairs of a number and a word. */
const SUMMARIES: readonly (readonly [line: RegExp, pairs: RegExp])[] = [
  // node --test, and what else speaks TAP
  [/^(?:ℹ|#) (?:pass|fail|cancelled|skipped|todo) {1,4}\d+$/, WORD_FIRST],
  // jest; vitest
  [/^Tests:? {1,12}\d+ (?:failed|passed|skipped|pending|todo)\b/, NUMBER_FIRST],
  // mocha
  [/^\d+ (?:passing \([\d.]+ ?m?[smh]\)|failing|pending)$/, NUMBER_FIRST],
  // pytest
  [/^(?:=+ )?(?:\d+ [a-z]+, ){0,8}\d+ [a-z]+ in [\d.]+s\b/, NUMBER_FIRST],
  // unittest
  [/^Ran \d+ tests? in [\d.]+s$/, NUMBER_FIRST],
  [/^(?:OK|FAILED) \((?:[a-z ]{1,20}=\d+(?:, )?){1,6}\)$/, WORD_FIRST],
  // cargo test
  [/^test result: (?:ok|FAILED)\. \d+ passed;/, NUMBER_FIRST],
  // maven: without the time, it is the sum
  [/^(?:\[[A-Z]+\] )?Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+$/, WORD_FIRST],
  // gradle
  [/^\d+ tests? completed(?:, \d+ (?:failed|skipped)){0,2}$/, NUMBER_FIRST],
  // ctest: the number of passed tests is not in the line
  [/^\d+% tests passed, \d+ tests? failed out of \d+$/, /(\d+) tests? (failed)|(out of) (\d+)/g],
  // phpunit, if all pass, and if not
  [/^OK \(\d+ tests?, \d+ assertions?\)$/, NUMBER_FIRST],
  [/^Tests: \d+, Assertions: \d+(?:, [A-Z][A-Za-z ]{1,30}: \d+){0,9}\.$/, WORD_FIRST],
  // rspec; minitest, test-unit, ExUnit
  [/^\d+ examples?, \d+ failures?(?:, \d+ [a-z ]{1,40}){0,2}$/, NUMBER_FIRST],
  [/^\d+ (?:runs|tests?|doctests?), \d+ [a-z]+(?:, \d+ [a-z]+){1,6}$/, NUMBER_FIRST],
]
/** `go test` prints no counts, but a line for each test, as text (`-v`) or as JSON. Subtests are indented, or have a slash. */
const GO_TEST = /^--- (PASS|FAIL|SKIP): |^\{.*"Action":"(pass|fail|skip)".*"Test":"[^"/]+"/

const WORDS = new Map<string, Exclude<keyof TestCounts, 'empty'> | 'total'>(
  Object.entries({
    ...{ pass: 'passed', passed: 'passed', passing: 'passed', xpassed: 'passed' },
    ...{ fail: 'failed', failed: 'failed', failing: 'failed', failures: 'failed', cancelled: 'failed' },
    ...{ error: 'failed', errors: 'failed', successes: 'failed', failure: 'failed' },
    ...{ skip: 'skipped', skipped: 'skipped', pending: 'skipped', todo: 'skipped', ignored: 'skipped' },
    ...{ xfailed: 'skipped', 'expected failures': 'skipped' },
    // Of a total, tests that are not counted as failed or skipped have passed.
    ...{ run: 'total', test: 'total', tests: 'total', 'out of': 'total', runs: 'total' },
    ...{ example: 'total', examples: 'total', doctest: 'total', doctests: 'total' },
    ...{ skips: 'skipped', pendings: 'skipped', omissions: 'skipped', incomplete: 'skipped' },
  } as const),
)
/**
 * A file without tests, which `node --test` reports as one passed test named by its path, and a package without tests in go.
 */
const EMPTY =
  /^(?:✔|ok \d+ -) (?:\S*\/)?[\w.-]+\.[cm]?[jt]sx?(?: \([\d.]+ms\))?$|^ok\s+\S+\s.*\[no tests to run\]$/
const MAX_LINE = 400
/** A greater number is not a count of tests. */
const MAX_COUNT = 1e8

/** The sums of all summaries in an output without colours; null if nothing is counted. */
export function testCounts(output: string): TestCounts | null {
  const sums = { passed: 0, failed: 0, skipped: 0, total: 0 }
  let empty = 0
  let isFound = false
  const add = (word: string, many: number): void => {
    const kind = WORDS.get(word)
    if (kind === undefined || !(many <= MAX_COUNT)) return
    sums[kind] += many
    isFound = true
  }
  // Go's lines are counted only in a complete output.
  const isWhole = !LEFT_OUT.test(output)
  for (const raw of output.split('\n')) {
    const line = raw.slice(0, MAX_LINE).trimEnd()
    const go = isWhole ? GO_TEST.exec(line) : null
    if (go !== null) add((go[1] ?? go[2] ?? '').toLowerCase(), 1)
    if (EMPTY.test(line)) empty += 1
    const text = line.trimStart()
    const [, pairs = null] = SUMMARIES.find(([summary]) => summary.test(text)) ?? []
    if (pairs === null) continue
    for (const [, ...found] of text.toLowerCase().matchAll(pairs)) {
      const [one = '', other = ''] = found.filter((part) => part !== undefined)
      const isNumberFirst = /^\d/.test(one)
      add(isNumberFirst ? other : one, Number(isNumberFirst ? one : other))
    }
  }
  if (!isFound) return null
  const { passed, failed, skipped, total } = sums
  const counts = { passed: passed + Math.max(0, total - failed - skipped), failed, skipped }
  return empty === 0 ? counts : { ...counts, empty }
}

/** Whether a runner says that it ran tests, and ran none. */
export function ranNoTest(tests: TestCounts | null): boolean {
  return tests !== null && tests.passed + tests.failed === 0
}

/** Whether it is the output of `go test` without `-v`, which has a line for each failed test and none for the others. */
export function namesOnlyFailures(output: string): boolean {
  return /^--- FAIL: /m.test(output) && !/^=== RUN /m.test(output)
}

const LEFT_OUT = /^\.\.\. \d+ bytes left out \.\.\.$/m
