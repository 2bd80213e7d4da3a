// Which files hold tests, and for which of them a runner looks.
import { type Language, languageOf } from './source.ts'

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

/** By path: tests in any language, and what stands beside them for them to read: data, snapshots, mocks, what runs before them. */
const SUPPORT =
  /(?:^|\/)(?:tests?|specs?|__tests?__|__specs?__|__mocks__|__snapshots__|__fixtures__|e2e|cypress|testdata|test-?(?:data|utils?|helpers?|fixtures?))\/|(?:^|\/)(?:tests?(?:[._-][^/]*)?|[^/]*[._-](?:tests?|specs?|cy|e2e))\.[^/.]+$|(?:^|\/)conftest\.py$|\.snap$|(?:^|\/)src\/[^/]*[tT]est[^/]*\/|(?:^|\/)(?:Test[A-Z][^/]*|[^/]*(?:Tests?|TestCase|IT|Spec))\.(?:java|kt|scala|groovy|cs|swift|php)$/
const INSTALLED = /(?:^|\/)(?:node_modules|vendor)\//

/** Whether a test runner reads the file, as far as its path says. */
export function isTestSupport(path: string): boolean {
  return SUPPORT.test(path) && !INSTALLED.test(path)
}

/** What the usual runners collect without being told to. Projects may do otherwise: then none of their files is. */
const COLLECTED: Record<Language, RegExp> = {
  javascript:
    /(?:^|\/)__(?:tests?|specs?)__\/|[._-](?:test|spec|cy|e2e)\.[cm]?[jt]sx?$|(?:^|\/)tests?(?:-[^/]*)?\.[cm]?[jt]sx?$/i,
  python: /(?:^|\/)(?:tests?(?:_[^/]*)?|[^/]*_tests?)\.py$/,
  go: /^(?!(?:.*\/)?[_.]).*_test\.go$/,
  rust: /(?:^|\/)src\/|^(?!(?:.*\/)?tests\/.*\/)|(?:^|\/)tests\/[^/]+\/main\.rs$/,
  java: /(?:^|\/)(?:(?:Test|IT)[A-Z0-9_][^/]*|[^/]*(?:Tests?|TestCase|IT|ITCase|Spec))\.java$/,
}

export function isCollected(path: string): boolean {
  const language = languageOf(path)
  return language !== null && COLLECTED[language].test(path)
}
