// What comment, summary, pull request, checks and replies have in common: each part of a view as markdown.
import { type GateResult, isAdvice } from '../engine/model/gate.ts'
import { oneLine } from '../engine/model/text.ts'
import type { Iteration } from '../engine/model/usage-totals.ts'
import { collapsible, commitLink, joinBlocks, list, table, truncateLines } from './blocks.ts'
import { code, codeBlock, link, markdownText } from './escape.ts'
import {
  costOrEmpty,
  describeTests,
  formatDuration,
  formatTokens,
  formatUsd,
  formatUtc,
  joinWithDots,
  pluralize,
} from './figures.ts'
import { describeLanes, describeRebased, ordinal, type WorkerView } from './in-work.ts'
import { RESULTS, STORY_STATUSES } from './outcomes.ts'
import { describeRung } from './rungs.ts'
import { type Columns, type Sentence, toMarkdown } from './sentence.ts'
import { evidenceParts, type StoryView } from './stories.ts'
import type { View } from './view.ts'

/** The title of a check has 255 characters, and what puts a mention out of action is one, too. */
const LONGEST_LINE = 240
/** About this many cells; up to it, a cell is a story. */
const LONGEST_BAR = 20
/** A longer table is collapsed below a short one of the stories that matter now. */
const LONGEST_TABLE = 25
const MOST_URGENT = 13
const MOST_NEWS = 3

/** The first line of a comment that Ralph wrote. Ralph finds the comment again by this line and by its author, which must be Ralph. */
export function marker(kind: 'sticky' | 'pull' | 'status' | 'issue' | 'unplanned', feature: string): string {
  return `<!-- ralph:${kind}:${feature.replace(/[^\w.+-]/g, '-')} -->`
}

/** Where the run stands: the first line of the comment and the title of the check, which say the same. Not escaped. */
export function statusLine({ headline: { text } }: View): string {
  return oneLine(text, LONGEST_LINE)
}

/** The same as a heading of the given level. */
export function heading(view: View, level: number): string {
  return `${'#'.repeat(level)} ${view.headline.sign} ${markdownText(statusLine(view))}`
}

/** A bar of coloured cells with the figures behind it. */
export function progressBar({ bar, stories, counts: { passed, total } }: View): string {
  if (total === 0) return ''
  const longest = Math.min(total, LONGEST_BAR)
  // Every kind keeps a cell, however few its stories are.
  const cells = bar.map(([status, count]) =>
    STORY_STATUSES[status].cell.repeat(Math.max(1, Math.round((count * longest) / stories.length))),
  )
  return `${cells.join('')} **${passed}/${total}**`
}

/** What to do next; in an alert frame where the run waits for a person. */
export function nextBlock({ next, alert }: View): string {
  const sentence = `**Next:** ${toMarkdown(next)}`
  return alert === null ? sentence : `> [!${alert}]\n> ${sentence}`
}

export function sentenceList(sentences: readonly Sentence[]): string {
  return list(sentences.map(toMarkdown))
}

export function storyIdMarkdown(id: string): string {
  return toMarkdown([{ story: id }])
}

/** Cost, tokens, time, iterations, jobs, and what is left. */
export function spendingBlock(view: View): string {
  const columns = view.figures.map(([name, value]) => [name, 'text', () => value] as const)
  const { outlook, costs, rungs, unpaid, expectedCost } = view
  const beside = costs.besideStoriesUsd
  return joinBlocks([
    table(columns, [view]),
    beside < 0.005 ? '' : `**Beside the stories**, such as the final verification: ${formatUsd(beside)}.`,
    list([...rungs.map(describeRung), ...unpaid].map((words) => markdownText(words, 300))),
    expectedCost === null ? '' : `**Estimate:** ${expectedCost}.`,
    outlook === null ? '' : `**Remaining:** ${outlook}.`,
  ]).trim()
}

const STORIES: Columns<StoryView & { repository: string }> = [
  ['', 'text', ({ status }) => STORY_STATUSES[status].sign],
  ['Story', 'text', nameCell],
  ['Attempts', 'figure', ({ attempts }) => (attempts === 0 ? '' : attempts)],
  ['Cost', 'figure', ({ usage }) => costOrEmpty(usage)],
  ['Time', 'figure', timeCell],
  ['Commit', 'text', ({ commit, repository }) => commitLink(commit, repository)],
]

/** What is in work; HTML shows it in the same columns. */
export const IN_WORK: Columns<WorkerView> = [
  ['In work', 'text', ({ id, title }) => ({ text: `${id} ${title}`, most: 120 })],
  ['Train', 'word', ({ place }) => (place === null ? '' : ordinal(place))],
  ['Worker', 'word', ({ worker }) => ({ text: worker ?? '', most: 20 })],
  [
    'Now',
    'text',
    ({ doing, rebased }) => ({ text: joinWithDots(doing, describeRebased(rebased)), most: 160 }),
  ],
  ['Since', 'word', ({ startedAt }) => formatUtc(startedAt).replace(/^\S+ /, '')],
]

/** A comment has to hold the stories, too. */
const MOST_IN_WORK = 20

/** The stories in work, where several can be; empty elsewhere. */
export function lanesBlock({ workers, lanes }: View): string {
  if (lanes === null || workers.length === 0) return ''
  const more = workers.length > MOST_IN_WORK ? `\n\n… and ${workers.length - MOST_IN_WORK} more` : ''
  return `**Now:** ${describeLanes(workers, lanes)}.\n\n${table(IN_WORK, workers.slice(0, MOST_IN_WORK))}${more}`
}

