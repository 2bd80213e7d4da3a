// What `ralph monitor` and `ralph serve` watch: a source of runs, and the one of this clone's runs, read from its files.
import { join } from 'node:path'
import { agentOfHead, TranscriptReader } from '../agents/readable.ts'
import { freshState } from '../app/claim-feature.ts'
import { limitsOf } from '../app/loop-limits.ts'
import { findArchived, findFeatures } from '../app/resolve-feature.ts'
import type { Workspace } from '../app/workspace.ts'
import { featureOfFolder } from '../branch/find-features.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import type { State } from '../engine/model/state.ts'
import { isVerification } from '../engine/model/step.ts'
import { mapTexts } from '../engine/model/text.ts'
import { type Situation, situationOf } from '../engine/situation.ts'
import type { WatchedRun } from '../report/live-view.ts'
import type { Settings } from '../settings/read-settings.ts'
import { messageOf, UserError } from '../system/errors.ts'
import { nearest } from '../system/nearest.ts'
import { readStatus } from './feature-status.ts'
import { ALIVE_MS, GrowingFile, type Log, logsIn, newestSession, watchRuns } from './logs.ts'

export type Source = Disposable & {
  /** The status of every feature now, always in the same order. Throws UserError if nothing can be shown. */
  look(): Promise<readonly WatchedRun[]>
  /** Resolves when something may have changed, or when it is aborted. */
  changed(signal: AbortSignal): Promise<void>
  /** One line: how the runs are followed, and the last error. */
  note(): string
  /** A screenshot that the state keeps, by its git blob; null if it cannot be read. */
  picture(blob: string): Promise<Buffer | null>
}

/** Of a transcript, so much of its end is read (bytes), and so much of that is shown (lines). */
const TAIL = 256 * 1024
const LINES = 60
const DAY_MS = 24 * 3_600_000
/** With more features than this, only those at work show their session's output. */
const FEW_FEATURES = 5

/** The newest folder of every feature, by the feature's name; only those of `wanted` if that is not empty. */
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
  throw new UserError(
    unknown.map((name) => ({
      path: 'feature',
      found: `there is no feature ${name} ${where}.`,
      expected: '',
      fix: fixOf(name),
    })),
  )
}

