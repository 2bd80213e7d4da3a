// Which files tests are made of, by their paths, in any language.

/** Tests, and what stands beside them for them to read: data, snapshots, mocks, what runs before them. */
const SUPPORT =
  /(?:^|\/)(?:tests?|specs?|__tests?__|__specs?__|__mocks__|__snapshots__|__fixtures__|e2e|cypress|testdata|test-?(?:data|utils?|helpers?|fixtures?))\/|(?:^|\/)(?:tests?(?:[._-][^/]*)?|[^/]*[._-](?:tests?|specs?|cy|e2e))\.[^/.]+$|(?:^|\/)conftest\.py$|\.snap$|(?:^|\/)src\/[^/]*[tT]est[^/]*\/|(?:^|\/)(?:Test[A-Z][^/]*|[^/]*(?:Tests?|TestCase|IT|Spec))\.(?:java|kt|scala|groovy|cs|swift|php)$/
const INSTALLED = /(?:^|\/)(?:node_modules|vendor)\//

/** Whether a test runner reads the file, as far as its path says. */
export function isTestSupport(path: string): boolean {
  return SUPPORT.test(path) && !INSTALLED.test(path)
}
