// What `ralph monitor` and `ralph serve` look at on this machine: the runs of this clone, as its files tell.
import { join } from 'node:path'
import { agentOfHead, TranscriptReader } from '../agents/readable.ts'
import { freshState } from '../app/claim-feature.ts'
import { limitsOf } from '../app/loop-limits.ts'
import { findArchived, findFeatures } from '../app/resolve-feature.ts'
import type { Workspace } from '../app/workspace.ts'
import { featureOfFolder } from '../branch/find-features.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import type { State } from '../engine/model/state.ts'
import { mapTexts } from '../engine/model/text.ts'
import { type Situation, situationOf } from '../engine/situation.ts'
import type { WatchedRun } from '../report/live-view.ts'
import type { Settings } from '../settings/read-settings.ts'
import { messageOf, UserError } from '../system/errors.ts'
import { nearest } from '../system/nearest.ts'
import { readStatus } from './feature-status.ts'
import { ALIVE_MS, GrowingFile, type Log, logsIn, newestSession, watchRuns } from './logs.ts'

export type Source = Disposable & {
  /** The status of every feature now, always in the same order. Throws UserError where nothing can be shown. */
  look(): Promise<readonly WatchedRun[]>
  /** Resolves when it is worth to look again, or when it is aborted. */
  changed(signal: AbortSignal): Promise<void>
  /** How it is followed, and what went wrong with that. */
  note(): string
  /** A picture of a page that the state keeps; null where it cannot be had. */
  picture(blob: string): Promise<Buffer | null>
}

/** Of a transcript: what is read of it, bytes; and what is kept of that, lines. */
const TAIL = 256 * 1024
const LINES = 60
const DAY_MS = 24 * 3_600_000
/** Of more features only those at work show what is said. */
const FEW = 5

/** The newest folder of every feature, by name; those that are wanted, where some are. */
export function chooseFolders(folders: Iterable<string>, wanted: readonly string[]): Map<string, string> {
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
  const fixOf = (found: string) => {
    if (known.length === 0) return 'start it with `ralph run`'
    const near = nearest(found, known)
    return `use one of: ${known.slice(0, 20).join(', ')}${near === null ? '' : ` (did you mean ${near}?)`}`
  }
  const expected = `a feature ${where}`
  throw new UserError(unknown.map((found) => ({ path: 'feature', found, expected, fix: fixOf(found) })))
}

export function localSource(workspace: Workspace, settings: Settings, wanted: readonly string[]): Source {
  const { store, clone, objects, redactor } = workspace
  const limits = limitsOf(settings)
  const top = join(clone.gitDir, 'ralph')
  const place = { commit: clone.head ?? '', workTree: clone.workTree }
  const hearing = watchRuns(workspace, settings)
  /** After how long a look is worth it without a word. */
  let waitMs = ALIVE_MS
  /** By folder: the state as it was read last. */
  const read = new Map<string, { commit: string; state: State }>()
  /** By path: the last lines of a transcript of so many bytes. */
  const tails = new Map<string, { bytes: number; lines: string[] }>()
  /** Features that had no run when they were looked for. */
  let fresh: State[] | null = null
  let wrong = ''

  /** Features with stories that no run has begun on; none is looked for where all that are wanted have a run. */
  async function notBegun(begun: readonly string[]): Promise<State[]> {
    if (begun.length > 0 && begun.length >= wanted.length) return []
    const { features } = await findFeatures(objects, place, settings.branchPrefix)
    const base = { branch: clone.branch ?? '', sha: place.commit }
    return features
      .filter(({ name }) => !begun.includes(name))
      .map((file) => mapTexts(freshState(file, settings, base), redactor.redact))
  }

  /** Redacted once more: what lies there could have been written by an agent. */
  async function tail({ path, bytes }: Log): Promise<string[]> {
    const known = tails.get(path)
    if (known?.bytes === bytes) return known.lines
    await using file = new GrowingFile(path, Math.max(0, bytes - TAIL))
    const text = (await file.lines().catch(() => [])).join('\n')
    // A run may have been given another agent than the settings here, and has one for every step.
    const agent = agentOfHead(await file.head().catch(() => ''))
    const reader = new TranscriptReader(agent ?? settings.agent)
    const said = [...reader.read(redactor.redact(text).split('\n')), ...reader.end().lines]
    const lines = said.filter((line) => line.trim() !== '').slice(-LINES)
    tails.set(path, { bytes, lines })
    return lines
  }

  async function watchedOf(saved: State, isOneOfFew: boolean): Promise<WatchedRun> {
    const { state, situation } = await readStatus(workspace, saved, limits, standing)
    const isAtWork = situation.kind === 'working'
    const session = isAtWork || isOneOfFew ? newestSession(await logsIn(top, state.feature, 'newest')) : null
    const isCurrent = session !== null && (!isAtWork || session.at >= state.job.startedAt)
    const lines = isCurrent ? await tail(session) : []
    return { state, situation, limits, lines, place: 'this machine', url: null, surface: 'cli' }
  }

  return {
    async look() {
      waitMs = ALIVE_MS
      const commits = await store.list()
      const isArchived = await findArchived(objects, place)
      const shows = (folder: string) => wanted.length > 0 || !isArchived(folder)
      const folders = chooseFolders([...commits.keys()].filter(shows), wanted)
      const errors: unknown[] = []
      for (const folder of folders.values()) {
        const commit = commits.get(folder) ?? ''
        if (read.get(folder)?.commit === commit) continue
        const found = await store.load(folder).catch((error: unknown) => void errors.push(error))
        if (found) read.set(folder, { commit, state: mapTexts(found.state, redactor.redact) })
      }
      fresh ??= await notBegun([...folders.keys()])
      // A feature that was shown stays, until a run of it begins.
      const others = fresh.filter(({ feature }) => !folders.has(feature))
      const states = [
        ...[...folders.values()].flatMap((folder) => read.get(folder)?.state ?? []),
        ...others.filter(({ feature }) => wanted.length === 0 || wanted.includes(feature)),
      ]
      if (states.length === 0 && errors.length > 0) throw errors[0]
      wrong = errors.map((error) => messageOf(error).split('\n')[0]).join('; ')
      const known = [...chooseFolders(commits.keys(), []).keys(), ...others.map(({ feature }) => feature)]
      refuseUnknown(wanted, known, 'here')
      if (states.length === 0) throw nothingHere()
      const shown = await Promise.all(states.map((state) => watchedOf(state, states.length <= FEW)))
      waitMs = Math.min(DAY_MS, ...shown.map(newsMs))
      return shown
    },
    changed: (signal) => hearing.next(waitMs, signal),
    note: () => wrong || 'this machine, followed as it is written',
    picture: (blob) => store.readScreenshot(blob),
    [Symbol.dispose]() {
      hearing[Symbol.dispose]()
      workspace[Symbol.dispose]()
    },
  }
}

/** After how long it can stand otherwise without a word, milliseconds: a holder dies, a wait is over. */
function newsMs({ situation }: WatchedRun): number {
  if (situation.kind === 'working') return ALIVE_MS
  const until = situation.kind === 'ended' ? situation.conclusion.until : null
  return until === null || until <= Date.now() ? DAY_MS : until - Date.now()
}

/** A run that ended well was verified as it was told to be, whatever the settings here say. */
function standing(state: State, limits: Limits, now: number, lives: boolean): Situation {
  const situation = situationOf(state, limits, now, lives)
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
