// Takes a feature for this job: finds its stories and its state, checks the lease, and makes the state to start from.
import { randomUUID } from 'node:crypto'
import { type Feature, featureOfFolder } from '../branch/find-features.ts'
import type { Repository } from '../branch/repository.ts'
import type { Store, StoredState } from '../branch/store.ts'
import { takeOver, withoutStaleCandidates } from '../engine/attempts/lost-attempts.ts'
import { withScope } from '../engine/commands/apply-commands.ts'
import { formatHolder } from '../engine/lease.ts'
import { hasCandidate } from '../engine/model/attempt.ts'
import type { Prd } from '../engine/model/feature.ts'
import { emptyControl, newJob } from '../engine/model/job.ts'
import { ownFiles } from '../engine/model/paths.ts'
import { LeaseLost } from '../engine/model/ports.ts'
import type { Job, Lease, State } from '../engine/model/state.ts'
import { oneLine } from '../engine/model/text.ts'
import { withWaitingReturned } from '../engine/parallel/waiting.ts'
import { restartRun } from '../engine/planning/archive-stories.ts'
import { mergePeople } from '../engine/prd/merge-edits.ts'
import { parsePrd } from '../engine/prd/parse.ts'
import { issuesSource } from '../engine/prd/plan-file.ts'
import { asImported } from '../engine/prd/schema.ts'
import { resolveScope, type ScopeRequest } from '../engine/prd/scope.ts'
import { resetWaits } from '../engine/state/limits.ts'
import type { Settings } from '../settings/read-settings.ts'
import { UserError } from '../system/errors.ts'
import { chooseBranch, refuseShared } from './feature-branch.ts'
import { gatedTagsOf } from './loop-limits.ts'
import { type PlanRequest, withNewRequest } from './plan-request.ts'
import { digestOf, findFeatures, resolveFeature } from './resolve-feature.ts'
import { withLostUsage } from './usage-notes.ts'
import type { Workspace } from './workspace.ts'

/** Another run works on the feature, so this one ends at once and changes nothing. */
export class FeatureHeld extends Error {
  readonly lease: Lease
  constructor(lease: Lease, feature: string) {
    super(
      `${formatHolder(lease)} works on ${feature}; its lease holds until ${new Date(lease.expiresAt).toISOString()}`,
    )
    this.name = 'FeatureHeld'
    this.lease = lease
  }
}

/** The chain has moved on since this job was dispatched: it has nothing to do. */
export class Superseded extends Error {
  constructor(dispatched: number, now: number) {
    super(
      `another job has already continued the run: this job was started as generation ${dispatched}, but the run is at ${now}`,
    )
    this.name = 'Superseded'
  }
}

export type ClaimRequest = {
  feature: string | null
  /** How an error message writes a feature's name for this surface: as a flag, an argument or an input. */
  formatName?: (name: string) => string
  branchPrefix: string
  /** What to plan first; null if the feature has stories. */
  planRequest?: PlanRequest | null
  /** `defaultBranch` is left out if it is not known. Neither branch may be a feature's own. */
  base: { branch: string; sha: string; defaultBranch?: string }
  /** On the CLI: the checkout, which may have stories that are not committed. */
  workTree: string | null
  /** The generation that this job was dispatched for; it works only if the run still has that generation. Null for a start by a person. */
  generation: number | null
  lease: Omit<Lease, 'nonce'>
  /** Whether the lease's holder is at work: as far as this machine can see, it is alive, and the lease has not expired. */
  isAlive(lease: Lease): Promise<boolean>
  /** Ends the processes that a holder left running, before anything is changed. */
  endOrphansOf(lease: Lease): Promise<void>
  job: Job
  chosen: Readonly<Record<string, string>>
  /** The part of the feature that a kick-off asks for. A job that continues a chain keeps the chain's part. */
  scope: ScopeRequest
  /** Archives the results of the last run, and works on every story again. */
  anew?: boolean
  today: string
  /** Whether this run works on several stories at the same time, each in a lane. */
  inLanes?: boolean
  /** Whether candidates of a killed run can be gated apart from the ignored files that it left: in lanes, or in a clean room. */
  canResume?: boolean
  /**
   * Whether this job lands the candidates of the last wave that still wait for gates. Otherwise their work is saved for the next sessions.
   */
  landsWaiting?: boolean
  /** Called before the lease is taken: refuses uncommitted changes, takes up people's edits of the stories. */
  prepareState(state: State, isNew: boolean): Promise<State>
  /** The newest comment id on a branch's pull request. If the state was lost, only later comments are commands. */
  firstComment(branch: string): Promise<number>
}

