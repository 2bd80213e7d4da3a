// The one screen of `ralph drill`: how much is stopped, what passes, and which line would stop it.
import type { DrillResult, DrillRow } from '../app/drill/run-drill.ts'
import { terminalText } from '../report/escape.ts'
import { type Look, paint } from '../report/terminal/terminal-line.ts'
import { wrap } from '../report/terminal/width.ts'

type Part = {
  result: DrillRow['result']
  heading: (rows: readonly DrillRow[]) => string
  color: 'green' | 'yellow' | 'red' | 'dim'
}

/** Parts in the order in which a person needs them: what passes is next to the prompt. */
const PARTS: readonly Part[] = [
  {
    result: 'none',
    color: 'dim',
    heading: ({ length }) =>
      `${length} of the kinds of wrong work could not be planted here, so ${length === 1 ? 'it does' : 'they do'} not count:`,
  },
  {
    result: 'stopped',
    color: 'green',
    heading: ({ length }) => `Your gates and settings stop ${length}:`,
  },
  {
    result: 'asked',
    color: 'yellow',
    heading: ({ length }) => `A judge (a model, which can be too lenient) would decide about ${length}:`,
  },
  {
    result: 'reported',
    color: 'yellow',
    heading: ({ length }) => `${length} ${length === 1 ? 'passes' : 'pass'}, but the report has a finding:`,
  },
  {
    result: 'passed',
    color: 'red',
    heading: ({ length }) => `${length} ${length === 1 ? 'passes' : 'pass'} without a finding:`,
  },
]

export function drillLines({ rows, remedies, isCut }: DrillResult, look: Look): string[] {
  const of = (result: DrillRow['result']) => rows.filter((row) => row.result === result)
  const made = rows.length - of('none').length
  const asked = of('asked').length
  const judged = asked === 0 ? '' : ` A judge would decide about ${asked}.`
  const kinds = made === 1 ? 'kind' : 'kinds'
  const head = `Your gates and settings stop ${of('stopped').length} of ${made} ${kinds} of wrong work.${judged}`
  const parts = PARTS.flatMap(({ result, heading, color }) => {
    const some = of(result)
    if (some.length === 0) return []
    return ['', paint(heading(some), ['bold', color], look), ...some.flatMap((row) => rowLines(row, look))]
  })
  const lines = remedies.flatMap(({ line, stops }) => [
    '',
    `With this line in ralph.config.yml, your settings would stop ${stops.length} more:`,
    `  ${line}`,
  ])
  const end = isCut ? ['', 'The drill was interrupted.'] : []
  return [...parts.slice(1), '', paint(head, ['bold'], look), ...lines, ...end]
}

function rowLines({ does, why }: DrillRow, look: Look): string[] {
  const text = terminalText(why === '' ? does : `${does}: ${why}`)
  if (look.plain) return [`  ${text}`]
  return wrap(text, look.width - 2).map((line, index) => `${index === 0 ? '  ' : '    '}${line}`)
}
