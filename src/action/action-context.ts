// What a job of the action gets from the runner: repository, run, event, inputs and settings.
import { basename } from 'node:path'
import * as core from '@actions/core'
import { context as runner } from '@actions/github'
import { rememberGitProgram } from '../git/git-process.ts'
import { type GitHub, httpStatusOf } from '../github/client.ts'
import { findWorkflow } from '../github/dispatch.ts'
import { runPage } from '../github/forges/forge.ts'
import { gitAuth, type RepositoryAddress, runUrl } from '../github/repository-address.ts'
import { actionInputs, hostEnvironment } from '../settings/environment.ts'
import { resolveSettings, type Settings, type SettingsResult } from '../settings/read-settings.ts'
import { FEATURE } from '../settings/setting-names.ts'
import { messageOf, UserError } from '../system/errors.ts'
import { defaultBranchOf, type RunEvent, readEvent } from './github-event.ts'

export type ActionContext = {
  env: Record<string, string>
  place: RepositoryAddress
  run: { id: number; attempt: number; url: string }
  /** The job's name in the workflow file. */
  job: string
  ref: string
  /**
   * The workflow file that dispatches start: from the input, else this run's file, until the configuration names another. Empty if the
   * runner names none.
   */
  workflow: string
  event: RunEvent
  inputs: Record<string, string>
  workspace: string
  /**
   * The settings as read last, even with mistakes: they name the receivers of a notice about a job that cannot begin. Null before they are
   * read, and once the run has ended.
   */
  settings: Settings | null
}

export async function actionContext(): Promise<ActionContext> {
  const env = hostEnvironment()
  // An agent may have put its own git on the PATH of the post step, so that step uses the git that main found.
  rememberGitProgram(core.getState('git'), env.PATH)
  const { payload, runId: id, ref } = runner
  const place: RepositoryAddress = {
    ...runner.repo,
    server: runner.serverUrl.replace(/\/+$/, ''),
    api: runner.apiUrl.replace(/\/+$/, ''),
    // The event of a schedule names no repository, but the ref is the default branch.
    defaultBranch: defaultBranchOf(payload) ?? /^refs\/heads\/(.+)$/.exec(ref)?.[1] ?? 'main',
  }
  const inputs = actionInputs(env)
  return {
    env,
    place,
    run: { id, attempt: runner.runAttempt, url: runUrl(place, runPage(env, id)) },
    job: runner.job,
    ref,
    // `owner/repo/.github/workflows/ralph.yml@refs/heads/main` names `ralph.yml`.
    workflow: inputs.workflow?.trim() || basename((env.GITHUB_WORKFLOW_REF ?? '').split('@')[0] ?? ''),
    event: readEvent(runner.eventName, payload),
    inputs,
    workspace: env.GITHUB_WORKSPACE ?? process.cwd(),
    settings: null,
  }
}

/** Settings that hold or need keys. A job that pushes nothing does not need them and should not get them. */
const KEYS = ['token', 'publishToken', 'examplesKey', 'signCommits', 'signingKey', 'notify']

const WITHOUT_PUSH = new Set(['work', 'gate', 'resume-lost', 'doctor', 'status', 'verify'])

function isPushing({ event, inputs }: ActionContext): boolean {
  return event.kind === 'dispatch' && !WITHOUT_PUSH.has(inputs.command?.trim() ?? '')
}

type ReadFile = (path: string) => Promise<string | null>

async function readAllSettings(
  context: ActionContext,
  look: ReadFile | null,
  chosen: Readonly<Record<string, string>> = {},
): Promise<SettingsResult> {
  const inputs = { ...chosen, ...nonEmpty(context.inputs) }
  const unused = isPushing(context) ? [] : KEYS
  const result = await resolveSettings({ inputs, unused, env: context.env, surface: 'action' }, look)
  context.settings = result.settings
  return result
}

/** The settings from only the inputs. Their mistakes are reported later, by `actionSettings`. */
export async function inputSettings(context: ActionContext): Promise<Settings> {
  return (await readAllSettings(context, null)).settings
}

/** The settings, with the configuration file of the base: never that of the feature's branch. Throws UserError with all mistakes. */
export async function actionSettings(
  context: ActionContext,
  readAtBase: ReadFile,
  chosen: Readonly<Record<string, string>>,
): Promise<{ settings: Settings; notes: string[] }> {
  const result = await readAllSettings(context, readAtBase, chosen)
  if (!result.ok) throw new UserError(result.mistakes)
  return result
}

/**
 * The base branch, and the settings with the configuration file on it. Without an input the file on the default branch may name
 * another base. Only that one step is taken: a base that the file on the other branch names does not count.
 */
