// Which changes of a run are notified. Pure: two durable states and the event between them give notices as data.
//
// A notice is sent when its change is durable, and only if the durable state before did not have that change. A job that is
// killed and started again finds the later state, and sends no notice twice.
import { formatCommandLine, type Surface } from '../engine/commands/command-table.ts'
import { EVENTS, type Event } from '../engine/model/event.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import type { State } from '../engine/model/state.ts'
import type { Step } from '../engine/model/step.ts'
import { mapTexts, oneLine } from '../engine/model/text.ts'
import { tokensOf } from '../engine/model/usage.ts'
import { runUsage } from '../engine/model/usage-totals.ts'
import { pendingWait } from '../engine/next-step.ts'
import { counts } from '../engine/prd/select.ts'
import { nextStepOfJob } from '../engine/situation.ts'
import { MAX_WAIT_MS } from '../engine/state/limits.ts'
import { formatDuration, formatTokens, formatUsd, formatUtc, hasCost } from '../report/figures.ts'
import { blockedIds, outcomeNow, resumesAt, tally, willContinue } from '../report/headline.ts'
import { type Sentence, sentence } from '../report/sentence.ts'
import { viewOf } from '../report/view.ts'
import { messageOf, UserError } from '../system/errors.ts'

export type NoticeFacts = {
  limits: Limits
  surface: Surface
  /** A progress message is sent after every so many iterations. */
  every: number
  /** `acme/shop`; null outside of CI. */
  repository: string | null
  /** This job's page; null outside of CI. */
  runUrl: string | null
  redact(text: string): string
  /** An id that is the same for the same words. */
  id(words: string): string
}

type NoticeEvent = 'start' | 'progress' | 'blocked' | 'waiting' | 'budget' | 'outcome' | 'test'

/** A notification: plain text in it is not escaped yet. */
export type Notice = ReturnType<typeof noticeOf>

/** A notice before its texts are made. `key` is the same for the same change; without a headline the notice has the run's status. */
type PendingNotice = { event: NoticeEvent; key: string; sign?: string; headline?: string; next?: Sentence }

/** Whether the next job will find this event's change in the state. */
export function isDurable(event: Event): boolean {
  return EVENTS[event.kind].isDurable || event.kind === 'published' || event.kind === 'opened'
}

/** The notices of changes that are durable now and were not `before`. */
export function noticesOf(before: State, after: State, at: number, facts: NoticeFacts): Notice[] {
  if (pendingNotices(before, after, facts).length === 0) return []
  const clean = mapTexts(after, facts.redact)
  const pending = pendingNotices(mapTexts(before, facts.redact), clean, facts)
  return pending.map((one) => noticeOf(one, clean, at, facts))
}

/** The notice of a job's end; none if the chain continues by itself, or nothing has changed since the job began. */
export function noticesOfEnd(start: State, after: State, at: number, facts: NoticeFacts): Notice[] {
  const outcome = outcomeNow(after)
  if (outcome === null || (outcome === 'continued' && willContinue(after))) return []
  const { run } = start.prd
  const isOwn = outcome === 'error' || outcome === 'interrupted'
  if (!isOwn && run.outcome === outcome && runUsage(start).calls === runUsage(after).calls) return []
  const event = resumesAt(after) === null ? 'outcome' : 'waiting'
  const clean = mapTexts(after, facts.redact)
  return [noticeOf({ event, key: outcome }, clean, at, facts)]
}

/** The notice of a long wait; none if an earlier job had begun the same wait. */
export function noticesOfWait(
  start: State,
  step: Step,
  state: State,
  at: number,
  facts: NoticeFacts,
): Notice[] {
  if (step.kind !== 'wait' || state.job.ending !== null || step.until - at < MAX_WAIT_MS) return []
  const begun = nextStepOfJob(start, facts.limits, at)
  const until =
    begun.kind === 'wait' ? begun.until : begun.kind === 'conclude' ? begun.conclusion.until : null
  // What people allowed since then may be why the job continues: a wait that its beginning had already is not new either.
  if (until === step.until || pendingWait(start, facts.limits, at)?.until === step.until) return []
  const clean = mapTexts(state, facts.redact)
  const headline = `Waiting until ${formatUtc(step.until)}: ${facts.redact(step.reason)} · ${tally(clean)}`
  const pending: PendingNotice = { event: 'waiting', key: String(step.until), sign: '⏳', headline }
  return [noticeOf(pending, clean, at, facts)]
}

/** For `ralph notify --test`. */
export function testNotice(feature: string, at: number, id: NoticeFacts['id']): Notice {
  return {
    event: 'test',
    delivery: id(`test/${at}`),
    at,
    repository: null,
    project: '',
    feature,
    branch: '',
    generation: 0,
    outcome: null,
    sign: '🔔',
    headline: "A test: Ralph's notifications arrive here",
    next: sentence`Nothing to do.`,
    stories: { total: 0, passed: 0, skipped: 0, blocked: [] },
    iterations: 0,
    jobs: 0,
    costUsd: null,
    tokens: 0,
    pullRequestUrl: null,
    runUrl: null,
  }
}

