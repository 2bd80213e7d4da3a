// What a terminal and a job log show: the live header, a line for each thing that happens, and the final box.
import { type Surface, typedOn } from '../loop/command-table.ts'
import { isUngated, iterationsLeft } from '../loop/limits.ts'
import { passedUnchanged, UNCHANGED } from '../loop/passed.ts'
import type { Situation } from '../loop/situation.ts'
import type { Event } from '../model/event.ts'
import type { Outcome, Story } from '../model/feature.ts'
import type { GateResult } from '../model/gate.ts'
import type { Limits } from '../model/limits.ts'
import type { Conclusion, State } from '../model/state.ts'
import type { Step } from '../model/step.ts'
import { plainLines } from '../model/text.ts'
import type { Usage } from '../model/usage.ts'
import { counts } from '../prd/select.ts'
import { telling } from '../system/excerpt.ts'
import { terminalText } from './escape.ts'
import { nextMove } from './next-move.ts'
import { fit, pad, textWidth, wrap } from './width.ts'
import {
  attemptsOf,
  bar,
  costWords,
  humanMs,
  many,
  type Standing,
  spoken,
  standings,
  standingWords,
  storyInWork,
  tally,
  tokenWords,
  usd,
  utc,
  whyBlocked,
} from './words.ts'

/** What the output can show. `plain` (a pipe, a log): no boxes, ASCII signs, nothing cut to `width`. */
export type Look = { width: number; colour: boolean; plain: boolean }

/** What lines need beside the state. `agent` is the agent's name (`claude`). */
export type LineFacts = { limits: Limits; agent: string; voice: Surface }

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const
type Colour = keyof typeof CODES

/** Rows that a failing gate's output takes at once; the rest is in the log. */
const OUTPUT_ROWS = 9

function paint(text: string, colours: readonly Colour[], on: boolean): string {
  if (!on || text === '' || colours.length === 0) return text
  return `\u001b[${colours.map((colour) => CODES[colour]).join(';')}m${text}\u001b[0m`
}

/** The live header: where the run stands, in lines of exactly `width` columns (at least 24, at most 100). */
export function banner(state: State, limits: Limits, width: number, colour: boolean): string {
  const inner = innerWidth(width)
  const { passed, blocked, skipped, total } = counts(state.prd)
  const aside = [skipped > 0 ? `${skipped} skipped` : '', blocked > 0 ? `${blocked} blocked` : ''].filter(
    (part) => part !== '',
  )
  const fields: [string, string][] = [
    ['Project', state.prd.project || state.feature],
    ['Branch', state.branch],
    ['Stories', `${passed}/${total} complete${aside.length === 0 ? '' : `, ${aside.join(', ')}`}`],
    ['Iteration', iterationOf(state, limits)],
    ['Cost', costOf(state, limits)],
    ['Agent time', humanMs(state.prd.run.usage.agentSeconds * 1000)],
  ]
  const rows = inner >= 56 ? pairs(fields, inner, colour) : fields.map((field) => cell(field, inner, colour))
  const cells = inner >= 40 ? 10 : 5
  const title = terminalText(titleInWork(state))
  const rest = ` ${passed}/${total}${title === '' ? '' : ` ${title}`}`
  const live = `${paint(bar(passed, total, cells), ['green'], colour)}]${pad(rest, inner - cells - 2)}`
  return boxed([...rows, `[${live}`], inner, ['cyan'], colour)
}

/** The header of a pipe or a log: one line, `ralph/auth: 4/6 stories, iteration 8/50, $1.42, working on US-005`. */
export function plainBanner(state: State, limits: Limits): string {
  const { passed, blocked, total } = counts(state.prd)
  const work = storyInWork(state)
  const parts = [
    `${passed}/${total} stories`,
    blocked > 0 ? `${blocked} blocked` : '',
    `iteration ${iterationOf(state, limits)}`,
    costSaid(state, limits),
    work === null ? '' : `working on ${work}`,
  ]
  return terminalText(`${state.branch}: ${parts.filter((part) => part !== '').join(', ')}`)
}

