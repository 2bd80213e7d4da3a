// Takes a feature for this job: finds its stories and its state, checks the lease, and makes the state to start from.
import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CatFile } from '../git/cat-file.ts'
import {
  ELSEWHERE,
  type Feature,
  featureOfFolder,
  folderOf,
  isPrdPath,
  nameOf,
  newestOfEach,
} from '../git/features.ts'
import type { Git } from '../git/git.ts'
import type { Repository } from '../git/repository.ts'
import type { Found, Store } from '../git/store.ts'
import { triedAgain } from '../loop/agent-limits.ts'
import { ownFiles } from '../loop/files.ts'
import { sayHolder } from '../loop/lease.ts'
import { refund, reservedUsage, spend } from '../loop/reduce.ts'
import type { Control, Job, Lease, State } from '../loop/state.ts'
import { emptyControl } from '../loop/stored.ts'
import { mergePeople } from '../prd/merge.ts'
import { branchNameFault } from '../prd/names.ts'
import { parsePrd } from '../prd/parse.ts'
import { asImported, type Prd } from '../prd/schema.ts'
import { remaining } from '../prd/select.ts'
import { shown } from '../prd/shown.ts'
import { type Mistake, UserError } from '../system/errors.ts'
import { nearest } from '../system/nearest.ts'

/** Somebody else works on the feature: leave at once, change nothing. */
export class Held extends Error {
  readonly lease: Lease
  constructor(lease: Lease, feature: string) {
    super(
      `${sayHolder(lease)} works on ${feature}; its lease holds until ${new Date(lease.expiresAt).toISOString()}`,
    )
    this.name = 'Held'
    this.lease = lease
  }
}

/** The chain has moved on since this job was dispatched: it has nothing to do. */
export class Superseded extends Error {
  constructor(dispatched: number, now: number) {
    super(
      `this job was dispatched as generation ${dispatched}, the run is at ${now}: another job has gone on already`,
    )
    this.name = 'Superseded'
  }
}

/** Where stories were looked for: a commit, and on a laptop the work tree above it. */
export type Place = { commit: string; workTree: string | null }

/** Every feature that the place holds, the newest folder of each name. Broken files are collected, not thrown. */
export async function findFeatures(git: Git, objects: CatFile, place: Place, branchPrefix: string) {
  const listed = await git.run([
    'ls-tree',
    '-r',
    '-z',
    '--name-only',
    place.commit,
    '--',
    '.ralph/',
    'ralph/',
    'scripts/ralph/',
    'prd.json',
  ])
  const paths = new Set(listed.stdout.split('\0').filter(isPrdPath))
  if (place.workTree !== null) for (const path of await prdPathsIn(place.workTree)) paths.add(path)
  const features: Feature[] = []
  const mistakes: Mistake[] = []
  for (const path of paths) {
    const onDisk =
      place.workTree === null ? null : await readFile(join(place.workTree, path), 'utf8').catch(() => null)
    const text = onDisk ?? (place.workTree === null ? await objects.text(`${place.commit}:${path}`) : null)
    if (text === null) continue
    const folder = folderOf(path)
    const parsed = parsePrd(text, path)
    const name =
      (folder === null ? null : featureOfFolder(folder)) ??
      (parsed.ok ? nameOf(parsed.prd, branchPrefix) : 'feature')
    // The name stands in refs, and in the stream that writes them, where a line feed would begin a command.
    const fault = branchNameFault(name)
    if (fault !== null) {
      const fix = 'rename the folder, such as .ralph/2026-01-31-auth'
      mistakes.push({ path, found: shown(name), expected: `a feature's name with ${fault}`, fix })
    } else if (!parsed.ok) mistakes.push(...parsed.mistakes)
    else {
      const notes = parsed.notes.map((note) => `${path}: ${note}`)
      features.push({ name, folder, path, prd: parsed.prd, digest: digestOf(text), notes })
    }
  }
  return { features: newestOfEach(features), mistakes }
}