/** For a job that could not begin, or broke off: no state records it. */
export function errorNotice(
  error: unknown,
  about: Pick<Notice, 'feature' | 'runUrl' | 'repository' | 'at'>,
  { redact, id }: Pick<NoticeFacts, 'redact' | 'id'>,
): Notice {
  const { feature, at } = about
  const [first] = error instanceof UserError ? error.mistakes : []
  const why = redact(first === undefined ? messageOf(error) : `${first.path}: ${first.found}`)
  const content = {
    event: 'outcome',
    outcome: 'error',
    sign: '❌',
    headline: `Error: ${oneLine(why)}`,
  } as const
  const next = sentence`${{ text: redact(first?.fix ?? 'See its log.') }}`
  return { ...testNotice(feature, at, id), ...about, ...content, next, delivery: id(`error/${at}`) }
}

function pendingNotices(before: State, after: State, facts: NoticeFacts): PendingNotice[] {
  return [
    ...started(before, after),
    ...spentShares(before, after, facts),
    ...blocked(before, after, facts),
    ...progressed(before, after, facts),
  ]
}

function isBegun({ timeline, attempts }: State): boolean {
  return timeline.length > 0 || Object.keys(attempts).length > 0
}

/** Once a run, not at each job. */
function started(before: State, after: State): PendingNotice[] {
  if (isBegun(before) || !isBegun(after)) return []
  return [{ event: 'start', key: '', sign: '🚀', headline: `Started on ${after.branch} · ${tally(after)}` }]
}

function progressed(before: State, after: State, { every }: NoticeFacts): PendingNotice[] {
  const { iterations } = after.prd.run
  const due = Math.floor(iterations / every)
  if (due <= Math.floor(before.prd.run.iterations / every)) return []
  return [{ event: 'progress', key: String(due) }]
}

function blocked(before: State, after: State, { surface }: NoticeFacts): PendingNotice[] {
  const were = new Set(before.prd.userStories.filter((story) => story.blocked).map(({ id }) => id))
  return after.prd.userStories
    .filter((story) => story.blocked && !were.has(story.id))
    .map(({ id, title, notes }) => {
      const record = after.records[id]
      const why = oneLine(record?.failure?.summary || notes, 240)
      const retry = commandHint(after, surface, `retry ${id} -- <hint>`, 'tries it again with your hint')
      return {
        event: 'blocked',
        key: `${id}/${record?.attempts ?? 0}`,
        sign: '⛔',
        headline: `${oneLine(id, 64)} is blocked (${oneLine(title, 120)}): ${why}`,
        next: sentence`Ralph continues with the other stories.${retry}`,
      }
    })
}

/** What a command does, if the reader can type it: Ralph reads comments only on the pull request. */
function commandHint({ github }: State, surface: Surface, command: string, does: string): Sentence {
  if (surface === 'comment' && github.pull === null) return []
  return sentence` ${{ code: formatCommandLine(surface, command) }} ${{ text: does }}.`
}

/** Percent of a limit. */
const SHARES = [100, 80, 50]

/** Each share of each limit once: what is used only grows, and a limit that was raised is another. */
function spentShares(before: State, after: State, { limits, surface }: NoticeFacts): PendingNotice[] {
  const was = runUsage(before)
  const is = runUsage(after)
  const { maxCostUsd, maxTokens, maxAgentTimeMs } = limits
  const cost = maxCostUsd === null ? null : maxCostUsd + after.control.granted.costUsd
  const raise = sentence`The run ends when the limit is reached.${commandHint(after, surface, 'limit cost +5', 'raises it by $5')}`
  return [
    ...share('cost', was.costUsd, is.costUsd, cost, formatUsd).map((pending) => ({
      ...pending,
      next: raise,
    })),
    ...share('token', tokensOf(was), tokensOf(is), maxTokens, formatTokens),
    ...share('agent-time', was.agentSeconds * 1000, is.agentSeconds * 1000, maxAgentTimeMs, formatDuration),
  ]
}

function share(
  what: string,
  before: number,
  after: number,
  limit: number | null,
  words: (amount: number) => string,
): PendingNotice[] {
  if (limit === null || limit <= 0) return []
  const passed = SHARES.find((percent) => after * 100 >= limit * percent)
  if (passed === undefined || before * 100 >= limit * passed) return []
  const headline = `${passed} % of the ${what} limit is used: ${words(after)} of ${words(limit)}`
  return [{ event: 'budget', key: `${what}/${passed}/${limit}`, sign: '💰', headline }]
}

/** Of a state whose texts are redacted: once they are cut and joined, a secret could no longer be found. */
function noticeOf({ event, key, ...overrides }: PendingNotice, state: State, at: number, facts: NoticeFacts) {
  const { id, runUrl, repository } = facts
  const view = viewOf(state, { ...facts, now: at })
  const { sign = view.headline.sign, headline = view.headline.text, next = view.next } = overrides
  const { prd, control, generation, nonce, feature, branch, github } = state
  const { iterations, jobs } = prd.run
  const usage = runUsage(state)
  const { total, passed, skipped } = counts(prd, control.scope)
  return {
    event,
    /** The same id for the same event, so that a receiver can drop a second delivery. */
    delivery: id([nonce, generation, event, key].join('/')),
    /** Epoch milliseconds. */
    at,
    repository,
    project: prd.project,
    feature,
    branch,
    generation,
    /** Of the job; null while it is at work. */
    outcome: view.outcome,
    sign,
    headline,
    next,
    stories: { total, passed, skipped, blocked: blockedIds(state) },
    iterations,
    jobs,
    /** Null if no agent reported a cost. */
    costUsd: hasCost(usage) ? usage.costUsd : null,
    tokens: tokensOf(usage),
    pullRequestUrl: github.pullUrl,
    runUrl,
  }
}
