// What `ralph monitor` and `ralph serve` look at: the runs of this clone, followed by its files.
import { hostname } from 'node:os'
import { join } from 'node:path'
import { TranscriptReader } from '../agents/readable.ts'
import { findFeatures } from '../app/features.ts'
import { limitsOf } from '../app/limits.ts'
import type { Workspace } from '../app/workspace.ts'
import { featureOfFolder } from '../git/features.ts'
import { expired } from '../loop/lease.ts'
import { type Situation, situationOf } from '../loop/situation.ts'
import type { Limits } from '../model/limits.ts'
import type { Lease, State } from '../model/state.ts'
import { mapTexts } from '../model/text.ts'
import type { Watched } from '../report/monitor.ts'
import type { Settings } from '../settings/index.ts'
import { messageOf, UserError } from '../system/errors.ts'
import { nearest } from '../system/nearest.ts'
import { processLives } from '../system/process-table.ts'
import { watchFolders } from '../system/watch.ts'
import { freshState } from './local.ts'
import { foldersOf, GrowingFile, logsIn, newestSession } from './logs.ts'

export type Source = Disposable & {
  /** How every feature stands now, in an order that stays. Throws UserError where nothing can be shown. */
  look(): Promise<readonly Watched[]>
  /** Calls back whenever it is worth to look again. */
  follow(changed: () => void): void
  /** How it is followed, and what went wrong with that. */
  note(): string
  /** A picture of a page that the state keeps; null where it cannot be had. */
  picture(blob: string): Promise<Buffer | null>
}

/** Of a transcript: what is read of it, bytes; and what is kept of that, lines. */
const TAIL = 256 * 1024
const LINES = 60
/** A holder that dies without a word changes no file: it is looked for so often. Milliseconds. */
const ALIVE_MS = 5000
/** Of more features only those at work show what is said. */
const FEW = 5

/** The newest folder of every feature, by name; those that are wanted, where some are. */
export function meantFolders(folders: Iterable<string>, wanted: readonly string[]): Map<string, string> {
  const newest = new Map<string, string>()
  for (const folder of [...folders].sort()) {
    const name = featureOfFolder(folder)
    if (name !== null && (wanted.length === 0 || wanted.includes(name))) newest.set(name, folder)
  }
  return newest
}

/** Throws UserError for a name that no feature has. */
export function refuseUnknown(wanted: readonly string[], names: readonly string[], where: string): void {
  // A feature has a folder for every time that it was begun.
  const known = [...new Set(names)]
  const unknown = wanted.filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw new UserError(
    unknown.map((found) => {
      const near = nearest(found, known)
      const list = known.length === 0 ? '' : `use one of: ${known.slice(0, 20).join(', ')}`
      const fix =
        list === ''
          ? 'start it with `ralph run`'
          : `${list}${near === null ? '' : ` (did you mean ${near}?)`}`
      return { path: 'feature', found, expected: `a feature ${where}`, fix }
    }),
  )
}

/** The runs of this clone; null where there is none, of those that are wanted. */
export async function localRuns(workspace: Workspace, wanted: readonly string[]): Promise<string[] | null> {
  const names = [...meantFolders((await workspace.store.list()).keys(), wanted).keys()]
  return names.length === 0 || names.length < wanted.length ? null : names
}

export class LocalSource implements Source {
  readonly #workspace: Workspace
  readonly #settings: Settings
  readonly #wanted: readonly string[]
  readonly #limits: Limits
  /** By folder: the state as it was read last. */
  readonly #read = new Map<string, { commit: string; state: State }>()
  /** Features that had no run when they were looked for. */
  #fresh: State[] | null = null
  #wrong = ''
  #folders: string[] = []
  #watching: Disposable | null = null
  #timer: NodeJS.Timeout | null = null
  #changed: (() => void) | null = null

  constructor(workspace: Workspace, settings: Settings, wanted: readonly string[]) {
    this.#workspace = workspace
    this.#settings = settings
    this.#wanted = wanted
    this.#limits = limitsOf(settings)
  }

