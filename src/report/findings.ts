// What a look at an installation found, in a verdict and as a job's summary. Pure.
import type { Finding, FindingState } from '../model/finding.ts'
import { type Columns, folded, section, stacked, table } from './blocks.ts'
import { markdownText } from './escape.ts'
import type { Colour } from './outcomes.ts'
import { many } from './words.ts'

type StateRow = { sign: string; mark: string; word: string; colour: Colour }

/** In the order of a summary: what needs a person comes first. */
export const FINDING_STATES: Readonly<Record<FindingState, StateRow>> = {
  fault: { sign: '❌', mark: '✘', word: 'fault', colour: 'red' },
  warning: { sign: '⚠️', mark: '!', word: 'warning', colour: 'yellow' },
  unknown: { sign: '❔', mark: '?', word: 'unknown', colour: 'dim' },
  ok: { sign: '✅', mark: '✔', word: 'ok', colour: 'green' },
}

export function isHealthy(findings: readonly Finding[]): boolean {
  return !findings.some(({ state }) => state === 'fault')
}

/** `title` is the answer, `text` how it came to it. */
export function verdictOf(findings: readonly Finding[]): { title: string; text: string } {
  const count = (state: FindingState) => findings.filter((one) => one.state === state).length
  const counted = [
    count('fault') === 0 ? '' : many(count('fault'), 'fault'),
    count('warning') === 0 ? '' : many(count('warning'), 'warning'),
    count('unknown') === 0 ? '' : `${count('unknown')} not known`,
    `${count('ok')} fine`,
  ]
  const text = counted.filter((one) => one !== '').join(', ')
  return { title: isHealthy(findings) ? 'READY' : 'NOT READY', text }
}

const MENDS: Columns<Finding> = [
  ['', ':-:', ({ state }) => FINDING_STATES[state].sign],
  ['Check', ':--', ({ name }) => markdownText(name)],
  ['Found', ':--', ({ found }) => markdownText(found, 600)],
  ['Expected', ':--', ({ expected }) => markdownText(expected, 300)],
  ['Mend', ':--', ({ fix }) => markdownText(fix, 600)],
]
const FINE: Columns<Finding> = MENDS.slice(0, 3)

/** The summary of `command: doctor`. */
export function findingsSummary(findings: readonly Finding[]): string {
  const { title, text } = verdictOf(findings)
  const sign = FINDING_STATES[isHealthy(findings) ? 'ok' : 'fault'].sign
  const inState = (...states: FindingState[]) =>
    states.flatMap((state) => findings.filter((one) => one.state === state))
  const fine = inState('ok')
  return stacked([
    `## ${sign} ralph doctor: ${title.toLowerCase()} (${text})`,
    table(MENDS, inState('fault', 'warning')),
    section('Could not be looked at', table(MENDS, inState('unknown'))),
    folded(`${fine.length} fine`, table(FINE, fine)),
  ])
}
