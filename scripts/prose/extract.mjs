// The prose of a TypeScript file: its comments, and the strings that people or agents read. TypeScript's own parser finds both.
import ts from 'typescript'

/** A string of this many words is taken for prose; shorter ones are mostly names, paths and parts of commands. */
const MIN_WORDS = 4

/** @returns {{ kind: 'comments' | 'messages', line: number, text: string }[]} */
export function extract(source, fileName = 'file.ts') {
  const file = ts.createSourceFile(fileName, source, ts.ScriptTarget.Latest, true)
  const lineOf = (at) => file.getLineAndCharacterOfPosition(at).line + 1
  return [...comments(file, source, lineOf), ...messages(file, lineOf)]
}

function comments(file, source, lineOf) {
  const seen = new Map()
  const take = (range) => seen.set(range.pos, range)
  const visit = (node) => {
    for (const range of ts.getLeadingCommentRanges(source, node.getFullStart()) ?? []) take(range)
    for (const range of ts.getTrailingCommentRanges(source, node.getEnd()) ?? []) take(range)
    // Tokens are visited as well: a comment may precede a bracket.
    for (const child of node.getChildren(file)) visit(child)
  }
  visit(file)
  const ranges = [...seen.values()].sort((a, b) => a.pos - b.pos)
  const found = []
  for (const { pos, end, kind } of ranges) {
    const line = lineOf(pos)
    const isLine = kind === ts.SyntaxKind.SingleLineCommentTrivia
    const text = isLine ? source.slice(pos + 2, end).trim() : textOfBlock(source.slice(pos, end))
    if (/^(?:biome-ignore|@ts-|#__)/.test(text)) continue
    const last = found.at(-1)
    // Lines of comment that follow each other are one paragraph.
    if (isLine && last?.until === line - 1) Object.assign(last, { text: `${last.text} ${text}`, until: line })
    else found.push({ kind: 'comments', line, text, until: isLine ? line : -1 })
  }
  return found.map(({ kind, line, text }) => ({ kind, line, text: withoutCode(text) }))
}

function textOfBlock(raw) {
  const lines = raw.slice(2, -2).split('\n')
  return lines
    .map((line) => line.replace(/^\s*\*?\s?/, '').replace(/^@\w+ ?(?:\{[^}]*\})? ?/, '. '))
    .join(' ')
    .replace(/^[.\s]+/, '')
    .trim()
}

function messages(file, lineOf) {
  const found = []
  const visit = (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return
    const text = textOf(node)
    if (text === null) return void ts.forEachChild(node, visit)
    // A template's expressions may hold sentences of their own.
    if (ts.isTemplateExpression(node)) for (const { expression } of node.templateSpans) visit(expression)
    const line = lineOf(node.getStart(file))
    for (const paragraph of text.split('\n'))
      if (isProse(paragraph)) found.push({ kind: 'messages', line, text: withoutCode(paragraph.trim()) })
  }
  visit(file)
  return found
}

/** What a string or a template says, `X` for what is filled in, and strings joined by `+` as one; null: it is neither. */
function textOf(node) {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => `X${literal.text}`).join('')
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return null
  const [left, right] = [textOf(node.left), textOf(node.right)]
  return left === null && right === null ? null : (left ?? 'X') + (right ?? 'X')
}

function isProse(text) {
  if (/[{};]\s*$|^\s*[<$]|=>|^\s*(?:git|npm|curl|bash|const|if|for) /.test(text)) return false
  return (text.match(/(?<!\S)[A-Za-z][a-z'’]*[,.:;]?(?!\S)/g) ?? []).length >= MIN_WORDS
}

/** Code between backticks counts as one word, and links as the words that are shown. */
function withoutCode(text) {
  return text
    .replace(/`[^`]*`/g, 'X')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/https?:\/\/\S+/g, 'X')
}
