// Sets marks in the text of a document: a box, a value, or the words of a line. All other bytes stay.
import { parseDocument } from 'yaml'
import { frontMatterOf } from '../open-document.ts'
import type { Mark } from '../types.ts'
import { scalarAt } from '../yaml-scalar.ts'

/** Replaces the text between two offsets of the original text. */
type Edit = { from: number; to: number; words: string }

/** A mark, its story, and the commit for marks that name one. */
export type MarkRequest = { mark: Mark; storyId: string; commit: string | null }

/**
 * The text with the marks; `unset`: marks whose place is gone, or has more than a plain word. A box on a line of `open` does not count
 * as ticked, even if an agent or a person has ticked it.
 */
export function setMarks(
  text: string,
  wanted: readonly MarkRequest[],
  isFrontMatter: boolean,
  open: ReadonlySet<number> = new Set(),
): { text: string; unset: MarkRequest[] } {
  const distinct = withoutDuplicates(wanted)
  const first = distinct.filter(({ mark }) => !('whenAll' in mark))
  const ticked = apply(text, first, isFrontMatter)
  // Marks that depend on others (`whenAll`) come second. Edits never move a line.
  const lines = linesOf(ticked.text)
  const isTicked = (line: number) => !open.has(line) && tickedBox.test(lines[line - 1]?.text ?? '')
  const following = distinct.filter(({ mark }) => 'whenAll' in mark && mark.whenAll?.every(isTicked))
  const all = apply(ticked.text, following, isFrontMatter)
  return { text: all.text, unset: [...ticked.unset, ...all.unset] }
}

/** The current text of a mark: the letter of a box, a value, or the words of a status. Null if its place is gone. */
export function markedText(text: string, mark: Mark, isFrontMatter: boolean): string | null {
  const place = placeOf(text, mark, isFrontMatter)
  return place === null ? null : text.slice(place.from, place.to)
}

/** The text with another text for the mark. */
export function replaceMark(text: string, mark: Mark, words: string, isFrontMatter: boolean): string {
  const place = placeOf(text, mark, isFrontMatter)
  return place === null ? text : text.slice(0, place.from) + words + text.slice(place.to)
}

