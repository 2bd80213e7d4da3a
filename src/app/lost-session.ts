// Notes a session's usage in Ralph's git directory until the state has it, so that a job that is killed at its gates loses none.
// At `same-user` an agent can write these files, so a note counts for the open attempt and for nothing else.
import { basename, join } from 'node:path'
import * as z from 'zod/mini'
import { withLostSession } from '../engine/lost-attempts.ts'
import { type AttemptIn, attemptKey, idOf } from '../engine/model/attempt.ts'
import { openAttempt } from '../engine/model/job.ts'
import { jsonObject } from '../engine/model/json.ts'
import type { AgentPort, Observer, SessionBounds } from '../engine/model/ports.ts'
import type { State } from '../engine/model/state.ts'
import { addUsage, emptyUsage, Usage } from '../engine/model/usage.ts'
import { runUsage } from '../engine/model/usage-totals.ts'
import { lostSessionUsage, recordLostSession, reservedUsage } from '../engine/record-session.ts'
import type { Git } from '../git/git.ts'
import { renameIntoPlace } from '../git/own-index.ts'
import { readRegularFileSync } from '../system/files.ts'

/** Ralph writes no larger note. */
const MAX_BYTES = 10_000

const SessionNote = z.object({
  nonce: z.string(),
  storyId: z.string(),
  slot: z.exactOptional(z.number()),
  startedAt: z.number(),
  usage: Usage,
  /** The session had not ended. */
  isPartial: z.exactOptional(z.literal(true)),
})
/** `calls`: how many sessions the run had counted when this one began. */
const JudgeNote = z.object({ nonce: z.string(), calls: z.number(), usage: Usage })

export function usageNotes(git: Git): Observer {
  return {
    async event(event, { nonce, folder, attempts }) {
      const attempt = event.kind === 'worked' ? attempts[attemptKey(event)] : undefined
      if (event.kind !== 'worked' || attempt === undefined) return
      const { startedAt } = attempt
      writeNote(git, 'session', folder, { nonce, ...idOf(attempt), startedAt, usage: event.session.usage })
    },
  }
}

/**
 * The agent, which notes what each session uses while it works. For judges and planners their reservation is noted, too, because they
 * have no attempt in the state.
 */
export function withUsageNotes(agent: AgentPort, git: Git): AgentPort {
  /** What the attempt's sessions used so far. It has several where the project is set up first, or where steps run. */
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
      writeNote(git, 'session', folder, { nonce, ...idOf(attempt), startedAt, usage, isPartial: true })
    })
    if (result !== null) used = { startedAt, usage: addUsage(before, result.usage) }
    return result
  }
  async function noteJudge<T extends { usage: Usage }>(
    state: State,
    bounds: SessionBounds,
    session: (bounds: SessionBounds) => Promise<T>,
  ) {
    const { nonce, folder } = state
    const { calls } = runUsage(state)
    writeNote(git, 'judge', folder, { nonce, calls, usage: { ...reservedUsage(bounds), calls: 1 } })
    const onUsed = (seen: Usage) =>
      writeNote(git, 'judge', folder, { nonce, calls, usage: lostSessionUsage(bounds, seen) })
    const answer = await session({ ...bounds, onUsed })
    writeNote(git, 'judge', folder, { nonce, calls, usage: answer.usage })
    return answer
  }
  return {
    ...agent,
    work: (state, attempt, ownBounds, signal) =>
      noteSession(state, attempt, (onUsed) => agent.work(state, attempt, { ...ownBounds, onUsed }, signal)),
    setUp: (state, attempt, bounds, signal) =>
      noteSession(state, attempt, (onUsed) => agent.setUp(state, attempt, { ...bounds, onUsed }, signal)),
    judge: (state, task, ownBounds, signal) =>
      noteJudge(state, ownBounds, (bounds) => agent.judge(state, task, bounds, signal)),
    plan: (state, task, ownBounds, signal) =>
      noteJudge(state, ownBounds, (bounds) => agent.plan(state, task, bounds, signal)),
  }
}

/** The state with the usage that was noted before the job was lost; unchanged where there is no note. */
export function withLostUsage(git: Git, state: State): State {
  const worked = readNote(git, 'session', state, SessionNote)
  const withSession = worked === null ? state : withLostSession(state, worked)
  const judged = readNote(git, 'judge', withSession, JudgeNote)
  // A session that is in the state already has raised the count.
  if (judged?.calls !== runUsage(withSession).calls) return withSession
  const attempt = openAttempt(withSession)
  return recordLostSession(withSession, attempt, judged.usage, attempt === null ? 'verify' : 'judge')
}

function writeNote(git: Git, kind: string, folder: string, note: object): void {
  renameIntoPlace(git, JSON.stringify(note), notePath(git, kind, folder))
}

function readNote<T extends { nonce: string; usage: Usage }>(
  git: Git,
  kind: string,
  { nonce, folder }: State,
  schema: z.ZodMiniType<T>,
): T | null {
  const bytes = readRegularFileSync(notePath(git, kind, folder), MAX_BYTES)
  const found = bytes === null ? null : schema.safeParse(jsonObject(bytes.toString('utf8')))
  if (found?.success !== true || found.data.nonce !== nonce) return null
  return Object.values(found.data.usage).every((amount) => amount >= 0) ? found.data : null
}

function notePath({ own }: Git, kind: string, folder: string): string {
  return join(own, `${kind}-${basename(folder)}.json`)
}