  async look(): Promise<Watched[]> {
    const { store, clone, git, redactor } = this.#workspace
    const commits = await store.list()
    const folders = meantFolders(commits.keys(), this.#wanted)
    const errors: unknown[] = []
    for (const folder of folders.values()) {
      const commit = commits.get(folder) ?? ''
      if (this.#read.get(folder)?.commit === commit) continue
      const found = await store.load(folder).catch((error: unknown) => void errors.push(error))
      if (found) this.#read.set(folder, { commit, state: mapTexts(found.state, redactor.redact) })
    }
    const states = [...folders.values()].flatMap((folder) => this.#read.get(folder)?.state ?? [])
    this.#fresh ??= await this.#notBegun([...folders.keys()])
    // Who was shown once stays, until a run begins on it.
    const others = this.#fresh.filter(({ feature }) => !folders.has(feature))
    states.push(...others.filter(({ feature }) => this.#isMeant(feature)))
    if (states.length === 0 && errors.length > 0) throw errors[0]
    this.#wrong = errors.map((error) => messageOf(error).split('\n')[0]).join('; ')
    const known = [...meantFolders(commits.keys(), []).keys(), ...others.map(({ feature }) => feature)]
    refuseUnknown(this.#wanted, known, 'here')
    if (states.length === 0) throw nothingHere()
    const top = join(clone.gitDir, 'ralph')
    const watched = [join(git.shared, this.#settings.stateNamespace), ...foldersOf(top, [])]
    const shown: Watched[] = []
    for (const state of states) {
      const situation = standing(state, this.#limits, await isAlive(state.lease))
      const logs =
        situation.kind === 'working' || states.length <= FEW ? await logsIn(top, state.feature) : []
      if (situation.kind === 'working') watched.push(...foldersOf(top, logs))
      const session = newestSession(logs)
      const isCurrent =
        session !== null && (situation.kind !== 'working' || session.at >= state.job.startedAt)
      shown.push({
        state,
        situation,
        limits: this.#limits,
        lines: isCurrent ? await this.#tail(session) : [],
        place: 'this machine',
        url: null,
        surface: 'cli',
      })
    }
    this.#watch([...new Set(watched)])
    return shown
  }

  follow(changed: () => void): void {
    this.#changed = changed
    this.#timer = setInterval(changed, ALIVE_MS)
    const folders = this.#folders
    this.#folders = []
    this.#watch(folders)
  }

  note(): string {
    return this.#wrong === '' ? 'this machine, followed as it is written' : this.#wrong
  }

  picture(blob: string): Promise<Buffer | null> {
    return this.#workspace.store.readScreenshot(blob)
  }

  [Symbol.dispose](): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#watching?.[Symbol.dispose]()
    this.#workspace[Symbol.dispose]()
  }

  #watch(folders: string[]): void {
    if (this.#folders.join('\n') === folders.join('\n')) return
    this.#folders = folders
    if (this.#changed === null) return
    this.#watching?.[Symbol.dispose]()
    this.#watching = watchFolders(folders, this.#changed)
  }

  #isMeant(feature: string): boolean {
    return this.#wanted.length === 0 || this.#wanted.includes(feature)
  }

  /** Features with stories that no run has begun on; none is looked for where all that are wanted have a run. */
  async #notBegun(begun: readonly string[]): Promise<State[]> {
    if (begun.length > 0 && begun.length >= this.#wanted.length) return []
    const { objects, clone } = this.#workspace
    const place = { commit: clone.head ?? '', workTree: clone.workTree }
    const { features } = await findFeatures(objects, place, this.#settings.branchPrefix)
    const base = { branch: clone.branch ?? '', sha: place.commit }
    return features
      .filter(({ name }) => !begun.includes(name))
      .map((file) => freshState(file, this.#settings, base))
  }

  /** Redacted once more: what lies there could have been written by an agent. */
  async #tail({ path, bytes }: { path: string; bytes: number }): Promise<string[]> {
    await using file = new GrowingFile(path, Math.max(0, bytes - TAIL))
    const lines = await file.lines().catch(() => [])
    const clean = this.#workspace.redactor.redact(lines.join('\n')).split('\n')
    const reader = new TranscriptReader(this.#settings.agent)
    return [...reader.read(clean), ...reader.end().lines].filter((line) => line.trim() !== '').slice(-LINES)
  }
}

/** A run that ended well was verified as it was told to be, whatever the settings here say. */
function standing(state: State, limits: Limits, lives: boolean): Situation {
  const situation = situationOf(state, limits, Date.now(), lives)
  const last = state.job.ending?.conclusion
  const isVerified = situation.kind === 'ready' && situation.step?.kind === 'verify'
  return isVerified && last?.outcome === 'complete' ? { kind: 'ended', conclusion: last } : situation
}

function nothingHere(): UserError {
  return new UserError({
    path: 'feature',
    found: 'no prd.json and no run in this clone',
    expected: 'a feature',
    fix: 'make one with `ralph plan`; of runs in CI: GH_TOKEN=$(gh auth token) ralph monitor --remote',
  })
}

async function isAlive(lease: Lease | null): Promise<boolean> {
  if (lease === null) return false
  return lease.host === hostname() ? processLives(lease.pid, lease.startTime) : !expired(lease, Date.now())
}

/** One at a time: what is asked for meanwhile is done once, after it. */
export function latest(act: () => Promise<void>): () => void {
  let isBusy = false
  let isAsked = false
  const run = async (): Promise<void> => {
    isBusy = true
    do {
      isAsked = false
      await act()
    } while (isAsked)
    isBusy = false
  }
  return () => {
    isAsked = true
    if (!isBusy) void run()
  }
}