const anyBox = /^([\s>#*+_\d.)-]*\[)([ xX~/-]?)(?=\])/

function placeOf(text: string, mark: Mark, isFrontMatter: boolean): { from: number; to: number } | null {
  if (mark.kind === 'value') {
    const { at, source } = isFrontMatter ? frontIn(text) : dataIn(text)
    const document = parsed(source)
    const node = document === null ? null : scalarAt(document, mark.at)
    return node === null ? null : { from: at + node.range[0], to: at + node.range[1] }
  }
  const line = linesOf(text)[mark.line - 1]
  if (line === undefined) return null
  if (mark.kind === 'words') return wordsEdit(line, mark.value)?.[0] ?? null
  const [, before, letter = ''] = anyBox.exec(line.text) ?? []
  const from = line.at + (before?.length ?? 0)
  return before === undefined ? null : { from, to: from + letter.length }
}

/** Each mark once, as the stories of a group or of a file share marks. */
function withoutDuplicates(wanted: readonly MarkRequest[]): MarkRequest[] {
  const same = new Map<Mark, MarkRequest>()
  for (const one of wanted) if (!same.has(one.mark)) same.set(one.mark, one)
  const equal = new Map<string, MarkRequest>()
  for (const one of same.values()) {
    const key = JSON.stringify(one.mark)
    if (!equal.has(key)) equal.set(key, one)
  }
  return [...equal.values()]
}

function apply(text: string, wanted: readonly MarkRequest[], isFrontMatter: boolean) {
  const lines = linesOf(text)
  const values = wanted.some(({ mark }) => mark.kind === 'value') ? valuesOf(text, isFrontMatter) : null
  const edits: Edit[] = []
  const unset: MarkRequest[] = []
  for (const one of wanted) {
    const { mark, commit } = one
    const found =
      mark.kind === 'value'
        ? (values?.(mark) ?? null)
        : mark.kind === 'box'
          ? boxEdits(lines[mark.line - 1], mark, commit)
          : wordsEdit(lines[mark.line - 1], mark.value)
    if (found === null) unset.push(one)
    else edits.push(...found)
  }
  // Of two edits of one place the first counts.
  const fromTheEnd = edits
    .toSorted((a, b) => b.from - a.from)
    .filter((edit, index, all) => edit.to <= (all[index - 1]?.from ?? edit.to))
  const changed = fromTheEnd.reduce(
    (now, { from, to, words }) => now.slice(0, from) + words + now.slice(to),
    text,
  )
  return { text: changed, unset }
}

/** A line without its line end; `at`: the offset where it begins. */
type Line = { at: number; text: string }

/** The lines, counted like `OpenDocument` does: with any of the three line ends, and without a byte order mark. */
function linesOf(text: string): Line[] {
  const lines: Line[] = []
  let at = text.startsWith('\ufeff') ? 1 : 0
  for (const line of text.slice(at).split(/(?<=\r\n|\n|\r(?!\n))/)) {
    lines.push({ at, text: line.replace(/[\r\n]+$/, '') })
    at += line.length
  }
  return lines
}

// Bullets, numbers, heading and quotation marks and emphasis may precede the box.
const openBox = /^([\s>#*+_\d.)-]*\[)([ ~/-]?)(?=\])/
const tickedBox = /^[\s>#*+_\d.)-]*\[[xX]\]/

function boxEdits(
  line: Line | undefined,
  { tick, withCommit }: Extract<Mark, { kind: 'box' }>,
  commit: string | null,
): Edit[] | null {
  if (line === undefined) return null
  if (tickedBox.test(line.text)) return []
  const [, before, mark = ''] = openBox.exec(line.text) ?? []
  if (before === undefined) return null
  const from = line.at + before.length
  const edits = [{ from, to: from + mark.length, words: tick ?? 'x' }]
  if (withCommit !== true || commit === null) return edits
  const end = line.at + line.text.trimEnd().length
  return [...edits, { from: end, to: end, words: ` ${commit.slice(0, SHORT_ID)}` }]
}

/** Characters of a commit's id that git shows. */
const SHORT_ID = 7

// `Status: in-progress`, `**Status:** In Progress`, or only the words. A line with more text stays unchanged.
const labelled = /^([\s>*+-]*(?:#{1,6}[ \t]+)?[*_]{0,3}status[*_]{0,3}[ \t]*:[*_]{0,3}[ \t]*)/i
const words = /^([*_`"']{0,3})([A-Za-z]+(?:[ _-][A-Za-z]+){0,3})[*_`"']{0,3}[ \t]*$/

function wordsEdit(line: Line | undefined, value: string): Edit[] | null {
  if (line === undefined) return null
  const label = labelled.exec(line.text)?.[1] ?? /^\s*/.exec(line.text)?.[0] ?? ''
  const [, before = '', old] = words.exec(line.text.slice(label.length)) ?? []
  if (old === undefined) return null
  const from = line.at + label.length + before.length
  const isUpper = /^[A-Z]/.test(old)
  return [
    {
      from,
      to: from + old.length,
      words: isUpper ? value.charAt(0).toUpperCase() + value.slice(1) : value,
    },
  ]
}

/** Text that needs no quotes in YAML. */
const plainWord = /^\p{L}[\p{L}\p{N}]*(?:[ _-][\p{L}\p{N}]+){0,5}$/u

/** A function that returns the edit of a value, with the quotes that it has; null if the file cannot be parsed. */
function valuesOf(text: string, isFrontMatter: boolean) {
  const { at, source } = isFrontMatter ? frontIn(text) : dataIn(text)
  const document = parsed(source)
  if (document === null) return null
  return ({ at: path, value }: Extract<Mark, { kind: 'value' }>): Edit[] | null => {
    const node = scalarAt(document, path)
    if (node === null) return null
    const [from, to] = node.range
    const quote = /^["']/.exec(source.slice(from, to))?.[0] ?? ''
    const isWord = typeof value === 'string' && plainWord.test(value)
    const isSame = typeof node.value === typeof value
    // A value over several lines does not come from a tool, and stays unchanged.
    const isPlain = !/[\r\n]/.test(source.slice(from, to))
    if (!isSame || !isPlain || (typeof value === 'string' && !isWord)) return null
    return [{ from: at + from, to: at + to, words: `${quote}${value}${quote}` }]
  }
}

function parsed(source: string) {
  try {
    const document = parseDocument(source, { prettyErrors: false })
    return document.errors.length > 0 ? null : document
  } catch {
    // Thousands of nested brackets.
    return null
  }
}

function dataIn(text: string): { at: number; source: string } {
  const at = text.startsWith('\ufeff') ? 1 : 0
  return { at, source: text.slice(at) }
}

/** The front matter without its lines of dashes. */
function frontIn(text: string): { at: number; source: string } {
  const { at, source } = dataIn(text)
  const count = frontMatterOf(source.replace(/\r\n?/g, '\n')).split('\n').length - 1
  const lines = linesOf(text)
  const [from, to] = [lines[1]?.at ?? at, lines[count - 1]?.at ?? at]
  return count < 2 ? { at, source: '' } : { at: from, source: text.slice(from, to) }
}
