// Which files hold tests, and for which of them a runner looks.
import { type Language, languageOf, type Source, wordsIn } from './source.ts'

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

/** What other files call it by. */
export function stemOf(path: string): string {
  const [name = '', folder = ''] = path.split('/').toReversed()
  const stem = name.replace(/\.\w+$/, '')
  return /^(?:index|mod|__init__)$/.test(stem) ? folder : stem
}

const NAMED: Record<Exclude<Language, 'javascript' | 'go'>, RegExp> = {
  python: /\bfrom\s+[\w.]*\.(\w+)\s+import\b|\bimport\s+([^\n]+)|\bclass\s+\w+\s*\(([^)\n]*)\)/g,
  rust: /\bmod\s+(\w+)\s*;/g,
  java: /\bextends\s+([\w.]+)/g,
}

/** The files and classes that a text takes in: they run with it. */
export function namedIn(source: Source, language: Language): Set<string> {
  const { code } = source
  if (language === 'go') return new Set()
  if (language === 'javascript') {
    const { literals } = wordsIn(source, { from: 0, to: code.length })
    return new Set(literals.filter((it) => /^\.{1,2}\//.test(it)).map(stemOf))
  }
  return new Set(
    [...code.matchAll(NAMED[language])].flatMap((it) => it.slice(1).join(' ').match(/\w+/g) ?? []),
  )
}
