// Posts check runs (or commit statuses) on a commit: one of each name, found again by our external id.
import type { Annotation } from '../model/gate.ts'
import { type Check, statusOf as commitStatus, type LastWord } from '../report/checks.ts'
import { type Api, isForbidden, isUnknown, ONCE, saidByGitHub, statusOf } from './client.ts'
import type { Place } from './place.ts'

export type ReportAs = 'checks' | 'statuses' | 'none'

/** Annotations that one request may carry (facts 4.1); more are appended by further ones. */
const ANNOTATIONS = 50

export type Checks = {
  /**
   * Posts or updates checks on a commit. Falls back to statuses where checks are refused. One that fails does not keep the
   * others back, until two in a row have failed; throws the first error then, or at the end.
   */
  post(sha: string, checks: readonly Check[]): Promise<void>
  /** Ends all of ours that are open on a commit, those named in `but` left out. Throws what left one open. */
  closeAll(sha: string, word: (name: string) => LastWord, but?: readonly string[]): Promise<void>
}

/** Failures in a row after which GitHub is taken to be away: each costs all the retries. */
const MOST_FAILURES = 2

export function createChecks(
  api: Api,
  place: Place,
  how: ReportAs,
  key: string,
  warn: (message: string) => void,
): Checks {
  const { owner, repo } = place
  let mode = how
  /** A token that has posted one check may post checks: a later 403 is no missing permission. */
  let works = false
  /** Ids of our checks by commit and name; filled by one listing a commit. */
  const known = new Map<string, Map<string, Posted>>()

  async function listed(sha: string): Promise<Map<string, Posted>> {
    const before = known.get(sha)
    if (before !== undefined) return before
    const found = new Map<string, Posted>()
    const runs = await api.paginate(api.rest.checks.listForRef, {
      owner,
      repo,
      ref: sha,
      filter: 'latest',
      per_page: 100,
    })
    for (const run of runs) {
      if (run.external_id?.startsWith(`ralph:${key}:`) === true)
        found.set(run.name, {
          id: Number(run.id),
          open: run.status !== 'completed',
          isAnnotated: run.output.annotations_count > 0,
        })
    }
    known.set(sha, found)
    return found
  }

  async function postCheck(sha: string, check: Check): Promise<void> {
    const all = await listed(sha)
    const output = { title: check.title, summary: check.summary, text: check.text }
    const state =
      check.conclusion === null
        ? { status: 'in_progress' as const }
        : { status: 'completed' as const, conclusion: check.conclusion }
    const before = all.get(check.name)
    // An update adds to those that are there.
    const annotations = before?.isAnnotated === true ? [] : check.annotations.slice(0, ANNOTATIONS).map(asApi)
    // Also a completed one: `status: in_progress` opens it again and clears its conclusion (facts 4.1).
    const shown: Shown = { ...state, output: { ...output, annotations } }
    if (before !== undefined) {
      const isGone = await api.rest.checks.update({ owner, repo, check_run_id: before.id, ...shown }).then(
        () => false,
        (error: unknown) => {
          if (statusOf(error) === 404) return true
          throw error
        },
      )
      if (!isGone) {
        before.open = check.conclusion === null
        before.isAnnotated ||= annotations.length > 0
        return
      }
    }
    await create(sha, check.name, shown)
  }

  /** After an unknown answer the check is looked up before it is posted once more. */
  async function create(sha: string, name: string, shown: Shown): Promise<void> {
    for (let isLast = false; ; isLast = true) {
      try {
        const wanted = { owner, repo, name, head_sha: sha, external_id: `ralph:${key}:${name}`, ...shown }
        const made = await api.rest.checks.create({ ...wanted, ...ONCE })
        known.get(sha)?.set(name, {
          id: Number(made.data.id),
          open: shown.status !== 'completed',
          isAnnotated: shown.output.annotations.length > 0,
        })
        return
      } catch (error) {
        if (!isUnknown(error)) throw error
        known.delete(sha)
        if ((await listed(sha)).has(name)) return
        if (isLast) throw error
      }
    }
  }

  /** Acts by checks or by statuses. Throws what is no missing permission. */
  async function byMode(asCheck: () => Promise<void>, asStatus: () => Promise<void>): Promise<void> {
    if (mode === 'checks') {
      try {
        await asCheck()
        return
      } catch (error) {
        if (works || !isForbidden(error)) throw error
        warn('checks are refused (permissions: checks: write is missing): statuses are tried instead')
        mode = 'statuses'
      }
    }
    if (mode === 'none') return
    try {
      await asStatus()
    } catch (error) {
      if (!isForbidden(error)) throw error
      warn(
        how === 'statuses'
          ? 'statuses may not be posted: the job needs permissions: statuses: write'
          : 'neither checks nor statuses may be posted: the job needs permissions: checks: write',
      )
      mode = 'none'
    }
  }

  async function postStatus(sha: string, check: Check): Promise<void> {
    await api.rest.repos.createCommitStatus({ owner, repo, sha, ...commitStatus(check) })
  }

  /** Statuses bear no mark of ours but their names. */
  async function closeStatuses(
    sha: string,
    word: (name: string) => LastWord,
    but: readonly string[],
  ): Promise<void> {
    const listed = await api.paginate(api.rest.repos.listCommitStatusesForRef, {
      owner,
      repo,
      ref: sha,
      per_page: 100,
    })
    const newest = new Map(listed.reverse().map(({ context, state }) => [context, state]))
    const open = [...newest].filter(([name, state]) => state === 'pending' && /^ralph(?: \/ |$)/.test(name))
    await each(open, async ([name]) => {
      // One that waits for a person is `pending` for that: there is nothing to end.
      if (but.includes(name) || word(name).conclusion === 'action_required') return
      await postStatus(sha, { ...word(name), name, text: '', annotations: [] })
    })
  }

  return {
    async post(sha, checks) {
      const asCheck = async (check: Check) => {
        await postCheck(sha, check)
        works = true
      }
      await each(checks, (check) =>
        byMode(
          () => asCheck(check),
          () => postStatus(sha, check),
        ),
      )
    },
    async closeAll(sha, word, but = []) {
      const asChecks = async () => {
        const all = await listed(sha)
        const open = [...all].filter(([name, one]) => one.open && !but.includes(name))
        await each(open, async ([name, one]) => {
          const { conclusion, ...output } = word(name)
          const done = { status: 'completed' as const, conclusion, output }
          await api.rest.checks
            .update({ owner, repo, check_run_id: one.id, ...done })
            .catch((error: unknown) => {
              // Another App's: seen, and not ours to end. That is no missing permission, and is remembered.
              throw isForbidden(error) ? new Error(saidByGitHub(error)) : error
            })
          works = true
          one.open = false
        })
        // A job that might post none has posted statuses there.
        if (all.size > 0) return
        await closeStatuses(sha, word, but).catch((error: unknown) => {
          if (!isForbidden(error)) throw error
        })
      }
      await byMode(asChecks, () => closeStatuses(sha, word, but)).catch((error: unknown) => {
        // People rewrote the branch, and GitHub has thrown the commit away.
        if (statusOf(error) !== 422 || !/no commit found/i.test(saidByGitHub(error))) throw error
      })
    },
  }
}

type Posted = { id: number; open: boolean; isAnnotated: boolean }

type Shown = (
  | { status: 'in_progress' }
  | { status: 'completed'; conclusion: NonNullable<Check['conclusion']> }
) & { output: Pick<Check, 'title' | 'summary' | 'text'> & { annotations: ReturnType<typeof asApi>[] } }

function asApi({ path, line, message, level }: Annotation) {
  return { path, start_line: line, end_line: line, annotation_level: level, message }
}

/** Acts on each, also after a failure, until too many in a row have failed. Throws the first error at the end. */
async function each<T>(all: readonly T[], act: (one: T) => Promise<void>): Promise<void> {
  const errors: unknown[] = []
  let inRow = 0
  for (const one of all) {
    if (inRow >= MOST_FAILURES) break
    try {
      await act(one)
      inRow = 0
    } catch (error) {
      errors.push(error)
      inRow += 1
    }
  }
  if (errors.length > 0) throw errors[0]
}