/** Stories that stand in the work tree, committed or not. */
async function prdPathsIn(workTree: string): Promise<string[]> {
  const folders = await readdir(join(workTree, '.ralph')).catch(() => [])
  return [...ELSEWHERE, ...folders.map((folder) => `.ralph/${folder}/prd.json`).filter(isPrdPath)]
}

/**
 * The feature that is meant: the named one, or the only unfinished one. Throws UserError with the list otherwise, each as
 * `typed` says it is named there.
 */
export function chooseFeature(
  wanted: string | null,
  candidates: ReadonlyMap<string, 'unfinished' | 'finished'>,
  typed: (name: string) => string = (name) => name,
): string {
  const names = [...candidates.keys()].sort()
  if (wanted !== null) {
    if (candidates.has(wanted)) return wanted
    const near = nearest(wanted, names)
    const fix =
      names.length === 0
        ? `write .ralph/<yyyy-mm-dd>-${wanted}/prd.json and commit it`
        : `use one of: ${names.map(typed).join(', ')}${near === null ? '' : ` (did you mean ${near}?)`}`
    throw new UserError([{ path: 'feature', found: wanted, expected: 'a feature with a prd.json', fix }])
  }
  const open = names.filter((name) => candidates.get(name) === 'unfinished')
  if (open.length === 1 && open[0] !== undefined) return open[0]
  if (open.length === 0 && names.length === 1 && names[0] !== undefined) return names[0]
  const found =
    names.length === 0
      ? 'no prd.json'
      : `${open.length === 0 ? names.length : open.length} features: ${(open.length === 0 ? names : open).join(', ')}`
  const fix =
    names.length === 0
      ? 'write .ralph/<yyyy-mm-dd>-<feature>/prd.json and commit it'
      : `name one of them: ${(open.length === 0 ? names : open).map(typed).join(', ')}`
  throw new UserError([{ path: 'feature', found, expected: 'the name of one feature', fix }])
}

export type ClaimRequest = {
  feature: string | null
  /** How a feature is named by the person who has to, in a command line or an input. */
  typed?: (name: string) => string
  branchPrefix: string
  /** `defaultBranch`: no feature's own either; left out where it is not known. */
  base: { branch: string; sha: string; defaultBranch?: string }
  /** The checkout to look for stories in, too (CLI). */
  workTree: string | null
  /** Only a job of this generation goes on; null for a kick-off by a person. */
  generation: number | null
  lease: Omit<Lease, 'nonce'>
  /** Whether the holder still has the feature: it lives, as far as can be asked, and its time has not passed. */
  alive(lease: Lease): Promise<boolean>
  /** Ends what a holder that is gone has left running, before anything is touched. */
  endOrphansOf(lease: Lease): Promise<void>
  job: Job
  chosen: Readonly<Record<string, string>>
  today: string
  /** Looks at the checkout before anything is taken: refuses dirt, takes up people's edits. */
  settle(state: State, fresh: boolean): Promise<State>
  /** The newest comment id on a branch's pull request: where a state that was lost begins to listen. */
  firstComment(branch: string): Promise<number>
}

export type Claimed = { state: State; resumed: boolean; notes: string[] }

