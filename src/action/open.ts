// Opens the checkout of a job, and reads its settings from trusted sources only: the inputs, and the base branch's file.
import { join } from 'node:path'
import * as core from '@actions/core'
import { type Isolation, openIsolation, SAME_USER_WARNING } from '../app/isolation.ts'
import { UNGATED_WARNING } from '../app/loop-limits.ts'
import { issueNumberIn } from '../app/plan-request.ts'
import type { PortOptions } from '../app/port-options.ts'
import { openWorkspace, type Workspace } from '../app/workspace.ts'
import type { Limits } from '../engine/model/limit-types.ts'
import { branchNameFault } from '../engine/model/safe-names.ts'
import type { State } from '../engine/model/state.ts'
import { describeValue } from '../engine/model/text.ts'
import { hideCredentials } from '../git/credentials.ts'
import { gitProgram } from '../git/git-process.ts'
import { InitialRefs } from '../git/remote.ts'
import { openCache } from '../github/cache-service.ts'
import { connect } from '../github/client.ts'
import { createSignedCommit } from '../github/create-commit.ts'
import { issueQuery } from '../github/read-issues.ts'
import { describeRefusedHosts } from '../report/figures.ts'
import { Live } from '../report/terminal/live-lines.ts'
import type { Settings } from '../settings/read-settings.ts'
import type { OpenCheckout, RunStart } from '../setup/checks/subject.ts'
import { UserError } from '../system/errors.ts'
import { redactFiles, removeSync } from '../system/files.ts'
import {
  type ActionContext,
  actionSettings,
  inputSettings,
  remoteOf,
  settingsOfBase,
  tokenOf,
  useWorkflow,
} from './action-context.ts'
import { type Log, logTimed, resetRunnerFiles, saveForPost, UPLOADS } from './runner.ts'

const IDENTITY = {
  name: 'github-actions[bot]',
  email: '41898282+github-actions[bot]@users.noreply.github.com',
}

/**
 * Moves the credentials of actions/checkout away, calls `act` with their values (to redact them), and puts them back. No untrusted
 * program may run while they are readable. Warns of files that could not be moved or put back.
 */
export async function withCredentialsHidden<T>(
  context: ActionContext,
  act: (secrets: readonly string[]) => Promise<T>,
): Promise<T> {
  const credentials = await hideCredentials(context.workspace, context.env)
  for (const file of credentials.remaining)
    core.warning(`${file} has a credential that the agent could read: remove the file before this step`)
  try {
    return await act(credentials.secrets)
  } finally {
    const why =
      'its folder was replaced during the job, so Ralph did not restore the credentials of actions/checkout there'
    for (const file of await credentials.restore()) core.warning(`${file}: ${why}`)
  }
}

/** Opens the checkout. `secrets` are redacted alongside those of settings and environment. */
export function openJobWorkspace(
  context: ActionContext,
  settings: Settings,
  token: string,
  secrets: readonly string[] = [],
  refs?: InitialRefs,
): Promise<Workspace> {
  return openWorkspace({
    settings,
    secrets,
    ...(refs === undefined ? {} : { initialRefs: refs }),
    env: context.env,
    directory: context.workspace,
    remote: remoteOf(context.place, token),
    publishRemote: settings.publishToken === null ? null : remoteOf(context.place, settings.publishToken),
    identity: IDENTITY,
    createCommit: (commit) => createSignedCommit(connect(context.place, token, core.warning), commit),
    warn: (message) => core.warning(message),
  })
}

/** The settings from trusted sources: the inputs, and the configuration file of the base branch, now or `at` a commit. */
export async function trustedSettings(context: ActionContext, token: string, at: string | null = null) {
  const inputs = await inputSettings(context)
  const refs = initialRefs(context, inputs)
  using firstWorkspace = await openJobWorkspace(context, inputs, token, [], refs)
  const { store, repository } = firstWorkspace
  const treeOf = async (branch: string) => {
    const sha = at ?? (await store.head(branch))
    if (sha === null) throw noBaseError(context, branch)
    await store.fetch([sha], 'tip')
    return { sha, read: (path: string) => repository.read(sha, path) }
  }
  const { branch, tree, settings, notes } = await settingsOfBase(context, treeOf)
  useWorkflow(context, settings)
  const { defaultBranch } = context.place
  return { settings, notes, base: { branch, sha: tree.sha, defaultBranch }, look: refs }
}

/** One request for the base, the states and the features' branches, by the names that the inputs give. */
function initialRefs(
  { inputs, place }: ActionContext,
  { branchPrefix, stateNamespace }: Settings,
): InitialRefs {
  const base = inputs['base-branch']?.trim() || place.defaultBranch
  return new InitialRefs([`refs/heads/${base}`, `${stateNamespace}/*`, `refs/heads/${branchPrefix}*`])
}

function noBaseError(context: ActionContext, branch: string): UserError {
  const isInput = context.inputs['base-branch']?.trim() === branch
  return new UserError({
    path: isInput ? 'input base-branch' : `baseBranch in the configuration on ${context.place.defaultBranch}`,
    found: `this repository has no branch ${branch}.`,
    expected: '',
    fix: 'create it, or name another',
  })
}

/** What a job that runs untrusted programs needs. */
export type Job = {
  context: ActionContext
  workspace: Workspace
  settings: Settings
  log: Log
  signal: AbortSignal
  /** The users that untrusted programs run as; null: the job's own user. */
  as: Isolation | null
}

/** Opens the checkout and the settings of a job. Throws UserError if `refuse` does, or if the job runs on a feature's ref. */
export async function openJob(
  context: ActionContext,
  secrets: readonly string[],
  { at, refuse }: { at: string | null; refuse(settings: Settings): void },
) {
  const token = tokenOf(context)
  const { settings, base, notes, look } = await trustedSettings(context, token, at)
  refuseFeatureRef(context, settings.branchPrefix)
  refuse(settings)
  for (const note of notes) core.notice(note)
  return { workspace: await openJobWorkspace(context, settings, token, secrets, look), settings, base }
}

