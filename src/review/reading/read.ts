// What the tests in a program text are: their names and marks, their assertions, the tables that repeat them.

import { assertionsIn, helpersIn } from './assertions.ts'
import { readGo } from './go.ts'
import { readJava } from './java.ts'
import { readJavaScript } from './javascript.ts'
import { loopsIn } from './loops.ts'
import { readPython } from './python.ts'
import { readRust } from './rust.ts'
import { type Found, holders, type Tables, type TestFile, tablesOf, within } from './shared.ts'
import { type Language, languageOf, readSource, type Source } from './source.ts'

const NO_TESTS = /(?:^|\/)(?:node_modules|vendor|fixtures?|__fixtures__|testdata|__snapshots__)\//

const TEST_PATHS: Record<Language, RegExp> = {
  javascript:
    /(?:^|\/)(?:tests?|specs?|__tests?__|__specs?__|e2e|cypress)\/|[._-](?:test|spec|cy|e2e)\.[cm]?[jt]sx?$|(?:^|\/)tests?(?:-[^/]*)?\.[cm]?[jt]sx?$/i,
  python: /(?:^|\/)tests?\/|(?:^|\/)(?:tests?(?:_[^/]*)?|[^/]*_tests?)\.py$/,
  go: /_test\.go$/,
  rust: /(?:^|\/)tests\/|(?:^|\/)(?:tests?(?:_[^/]*)?|[^/]*_tests?)\.rs$/,
  java: /(?:^|\/)src\/[^/]*[tT]est[^/]*\/|(?:^|\/)tests?\/|(?:^|\/)(?:Test[A-Z][^/]*|[^/]*(?:Tests?|TestCase|IT|Spec))\.java$/,
}

/** Whether the file holds tests, by its path: JS and TS, Python, Go, Rust, Java. */
export function isTestFile(path: string): boolean {
  const language = languageOf(path)
  return language !== null && TEST_PATHS[language].test(path) && !NO_TESTS.test(path)
}

/** Whether the file must be looked at for tests: Rust has them beside the code. */
export function mayHoldTests(path: string): boolean {
  return isTestFile(path) || (languageOf(path) === 'rust' && !NO_TESTS.test(path))
}

/** Reads the tests of a file whose language is known. Never fails. */
export function readTests(path: string, raw: string, language: Language): TestFile {
  const source = readSource(raw, language)
  const tables = tablesOf(source)
  const found = READERS[language](source, tables, path)
  // Beside the code, what asserts outside of the parts for tests is the program's own.
  const parts = isTestFile(path) ? [{ span: { from: 0, to: source.raw.length } }] : found.parts
  const assertions = within(assertionsIn(source), parts, (span) => span)
  const inTest = holders(found.tests)
  const helpers = within(helpersIn(source, found.tests), parts, (helper) => helper.span).filter(
    ({ span }) => inTest(span.from).length === 0,
  )
  const repeats = [...found.repeats, ...loopsIn(source, tables)]
  const { tests, focused } = found
  return { path, source, tests, focused, repeats, helpers, assertions }
}

const READERS: Record<Language, (source: Source, tables: Tables, path: string) => Found> = {
  javascript: readJavaScript,
  python: readPython,
  go: readGo,
  rust: readRust,
  java: readJava,
}
