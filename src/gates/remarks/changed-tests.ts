// Remarks for reviewers on what a change does to files of tests. They prove nothing and refuse nothing: whether the code still
// passes the former tests is shown by a second run of the gates (as-it-was.ts).
import { isTestSupport } from './test-files.ts'

/** `before` and `after` are null where there is no such file. */
export type FileChange = { path: string; before: string | null; after: string | null }

/** How a test is skipped, or run alone, in each language. */
const SKIPS = new RegExp(
  [
    String.raw`\b(?:it|test|describe|suite|context|specify|bench|t)(?:\.\w+)*\.(?:skip|only|todo|fails|failing)\b`,
    String.raw`(?<![.\w])(?:x|f)(?:it|test|describe|context|specify)\(`,
    String.raw`\b(?:skip|todo|only): ?(?:true|['"\`])`,
    String.raw`@?pytest\.(?:mark\.)?(?:skip|skipif|xfail|importorskip)\b|@?unittest\.(?:skip\w*|expectedFailure)\b|\bself\.skipTest\(|\bcollect_ignore\b`,
    String.raw`\b[tb]\.Skip(?:f|Now)?\(`,
    String.raw`#\[(?:cfg_attr\([^\]]*)?ignore\b|#\[should_panic\b`,
    String.raw`@(?:Disabled|Ignore|EnabledIf|DisabledIf|EnabledOn|DisabledOn)\w*|\bassume(?:True|False|That)\(`,
  ].join('|'),
  'g',
)
/** Rust keeps unit tests in the files of the code. */
const TESTS_IN_CODE = /\.rs$/

/** Whether the file may hold tests, so that its text is compared. */
export function mayHoldTests(path: string): boolean {
  return isTestSupport(path) || TESTS_IN_CODE.test(path)
}

/** A remark for each file of tests that was removed, that skips more tests than before, or that lost lines. */
export function describeChangedTests(files: readonly FileChange[]): string[] {
  return files.flatMap(({ path, before, after }) => {
    if (before === null || before === after) return []
    const remark =
      after === null
        ? describeRemoval(path)
        : (describeNewSkips(before, after) ?? describeLostLines(path, before, after))
    return remark === null ? [] : [`${path}: ${remark}`]
  })
}

function describeRemoval(path: string): string | null {
  return isTestSupport(path) ? 'the file is gone' : null
}

function describeNewSkips(before: string, after: string): string | null {
  const [old, now] = [skipsIn(before), skipsIn(after)]
  const more = now.length - old.length
  if (more <= 0) return null
  const words = [...new Set(now.filter((one) => !old.includes(one)))].slice(0, 3)
  const listed = words.length === 0 ? '' : ` (${words.join(', ')})`
  return `${more} ${more === 1 ? 'test is' : 'tests are'} skipped or run alone that were not before${listed}`
}

function skipsIn(text: string): string[] {
  return [...text.matchAll(SKIPS)].map(([word]) => word)
}

/** Added lines, blanks, and imports that only name more than before do not count. */
function describeLostLines(path: string, before: string, after: string): string | null {
  if (!isTestSupport(path)) return null
  const old = new Set(linesOf(before))
  const now = linesOf(after)
  const left = new Set(now)
  const imports = now.filter((line) => IMPORT.test(line) && !old.has(line)).map(wordsOf)
  const hasGrown = (line: string) =>
    IMPORT.test(line) && imports.some((words) => includesAll(words, wordsOf(line)))
  const lost = linesOf(before).filter((line) => !left.has(line) && !hasGrown(line)).length
  return lost === 0 ? null : `${lost} ${lost === 1 ? 'line is' : 'lines are'} changed or gone`
}

/** A line that imports names from a module. */
const IMPORT =
  /^(?:import\b|from\s+\S+\s+import\b|(?:pub )?use\s|using\s|(?:const|let|var)\s[^=]*=\s*require\()/

/** Names and quoted modules, sorted. An alias is one word with its name: a name must not change what it stands for. */
function wordsOf(line: string): string[] {
  const aliased = line.replace(/([\w$]+)\s+as\s+([\w$]+)/g, '$1_as_$2')
  return (aliased.match(/'[^']*'|"[^"]*"|[\w.$/:-]+/g) ?? []).sort()
}

function includesAll(words: readonly string[], wanted: readonly string[]): boolean {
  const has = new Set(words)
  return (
    words.filter((word) => word.startsWith("'") || word.startsWith('"')).length <= 1 &&
    wanted.every((word) => has.has(word))
  )
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
