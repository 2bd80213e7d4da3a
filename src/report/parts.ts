// The blocks that comment, summary, pull request and checks are made of. Pure: state and facts -> markdown.
import { iterationsLeft } from '../loop/limits.ts'
import { passedUnchanged, passedUngated, UNCHANGED, UNGATED } from '../loop/passed.ts'
import { ownSituation } from '../loop/situation.ts'
import type { Outcome, Story } from '../model/feature.ts'
import type { Annotation, GateResult } from '../model/gate.ts'
import type { Limits } from '../model/limits.ts'
import type { State, StoryRecord, TimelineEntry } from '../model/state.ts'
import { counts } from '../prd/select.ts'
import { excerpt } from '../system/excerpt.ts'
import { bold, code, codeBlock, markdownText } from './escape.ts'
import { nextMove } from './next-move.ts'
import {
  attemptsOf,
  blockedIds,
  costWords,
  headline,
  humanMs,
  many,
  outcomeNow,
  type Standing,
  standings,
  tokens,
  tokenWords,
  usd,
  utc,
  whyBlocked,
  worstCase,
} from './words.ts'

/** What reports need beside the state. */
export type Facts = {
  /** `https://github.com/acme/shop`, without a slash at the end. */
  repositoryUrl: string
  /** This job's page; null outside of CI. */
  runUrl: string | null
  limits: Limits
  /** Epoch milliseconds. */
  now: number
  compareUrl?: string | null
  /** Things to tell that are no part of the state, such as a refused pull request. */
  notes: readonly Note[]
  /** Places in files that failing gates named, by story id. */
  annotations?: Readonly<Record<string, readonly Annotation[]>>
}

/** Plain text; an address in it would be put out of action, so where a person goes on stands in `link`. */
export type Note = string | { text: string; link: { name: string; url: string } }

/** A sign for how a story stands. */
export const SIGNS: Readonly<Record<Standing, string>> = {
  passed: '✅',
  skipped: '⏩',
  blocked: '⛔',
  working: '🔨',
  rejected: '🔁',
  waiting: '⏳',
  open: '⬜',
}

const CELLS: readonly (readonly [Standing, string])[] = [
  ['passed', '🟩'],
  ['skipped', '⬛'],
  ['working', '🟦'],
  ['rejected', '🟨'],
  ['blocked', '🟥'],
  ['waiting', '⬜'],
  ['open', '⬜'],
]

/** At most this many cells; up to it, a cell is a story. */
const LONGEST_BAR = 20
/** What GitHub said (at most 300) and what to do about it are one note. */
const LONGEST_NOTE = 700
/** A longer table is folded, and what matters now stands before it. */
const LONGEST_TABLE = 25

