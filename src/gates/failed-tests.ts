// Which tests failed, by name, as test runners print them. Pure.
import { oneLine } from '../engine/model/text.ts'

export type FailedTests = {
  /** Every failed test, with its file, package or class if the runner names it. */
  names: readonly string[]
  /** How many of them the runner's summary counts: Go does not count subtests. */
  counted: number
  /** A runner ended at the first failure, so it says nothing of the tests after it. */
  stoppedEarly: boolean
}

export type Reader = {
  /** The test of this line, if the line names one. */
  name: RegExp
  /** Lines count only after this one. */
  after?: RegExp
  /** A line that says where the tests after it are. */
  scope?: RegExp
}

/** The test runners that name each failed test on its own line. */
const READERS: readonly Reader[] = [
  // pytest: the short summary
  { name: /^(?:FAILED|ERROR) (\S+?::.+?)(?: - .*)?$/ },
  // unittest
  { name: /^(?:FAIL|ERROR): (\S+ \([\w.]+\).*)$/ },
  // cargo test: the same name may exist in several targets
  {
    name: /^test (.+?)(?: - should panic)?(?: \(line \d+\))? \.\.\. FAILED$/,
    scope: /^\s+(?:Running (?:unittests )?|Doc-tests )(\S+)/,
  },
  // Maven surefire, versions 2 and 3
  {
    name: /^\[ERROR\] (?!Tests run)([\w$.]+(?:\([\w$.]+\)|[^<>]*?))(?: --)? {1,2}Time elapsed: .* <<< (?:FAILURE|ERROR)!/,
  },
  // Gradle
  { name: /^(\S.* > .+) FAILED$/ },
  // node --test: the list at the end
  { name: /^✖ (.+?)(?: \([\d.]+ms\))?$/, after: /^✖ failing tests:$/, scope: /^test at (.+?):\d+:\d+$/ },
  // jest
  { name: /^ {2}● (.+)$/, scope: /^ ?FAIL {1,2}(\S+)$/ },
  // vitest
  { name: /^ ?FAIL {1,2}(\S+ (?:> .+|\[.+\]))$/ },
  // TAP: tape, node --test and others (https://testanything.org/tap-version-14-specification.html)
  { name: /^\s*not ok \d+ (?:- )?(?!.*# (?:SKIP|TODO)\b)(.+?)(?: # .*)?$/i },
]

/** What runners print when they leave out the tests after a failure. */
const STOPPED_EARLY = [
  /^!+ (?:stopping after \d+ failures|_pytest\.outcomes\.Exit|Interrupted).*!+$/m,
  /^error: test failed, to rerun pass `/m,
  /^\[INFO\] .+ SKIPPED$/m,
]

const LEFT_OUT = /^\.\.\. \d+ bytes left out \.\.\.$/m
const MAX_LINE = 400
const MAX_NAME = 200

/** Null if a part of the output is missing: a failed test may be in it. */
export function failedTests(output: string): FailedTests | null {
  if (LEFT_OUT.test(output)) return null
  const lines = output.split('\n').map((line) => line.slice(0, MAX_LINE).trimEnd())
  const found = new Set(READERS.flatMap((reader) => namesBy(reader, lines)))
  for (const name of mochaFailures(lines)) found.add(name)
  const go = goFailures(lines)
  const names = [...new Set([...found, ...go.names])].map((name) => oneLine(name, MAX_NAME))
  const stoppedEarly = STOPPED_EARLY.some((pattern) => pattern.test(output))
  return { names, counted: found.size + go.counted, stoppedEarly }
}

export function namesBy({ name: pattern, after, scope }: Reader, lines: readonly string[]): string[] {
  let isOpen = after === undefined
  let place = ''
  return lines.flatMap((line) => {
    if (!isOpen) {
      isOpen = after?.test(line) === true
      return []
    }
    const [, found] = scope?.exec(line) ?? []
    if (found !== undefined) place = `${found}: `
    const [, name] = pattern.exec(line) ?? []
    return name === undefined ? [] : [`${place}${name}`]
  })
}

/** The maximum number of suites around a test, and the test itself. */
const MAX_TITLES = 20

/** mocha lists failed tests at its end, a line for each suite around a test. The title of the test itself ends with a colon. */
function mochaFailures(lines: readonly string[]): string[] {
  const start = lines.findIndex((line) => /^ {2}\d+ failing$/.test(line))
  if (start < 0) return []
  const names: string[] = []
  let titles: string[] = []
  for (const line of lines.slice(start + 1)) {
    const [, first] = /^ {2}\d+\) (.+)$/.exec(line) ?? []
    if (first !== undefined) titles = [first]
    else if (titles.length > 0) titles = /^ {7,}\S/.test(line) ? [...titles, line.trim()] : []
    if (titles.at(-1)?.endsWith(':') === true) names.push(titles.join(' > ').slice(0, -1))
    if (titles.at(-1)?.endsWith(':') === true || titles.length > MAX_TITLES) titles = []
  }
  return names
}

/** Go names the package after its tests; a package that fails without a failed test did not compile, or panicked. */
function goFailures(lines: readonly string[]): { names: string[]; counted: number } {
  const names: string[] = []
  let counted = 0
  let open: string[] = []
  for (const line of lines) {
    const [, indent, test] = /^( *)--- FAIL: (\S+)/.exec(line) ?? []
    if (test !== undefined) open.push(test)
    if (test !== undefined && indent === '') counted += 1
    const [, failedPackage] = /^FAIL\t(\S+)/.exec(line) ?? []
    if (failedPackage !== undefined) {
      // No summary counts a package that does not compile, so the numbers differ, and it is not a named test.
      if (open.length === 0) counted += 1
      names.push(...(open.length === 0 ? [failedPackage] : open.map((name) => `${failedPackage}: ${name}`)))
      open = []
    }
  }
  return { names, counted }
}
