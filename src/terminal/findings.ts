// The findings of `ralph doctor` on a terminal: what is well in a line each, what is not with its mend, the verdict last.
import type { Finding, FindingState } from '../model/finding.ts'
import { terminalText } from '../report/escape.ts'
import type { Colour } from '../report/outcomes.ts'
import { FINDING_STATES, isHealthy, verdictOf } from '../report/summaries.ts'
import { type Look, paint } from './line.ts'
import { fit, textWidth, wrap } from './width.ts'

/** What a person has to read stands next to the prompt. */
const ORDER: readonly FindingState[] = ['ok', 'unknown', 'warning', 'fault']
/** Narrower, and names stand above their texts. */
const NARROW = 60
const LONGEST_NAME = 18

/** What is looked at now, on a line that the next word takes away; null takes it away. Nothing in a pipe. */
export function beginning(what: string | null, look: Look): string {
  if (look.plain) return ''
  return `\r\u001b[K${what === null ? '' : paint(fit(terminalText(` … ${what}`), look.width - 1), ['dim'], look)}`
}

export function findingLines(findings: readonly Finding[], look: Look): string[] {
  const sorted = ORDER.flatMap((state) => together(findings.filter((one) => one.state === state)))
  if (look.plain) return [...sorted.map(plainLine), plainVerdict(findings)]
  const names = sorted.map(({ name }) => textWidth(terminalText(name)))
  const column = Math.min(LONGEST_NAME, Math.max(...names, 0))
  const rows = sorted.flatMap((finding) => rowsOf(finding, column, look))
  const { title, text } = verdictOf(findings)
  const { mark, colour } = FINDING_STATES[isHealthy(findings) ? 'ok' : 'fault']
  const [first = '', ...rest] = wrap(text, look.width - title.length - 6)
  const more = rest.map((line) => ' '.repeat(title.length + 5) + line)
  return [...rows, '', ` ${paint(`${mark} ${title}`, ['bold', colour], look)}  ${first}`, ...more]
}

/** What was not looked at for one and the same reason is told once. */
function together(findings: readonly Finding[]): Finding[] {
  return findings.flatMap((one, at) => {
    const isSame = ({ state, found, fix }: Finding) =>
      state === 'unknown' && found === one.found && fix === one.fix
    const same = findings.filter(isSame)
    if (!isSame(one) || same.length < 3) return [one]
    const names = same.map(({ name }) => name).join(', ')
    const all = { ...one, name: `${same.length} checks`, found: `${one.found} (${names})` }
    return findings.findIndex(isSame) === at ? [all] : []
  })
}

function plainLine({ name, state, found, expected, fix }: Finding): string {
  const wanted = expected === '' ? '' : `; expected ${expected}`
  const mend = fix === '' ? '' : `; fix: ${fix}`
  const text = terminalText(`${name}: ${found}${wanted}${mend}`, 2000)
  return `${FINDING_STATES[state].word.padEnd(7)}  ${text}`
}

function plainVerdict(findings: readonly Finding[]): string {
  const { title, text } = verdictOf(findings)
  return `${title}: ${text}`
}

function rowsOf({ name, state, found, expected, fix }: Finding, column: number, look: Look): string[] {
  const { mark, colour } = FINDING_STATES[state]
  const isNarrow = look.width < NARROW
  const label = fit(terminalText(name), isNarrow ? look.width - 3 : column)
  const indent = isNarrow ? 5 : column + 5
  const room = Math.max(20, look.width - indent - 1)
  const isCalm = state === 'ok' || state === 'unknown'
  const parts: [text: string, colours: readonly Colour[]][] = [[found, isCalm ? ['dim'] : []]]
  if (expected !== '') parts.push([`expected ${expected}`, ['dim']])
  if (fix !== '') parts.push([`-> ${fix}`, isCalm ? ['dim'] : ['bold']])
  const lines = parts.flatMap(([text, colours]) =>
    // A row must not begin as a command either.
    wrap(terminalText(text, 1000), room).map((line) => paint(terminalText(line, 1000), colours, look)),
  )
  const head = ` ${paint(mark, ['bold', colour], look)} ${paint(label, isCalm ? [] : ['bold'], look)}`
  const padding = ' '.repeat(Math.max(0, indent))
  const isShort = state === 'ok' && textWidth(label) + textWidth(found) + 6 <= look.width
  if (isNarrow && !isShort) return [head, ...lines.map((line) => padding + line)]
  if (isNarrow) return [`${head}  ${lines.join('')}`]
  const gap = ' '.repeat(Math.max(1, indent - 3 - textWidth(label)))
  return lines.map((line, at) => (at === 0 ? head + gap : padding) + line)
}
