// Notes what each session has used so far in Ralph's git directory, until the state has it: a killed run loses none of it. Each
// session has its own note, so that sessions side by side do not overwrite each other's.
//
// At `same-user` an agent can write these files, so a note counts only for an attempt or a judge that the saved state lacks.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import * as z from 'zod/mini'
import { withLostSession } from '../engine/attempts/lost-attempts.ts'
import { type Attempt, type AttemptIn, attemptKey, idOf } from '../engine/model/attempt.ts'
import type { Event } from '../engine/model/event.ts'
import { openAttempt } from '../engine/model/job.ts'
import { jsonObject } from '../engine/model/json.ts'
import type { AgentPort, Observer, SessionBounds } from '../engine/model/ports.ts'
import type { State } from '../engine/model/state.ts'
import { addUsage, emptyUsage, type SessionKind, Usage } from '../engine/model/usage.ts'
import { lostSessionUsage, recordLostSession, reservedUsage } from '../engine/state/record-session.ts'
import type { Git } from '../git/git.ts'
import { renameIntoPlace } from '../git/own-directory.ts'
import { readRegularFileSync, removeSync } from '../system/files.ts'

/** Ralph writes no larger note. */
const MAX_BYTES = 10_000
/** The maximum number of notes that are read. */
const MAX_NOTES = 500

const SessionNote = z.object({
  nonce: z.string(),
  kind: z.literal('run'),
  storyId: z.string(),
  slot: z.exactOptional(z.number()),
  /** When the attempt began, epoch milliseconds. */
  startedAt: z.number(),
  usage: Usage,
  /** The session had not ended. */
  isPartial: z.exactOptional(z.literal(true)),
})
/** A judge or planner. `calls`: those that the state had counted for the same attempt, or for none, when this one began. */
const JudgeNote = z.object({
  nonce: z.string(),
  kind: z.enum(['judge', 'verify', 'plan', 'split', 'examples', 'glue', 'answer']),
  storyId: z.nullable(z.string()),
  slot: z.exactOptional(z.number()),
  startedAt: z.nullable(z.number()),
  calls: z.number(),
  usage: Usage,
})
const Note = z.discriminatedUnion('kind', [SessionNote, JudgeNote])
type Note = z.infer<typeof Note>
type JudgeNote = z.infer<typeof JudgeNote>

/**
 * Notes the usage of a session that has ended. Removes the notes of an attempt once its end is saved. Once no attempt is in progress, it
 * removes all notes, because a killed run leaves some.
 */
export function usageNotes(git: Git): Observer {
  return {
    async event(event, { nonce, folder, attempts }) {
      const isSaved = ENDS.has(event.kind) || event.kind === 'published'
      if (isSaved && Object.keys(attempts).length === 0) {
        removeSync(notesFolder(git, folder))
        return
      }
      if (ENDS.has(event.kind)) {
        removeNotes(git, folder, 'storyId' in event && event.kind !== 'exampled' ? event : null)
        return
      }
      const attempt = event.kind === 'worked' ? attempts[attemptKey(event)] : undefined
      if (event.kind !== 'worked' || attempt === undefined) return
      const { startedAt } = attempt
      const note = { nonce, kind: 'run' as const, ...idOf(attempt), startedAt, usage: event.session.usage }
      writeNote(git, folder, note)
    },
  }
}

const ENDS = new Set<Event['kind']>([
  'accepted',
  'rejected',
  'returned',
  'entered',
  'verified',
  'planned',
  'exampled',
])

/**
 * The agent, which notes what each session uses while it works. For judges and planners their reservation is noted as well, because they
 * have no attempt in the state.
 */
export function withUsageNotes(agent: AgentPort, git: Git): AgentPort {
  /** What the attempt's sessions used so far. It has several if the project is set up first, or if steps run. */
  let used = { startedAt: 0, usage: emptyUsage() }
  async function noteSession<T extends { usage: Usage } | null>(
    { nonce, folder }: State,
    attempt: AttemptIn<'reserved'>,
    session: (onUsed: (usage: Usage) => void) => Promise<T>,
  ) {
    const { startedAt } = attempt
    if (used.startedAt !== startedAt) used = { startedAt, usage: emptyUsage() }
    const before = used.usage
    const result = await session((seen) => {
      const usage = addUsage(before, seen)
      writeNote(git, folder, { nonce, kind: 'run', ...idOf(attempt), startedAt, usage, isPartial: true })
    })
    if (result !== null) used = { startedAt, usage: addUsage(before, result.usage) }
    return result
  }
  async function noteJudge<T extends { usage: Usage }>(
    state: State,
    kind: JudgeNote['kind'],
    bounds: SessionBounds,
    session: (bounds: SessionBounds) => Promise<T>,
  ) {
    const { nonce, folder } = state
    const attempt = OF_ATTEMPT.includes(kind) ? openAttempt(state) : null
    const owner = attempt === null ? { storyId: null, startedAt: null } : ownerOf(attempt)
    const calls = callsOf(state, kind, owner.startedAt)
    const write = (usage: Usage) => writeNote(git, folder, { nonce, kind, ...owner, calls, usage })
    write({ ...reservedUsage(bounds), calls: 1 })
    const answer = await session({ ...bounds, onUsed: (seen) => write(lostSessionUsage(bounds, seen)) })
    write(answer.usage)
    return answer
  }
  return {
    ...agent,
    work: (state, attempt, ownBounds, signal) =>
      noteSession(state, attempt, (onUsed) => agent.work(state, attempt, { ...ownBounds, onUsed }, signal)),
    setUp: (state, attempt, bounds, signal) =>
      noteSession(state, attempt, (onUsed) => agent.setUp(state, attempt, { ...bounds, onUsed }, signal)),
    judge: (state, task, ownBounds, signal) =>
      noteJudge(state, openAttempt(state) === null ? 'verify' : 'judge', ownBounds, (bounds) =>
        agent.judge(state, task, bounds, signal),
      ),
    plan: (state, task, ownBounds, signal) =>
      noteJudge(state, task.split === null ? 'plan' : 'split', ownBounds, (bounds) =>
        agent.plan(state, task, bounds, signal),
      ),
    ...withNotedWords(agent, noteJudge),
  }
}

