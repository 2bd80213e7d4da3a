// A feature on this machine: the checkout, its state, and what may be done with the work tree before a run.
import { hostname } from 'node:os'
import { join } from 'node:path'
import { branchToTake, refuseShared } from '../app/branch.ts'
import { newState, withWanted } from '../app/claim.ts'
import { checkDirt, isOwn, someOf } from '../app/dirt.ts'
import { archivedAt, meantFeature } from '../app/features.ts'
import { gatedTagsOf } from '../app/limits.ts'
import { withNote } from '../app/lost-session.ts'
import { openWorkspace, type Workspace } from '../app/workspace.ts'
import type { Feature } from '../branch/features.ts'
import { placeOfRemote } from '../github/place.ts'
import { withoutArchived } from '../loop/archive.ts'
import { takeOver } from '../loop/attempt.ts'
import { applyCommand } from '../loop/commands.ts'
import { expired, sayHolder } from '../loop/lease.ts'
import { isNoted } from '../loop/notes.ts'
import { isWaitingPlan } from '../loop/plan.ts'
import { readPlan } from '../loop/planned.ts'
import { decision, type Situation, situationOf } from '../loop/situation.ts'
import type { Attempt } from '../model/attempt.ts'
import type { Prd } from '../model/feature.ts'
import { attemptInCheckout, newJob } from '../model/job.ts'
import type { Limits } from '../model/limits.ts'
import { ownFiles } from '../model/paths.ts'
import type { Lease, State } from '../model/state.ts'
import type { Step } from '../model/step.ts'
import { mergePeople } from '../prd/merge.ts'
import { parsePrd } from '../prd/parse.ts'
import { recordMessage } from '../report/files.ts'
import type { Settings } from '../settings/index.ts'
import { UserError } from '../system/errors.ts'
import { readRegular } from '../system/files.ts'
import { endOrphansOfRun } from '../system/process.ts'
import { processLives } from '../system/process-table.ts'
import { type Context, settingsOf } from './context.ts'
import { inboxQueue } from './inbox.ts'
import { commitLookedAt, throwAway } from './looked-at.ts'

export type LocalRun = Awaited<ReturnType<typeof openLocal>>

/** A feature, by the settings as they are given; who only looks at one of several means that of the branch. */
export async function openFeature(context: Context, onlyLooks = false): Promise<LocalRun> {
  return openLocal(context, (await settingsOf(context)).settings, context, onlyLooks)
}

export async function openLocal(
  context: Context,
  settings: Settings,
  voice: { warn(message: string): void } = context,
  meansBranch = false,
) {
  const workspace = await openWorkspace({
    settings,
    env: context.env,
    directory: context.directory,
    remote: null,
    identity: null,
    warn: voice.warn,
  })
  const { clone } = workspace
  if (clone.branch === null) {
    workspace[Symbol.dispose]()
    throw new UserError({
      path: 'HEAD',
      found: 'a detached HEAD',
      expected: 'a branch',
      fix: 'run `git switch <branch>` first: the run starts from it',
    })
  }
  const start = await baseOf(workspace, settings, clone.branch, clone.head ?? '')
  const base = { ...start, ...(await defaultBranchOf(workspace)) }
  const typed = (name: string) => namedIn(context, name)
  const named = { typed, branch: meansBranch ? clone.branch : null }
  return {
    settings,
    workspace,
    base,
    /** The command line that names a feature. */
    typed,
    /** Ends what a dead holder on this machine has left running. */
    async endOrphansOf(lease: Lease): Promise<void> {
      if (lease.host !== hostname()) return
      const ended = await endOrphansOfRun(lease.mark)
      if (ended === 0) return
      const were =
        ended === 1 ? '1 process of the run before was' : `${ended} processes of the run before were`
      voice.warn(`${were} still there: ended`)
    },
    /**
     * The state as the next job will find it, without taking anything: with the commands that wait for it, and made from
     * prd.json where no run has begun. Hears what reading that changed.
     */
    async look(hear: (note: string) => void = () => {}): Promise<State> {
      const { state, notes } = await look(workspace, settings, base, named)
      for (const note of notes) hear(note)
      const known = isWaitingPlan(state.plan)
        ? readPlan(state, (await this.read(state, ownFiles(state).context)) ?? '')
        : state
      return (await inboxQueue(clone).read(known)).reduce(applyCommand, known)
    },
    /** A file of people as the next session finds it: what they have not committed is taken up when a run begins. */
    async read(state: State, path: string): Promise<string | null> {
      const { repository } = workspace
      const mayHoldEdits = state.published === null || clone.branch === state.branch
      const now = mayHoldEdits
        ? ((await readRegular(join(clone.workTree, path)))?.toString('utf8') ?? null)
        : null
      const isEdited =
        mayHoldEdits && clone.head !== null && now !== (await repository.read(clone.head, path))
      return isEdited ? now : repository.read(state.green, path)
    },
    /** Throws UserError where the feature's branch is not Ralph's to take. */
    async refuseBranch(state: State): Promise<void> {
      if (state.nonce !== '') {
        if (state.branch === base.defaultBranch)
          refuseShared(state.branch, `the branch of ${state.feature}`, base)
        return
      }
      const path = prdPathOf(state)
      const name = state.feature
      const folder = state.importedFrom === null ? state.folder : null
      const file = { name, folder, path, prd: state.prd, digest: state.storiesDigest, notes: [] }
      await branchToTake(file, null, workspace, { base, branchPrefix: settings.branchPrefix })
    },
    [Symbol.dispose]: () => workspace[Symbol.dispose](),
  }
}

