// Which files belong to tests, by their paths, in any language.

/** Tests, and the files that they use: data, snapshots, mocks, setup code. */
const SUPPORT =
  /(?:^|\/)(?:tests?|specs?|__tests?__|__specs?__|__mocks__|__snapshots__|__fixtures__|e2e|cypress|testdata|test-?(?:data|utils?|helpers?|fixtures?))\/|(?:^|\/)(?:tests?(?:[._-][^/]*)?|[^/]*[._-](?:tests?|specs?|cy|e2e))\.[^/.]+$|(?:^|\/)conftest\.py$|\.snap$|(?:^|\/)src\/[^/]*[tT]est[^/]*\/|(?:^|\/)(?:Test[A-Z][^/]*|[^/]*(?:Tests?|TestCase|IT|Spec))\.(?:java|kt|scala|groovy|cs|swift|php)$/
const INSTALLED = /(?:^|\/)(?:node_modules|vendor)\//

/** Whether the path is that of a test or of a file that tests use. */
export function isTestSupport(path: string): boolean {
  return SUPPORT.test(path) && !INSTALLED.test(path)
}
