// Parts of a view as Markdown, shared by comment, job summary, pull request, checks and replies.
import { type GateResult, isAdvice } from '../engine/model/gate.ts'
import { oneLine } from '../engine/model/text.ts'
import type { Iteration } from '../engine/model/usage-totals.ts'
import { collapsible, commitLink, joinBlocks, list, table, truncateLines } from './blocks.ts'
import { CRITERIA, criteriaRows, criteriaTitle } from './criteria.ts'
import { code, codeBlock, link, markdownText } from './escape.ts'
import {
  costOrEmpty,
  describeTests,
  formatDuration,
  formatTokens,
  formatUsd,
  formatUtc,
  joinWithDots,
} from './figures.ts'
import { describeLanes, describeRebased, ordinal, type WorkerView } from './in-work.ts'
import { RESULTS, STORY_STATUSES } from './outcomes.ts'
import { describeRung } from './rungs.ts'
import { type Columns, type Sentence, toMarkdown } from './sentence.ts'
import { describeChange, type StoryView } from './stories.ts'
import type { View } from './view.ts'

/** The title of a check may have 255 characters; characters that break up mentions count as well. */
const MAX_LINE_LENGTH = 240
/** Cells of the progress bar, about; with fewer stories a cell is a story. */
const MAX_BAR_LENGTH = 20
/** Stories in a table that is not collapsed; a longer one is collapsed below a short table of the most urgent stories. */
const MAX_TABLE_LENGTH = 25
const MAX_URGENT = 13
const MAX_NEWEST = 3

/** The first line of a comment of Ralph's. Ralph finds the comment again by this line and by its author. */
export function marker(kind: 'sticky' | 'pull' | 'status' | 'issue' | 'unplanned', feature: string): string {
  return `<!-- ralph:${kind}:${feature.replace(/[^\w.+-]/g, '-')} -->`
}

/** The status of the run, for the first line of the comment and the title of the check. Not escaped. */
export function statusLine({ headline: { text } }: View): string {
  return oneLine(text, MAX_LINE_LENGTH)
}

/** `statusLine` as a heading of the given level. */
export function heading(view: View, level: number): string {
  return `${'#'.repeat(level)} ${view.headline.sign} ${markdownText(statusLine(view))}`
}

/** A bar of coloured cells, followed by the figures. */
export function progressBar({ bar, stories, counts: { passed, total } }: View): string {
  if (total === 0) return ''
  const longest = Math.min(total, MAX_BAR_LENGTH)
  // Every status has at least one cell, however few its stories are.
  const cells = bar.map(([status, count]) =>
    STORY_STATUSES[status].cell.repeat(Math.max(1, Math.round((count * longest) / stories.length))),
  )
  return `${cells.join('')} **${passed}/${total}**`
}

/** What to do next; in an alert frame if the run waits for a person. */
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
    beside < 0.005
      ? ''
      : `**Besides the stories**, for example for the final verification: ${formatUsd(beside)}.`,
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
]
const CHANGED: Columns<StoryView>[number] = ['Changed', 'word', ({ change }) => describeChange(change)]
const COMMIT: (typeof STORIES)[number] = [
  'Commit',
  'text',
  ({ commit, repository }) => commitLink(commit, repository),
]

/** The columns of the table of attempts in work; HTML uses them as well. */
export const IN_WORK: Columns<WorkerView> = [
  ['In progress', 'text', ({ id, title }) => ({ text: `${id} ${title}`, most: 120 })],
  ['Lands', 'word', ({ place }) => (place === null ? '' : ordinal(place))],
  ['Worker', 'word', ({ worker }) => ({ text: worker ?? '', most: 20 })],
  [
    'Now',
    'text',
    ({ doing, rebased }) => ({ text: joinWithDots(doing, describeRebased(rebased)), most: 160 }),
  ],
  ['Since', 'word', ({ startedAt }) => formatUtc(startedAt).replace(/^\S+ /, '')],
]

/** Rows of that table: the comment needs room for the stories as well. */
const MAX_IN_WORK = 20

/** The stories in work, if several can be at a time; else empty. */
export function lanesBlock({ workers, lanes }: View): string {
  if (lanes === null || workers.length === 0) return ''
  const more = workers.length > MAX_IN_WORK ? `\n\n… and ${workers.length - MAX_IN_WORK} more` : ''
  return `**Now:** ${describeLanes(workers, lanes)}.\n\n${table(IN_WORK, workers.slice(0, MAX_IN_WORK))}${more}`
}

function nameCell({ id, title, aside }: StoryView): string {
  const name = `${storyIdMarkdown(id)} ${markdownText(title, 120)}`
  return aside === '' ? name : `${name}<br><sub>${markdownText(aside, 180)}</sub>`
}

