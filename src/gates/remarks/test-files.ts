// Which files belong to tests, by their paths, in any language.

/** Tests, and the files that they use: data, snapshots, mocks, setup code. */
const SUPPORT =
  /(?:^|\/)(?:tests?|specs?|__tests?__|__specs?__|__mocks__|__snapshots__|__fixtures__|e2e|cypress|testdata|test-?(?:data|utils?|helpers?|fixtures?))\/|(?:^|\/)(?:tests?(?:[._-][^/]*)?|[^/]*[._-](?:tests?|specs?|cy|e2e))\.[^/.]+$|(?:^|\/)conftest\.py$|\.snap$|(?:^|\/)src\/[^/]*[tT]est[^/]*\/|(?:^|\/)(?:Test[A-Z][^/]*|[^/]*(?:Tests?|TestCase|IT|Spec))\.(?:java|kt|scala|groovy|cs|swift|php)$/
const INSTALLED = /(?:^|\/)(?:node_modules|vendor)\//
/** Folders of plans: Spec Kit, OpenSpec, Kiro and Agent OS keep their documents in them, and Ruby its tests. */
const SPEC_FOLDERS = /(?<=^|\/)specs?\//g
const PROSE = /\.(?:mdx?|markdown|adoc|rst)$/i
/** Prose that tests read is in its own folder. */
const DATA = /(?:^|\/)(?:fixtures?|samples?|golden|support|data)\//
/** A feature's folder of Spec Kit. */
const FEATURE = /(?:^|\/)specs\/\d{3,}-[^/]+\//

/** Whether the path is that of a test or of a file that tests use. */
export function isTestSupport(path: string): boolean {
  if (INSTALLED.test(path) || !SUPPORT.test(path)) return false
  const isPlan = FEATURE.test(path) || (PROSE.test(path) && !DATA.test(path))
  if (!isPlan) return true
  // Of a document's own name (`tech-spec.md`) the extension goes, which the names of tests need.
  return SUPPORT.test(path.replace(SPEC_FOLDERS, '').replace(PROSE, ''))
}
