// What a change does to files of tests, in words for the people who review it. It is no proof, and stops nothing: whether the code
// still does what the tests asked is what the gates are run once more for, with the tests as they were.
import { isTestSupport } from './test-files.ts'

/** `before` and `after` are null where there is no such file. */
export type FileChange = { path: string; before: string | null; after: string | null }

/** How tests are skipped, or left to run alone, by language. */
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
/** Rust has its tests beside the code. */
const BESIDE = /\.rs$/

/** Whether the text of the file is looked at. */
export function isTestToRead(path: string): boolean {
  return isTestSupport(path) || BESIDE.test(path)
}

/** A line for each file of tests that is gone, that skips more than before, or from which something was taken away. */
export function changedTests(files: readonly FileChange[]): string[] {
  return files.flatMap(({ path, before, after }) => {
    if (before === null || before === after) return []
    const happened = after === null ? gone(path) : (moreSkips(before, after) ?? lessOf(path, before, after))
    return happened === null ? [] : [`${path}: ${happened}`]
  })
}

function gone(path: string): string | null {
  return isTestSupport(path) ? 'the file is gone' : null
}

function moreSkips(before: string, after: string): string | null {
  const [old, now] = [skipsIn(before), skipsIn(after)]
  const more = now.length - old.length
  if (more <= 0) return null
  const words = [...new Set(now.filter((one) => !old.includes(one)))].slice(0, 3)
  const said = words.length === 0 ? '' : ` (${words.join(', ')})`
  return `${more} ${more === 1 ? 'test is' : 'tests are'} skipped or run alone that were not before${said}`
}

function skipsIn(text: string): string[] {
  return [...text.matchAll(SKIPS)].map(([word]) => word)
}

/** Lines that are added are no finding; nor are blanks. */
function lessOf(path: string, before: string, after: string): string | null {
  if (!isTestSupport(path)) return null
  const left = new Set(linesOf(after))
  const lost = linesOf(before).filter((line) => !left.has(line)).length
  return lost === 0 ? null : `${lost} ${lost === 1 ? 'line is' : 'lines are'} changed or gone`
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
