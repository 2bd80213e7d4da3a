// The dashboard where there is no terminal: plain lines.
import { terminalText } from '../report/escape.ts'
import { callsWords, type Dashboard } from '../report/monitor.ts'
import { STANDINGS } from '../report/outcomes.ts'
import { humanMs, many } from '../report/words.ts'
import type { Frame } from './dashboard.ts'

/** One line for each thing there is to say. */
export function plainFrame({ dashboards, note }: Pick<Frame, 'dashboards' | 'note'>): string[] {
  return [
    ...dashboards.flatMap((one, at) => [...(at > 0 ? [''] : []), ...plainOf(one)]),
    '',
    terminalText(note, 400),
  ]
}

function plainOf(one: Dashboard): string[] {
  const { status, current, now } = one
  const aside = one.bar.map(([standing, count]) => `${count} ${STANDINGS[standing].word}`).join(', ')
  const of = current?.mostAttempts == null ? '' : ` of ${current.mostAttempts}`
  const rows: [string, string][] = [
    ['Status', `${status.title}, ${one.headline}`],
    ['Next', one.next],
    ...(one.needs === null ? [] : [['Needs', one.needs] as [string, string]]),
    ['Stories', aside],
    ...one.figures,
    ['Calls in the last hour', callsWords(one.calls, now)],
    ['Circuit', one.circuit.text],
    ...(one.outlook === null ? [] : [['Outlook', one.outlook] as [string, string]]),
    ...(current === null
      ? []
      : [
          [
            'Now',
            `${current.id} ${current.title}: attempt ${current.attempt}${of}, ${current.doing}, ${humanMs(current.ms)}`,
          ] as [string, string],
        ]),
    ...one.exits.map(({ name, text }): [string, string] => [`Ends when: ${name}`, text]),
    ...one.timeline
      .slice(0, 3)
      .map(({ iteration, storyId, result, summary }): [string, string] => [
        `Iteration ${iteration}`,
        `${storyId} ${result}: ${summary}`,
      ]),
    ...one.lines.slice(-5).map((line): [string, string] => ['Says', line]),
  ]
  const more =
    one.counts.total > one.stories.length ? ` (of ${many(one.counts.total, 'story', 'stories')})` : ''
  return [
    `=== ${terminalText(one.branch, 200)}${more} ===`,
    ...rows.map(([name, value]) => terminalText(`${name}: ${value}`, 600)),
  ]
}
