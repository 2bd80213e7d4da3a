// Small mistakes for new code, one line each: another operator, constant or result. They are found by the shape of a line and not by
// parsing, so they exist for every language. A mistake that does not compile makes the tests fail, and so counts as noticed.
// Source: A. Groce et al., "An extensible, regular-expression-based tool for multi-language mutant generation", ICSE 2018.
import type { Mutant } from '../../engine/model/mutant.ts'

/** A file of the change. `written`: the numbers of the lines that the change wrote, from 1 on. */
export type WrittenFile = { path: string; text: string; written: readonly number[] }

/** Longer lines are generated code. */
const LONGEST_LINE = 300

/**
 * At most `count` mistakes, spread over the lines that the change wrote. If these are few lines, some get several mistakes, one at a time.
 * By chance, a right test can accept one of them, such as `2 - a` instead of `a - 2` for 2.
 */
export function mutantsOf(files: readonly WrittenFile[], count: number): Mutant[] {
  const found = files.flatMap(mutantsIn)
  const firsts = found.flatMap(([first]) => first ?? [])
  const others = found.flatMap(([, ...rest]) => rest)
  return firsts.length > count ? spread(firsts, count) : [...firsts, ...others].slice(0, count)
}

function spread<T>(all: readonly T[], count: number): T[] {
  const at = (part: number) => Math.floor(((part + 0.5) * all.length) / count)
  return Array.from({ length: count }, (_, part) => all.slice(at(part), at(part) + 1)).flat()
}

/** The mistakes for each written line; lines that allow none are left out. */
export function mutantsIn({ path, text, written }: WrittenFile): Mutant[][] {
  // Written back as UTF-8, a text in another encoding would change in more than one line.
  if (text.includes('\ufffd')) return []
  const lines = text.split('\n')
  return written
    .map((line) => {
      const from = lines[line - 1] ?? ''
      const mistakes = from.length > LONGEST_LINE ? [] : mistakesIn(from, path)
      return mistakes.map((to) => ({ path, line, from, to }))
    })
    .filter((mutants) => mutants.length > 0)
}

/** The text with the mistake; null if its line is not there. */
export function withMutant(text: string, { line, from, to }: Mutant): string | null {
  const lines = text.split('\n')
  if (lines[line - 1] !== from) return null
  return [...lines.slice(0, line - 1), to, ...lines.slice(line)].join('\n')
}

const COMMENT_LINE = /^\s*(?:\/\/|\/\*|\*(?:[\s/*]|$)|#|--\s|;|%|<!--|"""|'''|@)/
const COMMENT_AFTER_CODE = /\s(?:\/\/|#|--)\s.*$/

/** Tokens are between blanks, so that generics, arrows, signs and paths are none. */
const OPERATORS: readonly (readonly [pattern: RegExp, instead: Readonly<Record<string, string>>])[] = [
  [
    /(?<=[\w)\]"'`] )(?:===|!==|==|!=|<=|>=|<|>)(?= [\w([{"'`!-])/,
    { '===': '!==', '!==': '===', '==': '!=', '!=': '==', '<=': '>', '>=': '<', '<': '>=', '>': '<=' },
  ],
  [/(?<=[\w)\]"'`] )[-+*/%](?= [\w(["'`])/, { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*' }],
  [/(?<=[\w)\]] )[-+*]=(?= )/, { '+=': '-=', '-=': '+=', '*=': '/=' }],
  [/(?<= )(?:&&|\|\||and|or)(?= )/, { '&&': '||', '||': '&&', and: 'or', or: 'and' }],
  [/\b(?:true|false|True|False)\b/, { true: 'false', false: 'true', True: 'False', False: 'True' }],
]
const NEGATION = /(?<![\w=!<>])!(?=[\w(])|\bnot (?=\w)/
const INTEGER = /(?<![\w.$#-])\d{1,9}(?![\w.])/
/** A whole result on one line: `return slug(text)`, or the body of an arrow function. */
const RESULT = /(?<=^\s*return )\S.*?(?=;?\s*$)|(?<==> )[^\s{].*?(?=;?\s*$)/
/** What a function gives instead, by file extension: a value that exists in the language, whatever the type of the result. */
const NOTHING: Readonly<Record<string, string>> = {
  ...{ js: 'null', mjs: 'null', cjs: 'null', jsx: 'null', ts: 'null', mts: 'null', cts: 'null', tsx: 'null' },
  ...{
    java: 'null',
    kt: 'null',
    cs: 'null',
    php: 'null',
    dart: 'null',
    py: 'None',
    rb: 'nil',
    ex: 'nil',
    lua: 'nil',
  },
}

/** The line with one mistake, for each kind of mistake that it has a place for. */
function mistakesIn(line: string, path: string): string[] {
  if (COMMENT_LINE.test(line)) return []
  const code = withoutTexts(line)
  const nothing = NOTHING[path.slice(path.lastIndexOf('.') + 1)]
  const kinds: readonly (readonly [pattern: RegExp, instead: (token: string) => string | undefined])[] = [
    ...OPERATORS.map(([pattern, instead]) => [pattern, (token: string) => instead[token]] as const),
    [NEGATION, () => ''],
    [INTEGER, (token) => String(Number(token) + 1)],
    [RESULT, (token) => (token !== nothing && isWhole(token) ? nothing : undefined)],
  ]
  return kinds.flatMap(([pattern, instead]) => {
    const match = pattern.exec(code)
    const by = match === null ? undefined : instead(match[0])
    if (match === null || by === undefined) return []
    return [`${line.slice(0, match.index)}${by}${line.slice(match.index + match[0].length)}`]
  })
}

/** The line with the contents of its texts, and its comment, replaced by as many other characters. */
function withoutTexts(line: string): string {
  const hide = (text: string) => `${text[0]}${'_'.repeat(Math.max(0, text.length - 2))}${text.at(-1)}`
  return line
    .replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/g, hide)
    .replace(COMMENT_AFTER_CODE, (text) => ' '.repeat(text.length))
}

/** Whether the code ends on its line: no bracket stays open, and no operator waits for the next line. */
function isWhole(code: string): boolean {
  const opened = (code.match(/[([{]/g) ?? []).length
  const closed = (code.match(/[)\]}]/g) ?? []).length
  return opened === closed && /[\w)\]}"'`]$/.test(code)
}