function iterationOf(state: State, limits: Limits): string {
  const { iterations } = state.prd.run
  const now = state.attempt?.iteration ?? iterations
  const left = iterationsLeft(state, limits)
  return Number.isFinite(left) ? `${now}/${iterations + left}` : String(now)
}

/** Where no row names it. */
function costSaid(state: State, limits: Limits): string {
  const cost = costOf(state, limits)
  return cost.startsWith(UNTOLD) ? `cost ${cost}` : cost
}

const UNTOLD = 'not reported'

function costOf(state: State, limits: Limits): string {
  const { usage } = state.prd.run
  const cost = usage.costUsd === 0 && usage.calls > 0 ? UNTOLD : costWords(usage)
  const most = limits.maxCostUsd === null ? null : limits.maxCostUsd + state.control.granted.costUsd
  return most === null ? cost : `${cost} of ${usd(most)}`
}

function titleInWork(state: State): string {
  const id = storyInWork(state)
  if (id === null) return ''
  return state.prd.userStories.find((story) => story.id === id)?.title || id
}

function innerWidth(width: number): number {
  return Math.min(100, Math.max(24, Math.floor(width) || 80)) - 4
}

function boxed(rows: readonly string[], inner: number, colours: readonly Colour[], colour: boolean): string {
  const line = '═'.repeat(inner + 2)
  const side = paint('║', colours, colour)
  const middle = rows.map((row) => `${side} ${row} ${side}`)
  return [paint(`╔${line}╗`, colours, colour), ...middle, paint(`╚${line}╝`, colours, colour)].join('\n')
}

function pairs(fields: readonly [string, string][], inner: number, colour: boolean): string[] {
  const left = Math.ceil(inner / 2)
  const rows: string[] = []
  for (let at = 0; at < fields.length; at += 2) {
    const first = fields[at]
    const second = fields[at + 1]
    if (first === undefined) continue
    rows.push(
      second === undefined
        ? cell(first, inner, colour)
        : `${cell(first, left - 2, colour)}  ${cell(second, inner - left, colour)}`,
    )
  }
  return rows
}

function cell([label, value]: readonly [string, string], columns: number, colour: boolean): string {
  const name = `${label}: `
  return paint(name, ['dim'], colour) + pad(terminalText(value), columns - name.length)
}

// Lines

/** What is said before a step is performed; nothing for most. */
export function stepLines(step: Step, state: State, facts: LineFacts, look: Look): string[] {
  switch (step.kind) {
    case 'baseline':
      return [line('baseline', `are the gates green on ${state.base.branch}?`, look, ['dim'])]
    case 'agent':
      return iterationLines(state, facts, look)
    case 'gates':
      return isUngated(state.job) ? [] : [line('gates', 'running', look, ['dim'])]
    case 'judge':
      return [
        line(
          'judge',
          `nothing was changed: a fresh session judges whether ${step.attempt.storyId} is met`,
          look,
          ['dim'],
        ),
      ]
    case 'verify':
      return [
        '',
        heading('Final verification', look),
        line(
          'verify',
          `${isUngated(state.job) ? '' : 'all gates, then '}a fresh session judges every criterion`,
          look,
          ['dim'],
        ),
      ]
    case 'join':
      return [line('git', `joining with ${step.theirs.slice(0, 7)}, which people pushed`, look)]
    case 'publish':
      return [line('git', `publishing ${state.branch}`, look, ['dim'])]
    default:
      return []
  }
}

/** What is said when a command of the project begins: `prepare` alone, for the gates were announced together. */
export function startLines(name: string, look: Look): string[] {
  return name === 'prepare' ? [line('prepare', 'running', look, ['dim'])] : []
}

