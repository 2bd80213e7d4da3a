// The states that nothing needs any longer: their pull request was merged or closed a month ago.
import type { State } from '../engine/model/state.ts'
import { type GitHub, githubMessage, httpStatusOf, isForbidden } from './client.ts'

const DAY_MS = 24 * 60 * 60_000
/** How long a state is kept after its pull request was merged or closed. Until then the run can continue. */
export const KEEP_MS = 30 * DAY_MS
const HOUR_MS = 60 * 60_000
/** The maximum number of pull requests that one job looks up. The schedule is hourly, and each hour begins with other ones. */
const MAX_LOOKUPS = 30

/**
 * The commits of old states by folder. A state that was saved within the time is not looked up, so a repository without old states
 * costs no request. `now`: epoch milliseconds.
 */
export async function findOldStates(
  github: GitHub,
  states: ReadonlyMap<string, { state: State; commit: string }>,
  now: number,
  most = MAX_LOOKUPS,
): Promise<Map<string, string>> {
  const old = new Map<string, string>()
  const quiet = [...states].filter(([, { state }]) => lastUsed(state) < now - KEEP_MS)
  const first = (Math.floor(now / HOUR_MS) * most) % Math.max(1, quiet.length)
  const inTurn = [...quiet.slice(first), ...quiet.slice(0, first)]
  for (const [folder, { state, commit }] of inTurn.slice(0, most)) {
    const closed = state.github.pull === null ? null : await findClosing(github, state.github.pull)
    if (closed === 'refused') break
    if (closed !== null && closed.at < now - KEEP_MS) old.set(folder, commit)
  }
  return old
}

/** When a job last worked with the state, or will have ended at the latest. */
function lastUsed({ job, lease }: State): number {
  return Math.max(job.startedAt, lease?.expiresAt ?? 0)
}

/** When a pull request was merged or closed, epoch milliseconds. `mergedInto`: the branch; null if it was closed without a merge. */
export type Closing = { at: number; mergedInto: string | null }

/** Null if the pull request is open, or gone. Warns if GitHub refuses. */
export async function findClosing(
  { api, repo, warn }: GitHub,
  pull: number,
): Promise<Closing | null | 'refused'> {
  try {
    const { data } = await api.rest.pulls.get({ ...repo, pull_number: pull })
    if (data.closed_at === null) return null
    return { at: Date.parse(data.closed_at), mergedInto: data.merged ? data.base.ref : null }
  } catch (error) {
    if (httpStatusOf(error) === 404) return null
    const fix = isForbidden(error) ? '. Give the job permissions: pull-requests: read' : ''
    warn(`Ralph could not look up pull request #${pull}: ${githubMessage(error)}${fix}`)
    return 'refused'
  }
}
