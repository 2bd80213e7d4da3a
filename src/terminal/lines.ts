// What a log says of a run, as data: lines for each step, each event, and what agent and gates do meanwhile.
import type { AgentEvent } from '../agents/agent.ts'
import { type Surface, typedOn } from '../loop/command-table.ts'
import { passedUnchanged, UNCHANGED } from '../loop/settled.ts'
import type { Session } from '../model/attempt.ts'
import type { Event, Verdict } from '../model/event.ts'
import type { Story, StoryEvidence } from '../model/feature.ts'
import { CANCELLED, type GateResult } from '../model/gate.ts'
import { isUngated, openAttempt } from '../model/job.ts'
import type { Limits } from '../model/limits.ts'
import { ownFiles } from '../model/paths.ts'
import type { State, TimelineEntry } from '../model/state.ts'
import type { Step } from '../model/step.ts'
import { oneLine } from '../model/text.ts'
import type { Usage } from '../model/usage.ts'
import { tally } from '../report/headline.ts'
import type { Colour } from '../report/outcomes.ts'
import { costWords, humanMs, many, testWords, tokenWords, utc } from '../report/words.ts'
import type { Line, Tagged } from './line.ts'

/** What lines need beside the state: the agent's name (`claude`), and where people type. */
export type LineFacts = { limits: Limits; agent: string; surface: Surface }

const line = (tag: string, text: string, ...colours: readonly Colour[]): Tagged => ({ tag, text, colours })

/** Before a step is performed; nothing for most. */
export function stepLines(step: Step, state: State, facts: LineFacts): Line[] {
  switch (step.kind) {
    case 'baseline':
      return [line('baseline', `are the gates green on ${state.base.branch}?`, 'dim')]
    case 'agent':
      return iterationLines(state, facts)
    case 'gates':
      return isUngated(state.job) ? [] : [line('gates', 'running', 'dim')]
    case 'judge': {
      const { storyId, candidate } = step.attempt
      const why = candidate.empty
        ? `nothing was changed: a fresh session judges whether ${storyId} is met`
        : `a fresh session judges whether ${storyId} asks for what the tests expect now`
      return [line('judge', why, 'dim')]
    }
    case 'verify': {
      const gates = isUngated(state.job) ? '' : 'all gates, then '
      return [
        { heading: 'Final verification' },
        line('verify', `${gates}a fresh session judges every criterion`, 'dim'),
      ]
    }
    case 'plan':
      return [
        { heading: step.split === null ? 'Plan' : `Split ${step.split}` },
        line(facts.agent, 'reading and proposing stories; nothing of what it writes stays', 'dim'),
      ]
    case 'join':
      return [line('git', `joining with ${step.theirs.slice(0, 7)}, which people committed`)]
    case 'publish':
      return [line('git', `publishing ${state.branch}`, 'dim')]
    default:
      return []
  }
}

function iterationLines(state: State, facts: LineFacts): Line[] {
  const { prd } = state
  const attempt = openAttempt(state)
  if (attempt === null) return []
  const { storyId, iteration, number } = attempt
  const title = prd.userStories.find(({ id }) => id === storyId)?.title ?? ''
  const end = number > 1 ? ` (${whichAttempt(number, facts)})` : ''
  return [
    { heading: `Iteration ${iteration}: ${storyId} - ${title}`, end },
    line(facts.agent, `working on ${storyId}`, 'dim'),
  ]
}

/** A story may have had more than the limit already: in the file that it came from, or before the limit was lowered. */
function whichAttempt(number: number, { limits: { maxAttempts } }: LineFacts): string {
  return number > maxAttempts ? `attempt ${number}` : `attempt ${number} of ${maxAttempts}`
}

