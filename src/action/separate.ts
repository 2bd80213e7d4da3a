// `isolation: separate-job`: four jobs do one iteration, each by the same loop. `claim` and `land` hold the write token and
// run nothing of the repository (work.ts); `work` runs the agent and `gate` the gates, with a token that can only read.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as core from '@actions/core'
import { takeOver } from '../app/claim.ts'
import { limitsOf, refuseUngated } from '../app/limits.ts'
import { createPorts } from '../app/ports.ts'
import type { Workspace } from '../app/workspace.ts'
import { moveClone } from '../git/clone.ts'
import { writeCommit } from '../git/commits.ts'
import { refuseFiltered } from '../git/filters.ts'
import { RALPH } from '../git/state-commit.ts'
import {
  type FromClaim,
  type FromGate,
  type FromWork,
  fitGates,
  readFromClaim,
  readFromGate,
  readFromWork,
  writeHandover,
} from '../jobs/handover.ts'
import { readPack, writePack } from '../jobs/pack.ts'
import {
  answered,
  cleaner,
  type Heard,
  type Results,
  recorded,
  recording,
  replayed,
  unavailable,
} from '../jobs/ports.ts'
import { type HandedOver, loop } from '../loop/loop.ts'
import { nextStep } from '../loop/next-step.ts'
import { refund, spend } from '../loop/reduce.ts'
import type { Limits } from '../model/limits.ts'
import type { AgentPort, GatesPort, Observer, Ports, StorePort } from '../model/ports.ts'
import type { Failure, Landing, Session, State } from '../model/state.ts'
import { type Part, STEPS, type Step, stepsOf } from '../model/step.ts'
import { describeSettings, type Settings } from '../settings/index.ts'
import { messageOf, UserError } from '../system/errors.ts'
import { newMark } from '../system/process.ts'
import { Live } from '../terminal/live.ts'
import { withCredentialsAside } from './aside.ts'
import { type ActionContext, actionSettings, tokenOf } from './context.ts'
import type { Log } from './log.ts'
import { openFor, pickLimits, settleFiles, trusted } from './open.ts'
import { remember } from './runner.ts'

/** How a job goes through the loop: what stands in the place of agent and gates, and which part of it all it is. */
export type How = { ports: { agent?: AgentPort; gates?: GatesPort }; part: Part | null }

export const WHOLE: How = { ports: {}, part: null }
/** Everything that needs neither the agent nor code of the repository. */
export const CLAIM: How = { ports: unavailable, part: 'claim' }

const FROM_THERE = { work: 'taken from the work job', gate: 'results of the gate job' }

/** The log of a job that does not do every step itself. */
export function logOf(live: Live, part: Part | null): Observer {
  return {
    event: (event, state) => live.event(event, state),
    async step(step, state) {
      const { by } = STEPS[step.kind]
      if (part === null || by === null || by === part) return live.step(step, state)
      const what =
        'attempt' in step ? `${step.attempt.storyId}, iteration ${step.attempt.iteration}` : step.kind
      live.say(`[${step.kind}] ${what}: ${FROM_THERE[by]}`)
    },
  }
}

/** Set by the example workflow from the outputs of the jobs before. */
const FROM_CLAIM = 'RALPH_FROM_CLAIM'
const FROM_WORK = 'RALPH_FROM_WORK'
const FROM_GATE = 'RALPH_FROM_GATE'
const CANCELLED = 'RALPH_CANCELLED'
const EXAMPLE = 'examples/ralph-separate.yml'

/** The four jobs are one thing: neither the command nor the level of isolation comes alone. */
export function refuseWrongPart(settings: Settings, isPart: boolean): void {
  if ((settings.isolation === 'separate-job') === isPart) return
  throw new UserError({
    path: isPart ? 'isolation' : 'input command',
    found: isPart ? settings.isolation : (settings.command ?? 'auto'),
    expected: isPart ? 'separate-job' : 'claim, work, gate or land',
    fix: `copy ${EXAMPLE}: separate-job takes four jobs, each with a command of its own`,
  })
}

