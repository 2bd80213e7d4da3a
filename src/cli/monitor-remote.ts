// The runs of a repository in CI, as their state refs tell over GitHub's API.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { limitsOf } from '../app/limits.ts'
import type { Workspace } from '../app/workspace.ts'
import { ciAt } from '../doctor/workflow-file.ts'
import { readRef } from '../git/refs.ts'
import { connect, saidByGitHub, statusOf } from '../github/client.ts'
import { type Place, placeOfRemote, repositoryUrl } from '../github/place.ts'
import { LEAST_MS, nextLookMs, StateRefs } from '../github/state-refs.ts'
import { expired } from '../loop/lease.ts'
import { ownSituation, type Situation, situationOf } from '../loop/situation.ts'
import { stateFrom } from '../loop/stored.ts'
import type { Limits } from '../model/limits.ts'
import type { State } from '../model/state.ts'
import { mapTexts } from '../model/text.ts'
import { ACTION } from '../model/version.ts'
import type { Watched } from '../report/monitor.ts'
import { many } from '../report/words.ts'
import type { Settings } from '../settings/index.ts'
import { messageOf, UserError } from '../system/errors.ts'
import type { Context } from './context.ts'
import { defaultBranchOf } from './local.ts'
import { meantFolders, refuseUnknown, type Source } from './monitor-source.ts'

/** The newest features that are shown where nobody names one: each costs a request when it changes. */
const MOST_FEATURES = 20

/** Null where this clone has no GitHub to ask, or nobody a token, and `--remote` was not said. */
export async function openRemote(
  context: Context,
  settings: Settings,
  workspace: Workspace,
  wanted: readonly string[],
): Promise<Source | null> {
  const { env, flags } = context
  const server = env.GITHUB_SERVER_URL?.replace(/\/+$/, '') || 'https://github.com'
  const api = env.GITHUB_API_URL?.replace(/\/+$/, '') || 'https://api.github.com'
  const remote = workspace.clone.config.get('remote.origin.url')
  const found = remote === undefined ? null : placeOfRemote(remote, { [server]: api })
  const isAsked = flags.remote === true
  if (found === null) {
    if (!isAsked) return null
    throw new UserError({
      path: '--remote',
      found: remote ?? 'no remote origin',
      expected: `a remote at ${server}`,
      fix: 'run it in a clone of the repository (GITHUB_SERVER_URL and GITHUB_API_URL name another server)',
    })
  }
  const token = env.GH_TOKEN || env.GITHUB_TOKEN || (await tokenOfGh(server, env))
  if (token === null) {
    if (!isAsked) return null
    const fix = 'run `gh auth login`, or set GH_TOKEN to a token that may read contents'
    throw new UserError({ path: 'GH_TOKEN', found: 'no token', expected: `a token for ${server}`, fix })
  }
  const { defaultBranch = 'main' } = await defaultBranchOf(workspace)
  const place = { ...found, defaultBranch }
  return new RemoteSource(workspace, settings, wanted, place, token, await limitsInCi(workspace, place, env))
}

/** Of the GitHub CLI, where somebody has logged in with it. */
async function tokenOfGh(server: string, env: Record<string, string>): Promise<string | null> {
  const host = new URL(server).host
  const asked = promisify(execFile)('gh', ['auth', 'token', '--hostname', host], { env, timeout: 5000 })
  return asked.then(({ stdout }) => stdout.trim() || null).catch(() => null)
}

/** As the workflow at the default branch says, as far as this clone knows it; else null. */
async function limitsInCi(
  workspace: Workspace,
  { defaultBranch }: Place,
  env: Record<string, string>,
): Promise<Limits | null> {
  const there = readRef(workspace.clone.commonDir, `refs/remotes/origin/${defaultBranch}`)
  const sha = there ?? (await workspace.store.head(defaultBranch))
  const ci = sha === null ? null : await ciAt(workspace, sha, env, ACTION).catch(() => null)
  return ci === null ? null : limitsOf(ci.settings)
}

class RemoteSource implements Source {
  readonly #workspace: Workspace
  readonly #wanted: readonly string[]
  readonly #place: Place
  readonly #refs: StateRefs
  readonly #limits: Limits | null
  readonly #states = new Map<string, { commit: string; state: State }>()
  #asked = { unchanged: 0, failed: 0, error: null as unknown }
  #seenAt = 0
  #wrong = ''
  #more = 0
  #changed: (() => void) | null = null
  #timer: NodeJS.Timeout | null = null
  #isClosed = false

