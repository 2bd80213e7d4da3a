// Watches every decision and every change of a run, and fails at the first that breaks a promise of design 5.

import assert from 'node:assert/strict'
import { isChosen } from '../../../src/engine/model/attempt.ts'
import type { Event } from '../../../src/engine/model/event.ts'
import { outcomes, type Story } from '../../../src/engine/model/feature.ts'
import { openAttempt } from '../../../src/engine/model/job.ts'
import type { Limits } from '../../../src/engine/model/limit-types.ts'
import type { State } from '../../../src/engine/model/state.ts'
import type { Step } from '../../../src/engine/model/step.ts'
import { addUsage, emptyUsage, type Usage } from '../../../src/engine/model/usage.ts'
import { runUsage } from '../../../src/engine/model/usage-totals.ts'
import { nextStep } from '../../../src/engine/next-step.ts'
import { planDigest } from '../../../src/engine/planning/proposed-plan.ts'
import { inScope } from '../../../src/engine/prd/select.ts'
import { reduce } from '../../../src/engine/reduce.ts'

/** What the events alone say of the attempt in work. */
type Evidence = {
  storyId: string
  candidate: string | null
  empty: boolean
  gatesPassed: boolean
  judged: boolean
  /** How it must end: `fail` is charged, `back` is not. */
  end: 'open' | 'fail' | 'back'
}

/** Counted beside the state, from events alone; goes back with it when a job dies. */
type Ledger = {
  usage: Usage
  granted: { iterations: number; costUsd: number }
  cursor: number
  charged: number
  /** Passes that were taken back, by a verdict or by what people pushed. */
  reset: number
  /** Entries of progress.txt that a commit holds. */
  written: number
  generation: number
  evidence: Evidence | null
  /** Of candidates that are done and not chosen yet, by commit. */
  done: Readonly<Record<string, Evidence>>
}

