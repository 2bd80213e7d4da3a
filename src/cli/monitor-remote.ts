// The runs of a repository in CI, read from their state refs by GitHub's API.
import { setTimeout as delay } from 'node:timers/promises'
import { limitsOf } from '../app/loop-limits.ts'
import type { Workspace } from '../app/workspace.ts'
import { isExpired } from '../engine/lease.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import type { State } from '../engine/model/state.ts'
import { mapTexts } from '../engine/model/text.ts'
import { ACTION } from '../engine/model/version.ts'
import { ownSituation, type Situation, situationOf } from '../engine/situation.ts'
import { readState } from '../engine/stored-state.ts'
import { readRef } from '../git/refs.ts'
import { connect, githubMessage, httpStatusOf } from '../github/client.ts'
import { type RepositoryAddress, repositoryUrl } from '../github/repository-address.ts'
import { nextPollMs, StateRefs } from '../github/state-refs.ts'
import { pluralize } from '../report/figures.ts'
import type { Settings } from '../settings/read-settings.ts'
import { findCi } from '../setup/checks/workflow-file.ts'
import { messageOf, UserError } from '../system/errors.ts'
import type { Context } from './command-context.ts'
import { tokenFor } from './github-token.ts'
import { chooseFolders, refuseUnknown, type Source } from './monitor-source.ts'
import { defaultBranchOf, remoteOf } from './origin.ts'

/** If there are more features, only the newest are shown: each costs a request when it changes. */
const MAX_FEATURES = 20

/** Null if this clone is not of GitHub, or if there is no token. With `--remote`, these are a UserError instead. */
export async function openRemote(
  context: Context,
  settings: Settings,
  workspace: Workspace,
  wanted: readonly string[],
): Promise<Source | null> {
  const { env, flags } = context
  const { server, remote, place: found } = remoteOf(workspace.clone, env)
  const isRequired = flags.remote === true
  if (found === null) {
    if (!isRequired) return null
    const fix =
      'run it in a clone of the repository. For another server, set GITHUB_SERVER_URL and GITHUB_API_URL'
    const origin = remote === undefined ? 'this clone has no remote origin' : `origin is ${remote}`
    const found = `${origin}, but Ralph looks for runs in CI at ${server}.`
    throw new UserError({ path: '--remote', found, expected: '', fix })
  }
  const token = await tokenFor(server, env)
  if (token === null) {
    if (!isRequired) return null
    const fix = 'run `gh auth login`, or set GH_TOKEN to a token that may read contents'
    throw new UserError({ path: 'GH_TOKEN', found: `there is no token for ${server}.`, expected: '', fix })
  }
  const { defaultBranch = 'main' } = await defaultBranchOf(workspace, env)
  const place = { ...found, defaultBranch }
  const limits = await limitsInCi(workspace, place, env)
  return remoteSource({ workspace, settings, wanted, place, token, limits })
}

/** The limits in the default branch's workflow, as this clone has it; null if it has none. */
async function limitsInCi(
  workspace: Workspace,
  { defaultBranch }: RepositoryAddress,
  env: Record<string, string>,
): Promise<Limits | null> {
  const remote = readRef(workspace.clone.commonDir, `refs/remotes/origin/${defaultBranch}`)
  const sha = remote ?? (await workspace.store.head(defaultBranch))
  const ci = sha === null ? null : await findCi(workspace, sha, env, ACTION).catch(() => null)
  return ci === null ? null : limitsOf(ci.settings)
}

type RemoteOptions = {
  workspace: Workspace
  settings: Settings
  wanted: readonly string[]
  place: RepositoryAddress
  token: string
  /** Null if they are not known. */
  limits: Limits | null
}

