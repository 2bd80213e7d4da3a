// What comment, summary, pull request and checks have in common: each part of a view as markdown.
import { typedOn } from '../loop/command-table.ts'
import type { GateResult } from '../model/gate.ts'
import type { TimelineEntry } from '../model/state.ts'
import { oneLine } from '../model/text.ts'
import { excerpt } from '../system/excerpt.ts'
import {
  type Columns,
  commitLink,
  dotted,
  folded,
  link,
  list,
  stacked,
  table,
  tableHead,
  tableRow,
} from './blocks.ts'
import { bold, code, codeBlock, markdownText } from './escape.ts'
import { forecastWords } from './forecast.ts'
import { OUTCOMES, STANDINGS, type Standing } from './outcomes.ts'
import { inMarkdown } from './sentence.ts'
import type { StoryView, View } from './view.ts'
import {
  costWords,
  hasCost,
  humanMs,
  many,
  NO_COST,
  ofMost,
  testWords,
  tokens,
  tokenWords,
  usd,
  utc,
} from './words.ts'

/** The title of a check has 255 characters, and what puts a mention out of action is one, too. */
const LONGEST_LINE = 240
/** At most this many cells; up to it, a cell is a story. */
const LONGEST_BAR = 20
/** What GitHub said (at most 300) and what to do about it are one note. */
const LONGEST_NOTE = 700
/** A longer table is folded, and what matters now stands before it. */
const LONGEST_TABLE = 25

/** The first line of a text of ours: found again by it and by its author, who must be us. */
export function marker(kind: 'sticky' | 'pull' | 'status' | 'issue' | 'unplanned', feature: string): string {
  return `<!-- ralph:${kind}:${feature.replace(/[^\w.+-]/g, '-')} -->`
}

/** Where the run stands: the first line of the comment and the title of the check, which say the same. Not escaped. */
export function standingLine({ headline: { text } }: View): string {
  return oneLine(text, LONGEST_LINE)
}

/** The same as a heading of the given level. */
export function heading(view: View, level: number): string {
  return `${'#'.repeat(level)} ${view.headline.sign} ${markdownText(standingLine(view))}`
}

/** A bar of coloured cells with the figures behind it. */
export function progressBar({ stories, counts: { passed, total } }: View): string {
  if (total === 0) return ''
  const longest = Math.min(total, LONGEST_BAR)
  const found = counted(stories)
  const cells = Object.entries(STANDINGS).map(([standing, { cell }]) => ({
    cell,
    // Every kind keeps a cell, however few its stories are.
    length: Math.ceil(((found.get(standing) ?? 0) * longest) / total),
  }))
  for (let over = cells.reduce((sum, { length }) => sum + length, 0) - longest; over > 0; over -= 1) {
    const most = cells.reduce((one, other) => (other.length > one.length ? other : one))
    most.length -= 1
  }
  return `${cells.map(({ cell, length }) => cell.repeat(length)).join('')} **${passed}/${total}**`
}

function counted(stories: readonly StoryView[]): Map<string, number> {
  const found = new Map<string, number>()
  for (const { standing } of stories) found.set(standing, (found.get(standing) ?? 0) + 1)
  return found
}

/** What to do next; in a frame where a person is waited for. */
export function nextBlock({ next, outcome, restsUntil }: View): string {
  const sentence = `**Next:** ${inMarkdown(next)}`
  const alert = outcome === null || restsUntil !== null ? null : OUTCOMES[outcome].alert
  return alert === null ? sentence : `> [!${alert}]\n> ${sentence}`
}

/** The blocked stories with the reason and what to type, at most five of them; empty when none is. */
export function blockedList({ stories, outcome, surface }: View): string {
  const blocked = stories.filter(({ standing }) => standing === 'blocked')
  const items = blocked.slice(0, 5).map(({ id, retries, why }) => {
    const after = retries === 0 ? '' : ` after ${many(retries, 'attempt')}`
    const reason = why === '' ? '' : `: ${markdownText(why, 200)}`
    const how = outcome === 'stuck' ? '' : ` → ${code(typedOn(surface, `retry ${id} -- <hint>`))}`
    return `${STANDINGS.blocked.sign} ${storyId(id)} is blocked${after}${reason}${how}`
  })
  const more = many(blocked.length - 5, 'more blocked story', 'more blocked stories')
  return list(blocked.length > 5 ? [...items, `${more}: ${code(typedOn(surface, 'retry all'))}`] : items)
}