/** What is said of something that happened; `state` is the state after it. */
export function eventLines(event: Event, state: State, facts: LineFacts, look: Look): string[] {
  switch (event.kind) {
    case 'baselined':
      return gateLines(event.gates, look)
    case 'opened':
      return [line('git', `opened ${state.branch}${pullPart(state)}`, look)]
    case 'joined':
      return [line('git', `joined with what people pushed: ${event.green.slice(0, 7)}`, look)]
    case 'join-failed':
    case 'push-refused':
      return [line('git', event.summary, look, ['yellow'])]
    case 'worked':
      return [sessionLine(event.session.status, event.session.message, event.session.usage, facts, look)]
    case 'guarded':
      return event.remarks.map((remark) => line('guard', `note: ${remark}`, look, ['yellow']))
    case 'gated':
      return gateLines(event.gates, look)
    case 'judged':
      return [verdictLine('judge', event.verdict, event.usage, look)]
    case 'accepted':
      return acceptedLines(event.commit, state, look)
    case 'rejected':
      return rejectedLines(state, facts, look)
    case 'returned':
      return [
        line('ralph', `attempt given back, not charged: ${state.timeline.at(-1)?.summary ?? ''}`, look, [
          'yellow',
        ]),
      ]
    case 'verified':
      return [...gateLines(event.gates, look), verdictLine('verify', event.verdict, event.usage, look)]
    case 'dispatched':
      return [
        line('ralph', `started the next job${event.runId === null ? '' : ` (run ${event.runId})`}`, look),
      ]
    case 'dispatch-limited':
      return [
        line('ralph', `GitHub's rate limit refuses the next job until ${utc(event.until)}`, look, ['yellow']),
      ]
    case 'dispatch-failed':
      return [line('ralph', `the next job could not be started: ${event.summary}`, look, ['red'])]
    case 'interrupted':
      return [line('ralph', 'cancelled: putting things in order', look, ['yellow'])]
    case 'failed':
      return [line('ralph', event.summary, look, ['red', 'bold']), ...quoted(event.fix, look)]
    default:
      return []
  }
}

/** `[tag] text` on one line. The text may be hostile; neither part can be a workflow command. */
export function line(tag: string, text: string, look: Look, colours: readonly Colour[] = []): string {
  const width = Math.max(20, look.width)
  const short = terminalText(tag, 40).replace(/[[\]]/g, '') || '-'
  const name = `[${look.plain ? short : fit(short, Math.floor(width / 3))}]`
  const room = look.plain ? 2000 : width - textWidth(name) - 1
  const shown = look.plain ? terminalText(text, room) : fit(terminalText(text, room * 4), room)
  return `${paint(name, ['cyan'], look.colour)} ${paint(shown, colours, look.colour)}`
}

/** What the agent says or does while it works: `[claude] Edit src/login.ts`. */
export function agentLine(text: string, facts: LineFacts, look: Look): string {
  return line(facts.agent, text, look, ['dim'])
}

/** Something that people should know and that ends nothing. */
export function warningLine(text: string, look: Look): string {
  return line('warning', text, look, ['yellow'])
}

/** `=== text ===`, as bold as the terminal can. */
export function heading(text: string, look: Look): string {
  const room = look.plain ? 2000 : Math.max(20, look.width) - 8
  const shown = look.plain ? terminalText(text, room) : fit(terminalText(text, room * 4), room)
  return paint(`=== ${shown} ===`, ['bold'], look.colour)
}

function iterationLines(state: State, facts: LineFacts, look: Look): string[] {
  const { attempt } = state
  if (attempt === null) return []
  const story = state.prd.userStories.find((one) => one.id === attempt.storyId)
  const again = attempt.number > 1 ? ` (${whichAttempt(attempt.number, facts)})` : ''
  const named = `Iteration ${attempt.iteration}: ${attempt.storyId} - ${story?.title ?? ''}`
  const room = look.plain ? 2000 : Math.max(20, look.width) - 8 - again.length
  const shown = look.plain ? terminalText(named) : fit(terminalText(named), room)
  return ['', heading(shown + again, look), line(facts.agent, `working on ${attempt.storyId}`, look, ['dim'])]
}

/** A story may have had more than the limit already: in the file that it came from, or before the limit was lowered. */
function whichAttempt(number: number, { limits: { maxAttempts } }: LineFacts): string {
  return number > maxAttempts ? `attempt ${number}` : `attempt ${number} of ${maxAttempts}`
}

