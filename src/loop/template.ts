// Prompt templates: what a person wrote is read once, filled in one pass, and checked before a run. Pure.
//
// What fills a variable is data: it is never read for variables again, whatever stands in it.
import { shown } from '../model/text.ts'
import type { Mistake } from '../system/errors.ts'
import { nearest } from '../system/nearest.ts'
import { MODES, type Mode, type VariableName, variableOf, writtenIn } from './variables.ts'

/** A piece of a prompt: `template` for what the template itself says, else the variable's name. */
export type Part = { name: VariableName | 'template'; text: string }

type Tag =
  | { kind: 'text'; text: string }
  | { kind: 'value'; name: VariableName }
  | { kind: 'open'; name: VariableName | null; isNot: boolean }
  | { kind: 'else' | 'close' }
  /** Stays as it is written. */
  | { kind: 'unknown'; written: string }
type Token = Tag & { raw: string; line: number }

const TAG = new RegExp(
  [
    String.raw`\$\{\{[^\n]*?\}\}`, // an expression of a workflow: never ours
    String.raw`\\?\{\{!--[\s\S]*?--\}\}`,
    String.raw`\\?\{\{\{[^{}\n]*\}\}\}`,
    String.raw`\\?\{\{[^{}\n]*\}\}`,
    String.raw`\\?\$\{[A-Z][A-Z0-9_]*\}`,
  ].join('|'),
  'g',
)
/** Blocks and comments that have a line to themselves leave none behind. */
const ALONE = /^\{\{(?:[#/!]|\s*else\s*\}\})/
const BLANK_END = /[ \t]*(?:\n|$)/y

/** Fills a template of this mode; what is not known in it stays as it is written. */
export function fill(template: string, mode: Mode, values: Values): Part[] {
  const parts: Part[] = []
  const add = (name: Part['name'], text: string) => {
    const last = parts.at(-1)
    if (last?.name === name && name === 'template') last.text += text
    else if (text !== '') parts.push({ name, text })
  }
  const textFor = (name: VariableName): string => {
    const value = values[name] ?? ''
    return typeof value === 'function' ? value() : value
  }
  /** For each open block whether it is shown, and whether its condition holds. */
  const open: { isShown: boolean; holds: boolean }[] = []
  for (const token of tokensOf(template, mode)) {
    const isShown = open.every((block) => block.isShown)
    const inner = open.at(-1)
    switch (token.kind) {
      case 'open': {
        const holds = (token.name !== null && textFor(token.name).trim() !== '') !== token.isNot
        open.push({ isShown: holds, holds })
        break
      }
      case 'else':
        if (inner !== undefined) inner.isShown = !inner.holds
        break
      case 'close':
        open.pop()
        break
      case 'value':
        if (isShown) add(token.name, textFor(token.name))
        break
      default:
        if (isShown) add('template', token.kind === 'text' ? token.text : token.written)
    }
  }
  return parts
}

/** By name; a text that is seldom asked for is made when it is. */
type Values = Readonly<Partial<Record<VariableName, string | (() => string)>>>

export function textOf(parts: readonly Part[]): string {
  return parts.map(({ text }) => text).join('')
}

/** The variables that a template names. */
export function namedIn(template: string, mode: Mode): Set<VariableName> {
  return new Set(tokensOf(template, mode).flatMap((token) => (token.kind === 'value' ? [token.name] : [])))
}

/** UTF-16 units of a template: it goes into every prompt. */
const LONGEST = 64 * 1024

/** Something that is allowed and seldom meant, and what to do about it: half a sentence each. */
export type Remark = { found: string; fix: string }

/** What is wrong with a template, and what may be. `path` is where it stands. */
export function checkTemplate(
  path: string,
  template: string,
  mode: Mode,
): { mistakes: Mistake[]; warnings: Remark[] } {
  if (template.length > LONGEST) {
    const found = `${template.length} characters`
    const fix = 'shorten it: it goes into every prompt; name files that the agent can read'
    return { mistakes: [{ path, found, expected: `at most ${LONGEST}`, fix }], warnings: [] }
  }
  const mistakes: Mistake[] = []
  const warnings: Remark[] = []
  const open: Token[] = []
  for (const token of tokensOf(template, mode)) {
    const at = { path: `${path}:${token.line}`, found: shown(token.raw) }
    if (token.kind === 'open') {
      open.push(token)
      if (token.name === null) mistakes.push({ ...at, ...unknown(token.raw, mode) })
    } else if (token.kind === 'close' || token.kind === 'else') {
      const fix = 'remove it, or begin the block with {{#if ...}}'
      if (open.length === 0) mistakes.push({ ...at, expected: 'a block that is open', fix })
      if (token.kind === 'close') open.pop()
    } else if (token.kind === 'unknown' && token.raw.startsWith('{{'))
      mistakes.push({ ...at, ...unknown(token.raw, mode) })
    else if (token.kind === 'unknown')
      warnings.push(...unknownDollar(`${path}:${token.line}`, token.raw, mode))
  }
  for (const { raw, line } of open)
    mistakes.push({
      path: `${path}:${line}`,
      found: `${shown(raw)} without an end`,
      expected: 'a closed block',
      fix: 'write {{/if}} where it ends',
    })
  return { mistakes, warnings }
}

function unknown(raw: string, mode: Mode): Pick<Mistake, 'expected' | 'fix'> {
  const block = /^\{\{[#^/>&~]\s*\w*/.exec(raw)?.[0] ?? null
  const name = nameIn(raw)
  if (block !== null && !/^\{\{#(?:if|unless)$/.test(block))
    return {
      expected: 'a variable, {{#if ...}}, {{#unless ...}} or {{else}}',
      fix: `write it without a block, or \\${short(raw)} where the text itself is meant`,
    }
  const elsewhere = MODES.filter((one) => variableOf(name, one, 'braces') !== null)
  if (elsewhere.length > 0)
    return {
      expected: `a variable of ${mode}.md`,
      fix: `remove it: ${name} is known in ${elsewhere.map((one) => `${one}.md`).join(', ')} alone`,
    }
  const near = nearest(name, writtenIn(mode, 'braces'))
  const text = `\\${short(raw)} where the text itself is meant`
  return {
    expected: `a variable of ${mode}.md`,
    fix: near === null ? `name one of docs/prompts.md, or write ${text}` : `write {{${near}}}, or ${text}`,
  }
}

function short(raw: string): string {
  return raw.length > 60 ? '{{...}}' : raw
}

/** Of the agent's environment, and of a workflow's: left to the shell on purpose. */
const ENVIRONMENT = /^\$\{(?:RALPH|GITHUB|RUNNER)_/

/** Templates may hold shell code: only what looks like another tool's variable is worth a word. */
function unknownDollar(place: string, raw: string, mode: Mode): Remark[] {
  const name = raw.slice(2, -1)
  if (!name.includes('_') || ENVIRONMENT.test(raw)) return []
  const near = nearest(name, writtenIn(mode, 'dollar'))
  const found = `${place}: \${${name}} is no variable of ${mode}.md and stays as it is written`
  return [
    { found, fix: near === null ? 'name one of docs/prompts.md, or let it be' : `did you mean \${${near}}?` },
  ]
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
    if (index < at) continue
    const before = text.slice(at, index)
    const end = index + raw.length
    const alone = ALONE.test(raw) ? endOfLine(text, at, index, end) : null
    const said = alone === null ? before : before.replace(/[ \t]*$/, '')
    if (said !== '') add({ kind: 'text', text: said }, said, at)
    const tag = tagOf(raw, mode)
    if (tag !== null) add(tag, raw, index)
    at = alone ?? end
  }
  if (at < text.length) add({ kind: 'text', text: text.slice(at) }, text.slice(at), at)
  return tokens
}

/** Where the next line begins, for a tag that has its line to itself; null otherwise. `from` is where the text before it begins. */
function endOfLine(text: string, from: number, start: number, end: number): number | null {
  const lineStart = start === 0 ? 0 : text.lastIndexOf('\n', start - 1) + 1
  if (lineStart < from || !/^[ \t]*$/.test(text.slice(lineStart, start))) return null
  BLANK_END.lastIndex = end
  return BLANK_END.test(text) ? BLANK_END.lastIndex : null
}

/** Null for a comment. */
function tagOf(raw: string, mode: Mode): Tag | null {
  if (raw.startsWith('${{')) return { kind: 'text', text: raw }
  const known = (written: string, spelling: 'braces' | 'dollar') => variableOf(written, mode, spelling)
  if (raw.startsWith('\\{')) return { kind: 'text', text: raw.slice(1) }
  if (raw.startsWith('\\$')) {
    const isOurs = known(raw.slice(3, -1), 'dollar') !== null
    return { kind: 'text', text: isOurs ? raw.slice(1) : raw }
  }
  if (raw.startsWith('$')) {
    const name = known(raw.slice(2, -1), 'dollar')
    return name === null ? { kind: 'unknown', written: raw } : { kind: 'value', name }
  }
  if (raw.startsWith('{{!')) return null
  const block = /^\{\{\s*#(if|unless)\s+(\S+)\s*\}\}$/.exec(raw)
  if (block !== null)
    return { kind: 'open', name: known(block[2] ?? '', 'braces'), isNot: block[1] === 'unless' }
  if (/^\{\{\s*else\s*\}\}$/.test(raw)) return { kind: 'else' }
  if (/^\{\{\s*\/(?:if|unless)\s*\}\}$/.test(raw)) return { kind: 'close' }
  const name = known(nameIn(raw), 'braces')
  return name === null ? { kind: 'unknown', written: raw } : { kind: 'value', name }
}
