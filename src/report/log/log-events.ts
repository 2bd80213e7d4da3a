// The lines of a log on each event of a run.

import { passedUnchanged, UNCHANGED } from '../../engine/attempts/attempt-outcome.ts'
import { formatCommandLine } from '../../engine/commands/command-table.ts'
import type { Session } from '../../engine/model/attempt.ts'
import type { BranchEdit } from '../../engine/model/branch-edit.ts'
import type { Event, EventOf, Verdict } from '../../engine/model/event.ts'
import type { ExampleResult } from '../../engine/model/example.ts'
import type { Story, StoryEvidence } from '../../engine/model/feature.ts'
import type { GateResult } from '../../engine/model/gate.ts'
import type { JoinedBranch } from '../../engine/model/joined-branch.ts'
import { ownFiles } from '../../engine/model/paths.ts'
import type { State, TimelineEntry } from '../../engine/model/state.ts'
import { oneLine } from '../../engine/model/text.ts'
import type { Usage } from '../../engine/model/usage.ts'
import {
  attemptLabel,
  costOrEmpty,
  describeTokens,
  formatDuration,
  formatUtc,
  listNames,
  pluralize,
  shortCommit,
} from '../figures.ts'
import { tally } from '../headline.ts'
import { type Line, type LineFacts, line, warningLine } from './log-line.ts'

/** The lines of an event. Its gates are not among them: they are logged as they end. `state`: after the event; `before`: before it. */
export function eventLines(
  event: Event,
  state: State,
  facts: LineFacts,
  before: State | null = null,
): Line[] {
  switch (event.kind) {
    case 'opened': {
      const { pullUrl } = state.github
      // A later job of a run finds branch and pull request already there.
      const isContinued = before !== null && before.published !== null && !before.control.anew
      const pullRequest = pullUrl === null ? '' : `, pull request ${pullUrl}`
      return [line('git', `${isContinued ? 'continues with' : 'opened'} ${state.branch}${pullRequest}`)]
    }
    case 'joined':
      return joinedLines(event, state)
    case 'join-gated': {
      const built = before?.job.branch.kind === 'joining' ? before.job.branch.joined : null
      if (state.job.branch.kind === 'refused')
        return [
          line(
            'git',
            state.control.paused?.reason ?? 'a gate fails on the commits that people pushed',
            'yellow',
          ),
        ]
      return joinedLines({ green: state.green, people: built?.people ?? null }, state)
    }
    case 'edited':
      return editedLines(event)
    case 'edit-gated':
      return editGatedLines(before?.job.editing, state)
    case 'join-failed':
    case 'push-refused':
      return [line('git', event.summary, 'yellow')]
    case 'worked':
      return [sessionLine(event.session, facts)]
    case 'guarded':
      return event.candidate.remarks.map((remark) => line('guard', `note: ${remark}`, 'yellow'))
    case 'judged':
      return [verdictLine('judge', event.verdict, event.usage)]
    case 'exampled':
      return [exampledLine(event)]
    case 'answered':
      return [answeredLine(event)]
    case 'tried':
      return event.answer.kind === 'tried' ? event.answer.results.map(triedLine) : []
    case 'entered':
      return candidateLines(event, state)
    case 'accepted':
      return [
        line('git', `committed ${shortCommit(event.commit) || 'the change'}`),
        ...withLastIteration(state, acceptedLines),
      ]
    case 'rejected':
      return withLastIteration(state, (entry, story) => rejectedLines(entry, story, state, facts))
    case 'returned': {
      const why = state.timeline.at(-1)?.summary ?? ''
      return [line('ralph', `attempt given back, not counted: ${why}`, 'yellow')]
    }
    case 'whole-gated':
      return reusedGateLines(event.gates)
    case 'verified':
      return [verdictLine('verify', event.verdict, event.usage)]
    case 'planned':
      return [planLine(event)]
    case 'published':
      return documentLines(event.documents ?? [])
    case 'dispatched':
      return [line('ralph', `started the next job${event.runId === null ? '' : ` (run ${event.runId})`}`)]
    case 'dispatch-limited':
      return [
        line('ralph', `GitHub's rate limit blocks the next job until ${formatUtc(event.until)}`, 'yellow'),
      ]
    case 'dispatch-failed':
      return [line('ralph', `the next job could not be started: ${event.summary}`, 'red')]
    case 'interrupted':
      return [line('ralph', 'cancelled: saving the run', 'yellow')]
    case 'failed':
      return [{ ...line('ralph', event.summary, 'red', 'bold'), output: event.fix }]
    default:
      return []
  }
}