function timeCell({ ms }: { ms: number }): string {
  return ms === 0 ? '' : formatDuration(ms)
}

/** The stories in at most `room` characters: up to 25 in a table; more of them collapsed, below the most urgent ones. */
export function storyTable({ stories, ranked, links: { repository } }: View, room: number): string {
  const columns = stories.some(({ change }) => change !== null)
    ? [...STORIES, CHANGED, COMMIT]
    : [...STORIES, COMMIT]
  const tableOf = (some: readonly StoryView[], most: number) =>
    truncateLines(
      table(
        columns,
        some.map((story) => ({ ...story, repository })),
      ),
      most,
    )
  if (stories.length <= MAX_TABLE_LENGTH) return tableOf(stories, room)
  const newestPassed = ranked.filter(({ status }) => status === 'passed').slice(0, MAX_NEWEST)
  const now = tableOf([...new Set([...ranked.slice(0, MAX_URGENT), ...newestPassed])], room / 2)
  const all = tableOf(stories, room - now.length - 300)
  return `${now}\n\n${collapsible(`All ${stories.length} stories`, all)}`
}

/** The columns of the table of an attempt's gates; HTML uses them as well. */
export const GATES: Columns<GateResult> = [
  ['Gate', 'text', ({ name }) => ({ text: name, most: 60 })],
  ['Result', 'text', gateCell],
  ['Time', 'figure', timeCell],
]

/** `✅ 40 passed`, `⚠️ exit 1: 38 passed, 2 failed (advisory)`. */
function gateCell(gate: GateResult): { text: string; most: number } {
  const { ok, ended, tests, flaky, proof } = gate
  const advisory = isAdvice(gate)
  const counted = describeTests(tests)
  const how = [oneLine(ended, 80), counted].filter((part) => part !== '').join(': ')
  const text = ok
    ? `✅ ${counted || 'passed'}${describeProof(proof)}${flaky ? ' ⚠️ flaky' : ''}`
    : `${advisory ? '⚠️' : '❌'} ${how}${advisory ? ' (advisory)' : ''}`
  return { text, most: 160 }
}

/** `; 3 fail without this change`: so many of the tests need it. */
function describeProof(proof: GateResult['proof']): string {
  if (proof === undefined) return ''
  const { tests } = proof
  if (tests === undefined) return '; the gate fails without this change'
  return tests === 1 ? '; 1 fails without this change' : `; ${tests} fail without this change`
}

/** The gates of the last attempt, and at most `maxChars` of the output of the one that failed. */
export function failureBlock({ gates, output: failed }: StoryView, maxChars: number): string {
  const output = failed === null ? '' : codeBlock(failed.output, maxChars)
  return joinBlocks([table(GATES, gates.slice(0, 50)), output]).trim()
}

/** The newest failure that no later attempt has fixed, collapsed; empty without any. */
export function lastFailure({ failed }: View, maxChars: number): string {
  if (failed === null) return ''
  const title = `Last failure: ${markdownText(failed.id, 64)}, ${markdownText(failed.failure?.summary ?? '', 200)}`
  return collapsible(title, failureBlock(failed, maxChars))
}

/** The columns of the table of a story's attempts; HTML uses them as well. */
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

/** The columns of the table of iterations. */
export const ITERATIONS: Columns<Iteration> = [
  ['#', 'figure', ({ iteration }) => iteration],
  ['Story', 'text', ({ storyId: text }) => ({ text, most: 64 })],
  ...ATTEMPTS,
]

/** What shows each criterion after the final verification, collapsed; empty before. At most about `room` characters. */
export function evidenceBlock({ stories, links }: View, room: number): string {
  const judged = stories.map((story) => ({ story, rows: criteriaRows(story, links.blob) }))
  const all = judged.flatMap(({ rows }) => rows)
  const tables = judged.map(({ story: { id, title }, rows }) =>
    rows.length === 0 ? '' : `${storyIdMarkdown(id)} ${markdownText(title, 120)}\n\n${table(CRITERIA, rows)}`,
  )
  return collapsible(criteriaTitle(all), truncateLines(joinBlocks(tables).trim(), room))
}

/** The time of the update and links, in small letters. */
export function footer({ now, links, folder, outcome }: View): string {
  const run = links.run === null ? '' : link('this job', links.run)
  // Artifacts are uploaded when the job ends.
  const artifacts =
    links.run === null || outcome === null ? '' : link('report and logs', `${links.run}#artifacts`)
  const changes = links.compare === null ? '' : link('the changes', links.compare)
  return `<sub>${joinWithDots(`Updated ${formatUtc(now)}`, run, artifacts, changes, `state in ${code(folder, 200)}`)}</sub>`
}