/** The end of the claim job: the lease stays, and the next job is told what it is for. */
export async function handOver(
  { step, state }: HandedOver,
  ports: Ports,
  settings: Settings,
  base: string,
): Promise<{ neutral: string }> {
  await ports.store.save(state)
  const { folder } = state
  core.setOutput('handover', writeHandover({ folder, nonce: state.lease?.nonce ?? '', base }))
  core.setOutput('next', step.kind === 'agent' || step.kind === 'verify' ? 'work' : 'gate')
  core.setOutput('feature', state.feature)
  core.setOutput('branch', state.branch)
  const what =
    state.attempt === null ? step.kind : `${state.attempt.storyId}, iteration ${state.attempt.iteration}`
  return { neutral: `handed over: ${what} (${settings.agent})` }
}

/** The land job of examples/ralph-separate.yml has 30 minutes: a wait to start the next run must end before. */
const LANDING_MS = 25 * 60_000

/** What is to be landed, or why there is nothing. Whatever did not come, or does not fit, counts as lost. */
export async function takeHandover(
  context: ActionContext,
  workspace: Workspace,
  settings: Settings,
): Promise<{ state: State; how: How } | { neutral: string }> {
  const claim = claimOf(context)
  const found = await held(workspace, claim, context)
  if (found === null) return { neutral: 'this iteration is landed already, or another run has taken over' }
  const now = Date.now()
  const job = { ...found.job, startedAt: now, deadline: now + Math.min(settings.jobDeadlineMs, LANDING_MS) }
  const state = { ...found, job }
  const { limits } = await chosenFor(context, workspace, settings, state)
  const wanted = landingOf(nextStep(state, limits, now))
  const work = match(readFromWork(context.env[FROM_WORK]), claim)
  const gate = match(readFromGate(context.env[FROM_GATE]), claim)
  await bringHistory(workspace.store, state)
  if (work?.mistake != null) {
    const summary = cleaner(workspace.redactor.redact)(work.mistake)
    return { state: mistaken(state, summary), how: { ...WHOLE, ports: unavailable } }
  }
  const cancelled = context.env[CANCELLED] === 'true'
  const why = cancelled ? 'the run was cancelled' : await missing(workspace, wanted, work, gate)
  if (why !== null) {
    core.warning(`the iteration is lost: ${why}`)
    return { state: lost(state, work, cancelled), how: { ...WHOLE, ports: unavailable } }
  }
  const { git, objects, repository, redactor } = workspace
  const ports = {
    agent: work === null ? unavailable.agent : replayed(work, repository, objects, redactor.redact),
    gates: gate === null ? unavailable.gates : answered(gate, settings.gates, git, objects, redactor.redact),
  }
  return { state: { ...state, job: { ...job, landing: wanted } }, how: { ports, part: 'land' } }
}

/** Runs the agent, or the gates, of the iteration that the claim job began. Writes nothing but what is handed over. */
export async function inside(
  part: 'work' | 'gate',
  context: ActionContext,
  log: Log,
  signal: AbortSignal,
): Promise<{ neutral: string }> {
  try {
    return await withCredentialsAside(context, (secrets) => doPart(part, context, secrets, log, signal))
  } catch (error) {
    // The land job ends the chain with it, uncharged: no other run would do better.
    if (part === 'work' && error instanceof UserError) {
      const nothing = { session: null, judged: null, commit: null, sha256: null }
      const mistake = messageOf(error)
      core.setOutput('handover', writeHandover({ nonce: claimOf(context).nonce, ...nothing, mistake }))
    }
    throw error
  }
}

