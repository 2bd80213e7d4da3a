// The findings of `ralph doctor` on a terminal: one line for what is in order, the fix for what is not, and the verdict last.
import type { Finding, FindingState } from '../../engine/model/finding.ts'
import { terminalText } from '../escape.ts'
import type { Colour } from '../outcomes.ts'
import { doctorVerdict, FINDING_STATES } from '../summaries.ts'
import { type Look, paint } from './terminal-line.ts'
import { fit, pad, textWidth, wrap } from './width.ts'

/** What a person has to read comes last, next to the prompt. */
const ORDER: readonly FindingState[] = ['ok', 'unknown', 'warning', 'fault']
const MAX_NAME_LENGTH = 18

/** The current check, on a line that the next output overwrites; null erases it. Nothing in a pipe. */
export function formatCurrentCheck(what: string | null, look: Look): string {
  if (look.plain) return ''
  return `\r\u001b[K${what === null ? '' : paint(fit(terminalText(` … ${what}`), look.width - 1), ['dim'], look)}`
}

export function doctorLines(findings: readonly Finding[], look: Look): string[] {
  return [...findingRows(findings, look), ...verdict(findings, look)]
}

function findingRows(findings: readonly Finding[], look: Look): string[] {
  const sorted = ORDER.flatMap((state) => findings.filter((one) => one.state === state))
  if (look.plain) return sorted.map(plainLine)
  const names = sorted.map(({ name }) => textWidth(terminalText(name)))
  const column = Math.min(MAX_NAME_LENGTH, Math.floor(look.width / 4), Math.max(...names, 0))
  return sorted.flatMap((finding) => findingLines(finding, column, look))
}

/** One finding, shown as soon as it is known. */
export function doctorRow(finding: Finding, look: Look): string[] {
  if (look.plain) return [plainLine(finding)]
  return findingLines(finding, Math.min(MAX_NAME_LENGTH, Math.floor(look.width / 4)), look)
}

/** Whether the row waits for the end: on a terminal, a person reads faults and warnings once, next to the prompt. */
export function isHeldBack({ state }: Finding, look: Look): boolean {
  return !look.plain && (state === 'fault' || state === 'warning')
}

/** The rows that were held back, this machine's first and CI's below them, and the verdict. `isOfCi`: by the name of a finding. */
export function closingRows(
  findings: readonly Finding[],
  isOfCi: (name: string) => boolean,
  look: Look,
): string[] {
  const held = findings.filter((finding) => isHeldBack(finding, look))
  const here = held.filter(({ name }) => !isOfCi(name))
  const inCi = held.filter(({ name }) => isOfCi(name))
  return [
    ...(here.length > 0 ? ['', ...findingRows(here, look)] : []),
    ...(inCi.length > 0 ? ['', CI_HEADING, ...findingRows(inCi, look)] : []),
    ...verdict(findings, look, isOfCi),
  ]
}

export const CI_HEADING = 'In CI:'

function verdict(findings: readonly Finding[], look: Look, isOfCi?: (name: string) => boolean): string[] {
  const { title, text } = doctorVerdict(findings, isOfCi)
  if (look.plain) return [`${title}: ${text}`]
  const { mark, colour } = FINDING_STATES[title === 'READY' ? 'ok' : 'fault']
  const head = paint(`${mark} ${title}`, ['bold', colour], look)
  return ['', ...hangLines(` ${head}  `, wrap(text, look.width - title.length - 6), title.length + 5)]
}

function plainLine({ name, state, found, expected, fix }: Finding): string {
  const expectation = expected === '' ? '' : `; expected ${expected}`
  const remedy = fix === '' ? '' : `; fix: ${fix}`
  // Its own sentence gives up its full stop in a line of several parts.
  const text = terminalText(`${name}: ${found.replace(/(?<!\.)\.$/, '')}${expectation}${remedy}`, 2000)
  return `${FINDING_STATES[state].word.padEnd(7)}  ${text}`
}

function findingLines({ name, state, found, expected, fix }: Finding, column: number, look: Look): string[] {
  const { mark, colour } = FINDING_STATES[state]
  const isCalm = state === 'ok' || state === 'unknown'
  const parts: [text: string, colours: readonly Colour[]][] = [[found, isCalm ? ['dim'] : []]]
  if (expected !== '') parts.push([`expected ${expected}`, ['dim']])
  if (fix !== '') parts.push([`-> ${fix}`, isCalm ? ['dim'] : ['bold']])
  const lines = parts.flatMap(([text, colours]) =>
    // Again for each row: a row must not begin with a workflow command either.
    wrap(terminalText(text, 1000), look.width - column - 6).map((line) =>
      paint(terminalText(line, 1000), colours, look),
    ),
  )
  const label = paint(pad(terminalText(name), column), isCalm ? [] : ['bold'], look)
  return hangLines(` ${paint(mark, ['bold', colour], look)} ${label}  `, lines, column + 5)
}

/** Lines after a head of so many columns; further lines are indented below the first. */
function hangLines(head: string, lines: readonly string[], columns: number): string[] {
  return lines.map((line, at) => (at === 0 ? head : ' '.repeat(columns)) + line)
}