function sessionLine(
  status: 'finished' | 'failed' | 'limit' | 'overloaded' | 'auth' | 'not-started' | 'interrupted',
  message: string,
  usage: Usage,
  facts: LineFacts,
  look: Look,
): string {
  const spent = spentPart(usage)
  if (status === 'finished') return line(facts.agent, `done${spent}`, look)
  const said = { failed: 'FAILED', limit: 'limit reached', overloaded: 'overloaded', auth: 'not logged in' }
  const word = status === 'interrupted' ? 'ended' : status === 'not-started' ? 'did not start' : said[status]
  return line(facts.agent, `${word}${message === '' ? '' : `: ${message}`}${spent}`, look, [
    status === 'failed' ? 'red' : 'yellow',
  ])
}

function spentPart(usage: Usage): string {
  const used = usage.inputTokens + usage.outputTokens
  const parts = [
    usage.agentSeconds > 0 ? humanMs(usage.agentSeconds * 1000) : '',
    usage.costUsd > 0 ? costWords(usage) : '',
    used > 0 ? tokenWords(usage, ' tokens') : '',
  ].filter((part) => part !== '')
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

/** `[test] PASSED (14s)` for each gate; the output of those that failed below it. */
export function gateLines(gates: readonly GateResult[], look: Look): string[] {
  return gates.flatMap((gate) => {
    if (gate.ok) return [line(gate.name, `PASSED (${humanMs(gate.ms)})`, look, ['green'])]
    const word = gate.advisory ? 'failed, advisory only' : 'FAILED'
    const head = line(gate.name, `${word} (${gate.ended}, ${humanMs(gate.ms)})`, look, [
      gate.advisory ? 'yellow' : 'red',
    ])
    return [head, ...quoted(gate.output, look)]
  })
}

function acceptedLines(commit: string, state: State, look: Look): string[] {
  const entry = state.timeline.at(-1)
  const sha = /^[0-9a-f]{7,64}$/.test(commit) ? commit.slice(0, 7) : 'the change'
  const took = entry === undefined ? '' : ` after ${humanMs(entry.ms)}`
  const which = entry === undefined ? 'story' : entry.storyId
  const story = state.prd.userStories.find((one) => one.id === entry?.storyId)
  const how = story !== undefined && passedUnchanged(story) ? `, ${UNCHANGED}` : ''
  return [
    line('git', `committed ${sha}`, look),
    line(
      'ralph',
      `${sign('✔', look)}${which} passes${took}${how}${look.plain ? ', ' : ' · '}${tally(state)}`,
      look,
      ['green', 'bold'],
    ),
  ]
}

function rejectedLines(state: State, facts: LineFacts, look: Look): string[] {
  const entry = state.timeline.at(-1)
  const story = state.prd.userStories.find((one) => one.id === entry?.storyId)
  if (entry === undefined || story === undefined) return []
  const failure = state.records[story.id]?.failure ?? null
  const attempt = whichAttempt(entry.attempt, facts)
  const lines = [
    line('ralph', `${sign('✘', look)}${story.id} rejected (${attempt}): ${entry.summary}`, look, ['red']),
  ]
  // The output of gates was shown with the gates.
  if (failure !== null && failure.kind !== 'gates') lines.push(...quoted(failure.detail, look))
  if (story.blocked) lines.push(blockedLine(story.id, facts, look))
  return lines
}

/** `US-003 is blocked: ...` with what a person can type. */
export function blockedLine(storyId: string, facts: LineFacts, look: Look): string {
  const command = typedOn(facts.voice, `retry ${storyId} -- <hint>`)
  return line('ralph', `${sign('■', look)}${storyId} is blocked: ${command}`, look, ['red', 'bold'])
}

function verdictLine(
  tag: string,
  verdict: Extract<Event, { kind: 'verified' }>['verdict'],
  usage: Usage,
  look: Look,
): string {
  const spent = spentPart(usage)
  switch (verdict.kind) {
    case 'verified':
      return line(tag, `VERIFIED: every criterion is met${spent}`, look, ['green'])
    case 'reset':
      return line(tag, `RESET ${verdict.stories.join(', ')}: ${verdict.reason}${spent}`, look, ['red'])
    case 'limit':
      return line(tag, `limit reached: ${verdict.message}${spent}`, look, ['yellow'])
    case 'refused':
      return line(tag, `the agent cannot judge: ${verdict.message}${spent}`, look, ['red'])
    case 'none':
      return line(tag, `no verdict: ${verdict.message}${spent}`, look, ['yellow'])
  }
}

/** `waiting until 14:05 UTC: the agent's limit`; `until` is epoch milliseconds. */
export function waitLine(until: number, reason: string, look: Look): string {
  return line('ralph', `waiting until ${utc(until)}: ${reason}`, look, ['yellow'])
}

/** `waited 1h 05m`. */
export function waitedLine(ms: number, look: Look): string {
  return line('ralph', `waited ${humanMs(ms)}`, look, ['dim'])
}

/** What stands below the live header while it waits: `  1:05:09 left, until 14:05 UTC`. */
export function countdown(leftMs: number, until: number, voice: Surface, look: Look): string {
  const out = voice === 'cli' ? '; Ctrl+C saves and ends' : ''
  const seconds = Math.max(0, Math.ceil(leftMs / 1000))
  const two = (count: number) => String(count % 60).padStart(2, '0')
  const left = `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60))}:${two(seconds)}`
  return fit(`  ${left} left, until ${utc(until)}${out}`, Math.max(20, look.width))
}

/** The telling lines of somebody's output, behind a bar, so that none begins a line of its own. */
function quoted(output: string, look: Look): string[] {
  const all = plainLines(output.slice(-20_000))
    .split('\n')
    .map((text) => text.replaceAll('\t', '  ').trimEnd())
    .filter((text) => text !== '')
  const shown = all.length < OUTPUT_ROWS ? all : telling(all, OUTPUT_ROWS, () => 1, 1)
  const mark = look.plain ? '  | ' : '  │ '
  const room = look.plain ? 500 : Math.max(20, look.width) - 4
  return shown.map((text, at) => {
    if (typeof text === 'number') {
      const where = at === 0 ? ' before' : at === shown.length - 1 ? ' more' : ''
      return paint(`${mark}... ${many(text, 'line')}${where}`, ['dim'], look.colour)
    }
    const indent = /^ */.exec(text)?.[0].slice(0, 16) ?? ''
    const said = indent + terminalText(text, 2000)
    return paint(mark + (look.plain ? said.slice(0, room) : fit(said, room)), ['dim'], look.colour)
  })
}

function sign(mark: string, look: Look): string {
  return look.plain ? '' : `${mark} `
}

function pullPart(state: State): string {
  return state.github.pullUrl === null ? '' : `, pull request ${state.github.pullUrl}`
}

// The end

const ENDS: Record<Outcome, { title: string; colour: Colour; sign: string }> = {
  complete: { title: 'COMPLETE', colour: 'green', sign: '✔' },
  stuck: { title: 'STUCK', colour: 'red', sign: '■' },
  'max-iterations': { title: 'LIMIT REACHED', colour: 'yellow', sign: '■' },
  budget: { title: 'BUDGET SPENT', colour: 'yellow', sign: '■' },
  paused: { title: 'PAUSED', colour: 'yellow', sign: '‖' },
  continued: { title: 'CONTINUED', colour: 'blue', sign: '»' },
  error: { title: 'ERROR', colour: 'red', sign: '✘' },
  interrupted: { title: 'INTERRUPTED', colour: 'yellow', sign: '■' },
}

/**
 * The last thing that is said: outcome, stories, cost, time, where to look and what to do next. `places` are names
 * and addresses to look at (`Report`, `/path/report.html`), in order.
 */
export function outcomeSummary(
  state: State,
  conclusion: Conclusion,
  places: readonly (readonly [string, string])[],
  facts: LineFacts,
  look: Look,
): string {
  const end = ENDS[conclusion.outcome]
  const { run } = state.prd
  const fields: [string, string][] = [
    ['Stories', tally(state)],
    ['Iterations', `${run.iterations} in ${many(Math.max(1, run.jobs), 'job')}`],
    ['Cost', `${costOf(state, facts.limits)}, ${tokenWords(run.usage, ' tokens')}`],
    ['Agent time', humanMs(run.usage.agentSeconds * 1000)],
    ...whereToLook(state, places),
    ['Next', spoken(nextMove(state, { kind: 'ended', conclusion }, facts.voice, facts.limits))],
  ]
  const title = `${look.plain ? '' : `${end.sign} `}${end.title}`
  const why = terminalText(conclusion.reason)
  if (look.plain) {
    return [
      paint(`=== ${title}${why === '' ? '' : `: ${why}`} ===`, ['bold', end.colour], look.colour),
      ...fields.map(([name, value]) => `${name}: ${terminalText(value, 1000)}`),
    ].join('\n')
  }
  const inner = innerWidth(look.width)
  const column = 12
  const top = wrap(why, inner - textWidth(title) - 2).map(
    (part, at) =>
      `${at === 0 ? `${paint(title, ['bold', end.colour], look.colour)}  ` : ' '.repeat(textWidth(title) + 2)}${pad(part, inner - textWidth(title) - 2)}`,
  )
  const rows = fields.flatMap(([name, value]) =>
    wrap(terminalText(value, 1000), inner - column).map((part, at) => {
      const label = pad(at === 0 ? `${name}:` : '', column)
      const shown = pad(part, inner - column)
      return (
        paint(label, ['dim'], look.colour) + (name === 'Next' ? paint(shown, ['bold'], look.colour) : shown)
      )
    }),
  )
  return boxed([...top, ' '.repeat(inner), ...rows], inner, [end.colour], look.colour)
}

function whereToLook(state: State, places: readonly (readonly [string, string])[]): [string, string][] {
  const known: [string, string][] = [['Branch', state.branch]]
  if (state.github.pullUrl !== null) known.push(['Look at', state.github.pullUrl])
  return [...known, ...places.map(([name, value]): [string, string] => [terminalText(name, 10), value])]
}

/** How the run stands, in one line. */
export function statusLine(state: State, situation: Situation, look: Look): string {
  const text = terminalText(standingWords(state, situation))
  return paint(look.plain ? text : fit(text, Math.max(20, look.width)), ['bold'], look.colour)
}

const STANDS: Record<Standing, { sign: string; colour: Colour }> = {
  passed: { sign: '✔', colour: 'green' },
  skipped: { sign: '-', colour: 'dim' },
  blocked: { sign: '■', colour: 'red' },
  working: { sign: '»', colour: 'cyan' },
  rejected: { sign: '✘', colour: 'yellow' },
  waiting: { sign: '·', colour: 'dim' },
  open: { sign: '○', colour: 'dim' },
}

/** Every story on a line: how it stands, id, title, attempts, cost and time. A blocked one says why below. */
export function storyLines(state: State, look: Look): string[] {
  const stands = standings(state)
  const widths = state.prd.userStories.map((story) => textWidth(terminalText(story.id)))
  const column = widths.reduce((most, width) => Math.max(most, Math.min(width, look.width > 50 ? 16 : 8)), 0)
  return state.prd.userStories.flatMap((story) => {
    const standing = stands.get(story.id) ?? 'open'
    const { sign: mark, colour } = STANDS[standing]
    const name = look.plain ? standing.padEnd(8) : mark
    const whole = look.plain ? 500 : Math.max(20, look.width) - name.length - column - 2
    const spent = spentOn(state, story)
    const end = whole - spent.length < 12 ? '' : spent
    const title = fit(terminalText(story.title), whole - end.length)
    const first = `${paint(name, [colour], look.colour)} ${pad(terminalText(story.id), column)} ${title}`
    const shown = first + paint(end, ['dim'], look.colour)
    return standing === 'blocked' ? [shown, ...quoted(whyBlocked(state, story), look)] : [shown]
  })
}

function spentOn(state: State, story: Story): string {
  const record = state.records[story.id]
  const attempts = attemptsOf(state, story)
  const facts = [
    passedUnchanged(story) ? 'no change' : '',
    attempts > 0 ? many(attempts, 'attempt') : '',
    record !== undefined && record.usage.costUsd > 0 ? costWords(record.usage) : '',
    record !== undefined && record.ms > 0 ? humanMs(record.ms) : '',
  ].filter((part) => part !== '')
  return facts.length === 0 ? '' : ` (${facts.join(', ')})`
}
