// What the pull request says besides commands: unresolved threads of reviews, the project's checks, and the merge queue. One row for each
// source.

import type { Heard } from '../../engine/model/correction.ts'
import type { CorrectionPort } from '../../engine/model/ports.ts'
import type { State } from '../../engine/model/state.ts'
import { type GitHub, githubMessage, httpStatusOf } from '../client.ts'
import type { Conversation } from '../conversation.ts'
import { readChecks } from './checks.ts'
import { readRemoval } from './merge-queue.ts'
import { readApprovals } from './read-approvals.ts'
import { type ReviewRules, readReviews } from './threads.ts'

export type HearingOptions = {
  github: GitHub
  conversation: Pick<Conversation, 'mayWrite'>
  /** Null: `reviews: off`. */
  reviews: ReviewRules | null
  /** Whether checks can hold the run, and the names of those that count; empty: those that a rule requires, else all. */
  checks: { waits: boolean; names: readonly string[] }
  /** Whether approvals can hold the run. */
  approvals: boolean
  redact(text: string): string
}

type Reader = (options: HearingOptions, state: State, pull: number) => Promise<Heard>

const NOTHING: Heard = { reports: [] }

const readThreads: Reader = async ({ github, conversation, reviews }, _, pull) => {
  if (reviews === null) return NOTHING
  return readReviews(github, pull, reviews, (login) => conversation.mayWrite(login))
}

const NO_THREADS =
  'this server has no GraphQL, so review threads are not read: ask for changes with /ralph fix (reviews: off ends this warning)'

const READERS: readonly Reader[] = [
  readThreads,
  async ({ github, conversation, approvals }, state, pull) => {
    // An approval counts for what will be merged, so it is read when nothing is left.
    if (!approvals || state.published !== state.green || !isDone(state)) return NOTHING
    const found = await readApprovals(github, state, pull, (login) => conversation.mayWrite(login))
    return { reports: [], approvals: found }
  },
  async ({ github, checks, redact }, state) => {
    // The checks of a head say something about the stories only when all of them are on it.
    const head = state.published
    if (!checks.waits || head === null || head !== state.green || !isDone(state)) return NOTHING
    return readChecks(github, state, head, checks.names, redact)
  },
  async ({ github, checks, redact }, state, pull) => {
    if (!checks.waits || state.published !== state.green || !isDone(state)) return NOTHING
    return { reports: await readRemoval(github, state, pull, checks.names, redact) }
  },
]

function isDone({ prd }: State): boolean {
  return prd.userStories.every(({ passes, skipped }) => passes || skipped)
}

export function createHearing(options: HearingOptions): CorrectionPort {
  // What this server lacks is asked for once only.
  const missing = new Set<(typeof READERS)[number]>()
  return {
    async read(state) {
      const { pull } = state.github
      if (pull === null || state.published === null) return NOTHING
      let heard = NOTHING
      for (const read of READERS.filter((one) => !missing.has(one))) {
        try {
          const more = await read(options, state, pull)
          heard = { ...heard, ...more, reports: [...heard.reports, ...more.reports] }
        } catch (error) {
          if (httpStatusOf(error) === 404 && read === readThreads) {
            missing.add(read)
            options.github.warn(NO_THREADS)
            continue
          }
          // It is read again at the next chance.
          options.github.warn(`Ralph could not read reviews and checks: ${githubMessage(error)}`)
        }
      }
      return heard
    },
  }
}