export function storyId(id: string): string {
  return bold(markdownText(id, 64))
}

/** Things to tell that are not in the state, at most ten. */
export function notesList({ notes }: View): string {
  return list(
    notes.slice(0, 10).map((note) => {
      const { text, link: where } = typeof note === 'string' ? { text: note, link: null } : note
      const there = where === null ? '' : ` ${link(markdownText(where.name), where.url)}`
      return `ℹ️ ${markdownText(text, LONGEST_NOTE)}${there}`
    }),
  )
}

const SPENDING: Columns<View> = [
  [
    'Cost',
    ':--',
    ({ usage, most }) => (hasCost(usage) ? ofMost(bold(costWords(usage)), most.costUsd, usd) : NO_COST),
  ],
  ['Tokens', ':--', ({ usage, most }) => ofMost(tokenWords(usage), most.tokens, tokens)],
  [
    'Agent time',
    ':--',
    ({ usage, most }) => ofMost(humanMs(usage.agentSeconds * 1000), most.agentMs, humanMs),
  ],
  ['Iterations', ':--', ({ iterations, most }) => ofMost(String(iterations), most.iterations, String)],
  ['Jobs', ':--', ({ jobs, most }) => ofMost(String(jobs), most.jobs, String)],
]

/** Cost, tokens, time, iterations, jobs, and what the rest will cost: probably, and at most. */
export function spending(view: View): string {
  const probably = forecastWords(view.forecast)
  return stacked([
    table(SPENDING, [view]),
    probably === null ? '' : `**Probably:** ${probably}.`,
    view.worst === null ? '' : `**At worst:** ${view.worst}.`,
  ]).trim()
}

/** A time that is not broken over two lines. */
function timeCell({ ms }: { ms: number }): string {
  return ms === 0 ? '' : humanMs(ms).replace(' ', '&nbsp;')
}

const STORIES: Columns<StoryView & { repository: string }> = [
  ['', ':-:', ({ standing }) => STANDINGS[standing].sign],
  ['Story', ':--', nameCell],
  ['Attempts', '--:', ({ attempts }) => (attempts === 0 ? '' : String(attempts))],
  ['Cost', '--:', ({ usage }) => (usage.costUsd === 0 ? '' : costWords(usage))],
  ['Time', '--:', timeCell],
  ['Commit', ':--', ({ commit, repository }) => commitLink(commit, repository)],
]

function nameCell({ id, title, aside }: StoryView): string {
  const name = `${storyId(id)} ${markdownText(title, 120)}`
  return aside === '' ? name : `${name}<br><sub>${markdownText(aside, 180)}</sub>`
}

/** The stories: up to 25 in a table, more of them folded below those that matter now, in at most `room` characters. */
export function storyTable({ stories, links: { repository } }: View, room: number): string {
  if (stories.length === 0) return ''
  const head = tableHead(STORIES)
  const rows = new Map(stories.map((story) => [story, tableRow(STORIES, { ...story, repository })]))
  const shown = (some: readonly StoryView[]) => [head, ...some.map((story) => rows.get(story))].join('\n')
  const whole = shown(stories)
  if (stories.length <= LONGEST_TABLE && whole.length <= room) return whole
  const fitting = (some: readonly StoryView[], most: number) => {
    let left = most - head.length
    const end = some.findIndex((story) => {
      left -= (rows.get(story) ?? '').length + 1
      return left < 0
    })
    return end === -1 ? some : some.slice(0, end)
  }
  const now = shown(fitting(mattersNow(stories), room - 400))
  const all = fitting(stories, room - now.length - 300)
  const rest = stories.slice(all.length)
  if (all.length === 0) return `${now}\n\n${leftOut(rest)}`
  const long = rest.length === 0 ? shown(all) : `${shown(all)}\n\n${leftOut(rest)}`
  return `${now}\n\n${folded(`All ${stories.length} stories`, long)}`
}

/** What changed last, what needs a person, what is in work and what comes next: at most 16 stories, in their order. */
function mattersNow(stories: readonly StoryView[]): StoryView[] {
  const of = (wanted: Standing) => stories.filter(({ standing }) => standing === wanted)
  const passed = of('passed').sort((one, other) => one.passedIn - other.passedIn)
  const chosen = new Set([
    ...of('working'),
    ...of('blocked').slice(0, 5),
    ...of('rejected').slice(0, 4),
    ...passed.slice(-3),
    ...of('open').slice(0, 3),
  ])
  return stories.filter((story) => chosen.has(story))
}