/** Gates whose earlier result was used, so that they did not run again. */
function reusedGateLines(gates: readonly GateResult[]): Line[] {
  return gates.flatMap(({ name, asAt }) =>
    asAt === undefined
      ? []
      : [line('verify', `gate ${name} is not run again, because it passed on this code (${asAt})`, 'dim')],
  )
}

/** `built`: the edit that the gates ran on. */
function editGatedLines(built: State['job']['editing'], state: State): Line[] {
  if (built === undefined) return []
  const { edit, commit } = built
  if (state.green === commit) return [editLine(edit, commit)]
  return [line('git', edit.kind === 'update' ? NEEDS_SESSION : (state.control.paused?.reason ?? ''))]
}

const NEEDS_SESSION = 'merging the base branch needs a session'

function editedLines({ edit, green, refused, request }: Extract<Event, { kind: 'edited' }>): Line[] {
  if (refused !== undefined) return [line('git', refused)]
  if (request !== undefined) return [line('git', NEEDS_SESSION)]
  return green === undefined ? [] : [editLine(edit, green)]
}

function editLine(edit: BranchEdit, green: string): Line {
  const what = edit.kind === 'update' ? 'merged the base branch' : `dropped ${edit.stories.join(', ')}`
  return line('git', `${what}: ${green.slice(0, 7)}`)
}

function joinedLines({ green, people }: Pick<JoinedBranch, 'green' | 'people'>, state: State): Line[] {
  const joined = line('git', `merged the commits that people pushed: ${green.slice(0, 7)}`)
  if (people?.page !== true) return [joined]
  const { page, prd } = ownFiles(state)
  return [joined, warningLine(`${page} was edited, but a run reads only ${prd}. Edit the stories there`)]
}

function documentLines(paths: readonly string[]): Line[] {
  return paths.length === 0 ? [] : [line('git', `updated ${listNames(paths)}`)]
}

function planLine({ split, proposal, usage }: Extract<Event, { kind: 'planned' }>): Line {
  const used = usageSuffix(usage)
  if (proposal.kind === 'asked') {
    const questions = pluralize(proposal.questions.length, 'question')
    return line('plan', `${questions} to answer before the plan${used}`, 'green')
  }
  if (proposal.kind !== 'proposed') {
    const failure = split === null ? 'no plan' : `${split} is not split`
    return line('plan', `${failure}: ${proposal.message}${used}`, 'yellow')
  }
  const stories = pluralize(proposal.stories.length, 'story', 'stories')
  const replaced = split === null ? '' : ` instead of ${split}`
  return line('plan', `${stories} proposed${replaced}${used}`, 'green')
}

/** Calls `lines` with the iteration that has just ended and its story. Empty if there is none. */
function withLastIteration(
  state: State,
  lines: (entry: TimelineEntry, story: Story, state: State) => Line[],
): Line[] {
  const entry = state.timeline.at(-1)
  const story = state.prd.userStories.find(({ id }) => id === entry?.storyId)
  return entry === undefined || story === undefined ? [] : lines(entry, story, state)
}

function acceptedLines(entry: TimelineEntry, story: Story, state: State): Line[] {
  const how = passedUnchanged(story) ? `, ${UNCHANGED}` : ''
  const text = `${story.id} passes after ${formatDuration(entry.ms)}${how}, ${tally(state)}`
  return [{ ...line('ralph', text, 'green', 'bold'), mark: '✔' }]
}

