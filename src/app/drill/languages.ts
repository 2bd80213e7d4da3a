// What plants need to know about a language: one row each. A language without a row has fewer plants.

/** Changes of a file's text; null if the text has no place for it. */
type Change = (text: string) => string | null

type Language = {
  names: RegExp
  /** Product code that ends the process with 0 when it is loaded: as more text of the file, or as a file next to it. */
  exitOnLoad: Change | { name: string; text: (neighbor: string) => string } | null
  skipTests: Change
  /** A test file without tests. */
  emptied: Change
  /** Takes the assertions away and leaves the tests. */
  withoutAssertions: Change
  /** A new test file that ends the process with 0, in the folder of a test. */
  exitingTest: { name: (test: string) => string; text: (test: string) => string } | null
  /** A new test file that writes `text` to `path` before the other tests are loaded. */
  writingTest: { name: (test: string) => string; text: (path: string, text: string) => string } | null
  /** Code that no test reaches. */
  unusedCode: string
}

const changed = (text: string, pattern: RegExp, by: string) => {
  const after = text.replace(pattern, by)
  return after === text ? null : after
}
/** The ending of a test's name, such as `.test.mjs` or `_test.go`. */
const endingOf = (test: string) => /(?:[._-](?:test|spec|cy|e2e))?\.[^./]+$/.exec(test)?.[0] ?? ''

const JAVASCRIPT: Language = {
  names: /\.[cm]?[jt]sx?$/,
  exitOnLoad: (text) => (text.startsWith('#!') ? null : `process.exit(0)\n${text}`),
  skipTests: (text) => changed(text, /^(\s*)(test|it|describe|suite)\(/gm, '$1$2.skip('),
  emptied: () => '// later\n',
  withoutAssertions: (text) =>
    changed(text, /^(\s*)(?:await )?(?:assert|expect|t\.)\b.*\)[;]?$/gm, '$1// later'),
  exitingTest: { name: (test) => `aaa-drill${endingOf(test)}`, text: () => 'process.exit(0)\n' },
  writingTest: {
    name: (test) => `aaa-drill${endingOf(test)}`,
    text: (path, text) =>
      `process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(path)}, ${JSON.stringify(text)})\nif (typeof test === 'function') test('drill', () => {})\n`,
  },
  unusedCode: '\nfunction drillUnused(value) {\n  return value * 7 + 1\n}\nvoid drillUnused\n',
}
const PYTHON: Language = {
  names: /\.py$/,
  exitOnLoad: (text) => `${text}\nimport os as _drill\n_drill._exit(0)\n`,
  skipTests: (text) =>
    text.includes('from __future__') ? null : `import unittest\nraise unittest.SkipTest("later")\n${text}`,
  emptied: () => '',
  withoutAssertions: (text) =>
    changed(text, /^(\s+)(?:assert\b.*[^\\,(]|self\.assert\w+\(.*\))$/gm, '$1pass'),
  exitingTest: { name: () => 'test_aaa_drill.py', text: () => 'import os\nos._exit(0)\n' },
  writingTest: {
    name: () => 'test_aaa_drill.py',
    text: (path, text) => `open(${JSON.stringify(path)}, "w").write(${JSON.stringify(text)})\n`,
  },
  unusedCode: '\n\ndef _drill_unused(value):\n    return value * 7 + 1\n',
}
const packageClause = (text: string) => /^package \w+$/m.exec(text)?.[0] ?? null
const goExit = (neighbor: string) =>
  `${packageClause(neighbor) ?? 'package main'}\n\nimport "os"\n\nfunc init() { os.Exit(0) }\n`
const GO: Language = {
  names: /\.go$/,
  exitOnLoad: { name: 'aaa_drill.go', text: goExit },
  skipTests: (text) => changed(text, /^(func Test\w+\((\w+) \*testing\.T\) \{)$/gm, '$1\n\t$2.Skip("later")'),
  emptied: packageClause,
  withoutAssertions: (text) =>
    changed(text, /^(\s*)\w+\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(.*\)$/gm, '$1_ = t'),
  exitingTest: { name: () => 'aaa_drill_test.go', text: goExit },
  writingTest: null,
  unusedCode: '\nfunc drillUnused(value int) int { return value*7 + 1 }\n\nvar _ = drillUnused\n',
}
const RUST: Language = {
  names: /\.rs$/,
  exitOnLoad: null,
  skipTests: (text) => changed(text, /^(\s*)#\[test\]$/gm, '$1#[test]\n$1#[ignore]'),
  emptied: () => '',
  withoutAssertions: (text) => changed(text, /^(\s*)assert\w*!\(.*\);$/gm, '$1'),
  exitingTest: null,
  writingTest: null,
  unusedCode: '\n#[allow(dead_code)]\nfn drill_unused(value: i64) -> i64 {\n    value * 7 + 1\n}\n',
}

const LANGUAGES: readonly Language[] = [JAVASCRIPT, PYTHON, GO, RUST]

/** The language of a file that plants can change; null for others. */
export function languageOf(path: string): Language | null {
  return LANGUAGES.find(({ names }) => names.test(path)) ?? null
}

const OTHER_CODE = /\.(?:rb|php|java|kts?|swift|cs|c|cc|cpp|h|hpp|ex|exs|scala|dart|lua|pl|vue|svelte)$/
/** Whether people write this file as code, or as a test. */
export function isWritten(path: string): boolean {
  return (
    !/\.d\.ts$|(?:^|\/)(?:node_modules|vendor|dist|build)\//.test(path) &&
    (languageOf(path) !== null || OTHER_CODE.test(path))
  )
}