/** Takes the lease with one durable push. Throws Held, Superseded or UserError; nothing has changed then. */
export async function claim(
  git: Git,
  objects: CatFile,
  store: Store,
  repository: Repository,
  request: ClaimRequest,
): Promise<Claimed> {
  const states = await store.list()
  const seen = await findFeatures(
    git,
    objects,
    { commit: request.base.sha, workTree: request.workTree },
    request.branchPrefix,
  )
  const candidates = new Map<string, 'unfinished' | 'finished'>()
  for (const { name, prd } of seen.features)
    candidates.set(name, remaining(prd).length > 0 ? 'unfinished' : 'finished')
  for (const folder of states.keys()) {
    const name = featureOfFolder(folder)
    if (name === null) continue
    if (request.feature !== null) candidates.set(name, candidates.get(name) ?? 'unfinished')
    else
      candidates.set(
        name,
        (await store.load(folder))?.state.prd.run.outcome === 'complete' ? 'finished' : 'unfinished',
      )
  }
  const broken = seen.mistakes.filter(
    (mistake) =>
      request.feature === null ||
      !candidates.has(request.feature) ||
      mistake.path.includes(`-${request.feature}/`),
  )
  if (broken.length > 0) throw new UserError(broken)
  const name = chooseFeature(request.feature, candidates, request.typed)
  const file = seen.features.find((feature) => feature.name === name) ?? null

  const folders = [...states.keys()].filter((folder) => featureOfFolder(folder) === name).sort()
  const newest = folders.at(-1) ?? null
  const replaced = newest !== null && file?.folder != null && file.folder > `.ralph/${newest}`
  const found = newest === null || replaced ? null : await store.load(newest)
  if (found !== null) return resume(found, request, store, repository, file)
  if (file === null)
    throw new UserError([{ path: 'feature', found: name, expected: 'a prd.json', fix: 'commit one' }])
  const before = newest === null ? null : ((await store.load(newest))?.state.branch ?? null)
  const { branch, head } = await branchToTake(file, before, git, objects, store, request)
  return begin(file, branch, head, request, store, repository)
}

type Base = ClaimRequest['base']

/**
 * The branch of a feature that has no state, and its head where it is there. `before`: that of an older run of it. Throws
 * UserError where it is not Ralph's to take.
 */
export async function branchToTake(
  file: Feature,
  before: string | null,
  git: Git,
  objects: CatFile,
  store: Store,
  request: Pick<ClaimRequest, 'base' | 'branchPrefix'>,
): Promise<{ branch: string; head: string | null }> {
  const usual = `${request.branchPrefix}${file.name}`
  const branch = file.prd.branchName === '' ? usual : file.prd.branchName
  refuseShared(branch, `${file.path}: branchName`, request.base)
  const head = await store.head(branch)
  const isOurs =
    head === null ||
    branch === usual ||
    branch === before ||
    (await madeByRun(branch, head, file, git, objects, store, request))
  if (!isOurs) throw foreignBranch(branch, file, request)
  return { branch, head }
}

/** The base and the default branch are people's. Throws UserError. */
export function refuseShared(branch: string, path: string, base: Base): void {
  if (branch !== base.branch && branch !== base.defaultBranch) return
  const fix =
    branch === base.branch
      ? 'go to the branch that the run starts from (git switch …), or give the feature a branch of its own: Ralph never commits to the base'
      : 'leave branchName out, or name a branch of its own: Ralph never commits to the default branch'
  throw new UserError([{ path, found: branch, expected: 'a branch of its own', fix }])
}

/**
 * Whether a branch whose state is lost plainly is a run's of this feature: its prd.json names the branch and the run, and
 * a commit beyond the base is that run's. The prd.json alone may have come with what people merged.
 */
async function madeByRun(
  branch: string,
  head: string,
  { name }: Feature,
  git: Git,
  objects: CatFile,
  store: Store,
  { base, branchPrefix }: Pick<ClaimRequest, 'base' | 'branchPrefix'>,
): Promise<boolean> {
  await store.fetch([head], 'tip')
  const { features } = await findFeatures(git, objects, { commit: head, workTree: null }, branchPrefix)
  const prd = features.find((feature) => feature.name === name)?.prd
  const nonce = prd?.run.control.nonce
  if (prd?.branchName !== branch || typeof nonce !== 'string' || !/^[0-9a-f-]{36}$/.test(nonce)) return false
  await store.fetch([head, base.sha], 'whole')
  const range = `${base.sha}..${head}`
  const args = ['rev-list', '-n', '1', '--fixed-strings', `--grep=Ralph-Run: ${nonce}`, range, '--']
  return (await git.line(args)) !== ''
}

function foreignBranch(
  branch: string,
  file: Feature,
  { branchPrefix }: Pick<ClaimRequest, 'branchPrefix'>,
): UserError {
  return new UserError([
    {
      path: `${file.path}: branchName`,
      found: `${branch}, which is there already and was not made by a run of ${file.name}`,
      expected: "a branch of Ralph's own, or one that is not there yet",
      fix: `leave branchName out (then it is ${branchPrefix}${file.name}), or name another branch`,
    },
  ])
}