function remoteSource({ workspace, settings, wanted, place, token, limits }: RemoteOptions): Source {
  const states = new Map<string, { commit: string; state: State }>()
  /** Why the last poll failed, or null. */
  let failure: unknown = null
  /** When the last poll succeeded, epoch milliseconds; 0 before. */
  let polledAt = 0
  let lastError = ''
  let hiddenCount = 0
  const warn = (text: string) => {
    lastError = text
  }
  const refs = new StateRefs(connect(place, token, warn), settings.stateNamespace)

  async function poll(): Promise<void> {
    const commits = await refs.poll()
    if (commits === null) return
    const newestFirst = [...chooseFolders(commits.keys(), wanted).values()].sort().reverse()
    const selected = newestFirst.slice(0, MAX_FEATURES)
    hiddenCount = newestFirst.length - selected.length
    refuseUnknown(wanted, [...chooseFolders(commits.keys(), []).keys()], 'in CI')
    if (selected.length === 0) throw noRun(place)
    for (const folder of states.keys()) if (!selected.includes(folder)) states.delete(folder)
    const errors: unknown[] = []
    for (const folder of selected) {
      const commit = commits.get(folder) ?? ''
      if (states.get(folder)?.commit === commit) continue
      try {
        const state = await readState((file) => refs.text(commit, file), folder)
        if (state !== null) states.set(folder, { commit, state: mapTexts(state, workspace.redactor.redact) })
      } catch (error) {
        if (!(error instanceof UserError)) throw error
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
  }

  function situationIn(state: State): Situation {
    const now = Date.now()
    if (state.lease !== null && !isExpired(state.lease, now)) return { kind: 'working', lease: state.lease }
    if (limits !== null) return situationOf(state, limits, now, false)
    const own = ownSituation(state)
    return own.kind === 'working' ? { kind: 'ready', step: null } : own
  }

  const waitMs = () => nextPollMs(failure, Date.now())

  return {
    changed: (signal) => delay(waitMs(), undefined, { signal }).catch(() => {}),
    async look() {
      try {
        await poll()
        failure = null
        polledAt = Date.now()
        lastError = ''
      } catch (error) {
        // The next poll must list the refs again, so that it also reads the states that could not be read now.
        refs.resetEtag()
        failure = error
        const mistake = mistakeOf(error, place)
        if (states.size === 0) throw mistake
        lastError = messageOf(mistake).split('\n')[0] ?? ''
      }
      return [...states.values()].map(({ state }) => ({
        state,
        situation: situationIn(state),
        limits,
        lines: [],
        place: `${place.owner}/${place.repo}`,
        url: state.lease?.url ?? state.github.pullUrl,
        surface: 'comment',
      }))
    },
    note() {
      const interval = `checked every ${Math.round(waitMs() / 1000)} s`
      const seen = polledAt === 0 ? '' : `, last at ${new Date(polledAt).toISOString().slice(11, 19)} UTC`
      const hidden = hiddenCount === 0 ? '' : `; ${pluralize(hiddenCount, 'older feature')} not shown`
      const error = lastError === '' ? '' : `: ${lastError}`
      return `${repositoryUrl(place)}, ${interval}${seen}${hidden}${error}`
    },
    // Each picture would cost a request.
    picture: async () => null,
    [Symbol.dispose]: () => workspace[Symbol.dispose](),
  }
}

function noRun(place: RepositoryAddress): UserError {
  const found = `no job has worked on a feature in ${repositoryUrl(place)} yet.`
  const fix = 'press Run workflow on its Actions page, or work on this machine with `ralph run`'
  return new UserError({ path: 'feature', found, expected: '', fix })
}

function mistakeOf(error: unknown, place: RepositoryAddress): unknown {
  const status = httpStatusOf(error)
  if (status === null) return error
  const found = `GitHub answers ${status}: ${githubMessage(error)}`
  if (![401, 403, 404].includes(status)) {
    const path = repositoryUrl(place)
    return new UserError({ path, found, expected: '', fix: 'try again later' })
  }
  const fix = 'run `gh auth refresh`, or set GH_TOKEN to a token with contents: read'
  const message = `this token cannot read the contents of ${place.owner}/${place.repo}: ${found}`
  return new UserError({ path: 'GH_TOKEN', found: message, expected: '', fix })
}
