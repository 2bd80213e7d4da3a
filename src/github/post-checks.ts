// Posts check runs (or commit statuses) on a commit: one of each name, found again by our external id.
import type { Annotation } from '../engine/model/gate.ts'
import type { State } from '../engine/model/state.ts'
import {
  type Check,
  type ClosingReport,
  checkOfStatus,
  closingReportOf,
  commitStatusOf,
  MOVED_ON,
} from '../report/check-runs.ts'
import {
  createOnce,
  type GitHub,
  githubMessage,
  httpStatusOf,
  isForbidden,
  NO_RETRIES,
  pagesOf,
} from './client.ts'

export type ReportAs = 'checks' | 'statuses' | 'none'

/** Commits that are remembered for their open checks; GitHub itself calls what is left for two weeks stale. */
const MOST_UNCLOSED = 20

/** Failures in a row after which GitHub is taken to be away: each costs all the retries. */
const MOST_FAILURES = 2

type Posted = { id: number; isOpen: boolean; isAnnotated: boolean }

export class Checks {
  readonly #github: GitHub
  readonly #key: string
  readonly #wanted: ReportAs
  /** What GitHub lets us do of it. */
  #mode: ReportAs
  /** A token that has posted one check may post checks: a later 403 is no missing permission. */
  #hasPosted = false
  /** The App that owns the checks, once an answer of GitHub names it. */
  #app: string | null = null
  /** Our checks by commit and name; filled by one listing a commit. */
  readonly #known = new Map<string, Map<string, Posted>>()

  /** `key`: the feature, which tells our checks from another's. */
  constructor(github: GitHub, mode: ReportAs, key: string) {
    this.#github = github
    this.#wanted = mode
    this.#mode = mode
    this.#key = key
  }