/** `[text](url)` for an address of http; the text must be markdown already. Anything else is only the text. */
export function link(text: string, url: string | null | undefined): string {
  if (url === null || url === undefined || !/^https?:\/\/[^\s\p{C}<>"`\\]+$/iu.test(url)) return text
  return `[${text}](${url.replace(/[()|*_[\]]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)})`
}

/** A linked short commit id, or nothing where there is none. */
export function commitLink(commit: string | null, repositoryUrl: string): string {
  if (commit === null || !/^[0-9a-f]{7,64}$/.test(commit)) return ''
  return link(`\`${commit.slice(0, 7)}\``, `${repositoryUrl}/commit/${commit}`)
}

/** Where the run stands, as a heading of the given level. */
export function headingOf(state: State, level: number): string {
  const { sign, text } = headline(state, outcomeNow(state))
  return `${'#'.repeat(level)} ${sign} ${markdownText(text, 400)}`
}

/** A bar of coloured cells with the figures behind it. */
export function progressBar(state: State): string {
  const { passed, total } = counts(state.prd)
  if (total === 0) return ''
  const found = new Map<Standing, number>()
  for (const standing of standings(state).values()) found.set(standing, (found.get(standing) ?? 0) + 1)
  const kinds = CELLS.map(([standing, cell]) => ({ cell, stories: found.get(standing) ?? 0 }))
  const cells = kinds.map(({ stories }) =>
    total <= LONGEST_BAR ? stories : Math.ceil((stories / total) * LONGEST_BAR),
  )
  // Every kind keeps a cell, however few its stories are; the longest gives what is too much.
  for (
    let over = cells.reduce((sum, count) => sum + count, 0) - Math.min(total, LONGEST_BAR);
    over > 0;
    over -= 1
  ) {
    const longest = cells.indexOf(Math.max(...cells))
    cells[longest] = (cells[longest] ?? 1) - 1
  }
  return `${kinds.map(({ cell }, at) => cell.repeat(cells[at] ?? 0)).join('')} **${passed}/${total}**`
}

const ALERTS: Readonly<Record<Outcome, string | null>> = {
  complete: 'TIP',
  stuck: 'WARNING',
  'max-iterations': 'IMPORTANT',
  budget: 'IMPORTANT',
  paused: 'IMPORTANT',
  continued: null,
  error: 'WARNING',
  interrupted: 'IMPORTANT',
}

/** What to do next; in a frame where a person is waited for. */
export function nextBlock(state: State, facts: Facts): string {
  const outcome = outcomeNow(state)
  const sentence = `**Next:** ${nextMove(state, ownSituation(state), 'comment', facts.limits)}`
  const alert = outcome === null || sentence.startsWith('**Next:** Nothing to do') ? null : ALERTS[outcome]
  return alert === null ? sentence : `> [!${alert}]\n> ${sentence}`
}

/** The blocked stories with the reason and what to type, at most five of them; empty when none is. */
export function blockedList(state: State): string {
  const ids = blockedIds(state)
  const lines = ids.slice(0, 5).map((id) => {
    const story = state.prd.userStories.find((one) => one.id === id)
    const after = story === undefined || story.retries === 0 ? '' : ` after ${many(story.retries, 'attempt')}`
    const why = story === undefined ? '' : markdownText(whyBlocked(state, story), 200)
    const how = outcomeNow(state) === 'stuck' ? '' : ` → ${code(`/ralph retry ${id} -- <hint>`)}`
    return `- ${SIGNS.blocked} ${bold(markdownText(id, 64))} is blocked${after}${why === '' ? '' : `: ${why}`}${how}`
  })
  if (ids.length > 5)
    lines.push(
      `- ${many(ids.length - 5, 'more blocked story', 'more blocked stories')}: ${code('/ralph retry all')}`,
    )
  return lines.join('\n')
}

/** Things to tell that are not in the state, at most ten. */
export function notesList(facts: Facts): string {
  return facts.notes
    .slice(0, 10)
    .map((note) => {
      const told = typeof note === 'string' ? { text: note, link: null } : note
      const where = told.link === null ? '' : ` ${link(markdownText(told.link.name), told.link.url)}`
      return `- ℹ️ ${markdownText(told.text, LONGEST_NOTE)}${where}`
    })
    .join('\n')
}

/** Cost, tokens, time, iterations, jobs, and what the rest may cost at most. */
export function spending(state: State, facts: Facts): string {
  const { run } = state.prd
  const { limits } = facts
  const allowed =
    limits.maxCostUsd === null ? '' : ` of ${usd(limits.maxCostUsd + state.control.granted.costUsd)}`
  const tokenLimit = limits.maxTokens === null ? '' : ` of ${tokens(limits.maxTokens)}`
  const timeLimit = limits.maxAgentTimeMs === null ? '' : ` of ${humanMs(limits.maxAgentTimeMs)}`
  const left = iterationsLeft(state, limits)
  const most = Number.isFinite(left) ? ` of ${run.iterations + left}` : ''
  const cells = [
    [
      'Cost',
      run.usage.costUsd === 0 && run.usage.calls > 0
        ? 'not reported'
        : `**${costWords(run.usage)}**${allowed}`,
    ],
    ['Tokens', `${tokenWords(run.usage)}${tokenLimit}`],
    ['Agent time', `${humanMs(run.usage.agentSeconds * 1000)}${timeLimit}`],
    ['Iterations', `${run.iterations}${most}`],
    ['Jobs', `${run.jobs} of ${limits.maxJobs}`],
  ]
  const table = [
    row(cells.map(([name]) => name ?? '')),
    row(cells.map(() => ':--')),
    row(cells.map(([, value]) => value ?? '')),
  ]
  const outcome = outcomeNow(state)
  const worst = outcome === 'complete' || outcome === 'stuck' ? null : worstCase(state, limits)
  return `${table.join('\n')}${worst === null ? '' : `\n\n**At worst:** ${worst}.`}`
}

/** A row of a table; the cells are markdown already and hold no bare `|`. */
export function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

/** A time that is not broken over two lines. */
function timeCell(ms: number): string {
  return humanMs(ms).replace(' ', '&nbsp;')
}

/** The stories: up to 25 in a table, more of them folded below those that matter now, in at most `room` characters. */
export function storyTable(state: State, facts: Facts, room: number): string {
  const { userStories } = state.prd
  if (userStories.length === 0) return ''
  const stands = standings(state)
  const rows = new Map(userStories.map((story) => [story.id, storyRow(state, story, stands, facts)]))
  const table = (stories: readonly Story[]) =>
    [...STORY_HEAD, ...stories.map((story) => rows.get(story.id) ?? '')].join('\n')
  const whole = table(userStories)
  if (userStories.length <= LONGEST_TABLE && whole.length <= room) return whole
  const now = fitting(mattersNow(userStories, stands), rows, room - 400)
  const first = table(now)
  const before = `${first}\n\n<details><summary>All ${userStories.length} stories</summary>\n\n`
  const after = '\n\n</details>'
  const shown = fitting(userStories, rows, room - before.length - after.length - 200)
  const left = userStories.length - shown.length
  const note = left === 0 ? '' : `\n\n${leftOut(userStories.slice(shown.length), stands)}`
  return shown.length === 0
    ? `${first}\n\n${leftOut(userStories, stands)}`
    : `${before}${table(shown)}${note}${after}`
}

const STORY_HEAD = [
  row(['', 'Story', 'Attempts', 'Cost', 'Time', 'Commit']),
  row([':-:', ':--', '--:', '--:', '--:', ':--']),
]

function storyRow(state: State, story: Story, stands: ReadonlyMap<string, Standing>, facts: Facts): string {
  const standing = stands.get(story.id) ?? 'open'
  const record = state.records[story.id]
  const attempts = attemptsOf(state, story)
  const aside = asideOf(state, story, standing, stands)
  const cost = record === undefined || record.usage.costUsd === 0 ? '' : costWords(record.usage)
  const time = record === undefined || record.ms === 0 ? '' : timeCell(record.ms)
  const name = `${bold(markdownText(story.id, 64))} ${markdownText(story.title, 120)}`
  return row([
    SIGNS[standing],
    aside === '' ? name : `${name}<br><sub>${aside}</sub>`,
    attempts === 0 ? '' : String(attempts),
    cost,
    time,
    story.passes ? commitLink(record?.commit ?? story.lastResult?.commit ?? null, facts.repositoryUrl) : '',
  ])
}

/** What the sign alone does not say. */
function asideOf(
  state: State,
  story: Story,
  standing: Standing,
  stands: ReadonlyMap<string, Standing>,
): string {
  switch (standing) {
    case 'passed':
      if (story.lastResult?.imported === true) return 'had passed before Ralph began; no gate has seen it'
      if (passedUngated(story)) return UNGATED
      return passedUnchanged(story) ? UNCHANGED : ''
    case 'skipped':
      return 'skipped by a person'
    case 'blocked':
      return `blocked: ${markdownText(whyBlocked(state, story), 160)}`
    case 'working':
      return 'in work now'
    case 'rejected':
      return `to be tried again: ${markdownText(state.records[story.id]?.failure?.summary ?? story.notes, 160)}`
    case 'waiting': {
      const open = story.dependsOn.filter((id) => stands.get(id) !== 'passed' && stands.get(id) !== 'skipped')
      const more = open.length > 3 ? ` and ${open.length - 3} more` : ''
      return `waits for ${open
        .slice(0, 3)
        .map((id) => markdownText(id, 64))
        .join(', ')}${more}`
    }
    case 'open':
      return ''
  }
}

/** What changed last, what needs a person, what is in work and what comes next: at most 16 stories, in their order. */
function mattersNow(stories: readonly Story[], stands: ReadonlyMap<string, Standing>): Story[] {
  const of = (...wanted: Standing[]) =>
    stories.filter((story) => wanted.includes(stands.get(story.id) ?? 'open'))
  const passed = of('passed').sort(
    (one, other) => (one.lastResult?.iteration ?? 0) - (other.lastResult?.iteration ?? 0),
  )
  const chosen = new Set([
    ...of('working'),
    ...of('blocked').slice(0, 5),
    ...of('rejected').slice(0, 4),
    ...passed.slice(-3),
    ...of('open').slice(0, 3),
  ])
  return stories.filter((story) => chosen.has(story))
}

function fitting(stories: readonly Story[], rows: ReadonlyMap<string, string>, room: number): Story[] {
  let used = STORY_HEAD.join('\n').length
  const end = stories.findIndex((story) => {
    used += (rows.get(story.id) ?? '').length + 1
    return used > room
  })
  return end === -1 ? [...stories] : stories.slice(0, end)
}

function leftOut(stories: readonly Story[], stands: ReadonlyMap<string, Standing>): string {
  const found = new Map<Standing, number>()
  for (const story of stories) {
    const standing = stands.get(story.id) ?? 'open'
    found.set(standing, (found.get(standing) ?? 0) + 1)
  }
  const kinds = [...found].map(([standing, count]) => `${SIGNS[standing]} ${count} ${WORDS[standing]}`)
  return `… and ${many(stories.length, 'story', 'stories')} more: ${kinds.join(', ')}`
}

const WORDS: Readonly<Record<Standing, string>> = {
  passed: 'passed',
  skipped: 'skipped',
  blocked: 'blocked',
  working: 'in work',
  rejected: 'to be tried again',
  waiting: 'waiting',
  open: 'open',
}

/** Gates and their results as a table. */
export function gateTable(gates: readonly GateResult[]): string {
  if (gates.length === 0) return ''
  const rows = gates.slice(0, 50).map((gate) => {
    const result = gate.ok
      ? '✅ passed'
      : `${gate.advisory ? '⚠️' : '❌'} ${markdownText(gate.ended, 80)}${gate.advisory ? ' (advisory)' : ''}`
    return row([markdownText(gate.name, 60), result, timeCell(gate.ms)])
  })
  return [row(['Gate', 'Result', 'Time']), row([':--', ':--', '--:']), ...rows].join('\n')
}

/** What the last failure of a record looked like: its gates, and the output of the one that failed, bounded. */
export function failureBlock(record: StoryRecord, maxChars: number): string {
  const red = record.gates.find((gate) => !gate.ok && !gate.advisory)
  const output = (red?.output.trim() ? red.output : record.failure?.detail) ?? ''
  // Less than the block, which marks what it cuts itself.
  const shown = excerpt(output.trim(), Math.max(0, maxChars - 100))
  const parts = [gateTable(record.gates), shown === '' ? '' : codeBlock(shown, maxChars)]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** The newest failure that no later attempt has mended, folded; empty when there is none. */
export function lastFailure(state: State, maxChars: number): string {
  const entry = state.timeline.findLast(
    ({ storyId, result }) =>
      (result === 'rejected' || result === 'reset') && (state.records[storyId]?.failure ?? null) !== null,
  )
  const record = entry === undefined ? undefined : state.records[entry.storyId]
  if (entry === undefined || record === undefined) return ''
  const title = `Last failure: ${markdownText(entry.storyId, 64)}, ${markdownText(record.failure?.summary ?? entry.summary, 200)}`
  const body = failureBlock(record, maxChars)
  return body === '' ? '' : folded(title, body)
}

/** A folded block; the title must be escaped already. */
export function folded(title: string, body: string, open = false): string {
  return `<details${open ? ' open' : ''}><summary>${title}</summary>\n\n${body}\n\n</details>`
}

const RESULTS: Readonly<Record<TimelineEntry['result'], string>> = {
  passed: '✅&nbsp;passed',
  rejected: '❌&nbsp;rejected',
  returned: '↩️&nbsp;given&nbsp;back',
  reset: '🔁&nbsp;reset',
}

/** The iterations in their order, the newest last; at most the last 200. */
export function timelineTable(state: State): string {
  if (state.timeline.length === 0) return ''
  const rows = state.timeline
    .slice(-200)
    .map((entry) =>
      row([
        String(entry.iteration),
        markdownText(entry.storyId, 64),
        String(entry.attempt),
        RESULTS[entry.result],
        markdownText(entry.summary, 200),
        entry.costUsd > 0 ? usd(entry.costUsd) : '',
        entry.tokens > 0 ? tokens(entry.tokens) : '',
        timeCell(entry.ms),
        String(entry.job),
        utc(entry.at).replace(' UTC', '').replace(' ', '&nbsp;'),
      ]),
    )
  const names = ['#', 'Story', 'Attempt', 'Result', 'Why', 'Cost', 'Tokens', 'Time', 'Job', 'When (UTC)']
  return [
    row(names),
    row(['--:', ':--', '--:', ':--', ':--', '--:', '--:', '--:', '--:', ':--']),
    ...rows,
  ].join('\n')
}

/** What each job did and used, where there was more than one; sessions of the judge are in the total alone. */
export function jobsTable(state: State): string {
  const jobs = [...new Set(state.timeline.map((entry) => entry.job))]
  if (jobs.length < 2) return ''
  const rows = jobs.map((job) => {
    const own = state.timeline.filter((entry) => entry.job === job)
    const sum = (of: (entry: State['timeline'][number]) => number) =>
      own.reduce((total, entry) => total + of(entry), 0)
    const charged = own.filter((entry) => entry.result === 'passed' || entry.result === 'rejected')
    const passed = own.filter((entry) => entry.result === 'passed')
    const cost = sum((entry) => entry.costUsd)
    return row([
      String(job),
      String(charged.length),
      String(passed.length),
      cost > 0 ? usd(cost) : '',
      tokens(sum((entry) => entry.tokens)),
      timeCell(sum((entry) => entry.ms)),
    ])
  })
  const names = ['Job', 'Iterations', 'Passed', 'Cost', 'Tokens', 'Time']
  return [row(names), row(names.map(() => '--:')), ...rows].join('\n')
}

/** When this was written and where to look further, in small letters. */
export function footer(state: State, facts: Facts): string {
  const parts = [
    `Updated ${utc(facts.now)}`,
    facts.runUrl === null ? '' : link('this job', facts.runUrl),
    link(facts.compareUrl ? 'the changes' : '', facts.compareUrl),
    `state in ${code(state.folder, 200)}`,
  ]
  return `<sub>${parts.filter((part) => part !== '').join(' · ')}</sub>`
}

/** The blocks one below the other; those that are empty are left out. */
export function stacked(blocks: readonly string[]): string {
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}