/** Of something that happened, gates left out: they are told as they end. `state` is the state after it, `before` the one before. */
export function eventLines(
  event: Event,
  state: State,
  facts: LineFacts,
  before: State | null = null,
): Line[] {
  switch (event.kind) {
    case 'opened': {
      const { pullUrl } = state.github
      // A later job of a run finds both.
      const isThere = before !== null && before.published !== null && !before.control.anew
      const page = pullUrl === null ? '' : `, pull request ${pullUrl}`
      return [line('git', `${isThere ? 'goes on with' : 'opened'} ${state.branch}${page}`)]
    }
    case 'joined':
      return [
        line('git', `joined with what people committed: ${event.green.slice(0, 7)}`),
        ...pageLines(event, state),
      ]
    case 'join-failed':
    case 'push-refused':
      return [line('git', event.summary, 'yellow')]
    case 'worked':
      return [sessionLine(event.session, facts)]
    case 'guarded':
      return event.candidate.remarks.map((remark) => line('guard', `note: ${remark}`, 'yellow'))
    case 'judged':
      return [verdictLine('judge', event.verdict, event.usage)]
    case 'accepted':
      return [line('git', `committed ${commitWord(event.commit)}`), ...ofLast(state, acceptedLines)]
    case 'rejected':
      return ofLast(state, (entry, story) => rejectedLines(entry, story, state, facts))
    case 'returned': {
      const why = state.timeline.at(-1)?.summary ?? ''
      return [line('ralph', `attempt given back, counts as none: ${why}`, 'yellow')]
    }
    case 'verified':
      return [verdictLine('verify', event.verdict, event.usage)]
    case 'planned':
      return [planLine(event)]
    case 'dispatched':
      return [line('ralph', `started the next job${event.runId === null ? '' : ` (run ${event.runId})`}`)]
    case 'dispatch-limited':
      return [line('ralph', `GitHub's rate limit refuses the next job until ${utc(event.until)}`, 'yellow')]
    case 'dispatch-failed':
      return [line('ralph', `the next job could not be started: ${event.summary}`, 'red')]
    case 'interrupted':
      return [line('ralph', 'cancelled: putting things in order', 'yellow')]
    case 'failed':
      return [{ ...line('ralph', event.summary, 'red', 'bold'), output: event.fix }]
    default:
      return []
  }
}

function pageLines({ people }: Extract<Event, { kind: 'joined' }>, state: State): Line[] {
  if (people?.page !== true) return []
  const { page, prd } = ownFiles(state)
  return [warningLine(`${page} was edited, which no run reads: the stories are what ${prd} says`)]
}

function planLine({ split, proposal, usage }: Extract<Event, { kind: 'planned' }>): Line {
  const end = spentPart(usage)
  const none = split === null ? 'no plan' : `${split} is not split`
  if (proposal.kind !== 'proposed') return line('plan', `${none}: ${proposal.message}${end}`, 'yellow')
  const of = split === null ? '' : ` in the place of ${split}`
  return line('plan', `${many(proposal.stories.length, 'story', 'stories')} proposed${of}${end}`, 'green')
}

/** With the iteration that has just ended, and its story. */
function ofLast(state: State, lines: (entry: TimelineEntry, story: Story, state: State) => Line[]): Line[] {
  const entry = state.timeline.at(-1)
  const story = state.prd.userStories.find(({ id }) => id === entry?.storyId)
  return entry === undefined || story === undefined ? [] : lines(entry, story, state)
}

function commitWord(commit: string): string {
  return /^[0-9a-f]{7,64}$/.test(commit) ? commit.slice(0, 7) : 'the change'
}

function acceptedLines(entry: TimelineEntry, story: Story, state: State): Line[] {
  const how = passedUnchanged(story) ? `, ${UNCHANGED}` : ''
  const text = `${story.id} passes after ${humanMs(entry.ms)}${how}, ${tally(state)}`
  return [{ ...line('ralph', text, 'green', 'bold'), mark: '✔' }]
}

function rejectedLines(entry: TimelineEntry, story: Story, state: State, facts: LineFacts): Line[] {
  const failure = state.records[story.id]?.failure ?? null
  const text = `${story.id} rejected (${whichAttempt(entry.attempt, facts)}): ${entry.summary}`
  // The output of gates was shown with the gates.
  const output = failure === null || failure.kind === 'gates' ? '' : failure.detail
  const rejected = { ...line('ralph', text, 'red'), mark: '✘', output }
  if (!story.blocked) return [rejected]
  const command = typedOn(facts.surface, `retry ${story.id} -- <hint>`)
  const blocked = { ...line('ralph', `${story.id} is blocked: ${command}`, 'red', 'bold'), mark: '■' }
  return [rejected, blocked]
}

const SESSION_ENDS: Readonly<Record<Session['status'], string>> = {
  finished: 'done',
  failed: 'FAILED',
  limit: 'limit reached',
  overloaded: 'overloaded',
  auth: 'not logged in',
  'not-started': 'did not start',
  interrupted: 'ended',
}

function sessionLine({ status, message, usage }: Session, { agent }: LineFacts): Line {
  const why = message === '' || status === 'finished' ? '' : `: ${message}`
  const text = `${SESSION_ENDS[status]}${why}${spentPart(usage)}`
  if (status === 'finished') return line(agent, text)
  return line(agent, text, status === 'failed' ? 'red' : 'yellow')
}

