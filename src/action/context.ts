// What an action run knows from the runner: the place, the run, the event, the settings. Throws UserError on bad input.
import { readFile } from 'node:fs/promises'
import { type Api, statusOf } from '../github/client.ts'
import { gitAuth, type Place, runUrl } from '../github/place.ts'
import {
  actionInputs,
  configFileNames,
  hostEnvironment,
  readSettings,
  type Settings,
  wantedConfigFile,
} from '../settings.ts'
import { UserError } from '../system/errors.ts'
import { defaultBranchOf, type RunEvent, readEvent } from './event.ts'

export type ActionContext = {
  env: Record<string, string>
  place: Place
  run: { id: number; attempt: number; url: string }
  /** The job's name in the workflow file. */
  job: string
  ref: string
  /** The workflow's file name, for dispatches. */
  workflow: string
  event: RunEvent
  inputs: Record<string, string>
  workspace: string
}

export async function actionContext(): Promise<ActionContext> {
  const env = hostEnvironment()
  const [owner = '', repo = ''] = (env.GITHUB_REPOSITORY ?? '').split('/')
  const payload: unknown = JSON.parse(await readFile(env.GITHUB_EVENT_PATH ?? '', 'utf8').catch(() => '{}'))
  const place: Place = {
    owner,
    repo,
    server: (env.GITHUB_SERVER_URL ?? 'https://github.com').replace(/\/+$/, ''),
    api: (env.GITHUB_API_URL ?? 'https://api.github.com').replace(/\/+$/, ''),
    // A schedule's event names no repository, but it runs on the default branch.
    defaultBranch: defaultBranchOf(payload) ?? branchOf(env.GITHUB_REF) ?? 'main',
  }
  const id = Number(env.GITHUB_RUN_ID ?? '0')
  const inputs = actionInputs(env)
  return {
    env,
    place,
    run: { id, attempt: Number(env.GITHUB_RUN_ATTEMPT ?? '1'), url: runUrl(place, id) },
    job: env.GITHUB_JOB ?? '',
    ref: env.GITHUB_REF ?? '',
    workflow: inputs.workflow?.trim() || workflowFile(env.GITHUB_WORKFLOW_REF ?? ''),
    event: readEvent(env.GITHUB_EVENT_NAME ?? '', payload),
    inputs,
    workspace: env.GITHUB_WORKSPACE ?? process.cwd(),
  }
}

function branchOf(ref: string | undefined): string | null {
  return ref?.startsWith('refs/heads/') === true ? ref.slice('refs/heads/'.length) : null
}

/** `owner/repo/.github/workflows/ralph.yml@refs/heads/main` names `ralph.yml`. */
function workflowFile(ref: string): string {
  return ref.split('@')[0]?.split('/').at(-1) ?? ''
}

/** The settings, with the configuration file as it stands at `base`: never the one on the feature's branch. */
export async function actionSettings(
  context: ActionContext,
  readAtBase: (path: string) => Promise<string | null>,
  chosen: Readonly<Record<string, string>>,
): Promise<{ settings: Settings; notes: string[] }> {
  const inputs = { ...chosen, ...nonEmpty(context.inputs) }
  const wanted = wantedConfigFile({ inputs })
  let file: { path: string; text: string } | null = null
  for (const path of wanted === null ? configFileNames : [wanted]) {
    const text = await readAtBase(path)
    if (text !== null) {
      file = { path, text }
      break
    }
  }
  if (file === null && wanted !== null) {
    throw new UserError([
      {
        path: 'input config-file',
        found: wanted,
        expected: 'a file of the base branch',
        fix: 'commit it to the base branch, or check the path',
      },
    ])
  }
  const result = readSettings({ inputs, file, env: context.env, surface: 'action' })
  if (!result.ok) throw new UserError(result.mistakes)
  return result
}

/** Where runs keep their things, without a checkout. A configuration that is broken is left to the jobs that work. */
export async function namesByApi(
  context: ActionContext,
  api: Api,
): Promise<Pick<Settings, 'branchPrefix' | 'stateNamespace'>> {
  const { owner, repo, defaultBranch } = context.place
  const ref = context.inputs['base-branch']?.trim() || defaultBranch
  const read = async (path: string): Promise<string | null> => {
    try {
      const { data } = await api.rest.repos.getContent({ owner, repo, path, ref })
      return 'content' in data ? Buffer.from(data.content, 'base64').toString('utf8') : null
    } catch (error) {
      if (statusOf(error) === 404) return null
      throw error
    }
  }
  const plain = {
    branchPrefix: context.inputs['branch-prefix']?.trim() || 'ralph/',
    stateNamespace: 'refs/ralph',
  }
  return actionSettings(context, read, {}).then(
    ({ settings }) => settings,
    () => plain,
  )
}

function nonEmpty(inputs: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(inputs).filter(([, value]) => value.trim() !== ''))
}

/** The token, or the one clear word on how to give one. */
export function tokenOf(context: ActionContext): string {
  const token = context.inputs.token?.trim() ?? ''
  if (token !== '') return token
  throw new UserError([
    {
      path: 'input token',
      found: 'nothing',
      expected: 'a token',
      fix: 'leave the input out: the job token is its default',
    },
  ])
}

/** The git remote of the repository, authenticated by the token, in the environment only. */
export function remoteOf(place: Place, token: string): { url: string; env: Record<string, string> } {
  return { url: `${place.server}/${place.owner}/${place.repo}.git`, env: gitAuth(place, token) }
}
