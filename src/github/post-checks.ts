// Posts check runs (or commit statuses) on a commit. There is one of each name, which later jobs find by its external id.
import type { Annotation } from '../engine/model/gate.ts'
import type { State } from '../engine/model/state.ts'
import {
  type Check,
  type ClosingReport,
  checkOfStatus,
  closingReportOf,
  commitStatusOf,
  isOwnName,
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
import { isRed, newestOf } from './project-checks.ts'

export type ReportAs = 'checks' | 'statuses' | 'none'

/** How many commits with open checks are remembered; GitHub itself marks a check as stale after two weeks. */
const MAX_UNCLOSED = 20

/** After so many failures in a row no more requests are made: each failure takes the time of all retries. */
const MAX_FAILURES_IN_ROW = 2

/** Milliseconds. CI takes minutes, so a job that ends earlier looks only once. */
const FRESH_MS = 60_000

type Posted = { id: number; isOpen: boolean; isAnnotated: boolean }

export class Checks {
  readonly #github: GitHub
  readonly #key: string
  readonly #requestedMode: ReportAs
  /** `statuses` also if the token may not post checks, `none` also if it may post neither. */
  #mode: ReportAs
  /** A token that has posted one check may post checks: a later 403 is not a missing permission. */
  #hasPosted = false
  /** The App that owns the checks, once an answer of GitHub names it. */
  #app: string | null = null
  /** Ralph's checks by commit and name. Each commit is listed once. */
  readonly #known = new Map<string, Map<string, Posted>>()
  /** The red checks that are not Ralph's by commit, as the same list has them. `at`: when it was read. */
  readonly #red = new Map<string, { names: ReadonlySet<string>; at: number }>()
  readonly #freshMs: number

  /**
   * `key`: the feature, part of the external id, so that checks of other features are not touched. `freshMs`: how long the list of a
   * commit's checks counts for those of the project.
   */
  constructor(github: GitHub, mode: ReportAs, key: string, freshMs = FRESH_MS) {
    this.#github = github
    this.#requestedMode = mode
    this.#mode = mode
    this.#key = key
    this.#freshMs = freshMs
  }

  /**
   * Posts or updates checks on a commit, or statuses if checks are refused. It continues after one failure, and stops after two in a row.
   * Throws the first error.
   */
  async post(sha: string, checks: readonly Check[]): Promise<void> {
    await runEach(checks, (check) =>
      this.#byMode(
        () => this.#postCheck(sha, check),
        () => this.#postStatus(sha, commitStatusOf(check)),
      ),
    )
  }

  /** Closes Ralph's open checks on a commit, but not those named in `except`. Throws if one stays open. */
  async closeAll(
    sha: string,
    reportOf: (name: string) => ClosingReport,
    except: readonly string[] = [],
  ): Promise<void> {
    try {
      await this.#byMode(
        () => this.#closeChecks(sha, reportOf, except),
        () => this.#closeStatuses(sha, reportOf, except),
      )
    } catch (error) {
      // The branch was rewritten, and GitHub has deleted the commit.
      if (httpStatusOf(error) !== 422 || !/no commit found/i.test(githubMessage(error))) throw error
    }
  }

  /**
   * The project's checks that are red on a commit, and not on `base`. The list is the one in which Ralph looks for its own checks.
   * `again`: reads it once more if it is over a minute old. The base costs a request if something is red. Empty if Ralph posts no
   * checks. Throws if GitHub refuses a list.
   */
  async redOfProject(sha: string, base: string, again: boolean): Promise<string[]> {
    if (this.#mode !== 'checks') return []
    const known = this.#red.get(sha)
    if (again && known !== undefined && Date.now() - known.at >= this.#freshMs) this.#known.delete(sha)
    await this.#listChecks(sha)
    const red = [...(this.#red.get(sha)?.names ?? [])]
    if (red.length === 0 || sha === base) return []
    await this.#listChecks(base)
    return red.filter((name) => this.#red.get(base)?.names.has(name) !== true)
  }

  /** Closes open checks on former heads of the branch. Returns the commits on which that failed, the newest last. */
  async closeSuperseded(commits: readonly string[]): Promise<string[]> {
    const unclosed: string[] = []
    for (const sha of new Set(commits)) {
      // After the first failure the others are not tried: each would take the time of all retries.
      if (unclosed.length > 0 || !(await this.#tryClose(sha, () => MOVED_ON))) unclosed.push(sha)
    }
    return unclosed.slice(-MAX_UNCLOSED)
  }

  /** Closes open checks when the chain pauses, also on the current head. Returns commits as `closeSuperseded` does, without the head. */
  async closeRemaining(state: State): Promise<string[]> {
    const { head: reportedHead, unclosed = [] } = state.github
    const head = reportedHead ?? state.published
    const formerHeads = unclosed.filter((sha) => sha !== head)
    if (head !== null && !(await this.#tryClose(head, (name) => closingReportOf(state, name))))
      return formerHeads
    return this.closeSuperseded(formerHeads)
  }

  /** Whether all checks on the commit could be closed. Warns if not. */
  async #tryClose(sha: string, reportOf: (name: string) => ClosingReport): Promise<boolean> {
    try {
      await this.closeAll(sha, reportOf)
      return true
    } catch (error) {
      const reason = githubMessage(error)
      this.#github.warn(
        `Ralph could not close the checks on ${sha.slice(0, 7)}; the next job tries again: ${reason}`,
      )
      return false
    }
  }

  /** Calls `asCheck`, or `asStatus` if the permission for checks is missing. Throws any other error. */
  async #byMode(asCheck: () => Promise<void>, asStatus: () => Promise<void>): Promise<void> {
    if (this.#mode === 'checks') {
      try {
        await asCheck()
        return
      } catch (error) {
        const isMissing = httpStatusOf(error) === 404
        if (this.#hasPosted || !(isMissing || isForbidden(error))) throw error
        this.#github.warn(
          isMissing
            ? 'this server has no checks, so Ralph posts statuses instead. To post them from the start, set report-as: statuses'
            : 'GitHub refuses checks, because permissions: checks: write is missing, so Ralph tries statuses instead',
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
        this.#requestedMode === 'statuses'
          ? 'GitHub refuses statuses: give the job permissions: statuses: write'
          : 'GitHub refuses checks and statuses: give the job permissions: checks: write',
      )
      this.#mode = 'none'
    }
  }

  async #listChecks(sha: string): Promise<Map<string, Posted>> {
    const cached = this.#known.get(sha)
    if (cached !== undefined) return cached
    const { api, repo } = this.#github
    const params = { ...repo, ref: sha, filter: 'latest' as const, per_page: 100 }
    const ask = (page: number) => api.rest.checks.listForRef({ ...params, page })
    const runs = []
    for await (const { check_runs } of pagesOf(ask)) runs.push(...check_runs)
    const found = new Map<string, Posted>()
    const others = runs.filter(({ name }) => !isOwnName(name))
    const red = newestOf(others).filter(isRed)
    this.#red.set(sha, { names: new Set(red.map(({ name }) => name)), at: Date.now() })
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
    // Annotations are sent once: an update would add them again.
    const annotations = before?.isAnnotated === true ? [] : check.annotations.map(annotationOf)
    // This also works for a completed check: `status: in_progress` reopens it and clears its conclusion.
    const state =
      conclusion === null ? { status: 'in_progress' as const } : { status: 'completed' as const, conclusion }
    const content = { ...state, ...this.#buttons(check), output: { title, summary, text, annotations } }
    const isAnnotated = before?.isAnnotated === true || annotations.length > 0
    const id = (await this.#update(before, content)) ?? (await this.#create(sha, name, content))
    this.#known.get(sha)?.set(name, { id, isOpen: conclusion === null, isAnnotated })
    this.#hasPosted = true
  }

  /** Buttons only on checks of another App: a click is sent to the App that owns the check, and GitHub Actions ignores it. */
  #buttons({ actions }: Check): { actions?: Check['actions'][number][] } {
    return this.#app === null || this.#app === 'github-actions' ? {} : { actions: [...actions] }
  }

  /** Updates a check; null if it no longer exists. */
  async #update(before: Posted | undefined, content: object): Promise<number | null> {
    if (before === undefined) return null
    try {
      await this.#github.api.rest.checks.update({ ...this.#github.repo, check_run_id: before.id, ...content })
      return before.id
    } catch (error) {
      if (httpStatusOf(error) === 404) return null
      throw error
    }
  }

  #create(sha: string, name: string, content: object): Promise<number> {
    const params = { name, head_sha: sha, external_id: `ralph:${this.#key}:${name}`, ...content }
    return createOnce(
      async () => {
        const created = await this.#github.api.rest.checks.create({
          ...this.#github.repo,
          ...params,
          ...NO_RETRIES,
        })
        this.#app = created.data.app?.slug ?? null
        return Number(created.data.id)
      },
      async () => {
        this.#known.delete(sha)
        return (await this.#listChecks(sha)).get(name)?.id ?? null
      },
    )
  }

  async #postStatus(sha: string, status: ReturnType<typeof commitStatusOf>): Promise<void> {
    await this.#github.api.rest.repos.createCommitStatus({ ...this.#github.repo, sha, ...status })
  }

  async #closeChecks(
    sha: string,
    reportOf: (name: string) => ClosingReport,
    except: readonly string[],
  ): Promise<void> {
    const all = await this.#listChecks(sha)
    const open = [...all].filter(([name, { isOpen }]) => isOpen && !except.includes(name))
    await runEach(open, async ([name, posted]) => {
      const { conclusion, ...output } = reportOf(name)
      const content = { status: 'completed' as const, conclusion, output }
      const { api, repo } = this.#github
      try {
        await api.rest.checks.update({ ...repo, check_run_id: posted.id, ...content })
      } catch (error) {
        // The checks could be listed, so a 403 means that the check belongs to another App. It is thrown as an ordinary error:
        // otherwise statuses would be tried, and the commit would not be remembered.
        throw isForbidden(error) ? new Error(githubMessage(error)) : error
      }
      this.#hasPosted = true
      posted.isOpen = false
    })
    // Without checks on the commit, an earlier job may have posted statuses.
    if (all.size > 0) return
    await this.#closeStatuses(sha, reportOf, except).catch((error: unknown) => {
      if (!isForbidden(error)) throw error
    })
  }

  /** Statuses are recognised by their names, as they have no external id. */
  async #closeStatuses(
    sha: string,
    reportOf: (name: string) => ClosingReport,
    except: readonly string[],
  ): Promise<void> {
    const { api, repo } = this.#github
    const params = { ...repo, ref: sha, per_page: 100 }
    const ask = (page: number) => api.rest.repos.listCommitStatusesForRef({ ...params, page })
    const listed = []
    for await (const statuses of pagesOf(ask)) listed.push(...statuses)
    const newest = new Map(listed.reverse().map(({ context, state }) => [context, state]))
    const open = [...newest].flatMap(([context, state]) => {
      const name = state === 'pending' ? checkOfStatus(context) : null
      return name === null ? [] : [{ name, context }]
    })
    await runEach(open, async ({ name, context }) => {
      // A status that waits for a person is meant to be `pending`, so it stays.
      if (except.includes(name) || reportOf(name).conclusion === 'action_required') return
      await this.#postStatus(sha, { ...commitStatusOf({ ...reportOf(name), name }), context })
    })
  }
}

function annotationOf({ path, line, level, message }: Annotation) {
  return { path, start_line: line, end_line: line, annotation_level: level, message }
}

/** Calls `act` for each item, also after a failure, until too many in a row have failed. Throws the first error at the end. */
async function runEach<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const errors: unknown[] = []
  let failuresInRow = 0
  for (const item of items) {
    if (failuresInRow >= MAX_FAILURES_IN_ROW) break
    try {
      await act(item)
      failuresInRow = 0
    } catch (error) {
      errors.push(error)
      failuresInRow += 1
    }
  }
  if (errors.length > 0) throw errors[0]
}