function nameCell({ id, title, aside }: StoryView): string {
  const name = `${storyIdMarkdown(id)} ${markdownText(title, 120)}`
  return aside === '' ? name : `${name}<br><sub>${markdownText(aside, 180)}</sub>`
}

function timeCell({ ms }: { ms: number }): string {
  return ms === 0 ? '' : formatDuration(ms)
}

/** The stories: up to 25 in a table, more of them folded below those that matter now, in at most `room` characters. */
export function storyTable({ stories, ranked, links: { repository } }: View, room: number): string {
  const tableOf = (some: readonly StoryView[], most: number) =>
    truncateLines(
      table(
        STORIES,
        some.map((story) => ({ ...story, repository })),
      ),
      most,
    )
  if (stories.length <= LONGEST_TABLE) return tableOf(stories, room)
  const news = ranked.filter(({ status }) => status === 'passed').slice(0, MOST_NEWS)
  const now = tableOf([...new Set([...ranked.slice(0, MOST_URGENT), ...news])], room / 2)
  const all = tableOf(stories, room - now.length - 300)
  return `${now}\n\n${collapsible(`All ${stories.length} stories`, all)}`
}

/** The gates of an attempt; HTML shows them in the same columns. */
export const GATES: Columns<GateResult> = [
  ['Gate', 'text', ({ name }) => ({ text: name, most: 60 })],
  ['Result', 'text', gateCell],
  ['Time', 'figure', timeCell],
]

/** `✅ 40 passed`, `⚠️ exit 1: 38 passed, 2 failed (advisory)`. */
function gateCell(gate: GateResult): { text: string; most: number } {
  const { ok, ended, tests, flaky } = gate
  const advisory = isAdvice(gate)
  const counted = describeTests(tests)
  const how = [oneLine(ended, 80), counted].filter((part) => part !== '').join(': ')
  const text = ok
    ? `✅ ${counted || 'passed'}${flaky ? ' ⚠️ flaky' : ''}`
    : `${advisory ? '⚠️' : '❌'} ${how}${advisory ? ' (advisory)' : ''}`
  return { text, most: 160 }
}

/** What the last attempt looked like: its gates, and the output of the one that failed, bounded. */
export function failureBlock({ gates, output: failed }: StoryView, maxChars: number): string {
  const output = failed === null ? '' : codeBlock(failed.output, maxChars)
  return joinBlocks([table(GATES, gates.slice(0, 50)), output]).trim()
}

/** The newest failure that no later attempt has fixed, collapsed; empty when there is none. */
export function lastFailure({ failed }: View, maxChars: number): string {
  if (failed === null) return ''
  const title = `Last failure: ${markdownText(failed.id, 64)}, ${markdownText(failed.failure?.summary ?? '', 200)}`
  return collapsible(title, failureBlock(failed, maxChars))
}

/** The attempts of one story; HTML shows them in the same columns. */
export const ATTEMPTS: Columns<Iteration> = [
  ['Attempt', 'figure', ({ attempt }) => attempt],
  ['Result', 'word', ({ result }) => `${RESULTS[result].sign} ${RESULTS[result].word}`],
  ['Why', 'text', ({ summary }) => ({ text: summary, most: 200 })],
  ['Cost', 'figure', costOrEmpty],
  ['Tokens', 'figure', ({ tokens: used }) => (used > 0 ? formatTokens(used) : '')],
  ['Time', 'figure', timeCell],
  ['Job', 'figure', ({ job }) => job],
  ['When (UTC)', 'word', ({ at }) => formatUtc(at).replace(' UTC', '')],
]

/** The iterations in their order, the newest last. */
export const ITERATIONS: Columns<Iteration> = [
  ['#', 'figure', ({ iteration }) => iteration],
  ['Story', 'text', ({ storyId: text }) => ({ text, most: 64 })],
  ...ATTEMPTS,
]

/** What shows each criterion, as the final verification found it, folded; empty where nothing does. At most about `room` characters. */
export function evidenceBlock({ stories, links }: View, room: number): string {
  const proven = stories.filter(({ evidence }) => evidence.length > 0)
  const count = proven.reduce((sum, story) => sum + story.criteria.length, 0)
  const lists = joinBlocks(proven.map((story) => evidenceOf(story, links.blob))).trim()
  return collapsible(`What shows ${pluralize(count, 'criterion', 'criteria')}`, truncateLines(lists, room))
}

function evidenceOf(story: StoryView, blob: string): string {
  const items = story.criteria.flatMap((text, at) => {
    const shown = evidenceParts(story, at + 1, blob).map((part) => toMarkdown([part]))
    return shown.length === 0 ? [] : [`${markdownText(text, 160)} → ${shown.join(', ')}`]
  })
  return `${storyIdMarkdown(story.id)} ${markdownText(story.title, 120)}\n${list(items)}`
}

/** When this was written and where to look further, in small letters. */
export function footer({ now, links, folder, outcome }: View): string {
  const run = links.run === null ? '' : link('this job', links.run)
  // They are uploaded when the job ends.
  const kept = links.run === null || outcome === null ? '' : link('report and logs', `${links.run}#artifacts`)
  const changes = links.compare === null ? '' : link('the changes', links.compare)
  return `<sub>${joinWithDots(`Updated ${formatUtc(now)}`, run, kept, changes, `state in ${code(folder, 200)}`)}</sub>`
}
