// Opens the checkout of a job, and reads the settings of the trusted side: inputs, and the base branch's file.
import { join } from 'node:path'
import * as core from '@actions/core'
import { issueIn } from '../app/asked.ts'
import { refuseUngated } from '../app/limits.ts'
import { openWorkspace, type Workspace } from '../app/workspace.ts'
import { refuseWrongPart } from '../jobs/claim.ts'
import type { State } from '../model/state.ts'
import { shown } from '../model/text.ts'
import { branchNameFault } from '../prd/names.ts'
import { describeSettings, type Settings } from '../settings/index.ts'
import { UserError } from '../system/errors.ts'
import { redactFiles, removeNow } from '../system/files.ts'
import {
  type ActionContext,
  actionSettings,
  inputSettings,
  remoteOf,
  settingsOfBase,
  tokenOf,
  useWorkflow,
} from './context.ts'
import type { Log } from './log.ts'
import { reclaimFiles, UPLOADS } from './runner.ts'

const IDENTITY = {
  name: 'github-actions[bot]',
  email: '41898282+github-actions[bot]@users.noreply.github.com',
}

/** The checkout, with everything that is to be redacted known. */
export function openFor(
  context: ActionContext,
  settings: Settings,
  token: string,
  secrets: readonly string[] = [],
): Promise<Workspace> {
  return openWorkspace({
    settings,
    secrets,
    env: context.env,
    directory: context.workspace,
    remote: remoteOf(context.place, token),
    publishRemote: settings.publishToken === null ? null : remoteOf(context.place, settings.publishToken),
    identity: IDENTITY,
    warn: (message) => core.warning(message),
  })
}

/** The settings of the trusted side: inputs, and the configuration file as the base branch has it, now or `at` a commit. */
export async function trusted(context: ActionContext, token: string, at: string | null = null) {
  using early = await openFor(context, await inputSettings(context), token)
  const { store, repository } = early
  const treeOf = async (branch: string) => {
    const sha = at ?? (await store.head(branch))
    if (sha === null) throw noBase(context, branch)
    await store.fetch([sha], 'tip')
    return { sha, read: (path: string) => repository.read(sha, path) }
  }
  const { branch, tree, settings, notes } = await settingsOfBase(context, treeOf)
  useWorkflow(context, settings)
  const { defaultBranch } = context.place
  return { settings, notes, base: { branch, sha: tree.sha, defaultBranch } }
}

function noBase(context: ActionContext, branch: string): UserError {
  const isInput = context.inputs['base-branch']?.trim() === branch
  return new UserError({
    path: isInput ? 'input base-branch' : `baseBranch in the configuration on ${context.place.defaultBranch}`,
    found: branch,
    expected: 'a branch of this repository',
    fix: 'create it, or name another',
  })
}

/** The checkout and the settings of a job that works, once nothing speaks against it: told, and written to the log. */
export async function openJob(
  context: ActionContext,
  secrets: readonly string[],
  log: Log,
  { at, isPart }: { at: string | null; isPart: boolean },
) {
  const token = tokenOf(context)
  const { settings, base, notes } = await trusted(context, token, at)
  refuseFeatureRef(context, settings.branchPrefix)
  refuseWrongPart(settings, isPart)
  for (const note of notes) core.notice(note)
  refuseUngated(settings)
  log.group('Settings', describeSettings(settings).split('\n'))
  return { workspace: await openFor(context, settings, token, secrets), settings, base }
}

/** On a `ralph/*` ref the workflow file would be the agent's copy, with the secrets of the real one. */
export function refuseFeatureRef(context: ActionContext, prefix: string): void {
  if (!context.ref.startsWith(`refs/heads/${prefix}`)) return
  throw new UserError({
    path: 'ref',
    found: context.ref,
    expected: 'the default branch',
    fix: `run the workflow on ${context.place.defaultBranch}: on ${prefix}* the workflow file may be the agent's`,
  })
}

/** What a dispatch names goes into refs, branches and replies: a feature as its folder may be called, or an issue. */
export function refuseFeatureName({ event }: Pick<ActionContext, 'event'>): void {
  if (event.kind !== 'dispatch' || event.feature === null || issueIn(event.feature) !== null) return
  const fault = event.feature.includes('/') ? 'no "/"' : branchNameFault(event.feature)
  if (fault === null) return
  throw new UserError({
    path: 'input feature',
    found: shown(event.feature),
    expected: `a feature's name with ${fault}`,
    fix: 'write a name such as auth (of stories that are there: what stands behind the date of their folder), or an issue, such as #12',
  })
}

/** What is uploaded after a job is this job's: a runner of one's own keeps the folder. */
export function clearUploads({ clone }: Workspace): void {
  for (const name of UPLOADS) removeNow(join(clone.gitDir, 'ralph', name))
}

export function pick(
  all: Readonly<Record<string, string>>,
  names: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(all).filter(([name, value]) => names.includes(name) && value.trim() !== ''),
  )
}

/** The settings with what a person chose at kick-off: the same in all jobs of a run. */
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

/** After the last program that is not trusted: what it may have written where we, the runner and people read. */
export async function settleFiles({ clone, redactor }: Workspace): Promise<void> {
  reclaimFiles()
  // What is uploaded lies where an agent can write, too.
  for (const name of UPLOADS) await redactFiles(join(clone.gitDir, 'ralph', name), redactor.redact)
}