  constructor(
    workspace: Workspace,
    settings: Settings,
    wanted: readonly string[],
    place: Place,
    token: string,
    limits: Limits | null,
  ) {
    this.#workspace = workspace
    this.#wanted = wanted
    this.#place = place
    this.#limits = limits
    const warn = (text: string) => {
      this.#wrong = text
    }
    this.#refs = new StateRefs(connect(place, token, warn), settings.stateNamespace)
  }

  async look(): Promise<Watched[]> {
    try {
      const isChanged = await this.#ask()
      this.#asked = { unchanged: isChanged ? 0 : this.#asked.unchanged + 1, failed: 0, error: null }
      this.#seenAt = Date.now()
      this.#wrong = ''
    } catch (error) {
      // What could not be read is asked for again.
      this.#refs.forget()
      this.#asked = { ...this.#asked, failed: this.#asked.failed + 1, error }
      const told = this.#told(error)
      if (this.#states.size === 0) throw told
      this.#wrong = messageOf(told).split('\n')[0] ?? ''
    }
    this.#next()
    return [...this.#states.values()].map(({ state }) => ({
      state,
      situation: this.#situationOf(state),
      limits: this.#limits,
      lines: [],
      place: `${this.#place.owner}/${this.#place.repo}`,
      url: state.lease?.url ?? state.github.pullUrl,
      surface: 'comment',
    }))
  }

  follow(changed: () => void): void {
    this.#changed = changed
    this.#next()
  }

  note(): string {
    const seen = this.#seenAt === 0 ? '' : `, seen ${new Date(this.#seenAt).toISOString().slice(11, 19)} UTC`
    const more = this.#more === 0 ? '' : `; ${many(this.#more, 'older feature')} not shown`
    const wrong = this.#wrong === '' ? '' : `: ${this.#wrong}`
    return `${repositoryUrl(this.#place)}, asked every ${Math.round(this.#waitMs() / 1000)} s${seen}${more}${wrong}`
  }

  /** Each would be a request of its own. */
  async picture(): Promise<null> {
    return null
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#workspace[Symbol.dispose]()
  }

  /** Whether anything is new. */
  async #ask(): Promise<boolean> {
    const commits = await this.#refs.look()
    if (commits === null) return false
    const all = [...meantFolders(commits.keys(), this.#wanted)]
    const meant = all.sort(([, one], [, other]) => other.localeCompare(one)).slice(0, MOST_FEATURES)
    this.#more = all.length - meant.length
    refuseUnknown(this.#wanted, [...meantFolders(commits.keys(), []).keys()], 'in CI')
    if (meant.length === 0) throw this.#noRun()
    const folders = new Set(meant.map(([, folder]) => folder))
    for (const folder of this.#states.keys()) if (!folders.has(folder)) this.#states.delete(folder)
    const errors: unknown[] = []
    const { redact } = this.#workspace.redactor
    for (const folder of folders) {
      const commit = commits.get(folder) ?? ''
      if (this.#states.get(folder)?.commit === commit) continue
      const text = await this.#refs.text(commit)
      try {
        this.#states.set(folder, { commit, state: mapTexts(stateFrom(text, folder), redact) })
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
    return true
  }

  #waitMs(): number {
    const states = [...this.#states.values()]
    const isAtWork = states.some(({ state }) => this.#situationOf(state).kind === 'working')
    return nextLookMs({ ...this.#asked, isAtWork }, Date.now())
  }

  #next(): void {
    if (this.#changed === null || this.#isClosed) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#changed, Math.max(LEAST_MS, this.#waitMs()))
  }

  #situationOf(state: State): Situation {
    const now = Date.now()
    const lives = state.lease !== null && !expired(state.lease, now)
    if (lives) return { kind: 'working', lease: state.lease }
    if (this.#limits !== null) return situationOf(state, this.#limits, now, false)
    const own = ownSituation(state)
    return own.kind === 'working' ? { kind: 'ready', step: null } : own
  }

  #noRun(): UserError {
    return new UserError({
      path: 'feature',
      found: `no run in ${repositoryUrl(this.#place)}`,
      expected: 'a feature that a job has begun on',
      fix: 'press Run workflow there, or start one here with `ralph run`',
    })
  }

  #told(error: unknown): unknown {
    const status = statusOf(error)
    if (status === null) return error
    const { owner, repo } = this.#place
    const isRefused = status === 401 || status === 403 || status === 404
    return new UserError({
      path: isRefused ? 'GH_TOKEN' : repositoryUrl(this.#place),
      found: `GitHub answers ${status}: ${saidByGitHub(error)}`,
      expected: isRefused ? `a token that may read the contents of ${owner}/${repo}` : 'the state refs',
      fix: isRefused
        ? '`gh auth refresh`, or set GH_TOKEN to one with contents: read'
        : 'try again in a while',
    })
  }
}