/** The facts about a job that continues from `commit`, for preflight checks. `state`: that of its feature. */
export function checkInputs(
  { env, workspace: directory }: ActionContext,
  { workspace, settings, base }: Pick<Job, 'workspace' | 'settings'> & Pick<OpenCheckout, 'base'>,
  commit: string,
  state: State | null = null,
): RunStart & { checkout: OpenCheckout } {
  const read = (path: string) => workspace.repository.read(commit, path)
  const features = { states: state === null ? [] : [state], mistakes: [] }
  const checkout = { workspace, base, commit, read }
  return { env, directory, settings, mistakes: [], checkout, features, anew: false }
}

/**
 * Calls `act` with the users that agent and gates run as. Afterwards warns of refused connections, and closes the users. Warns of
 * settings that weaken a run: no gates, or `same-user`.
 */
export async function withIsolation<T>(
  { context, settings, log, workspace: { clone, redactor } }: Omit<Job, 'as'>,
  act: (as: Isolation | null) => Promise<T>,
): Promise<T> {
  if (settings.ungated) core.warning(UNGATED_WARNING)
  if (settings.isolation === 'same-user') core.warning(SAME_USER_WARNING)
  const open = () => openIsolation({ settings, env: context.env, clone, report: core.notice })
  const as =
    settings.isolation === 'other-user'
      ? await logTimed(log, describeIsolation(settings), open)
      : await open()
  if (as !== null) saveForPost({ otherUser: as.gates.before })
  try {
    return await act(as)
  } finally {
    const refused = refusedConnections(as)
    if (refused !== null) core.warning(redactor.redact(refused))
    await as?.close()
  }
}

function describeIsolation({ network }: Settings): string {
  const user = 'creating the user that agent and gates run as'
  return network === 'open' ? user : `${user}, and closing its network`
}

export function refusedConnections(as: Isolation | null): string | null {
  return as === null ? null : describeRefusedHosts(as.refused())
}

/** The options that agent and gates of a job are started with, and the live log that shows them. */
export function createJobPorts(
  { context, workspace, settings, log, signal, as }: Job,
  limits: Limits,
  mark: string,
) {
  saveForPost({ mark, git: gitProgram(context.env.PATH) })
  const { redact } = workspace.redactor
  const files = settings.cache === 'off' ? null : openCache(context.env)
  const live = new Live(log.screen, { limits, agent: settings.agent, surface: 'comment', redact }, true)
  const options: PortOptions = {
    ...{ settings, env: context.env, workspace, signal, as, mark, observers: [] },
    warn: (message) => core.warning(workspace.redactor.redact(message)),
    onAgent: live.agent,
    onGateStart: live.starts,
    onGateOutput: live.output,
    onGateEnd: live.gate,
    cache: files,
  }
  return { live, options }
}

/** On a `ralph/*` ref the workflow file could be written by the agent, and would run with the repository's secrets. Throws UserError. */
export function refuseFeatureRef(context: ActionContext, prefix: string): void {
  if (!context.ref.startsWith(`refs/heads/${prefix}`)) return
  throw new UserError({
    path: 'ref',
    found: `this workflow was started on ${context.ref}.`,
    expected: '',
    fix: `run the workflow on ${context.place.defaultBranch}: on ${prefix}* an agent may have changed the workflow file`,
  })
}

/**
 * The feature's name in a dispatch becomes part of refs, branches and replies. Throws UserError for one that is neither a valid name nor an
 * issue.
 */
export function refuseFeatureName({ event }: Pick<ActionContext, 'event'>): void {
  if (event.kind !== 'dispatch' || event.feature === null || issueNumberIn(event.feature) !== null) return
  if (/^issues:/.test(event.feature) && issueQuery(event.feature, 'input feature') !== null) return
  const fault = event.feature.includes('/') ? 'no "/"' : branchNameFault(event.feature)
  if (fault === null) return
  throw new UserError({
    path: 'input feature',
    found: describeValue(event.feature),
    expected: `a feature's name with ${fault}`,
    fix: 'write the name of a feature such as auth (its folder without the date), an issue such as #12, or issues:milestone=3',
  })
}

/** Removes the files of earlier jobs, which a self-hosted runner keeps: only this job's files are uploaded. */
export function clearUploads({ clone }: Workspace): void {
  for (const name of UPLOADS) removeSync(join(clone.gitDir, 'ralph', name))
}

/** The settings with the limits and models that a person chose at kick-off: these hold for all jobs of a run. */
export async function withChoices(
  context: ActionContext,
  { repository }: Workspace,
  settings: Settings,
  { base, control }: Pick<State, 'base' | 'control'>,
): Promise<Settings> {
  const look = (path: string) => repository.read(base.sha, path)
  const { settings: chosen } = await actionSettings(context, look, control.chosen)
  const { maxIterations, iterationsPerJob, maxAttempts, maxCostUsd, maxTokens, maxAgentTimeMs } = chosen
  const limits = { maxIterations, iterationsPerJob, maxAttempts, maxCostUsd, maxTokens, maxAgentTimeMs }
  return { ...settings, ...limits, model: chosen.model, instructions: chosen.instructions }
}

/** Called after the last untrusted program: resets the runner's files, and redacts what is uploaded, since it may have written both. */
export async function settleFiles({ clone, redactor }: Workspace): Promise<void> {
  resetRunnerFiles()
  // An agent can write in these folders as well.
  for (const name of UPLOADS) await redactFiles(join(clone.gitDir, 'ralph', name), redactor.redact)
}