function rejectedLines(entry: TimelineEntry, story: Story, state: State, facts: LineFacts): Line[] {
  const failure = state.records[story.id]?.failure ?? null
  const text = `${story.id} rejected (${attemptLabel(entry.attempt, facts.limits.maxAttempts)}): ${entry.summary}`
  // The output of gates was shown with the gates.
  const output = failure === null || failure.kind === 'gates' ? '' : failure.detail
  const rejected = { ...line('ralph', text, 'red'), mark: '✘', output }
  if (!story.blocked) return [rejected]
  const command = formatCommandLine(facts.surface, `retry ${story.id} -- <hint>`)
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
  const text = `${SESSION_ENDS[status]}${why}${usageSuffix(usage)}`
  if (status === 'finished') return line(agent, text)
  return line(agent, text, status === 'failed' ? 'red' : 'yellow')
}

function usageSuffix(usage: Usage): string {
  const parts = [
    usage.agentSeconds > 0 ? formatDuration(usage.agentSeconds * 1000) : '',
    costOrEmpty(usage),
    usage.inputTokens + usage.outputTokens > 0 ? describeTokens(usage, ' tokens') : '',
  ].filter((part) => part !== '')
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

function verdictLine(tag: string, verdict: Verdict, usage: Usage): Line {
  const used = usageSuffix(usage)
  switch (verdict.kind) {
    case 'verified': {
      const evidence = describeEvidence(verdict.evidence)
      return line(tag, `VERIFIED: every criterion is met, ${evidence}${used}`, 'green')
    }
    case 'reset':
      return line(tag, `RESET ${verdict.stories.join(', ')}: ${verdict.reason}${used}`, 'red')
    case 'limit':
      return line(tag, `limit reached: ${verdict.message}${used}`, 'yellow')
    case 'refused':
      return line(tag, `the agent cannot judge: ${verdict.message}${used}`, 'red')
    case 'none':
      return line(tag, `no verdict: ${verdict.message}${used}`, 'yellow')
  }
}

function describeEvidence(evidence: readonly StoryEvidence[] = []): string {
  return evidence.length === 0
    ? 'without citing evidence'
    : `with ${pluralize(evidence.length, 'piece', 'pieces')} of evidence`
}

/** The result of one of several candidates. After the last one, also which of them is chosen. */
function candidateLines({ storyId, lines }: EventOf<'entered'>, state: State): Line[] {
  const entry = state.timeline.findLast((iteration) => iteration.storyId === storyId)
  const size = lines === null ? '' : `, ${pluralize(lines, 'line')} changed`
  const contest = state.attempts[storyId]?.contest
  const why = state.records[storyId]?.choice?.why ?? ''
  return [
    line('ralph', `${entry?.summary ?? ''}${size}`, lines === null ? 'yellow' : 'green'),
    ...(contest?.stage === 'chosen' ? [line('ralph', `candidate ${contest.slot} is chosen: ${why}`)] : []),
  ]
}

/** Says nothing of what an example expects. */
function exampledLine({ storyId, answer }: EventOf<'exampled'>): Line {
  switch (answer.kind) {
    case 'written':
      return line('examples', `${storyId} has ${pluralize(answer.examples.length, 'example')}`, 'dim')
    case 'contradiction':
      return line('examples', `${storyId}: its examples contradict its criteria: ${answer.why}`, 'yellow')
    default:
      return line('examples', `${storyId}: no examples were written: ${answer.message}`, 'yellow')
  }
}

function answeredLine({ storyId, answer }: EventOf<'answered'>): Line {
  switch (answer.kind) {
    case 'words':
      return line('answer', `${storyId} is answered: ${oneLine(answer.text, 200)}`, 'green')
    case 'change':
      return line('answer', `${storyId} asks for a change: a session works on it next`)
    default:
      return line('answer', `${storyId} was not answered: ${answer.message}`, 'yellow')
  }
}

function triedLine({ example, criterion, result, why }: ExampleResult): Line {
  const what = `example ${example} of criterion ${criterion}`
  if (result === 'met') return line('examples', `${what}: met`, 'green')
  const words = result === 'mismatch' ? 'mismatch' : 'not tried'
  return line('examples', `${what}: ${words}: ${why}`, result === 'mismatch' ? 'red' : 'yellow')
}