function spentPart(usage: Usage): string {
  const parts = [
    usage.agentSeconds > 0 ? humanMs(usage.agentSeconds * 1000) : '',
    usage.costUsd > 0 ? costWords(usage) : '',
    usage.inputTokens + usage.outputTokens > 0 ? tokenWords(usage, ' tokens') : '',
  ].filter((part) => part !== '')
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

function verdictLine(tag: string, verdict: Verdict, usage: Usage): Line {
  const spent = spentPart(usage)
  switch (verdict.kind) {
    case 'verified':
      return line(tag, `VERIFIED: every criterion is met, ${shownWords(verdict.evidence)}${spent}`, 'green')
    case 'reset':
      return line(tag, `RESET ${verdict.stories.join(', ')}: ${verdict.reason}${spent}`, 'red')
    case 'limit':
      return line(tag, `limit reached: ${verdict.message}${spent}`, 'yellow')
    case 'refused':
      return line(tag, `the agent cannot judge: ${verdict.message}${spent}`, 'red')
    case 'none':
      return line(tag, `no verdict: ${verdict.message}${spent}`, 'yellow')
  }
}

function shownWords(evidence: readonly StoryEvidence[] = []): string {
  return evidence.length === 0
    ? 'without naming evidence'
    : `with ${many(evidence.length, 'place')} that show it`
}

/** `[test] PASSED (14s, 40 passed)`, with the output of one that failed, and what else is to be known of it. */
export function gateLines({ name, ok, advisory, ended, ms, output, ...more }: GateResult): Line[] {
  // What it counted and printed until then would read like a verdict.
  if (!ok && ended === CANCELLED) return [line(name, `${CANCELLED} (${humanMs(ms)})`, 'yellow')]
  const { tests, flaky, remarks = [] } = more
  const figures = [ok ? '' : ended, humanMs(ms), testWords(tests)].filter((part) => part !== '').join(', ')
  const notes = [...(more.findings ?? []), ...remarks].map((one) => line(name, `note: ${one}`, 'yellow'))
  if (ok)
    return [line(name, `PASSED${flaky ? ', FLAKY' : ''} (${figures})`, flaky ? 'yellow' : 'green'), ...notes]
  const isAdvice = advisory && more.asItWas !== true
  const word = isAdvice ? 'failed, advisory only' : 'FAILED'
  return [{ ...line(name, `${word} (${figures})`, isAdvice ? 'yellow' : 'red'), output }, ...notes]
}

/** Of a command of the project that begins: `prepare` and services, for the gates were announced together. */
export function startLines(name: string): Line[] {
  if (name.startsWith('service ')) return [line(name, 'starting', 'dim')]
  return name === 'prepare' ? [line('prepare', 'running', 'dim')] : []
}

/** Something that people should know and that ends nothing. */
export function warningLine(text: string): Line {
  return line('warning', text, 'yellow')
}

/** `until` is epoch milliseconds. */
export function waitLine(until: number, reason: string): Line {
  return line('ralph', `waiting until ${utc(until)}: ${reason}`, 'yellow')
}

export function waitedLine(ms: number): Line {
  return line('ralph', `waited ${humanMs(ms)}`, 'dim')
}

/** What the agent says or does while it works: `[claude] Edit src/login.ts`. The transcript has all of it. */
export function agentLines(event: AgentEvent, { agent }: LineFacts): Line[] {
  const text = agentWords(event)
  if (event.kind === 'step') return [line('step', text)]
  return text === '' ? [] : [line(agent, text, 'dim')]
}

export function agentWords(event: AgentEvent): string {
  switch (event.kind) {
    case 'text':
      // Each is looked up; how many there are is told with the verdict.
      return event.text.startsWith('<ralph>EVIDENCE:') ? '' : short(event.text)
    case 'step':
      return short(event.text)
    case 'error':
      return short(event.message)
    case 'tool':
      return event.target === null ? event.name : `${event.name} ${event.target}`
    case 'limit':
      return event.resetsAt === null
        ? 'a usage or rate limit is reached'
        : `the usage limit is reached, until ${utc(event.resetsAt)}`
    case 'retry': {
      const after = event.status === null ? 'a failed request' : `HTTP ${event.status}`
      return `asks its server again after ${after} (attempt ${event.attempt})`
    }
    case 'usage':
      return ''
  }
}

/** Characters of what an agent says that a line shows. */
const SHOWN = 300

function short(text: string): string {
  return oneLine(text, SHOWN)
}