  /**
   * Posts or updates checks on a commit. Falls back to statuses where checks are refused. One that fails does not keep the
   * others back, until two in a row have failed; throws the first error then, or at the end.
   */
  async post(sha: string, checks: readonly Check[]): Promise<void> {
    await runEach(checks, (check) =>
      this.#byMode(
        () => this.#postCheck(sha, check),
        () => this.#postStatus(sha, commitStatusOf(check)),
      ),
    )
  }

  /** Ends all of ours that are open on a commit, those named in `but` left out. Throws what left one open. */
  async closeAll(
    sha: string,
    word: (name: string) => ClosingReport,
    but: readonly string[] = [],
  ): Promise<void> {
    try {
      await this.#byMode(
        () => this.#closeChecks(sha, word, but),
        () => this.#closeStatuses(sha, word, but),
      )
    } catch (error) {
      // People rewrote the branch, and GitHub has thrown the commit away.
      if (httpStatusOf(error) !== 422 || !/no commit found/i.test(githubMessage(error))) throw error
    }
  }

  /** Ends what is open on commits that the branch has left. Gives those on which that failed, the newest last. */
  async closeSuperseded(commits: readonly string[]): Promise<string[]> {
    const left: string[] = []
    for (const sha of new Set(commits)) {
      // Where GitHub is away, each of them would cost all the retries.
      if (left.length > 0 || !(await this.#isClosed(sha, () => MOVED_ON))) left.push(sha)
    }
    return left.slice(-MOST_UNCLOSED)
  }

  /** The same where the chain rests: on its head, too, which is remembered in any case. */
  async closeRemaining(state: State): Promise<string[]> {
    const { head: known, unclosed = [] } = state.github
    const head = known ?? state.published
    const others = unclosed.filter((sha) => sha !== head)
    if (head !== null && !(await this.#isClosed(head, (name) => closingReportOf(state, name)))) return others
    return this.closeSuperseded(others)
  }

  async #isClosed(sha: string, word: (name: string) => ClosingReport): Promise<boolean> {
    try {
      await this.closeAll(sha, word)
      return true
    } catch (error) {
      const why = githubMessage(error)
      this.#github.warn(
        `the checks on ${sha.slice(0, 7)} could not be closed, the next job tries again: ${why}`,
      )
      return false
    }
  }

  /** Acts by checks or by statuses. Throws what is no missing permission. */
  async #byMode(asCheck: () => Promise<void>, asStatus: () => Promise<void>): Promise<void> {
    if (this.#mode === 'checks') {
      try {
        await asCheck()
        return
      } catch (error) {
        if (this.#hasPosted || !isForbidden(error)) throw error
        this.#github.warn(
          'checks are refused (permissions: checks: write is missing): statuses are tried instead',
        )
        this.#mode = 'statuses'
      }
    }
    if (this.#mode === 'none') return
    try {
      await asStatus()
    } catch (error) {
      if (!isForbidden(error)) throw error
      this.#github.warn(
        this.#wanted === 'statuses'
          ? 'statuses may not be posted: the job needs permissions: statuses: write'
          : 'neither checks nor statuses may be posted: the job needs permissions: checks: write',
      )
      this.#mode = 'none'
    }
  }

  async #listChecks(sha: string): Promise<Map<string, Posted>> {
    const before = this.#known.get(sha)
    if (before !== undefined) return before
    const { api, at } = this.#github
    const wanted = { ...at, ref: sha, filter: 'latest' as const, per_page: 100 }
    const ask = (page: number) => api.rest.checks.listForRef({ ...wanted, page })
    const runs = []
    for await (const { check_runs } of pagesOf(ask)) runs.push(...check_runs)
    const found = new Map<string, Posted>()
    for (const { name, id, external_id, status, output, app } of runs) {
      if (external_id?.startsWith(`ralph:${this.#key}:`) !== true) continue
      this.#app = app?.slug ?? null
      found.set(name, {
        id: Number(id),
        isOpen: status !== 'completed',
        isAnnotated: output.annotations_count > 0,
      })
    }
    this.#known.set(sha, found)
    return found
  }

  async #postCheck(sha: string, check: Check): Promise<void> {
    const { name, conclusion, title, summary, text } = check
    const before = (await this.#listChecks(sha)).get(name)
    // An update adds to those that are there.
    const annotations = before?.isAnnotated === true ? [] : check.annotations.map(annotationOf)
    // Also a completed one: `status: in_progress` opens it again and clears its conclusion.
    const state =
      conclusion === null ? { status: 'in_progress' as const } : { status: 'completed' as const, conclusion }
    const content = { ...state, ...this.#buttons(check), output: { title, summary, text, annotations } }
    const isAnnotated = before?.isAnnotated === true || annotations.length > 0
    const id = (await this.#update(before, content)) ?? (await this.#create(sha, name, content))
    this.#known.get(sha)?.set(name, { id, isOpen: conclusion === null, isAnnotated })
    this.#hasPosted = true
  }

  /** A click goes to the App that owns the check, and starts no workflow where that is GitHub Actions itself. */
  #buttons({ actions }: Check): { actions?: Check['actions'][number][] } {
    return this.#app === null || this.#app === 'github-actions' ? {} : { actions: [...actions] }
  }

  /** Gives null where there is none to be updated any more. */
  async #update(before: Posted | undefined, content: object): Promise<number | null> {
    if (before === undefined) return null
    try {
      await this.#github.api.rest.checks.update({ ...this.#github.at, check_run_id: before.id, ...content })
      return before.id
    } catch (error) {
      if (httpStatusOf(error) === 404) return null
      throw error
    }
  }

  #create(sha: string, name: string, content: object): Promise<number> {
    const wanted = { name, head_sha: sha, external_id: `ralph:${this.#key}:${name}`, ...content }
    return createOnce(
      async () => {
        const made = await this.#github.api.rest.checks.create({
          ...this.#github.at,
          ...wanted,
          ...NO_RETRIES,
        })
        this.#app = made.data.app?.slug ?? null
        return Number(made.data.id)
      },
      async () => {
        this.#known.delete(sha)
        return (await this.#listChecks(sha)).get(name)?.id ?? null
      },
    )
  }

  async #postStatus(sha: string, status: ReturnType<typeof commitStatusOf>): Promise<void> {
    await this.#github.api.rest.repos.createCommitStatus({ ...this.#github.at, sha, ...status })
  }

  async #closeChecks(
    sha: string,
    word: (name: string) => ClosingReport,
    but: readonly string[],
  ): Promise<void> {
    const all = await this.#listChecks(sha)
    const open = [...all].filter(([name, { isOpen }]) => isOpen && !but.includes(name))
    await runEach(open, async ([name, one]) => {
      const { conclusion, ...output } = word(name)
      const done = { status: 'completed' as const, conclusion, output }
      try {
        await this.#github.api.rest.checks.update({ ...this.#github.at, check_run_id: one.id, ...done })
      } catch (error) {
        // Another App's: seen, and not ours to end. That is no missing permission, and is remembered.
        throw isForbidden(error) ? new Error(githubMessage(error)) : error
      }
      this.#hasPosted = true
      one.isOpen = false
    })
    // A job that might post none has posted statuses there.
    if (all.size > 0) return
    await this.#closeStatuses(sha, word, but).catch((error: unknown) => {
      if (!isForbidden(error)) throw error
    })
  }

  /** Statuses bear no mark of ours but their names. */
  async #closeStatuses(
    sha: string,
    word: (name: string) => ClosingReport,
    but: readonly string[],
  ): Promise<void> {
    const { api, at } = this.#github
    const wanted = { ...at, ref: sha, per_page: 100 }
    const ask = (page: number) => api.rest.repos.listCommitStatusesForRef({ ...wanted, page })
    const listed = []
    for await (const statuses of pagesOf(ask)) listed.push(...statuses)
    const newest = new Map(listed.reverse().map(({ context, state }) => [context, state]))
    const open = [...newest].flatMap(([context, state]) => {
      const name = state === 'pending' ? checkOfStatus(context) : null
      return name === null ? [] : [{ name, context }]
    })
    await runEach(open, async ({ name, context }) => {
      // One that waits for a person is `pending` for that: there is nothing to end.
      if (but.includes(name) || word(name).conclusion === 'action_required') return
      await this.#postStatus(sha, { ...commitStatusOf({ ...word(name), name }), context })
    })
  }
}

function annotationOf({ path, line, level, message }: Annotation) {
  return { path, start_line: line, end_line: line, annotation_level: level, message }
}

/** Acts on each, also after a failure, until too many in a row have failed. Throws the first error at the end. */
async function runEach<T>(all: readonly T[], act: (one: T) => Promise<void>): Promise<void> {
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
