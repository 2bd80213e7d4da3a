// The last screen of `ralph init`, in at most ten lines. It shows the written files, the gates that are green or left out, what is missing,
// and the next commands.

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

/** The maximum number of lines on what is missing. */
const MAX_MISSING = 3
const LABEL_WIDTH = 11

export function summaryLines({ written, answers, tried, missing, next }: Summary, look: Look): string[] {
  const { inputs } = answers
  const { project, isEmpty } = tried.found
  const kind = isEmpty ? 'no code yet' : project.languages.join(', ') || 'an unknown kind of project'
  const more = missing.length - MAX_MISSING
  const listed = missing.slice(0, more > 0 ? MAX_MISSING - 1 : MAX_MISSING)
  const rest = more > 0 ? [`and ${missing.length - listed.length} more: see the warnings above`] : []
  const rows: [label: string, lines: readonly string[]][] = [
    ['Written', [`${writtenText(written)} (${kind}, agent ${inputs.agent})`]],
    ...gateRows(inputs.gates, tried),
    ['Missing', missing.length === 0 ? ['nothing'] : [...listed, ...rest]],
    ['Next', next],
  ]
  const head = missing.length === 0 ? 'Ralph is set up.' : 'Ralph is set up, but something is missing.'
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

function writtenText(written: readonly string[]): string {
  return written.length === 0 ? 'nothing: every file is already there' : pluralize(written.length, 'file')
}

/** Which gates are green, which could not be judged and why, and which are left out and why. */
function gateRows(
  gates: unknown,
  { trials, leftOut, redTests = [] }: TrialResults,
): [label: string, lines: string[]][] {
  const names = typeof gates === 'object' && gates !== null ? Object.keys(gates) : []
  if (names.length === 0) return [['Gates', ['none']]]
  const last = new Map(trials.map((trial) => [trial.name, trial]))
  const isGreen = (name: string) => last.get(name)?.state === 'green'
  const green = names
    .filter((name) => isGreen(name) && !redTests.some((one) => one.name === name && !one.isLeftOut))
    .map((name) => {
      const tests = last.get(name)?.tests
      const red = redTests.find((one) => one.name === name)
      const without = red?.isLeftOut === true ? `; ${red.tests.length} failing left out` : ''
      return tests == null ? name : `${name} (${pluralize(tests.passed + tests.failed, 'test')}${without})`
    })
  const mayFail = redTests.filter(({ isLeftOut }) => !isLeftOut)
  const known = mayFail.map(
    ({ name, tests }) => `${name} (${pluralize(tests.length, 'test')}: ${tests.join(', ')})`,
  )
  const others = names.filter((name) => !isGreen(name) && !mayFail.some((one) => one.name === name))
  const [ended] = others.flatMap((name) => last.get(name)?.ended ?? [])
  const why = ended === undefined ? '`ralph doctor` runs them' : ended
  const out = leftOut.map(({ name, ended: end, line }) => `${name} (${end}${line === '' ? '' : `: ${line}`})`)
  const rows: [string, string[]][] = [
    ['Green', green.length === 0 ? [] : [green.join(', ')]],
    ['May fail', known.length === 0 ? [] : [`${known.join('; ')}; baseline: known-red`]],
    ['Not tried', others.length === 0 ? [] : [`${others.join(', ')} (${why})`]],
    ['Left out', out.length === 0 ? [] : [out.join('; ')]],
  ]
  return rows.filter(([, lines]) => lines.length > 0)
}