async function doPart(
  part: 'work' | 'gate',
  context: ActionContext,
  secrets: readonly string[],
  log: Log,
  signal: AbortSignal,
): Promise<{ neutral: string }> {
  const token = tokenOf(context)
  const claim = claimOf(context)
  const { settings, notes } = await trusted(context, token, claim.base)
  refuseWrongPart(settings, true)
  for (const note of notes) core.notice(note)
  refuseUngated(settings)
  log.group('Settings', describeSettings(settings).split('\n'))
  using workspace = await openFor(context, settings, token, secrets)
  const { git, objects, repository, store, snapshot, redactor, clone } = workspace
  await refuseFiltered(git, objects)
  const found = await held(workspace, claim, context)
  if (found === null) return { neutral: 'another run has gone on with this feature: there is nothing to do' }
  const now = Date.now()
  const state = { ...found, job: { ...found.job, startedAt: now, deadline: now + settings.jobDeadlineMs } }
  await bringHistory(store, state)
  for (const name of ['transcripts', 'logs'])
    await rm(join(clone.gitDir, 'ralph', name), { recursive: true, force: true })
  const { chosen, limits } = await chosenFor(context, workspace, settings, state)
  const live = new Live(log.screen, { limits, agent: settings.agent, surface: 'comment' }, true)
  const mark = newMark()
  const work = part === 'gate' ? match(readFromWork(context.env[FROM_WORK]), claim) : null
  if (work?.sha256 != null) {
    const why = await readPack(git, work.sha256)
    if (why !== null) throw new Error(why)
  }
  const ports = await createPorts({
    settings: { ...settings, model: chosen.model, instructions: chosen.instructions },
    env: context.env,
    workspace,
    observers: [logOf(live, part)],
    warn: live.warn,
    queue: { read: async () => [], waiting: async () => false, arrived: async () => false },
    dispatch: { dispatch: async () => ({ kind: 'dispatched', runId: null }) },
    signal,
    as: null,
    mark,
    onAgent: live.agent,
    onGateStart: live.starts,
    onGateEnd: live.gate,
    ...(work === null ? {} : { agent: replayed(work, repository, objects, redactor.redact) }),
    ...(part === 'gate' && work === null ? { agent: unavailable.agent } : {}),
  })
  remember({ mark, finished: 'true' })
  await repository.checkOut(state.green, null)
  await moveClone(git, snapshot, state.branch, state.green, [])
  const local = { ...ports, store: silent(store) }
  return part === 'work'
    ? runWork(state, limits, local, workspace, claim)
    : runGate(state, limits, local, workspace, claim)
}

/** With what a person chose at kick-off: one and the same in all jobs of a run. */
async function chosenFor(context: ActionContext, workspace: Workspace, settings: Settings, state: State) {
  const read = (path: string) => workspace.repository.read(state.base.sha, path)
  const { settings: chosen } = await actionSettings(context, read, state.control.chosen)
  return { chosen, limits: limitsOf({ ...settings, ...pickLimits(chosen) }) }
}

async function runWork(state: State, limits: Limits, ports: Ports, workspace: Workspace, claim: FromClaim) {
  const { git, repository } = workspace
  const prepared = await ports.gates.prepare(state.green, ports.signal)
  if (prepared?.ok === false) {
    const fix = 'see its output in the log of the work job'
    throw new UserError({ path: 'prepare', found: prepared.ended, expected: 'exit 0', fix })
  }
  const heard: Heard = { session: null, judged: null }
  const gates = { ...ports.gates, run: async () => [] }
  const ended = await loop(
    state,
    limits,
    { ...ports, agent: recording(ports.agent, heard), gates },
    stepsOf('work'),
  ).finally(() => settleFiles(workspace))
  const { attempt } = ended.state
  // Here alone the keys of the agent are known: what the guard refuses by them is not handed on.
  const kept = heard.session === null ? null : await repository.keep(ended.state)
  const session =
    attempt?.failure?.kind === 'guard' ? refusedSession(heard.session, attempt.failure) : heard.session
  const commit = kept === null ? null : await commitOf(workspace, kept.tree, state.green)
  const sha256 = commit === null ? null : await writePack(git, commit, state.green)
  core.setOutput(
    'handover',
    writeHandover({ nonce: claim.nonce, judged: heard.judged, session, commit, sha256, mistake: null }),
  )
  return { neutral: commit === null ? 'handed over: no changes' : 'handed over: the changes of the session' }
}

function refusedSession(session: Session | null, failure: Failure): Session | null {
  return session === null ? null : { ...session, status: 'failed', message: failure.summary }
}

