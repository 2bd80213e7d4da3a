// The origin of a clone and of a run: the base of the run, the default branch, and the repository at GitHub.
import type { Workspace } from '../app/workspace.ts'
import { cloneRef, symbolicCloneRef } from '../git/clone-refs.ts'
import { readRef } from '../git/refs.ts'
import { parseRemoteAddress } from '../github/repository-address.ts'
import type { Settings } from '../settings/read-settings.ts'
import { type Mistake, UserError } from '../system/errors.ts'
import { branchOfJob, defaultBranchOfJob } from './ci-branch.ts'
import type { Context } from './command-context.ts'

/**
 * The base of a run on this machine: the branch of `--base-branch`, else HEAD. Null if HEAD is detached and neither a setting nor the CI
 * names a branch. Throws UserError if the named branch does not exist.
 */
export async function baseOf(
  { clone, git }: Workspace,
  { baseBranch }: Settings,
  env: Context['env'],
): Promise<{ branch: string; sha: string } | null> {
  const current = clone.branch ?? branchOfJob(env)
  const head = clone.head ?? ''
  if (baseBranch === null) return current === null ? null : { branch: current, sha: head }
  const own = await cloneRef(git, `refs/heads/${baseBranch}`)
  // A CI fetches branches without making them: GitLab and Jenkins have `origin/main` only, or just the commit of the job.
  const sha = own ?? (await cloneRef(git, `refs/remotes/origin/${baseBranch}`))
  if (sha !== null) return { branch: baseBranch, sha }
  if (current === baseBranch) return { branch: baseBranch, sha: head }
  throw new UserError({
    path: '--base-branch',
    found: `this repository has no branch ${baseBranch}.`,
    expected: '',
    fix: 'create it, or name another',
  })
}

/** What to do about a HEAD that is detached: the command with the branch that the run starts from. */
export async function detachedMistake(workspace: Workspace, { command, env }: Context): Promise<Mistake> {
  const { defaultBranch: name = 'BRANCH' } = await defaultBranchOf(workspace, env)
  return {
    path: 'HEAD',
    found: 'HEAD is detached: no branch is checked out, and no CI variable names a branch.',
    expected: '',
    fix: `name the branch that the run starts from: ralph ${command} --base-branch ${name}; or check it out: git switch ${name}`,
  }
}

/** The default branch as far as clone and CI say: by the remote's HEAD, a variable, else the usual names. */
export async function defaultBranchOf(
  { git }: Workspace,
  env: Context['env'],
): Promise<{ defaultBranch?: string }> {
  const head = await symbolicCloneRef(git, 'refs/remotes/origin/HEAD')
  if (head !== null) return { defaultBranch: head.replace(/^refs\/remotes\/origin\//, '') }
  const named = defaultBranchOfJob(env)
  if (named !== null) return { defaultBranch: named }
  const usual = ['main', 'master']
  for (const name of usual)
    if ((await cloneRef(git, `refs/heads/${name}`)) !== null) return { defaultBranch: name }
  for (const name of usual)
    if ((await cloneRef(git, `refs/remotes/origin/${name}`)) !== null) return { defaultBranch: name }
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

/** The default branch, as the remote had it at the last fetch; without a remote, that of this clone. */
export async function defaultOf(
  workspace: Workspace,
  base: { branch: string; sha: string },
  env: Context['env'],
): Promise<{ name: string; sha: string }> {
  const { defaultBranch: name = base.branch } = await defaultBranchOf(workspace, env)
  const there = readRef(workspace.clone.commonDir, `refs/remotes/origin/${name}`)
  const sha = there ?? (await workspace.store.head(name)) ?? base.sha
  return { name, sha }
}