const NO_GITHUB: State['github'] = { pull: null, pullUrl: null, comment: null, head: null, unclosed: [] }

export type ClaimTools = Pick<Workspace, 'git' | 'objects' | 'store' | 'repository'>

export type Claimed = { state: State; resumed: boolean; notes: string[] }

/**
 * Takes the lease with one durable push. Throws FeatureHeld, Superseded or UserError; nothing has changed then. The job before may
 * save its last state between our read and our push: the push is refused, and the state is read again, once.
 */
export async function claim(tools: ClaimTools, request: ClaimRequest): Promise<Claimed> {
  return await claimOnce(tools, request).catch((error: unknown) => {
    if (!(error instanceof LeaseLost)) throw error
    return claimOnce(tools, request)
  })
}

async function claimOnce(tools: ClaimTools, request: ClaimRequest): Promise<Claimed> {
  if (request.planRequest != null) return plan(request.planRequest, tools, request)
  const place = { commit: request.base.sha, workTree: request.workTree }
  const { name, file, found, before } = await resolveFeature(tools, place, request)
  if (found !== null) {
    const { branch, published } = found.state
    // If the feature's own branch is checked out, its prd.json is that of the run, and not an edit of the base.
    const isOnOwnBranch = request.workTree !== null && tools.git.clone.branch === branch && published !== null
    return resume(found, isOnOwnBranch ? null : file, tools, request)
  }
  if (file === null) {
    const found = `${name} has no prd.json in this commit.`
    throw new UserError({ path: 'feature', found, expected: '', fix: 'commit its prd.json, then run again' })
  }
  const branch = await chooseBranch(file, before?.state.branch ?? null, tools, request)
  return begin(file, branch, tools, request)
}

async function plan(planRequest: PlanRequest, tools: ClaimTools, request: ClaimRequest): Promise<Claimed> {
  const { objects, store } = tools
  const { feature, plan: requested } = planRequest
  const { name } = feature
  const folders = [...(await store.list()).keys()].filter((folder) => featureOfFolder(folder) === name)
  const newestFolder = folders.sort().at(-1)
  const found = newestFolder === undefined ? null : await store.load(newestFolder)
  const earlier = found?.state.plan
  if (found !== null && earlier !== undefined && earlier.issue === requested.issue) {
    refuseOtherSource(name, found.state.prd, feature.prd)
    if (earlier.phase === 'begun') throw alreadyPlannedError(name)
    return resume({ ...found, state: withNewRequest(found.state, planRequest) }, null, tools, request)
  }
  const place = { commit: request.base.sha, workTree: null }
  const { features } = await findFeatures(objects, place, request.branchPrefix)
  const branch = await chooseBranch(feature, null, tools, request)
  if (found === null && branch.head === null && features.every((feature) => feature.name !== name))
    return begin(feature, branch, tools, request)
  throw alreadyPlannedError(name)
}

/** Two milestones or labels may give the same feature name: the plan of one would replace that of the other. */
function refuseOtherSource(name: string, earlier: Prd, requested: Prd): void {
  const [oldSource, newSource] = [earlier, requested].map(issuesSource)
  if (oldSource === newSource) return
  const found = `the feature ${name} already has a plan, from ${oneLine(oldSource ?? 'documents of the repository', 100)}.`
  const fix =
    newSource === null
      ? 'name another feature'
      : 'rename the milestone or label on GitHub, because the feature gets its name from there'
  throw new UserError({
    path: 'feature',
    found,
    expected: '',
    fix,
  })
}

function alreadyPlannedError(name: string): UserError {
  const fix = 'add stories with /ralph add, split one with /ralph split, or name another feature'
  return new UserError({
    path: 'feature',
    found: `${name} is already planned.`,
    expected: '',
    fix,
  })
}

