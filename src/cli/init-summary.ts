// The last screen of `ralph init`, at most twelve lines: what was found and made, what is missing, and the next commands.

import { terminalText } from '../report/escape.ts'
import { pluralize } from '../report/figures.ts'
import { type Look, paint } from '../report/terminal/terminal-line.ts'
import { fit } from '../report/terminal/width.ts'
import type { ResolvedAnswers } from '../setup/init/answers.ts'
import type { TrialResults } from './init-try.ts'

export type Summary = {
  /** The paths that were written. */
  written: readonly string[]
  answers: ResolvedAnswers
  tried: TrialResults
  /** The most important one first. */
  missing: readonly string[]
  next: readonly string[]
}

/** The most lines on what is missing. */
const MAX_MISSING = 4
const LABEL_WIDTH = 9

export function summaryLines({ written, answers, tried, missing, next }: Summary, look: Look): string[] {
  const { inputs } = answers
  const { project, isEmpty } = tried.found
  const kind = isEmpty
    ? 'no code yet'
    : project.languages.join(', ') || 'a project of a kind that Ralph does not know'
  const more = missing.length - MAX_MISSING
  const listed = missing.slice(0, more > 0 ? MAX_MISSING - 1 : MAX_MISSING)
  const rest = more > 0 ? [`and ${missing.length - listed.length} more: see the warnings above`] : []
  const rows: [label: string, lines: readonly string[]][] = [
    ['Found', [`${kind}; agent ${inputs.agent}`]],
    ['Gates', [describeGates(inputs.gates, tried)]],
    [
      'Files',
      [written.length === 0 ? 'all there, none written' : `${pluralize(written.length, 'file')} written`],
    ],
    ['Missing', missing.length === 0 ? ['nothing'] : [...listed, ...rest]],
    ['Next', next],
  ]
  const head = missing.length === 0 ? 'Ralph is set up.' : 'Ralph is set up, but for what is missing.'
  const lines = rows.flatMap(([label, texts]) =>
    texts.map((text, index) => {
      const start = paint((index === 0 ? label : '').padEnd(LABEL_WIDTH), ['bold'], look)
      // Commands are never cut, because people copy them.
      const isWhole = label === 'Next' || look.plain
      return `${start}${isWhole ? text : fit(terminalText(text), look.width - LABEL_WIDTH)}`
    }),
  )
  return [paint(head, ['bold', missing.length === 0 ? 'green' : 'yellow'], look), ...lines]
}

/** `test, lint (green here); e2e (not tried)`. */
function describeGates(gates: unknown, { trials }: TrialResults): string {
  if (typeof gates !== 'object' || gates === null) return 'none'
  const states = new Map(trials.map(({ name, state }) => [name, state]))
  const names = Object.keys(gates)
  const green = names.filter((name) => states.get(name) === 'green')
  const others = names.filter((name) => states.get(name) !== 'green')
  const parts = [
    ...(green.length > 0 ? [`${green.join(', ')} (green here)`] : []),
    ...(others.length > 0 ? [`${others.join(', ')} (not tried: \`ralph doctor\` runs them)`] : []),
  ]
  return parts.join('; ')
}
