// Checks that stand open on commits that nobody works on any more: ended by whichever job comes by next.
import type { State } from '../model/state.ts'
import { type LastWord, lastWordOf, MOVED_ON } from '../report/checks.ts'
import type { Checks } from './checks.ts'
import { saidByGitHub } from './client.ts'

/** Commits that are remembered; GitHub itself calls what is left for two weeks stale (facts 4.1). */
const MOST = 20

/** Ends what is open on commits that the branch has left. Gives those on which that failed, the newest last. */
export async function closeSuperseded(
  checks: Checks,
  commits: readonly string[],
  warn: (message: string) => void,
): Promise<string[]> {
  const left: string[] = []
  for (const sha of new Set(commits)) {
    // Where GitHub is away, each of them would cost all the retries.
    if (left.length > 0 || !(await closed(checks, sha, () => MOVED_ON, warn))) left.push(sha)
  }
  return left.slice(-MOST)
}

async function closed(
  checks: Checks,
  sha: string,
  word: (name: string) => LastWord,
  warn: (message: string) => void,
): Promise<boolean> {
  try {
    await checks.closeAll(sha, word)
    return true
  } catch (error) {
    warn(
      `the checks on ${sha.slice(0, 7)} could not be closed, the next job tries again: ${saidByGitHub(error)}`,
    )
    return false
  }
}

/** The same where the chain rests: on its head, too, which is remembered in any case. */
export async function closeLeft(
  checks: Checks,
  state: State,
  warn: (message: string) => void,
): Promise<string[]> {
  const { head: told, unclosed = [] } = state.github
  const head = told ?? state.published
  const others = unclosed.filter((sha) => sha !== head)
  if (head !== null && !(await closed(checks, head, (name) => lastWordOf(state, name), warn))) return others
  return closeSuperseded(checks, others, warn)
}