/** Whether the holder is at work: a process on this machine can be asked; of one elsewhere only its time is known. */
export async function isAlive(lease: Lease | null): Promise<boolean> {
  if (lease === null) return false
  return lease.host === hostname() ? processLives(lease.pid, lease.startTime) : !expired(lease, Date.now())
}

/** As who only looks sees a feature; `situate`: how the state itself stands. */
export async function seenNow(
  workspace: Workspace,
  saved: State,
  limits: Limits,
  situate: typeof situationOf = situationOf,
) {
  const lives = await isAlive(saved.lease)
  // As the next run finds it, which charges first what a run that was killed has used; its attempt is nobody's work.
  const state = lives ? saved : { ...takeOver(withNote(workspace.git, saved)), attempts: {} }
  const situation = await withMerge(workspace, state, situate(state, limits, Date.now(), lives))
  return { state, situation, lives }
}

/** With what people have made of a run that is complete, as this clone shows it: a squash carries its prd.json, too. */
export async function withMerge<S extends Situation>(
  workspace: Workspace,
  state: State,
  situation: S,
): Promise<S> {
  if (situation.kind !== 'ended' || situation.conclusion.outcome !== 'complete') return situation
  const { clone, objects, store } = workspace
  const commit = clone.branch === state.branch ? await store.head(state.base.branch) : clone.head
  if (commit === null || state.published === null) return situation
  const isArchived = await archivedAt(objects, { commit, workTree: clone.workTree })
  if (isArchived(state.folder.replace(/^\.ralph\//, ''))) return { ...situation, since: 'archived' }
  const { prd } = ownFiles(state)
  const [there, ours] = [
    await objects.info(`${commit}:${prd}`),
    await objects.info(`${state.published}:${prd}`),
  ]
  return there !== null && there.oid === ours?.oid ? { ...situation, since: 'merged' } : situation
}

/** How a complete feature stands that people have merged or put away, and that a run has nothing to do for; else null. */
export async function mergedAlready({ workspace, settings }: LocalRun, state: State, limits: Limits) {
  const asked = withWanted(state, settings)
  if (stepOfRun(asked, limits).kind !== 'conclude') return null
  const seen = await withMerge(workspace, asked, situationOf(asked, limits, Date.now(), false))
  return seen.kind === 'ended' && seen.since !== undefined ? seen : null
}

/** What a person's `ralph run` would do next. */
export function stepOfRun(state: State, limits: Limits): Step {
  return decision(applyCommand(state, { kind: 'run', id: 0, by: 'you' }), limits, Date.now())
}

export class AtWork extends UserError {}

/** A run has the work tree to itself. */
export function atWork(found: string): AtWork {
  const fix = 'wait until it has ended, or end it with `ralph stop`'
  return new AtWork({ path: 'feature', found, expected: 'nobody at work on it', fix })
}

/** Throws UserError where somebody works on the feature now. */
export async function refuseAtWork({ lease, feature }: State): Promise<void> {
  if (lease !== null && (await isAlive(lease))) throw atWork(`${sayHolder(lease)} works on ${feature}`)
}

/** Throws UserError where a run of another feature has this checkout: its branch is the one that is checked out. */
export async function refuseOther(
  { workspace, base }: LocalRun,
  { branch }: Pick<State, 'branch'>,
): Promise<void> {
  const { clone, store } = workspace
  if (clone.branch === null || clone.branch === branch || clone.branch === base.defaultBranch) return
  for (const folder of (await store.list()).keys()) {
    const { state: other } = (await store.load(folder).catch(() => null)) ?? {}
    const isHere = other?.branch === clone.branch && (await isAlive(other.lease))
    if (!isHere || other.lease === null) continue
    const found = `${sayHolder(other.lease)} works on ${other.feature} here`
    const fix = 'wait until it has ended, or run in another work tree (`git worktree add`)'
    throw new AtWork({ path: 'work tree', found, expected: 'one that no run is at work in', fix })
  }
}

/** Where the stories stand now. */
export function prdPathOf({ importedFrom, published, folder }: State): string {
  return published === null && importedFrom !== null ? importedFrom : `${folder}/prd.json`
}

/** The same command for one feature by its name. */
function namedIn({ command, given }: Context, feature: string): string {
  if (given === null) return `ralph ${command} ${feature}`
  const more = given.words.length > 0 || given.text !== '' ? ' ...' : ''
  return `ralph ${command} --feature ${feature}${more}`
}

/** On a laptop a run starts from where HEAD is, unless `--base-branch` names another branch. */
export async function baseOf(workspace: Workspace, settings: Settings, branch: string, head: string) {
  if (settings.baseBranch === null) return { branch, sha: head }
  const sha = await workspace.store.head(settings.baseBranch)
  if (sha !== null) return { branch: settings.baseBranch, sha }
  throw new UserError({
    path: '--base-branch',
    found: settings.baseBranch,
    expected: 'a branch of this repository',
    fix: 'create it, or name another',
  })
}

/** As far as a clone tells: by its remote, else by the usual names. */
export async function defaultBranchOf({ git, store }: Workspace): Promise<{ defaultBranch?: string }> {
  const head = await git.symbolicRef('refs/remotes/origin/HEAD')
  if (head !== null) return { defaultBranch: head.replace(/^refs\/remotes\/origin\//, '') }
  for (const name of ['main', 'master']) if ((await store.head(name)) !== null) return { defaultBranch: name }
  return {}
}

/** The clone's remote, and its place where that is at the GitHub that the environment names: a token goes to no other. */
export function remoteOf({ config }: Workspace['clone'], env: Context['env']) {
  const server = env.GITHUB_SERVER_URL?.replace(/\/+$/, '') || 'https://github.com'
  const api = env.GITHUB_API_URL?.replace(/\/+$/, '') || 'https://api.github.com'
  const remote = config.get('remote.origin.url')
  return { server, remote, place: remote === undefined ? null : placeOfRemote(remote, { [server]: api }) }
}

async function look(
  workspace: Workspace,
  settings: Settings,
  base: { branch: string; sha: string },
  named: { typed: (name: string) => string; branch: string | null },
): Promise<{ state: State; notes: readonly string[] }> {
  const { clone } = workspace
  const place = { commit: clone.head ?? base.sha, workTree: clone.workTree }
  const { feature: wanted, branchPrefix } = settings
  const { name, file, found } = await meantFeature(workspace, place, {
    feature: wanted,
    branchPrefix,
    ...named,
  })
  const notes = file?.notes ?? []
  const state = found?.state ?? null
  if (state === null) {
    if (file === null) throw new Error(`no prd.json of ${name}`)
    return { state: freshState(file, settings, base), notes }
  }
  if (file === null) return { state, notes }
  return { state: await withEdits(workspace, state, file.prd, clone.head), notes }
}

/** With what people have changed in prd.json, where they had it from the commit `head`. */
async function withEdits(workspace: Workspace, state: State, prd: Prd, head: string | null): Promise<State> {
  const seen = await idsSeen(workspace, state, head)
  const people = withoutArchived(prd, state)
  return { ...state, prd: mergePeople(state.prd, people, seen, (id) => isNoted(state, id)) }
}

/** Of stories that no run has begun on. */
export function freshState(file: Feature, settings: Settings, base: { branch: string; sha: string }): State {
  const today = new Date().toISOString().slice(0, 10)
  // That there are none has to be said outright: a command that was given none knows nothing of them.
  const tags = settings.gates.length === 0 && !settings.ungated ? null : gatedTagsOf(settings)
  const job = newJob(Date.now(), Number.MAX_SAFE_INTEGER, tags)
  const branch = file.prd.branchName || `${settings.branchPrefix}${file.name}`
  return newState(file, branch, { base, today, job })
}

/** Refuses a dirty tree, takes up what people changed in the feature's own folder; keeps the dirt of an open attempt. */
export async function adoptSettle(
  local: LocalRun,
  state: State,
  warn: (message: string) => void,
): Promise<State> {
  const { repository, clone } = local.workspace
  const looked = await commitLookedAt(local.workspace, state)
  if (looked !== null) await throwAway(local.workspace, looked, warn)
  const edits = await editsOf(local, state)
  if (edits === null) {
    const lost = attemptInCheckout(state)
    if (lost !== null && looked === null) await tellTaken(local, state, lost, warn)
    return state
  }
  const fresh = state.published === null
  const head = clone.head ?? state.green
  const settled = edits.length === 0 ? state : await adopt(local, state, fresh ? state.green : head, edits)
  if (settled.published !== null) await repository.checkOut(settled.green, null)
  return settled
}

/** What a session that was lost left is its work, and what people did there since cannot be told from it. */
async function tellTaken(
  { workspace: { repository, clone } }: LocalRun,
  state: State,
  { storyId }: Attempt,
  warn: (message: string) => void,
): Promise<void> {
  if (clone.head === null) return
  // What Ralph wrote for the candidate that was lost is nobody's work.
  const { prd, progress } = ownFiles(state)
  const dirt = (await repository.dirt(clone.head)).map(({ path }) => path)
  const paths = dirt.filter((path) => path !== prd && path !== progress)
  if (paths.length === 0) return
  warn(
    `the session that was lost left ${someOf(paths)}: taken as its work on ${storyId}. Is any of it yours? Stop, and move it away`,
  )
}

/** What people have not committed and may be taken up; null where the tree is Ralph's own. Throws UserError for other dirt. */
export async function editsOf(local: LocalRun, state: State): Promise<string[] | null> {
  const { repository, clone } = local.workspace
  const onBranch = clone.branch === state.branch
  if (
    (attemptInCheckout(state) !== null && onBranch) ||
    (await commitLookedAt(local.workspace, state)) !== null
  )
    return null
  // Killed between the state and the clone's branch, or its HEAD: the tree is ours already.
  if (state.published !== null && (await repository.dirt(state.green)).length === 0) return null
  const mayHoldEdits = state.published === null || onBranch
  const ours = onBranch ? await ownDocuments(local, state) : []
  const isAllowed = (path: string) => mayHoldEdits && (isOwn(state, path) || ours.includes(path))
  const edits = await checkDirt(repository, clone.head ?? state.green, isAllowed)
  return edits.filter((path) => !ours.includes(path))
}

/** What the commit that ends a run was about to write into people's documents when it was killed: no edit of people's. */
async function ownDocuments({ workspace }: LocalRun, state: State): Promise<string[]> {
  const { clone, repository } = workspace
  const prd = { ...state.prd, run: { ...state.prd.run, outcome: 'complete' as const } }
  const own: string[] = []
  for (const [path, text] of await repository.documentsAt({ ...state, prd })) {
    const here = await readRegular(join(clone.workTree, path))
    if (here?.toString('utf8') === text) own.push(path)
  }
  return own
}

async function adopt(local: LocalRun, state: State, onto: string, edits: readonly string[]): Promise<State> {
  const { repository } = local.workspace
  const subject = `docs(ralph): stories of ${state.feature}`
  const green = await repository.adopt(onto, edits, recordMessage(state, subject))
  if (state.published === null) return { ...state, green }
  const { prd: path } = ownFiles(state)
  const text = await repository.read(green, path)
  const ids = new Set(state.prd.userStories.map((story) => story.id))
  const parsed = text === null ? null : parsePrd(text, path, ids)
  if (parsed !== null && !parsed.ok) throw new UserError(parsed.mistakes)
  if (parsed === null) return { ...state, green }
  return { ...(await withEdits(local.workspace, state, parsed.prd, onto)), green }
}

/** The stories in the file that people had before them: a story of ours that is not there was added since, not removed. */
async function idsSeen(
  { repository, clone }: Workspace,
  state: State,
  head: string | null,
): Promise<Set<string>> {
  const { prd: path } = ownFiles(state)
  const commits = [head, clone.branch === state.branch ? state.published : null]
  const ids = commits.map(async (commit) => {
    const text = commit === null ? null : await repository.read(commit, path)
    const parsed = text === null ? null : parsePrd(text, path)
    return parsed?.ok ? parsed.prd.userStories.map((story) => story.id) : []
  })
  return new Set((await Promise.all(ids)).flat())
}