export async function settingsOfBase<Tree extends { read(path: string): Promise<string | null> }>(
  context: ActionContext,
  treeOf: (branch: string) => Promise<Tree>,
): Promise<{ branch: string; tree: Tree; settings: Settings; notes: string[] }> {
  const { defaultBranch } = context.place
  const baseInput = context.inputs['base-branch']?.trim() ?? ''
  const first = baseInput === '' ? defaultBranch : baseInput
  const tree = await treeOf(first)
  const result = await actionSettings(context, tree.read, {})
  const named = baseInput === '' ? result.settings.baseBranch : null
  if (named === null || named === first) return { ...result, branch: first, tree }
  const base = await treeOf(named)
  const { settings, notes } = await actionSettings(context, base.read, {})
  const other = settings.baseBranch
  const ignoredNote = `the configuration on ${named} has base-branch: ${other}, which Ralph ignores: it reads base-branch only on ${defaultBranch}`
  return {
    branch: named,
    tree: base,
    settings: { ...settings, baseBranch: named },
    notes: other === null || other === named ? notes : [...notes, ignoredNote],
  }
}

/** Makes dispatches start the workflow that the settings name. */
export function useWorkflow(context: ActionContext, settings: Pick<Settings, 'workflow'>): void {
  context.workflow = settings.workflow ?? context.workflow
}

/** Makes sure that there is a workflow to dispatch. Throws UserError if none is found. */
export async function ensureWorkflow(context: ActionContext, github: GitHub): Promise<void> {
  const name = context.env.GITHUB_WORKFLOW ?? ''
  const found = context.workflow || (await findWorkflow(github, name))
  if (found === null)
    throw noWorkflowError(`Ralph found no file for the workflow "${name}", and no ralph.yml.`)
  context.workflow = found
}

export function noWorkflowError(found: string): UserError {
  return new UserError({
    path: 'input workflow',
    found,
    expected: '',
    fix: "set the input workflow to the name of the file in .github/workflows that starts Ralph's jobs, such as workflow: ralph.yml",
  })
}

type NamesByApi = Pick<
  Settings,
  'branchPrefix' | 'stateNamespace' | 'workflow' | 'reportAs' | 'reviews' | 'reviewsFrom' | 'commandsFrom'
>

/**
 * Reads the names of branches and states without a checkout. If the configuration is broken, it uses the defaults: the jobs that work
 * report the mistake.
 */
export async function readNamesByApi(context: ActionContext, { api, repo }: GitHub): Promise<NamesByApi> {
  const read = async (ref: string, path: string): Promise<string | null> => {
    try {
      const { data } = await api.rest.repos.getContent({ ...repo, path, ref })
      return 'content' in data ? Buffer.from(data.content, 'base64').toString('utf8') : null
    } catch (error) {
      if (httpStatusOf(error) === 404) return null
      throw error
    }
  }
  try {
    const treeOf = async (branch: string) => ({ read: (path: string) => read(branch, path) })
    const { settings } = await settingsOfBase(context, treeOf)
    useWorkflow(context, settings)
    return settings
  } catch (error) {
    const defaults = {
      branchPrefix: branchPrefixIn(context),
      stateNamespace: 'refs/ralph',
      workflow: context.inputs.workflow?.trim() || null,
      reportAs: 'checks' as const,
      reviews: 'writers',
      reviewsFrom: [],
      commandsFrom: [],
    }
    const where = `the default names ${defaults.branchPrefix} and ${defaults.stateNamespace}`
    core.warning(`Ralph could not read the configuration, so it looks under ${where}: ${messageOf(error)}`)
    return defaults
  }
}

function branchPrefixIn({ inputs }: ActionContext): string {
  const pattern = inputs['branch-name']?.trim() ?? ''
  return pattern.replace(FEATURE, '') || inputs['branch-prefix']?.trim() || 'ralph/'
}

export function nonEmpty(inputs: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(inputs).filter(([, value]) => value.trim() !== ''))
}

/** The token of the inputs. Throws UserError if there is none. */
export function tokenOf(context: ActionContext): string {
  const token = context.inputs.token?.trim() ?? ''
  if (token !== '') return token
  throw new UserError({
    path: 'input token',
    found: 'the input token is empty.',
    expected: '',
    fix: 'leave the input out to use the job token, or give it a token',
  })
}

/** The git remote of the repository, authenticated by the token, in the environment only. */
export function remoteOf(
  place: RepositoryAddress,
  token: string,
): { url: string; env: Record<string, string> } {
  return { url: `${place.server}/${place.owner}/${place.repo}.git`, env: gitAuth(place, token) }
}
