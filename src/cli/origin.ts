// Where a clone comes from, and where a run starts: its base, the default branch, and its repository at GitHub.
import type { Workspace } from '../app/workspace.ts'
import { symbolicCloneRef } from '../git/clone-refs.ts'
import { readRef } from '../git/refs.ts'
import { parseRemoteAddress } from '../github/repository-address.ts'
import type { Settings } from '../settings/read-settings.ts'
import { UserError } from '../system/errors.ts'
import type { Context } from './command-context.ts'

/** On a laptop a run starts from where HEAD is, unless `--base-branch` names another branch. */
export async function baseOf(workspace: Workspace, settings: Settings, branch: string, head: string) {
  if (settings.baseBranch === null) return { branch, sha: head }
  const sha = await workspace.store.head(settings.baseBranch)
  if (sha !== null) return { branch: settings.baseBranch, sha }
  throw new UserError({
    path: '--base-branch',
    found: settings.baseBranch,
    expected: 'a branch of this repository',
    fix: 'create it, or name another',
  })
}

/** The default branch as far as the clone says: by its remote, else by the usual names. */
export async function defaultBranchOf({ git, store }: Workspace): Promise<{ defaultBranch?: string }> {
  const head = await symbolicCloneRef(git, 'refs/remotes/origin/HEAD')
  if (head !== null) return { defaultBranch: head.replace(/^refs\/remotes\/origin\//, '') }
  for (const name of ['main', 'master']) if ((await store.head(name)) !== null) return { defaultBranch: name }
  return {}
}

/** The clone's remote. `place` is null unless it is at the GitHub that the environment names: a token goes to no other. */
export function remoteOf({ config }: Workspace['clone'], env: Context['env']) {
  const server = env.GITHUB_SERVER_URL?.replace(/\/+$/, '') || 'https://github.com'
  const api = env.GITHUB_API_URL?.replace(/\/+$/, '') || 'https://api.github.com'
  const remote = config.get('remote.origin.url')
  return {
    server,
    remote,
    place: remote === undefined ? null : parseRemoteAddress(remote, { [server]: api }),
  }
}

/** The default branch, as the remote had it when it was fetched last; without a remote, as it is here. */
export async function defaultOf(
  workspace: Workspace,
  base: { branch: string; sha: string },
): Promise<{ name: string; sha: string }> {
  const { defaultBranch: name = base.branch } = await defaultBranchOf(workspace)
  const there = readRef(workspace.clone.commonDir, `refs/remotes/origin/${name}`)
  const sha = there ?? (await workspace.store.head(name)) ?? base.sha
  return { name, sha }
}