async function resume(
  found: Found,
  request: ClaimRequest,
  store: Store,
  repository: Repository,
  file: Feature | null,
): Promise<Claimed> {
  const { state } = found
  const { lease } = state
  // It was not when the run began.
  if (state.branch === request.base.defaultBranch)
    refuseShared(state.branch, `the branch of ${state.feature}`, request.base)
  if (lease !== null && (await request.alive(lease))) throw new Held(lease, state.feature)
  if (request.generation !== null && request.generation !== state.generation) {
    throw new Superseded(request.generation, state.generation)
  }
  if (lease !== null) await request.endOrphansOf(lease)
  const fresh = state.published === null
  const said = file === null ? [] : fresh ? [...file.notes] : await editedAtBase(state, file, repository)
  // Nothing was opened yet: the fork point is where the base is now.
  const prd = fresh && file !== null ? { ...asImported(file.prd), run: state.prd.run } : state.prd
  const base = fresh ? startOf(request) : state.base
  const green = fresh ? request.base.sha : state.green
  const moved = request.base.sha !== state.base.sha
  const baseline = fresh && moved ? 'pending' : state.baseline
  const storiesDigest = fresh && file !== null ? file.digest : state.storiesDigest
  const taken = takeOver({ ...state, prd, base, green, baseline, storiesDigest })
  const claimed = started(await request.settle(taken, fresh), request, request.job)
  await store.save(claimed)
  return { state: claimed, resumed: true, notes: said }
}

/** Stories count from the branch once a run has begun: what people change at the base is told, not merged. */
async function editedAtBase(state: State, file: Feature, repository: Repository): Promise<string[]> {
  if (file.digest === state.storiesDigest) return []
  const here = await repository.read(state.green, ownFiles(state).prd)
  if (here !== null && digestOf(here) === file.digest) return []
  return [
    `${file.path} was changed on ${state.base.branch} after the run had begun: edit it on ${state.branch} for this run to see it`,
  ]
}

function startOf({ base }: ClaimRequest): State['base'] {
  return { branch: base.branch, sha: base.sha }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** The attempt of a job that was lost is given back; what it reserved is charged as an estimate. */
export function takeOver(state: State): State {
  const { attempt } = state
  if (attempt === null || attempt.phase === 'failed' || attempt.phase === 'returned') return state
  const charged = attempt.session === null ? spend(state, attempt.storyId, reservedUsage(attempt)) : state
  return refund(charged, 'lost', 'the job was lost')
}

function started(state: State, request: ClaimRequest, job: Job): State {
  const { run } = state.prd
  const control = request.generation === null ? triedAgain(state.control) : state.control
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
      // This is the job that was promised.
      continuePending: false,
      idleJobs: control.idleJobs + (state.lease !== null && state.job.iterations === 0 ? 1 : 0),
      mendedRun: null,
      chosen: { ...control.chosen, ...request.chosen },
      // A person who starts the run anew has mended what Ralph paused for, or sees it again; a person's pause stays.
      paused: request.generation === null && control.paused?.by === 'ralph' ? null : control.paused,
    },
    job,
  }
}

async function begin(
  file: Feature,
  branch: string,
  head: string | null,
  request: ClaimRequest,
  store: Store,
  repository: Repository,
): Promise<Claimed> {
  const folder = file.folder ?? `.ralph/${request.today}-${file.name}`
  const control: Control = {
    ...emptyControl(),
    lastComment: head === null ? 0 : await request.firstComment(branch),
  }
  const fresh: State = {
    version: 1,
    feature: file.name,
    importedFrom: file.folder === null ? file.path : null,
    storiesDigest: file.digest,
    folder,
    branch,
    base: startOf(request),
    nonce: randomUUID(),
    generation: 0,
    // The file cannot bring limits, usage or control of its own: those are Ralph's.
    prd: asImported(file.prd),
    green: request.base.sha,
    published: null,
    baseline: 'pending',
    attempt: null,
    kept: {},
    records: {},
    control,
    verification: { approved: false, sessions: 0, message: '' },
    progress: [],
    recent: [],
    timeline: [],
    lease: null,
    github: { pull: null, pullUrl: null, comment: null, head: null },
    job: request.job,
  }
  const state = head === null ? fresh : await adoptBranch(fresh, head, store, repository)
  const settled = await request.settle(state, head === null)
  const claimed = started(settled, request, settled.job)
  await store.save(claimed)
  const said =
    head === null
      ? [...file.notes]
      : [...file.notes, `the state of ${file.name} was lost; it goes on from ${branch} as it stands`]
  return { state: claimed, resumed: head !== null, notes: said }
}

