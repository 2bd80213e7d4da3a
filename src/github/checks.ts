// Posts check runs (or commit statuses) on a commit: one of each name, found again by our external id.
import type { Check } from '../report/checks.ts'
import { statusOf as commitStatus } from '../report/checks.ts'
import { code } from '../report/escape.ts'
import { type Api, isForbidden, isUnknown, ONCE, statusOf } from './client.ts'
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
  /** Ends one of ours that is still open since its job was killed. */
  close(sha: string, name: string, title: string): Promise<void>
  /** Ends all of ours that are open on a commit that is the head no longer. */
  closeAll(sha: string, title: string): Promise<void>
}

const MOVED_ON = 'Look at the newest commit of the branch.'
const KILLED = `The job was ended before it could say how it stands; every finished iteration is saved. Go on with ${code('/ralph run')} or *Run workflow*. A job that nobody stopped goes on by itself where the hourly ${code('resume-lost')} workflow is set up.`

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
  const known = new Map<string, Map<string, { id: number; open: boolean }>>()

  async function listed(sha: string): Promise<Map<string, { id: number; open: boolean }>> {
    const before = known.get(sha)
    if (before !== undefined) return before
    const found = new Map<string, { id: number; open: boolean }>()
    const runs = await api.paginate(api.rest.checks.listForRef, {
      owner,
      repo,
      ref: sha,
      filter: 'latest',
      per_page: 100,
    })
    for (const run of runs) {
      if (run.external_id?.startsWith(`ralph:${key}:`) === true)
        found.set(run.name, { id: Number(run.id), open: run.status !== 'completed' })
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
    const annotations = check.annotations.slice(0, ANNOTATIONS)
    const before = all.get(check.name)
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
        known.get(sha)?.set(name, { id: Number(made.data.id), open: shown.status !== 'completed' })
        return
      } catch (error) {
        if (!isUnknown(error)) throw error
        known.delete(sha)
        if ((await listed(sha)).has(name)) return
        if (isLast) throw error
      }
    }
  }

  /** Posts one, as a check or as a status. Throws what is no missing permission. */
  async function postOne(sha: string, check: Check): Promise<void> {
    if (mode === 'checks') {
      try {
        await postCheck(sha, check)
        works = true
        return
      } catch (error) {
        if (works || !isForbidden(error)) throw error
        warn('checks are refused (permissions: checks: write is missing): statuses are tried instead')
        mode = 'statuses'
      }
    }
    try {
      await postStatus(sha, check)
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

  /** As `cancelled`: a `neutral` one would satisfy who requires it, where the commit is or becomes the head after all. */
  async function end(one: { id: number; open: boolean }, title: string, summary: string): Promise<void> {
    const done = { status: 'completed' as const, conclusion: 'cancelled' as const }
    await api.rest.checks.update({ owner, repo, check_run_id: one.id, ...done, output: { title, summary } })
    one.open = false
  }

  async function postStatus(sha: string, check: Check): Promise<void> {
    await api.rest.repos.createCommitStatus({ owner, repo, sha, ...commitStatus(check) })
  }

  return {
    async post(sha, checks) {
      await each(checks, async (check) => {
        if (mode !== 'none') await postOne(sha, check)
      })
    },
    async close(sha, name, title) {
      if (mode !== 'checks') return
      const before = (await listed(sha)).get(name)
      if (before?.open === true) await end(before, title, KILLED)
    },
    async closeAll(sha, title) {
      if (mode !== 'checks') return
      const open = [...(await listed(sha)).values()].filter((one) => one.open)
      await each(open, (one) => end(one, title, MOVED_ON))
    },
  }
}

type Shown = (
  | { status: 'in_progress' }
  | { status: 'completed'; conclusion: NonNullable<Check['conclusion']> }
) & { output: Pick<Check, 'title' | 'summary' | 'text' | 'annotations'> }

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