export class Watch {
  #now: Ledger = {
    usage: emptyUsage(),
    granted: { iterations: 0, costUsd: 0 },
    cursor: 0,
    charged: 0,
    reset: 0,
    written: 0,
    generation: 0,
    evidence: null,
    done: {},
  }
  #saved: Ledger = this.#now
  #seen = 0
  #decidedAt = 0
  /** Purity and JSON are looked at in every n-th step. */
  readonly every: number
  constructor(every = 5) {
    this.every = every
  }

  save(saved: State): void {
    this.#saved = this.#now
    const left = saved.timeline.filter(({ result }) => result === 'candidate').length
    assert.equal(
      saved.progress.length + this.#now.written,
      this.#now.charged - left + this.#now.reset,
      'progress.txt gets exactly one entry for each charged iteration but candidates that were not chosen, and for each RESET',
    )
  }

  /** The job died: nothing counts but what git holds. */
  lost(): void {
    this.#now = this.#saved
  }

  claimed(saved: State, claimed: State): void {
    this.#now = this.#saved
    assert.equal(claimed.prd.run.jobs, saved.prd.run.jobs + 1, 'every job counts')
    assert.equal(claimed.generation, saved.generation, 'only a job’s end moves the generation')
    const attempt = openAttempt(saved)
    if (attempt === null) return
    // Taken over before by a job that died, too: what was reserved is charged once.
    const reserved = attempt.phase === 'reserved' ? attempt.reserved : null
    const costUsd = reserved?.costUsd ?? 0
    const inputTokens = Math.ceil(reserved?.tokens ?? 0)
    const estimated = { estimatedCostUsd: costUsd, estimatedTokens: inputTokens }
    this.#spend({ ...emptyUsage(), costUsd, inputTokens, ...estimated })
    assert.deepEqual(runUsage(claimed), this.#now.usage, 'a lost session is charged as an estimate')
    const { evidence } = this.#now
    if (isChosen(attempt) && openAttempt(claimed) === null) {
      this.#waits(evidence)
      assert.ok(
        claimed.contests?.[attempt.storyId],
        'a chosen candidate of a lost job waits to be chosen again',
      )
      return
    }
    if (evidence !== null) this.#now = { ...this.#now, evidence: { ...evidence, end: 'back' } }
    assert.equal(openAttempt(claimed)?.phase, 'returned', 'the attempt of a lost job is given back')
  }

  /** The candidate is chosen later, and what was proved of it still counts then. */
  #waits(evidence: Evidence | null): void {
    const { done } = this.#now
    const known = evidence?.candidate == null ? done : { ...done, [evidence.candidate]: evidence }
    this.#now = { ...this.#now, evidence: null, done: known }
  }

  decided(state: State, step: Step, limits: Limits, now: number): void {
    this.#seen += 1
    this.#decidedAt = now
    if (this.#seen % this.every === 0) {
      assert.deepEqual(nextStep(state, limits, now), step, 'the decision is deterministic')
      const copy: State = JSON.parse(JSON.stringify(state))
      assert.deepEqual(copy, state, 'a state is plain JSON')
      assert.deepEqual(nextStep(copy, limits, now), step, 'a state decides the same after a round trip')
    }
    switch (step.kind) {
      case 'reserve':
        mayReserve(state, step.storyId, limits, now)
        return
      case 'verify':
      case 'judge-whole':
        assert.ok(isDone(state), 'the final verification is for finished features')
        assert.ok(affordable(state, limits), 'no session begins beyond a budget')
        return
      case 'plan':
        assert.ok(affordable(state, limits), 'no session begins beyond a budget')
        assert.equal(state.control.paused, null, 'nothing begins in a pause')
        return
      case 'wait':
        assert.ok(step.until > now)
        assert.ok(
          limits.waits || state.job.ending !== null || step.until - now <= 5 * 60_000,
          'a runner is not paid for a long wait',
        )
        assert.ok(step.until < state.job.deadline, 'what does not fit is not waited for')
        return
      case 'conclude':
        mayConclude(state, step.conclusion.outcome, step.conclusion.reason, limits)
        return
      case 'stop':
        assert.equal(openAttempt(state), null, 'no attempt is left in work')
        assert.equal(state.lease, null, 'the lease is free')
        assert.ok(state.job.ending?.published && state.job.ending?.reported, 'the work is published and told')
        return
      default:
        return
    }
  }

  happened(before: State, event: Event, after: State, limits: Limits): void {
    if (this.#seen % this.every === 0) {
      const copies: [State, Event] = JSON.parse(JSON.stringify([before, event]))
      assert.deepEqual(reduce(...copies, limits), after, 'a change is the same after a round trip')
    }
    const settled = openAttempt(before) !== null && openAttempt(after) === null
    // A clock that was set back makes a limit stand again that was over.
    if (event.kind === 'reserved' && event.at >= this.#decidedAt) agentIsFree(after, event.at, limits)
    limitsAreOfAgents(before, event, after, limits)
    this.#hear(before, event)
    this.#passes(before, event, after)
    this.#charges(before, event, after, settled, limits)
    this.#cursor(before, event, after)
    this.#counts(before, event, after)
    retriesBlock(after, limits)
    const resets = after.timeline.filter((one) => one.result === 'reset' && !before.timeline.includes(one))
    this.#now = { ...this.#now, reset: this.#now.reset + resets.length }
    if (event.kind === 'accepted' && settled) this.#write(before.progress.length + 1)
    if (event.kind === 'opened' && before.published === null) this.#write(before.progress.length)
    if (event.kind === 'published' && event.green !== before.green) this.#write(before.progress.length)
    if (settled) this.#now = { ...this.#now, evidence: null }
    this.#chooses(before, after)
  }

  /** What is known of a candidate stays with it until it is chosen. */
  #chooses(before: State, after: State): void {
    const { evidence, done } = this.#now
    const [old, now] = [openAttempt(before), openAttempt(after)]
    if (now === null || !isChosen(now) || (old !== null && isChosen(old)) || !('candidate' in now)) return
    this.#now = { ...this.#now, evidence: done[now.candidate.commit] ?? evidence }
  }

  /** What the event says of money and of the attempt in work. */
  #hear(before: State, event: Event): void {
    const usage = usageOf(before, event)
    if (usage !== null) this.#spend(usage)
    const { evidence } = this.#now
    if (event.kind === 'reserved') this.#now = { ...this.#now, evidence: nothingYet(event.storyId) }
    else if (event.kind === 'entered' && evidence?.candidate != null) this.#waits(evidence)
    else if (evidence !== null)
      this.#now = { ...this.#now, evidence: { ...evidence, ...proof(before, event, evidence) } }
  }

  #passes(before: State, event: Event, after: State): void {
    for (const story of after.prd.userStories) {
      const old = before.prd.userStories.find((one) => one.id === story.id)
      if (!story.passes || old?.passes === true) continue
      const { evidence } = this.#now
      assert.equal(event.kind, 'accepted', `${story.id} passes by nothing but an acceptance`)
      assert.equal(evidence?.storyId, story.id, 'only the story in work passes')
      assert.ok(evidence.gatesPassed, `${story.id} passes only after its gates passed`)
      assert.equal(
        event.kind === 'accepted' ? event.commit : null,
        evidence.candidate,
        'what was gated is what is committed',
      )
      assert.ok(!evidence.empty || evidence.judged, 'an empty diff passes only through a judge')
      assert.equal(evidence.end, 'open', 'a rejected or returned attempt never passes')
      assert.equal(after.green, evidence.candidate, 'the green commit is the gated one')
    }
  }

  #charges(before: State, event: Event, after: State, settled: boolean, limits: Limits): void {
    const attempt = openAttempt(before)
    const isEntered = event.kind === 'entered' && (attempt?.phase === 'gated' || attempt?.phase === 'failed')
    const isCounted = event.kind === 'accepted' || event.kind === 'rejected'
    const charged = isEntered || (settled && isCounted && (attempt === null || !isChosen(attempt))) ? 1 : 0
    if (settled) {
      const end = this.#now.evidence?.end
      if (event.kind === 'rejected') assert.equal(end, 'fail', 'only failed attempts are rejected')
      if (event.kind === 'returned')
        assert.equal(end, 'back', 'limits, overload, cancellation and loss are given back')
    }
    const more = after.prd.run.iterations - before.prd.run.iterations
    assert.equal(more, charged, `${event.kind} charges ${charged}`)
    assert.equal(
      after.job.counts.iterations - before.job.counts.iterations,
      charged,
      'the batch counts the same',
    )
    this.#now = { ...this.#now, charged: this.#now.charged + charged }
    const entries = after.timeline.filter(({ result }) => result !== 'returned' && result !== 'reset')
    assert.equal(after.prd.run.iterations, entries.length, 'no step is charged twice')
    assert.equal(after.prd.run.iterations, this.#now.charged)
    if (limits.maxIterations > 0) {
      const most = limits.maxIterations + after.control.granted.iterations
      assert.ok(after.prd.run.iterations <= most, 'iterations never exceed their limit')
    }
    for (const story of after.prd.userStories) {
      const old = before.prd.userStories.find((one) => one.id === story.id)
      if (old === undefined || story.retries <= old.retries) continue
      assert.equal(story.retries, old.retries + 1, 'one strike at a time')
      const struck =
        event.kind === 'whole-gated' ||
        event.kind === 'verified' ||
        (event.kind === 'decided' && event.storyId === story.id) ||
        ((event.kind === 'rejected' || event.kind === 'entered') && attempt?.storyId === story.id)
      assert.ok(struck, `${event.kind} is no failed attempt of ${story.id}`)
    }
  }

  #cursor(before: State, event: Event, after: State): void {
    if (event.kind === 'synced') {
      for (const command of event.commands) {
        if (command.id <= this.#now.cursor) continue
        const granted = { ...this.#now.granted }
        if (command.kind === 'limit') {
          if (command.what === 'iterations') granted.iterations += command.amount
          else granted.costUsd += command.amount
        }
        this.#now = { ...this.#now, cursor: command.id, granted }
      }
    }
    assert.ok(after.control.lastComment >= before.control.lastComment, 'the cursor never goes back')
    assert.equal(after.control.lastComment, this.#now.cursor, 'the cursor is the highest comment handled')
    assert.deepEqual(after.control.granted, this.#now.granted, 'a command is applied once')
  }

  #counts(before: State, event: Event, after: State): void {
    if (event.kind === 'published') this.#now = { ...this.#now, generation: this.#now.generation + 1 }
    assert.equal(after.generation, this.#now.generation, 'the generation moves with the end of a job only')
    assert.ok(after.generation >= before.generation)
    assert.deepEqual(runUsage(after), this.#now.usage, 'usage is what the events reported')
  }

  #spend(usage: Usage): void {
    this.#now = { ...this.#now, usage: addUsage(this.#now.usage, usage) }
  }

  #write(entries: number): void {
    this.#now = { ...this.#now, written: this.#now.written + entries }
  }
}

/** An attempt is for an agent that is not at its limit. */
function agentIsFree(state: State, at: number, limits: Limits): void {
  const attempt = openAttempt(state)
  const { control } = state
  if (attempt === null) return
  const name = attempt.agent === 'first' ? limits.agent : limits.fallback
  assert.ok(name !== null, 'nobody stands in where nobody was named')
  assert.ok(!((control.agentLimits[name] ?? 0) > at), `${name} works while it is at its limit`)
}

/** A limit is met by a session of that agent, and forgotten only where a person asks to go on. */
function limitsAreOfAgents(before: State, event: Event, after: State, limits: Limits): void {
  const changed = Object.keys({ ...before.control.agentLimits, ...after.control.agentLimits }).filter(
    (name) => before.control.agentLimits[name] !== after.control.agentLimits[name],
  )
  if (changed.length === 0) return
  if (event.kind === 'synced') {
    assert.ok(event.commands.length > 0, 'a limit is not forgotten by itself')
    return
  }
  assert.ok(
    ['worked', 'judged', 'whole-gated', 'verified', 'planned'].includes(event.kind),
    `${event.kind} meets no limit`,
  )
  assert.equal(changed.length, 1, 'one session, one limit')
  assert.ok(changed[0] === limits.agent || changed[0] === limits.fallback)
  if (event.kind !== 'worked') return
  const worker = openAttempt(before)?.agent === 'fallback' ? limits.fallback : limits.agent
  assert.equal(changed[0], worker, 'the limit is of the agent that worked')
}

function nothingYet(storyId: string): Evidence {
  return { storyId, candidate: null, empty: false, gatesPassed: false, judged: false, end: 'open' }
}

function usageOf(before: State, event: Event): Usage | null {
  if (event.kind === 'worked') return event.session.usage
  if ('usage' in event) return event.usage
  return event.kind === 'interrupted' && before.job.ending === null ? (event.spent?.usage ?? null) : null
}

/** What the event proves of the attempt in work. */
function proof(before: State, event: Event, evidence: Evidence): Partial<Evidence> {
  switch (event.kind) {
    case 'worked': {
      const { status, hints } = event.session
      if (status === 'failed') return { end: 'fail' }
      if (status !== 'finished') return { end: 'back' }
      return hints.stuck !== null || hints.notDone ? { end: 'fail' } : {}
    }
    case 'refused':
      return { end: 'fail' }
    case 'guarded':
    case 'rebased':
      return {
        candidate: event.candidate.commit,
        empty: event.candidate.empty,
        gatesPassed: false,
        judged: false,
      }
    case 'gated': {
      if (event.commit !== evidence.candidate) return {}
      const gatesPassed = event.gates.every((gate) => gate.ok || gate.advisory)
      return gatesPassed ? { gatesPassed } : { gatesPassed, end: 'fail' }
    }
    case 'judged':
      if (event.verdict.kind === 'limit') return { end: 'back' }
      return event.verdict.kind === 'verified' ? { judged: true } : { end: 'fail' }
    case 'interrupted':
      return before.job.ending === null ? { end: 'back' } : {}
    default:
      return {}
  }
}

function ready(state: State, now: number): Story[] {
  const settled = (id: string) =>
    state.prd.userStories.some((story) => story.id === id && (story.passes || story.skipped))
  const asked = inScope(state.control.scope)
  return state.prd.userStories.filter(
    (story) =>
      asked(story) &&
      !story.passes &&
      !story.blocked &&
      !story.skipped &&
      state.splits?.[story.id] === undefined &&
      story.dependsOn.every(settled) &&
      !((state.records[story.id]?.breaker.until ?? 0) > now),
  )
}

function isDone(state: State): boolean {
  const isWanted = [state.plan, ...Object.values(state.splits ?? {})].some((plan) => plan?.phase === 'wanted')
  const asked = state.prd.userStories.filter(inScope(state.control.scope))
  return !isWanted && asked.every((story) => story.passes || story.skipped)
}

function affordable(state: State, limits: Limits): boolean {
  const usage = runUsage(state)
  return (
    (limits.maxCostUsd === null || usage.costUsd < limits.maxCostUsd + state.control.granted.costUsd) &&
    (limits.maxTokens === null || usage.inputTokens + usage.outputTokens < limits.maxTokens) &&
    (limits.maxAgentTimeMs === null || usage.agentSeconds * 1000 < limits.maxAgentTimeMs)
  )
}

/** Granted iterations bring the jobs that they need, by the rule of the default: three times as many. */
function jobsAllowed(state: State, limits: Limits): number {
  const { jobsBefore, granted } = state.control
  const { iterations } = granted
  if (limits.iterationsPerJob === 0) return jobsBefore + limits.maxJobs
  return jobsBefore + limits.maxJobs + 3 * Math.ceil(iterations / limits.iterationsPerJob)
}

function mayReserve(state: State, storyId: string, limits: Limits, now: number): void {
  const candidates = ready(state, now)
  const first = candidates.reduce<Story | null>(
    (best, story) => (best === null || story.priority < best.priority ? story : best),
    null,
  )
  // A story with some of its candidates comes before all others.
  if (state.contests?.[storyId] === undefined)
    assert.equal(storyId, first?.id, 'the first of the lowest priority among the ready ones')
  assert.equal(openAttempt(state), null, 'one attempt at a time')
  if (state.plan !== undefined && state.plan.phase !== 'begun') {
    assert.equal(state.plan.phase, 'approved', 'nothing of a plan is worked before somebody approved it')
    assert.equal(state.plan.digest, planDigest(state), 'as it stands')
  }
  assert.equal(state.control.paused, null, 'nothing begins in a pause')
  const agents = [limits.agent, ...(limits.fallback === null ? [] : [limits.fallback])]
  const isFree = (name: string) => !((state.control.agentLimits[name] ?? 0) > now)
  assert.ok(agents.some(isFree), 'nothing begins while every agent is at its limit')
  assert.ok(affordable(state, limits), 'no session begins beyond a budget')
  assert.ok(state.job.ready.synced, 'people are heard before every attempt')
  assert.ok(
    state.job.ready.prepared && state.job.ready.opened && (!limits.baseline || state.baseline === 'green'),
  )
  assert.ok(state.job.halted === null, 'a job that ends begins nothing')
  assert.ok(state.prd.run.jobs <= jobsAllowed(state, limits), 'jobs never exceed their limit')
  if (limits.maxIterations > 0) {
    const most = limits.maxIterations + state.control.granted.iterations
    assert.ok(state.prd.run.iterations < most, 'an iteration is left')
  }
  if (limits.iterationsPerJob > 0)
    assert.ok(state.job.counts.iterations < limits.iterationsPerJob, 'the batch is not over')
  if (limits.callsPerHour !== null) {
    const recent = state.control.calls.filter((at) => at > now - 3_600_000)
    assert.ok(recent.length < limits.callsPerHour, 'calls an hour never exceed their limit')
  }
  if (limits.stopOnBlocked) {
    const asked = state.prd.userStories.filter(inScope(state.control.scope))
    assert.ok(!asked.some((story) => story.blocked && !story.skipped))
  }
}

function mayConclude(state: State, outcome: string, reason: string, limits: Limits): void {
  assert.ok((outcomes as readonly string[]).includes(outcome))
  assert.notEqual(reason, '')
  const { approved, asked } = state.verification
  const finished = isDone(state) && (approved || !(limits.finalVerification || asked))
  if (outcome === 'complete') {
    assert.ok(finished, 'complete means every story passed and the verification agrees')
    assert.notEqual(
      state.job.branch.kind,
      'refused',
      'complete is never said of a branch that could not be pushed',
    )
  }
  if (outcome === 'stuck' && state.plan?.phase === 'wanted')
    assert.ok(state.plan.sessions >= limits.maxAttempts, 'a plan is tried as often as a story')
  else if (outcome === 'stuck' && !isDone(state) && !limits.stopOnBlocked)
    assert.equal(
      ready(state, Number.POSITIVE_INFINITY).length,
      0,
      'stuck means that no story can be worked on',
    )
  if (['max-iterations', 'budget', 'continued', 'stuck'].includes(outcome))
    assert.ok(!finished, 'completion comes before limits')
}

function retriesBlock(state: State, limits: Limits): void {
  for (const story of state.prd.userStories) {
    if (story.passes || story.skipped || story.blocked) continue
    assert.ok(
      story.retries < limits.maxAttempts,
      `${story.id} was tried ${story.retries} times and is not blocked`,
    )
  }
}