function leftOut(stories: readonly StoryView[]): string {
  const found = counted(stories)
  const kinds = Object.entries(STANDINGS).flatMap(([standing, { sign, word }]) => {
    const count = found.get(standing) ?? 0
    return count === 0 ? [] : [`${sign} ${count} ${word}`]
  })
  return `… and ${many(stories.length, 'story', 'stories')} more: ${kinds.join(', ')}`
}

const GATES: Columns<GateResult> = [
  ['Gate', ':--', ({ name }) => markdownText(name, 60)],
  ['Result', ':--', gateCell],
  ['Time', '--:', timeCell],
]

/** `✅ 40 passed`, `⚠️ exit 1: 38 passed, 2 failed (advisory)`. */
export function gateCell({ ok, advisory, ended, tests, flaky }: GateResult): string {
  const counted = testWords(tests)
  if (ok) return `✅ ${counted || 'passed'}${flaky ? ' ⚠️ flaky' : ''}`
  const how = [markdownText(ended, 80), counted].filter((part) => part !== '').join(': ')
  return `${advisory ? '⚠️' : '❌'} ${how}${advisory ? ' (advisory)' : ''}`
}

/** What the last attempt looked like: its gates, and the output of the one that failed, bounded. */
export function failureBlock({ gates, failure }: StoryView, maxChars: number): string {
  const red = gates.find((gate) => !gate.ok && !gate.advisory)
  const output = (red?.output.trim() ? red.output : failure?.detail) ?? ''
  // Less than the block, which marks what it cuts itself.
  const shown = excerpt(output.trim(), Math.max(0, maxChars - 100))
  return stacked([table(GATES, gates.slice(0, 50)), shown === '' ? '' : codeBlock(shown, maxChars)]).trim()
}

/** The newest failure that no later attempt has mended, folded; empty when there is none. */
export function lastFailure({ failed }: View, maxChars: number): string {
  if (failed === null) return ''
  const title = `Last failure: ${markdownText(failed.id, 64)}, ${markdownText(failed.failure?.summary ?? '', 200)}`
  return folded(title, failureBlock(failed, maxChars))
}

const RESULTS: Readonly<Record<TimelineEntry['result'], string>> = {
  passed: '✅&nbsp;passed',
  rejected: '❌&nbsp;rejected',
  returned: '↩️&nbsp;given&nbsp;back',
  reset: '🔁&nbsp;reset',
}

const TIMELINE: Columns<TimelineEntry> = [
  ['#', '--:', ({ iteration }) => String(iteration)],
  ['Story', ':--', (entry) => markdownText(entry.storyId, 64)],
  ['Attempt', '--:', ({ attempt }) => String(attempt)],
  ['Result', ':--', ({ result }) => RESULTS[result]],
  ['Why', ':--', ({ summary }) => markdownText(summary, 200)],
  ['Cost', '--:', ({ costUsd }) => (costUsd > 0 ? usd(costUsd) : '')],
  ['Tokens', '--:', ({ tokens: used }) => (used > 0 ? tokens(used) : '')],
  ['Time', '--:', timeCell],
  ['Job', '--:', ({ job }) => String(job)],
  ['When (UTC)', ':--', ({ at }) => utc(at).replace(' UTC', '').replace(' ', '&nbsp;')],
]

/** The iterations in their order, the newest last. */
export function timelineTable({ timeline }: View): string {
  return table(TIMELINE, timeline)
}

/** Those of one story. */
export function attemptTable(entries: readonly TimelineEntry[]): string {
  return table(
    TIMELINE.filter(([name]) => name !== 'Story'),
    entries,
  )
}

/** When this was written and where to look further, in small letters. */
export function footer({ now, links, folder, outcome }: View): string {
  const run = links.run === null ? '' : link('this job', links.run)
  // They are uploaded when the job ends.
  const kept = links.run === null || outcome === null ? '' : link('report and logs', `${links.run}#artifacts`)
  const changes = links.compare === null ? '' : link('the changes', links.compare)
  return `<sub>${dotted([`Updated ${utc(now)}`, run, kept, changes, `state in ${code(folder, 200)}`])}</sub>`
}