type NoteJudge = <T extends { usage: Usage }>(
  state: State,
  kind: JudgeNote['kind'],
  bounds: SessionBounds,
  session: (bounds: SessionBounds) => Promise<T>,
) => Promise<T>

function withNotedWords(agent: AgentPort, note: NoteJudge): Pick<AgentPort, 'ask'> {
  const { ask } = agent
  if (ask === undefined) return {}
  return {
    ask: (state, task, ownBounds, signal) =>
      note(state, WORDS[task.kind], ownBounds, (bounds) => ask(state, task, bounds, signal)),
  }
}

const WORDS = { write: 'examples', glue: 'glue', answer: 'answer' } as const

/** The state with the usage that was noted before the job was lost; unchanged if there is no note. */
export function withLostUsage(git: Git, state: State): State {
  const notes = readNotes(git, state)
  const judges = notes.filter((note) => note.kind !== 'run').sort((a, b) => a.calls - b.calls)
  const withJudges = judges.filter((note) => isLost(state, note)).reduce(withLostJudge, state)
  return notes.reduce(
    (after, note) => (note.kind === 'run' ? withLostSession(after, note) : after),
    withJudges,
  )
}

/**
 * The sessions of an attempt, and those of none, are numbered in their order. So the state already has a session whose number is below the
 * state's count.
 */
function isLost(state: State, { kind, startedAt, calls }: JudgeNote): boolean {
  return callsOf(state, kind, startedAt) <= calls
}

function withLostJudge(state: State, { kind, storyId, slot, startedAt, usage }: JudgeNote): State {
  const id = storyId === null ? null : idOf({ storyId, ...(slot === undefined ? {} : { slot }) })
  const attempt = id === null ? undefined : state.attempts[attemptKey(id)]
  const isOpen = attempt !== undefined && attempt.startedAt === startedAt
  return recordLostSession(state, isOpen ? id : null, usage, kind)
}

/** Kinds of sessions that belong to an attempt. */
const OF_ATTEMPT: readonly SessionKind[] = ['judge', 'glue']
/** Kinds of sessions that belong to none. */
const OF_NONE: readonly SessionKind[] = ['verify', 'plan', 'split', 'examples', 'answer']

/** How many sessions the state has counted of those that are numbered together. */
function callsOf({ sessions }: State, kind: JudgeNote['kind'], startedAt: number | null): number {
  const kinds = OF_ATTEMPT.includes(kind) ? OF_ATTEMPT : OF_NONE
  return sessions
    .filter((one) => kinds.includes(one.kind) && one.attempt === startedAt)
    .reduce((sum, one) => sum + one.calls, 0)
}

function ownerOf(attempt: Attempt) {
  return { ...idOf(attempt), startedAt: attempt.startedAt }
}

function writeNote(git: Git, folder: string, note: Note): void {
  const number = note.kind === 'run' ? '' : `-${note.calls}`
  const name = `${ownerDigest(note.storyId === null ? null : note)}-${note.startedAt ?? 0}-${note.kind}${number}`
  const write = () => {
    const place = notesFolder(git, folder)
    mkdirSync(place, { recursive: true })
    renameIntoPlace(git, JSON.stringify(note), join(place, name))
  }
  try {
    write()
  } catch {
    // An agent at `same-user` can put a file in the folder's place. A note is not a reason to end a session.
    removeSync(notesFolder(git, folder))
    try {
      write()
    } catch {}
  }
}

function readNotes(git: Git, { nonce, folder }: State): Note[] {
  const place = notesFolder(git, folder)
  const notes: Note[] = []
  for (const name of notesIn(place).slice(0, MAX_NOTES)) {
    const bytes = readRegularFileSync(join(place, name), MAX_BYTES)
    const found = bytes === null ? null : Note.safeParse(jsonObject(bytes.toString('utf8')))
    if (found?.success !== true || found.data.nonce !== nonce) continue
    if (Object.values(found.data.usage).every((amount) => amount >= 0)) notes.push(found.data)
  }
  return notes
}

/** Removes the notes of this attempt, or (null) of the judges and planners that belong to none. */
function removeNotes(git: Git, folder: string, of: { storyId: string; slot?: number } | null): void {
  const place = notesFolder(git, folder)
  for (const name of notesIn(place)) if (name.startsWith(`${ownerDigest(of)}-`)) removeSync(join(place, name))
}

/** The same for all sessions of an attempt. A story's id may not be a file name. */
function ownerDigest(of: { storyId: string | null; slot?: number } | null): string {
  const { storyId = null, slot } = of ?? {}
  const key = storyId === null ? '' : attemptKey({ storyId, ...(slot === undefined ? {} : { slot }) })
  return createHash('sha256').update(key).digest('hex').slice(0, 16)
}

function notesIn(place: string): string[] {
  try {
    return readdirSync(place)
  } catch {
    // No session has been noted yet, or an agent has put something else there.
    return []
  }
}

function notesFolder({ own }: Git, folder: string): string {
  return join(own, `usage-${basename(folder)}`)
}