async function resume(
  found: StoredState,
  file: Feature | null,
  { git, store, repository }: ClaimTools,
  request: ClaimRequest,
): Promise<Claimed> {
  const state = request.anew === true ? await withoutDeletedBranch(found.state, store) : found.state
  const { lease } = state
  // The default branch may have changed since the run began.
  if (state.branch === request.base.defaultBranch)
    refuseShared(state.branch, `the branch of ${state.feature}`, request.base)
  if (lease !== null && (await request.isAlive(lease))) throw new FeatureHeld(lease, state.feature)
  if (request.generation !== null && request.generation !== state.generation) {
    throw new Superseded(request.generation, state.generation)
  }
  if (lease !== null) await request.endOrphansOf(lease)
  const isUnpublished = state.published === null
  let notes: string[] = []
  if (file !== null) notes = isUnpublished ? [...file.notes] : await baseEditNotes(state, file, repository)
  const rebased = isUnpublished ? withCurrentBase(state, file, request) : state
  const canGateCandidates = store.note !== undefined && request.canResume === true
  const takenOver = takeOver(withLostUsage(git, rebased), {
    inLanes: request.inLanes === true,
    canGateCandidates,
  })
  const unclaimed = request.landsWaiting === true ? takenOver : withWaitingReturned(takenOver)
  const edited = withoutStaleCandidates(unclaimed, await request.prepareState(unclaimed, isUnpublished))
  const claimed = withJobStarted(edited, request, request.job)
  await store.save(claimed)
  return { state: claimed, resumed: true, notes: [...notes, ...resumedNotes(claimed)] }
}

/** A note for each attempt whose gates run again without a new session. */
function resumedNotes({ attempts }: State): string[] {
  return Object.values(attempts)
    .filter(hasCandidate)
    .map(
      ({ storyId }) =>
        `the session for ${storyId} had ended before the last run was lost, so only the gates run again`,
    )
}

/** No branch was published yet, so the run forks from the current base. */
function withCurrentBase(state: State, file: Feature | null, { base }: ClaimRequest): State {
  const baseline = base.sha === state.base.sha ? state.baseline : 'pending'
  const rebased: State = { ...state, base: { branch: base.branch, sha: base.sha }, green: base.sha, baseline }
  // Reading the same file again would undo later commands, such as a retry.
  if (file === null || file.digest === state.storiesDigest) return rebased
  return { ...rebased, prd: { ...asImported(file.prd), run: state.prd.run }, storiesDigest: file.digest }
}

/** A run that begins again keeps its branch. If people have deleted the branch, it starts from the base. */
async function withoutDeletedBranch(state: State, store: Store): Promise<State> {
  if (state.published === null || (await store.head(state.branch)) !== null) return state
  return { ...state, published: null, github: NO_GITHUB }
}

/** Once a run has begun, its branch has the stories. An edit at the base is reported and not merged. */
async function baseEditNotes(state: State, file: Feature, repository: Repository): Promise<string[]> {
  if (file.digest === state.storiesDigest) return []
  const onBranch = await repository.read(state.green, ownFiles(state).prd)
  if (onBranch !== null && digestOf(onBranch) === file.digest) return []
  return [
    `${file.path} changed on ${state.base.branch} after the run began. The run does not see that: make the change on ${state.branch}`,
  ]
}

/** The state with the part of the feature that the next job has to work on. Throws UserError if that part could never be completed. */
export function withRequestedScope(state: State, requested: ScopeRequest): State {
  const { scope, mistakes } = resolveScope(state.prd, requested, state.prd.run.jobs + 1)
  if (mistakes.length > 0) throw new UserError(mistakes)
  return withScope(state, scope)
}

function withJobStarted(claimed: State, request: ClaimRequest, job: Job): State {
  const started = request.anew === true ? restartRun(claimed, randomUUID()) : claimed
  const isByPerson = request.generation === null
  const state = isByPerson ? withRequestedScope(started, request.scope) : started
  const { run } = state.prd
  const control = isByPerson ? resetWaits(state.control) : state.control
  // Lease and job are still those of the job before.
  const wasKilledIdle = state.lease !== null && state.job.counts.iterations === 0
  return {
    ...state,
    lease: { ...request.lease, nonce: randomUUID() },
    prd: {
      ...state.prd,
      run: {
        ...run,
        jobs: run.jobs + 1,
        startedAt: run.startedAt ?? new Date(request.job.startedAt).toISOString(),
      },
    },
    control: {
      ...control,
      notBefore: null,
      // The chain waited for this job.
      continuePending: false,
      idleJobs: control.idleJobs + (wasKilledIdle ? 1 : 0),
      mendedRun: null,
      chosen: { ...control.chosen, ...request.chosen },
      // A start by a person ends a pause by Ralph: if its cause is still there, it pauses the run again. A person's pause stays.
      paused: isByPerson && control.paused?.by === 'ralph' ? null : control.paused,
    },
    job,
  }
}