export function localSource(workspace: Workspace, settings: Settings, wanted: readonly string[]): Source {
  const { store, clone, objects, redactor } = workspace
  const limits = limitsOf(settings)
  const top = join(clone.gitDir, 'ralph')
  const place = { commit: clone.head ?? '', workTree: clone.workTree }
  const watcher = watchRuns(workspace, settings)
  /** After so long it looks again, even if no file changed. */
  let waitMs = ALIVE_MS
  /** By folder: the state that was read last. */
  const read = new Map<string, { version: string; state: State }>()
  /** By path: the last lines of a transcript, and its size in bytes when they were read. */
  const tails = new Map<string, { bytes: number; lines: string[] }>()
  /** Features that had no run at the first look; null before it. */
  let notBegun: State[] | null = null
  let lastError = ''

  /** Features with stories that no run has begun. Does not look for any if every wanted one has a run. */
  async function findNotBegun(begun: readonly string[]): Promise<State[]> {
    if (begun.length > 0 && begun.length >= wanted.length) return []
    const { features } = await findFeatures(objects, place, settings.branchPrefix)
    const base = { branch: clone.branch ?? '', sha: place.commit }
    return features
      .filter(({ name }) => !begun.includes(name))
      .map((file) => mapTexts(freshState(file, settings, base), redactor.redact))
  }

  /** The last lines of a transcript, redacted again, because an agent could have written the file. */
  async function tail({ path, bytes }: Log): Promise<string[]> {
    const known = tails.get(path)
    if (known?.bytes === bytes) return known.lines
    await using file = new GrowingFile(path, Math.max(0, bytes - TAIL))
    const text = (await file.lines().catch(() => [])).join('\n')
    // A run may have used another agent than the settings here, and another one for each step.
    const agent = agentOfHead(await file.head().catch(() => ''))
    const reader = new TranscriptReader(agent ?? settings.agent)
    const output = [...reader.read(redactor.redact(text).split('\n')), ...reader.end().lines]
    const lines = output.filter((line) => line.trim() !== '').slice(-LINES)
    tails.set(path, { bytes, lines })
    return lines
  }

  async function watchedOf(saved: State, isOneOfFew: boolean): Promise<WatchedRun> {
    const { state, situation } = await readStatus(workspace, saved, limits, situationOfRun)
    const isAtWork = situation.kind === 'working'
    const session = isAtWork || isOneOfFew ? newestSession(await logsIn(top, state.feature, 'newest')) : null
    const isCurrent = session !== null && (!isAtWork || session.at >= state.job.startedAt)
    const lines = isCurrent ? await tail(session) : []
    return { state, situation, limits, lines, place: 'this machine', url: null, surface: 'cli' }
  }

  return {
    async look() {
      waitMs = ALIVE_MS
      const versions = await store.list()
      const isArchived = await findArchived(objects, place)
      const isShown = (folder: string) => wanted.length > 0 || !isArchived(folder)
      const folders = chooseFolders([...versions.keys()].filter(isShown), wanted)
      const errors: unknown[] = []
      for (const folder of folders.values()) {
        const version = versions.get(folder) ?? ''
        if (read.get(folder)?.version === version) continue
        const found = await store.load(folder).catch((error: unknown) => void errors.push(error))
        if (found) read.set(folder, { version, state: mapTexts(found.state, redactor.redact) })
      }
      notBegun ??= await findNotBegun([...folders.keys()])
      // A feature without a run stays in the list until its run begins.
      const others = notBegun.filter(({ feature }) => !folders.has(feature))
      const states = [
        ...[...folders.values()].flatMap((folder) => read.get(folder)?.state ?? []),
        ...others.filter(({ feature }) => wanted.length === 0 || wanted.includes(feature)),
      ]
      if (states.length === 0 && errors.length > 0) throw errors[0]
      lastError = errors.map((error) => messageOf(error).split('\n')[0]).join('; ')
      const known = [...chooseFolders(versions.keys(), []).keys(), ...others.map(({ feature }) => feature)]
      refuseUnknown(wanted, known, 'here')
      if (states.length === 0) throw noFeature()
      const shown = await Promise.all(states.map((state) => watchedOf(state, states.length <= FEW_FEATURES)))
      waitMs = Math.min(DAY_MS, ...shown.map(nextChangeMs))
      return shown
    },
    changed: (signal) => watcher.next(waitMs, signal),
    note: () => lastError || 'runs on this machine, updated live',
    picture: (blob) => store.readScreenshot(blob),
    [Symbol.dispose]() {
      watcher[Symbol.dispose]()
      workspace[Symbol.dispose]()
    },
  }
}

/** After how many milliseconds a status may change without a file being written: a run is killed, a wait is over. */
function nextChangeMs({ situation }: WatchedRun): number {
  if (situation.kind === 'working') return ALIVE_MS
  const until = situation.kind === 'ended' ? situation.conclusion.until : null
  return until === null || until <= Date.now() ? DAY_MS : until - Date.now()
}

/** A complete run counts as verified by its own settings, even if those here would verify it again. */
function situationOfRun(state: State, limits: Limits, now: number, isAtWork: boolean): Situation {
  const situation = situationOf(state, limits, now, isAtWork)
  const last = state.job.ending?.conclusion
  const isVerified = situation.kind === 'ready' && situation.step !== null && isVerification(situation.step)
  return isVerified && last?.outcome === 'complete' ? { kind: 'ended', conclusion: last } : situation
}

function noFeature(): UserError {
  return new UserError({
    path: 'feature',
    found: 'this clone has no prd.json and no run.',
    expected: '',
    fix: 'plan a feature with `ralph plan`. To watch runs in CI: GH_TOKEN=$(gh auth token) ralph monitor --remote',
  })
}
