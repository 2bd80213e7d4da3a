// Fills prompt templates in one pass, and checks them before a run. Pure.
//
// The value of a variable is data: variables in it are never filled.

import type { Mistake } from '../../system/errors.ts'
import { nearest } from '../../system/nearest.ts'
import { describeValue } from '../model/text.ts'
import { type Mode, spellingsOf, type VariableName, variableOf } from './variables.ts'

/** A piece of a prompt. `name`: the variable that it comes from, or `template` for the template's own text. */
export type PromptPart = { name: VariableName | 'template'; text: string }

type Tag =
  | { kind: 'text'; text: string }
  | { kind: 'value'; name: VariableName }
  | { kind: 'open'; name: VariableName | null }
  | { kind: 'close' }
  /** Text that stays unchanged. */
  | { kind: 'unknown'; text: string }
type Token = Tag & { raw: string; line: number }

const TAG = new RegExp(
  [
    String.raw`\$\{\{[^\n]*?\}\}`, // an expression of a workflow, never a variable
    // Handlebars syntax in ralph-tui's templates: a comment, and an unescaped value. Here no value is escaped.
    String.raw`\\?\{\{!--[\s\S]*?--\}\}`,
    String.raw`\\?\{\{\{[^{}\n]*\}\}\}`,
    String.raw`\\?\{\{[^{}\n]*\}\}`,
    String.raw`\\?\$\{[A-Z][A-Z0-9_]*\}`,
  ].join('|'),
  'g',
)
const BLOCK = /^\{\{[#/]/
/** Tags that are removed together with their line, if they are alone on it. */
const REMOVED_WITH_LINE = /^\{\{[#/!]/
const BLANK_END = /[ \t]*(?:\n|$)/y

/** Fills a template of this mode; unknown variables stay as they are written. */
export function fill(template: string, mode: Mode, values: Values): PromptPart[] {
  const parts: PromptPart[] = []
  const add = (name: PromptPart['name'], text: string) => {
    const last = parts.at(-1)
    if (last?.name === name && name === 'template') last.text += text
    else if (text !== '') parts.push({ name, text })
  }
  const textFor = (name: VariableName): string => {
    const value = values[name] ?? ''
    return typeof value === 'function' ? value() : value
  }
  /** For each open block, whether its variable has a value. */
  const open: boolean[] = []
  for (const token of tokensOf(template, mode)) {
    const isShown = open.every((holds) => holds)
    if (token.kind === 'open') open.push(token.name !== null && textFor(token.name).trim() !== '')
    else if (token.kind === 'close') open.pop()
    else if (isShown && token.kind === 'value') add(token.name, textFor(token.name))
    else if (isShown && token.kind !== 'value') add('template', token.text)
  }
  return parts
}

/** Values by name; a function is called only if its variable is used. */
type Values = Readonly<Partial<Record<VariableName, string | (() => string)>>>

export function textOf(parts: readonly PromptPart[]): string {
  return parts.map(({ text }) => text).join('')
}

/** The variables that a template names. */
export function variablesIn(template: string, mode: Mode): Set<VariableName> {
  return new Set(tokensOf(template, mode).flatMap((token) => (token.kind === 'value' ? [token.name] : [])))
}

/** The maximum number of UTF-16 units of a template, because it is part of every prompt. */
const MAX_LENGTH = 64 * 1024

/** The mistakes in a template; `path`: of its file. */
export function checkTemplate(path: string, template: string, mode: Mode): Mistake[] {
  if (template.length > MAX_LENGTH) {
    const found = `${template.length} characters`
    const fix =
      'shorten the template, because it is in every prompt. Instead, name files that the agent can read'
    return [{ path, found, expected: `at most ${MAX_LENGTH}`, fix }]
  }
  const mistakes: Mistake[] = []
  const open: Token[] = []
  for (const token of tokensOf(template, mode)) {
    const at = { path: `${path}:${token.line}`, found: describeValue(token.raw) }
    const isUnknown = token.kind === 'unknown' && token.raw.startsWith('{{')
    if (isUnknown || (token.kind === 'open' && token.name === null))
      mistakes.push({ ...at, ...unknownTag(token.raw, mode) })
    if (token.kind === 'open') open.push(token)
    else if (token.kind === 'close' && open.pop() === undefined)
      mistakes.push({
        ...at,
        expected: 'a block that is open',
        fix: 'remove it, or begin the block with {{#if ...}}',
      })
  }
  for (const { raw, line } of open)
    mistakes.push({
      path: `${path}:${line}`,
      found: `${describeValue(raw)} without an end`,
      expected: 'a closed block',
      fix: 'write {{/if}} where it ends',
    })
  return mistakes
}

function unknownTag(raw: string, mode: Mode): Pick<Mistake, 'expected' | 'fix'> {
  const text = `\\${raw.length > 60 ? '{{...}}' : raw} if you mean the text itself`
  if (BLOCK.test(raw) && !raw.startsWith('{{#if '))
    return { expected: 'a variable, or {{#if ...}}', fix: `write it without a block, or ${text}` }
  const near = nearest(nameIn(raw), spellingsOf(mode, 'braces'))
  return {
    expected: `a variable of ${mode}.md`,
    fix:
      near === null
        ? `use one of the variables in docs/prompts.md, or write ${text}`
        : `write {{${near}}}, or ${text}`,
  }
}

/** The name in `{{#if name}}`, `{{{name}}}` or `{{ name }}`. */
function nameIn(raw: string): string {
  return raw.replace(/^\{+\s*(?:#\w+\s+)?|\s*\}+$/g, '')
}

function tokensOf(template: string, mode: Mode): Token[] {
  const text = template.replace(/\r\n?/g, '\n')
  const tokens: Token[] = []
  let [at, line, counted] = [0, 1, 0]
  const lineAt = (index: number) => {
    for (; counted < index; counted += 1) if (text[counted] === '\n') line += 1
    return line
  }
  const add = (tag: Tag, raw: string, index: number) => tokens.push({ ...tag, raw, line: lineAt(index) })
  for (const { 0: raw, index } of text.matchAll(TAG)) {
    const before = text.slice(at, index)
    const end = index + raw.length
    const nextLine = REMOVED_WITH_LINE.test(raw) ? endOfLine(text, at, index, end) : null
    const textBefore = nextLine === null ? before : before.replace(/[ \t]*$/, '')
    if (textBefore !== '') add({ kind: 'text', text: textBefore }, textBefore, at)
    add(tagOf(raw, mode), raw, index)
    at = nextLine ?? end
  }
  if (at < text.length) add({ kind: 'text', text: text.slice(at) }, text.slice(at), at)
  return tokens
}

/** The start of the next line if a tag is the only text on its line, else null. `from`: the start of the text before the tag. */
function endOfLine(text: string, from: number, start: number, end: number): number | null {
  const lineStart = start === 0 ? 0 : text.lastIndexOf('\n', start - 1) + 1
  if (lineStart < from || !/^[ \t]*$/.test(text.slice(lineStart, start))) return null
  BLANK_END.lastIndex = end
  return BLANK_END.test(text) ? BLANK_END.lastIndex : null
}

function tagOf(raw: string, mode: Mode): Tag {
  const find = (written: string, spelling: 'braces' | 'dollar') => variableOf(written, mode, spelling)
  if (raw.startsWith('${{')) return { kind: 'text', text: raw }
  if (raw.startsWith('{{!')) return { kind: 'text', text: '' }
  if (raw.startsWith('\\{')) return { kind: 'text', text: raw.slice(1) }
  if (raw.startsWith('\\$')) {
    const isVariable = find(raw.slice(3, -1), 'dollar') !== null
    return { kind: 'text', text: isVariable ? raw.slice(1) : raw }
  }
  const isDollar = raw.startsWith('$')
  if (/^\{\{\s*\/if\s*\}\}$/.test(raw)) return { kind: 'close' }
  if (raw.startsWith('{{#if ')) return { kind: 'open', name: find(nameIn(raw), 'braces') }
  const name = isDollar ? find(raw.slice(2, -1), 'dollar') : find(nameIn(raw), 'braces')
  return name === null || BLOCK.test(raw) ? { kind: 'unknown', text: raw } : { kind: 'value', name }
}