async function begin(
  file: Feature,
  { branch, head }: { branch: string; head: string | null },
  { store, repository }: ClaimTools,
  request: ClaimRequest,
): Promise<Claimed> {
  const plan = request.planRequest?.plan
  const blank = { ...newState(file, branch, request), ...(plan === undefined ? {} : { plan }) }
  const lastComment = head === null ? 0 : await request.firstComment(branch)
  const started = { ...blank, nonce: randomUUID(), control: { ...blank.control, lastComment } }
  const state = head === null ? started : await adoptBranch(started, head, store, repository)
  const withEdits = await request.prepareState(state, head === null)
  const claimed = withJobStarted(withEdits, request, withEdits.job)
  await store.save(claimed)
  const notes = [...file.notes, ...stackedBranchNotes(file.name, request)]
  if (head !== null) notes.push(`the state of ${file.name} was lost, so the run continues from ${branch}`)
  return { state: claimed, resumed: head !== null, notes }
}

/** On a laptop the base is the branch that is checked out, which may be that of another run. */
function stackedBranchNotes(name: string, { base, branchPrefix, workTree }: ClaimRequest): string[] {
  if (workTree === null || branchPrefix === '' || !base.branch.startsWith(branchPrefix)) return []
  const advice = `--base-branch ${base.defaultBranch ?? 'BRANCH'}`
  return [
    `${name} is based on ${base.branch}, the branch of another feature, and includes its commits. To start elsewhere: ${advice}`,
  ]
}

/** The branch exists but its state is lost: its commits say what passed, and the gates run again. */
async function adoptBranch(
  started: State,
  head: string,
  store: Store,
  repository: Repository,
): Promise<State> {
  await store.fetch([head], 'whole')
  const text = await repository.read(head, ownFiles(started).prd)
  const parsed = text === null ? null : parsePrd(text, `${started.branch}: ${ownFiles(started).prd}`)
  if (parsed !== null && !parsed.ok) throw new UserError(parsed.mistakes)
  const prd: Prd = parsed === null ? started.prd : mergePeople(parsed.prd, started.prd)
  const job: Job = { ...started.job, branch: { kind: 'moved', head }, takesBranch: true }
  // The branch's commits name the nonce of the run that made them.
  const writtenNonce = parsed?.prd.run.control.nonce
  const nonce = typeof writtenNonce === 'string' && writtenNonce !== '' ? writtenNonce : started.nonce
  return { ...started, nonce, prd, green: head, published: head, baseline: 'green', job }
}

/** The first state of a feature, still without a nonce: a run that begins sets it. */
function newState(
  file: Feature,
  branch: string,
  { base, today, job }: Pick<ClaimRequest, 'base' | 'today' | 'job'>,
): State {
  return {
    version: 1,
    feature: file.name,
    importedFrom: file.folder === null ? file.path : null,
    storiesDigest: file.digest,
    folder: file.folder ?? `.ralph/${today}-${file.name}`,
    branch,
    base: { branch: base.branch, sha: base.sha },
    nonce: '',
    generation: 0,
    // Limits, usage and control in the file do not count: only Ralph sets those.
    prd: asImported(file.prd),
    green: base.sha,
    published: null,
    baseline: 'pending',
    attempts: {},
    kept: {},
    records: {},
    control: emptyControl(),
    verification: { approved: false, asked: false, sessions: 0, message: '' },
    progress: [],
    recent: [],
    timeline: [],
    sessions: [],
    lease: null,
    github: NO_GITHUB,
    job,
  }
}

/** The state of a feature that no run has begun, for commands that only look at it. */
export function freshState(file: Feature, settings: Settings, base: { branch: string; sha: string }): State {
  const today = new Date().toISOString().slice(0, 10)
  // Only `ungated` says that there are no gates. Settings without gates may just be incomplete.
  const tags = settings.gates.length === 0 && !settings.ungated ? null : gatedTagsOf(settings)
  const job = newJob(Date.now(), Number.MAX_SAFE_INTEGER, tags)
  const branch = file.prd.branchName || `${settings.branchPrefix}${file.name}`
  return newState(file, branch, { base, today, job })
}

/** The path of the file that has the stories now. */
export function prdPathOf({ importedFrom, published, folder }: State): string {
  return published === null && importedFrom !== null ? importedFrom : `${folder}/prd.json`
}