/** The branch is there but our state is not: what passed is what its commits say, and the gates see it again. */
async function adoptBranch(fresh: State, head: string, store: Store, repository: Repository): Promise<State> {
  await store.fetch([head], 'whole')
  const text = await repository.read(head, ownFiles(fresh).prd)
  const parsed = text === null ? null : parsePrd(text, `${fresh.branch}: ${ownFiles(fresh).prd}`)
  if (parsed !== null && !parsed.ok) throw new UserError(parsed.mistakes)
  const prd: Prd = parsed === null ? fresh.prd : mergePeople(parsed.prd, fresh.prd).prd
  const job = { ...fresh.job, theirs: head, takesBranch: true }
  // Its commits name the run that made them.
  const written = parsed?.prd.run.control.nonce
  const nonce = typeof written === 'string' && written !== '' ? written : fresh.nonce
  return { ...fresh, nonce, prd, green: head, published: head, baseline: 'green', job }
}

/** The job as it begins. */
export function newJob(startedAt: number, deadline: number, gatedTags: readonly string[] | null = null): Job {
  return {
    startedAt,
    deadline,
    iterations: 0,
    begun: 0,
    synced: false,
    prepared: false,
    opened: false,
    gatedTags,
    theirs: null,
    joins: 0,
    landing: null,
    takesBranch: false,
    branchGone: null,
    branchRefused: false,
    interrupted: false,
    error: null,
    conclusion: null,
    concludedAt: null,
    published: false,
    more: false,
    dispatched: false,
    dispatchAfter: null,
    nextRunId: null,
    reported: false,
  }
}

/** Refuses dirt outside `allowed`; gives the paths that may be taken up. Throws UserError with the list. */
export async function checkDirt(
  repository: Repository,
  checkedOut: string,
  allowed: (path: string) => boolean,
): Promise<string[]> {
  const dirt = await repository.dirt(checkedOut)
  const foreign = dirt.filter(({ path }) => !allowed(path))
  if (foreign.length === 0) return dirt.map(({ path }) => path)
  const names = foreign.map(({ path }) => path)
  const loose = foreign.filter(({ isUntracked }) => isUntracked).map(({ path }) => path)
  const mistake = { path: 'work tree', expected: 'a clean tree' }
  if (loose.length <= MANY) {
    const found = `uncommitted changes: ${someOf(names)}`
    throw new UserError([{ ...mistake, found, fix: 'commit or stash them, then run again' }])
  }
  const folders = (await repository.untracked())
    .filter((path) => path.endsWith('/'))
    .map((folder) => ({ folder, count: loose.filter((path) => path.startsWith(folder)).length }))
    .filter(({ count }) => count > 0)
    .sort((one, other) => other.count - one.count)
  const where =
    folders.length === 0 ? '' : `, in ${someOf(folders.map(({ folder, count }) => `${folder} (${count})`))}`
  const found = `${names.length} uncommitted changes, of which ${loose.length} are files that git neither has nor ignores${where}`
  const fix = `name in .gitignore what tools have made${folders[0] === undefined ? '' : ` (such as ${folders[0].folder})`}, commit or stash the rest, then run again`
  throw new UserError([{ ...mistake, found, fix }])
}

/** So many untracked files are no forgotten work: nobody has told git what to ignore. */
const MANY = 100

function someOf(names: readonly string[]): string {
  return names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '')
}