function commitOf({ git, objects }: Workspace, tree: string, parent: string): Promise<string> {
  return writeCommit({ git, objects }, RALPH, tree, [parent], 'work')
}

async function runGate(state: State, limits: Limits, ports: Ports, workspace: Workspace, claim: FromClaim) {
  const results: Results = { code: null, gates: [] }
  const gates = recorded(ports.gates, workspace.git, workspace.objects, results)
  await loop(state, limits, { ...ports, gates }, stepsOf('gate')).finally(() => settleFiles(workspace))
  core.setOutput('handover', writeHandover(fitGates({ nonce: claim.nonce, ...results })))
  const red = results.gates.filter((gate) => !gate.ok && !gate.advisory).map((gate) => gate.name)
  return { neutral: red.length === 0 ? 'every gate is green' : `red: ${red.join(', ')}` }
}

/** The state that the claim job of this run left, where its lease still holds. */
async function held(workspace: Workspace, claim: FromClaim, context: ActionContext): Promise<State | null> {
  const found = await workspace.store.load(claim.folder.replace(/^\.ralph\//, ''))
  const lease = found?.state.lease ?? null
  const ours = lease?.nonce === claim.nonce && lease.runId === context.run.id
  return ours ? (found?.state ?? null) : null
}

export function claimOf(context: ActionContext): FromClaim {
  const claim = readFromClaim(context.env[FROM_CLAIM])
  if (claim !== null) return claim
  throw new UserError({
    path: `env ${FROM_CLAIM}`,
    found: context.env[FROM_CLAIM]?.slice(0, 100) ?? 'nothing',
    expected: 'the output `handover` of the claim job',
    fix: `copy ${EXAMPLE}`,
  })
}

function match<T extends FromWork | FromGate>(given: T | null, claim: FromClaim): T | null {
  return given?.nonce === claim.nonce ? given : null
}

function landingOf(step: Step): Landing {
  return step.kind === 'baseline' || step.kind === 'join' || step.kind === 'verify' ? step.kind : 'attempt'
}

/** Why the iteration cannot be landed, or null. */
async function missing(
  { git }: Workspace,
  wanted: Landing,
  work: FromWork | null,
  gate: FromGate | null,
): Promise<string | null> {
  const fromWork = wanted === 'attempt' || wanted === 'verify'
  if (fromWork && work === null) return 'the work job handed nothing over'
  if (wanted === 'attempt' && work?.session == null) return 'the work job handed no session over'
  const isOver = wanted === 'attempt' && work?.session?.status !== 'finished'
  if (gate === null && !isOver) return 'the gate job handed nothing over'
  return work?.sha256 == null ? null : readPack(git, work.sha256)
}

/** No session began: the attempt is given back, and a person has to mend what the work job said. */
function mistaken(state: State, summary: string): State {
  const error = { summary, fix: 'mend it, then run again' }
  const job = { ...state.job, landing: 'lost' as const, error }
  return { ...(state.attempt === null ? state : refund(state, 'limit', summary)), job }
}

/** The attempt is given back; what its session and a judge used is charged, or estimated where nobody knows. */
function lost(state: State, work: FromWork | null, cancelled: boolean): State {
  const job = { ...state.job, landing: 'lost' as const, interrupted: cancelled }
  const { attempt } = state
  const judged = work?.judged == null ? state : spend(state, null, work.judged.usage)
  if (attempt === null) return { ...judged, job }
  const usage = work?.session?.usage
  if (usage === undefined) return { ...takeOver(judged), job }
  const paid = spend(judged, attempt.storyId, usage)
  return {
    ...refund(paid, cancelled ? 'interrupted' : 'lost', 'the iteration did not come to its end'),
    job,
  }
}

/** What is behind the commits that this job has to look at. */
async function bringHistory(store: Workspace['store'], state: State): Promise<void> {
  await store.fetch([state.green], 'tip')
  if (state.job.theirs !== null) await store.fetch([state.job.theirs, state.green], 'whole')
}

/** A job that only reads makes nothing durable. */
function silent(store: StorePort): StorePort {
  return { ...store, save: async () => {} }
}
