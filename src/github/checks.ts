// Posts check runs (or commit statuses) on a commit: one of each name, found again by our external id.
import type { Check } from '../report/checks.ts'
import { statusOf as commitStatus } from '../report/checks.ts'
import { type Api, ONCE, statusOf } from './client.ts'
import type { Place } from './place.ts'

export type ReportAs = 'checks' | 'statuses' | 'none'

/** Annotations that one request may carry (facts 4.1); more are appended by further ones. */
const ANNOTATIONS = 50

export type Checks = {
  /** Posts or updates checks on a commit. Falls back to statuses where checks are refused. */
  post(sha: string, checks: readonly Check[]): Promise<void>
  /** Ends a check that is still open on a commit that is no head any more. */
  close(sha: string, name: string, title: string): Promise<void>
}

export function createChecks(
  api: Api,
  place: Place,
  how: ReportAs,
  key: string,
  warn: (message: string) => void,
): Checks {
  const { owner, repo } = place
  let mode = how
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
    if (before !== undefined) {
      await api.rest.checks.update({
        owner,
        repo,
        check_run_id: before.id,
        ...state,
        output: { ...output, annotations },
      })
      all.set(check.name, { id: before.id, open: check.conclusion === null })
      return
    }
    const made = await api.rest.checks.create({
      owner,
      repo,
      name: check.name,
      head_sha: sha,
      external_id: `ralph:${key}:${check.name}`,
      ...state,
      output: { ...output, annotations },
      ...ONCE,
    })
    all.set(check.name, { id: Number(made.data.id), open: check.conclusion === null })
  }

  async function postStatus(sha: string, check: Check): Promise<void> {
    await api.rest.repos.createCommitStatus({ owner, repo, sha, ...commitStatus(check) })
  }

  return {
    async post(sha, checks) {
      for (const check of checks) {
        if (mode === 'none') return
        if (mode === 'checks') {
          try {
            await postCheck(sha, check)
            continue
          } catch (error) {
            if (statusOf(error) !== 403) throw error
            warn('checks are refused (permissions: checks: write is missing): statuses are tried instead')
            mode = 'statuses'
          }
        }
        try {
          await postStatus(sha, check)
        } catch (error) {
          if (statusOf(error) !== 403) throw error
          warn('neither checks nor statuses may be posted: the job needs permissions: checks: write')
          mode = 'none'
        }
      }
    },
    async close(sha, name, title) {
      if (mode !== 'checks') return
      const before = (await listed(sha)).get(name)
      if (before?.open !== true) return
      const output = { title, summary: 'The branch has moved on: look at its newest commit.' }
      await api.rest.checks.update({
        owner,
        repo,
        check_run_id: before.id,
        status: 'completed',
        conclusion: 'neutral',
        output,
      })
      before.open = false
    },
  }
}
