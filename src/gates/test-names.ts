// The names of tests that passed and failed in a run, as test runners print them. Pure.
import type { TestNames } from '../engine/model/gate.ts'
import { oneLine } from '../engine/model/text.ts'
import { failedTests, namesBy, type Reader } from './failed-tests.ts'

/** Runners that name each test that passes on its own line. Skipped tests are not among them. */
const PASSED: readonly Reader[] = [
  // node --test and mocha; jest and vitest with their verbose reporters
  {
    name: /^\s*[✔✓√] (?:\S+ > )?(?!\S+\.[cm]?[jt]sx? \()(.+?)(?: \(?\d[\d.]* ?m?s\)?)?$/,
  },
  // TAP
  { name: /^\s*ok \d+ - (?!.* # (?:SKIP|TODO))(.+?)(?: # time=.*)?$/ },
  // pytest -v
  { name: /^(\S+?::.+?) PASSED\b/ },
  // unittest -v
  { name: /^(\S+ \([\w.]+\)).* \.\.\. ok$/ },
  // cargo test
  { name: /^test (.+?)(?: - should panic)?(?: \(line \d+\))? \.\.\. ok$/ },
  // go test -v
  { name: /^\s*--- PASS: (\S+)/ },
  // Gradle
  { name: /^(\S.* > .+) PASSED$/ },
]

/** The state holds the names of one run at most a few times. */
const MAX_NAMES = 400
const MAX_CHARACTERS = 24_000
const MAX_LINE = 400
const MAX_NAME = 200
const LEFT_OUT = /^\.\.\. \d+ bytes left out \.\.\.$/m

/** The names in reports, else in the output; null if nothing is named. */
export function namesOfTests(
  output: string,
  reported: { passed?: readonly string[]; failed?: readonly string[] },
): TestNames | null {
  const lines = output.split('\n').map((line) => line.slice(0, MAX_LINE).trimEnd())
  const passed = reported.passed ?? PASSED.flatMap((reader) => namesBy(reader, lines))
  const failed = reported.failed ?? failedTests(output)?.names ?? []
  const [shownPassed, shownFailed] = [bounded(passed), bounded(failed)]
  if (shownPassed.length + shownFailed.length === 0) return null
  const isCut =
    LEFT_OUT.test(output) ||
    shownPassed.length < new Set(passed).size ||
    shownFailed.length < new Set(failed).size
  return { passed: shownPassed, failed: shownFailed, ...(isCut ? { more: true as const } : {}) }
}

function bounded(names: readonly string[]): string[] {
  const found = new Set<string>()
  let left = MAX_CHARACTERS
  for (const name of names) {
    const shown = oneLine(name, MAX_NAME)
    if (shown === '' || found.has(shown)) continue
    left -= shown.length
    if (found.size >= MAX_NAMES || left < 0) break
    found.add(shown)
  }
  return [...found]
}
